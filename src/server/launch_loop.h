// Asks what became of every open launch, in the background of a server: ends are kept, devices
// given back and hours counted though nobody looks. Of several replicas on one store, one does.
#pragma once

#include "server/access_log.h"
#include "server/owned_name.h"
#include "server/periodic.h"
#include "service/launch.h"
#include "service/live_operations.h"

namespace exa {

class LaunchLoop {
 public:
  LaunchLoop(Service& service, AccessLog& log)
      : service_(service), log_(log), ownership_(service.store(), "launches") {}
  ~LaunchLoop() { stop(); }
  void start(Periodic::Threw threw);
  void stop();  // what is being asked is not waited for

 private:
  Service& service_;
  AccessLog& log_;
  OwnedName ownership_;   // of the loop's own thread
  LiveOperation wanted_;  // cancelled when it stops
  Periodic thread_;
};

}  // namespace exa
