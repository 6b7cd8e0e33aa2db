#include "store/group_commit.h"

#include <algorithm>
#include <condition_variable>
#include <exception>

namespace exa {
namespace {

// More would make the first of a batch wait long for its answer.
constexpr size_t kMostInOneCommit = 256;
constexpr int kMostTries = 20;

}  // namespace

// One commit that many parts write into, on the thread that runs them.
struct GroupCommit::Sharing {
  const GroupCommit* group;
  Transaction* transaction;
  std::vector<Committed> committed{};  // of the works that are to be kept
  Result<void> whole{};                // why nothing of it can be kept any more
};

thread_local GroupCommit::Sharing* GroupCommit::here_ = nullptr;

struct GroupCommit::Waiting {
  Waiting(const Work& given, const Committed& after) : work(given), committed(after) {}
  explicit Waiting(Store::Parts given) : work(kNoWork), committed(kNothing), parts(given) {}

  static inline const Work kNoWork;
  static inline const Committed kNothing;
  const Work& work;
  const Committed& committed;
  Store::Parts parts{};  // instead of `work`
  Result<void> outcome{};
  std::exception_ptr thrown{};
  bool answered = false;  // when woken without an answer, it leads

  // A condition and no semaphore: libstdc++'s spins with sched_yield before it sleeps, which takes
  // the leader's time when many wait.
  std::mutex mutex;
  std::condition_variable condition;
  bool woken = false;
  void wait() {
    std::unique_lock lock(mutex);
    condition.wait(lock, [this] { return woken; });
  }
  void wake() {
    {
      const std::lock_guard lock(mutex);
      woken = true;
    }
    condition.notify_one();  // without the lock, which the woken would only wait for again
  }

  // Whether the work's changes are to be kept.
  bool run(Transaction& transaction) {
    outcome = {};
    thrown = nullptr;
    try {
      outcome = work(transaction);
    } catch (...) {
      thrown = std::current_exception();
    }
    return succeeded();
  }
  // What it kept stays kept, whatever its caller makes of that.
  void tell(Transaction& transaction) {
    try {
      committed(transaction);
    } catch (...) {
      thrown = std::current_exception();
    }
  }
  bool succeeded() const { return outcome.has_value() && thrown == nullptr; }
  void fail_with(const Error& error) {
    thrown = nullptr;
    outcome = fail(error);
  }
};

Result<void> GroupCommit::write(const Work& work, const Committed& committed) {
  if (within_part()) return write_within(*here_, work, committed);
  // shared, so that whoever wakes it may still touch it when it has gone on
  return wait_and_lead(std::make_shared<Waiting>(work, committed));
}

Result<void> GroupCommit::together(Store::Parts parts) {
  return wait_and_lead(std::make_shared<Waiting>(parts));
}

Result<void> GroupCommit::wait_and_lead(const std::shared_ptr<Waiting>& self) {
  {
    std::unique_lock lock(mutex_);
    queue_.push_back(self);
    const bool follow = std::exchange(led_, true);
    lock.unlock();
    if (follow) self->wait();
  }
  if (!self->answered) {
    Batch batch = take_batch();
    run(batch);
    hand_over(batch, self.get());
  }
  if (self->thrown) std::rethrow_exception(self->thrown);
  return std::move(self->outcome);
}

size_t GroupCommit::waiting() const {
  const std::lock_guard lock(mutex_);
  return queue_.size();
}

GroupCommit::Batch GroupCommit::take_batch() {
  const std::lock_guard lock(mutex_);
  // parts have a transaction of their own, in which many have a share already
  auto end = queue_.begin() + static_cast<ptrdiff_t>(std::min(queue_.size(), kMostInOneCommit));
  const auto has_parts = [](const auto& waiting) { return !waiting->parts.empty(); };
  if (has_parts(queue_.front()))
    end = queue_.begin() + 1;
  else
    end = std::find_if(queue_.begin(), end, has_parts);
  Batch batch(queue_.begin(), end);
  queue_.erase(queue_.begin(), end);
  return batch;
}

// The next leader first: it works while the others are woken.
void GroupCommit::hand_over(const Batch& batch, const Waiting* leader) {
  std::shared_ptr<Waiting> next;
  {
    const std::lock_guard lock(mutex_);
    if (queue_.empty())
      led_ = false;
    else
      next = queue_.front();
  }
  if (next) next->wake();
  for (const auto& waiting : batch) {
    if (waiting.get() == leader) continue;
    waiting->answered = true;
    waiting->wake();
  }
}

void GroupCommit::run(Batch& batch) {
  for (int tries = 1; !run_once(batch); ++tries) {
    if (tries < kMostTries) continue;
    for (const auto& waiting : batch)
      waiting->fail_with(
          {Code::store_locked, "other writers were faster again and again", {}, "", {}});
    return;
  }
}

bool GroupCommit::run_once(Batch& batch) {
  if (!batch.front()->parts.empty()) return run_parts(*batch.front());
  const auto fail_all = [&](const Error& error) {
    for (const auto& waiting : batch) waiting->fail_with(error);
  };
  const Result<Transaction*> begun = writer_.begin();
  if (!begun) {
    fail_all(begun.error());
    return true;
  }
  Transaction& transaction = **begun;
  const bool alone = batch.size() == 1;
  bool keep = false;
  Result<void> whole;
  for (const auto& waiting : batch) {
    if (!alone) whole = transaction.change("SAVEPOINT one").map([](int64_t) {});
    if (!whole) break;
    const bool done = waiting->run(transaction);
    if (writer_.lost()) break;
    keep = keep || done;
    if (alone) break;
    if (!done) whole = transaction.change("ROLLBACK TO SAVEPOINT one").map([](int64_t) {});
    if (whole) whole = transaction.change("RELEASE SAVEPOINT one").map([](int64_t) {});
    if (whole) continue;
    // the work's error took the whole transaction with it (a full disk), and says more
    if (!waiting->outcome) whole = waiting->outcome;
    break;
  }
  if (whole && keep && !writer_.lost()) whole = writer_.commit();
  const bool lost = writer_.lost();
  if (lost || !whole || !keep) writer_.roll_back();
  const bool committed = !lost && whole && keep;
  if (committed) {
    for (const auto& waiting : batch) {
      if (waiting->succeeded()) waiting->tell(transaction);
    }
  }
  writer_.finish(committed);
  if (!whole && !lost) fail_all(whole.error());
  return !lost;
}

bool GroupCommit::run_parts(Waiting& waiting) {
  const Result<Transaction*> begun = writer_.begin();
  if (!begun) {
    waiting.outcome = fail(begun.error());
    return true;
  }
  Sharing sharing{this, *begun};
  here_ = &sharing;
  for (const auto& part : waiting.parts) part();
  here_ = nullptr;
  Result<void>& whole = sharing.whole;
  const bool keep = !sharing.committed.empty();
  if (whole && keep && !writer_.lost()) whole = writer_.commit();
  const bool lost = writer_.lost();
  if (lost || !whole || !keep) writer_.roll_back();
  const bool committed = !lost && whole && keep;
  if (committed) {
    for (const Committed& each : sharing.committed) {
      try {
        each(*sharing.transaction);
      } catch (...) {
        // its part has ended; what it kept stays kept
      }
    }
  }
  writer_.finish(committed);
  waiting.outcome = whole;
  return !lost;
}

bool GroupCommit::within_part() const {
  return here_ != nullptr && here_->group == this;
}

Result<void> GroupCommit::write_within(Sharing& sharing, const Work& work,
                                       const Committed& committed) {
  Waiting one(work, committed);
  Transaction& transaction = *sharing.transaction;
  const auto statement = [&](const char* sql) {
    if (sharing.whole) sharing.whole = transaction.change(sql).map([](int64_t) {});
    return sharing.whole.has_value();
  };
  if (!writer_.lost() && statement("SAVEPOINT one")) {
    const bool done = one.run(transaction);
    const bool lost = writer_.lost();
    if (!lost && !done) statement("ROLLBACK TO SAVEPOINT one");
    if (!lost) statement("RELEASE SAVEPOINT one");
    // the work's error took the whole transaction with it (a full disk), and says more
    if (!sharing.whole && !one.outcome) sharing.whole = one.outcome;
    if (done && sharing.whole) sharing.committed.push_back(committed);
  }
  if (one.thrown) std::rethrow_exception(one.thrown);
  if (!sharing.whole) return sharing.whole;
  return std::move(one.outcome);
}

Result<void> GroupCommit::rehearse_within(const Work& work) {
  Sharing& sharing = *here_;
  Transaction& transaction = *sharing.transaction;
  EXA_TRY(transaction.change("SAVEPOINT rehearsal"));
  Waiting one(work, Waiting::kNothing);
  one.run(transaction);
  for (const char* sql : {"ROLLBACK TO SAVEPOINT rehearsal", "RELEASE SAVEPOINT rehearsal"})
    if (sharing.whole) sharing.whole = transaction.change(sql).map([](int64_t) {});
  if (one.thrown) std::rethrow_exception(one.thrown);
  return std::move(one.outcome);
}

}  // namespace exa
