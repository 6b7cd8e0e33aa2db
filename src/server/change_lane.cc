#include "server/change_lane.h"

#include "server/answers.h"

namespace exa {
namespace {

// More would make the first of them wait long for its answer.
constexpr size_t kMostTogether = 128;

}  // namespace

ChangeLane::ChangeLane(Application& application)
    : application_(application), thread_([this] { work(); }) {}

ChangeLane::~ChangeLane() {
  stop();
}

void ChangeLane::take(const Incoming& incoming, Done done) {
  bool idle = false;
  {
    const std::lock_guard lock(mutex_);
    idle = waiting_.empty();
    waiting_.push_back({&incoming, std::move(done)});
  }
  if (idle) taken_.notify_one();  // else somebody told it already
}

void ChangeLane::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  taken_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void ChangeLane::work() {
  for (;;) {
    std::vector<Change> changes;
    {
      std::unique_lock lock(mutex_);
      taken_.wait(lock, [&] { return stopping_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      if (waiting_.size() <= kMostTogether) {
        changes.swap(waiting_);
      } else {
        const auto end = waiting_.begin() + kMostTogether;
        changes.assign(std::make_move_iterator(waiting_.begin()), std::make_move_iterator(end));
        waiting_.erase(waiting_.begin(), end);
      }
    }
    answer(changes);
    for (Change& change : changes) change.done(std::move(change.answer));
  }
}

void ChangeLane::answer(std::vector<Change>& changes) {
  const auto answer_one = [this](Change& change) {
    change.answer = application_.answer(*change.incoming);
  };
  if (changes.size() == 1) return answer_one(changes[0]);
  std::vector<std::function<void()>> parts;
  parts.reserve(changes.size());
  for (Change& change : changes) parts.emplace_back([&] { answer_one(change); });
  const Result<void> kept = application_.store().together(parts);
  if (kept) return;
  for (Change& change : changes) {
    // a part that never ran has no answer; what was refused is refused all the same
    if (change.answer.status < 400 || change.answer.body == nullptr)
      change.answer = application_.not_kept(change.answer, kept.error());
  }
}

}  // namespace exa
