#include "server/watch_hub.h"

#include <fmt/format.h>

namespace exa {
namespace {

using std::chrono::steady_clock;

// How long a change may wait to be told. Replicas write to the same log, so there is nobody who
// could wake this one: it looks.
constexpr auto kLook = std::chrono::milliseconds(200);
constexpr auto kHeartbeat = std::chrono::seconds(15);
constexpr auto kAskAgain = std::chrono::seconds(1);
constexpr int64_t kBatch = 500;

std::shared_ptr<const std::string> shared(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

}  // namespace

// The id is what a browser sends as Last-Event-ID when it connects again.
std::string event_text(const Event& event) {
  return fmt::format("id: {}\nevent: {}\ndata: {}\n\n", event.revision, event.action,
                     to_text(to_json(event)));
}

void WatchHub::start() {
  thread_ = std::thread([this] { run(); });
}

void WatchHub::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
  const std::lock_guard lock(mutex_);
  for (const Watcher& watcher : watchers_) watcher.sink->end();
  watchers_.clear();
}

size_t WatchHub::watchers() const {
  const std::lock_guard lock(mutex_);
  return watchers_.size();
}

bool WatchHub::watch(std::shared_ptr<EventSink> sink, int64_t since, WhoIsIt who) {
  Watcher watcher{std::move(sink), since, std::move(who), {}, {}, steady_clock::now()};
  if (!still_there(watcher)) return true;
  const std::lock_guard lock(mutex_);
  if (stopping_ || watchers_.size() >= kMostWatchers) return false;
  // A comment at once, so that whoever connects knows that it is heard.
  watcher.sink->send(shared(fmt::format(": watching from revision {}\n\n", since)));
  watchers_.push_back(std::move(watcher));
  changed_.notify_all();
  return true;
}

void WatchHub::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (watchers_.empty()) {
      changed_.wait(lock);
      continue;
    }
    lock.unlock();
    const auto newest =
        read_value<int64_t>(service_.store(), [](Transaction& tx) { return newest_revision(tx); });
    lock.lock();
    if (newest) tell_all(*newest);
    changed_.wait_for(lock, kLook);
  }
}

// Under the lock; sending only queues.
void WatchHub::tell_all(int64_t newest) {
  for (auto watcher = watchers_.begin(); watcher != watchers_.end();) {
    if (still_there(*watcher) && tell(*watcher, newest)) {
      ++watcher;
      continue;
    }
    watcher->sink->end();
    watcher = watchers_.erase(watcher);
  }
}

bool WatchHub::still_there(Watcher& watcher) {
  const auto now = steady_clock::now();
  if (now - watcher.asked < kAskAgain) return true;
  const auto principal = watcher.who();
  watcher.asked = now;
  if (!principal) return false;
  watcher.known = known_projects(principal->rights);
  return true;
}

bool WatchHub::tell(Watcher& watcher, int64_t newest) {
  const auto now = steady_clock::now();
  if (watcher.since >= newest) {
    if (now - watcher.spoken < kHeartbeat) return true;
    watcher.spoken = now;
    return watcher.sink->send(shared(fmt::format(": still here at revision {}\n\n", newest)));
  }
  const auto batch = read_value<EventBatch>(
      service_.store(), [&](Transaction& tx) { return events_after(tx, watcher.since, kBatch); });
  if (!batch) return false;
  std::string text;
  for (const Event& event : batch->events)
    if (const auto visible = seen_by(watcher.known, event)) text += event_text(*visible);
  watcher.since = batch->seen;
  if (text.empty()) return true;
  watcher.spoken = now;
  return watcher.sink->send(shared(std::move(text)));
}

}  // namespace exa
