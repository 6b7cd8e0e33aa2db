// ML platforms as they are kept: which machines each holds, and how its building stands. The rows;
// what changes them is ml_platforms.h.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compute/cluster_definition.h"
#include "service/service.h"

namespace exa {

enum class PlatformState {
  reserved,      // its machines are its own; nothing was built yet
  provisioning,  // a driver works on it
  ready,
  failed,    // the driver ended badly; it may be run again
  deleting,  // a driver takes it down
};
std::string_view name(PlatformState state);
std::optional<PlatformState> find_platform_state(std::string_view name);

// A machine that a platform holds, as it was when it was chosen.
struct HeldMachine {
  PlatformMachine machine;
  ChosenAs as = ChosenAs::gpu_worker;
};

// One run of the driver.
struct PlatformRun {
  std::string action;  // "apply", "destroy"
  Time started_at;
  std::optional<Time> ended_at;
  bool succeeded = false;
  std::string reason;  // why not
  json::object outputs;
};

struct MlPlatform {
  std::string project;
  std::string name;
  std::string id;
  int64_t generation = 1;        // rises when its machines or its definition change
  int64_t built_generation = 0;  // that the driver last built; 0: none
  AllocationMode mode = AllocationMode::dedicated;
  std::string compute_profile;
  json::object profile;  // document of the compute profile, overridden, as it was chosen by
  std::string workload_profile;
  std::vector<std::pair<GpuFamily, int64_t>> gpus;  // asked for
  int64_t minimum_workers = 0;
  std::string minimum_from;
  std::vector<HeldMachine> machines;  // sorted by id
  int64_t leftover_gpus = 0;
  int64_t filler_gpus = 0;
  std::string provisioner;  // empty: its files are all there is
  PlatformState state = PlatformState::reserved;
  std::string reason;
  std::optional<PlatformRun> last_run;
  Time created_at;
  std::string created_by;
  Time updated_at;

  std::string key() const { return project + "/" + name; }
};

json::object to_json(const MlPlatform& platform);  // what people see, and the log digests
Result<MlPlatform> ml_platform_from_json(const json::object& stored);

Result<std::vector<MlPlatform>> load_platforms(Transaction& tx);  // of all projects, by key
Result<std::optional<MlPlatform>> load_platform(Transaction& tx, const std::string& project,
                                                const std::string& name);
Result<MlPlatform> find_platform(Transaction& tx, const std::string& project,
                                 const std::string& name);  // not_found names close spellings
Result<void> put_platform(Transaction& tx, const MlPlatform& platform);
Result<void> drop_platform(Transaction& tx, const MlPlatform& platform);

// Who holds what of a machine.
struct MachineHold {
  std::string project;
  std::string platform;
  AllocationMode mode = AllocationMode::dedicated;
  int64_t gpus = 0;
};
using MachineHolds = std::map<std::string, std::vector<MachineHold>, std::less<>>;
MachineHolds holds_of(const std::vector<MlPlatform>& platforms);

// "in use by platform llm", or of another project without its name.
std::string held_words(const MachineHold& hold, const Caller& caller);

}  // namespace exa
