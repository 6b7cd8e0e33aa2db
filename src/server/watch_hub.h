// Hands what changed to everybody who watches, as server-sent events. One thread reads the log: in
// a round one batch for all who are told up to the same revision; each gets what it may see of it.
#pragma once

#include <mutex>

#include "server/exchange.h"
#include "server/periodic.h"
#include "service/events.h"

namespace exa {

class WatchHub {
 public:
  // Who the watcher still is: asked anew every second, so that a revoked token ends its stream.
  using WhoIsIt = std::function<Result<Principal>()>;

  explicit WatchHub(Service& service) : service_(service) {}
  ~WatchHub() { stop(); }
  void start(Periodic::Threw threw);
  void stop();  // ends all streams

  static constexpr size_t kMostWatchers = 500;
  // Events after `since` go into the sink until either side ends. false: there are too many.
  bool watch(std::shared_ptr<EventSink> sink, int64_t since, WhoIsIt who);
  size_t watchers() const;

 private:
  // Of the thread alone, once it is in the list.
  struct Watcher {
    std::shared_ptr<EventSink> sink;
    int64_t since;  // revision up to which it was told
    WhoIsIt who;
    Listener listener;
    std::chrono::steady_clock::time_point asked;   // who it is
    std::chrono::steady_clock::time_point spoken;  // the last byte sent to it
    bool ended = false;
  };
  using Watchers = std::vector<std::shared_ptr<Watcher>>;

  std::chrono::milliseconds look();
  static bool tell(Watcher& watcher, const EventBatch* batch);
  static bool still_there(Watcher& watcher);
  static bool ask(Watcher& watcher);
  void drop_ended();

  Service& service_;
  mutable std::mutex mutex_;
  Watchers watchers_;
  bool stopped_ = false;
  Periodic thread_;
};

// One event in the format of text/event-stream.
std::string event_text(const Event& event);

}  // namespace exa
