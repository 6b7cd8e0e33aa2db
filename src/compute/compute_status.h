// The status of a Compute: healthy machines grouped by identical hardware and resource groups, as
// the document prints it, and every other machine with why it is not offered (semantics §6). Pure.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "compute/machine.h"

namespace exa {

struct ComputeGroup {
  std::string architecture;
  bool available = true;
  std::optional<int64_t> cpu_count;   // of machines without GPUs
  std::string family;                 // "NVIDIA H100"; empty: no GPUs
  int64_t gpu_count = 0;              // of each machine
  std::vector<std::string> machines;  // ids, sorted; their number is `instances`
  ResourceGroups resource_groups;

  bool operator==(const ComputeGroup&) const = default;
};

struct UnofferedMachine {
  std::string id;
  std::string source;
  std::vector<std::string> reasons;  // never empty

  bool operator==(const UnofferedMachine&) const = default;
};

struct ComputeStatus {
  std::vector<ComputeGroup> control_plane;
  std::vector<ComputeGroup> workers;
  std::vector<UnofferedMachine> unoffered;  // sorted by id

  bool operator==(const ComputeStatus&) const = default;
};

// A machine as a Compute finds it. `reasons` are those beyond the machine's own `unfit`: silence,
// bad health, a platform that has it.
struct SeenMachine {
  const Machine* machine = nullptr;
  std::string source;
  std::vector<std::string> reasons;
};

// Groups are ordered by resource groups (none first), then architecture, then most GPUs, then most
// cores, then family from the end of the alphabet: the document's own example comes out in its own
// order.
ComputeStatus compute_status(std::span<const SeenMachine> machines);

// Keys as in the document: availableControlPlaneCompute, availableWorkerCompute (architecture,
// available, cpuCount, family, gpuCount, instances, machines, resourceGroups), unofferedMachines.
json::object to_json(const ComputeStatus& status);
// What to_json wrote, whatever else stands beside it.
Result<ComputeStatus> compute_status_from_json(const json::value& status);
// The document's block, "Status:" and what is below it, word for word; what is not offered follows
// under "Unoffered Machines:".
std::string describe(const ComputeStatus& status);

}  // namespace exa
