#include "service/clusters.h"

#include <fmt/format.h>

#include "audit/digest.h"
#include "base/plural.h"
#include "base/text.h"
#include "discover/readers.h"
#include "hardware/inventory_json.h"
#include "service/consumers.h"
#include "service/entity_tag.h"
#include "service/resolutions.h"
#include "service/stored.h"

namespace exa {
namespace {

// The members of an address that are text: key in JSON and in the command line's flags, place here.
struct AddressText {
  std::string_view key;
  std::string ClusterAddress::*member;
};
constexpr AddressText kAddressTexts[] = {
    {"ssh", &ClusterAddress::ssh},
    {"ssh_identity", &ClusterAddress::ssh_identity},
    {"kubeconfig", &ClusterAddress::kubeconfig},
    {"context", &ClusterAddress::context},
    {"server", &ClusterAddress::server},
    {"ca_file", &ClusterAddress::ca_file},
    {"token_file", &ClusterAddress::token_file},
    {"client_cert_file", &ClusterAddress::client_cert_file},
    {"client_key_file", &ClusterAddress::client_key_file},
    {"slurmrestd", &ClusterAddress::slurmrestd},
};

json::object address_json(const ClusterAddress& address) {
  json::object object;
  for (const AddressText& text : kAddressTexts) {
    if (!(address.*text.member).empty()) object[text.key] = address.*text.member;
  }
  if (address.ssh_port != 0) object["ssh_port"] = address.ssh_port;
  object["timeout"] = format_duration(address.timeout);
  return object;
}

Result<ClusterAddress> address_from_json(ClusterKind kind, const std::string& text) {
  EXA_ASSIGN(const json::value value, parse_stored(text, "a stored address"));
  ClusterAddress address;
  address.kind = kind;
  for (const AddressText& member : kAddressTexts) {
    address.*member.member = text_or(value, member.key, "");
  }
  if (const json::value* port = find(value, "ssh_port"); port != nullptr && port->is_int64()) {
    address.ssh_port = static_cast<int>(port->get_int64());
  }
  EXA_ASSIGN(address.timeout,
             from_stored(parse_duration(text_or(value, "timeout", "30s")), "a stored address"));
  return address;
}

Result<Cluster> cluster_of(const Row& row) {
  const auto kind = find_cluster_kind(row.text(2));
  if (!kind)
    return fail(Code::store_damaged, fmt::format("cluster {} has an unknown kind", row.text(1)));
  Cluster cluster;
  cluster.uid = row.text(0);
  cluster.name = row.text(1);
  EXA_ASSIGN(cluster.address, address_from_json(*kind, row.text(3)));
  cluster.max_age = Duration{row.integer(4)};
  cluster.created_at = Time{row.integer(5)};
  cluster.created_by = row.text(6);
  return cluster;
}

constexpr std::string_view kClusterColumns =
    "uid, name, kind, address, max_age, created_at, created_by";

// The cluster with its newest snapshot and, if the last probe failed, why: what lists and show
// print.
Result<json::object> cluster_json(Transaction& tx, const Cluster& cluster, Time now) {
  json::object object = to_json(cluster);
  EXA_ASSIGN(const auto head, newest_snapshot(tx, cluster));
  EXA_ASSIGN(const auto failure, failure_since(tx, cluster));
  object["snapshot"] = nullptr;
  if (head) {
    object["snapshot"] = json::object{{"id", head->id},
                                      {"taken_at", format_rfc3339(head->taken_at)},
                                      {"source", head->source},
                                      {"declared", head->declared},
                                      {"stale", now - head->taken_at > cluster.max_age},
                                      {"capacity", head->capacity}};
  }
  object["last_failure"] = nullptr;
  if (failure) {
    object["last_failure"] = json::object{{"at", format_rfc3339(failure->at)},
                                          {"code", failure->code},
                                          {"message", failure->message}};
  }
  return object;
}

Result<int64_t> next_sequence(Transaction& tx, std::string_view table, const std::string& uid) {
  EXA_ASSIGN(
      const auto rows,
      tx.rows(fmt::format("SELECT COALESCE(MAX(sequence), 0) + 1 FROM {} WHERE cluster_uid = $1",
                          table),
              {uid}));
  return rows.at(0).integer(0);
}

constexpr int64_t kProbesKept = 500;

Result<void> record_probe(Transaction& tx, const std::string& uid, Time at,
                          const std::optional<std::string>& snapshot_id, const Error* error) {
  EXA_ASSIGN(const int64_t sequence, next_sequence(tx, "probe", uid));
  const auto text_or_null = [](bool there, std::string text) {
    return there ? Value(std::move(text)) : Value(nullptr);
  };
  EXA_TRY(tx.change(
      "INSERT INTO probe VALUES ($1, $2, $3, $4, $5, $6)",
      {uid, sequence, at.micros, text_or_null(snapshot_id.has_value(), snapshot_id.value_or("")),
       text_or_null(error != nullptr, error != nullptr ? std::string(info(error->code).name) : ""),
       text_or_null(error != nullptr, error != nullptr ? error->message : "")}));
  EXA_TRY(tx.change("DELETE FROM probe WHERE cluster_uid = $1 AND sequence <= $2",
                    {uid, sequence - kProbesKept}));
  return {};
}

Result<void> insert_snapshot(Transaction& tx, const std::string& uid, const SnapshotHead& head,
                             const std::string& inventory) {
  EXA_ASSIGN(const int64_t sequence, next_sequence(tx, "snapshot", uid));
  EXA_TRY(tx.change("INSERT INTO snapshot VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
                    {head.id, uid, sequence, head.taken_at.micros, head.source,
                     int64_t{head.declared ? 1 : 0}, to_text(head.capacity), inventory}));
  return {};
}

Result<Capture> capture_for(Service& service, const Caller& caller, const Cluster& cluster,
                            const DiscoverCluster& what) {
  if (!what.file) return service.around().probe(cluster.address, *caller.progress);
  EXA_ASSIGN(Capture capture,
             capture_from_file(*what.file, "--from", cluster.address.kind, service.now()));
  // it would stay the newest for as long as its clock was ahead
  EXA_TRY(check_not_from_the_future(capture, "--from", "/from", service.now()));
  return capture;
}

Result<Cluster> cluster_named(Service& service, const std::string& name) {
  return read_value<Cluster>(service.store(),
                             [&](Transaction& tx) { return find_cluster(tx, name); });
}

// Enough to compare yesterday with today; a cluster of 10,000 nodes is megabytes each time.
constexpr int64_t kSnapshotsKept = 48;

// Forgets the oldest beyond those kept (never the one that answers rest on), and names them for the
// log.
Result<json::array> drop_old_snapshots(Transaction& tx, const std::string& uid) {
  EXA_ASSIGN(
      const auto rows,
      tx.rows("SELECT id FROM snapshot WHERE cluster_uid = $1 AND sequence <= (SELECT "
              "MAX(sequence) FROM snapshot WHERE cluster_uid = $1) - $2 AND taken_at < (SELECT "
              "MAX(taken_at) FROM snapshot WHERE cluster_uid = $1) ORDER BY sequence",
              {uid, kSnapshotsKept}));
  json::array dropped;
  for (const Row& row : rows) {
    EXA_TRY(tx.change("DELETE FROM snapshot WHERE id = $1", {row.text(0)}));
    dropped.emplace_back(row.text(0));
  }
  return dropped;
}

// As many as an entry of the log bears; the lists show them all.
json::array logged(const std::vector<StatusChange>& changes) {
  constexpr size_t kMost = 100;
  json::array list;
  for (const StatusChange& change : changes)
    if (list.size() < kMost) list.emplace_back(to_json(change));
  return list;
}

}  // namespace

Result<void> check_not_from_the_future(const Capture& capture, std::string_view flag,
                                       std::string_view where, Time now) {
  if (capture.taken_at <= now + minutes(5)) return {};
  return fail(invalid(flag, {{std::string(where),
                              fmt::format("was captured in the future ({}): a clock is wrong",
                                          format_rfc3339(capture.taken_at)),
                              ""}}));
}

Result<std::optional<ProbeFailure>> failure_since(Transaction& tx, const Cluster& cluster) {
  EXA_ASSIGN(const auto rows,
             tx.rows("SELECT probed_at, error_code, error FROM probe WHERE cluster_uid = $1 "
                     "ORDER BY sequence DESC LIMIT 1",
                     {cluster.uid}));
  std::optional<ProbeFailure> failure;
  if (!rows.empty() && !rows[0].is_null(1)) {
    failure = {Time{rows[0].integer(0)}, rows[0].text(1), rows[0].text(2)};
  }
  return failure;
}

json::object to_json(const Cluster& cluster) {
  return {{"name", cluster.name},
          {"kind", name(cluster.address.kind)},
          {"address", address_json(cluster.address)},
          {"max_age", format_duration(cluster.max_age)},
          {"created_at", format_rfc3339(cluster.created_at)},
          {"created_by", cluster.created_by}};
}

Result<Cluster> find_cluster(Transaction& tx, const std::string& name) {
  EXA_ASSIGN(const auto rows,
             tx.rows(fmt::format("SELECT {} FROM cluster WHERE removed_at IS NULL AND name = $1",
                                 kClusterColumns),
                     {name}));
  if (!rows.empty()) return cluster_of(rows[0]);
  EXA_ASSIGN(const auto others,
             tx.rows("SELECT name FROM cluster WHERE removed_at IS NULL ORDER BY name"));
  std::vector<std::string> names;
  for (const Row& row : others) names.push_back(row.text(0));
  Error error;
  error.code = Code::not_found;
  error.message = fmt::format("there is no cluster \"{}\"", printable(name));
  error.alternatives = close_matches(name, names);
  error.next =
      names.empty() ? "exa cluster add NAME --kind host|slurm|flux|kubernetes" : "exa cluster list";
  return fail(std::move(error));
}

Result<std::optional<SnapshotHead>> newest_snapshot(Transaction& tx, const Cluster& cluster) {
  EXA_ASSIGN(
      const auto rows,
      tx.rows(
          "SELECT id, taken_at, source, declared, capacity FROM snapshot WHERE cluster_uid = $1 "
          "ORDER BY taken_at DESC, sequence DESC LIMIT 1",
          {cluster.uid}));
  std::optional<SnapshotHead> head;
  if (rows.empty()) return head;
  EXA_ASSIGN(json::value capacity,
             parse_stored(rows[0].text(4), "a stored capacity", tool_output_limits()));
  head = {rows[0].text(0), Time{rows[0].integer(1)}, rows[0].text(2), rows[0].integer(3) != 0,
          std::move(capacity)};
  return head;
}

Result<Inventory> load_inventory(Transaction& tx, const std::string& snapshot_id) {
  EXA_ASSIGN(const auto rows,
             tx.rows("SELECT inventory FROM snapshot WHERE id = $1", {snapshot_id}));
  if (rows.empty())
    return fail(Code::not_found, fmt::format("there is no snapshot {}", snapshot_id));
  EXA_ASSIGN(const json::value value,
             parse_stored(rows[0].text(0), "a stored inventory", tool_output_limits()));
  return from_stored(inventory_from_json(value), "a stored inventory");
}

Result<std::vector<StoredCluster>> load_all_clusters(Transaction& tx) {
  EXA_ASSIGN(
      const auto rows,
      tx.rows(fmt::format("SELECT {}, removed_at FROM cluster ORDER BY name, created_at, uid",
                          kClusterColumns)));
  std::vector<StoredCluster> clusters;
  for (const Row& row : rows) {
    StoredCluster stored{row.text(1), cluster_of(row), {}};
    if (!row.is_null(7)) stored.removed_at = Time{row.integer(7)};
    clusters.push_back(std::move(stored));
  }
  return clusters;
}

Result<json::object> snapshot_document(Transaction& tx, const std::string& snapshot_id) {
  EXA_ASSIGN(
      const auto rows,
      tx.rows("SELECT cluster_uid, sequence, taken_at, source, declared, capacity, inventory "
              "FROM snapshot WHERE id = $1",
              {snapshot_id}));
  if (rows.empty())
    return fail(Code::not_found, fmt::format("there is no snapshot {}", snapshot_id));
  const Row& row = rows[0];
  return json::object{{"id", snapshot_id},
                      {"cluster", row.text(0)},
                      {"sequence", row.integer(1)},
                      {"taken_at", format_rfc3339(Time{row.integer(2)})},
                      {"source", row.text(3)},
                      {"declared", row.integer(4) != 0},
                      {"capacity", sha256_hex(row.text(5))},
                      {"inventory", sha256_hex(row.text(6))}};
}

Result<Answer> add_cluster(Service& service, const Caller& caller, const AddCluster& what) {
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_ASSIGN(
        const auto same,
        tx.rows("SELECT kind FROM cluster WHERE removed_at IS NULL AND name = $1", {what.name}));
    if (!same.empty()) {
      return fail(Code::conflict,
                  fmt::format("there is a cluster \"{}\" already ({})", what.name, same[0].text(0)),
                  fmt::format("exa cluster show {}", what.name));
    }
    const Cluster cluster{
        service.around().new_id(), what.name, what.address, what.max_age, service.now(),
        caller.principal.name};
    EXA_TRY(tx.change("INSERT INTO cluster VALUES ($1, $2, $3, $4, $5, $6, $7, NULL)",
                      {cluster.uid, cluster.name, std::string(name(cluster.address.kind)),
                       to_text(address_json(cluster.address)), cluster.max_age.micros,
                       cluster.created_at.micros, cluster.created_by}));
    deed = {"cluster", what.name,
            "",        {},
            {},        json::value(to_json(cluster)),
            "",        {{"kind", name(cluster.address.kind)}, {"uid", cluster.uid}}};
    Answer answer;
    answer.status = 201;
    EXA_ASSIGN(answer.body, cluster_json(tx, cluster, service.now()));
    answer.notices.push_back(
        fmt::format("nothing is known about it yet; next: exa cluster discover {}", what.name));
    return answer;
  });
}

Result<Answer> list_clusters(Service& service) {
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    EXA_ASSIGN(const auto rows,
               tx.rows(fmt::format("SELECT {} FROM cluster WHERE removed_at IS NULL ORDER BY name",
                                   kClusterColumns)));
    json::array items;
    for (const Row& row : rows) {
      EXA_ASSIGN(const Cluster cluster, cluster_of(row));
      EXA_ASSIGN(json::object object, cluster_json(tx, cluster, service.now()));
      items.emplace_back(std::move(object));
    }
    Answer answer;
    answer.body = {{"items", std::move(items)}, {"next_cursor", nullptr}};
    return answer;
  });
}

Result<Answer> show_cluster(Service& service, const std::string& cluster_name, bool with_nodes) {
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    EXA_ASSIGN(const Cluster cluster, find_cluster(tx, cluster_name));
    Answer answer;
    EXA_ASSIGN(answer.body, cluster_json(tx, cluster, service.now()));
    answer.etag = entity_tag_of(to_json(cluster));
    EXA_ASSIGN(const auto head, newest_snapshot(tx, cluster));
    if (!head) {
      answer.notices.push_back(fmt::format(
          "nothing is known about it yet; next: exa cluster discover {}", cluster_name));
    } else if (with_nodes) {
      EXA_ASSIGN(const Inventory inventory, load_inventory(tx, head->id));
      answer.body["inventory"] = to_json(inventory);
    }
    return answer;
  });
}

Result<Answer> remove_cluster(Service& service, const Caller& caller,
                              const std::string& cluster_name, bool force,
                              const std::string& reason) {
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_ASSIGN(const Cluster cluster, find_cluster(tx, cluster_name));
    EXA_ASSIGN(const auto users, tx.rows("SELECT project, kind, ref FROM consumer WHERE cluster = "
                                         "$1 ORDER BY project, kind, ref",
                                         {cluster_name}));
    if (force && reason.empty()) {
      return fail(invalid("remove", {{"/reason", "--force needs a reason", ""}}));
    }
    if (!users.empty() && !force) {
      Error error;
      error.code = Code::in_use;
      error.message = fmt::format("cluster {} has {} running on it", cluster_name,
                                  counted(static_cast<int64_t>(users.size()), "consumer"));
      for (const Row& row : users) {
        if (!caller.known.contains(row.text(0))) continue;  // counted above, not named
        error.problems.push_back(
            {fmt::format("{}/{}", row.text(1), row.text(2)),
             fmt::format("in project {}; its status could not be told any more", row.text(0)), ""});
      }
      error.next = fmt::format("exa cluster remove {} --force --reason \"…\"", cluster_name);
      return fail(std::move(error));
    }
    const Time now = service.now();
    EXA_TRY(
        tx.change("UPDATE cluster SET removed_at = $2 WHERE uid = $1", {cluster.uid, now.micros}));
    EXA_TRY(tx.change("DELETE FROM resolution WHERE cluster_uid = $1", {cluster.uid}));
    deed = {"cluster",
            cluster_name,
            "",
            {},
            json::value(to_json(cluster)),
            {},
            reason,
            {{"consumers", int64_t(users.size())}, {"at", format_rfc3339(now)}}};
    Answer answer;
    answer.body = {{"name", cluster_name}, {"removed", true}, {"consumers", int64_t(users.size())}};
    return answer;
  });
}

Result<Answer> discover_cluster(Service& service, const Caller& caller,
                                const DiscoverCluster& what) {
  EXA_ASSIGN(const Cluster cluster, cluster_named(service, what.name));
  Result<Capture> capture = capture_for(service, caller, cluster, what);
  Result<Inventory> inventory = capture ? read_capture(*capture) : fail(capture.error());
  if (!inventory) {
    Error error = inventory.error();
    // A file that cannot be read is the caller's mistake, not the cluster's failure; nor is a wish
    // to end.
    if (what.file || error.code == Code::interrupted) return fail(std::move(error));
    if (!caller.dry_run) {
      EXA_TRY(service.store().write([&](Transaction& tx) {
        return record_probe(tx, cluster.uid, service.now(), {}, &error);
      }));
    }
    if (error.code == Code::not_found || error.code == Code::unreadable_output)
      error.code = Code::probe_failed;
    error.message = fmt::format("{} could not be discovered: {}", what.name, error.message);
    if (error.next.empty()) error.next = fmt::format("exa cluster show {}", what.name);
    return fail(std::move(error));
  }
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_ASSIGN(const Cluster current, find_cluster(tx, what.name));
    if (current.uid != cluster.uid)
      return fail(Code::stale, fmt::format("cluster {} was replaced meanwhile", what.name));
    const CapacityCount capacity = count_capacity(*inventory);
    const std::string source = what.file && !capture->is_handed_in()
                                   ? fmt::format("file ({})", capture->transport)
                                   : capture->transport;
    SnapshotHead head{service.around().new_id(), capture->taken_at, source, capture->is_handed_in(),
                      json::value(to_json(capacity))};
    EXA_ASSIGN(const auto newest, newest_snapshot(tx, cluster));
    const bool overtaken = newest && newest->taken_at > head.taken_at;
    EXA_TRY(insert_snapshot(tx, cluster.uid, head, to_text(to_json(*inventory))));
    EXA_TRY(record_probe(tx, cluster.uid, service.now(), head.id, nullptr));
    std::vector<StatusChange> changes;
    if (!overtaken) {
      EXA_ASSIGN(changes, refresh_cluster(tx, cluster, head, *inventory, service.now()));
    }
    EXA_ASSIGN(json::array dropped, drop_old_snapshots(tx, cluster.uid));
    EXA_ASSIGN(json::object document, snapshot_document(tx, head.id));
    deed = {"cluster",
            what.name,
            "",
            {},
            {},
            json::value(std::move(document)),
            "",
            {{"snapshot", head.id},
             {"nodes", capacity.nodes},
             {"usable_nodes", capacity.usable_nodes},
             {"source", head.source}}};
    if (!changes.empty()) deed.details["status_changes"] = logged(changes);
    if (!dropped.empty()) deed.details["dropped_snapshots"] = std::move(dropped);
    Answer answer;
    EXA_ASSIGN(answer.body, cluster_json(tx, cluster, service.now()));
    answer.body["tool"] = inventory->tool;
    answer.body["tool_version"] = inventory->tool_version;
    if (overtaken) {
      answer.notices.push_back(
          fmt::format("what was read is older ({}) than the newest snapshot; it is kept, but "
                      "answers go on resting on the newer one",
                      format_rfc3339(head.taken_at)));
    }
    if (head.declared) {
      answer.notices.emplace_back(
          "tool output does not say when and where it was printed, so it verifies nothing; "
          "a file of exa cluster capture does");
    }
    json::array unread;
    for (const Unread& one : inventory->unread) {
      unread.emplace_back(json::object{{"what", one.what}, {"why", one.why}});
      answer.notices.push_back(fmt::format("could not read {}: {}", one.what, one.why));
    }
    answer.body["unread"] = std::move(unread);
    return answer;
  });
}

Result<Answer> capture_cluster(Service& service, const Caller& caller,
                               const std::string& cluster_name) {
  EXA_ASSIGN(const Cluster cluster, cluster_named(service, cluster_name));
  EXA_ASSIGN(const Capture capture, service.around().probe(cluster.address, *caller.progress));
  Answer answer;
  answer.body = to_json(capture).as_object();
  return answer;
}

}  // namespace exa
