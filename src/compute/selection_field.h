// The fleet as one ask sees it: of every machine the first filter that it failed, and what it could
// give. The search (machine_selection.cc) and the reasons (selection_reasons.cc) read it.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "compute/gpu_choice.h"
#include "compute/machine_selection.h"

namespace exa {

// In the order in which they are looked at.
enum class FailedFilter : uint8_t {
  none,
  unfit,
  unavailable,
  architecture,
  control_plane_groups,
  worker_groups
};

// Why its GPUs do not count.
enum class GpusFail : uint8_t { not_at_all, none, family, memory_unknown, memory, in_use };

struct Candidate {
  FailedFilter failed = FailedFilter::none;
  GpusFail gpus_fail = GpusFail::none;
  bool control_plane = false;  // its role; else a worker
  int16_t family = -1;         // place in the ask's list; -1: not asked for
  int16_t group = -1;          // place of the group that it is not in
  int16_t gpus = 0;            // that it has
  int16_t gives = 0;           // of the family asked for

  bool counts() const { return gpus_fail == GpusFail::not_at_all; }
};

struct SelectionField {
  std::vector<Candidate> candidates;     // of every machine, in the fleet's order
  std::vector<GpuSupply> supply;         // workers, by family asked for
  std::vector<uint32_t> control_planes;  // places, fewest GPUs first
  std::vector<uint32_t> fillers;         // places of workers, in the order of the fill
};

// One control plane alone that works, too.
bool has_working_control_plane(const SelectionAsk& ask);

// Which step of the document's fill a worker belongs to.
ChosenAs fill_step(const Machine& machine, const Candidate& candidate);

SelectionField look_at(std::span<const FleetMachine> fleet, const SelectionAsk& ask);

}  // namespace exa
