// Looks at every cluster on its interval, in the background of a server. Of several replicas on one
// store, one does (Store::try_own); it is taken over when that one dies.
#pragma once

#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

#include <boost/asio/thread_pool.hpp>

#include "server/access_log.h"
#include "server/metrics.h"
#include "service/discovery_schedule.h"

namespace exa {

class DiscoveryLoop {
 public:
  DiscoveryLoop(Service& service, AccessLog& log, Metrics& metrics)
      : service_(service), log_(log), metrics_(metrics) {}
  ~DiscoveryLoop() { stop(); }
  void start();
  void stop();  // waits for looks that go on

 private:
  void run();
  bool owns();
  void look_where_due();
  void look(const std::string& cluster);

  Service& service_;
  AccessLog& log_;
  Metrics& metrics_;
  std::unique_ptr<Ownership> ownership_;  // of the loop's own thread
  boost::asio::thread_pool lookers_{4};   // one slow cluster must not hold up the others
  std::mutex mutex_;
  std::condition_variable woken_;
  std::set<std::string> going_on_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace exa
