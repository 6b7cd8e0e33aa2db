// A mutex that lets its waiters in in the order in which they came. With a plain one a thread that
// releases and takes it again keeps everybody else out for as long as it has work.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace exa {

class Turns {
 public:
  void lock() {
    std::unique_lock lock(mutex_);
    const uint64_t mine = given_++;
    passed_.wait(lock, [&] { return now_ == mine; });
  }
  void unlock() {
    {
      const std::lock_guard lock(mutex_);
      ++now_;
    }
    passed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable passed_;
  uint64_t given_ = 0;
  uint64_t now_ = 0;
};

}  // namespace exa
