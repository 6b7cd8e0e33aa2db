// The Compute controller (requirement "Compute": every 30 seconds): looks at the sources of
// machines that are due and brings the status of every Compute up to date, in the background of a
// server. A source that fails changes no machine. Of several replicas on one store, one does.
#pragma once

#include "server/access_log.h"
#include "server/owned_name.h"
#include "server/periodic.h"
#include "service/computes.h"
#include "service/live_operations.h"

namespace exa {

class ComputeLoop {
 public:
  ComputeLoop(Service& service, AccessLog& log, Duration interval)
      : service_(service),
        log_(log),
        interval_(interval),
        ownership_(service.store(), "computes") {}
  ~ComputeLoop() { stop(); }
  void start(Periodic::Threw threw);
  void stop();  // a source that is being asked is not waited for

 private:
  Service& service_;
  AccessLog& log_;
  Duration interval_;
  OwnedName ownership_;   // of the loop's own thread
  LiveOperation wanted_;  // cancelled when it stops
  Periodic thread_;
};

}  // namespace exa
