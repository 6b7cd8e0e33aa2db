// Clusters, their snapshots and the probes that made them. Semantics §2 and §4.
#pragma once

#include "hardware/inventory.h"
#include "resolve/resolve.h"
#include "service/service.h"

namespace exa {

struct Cluster {
  std::string uid;
  std::string name;
  ClusterAddress address;
  Duration max_age = minutes(15);  // a snapshot older than this verifies nothing
  Time created_at;
  std::string created_by;
};

struct SnapshotHead {
  std::string id;
  Time taken_at;
  std::string source;  // "local", "ssh …", "file hpc.json"
  bool declared = false;
  json::value capacity;  // counts, as in hardware/inventory_json.h
};

// Any that was ever added, removed ones too, in the order in which each name was given; one that
// cannot be read says why in its place.
struct StoredCluster {
  std::string name;
  Result<Cluster> cluster;
  std::optional<Time> removed_at;
};
Result<std::vector<StoredCluster>> load_all_clusters(Transaction& tx);

// What the audit log digests of a snapshot: its row, with the capacity and the inventory as the
// SHA-256 of their texts.
Result<json::object> snapshot_document(Transaction& tx, const std::string& snapshot_id);

struct ProbeFailure {
  Time at;
  std::string code;
  std::string message;
};

// not_found names close spellings.
Result<Cluster> find_cluster(Transaction& tx, const std::string& name);
Result<std::optional<SnapshotHead>> newest_snapshot(Transaction& tx, const Cluster& cluster);
// Why the last look failed, if it did.
Result<std::optional<ProbeFailure>> failure_since(Transaction& tx, const Cluster& cluster);
Result<Inventory> load_inventory(Transaction& tx, const std::string& snapshot_id);

// A saved capture that claims to be from later than now (by more than clocks differ) is refused.
Result<void> check_not_from_the_future(const Capture& capture, std::string_view flag,
                                       std::string_view where, Time now);

struct AddCluster {
  std::string name;
  ClusterAddress address;
  Duration max_age = minutes(15);
};
Result<Answer> add_cluster(Service& service, const Caller& caller, const AddCluster& what);
Result<Answer> list_clusters(Service& service);
Result<Answer> show_cluster(Service& service, const std::string& name, bool with_nodes);
Result<Answer> remove_cluster(Service& service, const Caller& caller, const std::string& name,
                              bool force, const std::string& reason);

struct DiscoverCluster {
  std::string name;
  std::optional<std::string>
      file;  // content of a saved capture or of tool output, instead of a probe
};
// A failed probe keeps the last good snapshot and records the failure.
Result<Answer> discover_cluster(Service& service, const Caller& caller,
                                const DiscoverCluster& what);

// Everything a probe reads, verbatim, for --from: stores nothing.
Result<Answer> capture_cluster(Service& service, const Caller& caller, const std::string& name);

json::object to_json(const Cluster& cluster);

}  // namespace exa
