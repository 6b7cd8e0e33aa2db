// Who would be taken: found by machine_selection.cc, put into words by selection_reasons.cc.
#pragma once

#include <span>
#include <vector>

#include "compute/selection_field.h"

namespace exa {

struct SelectionPlan {
  std::vector<uint32_t> control_planes;
  bool control_plane_works = false;
  std::vector<GpuChoice> workers;           // by family asked for
  std::vector<int64_t> from_control_plane;  // GPUs of each family that the control plane gives
  std::vector<uint32_t> fillers;
  int64_t missing_control_planes = 0;
  std::vector<int64_t> missing_gpus;  // by family asked for
  int64_t missing_workers = 0;
  bool asks_for_nothing = false;  // nothing could run on it
  int64_t beyond = 0;             // GPUs that it would hold and did not ask for

  int64_t workers_chosen() const;  // all of them
  int64_t machines() const;
  int64_t missing() const;
  bool is_met() const { return missing() == 0 && !asks_for_nothing; }
};

// The verdict of every machine, and what is missing, in words.
void explain_selection(std::span<const FleetMachine> fleet, const SelectionAsk& ask,
                       const SelectionField& field, const SelectionPlan& plan,
                       Selection& selection);
std::vector<std::string> shortages_of(std::span<const FleetMachine> fleet, const SelectionAsk& ask,
                                      const SelectionField& field, const SelectionPlan& plan);

}  // namespace exa
