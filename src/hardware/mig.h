// What part of a card a MIG instance is. A card is cut into 7 compute and 8 memory slices (NVIDIA
// Multi-Instance GPU user guide), so the two parts differ: 1g.10gb is 1/7 and 1/8.
#pragma once

#include <algorithm>
#include <cstdint>

#include "hardware/catalogue.h"

namespace exa {

inline constexpr int64_t kMigComputeSlices = 7;
inline constexpr int64_t kMigMemorySlices = 8;

// The largest share, in thousandths of a card, that the instance satisfies by both.
constexpr int64_t share_satisfied(const MigProfile& profile) {
  return std::min(profile.compute_slices * 1000 / kMigComputeSlices,
                  profile.memory_slices * 1000 / kMigMemorySlices);
}
// The share of the card that it takes: the larger of both.
constexpr int64_t share_taken(const MigProfile& profile) {
  return std::max(profile.compute_slices * 1000 / kMigComputeSlices,
                  profile.memory_slices * 1000 / kMigMemorySlices);
}

}  // namespace exa
