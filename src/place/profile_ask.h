// A hardware profile as a workload's ask: the keys of read_workload that a shape speaks about.
// Pure.
#pragma once

#include "base/json.h"
#include "profile/hardware_profile.h"

namespace exa {

// gpu_count, cpu and memory are per node in both. A MIG profile becomes the share of a device that
// it is, by the hinted model's table. Amounts that the shape does not ask for are left out.
json::object ask_of(const HardwareProfile& profile);

}  // namespace exa
