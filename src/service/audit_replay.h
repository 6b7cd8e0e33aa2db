// What the audit log says the registry must look like: the log replayed, entry by entry. Pure.
//
// The time that a change wrote into its rows is `details.at` of its entry; entries from before that
// was written do not say, and neither do discoveries from before their snapshot was digested. What
// an entry does not say is empty here and is not compared.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "audit/entry.h"

namespace exa {

struct ReplayedVersion {
  std::string digest;  // of the shape
  std::string created_by;
  std::string created_at;
  bool deleted = false;
  std::string deleted_by;
  std::string deleted_at;
};

struct ReplayedMove {
  std::optional<int64_t> from_version;
  std::optional<int64_t> to_version;
  std::string by;
  std::string at;
};

struct ReplayedDeprecation {
  std::string redirect;
  std::string reason;
  std::string by;
  std::string at;
};

struct ReplayedProfile {
  std::map<int64_t, ReplayedVersion> versions;
  std::map<std::string, int64_t> labels;
  std::map<std::string, std::vector<ReplayedMove>> moves;  // by label, in order
  std::map<int64_t, ReplayedDeprecation> deprecations;     // 0: the whole name
};

// A name can be given again after a cluster was removed; each time it is another cluster.
struct ReplayedCluster {
  std::string digest;
  std::string uid;
  bool removed = false;
  std::string removed_at;
};

struct ReplayedProject {
  std::string by;
  std::string at;
};

struct ReplayedState {
  using ProjectAndName = std::pair<std::string, std::string>;
  std::map<ProjectAndName, ReplayedProfile> profiles;
  std::map<std::string, ReplayedProject> projects;
  std::map<std::string, std::vector<ReplayedCluster>> clusters;  // by name, in order
  std::map<std::string, std::string> snapshots;                  // digest by id
  // "project/kind/name" and digest; empty once released
  std::map<std::string, std::string> consumers;
  // Pools, engines, decisions, leases, …: digest by kind and name; empty once removed.
  std::map<std::pair<std::string, std::string>, std::string> documents;
};

// Kinds whose rows are whole documents, each digested by the entry that wrote it.
struct DocumentTable {
  std::string_view kind;
  std::string_view table;
  std::string_view key;
};
std::span<const DocumentTable> document_tables();

// A column that repeats a member of its row's document ("workload/name": a member of a member).
struct DocumentColumn {
  std::string_view kind;
  std::string_view name;
  std::string_view key;
};
std::span<const DocumentColumn> document_columns();

// Takes the next entry into account. Refused ones changed nothing.
void replay(ReplayedState& state, const AuditEntry& entry);

}  // namespace exa
