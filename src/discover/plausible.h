// Numbers that are none, and numbers that no machine has: the one place that knows both. Slurm and
// tools built on it print NO_VAL and INFINITE where nothing is set; read as a count, each is a
// cluster that does not exist.
#pragma once

#include <cstdint>

#include "base/error.h"
#include "hardware/inventory.h"

namespace exa {

// NO_VAL and INFINITE of 32 and 64 bits, and the signed readings of them that older releases print.
constexpr bool is_unset_number(uint64_t value) {
  return value == 0xFFFFFFFE || value == 0xFFFFFFFF || value >= 0xFFFFFFFFFFFFFFFE;
}
constexpr bool is_unset_number(int64_t value) {
  return value < 0 || is_unset_number(static_cast<uint64_t>(value));
}

// The largest machines of today hold some dozens of accelerators and some thousands of cores.
inline constexpr int64_t kMostDevices = 4096;
inline constexpr int64_t kMostSlices = 8 * kMostDevices;
inline constexpr int64_t kMostCores = int64_t{1} << 20;

// Whether every node is a machine that can exist, whichever reader read it: unreadable_output
// naming the node and the number. Shares have no bound: bytes of device memory are among them.
Result<void> check_plausible(const Inventory& inventory);

}  // namespace exa
