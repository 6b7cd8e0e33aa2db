// Answers to reads, kept as they were sent. An entry holds while nothing was written and for a
// quarter of a second at most, because answers speak of ages and of leases that end by themselves.
// Only for a store with one writer, who counts its changes (Store::changes). Thread-safe.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "server/exchange.h"

namespace exa {

class ReplyCache {
 public:
  using Moment = std::chrono::steady_clock::time_point;

  explicit ReplyCache(size_t most_bytes = size_t{64} << 20) : most_bytes_(most_bytes) {}

  // `who` separates those who may see different things.
  std::optional<Outgoing> find(const std::string& who, const std::string& target, uint64_t changes,
                               Moment now) const;
  // `changes` as it was before the answer was made.
  void keep(const std::string& who, const std::string& target, uint64_t changes, Moment now,
            const Outgoing& answer);

 private:
  struct Entry {
    uint64_t changes;
    Moment until;
    Outgoing answer;
  };
  static std::string key_of(const std::string& who, const std::string& target) {
    return who + '\n' + target;
  }

  size_t most_bytes_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Entry> entries_;
  size_t bytes_ = 0;
};

}  // namespace exa
