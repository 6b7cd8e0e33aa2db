// An ML platform as files that a provisioning driver reads: its cluster, its machines, what is
// asked of each (issue of the document: control plane and worker defaults, network, keys). Pure;
// the same platform gives the same bytes.
#pragma once

#include <string>
#include <vector>

#include "compute/palette_manifest.h"

namespace exa {

struct PlatformMachine {
  std::string id;
  std::string address;
  std::string architecture;
  int64_t gpus = 0;  // that the platform has there
  std::string family;
  bool control_plane = false;
  bool worker = false;
};

struct PlatformDefinition {
  std::string project;
  std::string name;
  std::string id;
  AllocationMode mode = AllocationMode::dedicated;
  ComputeProfileSpec profile;  // overridden
  std::string workload_profile;
  std::vector<PlatformMachine> machines;  // sorted by id
};

struct DefinitionFile {
  std::string name;  // "cluster.yaml", "inventory.yaml"
  std::string text;
  bool operator==(const DefinitionFile&) const = default;
};

// cluster.yaml: everything, in the document's words, and what each machine gets of it: labels,
// annotations and taints of the defaults of its role. A machine that is both gets the labels and
// annotations of both (of one key that of the control plane) and only the soft taints,
// PreferNoSchedule: workloads would not stand the control plane's taints, nor the cluster's own
// services the workers', and both have to run there.
//
// inventory.yaml: an inventory of Ansible with the groups control_plane and workers; a machine that
// is both stands in both. It holds ids and addresses and nothing else: Ansible takes any text of
// an inventory with {{ in it for a template and evaluates it, and people write annotations and
// comments of keys. Those stand in cluster.yaml alone. A play reads it with
// lookup('file', …) | from_yaml, whose texts stay texts; include_vars, vars_files and group_vars
// evaluate what they read (tried with ansible-core 2.14).
//
// Fails (invalid_input) on a machine whose id or address an inventory cannot hold; problems by JSON
// pointer into the machines.
Result<std::vector<DefinitionFile>> cluster_definition(const PlatformDefinition& platform);

}  // namespace exa
