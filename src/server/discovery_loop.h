// Looks at every cluster on its interval, in the background of a server. Of several replicas on one
// store, one does (Store::try_own); it is taken over when that one dies.
#pragma once

#include <mutex>
#include <set>

#include <boost/asio/thread_pool.hpp>

#include "server/access_log.h"
#include "server/owned_name.h"
#include "server/periodic.h"
#include "service/discovery_schedule.h"

namespace exa {

class DiscoveryLoop {
 public:
  DiscoveryLoop(Service& service, AccessLog& log)
      : service_(service), log_(log), ownership_(service.store(), "discovery") {}
  ~DiscoveryLoop() { stop(); }
  void start(Periodic::Threw threw);
  void stop();  // ends looks that go on, without a record of them

 private:
  void look_where_due();
  void look(const std::string& cluster);

  Service& service_;
  AccessLog& log_;
  OwnedName ownership_;                  // of the loop's own thread
  boost::asio::thread_pool lookers_{4};  // one slow cluster must not hold up the others
  std::mutex mutex_;
  std::set<std::string> going_on_;
  bool stopping_ = false;
  LiveOperation wanted_;  // cancelled when it stops
  Periodic thread_;
};

}  // namespace exa
