// Many writers, one commit: the first that comes leads, runs what has queued up behind it in one
// transaction, each work in a savepoint of its own, and answers all of them once the commit is on
// disk. A disk that syncs 1,500 times a second then bounds batches, not changes.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "store/store.h"

namespace exa {

class GroupCommit {
 public:
  // What a backend does around a batch. Called by one thread at a time.
  class Writer {
   public:
    virtual ~Writer() = default;
    virtual Result<Transaction*> begin() = 0;  // takes the writer's lock, if the backend has one
    virtual Result<void> commit() = 0;         // durable on return
    virtual void roll_back() = 0;
    virtual void finish(bool committed) = 0;  // always called after a begin that succeeded
    // The transaction was lost to another writer: the whole batch is to be run again.
    virtual bool lost() const { return false; }
  };

  explicit GroupCommit(Writer& writer) : writer_(writer) {}

  // As Store::write. An exception of `work` or `committed` comes out of the call that brought it.
  Result<void> write(const Work& work, const Committed& committed);
  // As Store::together.
  Result<void> together(Store::Parts parts);
  // Whether this thread runs a part of `together`; then what would be a transaction of its own is a
  // savepoint of that one.
  bool within_part() const;
  Result<void> rehearse_within(const Work& work);

  // How many wait behind the commit that goes on. Any thread.
  size_t waiting() const;

 private:
  struct Waiting;
  struct Sharing;
  using Batch = std::vector<std::shared_ptr<Waiting>>;

  Result<void> wait_and_lead(const std::shared_ptr<Waiting>& self);
  Batch take_batch();
  void run(Batch& batch);
  bool run_once(Batch& batch);       // false: lost, run it again
  bool run_parts(Waiting& waiting);  // likewise
  Result<void> write_within(Sharing& sharing, const Work& work, const Committed& committed);
  static thread_local Sharing* here_;  // of the parts that this thread runs
  void hand_over(const Batch& batch, const Waiting* leader);

  Writer& writer_;
  mutable std::mutex mutex_;
  Batch queue_;  // the leader first, until it took its batch
  bool led_ = false;
};

}  // namespace exa
