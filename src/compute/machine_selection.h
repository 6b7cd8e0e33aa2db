// Which machines an ML platform gets, and why each was taken or left (requirement "Minimum Worker
// Nodes with GPU Optimization"; semantics §6). Pure; the same input gives the same answer.
//
// Workers with GPUs: the fewest machines that have what is asked for, then the least GPUs left
// over, then ids: of all such sets the one whose sorted ids come first. Then the fill to the
// minimum: machines tagged palette.ai/worker, then those of a family asked for, then of any family;
// each time fewest GPUs first, then id. All or nothing.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "compute/machine.h"

namespace exa {

enum class AllocationMode {
  dedicated,  // a machine is one platform's alone
  shared      // platforms in shared mode may lie on one machine, each with GPUs of its own
};
std::string_view name(AllocationMode mode);
std::optional<AllocationMode> find_allocation_mode(std::string_view name);

// A machine of the fleet that may be chosen from.
struct FleetMachine {
  const Machine* machine = nullptr;  // fit ones and others; outlives the selection
  int64_t free_gpus = 0;             // what others left; counts in shared mode alone
  std::string unavailable;           // why it may not be taken: "in use by …"; empty: it may
};

struct SelectionAsk {
  std::vector<std::pair<GpuFamily, int64_t>> gpus;  // by family, each above 0; sorted by key
  int64_t gpu_memory_bytes = 0;                     // least of each GPU; 0: any
  int64_t minimum_workers = 0;
  int64_t control_planes = 1;  // 1, 3 or 5; two for a two-node cluster
  // workerNodeEligible. One control plane alone then is a worker, too: it has to be in the groups
  // of workers as well, its GPUs count, and it is the one that needs the fewest machines in all,
  // then leaves the fewest GPUs beyond the ask, then comes first by id.
  bool control_plane_works = false;
  std::string architecture;  // empty: any, yet one for the whole platform is not promised
  ResourceGroups control_plane_groups;  // a machine has to be in all of them
  ResourceGroups worker_groups;
  AllocationMode mode = AllocationMode::dedicated;
};

enum class ChosenAs {
  not_chosen,
  control_plane,
  control_plane_and_worker,
  gpu_worker,        // has GPUs that were asked for
  worker_tagged,     // fill, step 2 of the document
  requested_family,  // fill, step 3
  any_family,        // fill, step 4
};
std::string_view name(ChosenAs as);  // "control-plane", "gpu-worker", …

struct MachineVerdict {
  std::string id;
  ChosenAs as = ChosenAs::not_chosen;
  int64_t gpus = 0;  // that the platform gets here; of a dedicated machine all of them
  std::string why;   // a sentence: why chosen as that, or why not
};

struct Selection {
  bool met = false;
  // Of every machine of the fleet, in its order. Where the ask is not met nobody is chosen, and a
  // verdict says what the machine could have been.
  std::vector<MachineVerdict> machines;
  std::vector<std::string> control_plane;  // ids, sorted
  std::vector<std::string> workers;        // ids, sorted; one that is both stands in both
  // Of requested families, on machines that give GPUs, beyond what was asked. In shared mode 0: of
  // the last machine a platform takes only what it needs.
  int64_t leftover_gpus = 0;
  int64_t filler_gpus = 0;             // on machines that only fill the minimum
  std::vector<std::string> shortages;  // "2 of 8 NVIDIA H100 are missing: …"; empty when met
};

// `fleet` is sorted by id, unique.
Selection select_machines(std::span<const FleetMachine> fleet, const SelectionAsk& ask);

// Where the least number of workers comes from (requirement "Order of Precedence"): the first that
// speaks wins, not the largest.
struct MinimumWorkers {
  int64_t count = 0;
  std::string from;  // "the label palette.ai/min-nodes of workload profile X", …; empty: no minimum
  std::vector<std::string> warnings;  // where it lowers the profile's number
};
struct MinimumSources {
  std::optional<std::string> label;  // as written on the workload profile
  std::string workload_profile;      // its name
  std::optional<int64_t> override_count;
  std::optional<int64_t> profile;
  std::string compute_profile;  // its name
};
// A label that is no whole number from 0 on is refused (invalid_input).
Result<MinimumWorkers> minimum_workers(const MinimumSources& sources);

// Requests above the profile's limits (requirement "GPU Limits"): a problem for each family, empty
// when there is none. Absent: no limit; 0: none of them.
std::vector<Problem> beyond_limits(std::span<const std::pair<GpuFamily, int64_t>> gpus,
                                   std::span<const std::pair<GpuFamily, int64_t>> limits,
                                   std::string_view compute_profile);

// "8 H100", "H100=8", "NVIDIA-H100: 8": what people write for GPUs of a family.
Result<std::pair<GpuFamily, int64_t>> parse_gpu_request(std::string_view text);

}  // namespace exa
