// Hands what changed to everybody who watches, as server-sent events. One thread reads the log, a
// batch at a time, however many watch; each watcher gets what it may see, from where it left off.
#pragma once

#include <condition_variable>
#include <list>
#include <mutex>
#include <thread>

#include "server/exchange.h"
#include "service/events.h"

namespace exa {

class WatchHub {
 public:
  // Who the watcher still is: asked anew every second, so that a revoked token ends its stream.
  using WhoIsIt = std::function<Result<Principal>()>;

  explicit WatchHub(Service& service) : service_(service) {}
  ~WatchHub() { stop(); }
  void start();
  void stop();  // ends all streams

  static constexpr size_t kMostWatchers = 500;
  // Events after `since` go into the sink until either side ends. false: there are too many.
  bool watch(std::shared_ptr<EventSink> sink, int64_t since, WhoIsIt who);
  size_t watchers() const;

 private:
  struct Watcher {
    std::shared_ptr<EventSink> sink;
    int64_t since;  // revision up to which it was told
    WhoIsIt who;
    Projects known;
    std::chrono::steady_clock::time_point asked;   // who it is
    std::chrono::steady_clock::time_point spoken;  // the last byte sent to it
  };

  void run();
  void tell_all(int64_t newest);
  bool tell(Watcher& watcher, int64_t newest);
  bool still_there(Watcher& watcher);

  Service& service_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Watcher> watchers_;
  bool stopping_ = false;
  std::thread thread_;
};

// One event in the format of text/event-stream.
std::string event_text(const Event& event);

}  // namespace exa
