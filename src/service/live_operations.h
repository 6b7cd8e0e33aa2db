// The long work that this process does just now: how far each has come, and the wish to end it.
// Thread-safe.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/progress.h"

namespace exa {

class LiveOperation final : public Progress {
 public:
  struct Seen {
    std::string what;
    int64_t done = 0;
    int64_t total = 0;
    bool operator==(const Seen&) const = default;
  };

  void at(std::string_view what, int64_t done, int64_t total) override {
    const std::lock_guard lock(mutex_);
    seen_.what = what;
    seen_.done = done;
    seen_.total = total;
  }
  bool cancelled() const override { return cancelled_.load(std::memory_order_relaxed); }
  void cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  Seen seen() const {
    const std::lock_guard lock(mutex_);
    return seen_;
  }

 private:
  mutable std::mutex mutex_;
  Seen seen_;
  std::atomic<bool> cancelled_ = false;
};

class LiveOperations {
 public:
  std::shared_ptr<LiveOperation> begin(const std::string& id) {
    const std::lock_guard lock(mutex_);
    return by_id_[id] = std::make_shared<LiveOperation>();
  }
  void end(const std::string& id) {
    const std::lock_guard lock(mutex_);
    by_id_.erase(id);
  }
  // Null where it is not this process that does it.
  std::shared_ptr<LiveOperation> find(const std::string& id) const {
    const std::lock_guard lock(mutex_);
    const auto found = by_id_.find(id);
    return found == by_id_.end() ? nullptr : found->second;
  }
  std::vector<std::pair<std::string, std::shared_ptr<LiveOperation>>> all() const {
    const std::lock_guard lock(mutex_);
    return {by_id_.begin(), by_id_.end()};
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<LiveOperation>> by_id_;
};

}  // namespace exa
