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

// cluster.yaml: everything, in the document's words. inventory.yaml: an inventory of Ansible with
// the groups control_plane and workers; a machine that is both stands in both.
std::vector<DefinitionFile> cluster_definition(const PlatformDefinition& platform);

}  // namespace exa
