// Slurm's node states: a base state with flags, which every tool writes differently.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "hardware/inventory.h"

namespace exa {

// A set of the facts that a state's words and suffixes tell.
struct SlurmState {
  uint32_t facts = 0;

  SlurmState& operator|=(SlurmState other) {
    facts |= other.facts;
    return *this;
  }
};

// Reads scontrol's "MIXED+DRAIN", sinfo's "allocated+drain", "draining", "drng" and "idle~", one
// word of a JSON list, in any case. A word that is not in the table is unreadable_output: a state
// that is not understood must not be counted either way.
Result<SlurmState> read_slurm_state(std::string_view text);

Health health(SlurmState state);

// Slurm refused what the node's daemon found (INVALID_REG): fewer devices than slurm.conf says.
bool is_refused(SlurmState state);

}  // namespace exa
