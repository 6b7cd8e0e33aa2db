// One thread answers the small changes, as many at a time as wait: they share one commit
// (Store::together), and only their clients wait for it. With a thread for each, waking them one by
// one costs more than the changes do. ADR 10.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "server/application.h"

namespace exa {

class ChangeLane {
 public:
  explicit ChangeLane(Application& application);
  ~ChangeLane();  // stops
  ChangeLane(const ChangeLane&) = delete;
  ChangeLane& operator=(const ChangeLane&) = delete;

  // Calls `done` with the answer once what it says is on disk, on the lane's thread. `incoming`
  // lives until then. Any thread; never waits.
  using Done = std::function<void(Outgoing)>;
  void take(const Incoming& incoming, Done done);
  // Answers what was taken, and then no more.
  void stop();

 private:
  struct Change {
    const Incoming* incoming;
    Done done;
    Outgoing answer{};
    bool answered = false;
  };

  void work();
  void answer(std::vector<Change>& changes);

  Application& application_;
  std::mutex mutex_;
  std::condition_variable taken_;
  std::vector<Change> waiting_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace exa
