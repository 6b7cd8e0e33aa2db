// What a workload asks for, in neutral terms. Requirement "Neutral device requirements"; semantics
// §1 (quantities) and §5. Values only; all functions are pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "hardware/engine.h"
#include "hardware/family.h"

namespace exa {

// Where a pool stands, and where a workload may run. A pool is never `any`.
enum class Target { any, hpc, cloud };
std::string_view name(Target target);                      // "any", "hpc", "cloud"
std::optional<Target> find_target(std::string_view name);  // exact spelling

// gpus, cpu and memory are per node; gpu memory and fraction are per device. 0 and empty texts mean
// that nothing is asked. Texts are lower case where they are tags.
struct Workload {
  std::string name;
  Family accelerator = Family::nvidia;
  std::vector<std::string> capabilities;  // tags that the pool must advertise; sorted, unique
  Target target = Target::any;
  std::string engine = "generic";
  int64_t fraction_milli = 1000;  // of each device, 1 to 1000
  int64_t gpus = 1;               // devices on each node; for cpu: shares of a cpu pool
  int64_t nodes = 1;
  int64_t cpu_milli = 0;
  int64_t memory_bytes = 0;
  int64_t gpu_memory_bytes = 0;
  std::string model;      // hint such as A100-80GB: a pool that is known to have another is refused
  std::string residency;  // as written; empty: the workload says nothing
  bool allow_fallback = true;
  std::string hardware_profile;  // NAME@V that the ask was taken from; recorded, never read

  int64_t devices() const { return gpus * nodes; }
  bool operator==(const Workload&) const = default;
};

// Every rule that a Workload breaks: ranges, an unknown engine (with a did-you-mean), an
// accelerator that cannot be asked for, malformed names and tags. Empty: place() takes it.
std::vector<Problem> problems_of_workload(const Workload& workload, const EngineTable& engines);

// Keys: name (required), accelerator, capabilities (list or comma-separated text), target (hpc,
// cloud, any or null), engine, fraction, gpus, nodes, cpu (cores), memory_gb (GiB), gpu_memory
// (text with a unit: "80GB"), model, residency, fallback, hardware_profile. Numbers are JSON
// numbers or decimal texts; null keeps the default. An unknown residency class is kept as written:
// it counts as restricted. Fails with invalid_input, all problems at once, unknown keys last.
Result<Workload> read_workload(const json::object& input, const EngineTable& engines);

json::object to_json(const Workload& workload);  // the keys above; read_workload reads it back

// "2 × 4 nvidia (model A100, fp8)", for sentences: nodes × devices, what they are.
std::string describe(const Workload& workload);

}  // namespace exa
