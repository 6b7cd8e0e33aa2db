// The on-call page: what does not stand as it should, since when, whom it touches, what to do next.
#pragma once

#include <map>
#include <optional>

#include "service/service.h"

namespace exa {

// How one version in use, or an active one, stands on one cluster.
struct Standing {
  std::string project;
  std::string name;
  int64_t version = 0;
  std::string cluster;
  std::string status;
  std::string reason;
  Time since;  // since when it has this status; 0: not known
  bool active = false;
  bool stale = false;                  // it was verified; only the snapshot has become too old
  std::vector<std::string> consumers;  // "workbench/nb" on this version and cluster
  int64_t other_consumers = 0;         // of projects that the caller does not know
};

// What of them is a problem, the worst first. Pure.
//   - A version somebody runs on must be verified where they run.
//   - An active version must be verified on one cluster at least; if it is on none, the one where
//   it
//     stands best is named.
std::vector<Standing> troubles(std::vector<Standing> standings);

struct OverallStatus {
  std::vector<std::string> fail_on;  // statuses, or "failing" for clusters: the exit code is 10
};
Result<Answer> overall_status(Service& service, const Caller& caller, const OverallStatus& what);

// The installation in figures, for whoever looks at it over time.
struct Figures {
  int64_t audit_entries = 0;
  int64_t open_leases = 0;
  int64_t clusters = 0;
  int64_t clusters_failing = 0;              // their last look failed
  std::map<std::string, int64_t> standings;  // by status: of versions in use or active, as of now
  std::optional<Duration> oldest_sight;      // age of the newest snapshot of the cluster that was
                                             // seen longest ago; none was ever seen: nullopt
};
Result<Figures> figures(Transaction& tx, Time now);

}  // namespace exa
