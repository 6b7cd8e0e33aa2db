// PaletteAI's manifests in the document's own spelling: read, checked, and kept word for word
// (requirement "Compute Profile and Compute"; semantics §6; contract "Manifests"). Pure.
//
// Fields that are not known stay in `document` and come out of `exa get` again; one that looks like
// a slip of a known one is told among the warnings. A null is as if the field were not there, as
// for kubectl. `status` is read by nobody.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "compute/machine_selection.h"
#include "hardware/inventory.h"

namespace exa {

enum class PaletteKind {
  settings,
  compute_profile,
  workload_profile,
  project,
  compute,
  ml_platform
};

struct PaletteKindInfo {
  PaletteKind kind;
  std::string_view name;         // "ComputeProfile"
  std::string_view word;         // "computeprofile", as kubectl and exa get take it
  std::string_view plural;       // "computeprofiles"
  std::string_view api_version;  // "palette.ai/v1alpha1"
};
// In the order in which one depends on another.
std::span<const PaletteKindInfo> palette_kinds();
const PaletteKindInfo& info(PaletteKind kind);
// By kind, word or plural, in any case; nullptr: none such.
const PaletteKindInfo* find_palette_kind(std::string_view word);

struct Manifest {
  PaletteKind kind = PaletteKind::compute;
  std::string name_space;  // the project; of a Project: its own name. Empty: the caller's
  std::string name;
  json::object document;          // as it was written
  std::string place;              // file:line:column where it begins; of manifest_of: empty
  std::vector<Problem> warnings;  // what is taken as it stands and is hardly meant so
};

// Every document of the file (YAML or JSON), checked; all problems of all documents at once (the
// first hundred), each with file:line:column. Two of one kind, namespace and name are a problem.
// Sorted by dependency, else as written. Never empty: a file without a manifest is a problem.
Result<std::vector<Manifest>> read_manifests(std::string_view text, std::string_view file);

// As read_manifests for one document that is stored or came over the API: problems by JSON pointer.
Result<Manifest> manifest_of(const json::value& document);

struct ControlPlaneDefaults {
  int64_t node_count = 1;  // 1, 3 or 5
  bool worker_node_eligible = false;
  std::vector<std::pair<std::string, std::string>> labels;
  std::vector<std::pair<std::string, std::string>> annotations;
  std::vector<Taint> taints;
};
struct WorkerPoolDefaults {
  std::vector<std::pair<std::string, std::string>> labels;
  std::vector<std::pair<std::string, std::string>> annotations;
  std::vector<Taint> taints;
};
struct EdgeSettings {
  std::string vip;
  std::vector<std::string> ntp_servers;
  bool overlay_enabled = false;
  bool overlay_static_ip = false;
  std::string overlay_cidr;
  std::string overlay_type;  // VXLAN
  bool is_two_node = false;
};
struct ComputeProfileSpec {
  std::string settings_ref;  // empty: the project's
  std::vector<std::string> ssh_keys;
  std::optional<EdgeSettings> edge;
  ControlPlaneDefaults control_plane;
  WorkerPoolDefaults workers;
  std::optional<int64_t> minimum_workers;
  std::vector<std::pair<GpuFamily, int64_t>> gpu_limits;  // sorted by key
};

struct SettingsSpec {
  std::vector<std::string> machine_sources;  // empty: every source
  std::string provisioner;  // name of the driver that builds platforms; empty: none
};
struct ComputeSpec {
  std::string settings_ref;
};
struct ProjectSpec {
  std::string compute_profile_ref;  // required
  std::string settings_ref;
};
struct WorkloadProfileSpec {
  std::optional<std::string> min_nodes;  // the label, as written
};
struct MlPlatformSpec {
  std::string compute_profile_ref;                  // empty: the project's
  json::object override_;                           // of ComputeProfile's spec; checked as one
  std::string workload_profile_ref;                 // empty: none
  std::vector<std::pair<GpuFamily, int64_t>> gpus;  // sorted by key
  int64_t gpu_memory_bytes = 0;
  AllocationMode mode = AllocationMode::dedicated;
  std::string architecture;
  ResourceGroups control_plane_groups;
  ResourceGroups worker_groups;
};

// Of a manifest that was checked; asserts that it is of that kind.
ComputeProfileSpec compute_profile_spec(const Manifest& manifest);
SettingsSpec settings_spec(const Manifest& manifest);
ComputeSpec compute_spec(const Manifest& manifest);
ProjectSpec project_spec(const Manifest& manifest);
WorkloadProfileSpec workload_profile_spec(const Manifest& manifest);
MlPlatformSpec ml_platform_spec(const Manifest& manifest);

// The profile as a platform sees it: the fields of computeProfileRef.override over it (objects are
// merged, everything else is replaced; of gpuLimits the key of the same family is replaced, however
// it is spelled). Fails where the two together are not valid, and where the override raises a limit
// that the profile sets: whoever asks for GPUs does not set how many may be asked for. Problems are
// by JSON pointer into the profile that the two make.
Result<ComputeProfileSpec> overridden(const Manifest& compute_profile,
                                      const json::object& override_);

enum class FieldType {
  text,
  boolean,
  whole_number,
  object,
  list_of_text,
  list_of_objects,
  map_of_text,
  map_of_whole_numbers,
  anything
};
std::string_view name(FieldType type);  // "text", "whole number", "list of text", …

struct Findings {
  std::vector<Problem> problems;
  std::vector<Problem> warnings;
};

// A field that is known: what checks a manifest and what `exa explain KIND[.field…]` prints are
// these rows.
struct ManifestField {
  std::string path;  // "spec.edge.vip", "spec.controlPlaneDefaults.taints[].key",
                     // "metadata.labels[palette.ai/min-nodes]"
  FieldType type = FieldType::text;
  bool required = false;  // wherever the object around it is
  std::string help;       // one sentence without its period
  // What can be wrong with a value of the right type that stands at the pointer `where`; nullptr:
  // nothing. Elements and members of a wrong type have been found before, and are passed over.
  void (*check)(const json::value& value, std::string_view where, Findings& findings) = nullptr;
};
// What is known of the kind, the fields of an object after it.
std::span<const ManifestField> fields_of(PaletteKind kind);

}  // namespace exa
