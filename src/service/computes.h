// The status of Computes: which machines are offered, which are not and why. Semantics §6.
#pragma once

#include "compute/compute_status.h"
#include "service/machines.h"
#include "service/manifests.h"
#include "service/platform_rows.h"

namespace exa {

// Everything that a decision about machines rests on, read in one transaction.
struct FleetPicture {
  std::vector<StoredSource> sources;
  std::vector<StoredMachine> machines;  // by id
  MachineHolds holds;
};
Result<FleetPicture> load_fleet(Transaction& tx);

// The sources that a settings reference stands for: its own, else the project's, else every source.
Result<std::vector<std::string>> sources_meant(Transaction& tx, const std::string& project,
                                               const std::string& settings_ref);

// The document's status with conditions, the sources and when they last answered.
Result<json::object> compute_status_json(Transaction& tx, const Caller& caller,
                                         const StoredManifest& compute, const FleetPicture& fleet,
                                         Time now);

// Looks at every source that is due, then at every Compute; what changed is kept with an entry, so
// that whoever watches is told. Answers with how many changed.
Result<int64_t> reconcile_computes(Service& service, Progress& progress);

}  // namespace exa
