// Resolving stored profiles against stored snapshots: the pure resolve() with what it needs
// fetched.
#pragma once

#include "resolve/resolve.h"
#include "service/clusters.h"
#include "service/profile_rows.h"
#include "service/service.h"

namespace exa {

// Resolves against the newest snapshot of a cluster (empty name: no target).
Result<Resolution> resolve_on(Transaction& tx, const Shape& shape, const std::string& cluster,
                              Time now);

struct ResolveProfile {
  std::string project;
  ProfileRef ref;
  std::string cluster;
  std::optional<std::string> snapshot_file;  // resolve against this file instead of a cluster
  bool as_of_snapshot = false;               // as if asked when the file was captured
  std::optional<Surface> surface;
  std::vector<std::string> fail_on;  // statuses that make the exit code 10
};
Result<Answer> resolve_profile(Service& service, const ResolveProfile& what);

// A kept answer as it counts now: verified only while its snapshot is young.
struct KeptAnswer {
  std::string status;
  std::string cause;
  std::string reason;
  bool stale = false;  // it was verified, and its snapshot has become too old
};
KeptAnswer aged(KeptAnswer kept, Time taken_at, Duration max_age, Time now);

// The last answers for a version, aged: a verified answer whose snapshot has become too old is
// shown as degraded. For lists and show.
Result<json::array> last_resolutions(Transaction& tx, const std::string& project,
                                     const std::string& name, int64_t version, Time now);
// The same for the active versions of a page of a list (names after `after`, up to `last`), by
// name: one statement for the page.
using ResolutionsByName = std::map<std::string, json::array>;
Result<ResolutionsByName> last_resolutions_of_page(Transaction& tx, const std::string& project,
                                                   const std::string& after,
                                                   const std::string& last, Time now);

// Resolves a version anew on every cluster that has a snapshot, or every version in use or active
// on one cluster, and keeps the answers.
Result<void> refresh_version(Transaction& tx, const HardwareProfile& profile, Time now);
struct StatusChange {
  std::string project;
  std::string name;
  int64_t version = 0;
  std::string cluster;
  std::string from;
  std::string to;
};
json::object to_json(const StatusChange& change);
// Answers with what is another status now than it was.
Result<std::vector<StatusChange>> refresh_cluster(Transaction& tx, const Cluster& cluster,
                                                  const SnapshotHead& head,
                                                  const Inventory& inventory, Time now);

// Shapes that the cluster's nodes suggest, and profiles that none of them can ever hold.
Result<Answer> suggest_profiles(Service& service, const std::string& project,
                                const std::string& cluster);

}  // namespace exa
