// Fragmentation as Weng et al. define it (USENIX ATC 2023): the free share of a node that a task
// drawn from the workload could not use, on average. Pure; no thread of its own.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "place/ask_mix.h"
#include "place/device_fleet.h"

namespace exa {

class Fragmentation {
 public:
  // The most frequent asks that make up 95 % of the mix, as the paper's authors choose them.
  Fragmentation(const DeviceFleet& fleet, const AskMix& mix);

  // Free milli-GPU that a drawn ask cannot use, times weight(). `cards` in any order.
  int64_t of(uint32_t kind, int64_t cpu_free, std::span<const uint16_t> cards) const;
  int64_t weight() const { return weight_; }  // asks counted
  size_t asks() const { return rows_.size(); }
  // Over the free share of all cards, 0 to 1; 0 when nothing is free.
  double ratio(const DeviceFleet& fleet) const;

 private:
  struct Row {
    int64_t cpu_milli = 0;
    int64_t devices = 0;
    int64_t share_milli = 0;
    int64_t count = 0;
    std::vector<uint8_t> accepted;  // by kind
  };
  std::vector<Row> rows_;
  int64_t weight_ = 0;
};

}  // namespace exa
