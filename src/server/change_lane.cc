#include "server/change_lane.h"

#include <algorithm>
#include <chrono>
#include <iterator>

#include "server/answers.h"

namespace exa {
namespace {

// More would make the first of them wait long for its answer.
constexpr size_t kMostTogether = 128;
// Nor longer: a database at the end of a slow line keeps its one writer for so long, and every
// other replica waits.
constexpr std::chrono::milliseconds kLongestTogether{25};

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
    const auto rest = std::ranges::find(changes, false, &Change::answered);
    for (auto change = changes.begin(); change != rest; ++change)
      change->done(std::move(change->answer));
    const std::lock_guard lock(mutex_);
    waiting_.insert(waiting_.begin(), std::make_move_iterator(rest),
                    std::make_move_iterator(changes.end()));
  }
}

void ChangeLane::answer(std::vector<Change>& changes) {
  const auto answer_one = [this](Change& change) {
    change.answer = application_.answer(*change.incoming);
    change.answered = true;
  };
  if (changes.size() == 1) return answer_one(changes[0]);
  std::chrono::steady_clock::time_point end;
  std::vector<std::function<void()>> parts;
  parts.reserve(changes.size());
  // a transaction that is lost is run again, from its first part
  parts.emplace_back([&] {
    end = std::chrono::steady_clock::now() + kLongestTogether;
    for (Change& change : changes) change.answered = false;
    answer_one(changes[0]);
  });
  for (auto change = changes.begin() + 1; change != changes.end(); ++change) {
    parts.emplace_back([&, change] {
      if (std::chrono::steady_clock::now() < end) answer_one(*change);
    });
  }
  const Result<void> kept = application_.store().together(parts);
  if (kept) return;
  for (Change& change : changes) {
    // a part that never ran has no answer; what was refused is refused all the same
    if (change.answered && change.answer.status >= 400) continue;
    change.answer = application_.not_kept(change.answer, kept.error());
    change.answered = true;
  }
}

}  // namespace exa
