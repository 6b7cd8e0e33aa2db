#include "server/watch_hub.h"

#include <algorithm>

#include <fmt/format.h>

namespace exa {
namespace {

using std::chrono::steady_clock;

// How long a change may wait to be told. Replicas write to the same log, so there is nobody who
// could wake this one: it looks.
constexpr auto kLook = std::chrono::milliseconds(200);
constexpr auto kNobody = std::chrono::hours(1);  // whoever comes wakes it
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

void WatchHub::start(Periodic::Threw threw) {
  thread_.start([this] { return look(); }, std::move(threw));
}

void WatchHub::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  thread_.stop();
  const std::lock_guard lock(mutex_);
  for (const auto& watcher : watchers_) watcher->sink->end();
  watchers_.clear();
}

size_t WatchHub::watchers() const {
  const std::lock_guard lock(mutex_);
  return watchers_.size();
}

bool WatchHub::watch(std::shared_ptr<EventSink> sink, int64_t since, WhoIsIt who) {
  auto watcher = std::make_shared<Watcher>(
      Watcher{std::move(sink), since, std::move(who), {}, {}, steady_clock::now()});
  if (!ask(*watcher)) {
    watcher->sink->end();
    return true;
  }
  {
    const std::lock_guard lock(mutex_);
    if (stopped_ || watchers_.size() >= kMostWatchers) return false;
    // A comment at once, so that whoever connects knows that it is heard.
    watcher->sink->send(shared(fmt::format(": watching from revision {}\n\n", since)));
    watchers_.push_back(std::move(watcher));
  }
  thread_.wake();
  return true;
}

// The list is copied: whoever comes, or is counted, does not wait for the store.
std::chrono::milliseconds WatchHub::look() {
  Watchers watchers;
  {
    const std::lock_guard lock(mutex_);
    watchers = watchers_;
  }
  if (watchers.empty()) return kNobody;
  const auto newest =
      read_value<int64_t>(service_.store(), [](Transaction& tx) { return newest_revision(tx); });
  if (!newest) return kLook;  // the store's own trouble shows in every answer
  // side by side those who need the same batch: one is in memory at a time
  std::ranges::stable_sort(watchers, {}, [](const auto& watcher) { return watcher->since; });
  std::optional<int64_t> read_from;
  std::optional<Result<EventBatch>> batch;
  for (const auto& watcher : watchers) {
    const int64_t since = watcher->since;
    const bool behind = since < *newest;
    if (behind && read_from != since) {
      batch = read_value<EventBatch>(
          service_.store(), [&](Transaction& tx) { return events_after(tx, since, kBatch); });
      read_from = since;
    }
    // a log that became shorter is another one; who connects again is told so
    const bool gone = since > *newest;
    const EventBatch* found = behind && *batch ? &**batch : nullptr;
    watcher->ended = gone || !still_there(*watcher) || !tell(*watcher, found);
    if (watcher->ended) watcher->sink->end();
  }
  drop_ended();
  return kLook;
}

void WatchHub::drop_ended() {
  const std::lock_guard lock(mutex_);
  std::erase_if(watchers_, [](const auto& watcher) { return watcher->ended; });
}

bool WatchHub::ask(Watcher& watcher) {
  const auto principal = watcher.who();
  watcher.asked = steady_clock::now();
  if (!principal) return false;
  watcher.listener = listener_of(principal->rights);
  return true;
}

bool WatchHub::still_there(Watcher& watcher) {
  return steady_clock::now() - watcher.asked < kAskAgain || ask(watcher);
}

// `batch`: what came after its revision; none where nothing did, or where it could not be read now.
bool WatchHub::tell(Watcher& watcher, const EventBatch* batch) {
  const auto now = steady_clock::now();
  std::string text;
  if (batch != nullptr) {
    for (const Event& event : batch->events)
      if (const auto visible = seen_by(watcher.listener, event)) text += event_text(*visible);
    watcher.since = batch->seen;
  }
  if (text.empty()) {
    if (now - watcher.spoken < kHeartbeat) return true;
    text = fmt::format(": still here at revision {}\n\n", watcher.since);
  }
  watcher.spoken = now;
  return watcher.sink->send(shared(std::move(text)));
}

}  // namespace exa
