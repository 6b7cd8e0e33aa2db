// What is asked for, and how often: the workload that a policy prepares for. Given (a trace, last
// month's asks) or learned from the asks themselves; either way a plain value that can be kept, so
// that a restart continues with the same answers.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "place/device_ask.h"

namespace exa {

// The part of an ask that fragmentation depends on. Memory is left out, as by the paper's authors.
struct AskKind {
  int64_t cpu_milli = 0;
  int64_t share_milli = 0;
  int64_t devices = 0;
  std::vector<std::string> models;

  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 misreads it
  auto operator<=>(const AskKind&) const = default;
};

struct AskFrequency {
  AskKind kind;
  int64_t count = 0;
};

class AskMix {
 public:
  void observe(const DeviceAsk& ask, int64_t count = 1);
  int64_t total() const { return total_; }
  // Most frequent first; equally frequent ones by larger kind first.
  std::vector<AskFrequency> by_frequency() const;
  const std::map<AskKind, int64_t>& counts() const { return counts_; }

 private:
  std::map<AskKind, int64_t> counts_;
  int64_t total_ = 0;
};

}  // namespace exa
