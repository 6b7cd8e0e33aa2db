// Numbers that are none, and inventories of machines that cannot exist. Slurm and tools built on it
// print NO_VAL and INFINITE where nothing is set; read as a count, each is a cluster that does not
// exist.
#pragma once

#include <cstdint>

#include "base/error.h"
#include "hardware/inventory.h"
#include "hardware/machine_bounds.h"

namespace exa {

// NO_VAL and INFINITE of 32 and 64 bits, and the signed readings of them that older releases print.
constexpr bool is_unset_number(uint64_t value) {
  return value == 0xFFFFFFFE || value == 0xFFFFFFFF || value >= 0xFFFFFFFFFFFFFFFE;
}
constexpr bool is_unset_number(int64_t value) {
  return value < 0 || is_unset_number(static_cast<uint64_t>(value));
}

// Whether every node is a machine that can exist, whichever reader read it: unreadable_output
// naming the node and the number. Shares have no bound: bytes of device memory are among them.
Result<void> check_plausible(const Inventory& inventory);

}  // namespace exa
