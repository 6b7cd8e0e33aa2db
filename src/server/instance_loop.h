// Tends the instances of the catalogue in the background of a server: looks at what runs, and does
// what is due by a time to live or a schedule, a few at a time, since a template may take long. Of
// several replicas on one store, one does.
#pragma once

#include <array>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "server/access_log.h"
#include "server/owned_name.h"
#include "server/periodic.h"
#include "service/instances.h"
#include "service/live_operations.h"

namespace exa {

class InstanceLoop {
 public:
  InstanceLoop(Service& service, AccessLog& log)
      : service_(service), log_(log), ownership_(service.store(), "instances") {}
  ~InstanceLoop() { stop(); }
  void start(Periodic::Threw threw);
  void stop();  // templates at work are ended

 private:
  static constexpr size_t kAtOnce = 4;

  void hand_out(std::vector<ComputeInstance> due);
  void work(const Periodic::Threw& threw);
  void act(const ComputeInstance& instance);

  Service& service_;
  AccessLog& log_;
  OwnedName ownership_;   // of the looking thread
  LiveOperation wanted_;  // cancelled when it stops
  Periodic looking_;

  std::mutex mutex_;
  std::condition_variable more_;
  std::deque<ComputeInstance> queue_;
  std::set<std::string> taken_;  // ids that wait or are acted on
  bool ended_ = false;
  std::array<std::thread, kAtOnce> workers_;
};

}  // namespace exa
