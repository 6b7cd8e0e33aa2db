#include "service/audit_state.h"

#include <set>

#include <fmt/format.h>

#include "audit/digest.h"
#include "base/text.h"
#include "service/audit_replay.h"
#include "service/clusters.h"
#include "service/consumers.h"
#include "service/stored.h"

namespace exa {
namespace {

constexpr size_t kMostSentences = 20;

// Tables that the comparison has no rows to check in, because they hold nothing that the log
// vouches for: what was tried, what was worked out from the rest, what another system was told, how
// far long work came. They must be there all the same.
constexpr std::string_view kUnvouchedTables[] = {"probe",        "resolution", "idempotency",
                                                 "webhook_told", "operation",  "launch_plan",
                                                 "machine_look", "machine",    "compute_status"};

Result<ReplayedState> replayed_log(Transaction& tx) {
  EXA_ASSIGN(const auto rows, tx.rows("SELECT leaf FROM audit_entry ORDER BY idx"));
  ReplayedState state;
  for (const Row& row : rows) {
    EXA_ASSIGN(const AuditEntry entry, audit_entry_from_leaf(row.text(0)));
    replay(state, entry);
  }
  return state;
}

// Empty: the log does not say, so nothing can differ.
bool differs(std::string_view stored, std::string_view logged) {
  return !logged.empty() && stored != logged;
}

std::string time_text(const Row& row, size_t column) {
  return row.is_null(column) ? std::string() : format_rfc3339(Time{row.integer(column)});
}

std::optional<int64_t> number_or_null(const Row& row, size_t column) {
  return row.is_null(column) ? std::optional<int64_t>() : row.integer(column);
}

std::string pointing(std::optional<int64_t> version) {
  return version ? fmt::format("version {}", *version) : std::string("nothing");
}

class Comparison {
 public:
  Comparison(Transaction& tx, const ReplayedState& logged) : tx_(tx), logged_(logged) {}

  std::vector<std::string> all() {
    versions();
    labels();
    moves();
    deprecations();
    numbers();
    projects();
    clusters();
    snapshots();
    consumers();
    for (const DocumentTable& table : document_tables()) documents(table);
    missing_documents();
    for (const std::string_view table : kUnvouchedTables)
      rows(fmt::format("SELECT 1 FROM {} LIMIT 1", table), table);
    return std::move(sentences_);
  }

 private:
  void say(std::string sentence) {
    if (sentences_.size() < kMostSentences) sentences_.push_back(std::move(sentence));
  }

  // A table that cannot be read is a finding like any other, and no reason to stop.
  std::vector<Row> rows(const std::string& query, std::string_view table) {
    auto marked = tx_.change("SAVEPOINT looked");
    auto found = tx_.rows(query);
    if (marked && !found) marked = tx_.change("ROLLBACK TO SAVEPOINT looked");
    if (marked) marked = tx_.change("RELEASE SAVEPOINT looked");
    if (found) return *std::move(found);
    say(fmt::format("the table {} cannot be read: {}", table, found.error().message));
    return {};
  }

  // The digest of a stored text as the canonical JSON that was logged; nullopt (and said): none.
  std::optional<std::string> digest_of(const std::string& text, const std::string& what) {
    const auto value = parse_json(text, what, tool_output_limits());
    if (value) return sha256_hex(to_canonical_text(*value));
    say(fmt::format("{} cannot be read: {}", what, why_unread(value.error())));
    return std::nullopt;
  }

  void versions() {
    std::set<std::tuple<std::string, std::string, int64_t>> seen;
    for (const Row& row : rows("SELECT project, name, version, shape, deleted_at, created_at, "
                               "created_by, deleted_by FROM profile_version",
                               "profile_version")) {
      const std::string what = fmt::format("{}@{}", row.text(1), row.integer(2));
      seen.insert({row.text(0), row.text(1), row.integer(2)});
      const ReplayedVersion* logged = find_version(row.text(0), row.text(1), row.integer(2));
      if (logged == nullptr) {
        say(fmt::format("{} was never set", what));
        continue;
      }
      const auto digest = digest_of(row.text(3), fmt::format("the shape of {}", what));
      if (digest && *digest != logged->digest)
        say(fmt::format("the shape of {} is not the one that was set", what));
      if (logged->deleted == row.is_null(4))
        say(what + (logged->deleted ? " was deleted, but is there"
                                    : " was never deleted, but is marked so"));
      if (differs(row.text(6), logged->created_by) ||
          differs(time_text(row, 5), logged->created_at))
        say(fmt::format("who set {}, or when, is not what the log says", what));
      if (!row.is_null(4) && logged->deleted &&
          (differs(row.text_or_empty(7), logged->deleted_by) ||
           differs(time_text(row, 4), logged->deleted_at)))
        say(fmt::format("who deleted {}, or when, is not what the log says", what));
    }
    for (const auto& [key, profile] : logged_.profiles)
      for (const auto& [version, logged] : profile.versions)
        if (!seen.contains({key.first, key.second, version}))
          say(fmt::format("{}@{} was set, but its row is gone", key.second, version));
  }

  void labels() {
    std::map<std::tuple<std::string, std::string, std::string>, int64_t> stored;
    for (const Row& row :
         rows("SELECT project, name, label, version FROM profile_label", "profile_label"))
      stored[{row.text(0), row.text(1), row.text(2)}] = row.integer(3);
    for (const auto& [key, profile] : logged_.profiles) {
      for (const auto& [label, version] : profile.labels) {
        const auto found = stored.find({key.first, key.second, label});
        if (found == stored.end()) {
          say(fmt::format("label {} of {} is gone", label, key.second));
          continue;
        }
        if (found->second != version)
          say(fmt::format("label {} of {} points at {}, but was moved to {}", label, key.second,
                          found->second, version));
        stored.erase(found);
      }
    }
    for (const auto& [key, version] : stored)
      say(fmt::format("label {} of {} was never given", std::get<2>(key), std::get<1>(key)));
  }

  void moves() {
    std::map<std::tuple<std::string, std::string, std::string>, std::vector<ReplayedMove>> stored;
    for (const Row& row : rows("SELECT project, name, label, from_version, to_version, moved_by, "
                               "moved_at FROM profile_label_move ORDER BY project, name, label, "
                               "sequence",
                               "profile_label_move")) {
      stored[{row.text(0), row.text(1), row.text(2)}].push_back(
          {number_or_null(row, 3), number_or_null(row, 4), row.text(5), time_text(row, 6)});
    }
    for (const auto& [key, profile] : logged_.profiles) {
      for (const auto& [label, logged] : profile.moves) {
        const auto found = stored.find({key.first, key.second, label});
        compare_moves(fmt::format("label {} of {}", label, key.second),
                      found == stored.end() ? std::vector<ReplayedMove>() : found->second, logged);
        if (found != stored.end()) stored.erase(found);
      }
    }
    for (const auto& [key, moves] : stored)
      say(fmt::format("label {} of {} has a history, but was never moved", std::get<2>(key),
                      std::get<1>(key)));
  }

  void compare_moves(const std::string& what, const std::vector<ReplayedMove>& stored,
                     const std::vector<ReplayedMove>& logged) {
    if (stored.size() != logged.size()) {
      say(fmt::format("{} was moved {} times, but its history has {} rows", what, logged.size(),
                      stored.size()));
      return;
    }
    for (size_t i = 0; i < logged.size(); ++i) {
      const bool same = stored[i].from_version == logged[i].from_version &&
                        stored[i].to_version == logged[i].to_version;
      if (!same)
        say(fmt::format("move {} of {} was from {} to {}, and another one is stored", i + 1, what,
                        pointing(logged[i].from_version), pointing(logged[i].to_version)));
      else if (differs(stored[i].by, logged[i].by) || differs(stored[i].at, logged[i].at))
        say(fmt::format("who moved {}, or when, is not what the log says (move {})", what, i + 1));
    }
  }

  void deprecations() {
    std::map<std::tuple<std::string, std::string, int64_t>, ReplayedDeprecation> stored;
    for (const Row& row : rows("SELECT project, name, version, redirect, reason, deprecated_by, "
                               "deprecated_at FROM profile_deprecation",
                               "profile_deprecation"))
      stored[{row.text(0), row.text(1), row.integer(2)}] = {row.text(3), row.text(4), row.text(5),
                                                            time_text(row, 6)};
    for (const auto& [key, profile] : logged_.profiles) {
      for (const auto& [version, logged] : profile.deprecations) {
        const std::string what =
            version == 0 ? key.second : fmt::format("{}@{}", key.second, version);
        const auto found = stored.find({key.first, key.second, version});
        if (found == stored.end()) {
          say(fmt::format("{} was retired, but its row is gone", what));
          continue;
        }
        const ReplayedDeprecation& row = found->second;
        if (row.redirect != logged.redirect || row.reason != logged.reason ||
            differs(row.by, logged.by) || differs(row.at, logged.at))
          say(fmt::format("how {} was retired is not what the log says", what));
        stored.erase(found);
      }
    }
    for (const auto& [key, row] : stored)
      say(fmt::format("{} is marked as retired, but never was", std::get<1>(key)));
  }

  void numbers() {
    std::map<std::pair<std::string, std::string>, int64_t> stored;
    for (const Row& row : rows("SELECT project, name, last_version FROM profile", "profile"))
      stored[{row.text(0), row.text(1)}] = row.integer(2);
    for (const auto& [key, profile] : logged_.profiles) {
      if (profile.versions.empty()) continue;
      const int64_t last = profile.versions.rbegin()->first;
      if (stored[key] != last)
        say(fmt::format("the last number of {} is stored as {}, but {} was given", key.second,
                        stored[key], last));
    }
  }

  void projects() {
    std::set<std::string> seen;
    for (const Row& row : rows("SELECT name, created_at, created_by FROM project", "project")) {
      const std::string& name = row.text(0);
      seen.insert(name);
      const bool built_in = name == "default" && row.integer(1) == 0 && row.text(2) == "exa";
      const auto logged = logged_.projects.find(name);
      if (logged == logged_.projects.end()) {
        if (!built_in) say(fmt::format("project {} was never created like this", name));
      } else if (differs(row.text(2), logged->second.by) ||
                 differs(time_text(row, 1), logged->second.at)) {
        say(fmt::format("who created project {}, or when, is not what the log says", name));
      }
    }
    for (const auto& [name, logged] : logged_.projects)
      if (!seen.contains(name))
        say(fmt::format("project {} was created, but its row is gone", name));
  }

  void clusters() {
    auto stored = load_all_clusters(tx_);
    if (!stored) {
      say(fmt::format("the table cluster cannot be read: {}", stored.error().message));
      return;
    }
    std::map<std::string, size_t> seen;
    for (const StoredCluster& row : *stored) {
      const std::string& name = row.name;
      const auto logged = logged_.clusters.find(name);
      const size_t at = seen[name]++;
      if (logged == logged_.clusters.end() || at >= logged->second.size()) {
        say(fmt::format("cluster {} was never added", name));
        continue;
      }
      const ReplayedCluster& wanted = logged->second[at];
      if (!row.cluster)
        say(fmt::format("cluster {} cannot be read: {}", name, row.cluster.error().message));
      else if (sha256_hex(to_canonical_text(to_json(*row.cluster))) != wanted.digest ||
               differs(row.cluster->uid, wanted.uid))
        say(fmt::format("cluster {} is not the one that was added", name));
      if (wanted.removed != row.removed_at.has_value())
        say(fmt::format(
            "cluster {} {}", name,
            wanted.removed ? "was removed, but is there" : "was never removed, but is marked so"));
      else if (row.removed_at && differs(format_rfc3339(*row.removed_at), wanted.removed_at))
        say(fmt::format("when cluster {} was removed is not what the log says", name));
    }
    for (const auto& [name, logged] : logged_.clusters)
      if (seen[name] < logged.size())
        say(fmt::format("cluster {} was added, but its row is gone", name));
  }

  void snapshots() {
    std::set<std::string> seen;
    // ids first: one inventory in memory at a time
    for (const Row& row : rows("SELECT id FROM snapshot ORDER BY id", "snapshot")) {
      const std::string& id = row.text(0);
      seen.insert(id);
      const auto logged = logged_.snapshots.find(id);
      if (logged == logged_.snapshots.end()) {
        say(fmt::format("snapshot {} was never taken", id));
        continue;
      }
      const auto document = snapshot_document(tx_, id);
      if (!document)
        say(fmt::format("snapshot {} cannot be read: {}", id, document.error().message));
      else if (!logged->second.empty() &&
               sha256_hex(to_canonical_text(*document)) != logged->second)
        say(fmt::format("snapshot {} is not what was seen", id));
      else if (const auto inventory = load_inventory(tx_, id); !inventory)
        say(fmt::format("snapshot {}: {}", id, inventory.error().message));
    }
    for (const auto& [id, digest] : logged_.snapshots)
      if (!seen.contains(id)) say(fmt::format("snapshot {} was taken, but its row is gone", id));
  }

  void consumers() {
    std::set<std::string> seen;
    for (const Row& row :
         rows("SELECT project, kind, ref FROM consumer ORDER BY project, kind, ref", "consumer")) {
      const std::string what = fmt::format("{}/{}/{}", row.text(0), row.text(1), row.text(2));
      seen.insert(what);
      const auto logged = logged_.consumers.find(what);
      if (logged == logged_.consumers.end() || logged->second.empty()) {
        say(fmt::format("consumer {} is there, but was never recorded or was released", what));
        continue;
      }
      const auto stored = load_consumer(tx_, row.text(0), row.text(1), row.text(2));
      if (!stored)
        say(fmt::format("consumer {} cannot be read: {}", what, stored.error().message));
      else if (sha256_hex(to_canonical_text(to_json(*stored))) != logged->second)
        say(fmt::format("consumer {} is not what was recorded", what));
    }
    for (const auto& [what, digest] : logged_.consumers)
      if (!digest.empty() && !seen.contains(what))
        say(fmt::format("consumer {} was recorded, but its row is gone", what));
  }

  void documents(const DocumentTable& table) {
    for (const Row& row :
         rows(fmt::format("SELECT {}, spec FROM {}", table.key, table.table), table.table)) {
      const std::string what = fmt::format("{} {}", table.kind, row.text(0));
      documents_seen_.insert({std::string(table.kind), row.text(0)});
      const auto logged = logged_.documents.find({std::string(table.kind), row.text(0)});
      if (logged == logged_.documents.end() || logged->second.empty()) {
        say(fmt::format("{} is there, but was never written or was removed", what));
        continue;
      }
      const auto digest = digest_of(row.text(1), what);
      if (digest && *digest != logged->second)
        say(fmt::format("{} is not the one that was written", what));
    }
    columns(table);
  }

  // Columns beside a document say again what it says: they are what statements ask for.
  void columns(const DocumentTable& table) {
    for (const DocumentColumn& column : document_columns()) {
      if (column.kind != table.kind) continue;
      for (const Row& row :
           rows(fmt::format("SELECT {}, spec, {} FROM {}", table.key, column.name, table.table),
                table.table)) {
        const auto spec = parse_json(row.text(1), "stored document");
        if (!spec) continue;  // said above
        if (!says_the_same(row, 2, at_key(*spec, column.key)))
          say(fmt::format("{} of {} {} is not what its document says", column.name, table.kind,
                          row.text(0)));
      }
    }
  }

  static json::value at_key(const json::value& spec, std::string_view key) {
    const json::value* at = &spec;
    for (const std::string_view part : split(key, '/')) {
      at = at == nullptr ? nullptr : find(*at, part);
    }
    return at == nullptr ? json::value(nullptr) : *at;
  }

  static bool says_the_same(const Row& row, size_t column, const json::value& wanted) {
    if (wanted.is_null()) return row.is_null(column);
    if (row.is_null(column)) return false;
    if (wanted.is_bool()) return row.integer(column) == (wanted.get_bool() ? 1 : 0);
    if (wanted.is_int64()) return row.integer(column) == wanted.get_int64();
    if (!wanted.is_string()) return false;
    const std::string_view text = wanted.get_string();
    // a time is kept as microseconds
    if (const auto time = parse_rfc3339(text)) return row.integer(column) == time->micros;
    return row.text(column) == text;
  }

  void missing_documents() {
    for (const auto& [key, digest] : logged_.documents)
      if (!digest.empty() && !documents_seen_.contains(key))
        say(fmt::format("{} {} was written, but its row is gone", key.first, key.second));
  }

  const ReplayedVersion* find_version(const std::string& project, const std::string& name,
                                      int64_t version) const {
    const auto profile = logged_.profiles.find({project, name});
    if (profile == logged_.profiles.end()) return nullptr;
    const auto found = profile->second.versions.find(version);
    return found == profile->second.versions.end() ? nullptr : &found->second;
  }

  Transaction& tx_;
  const ReplayedState& logged_;
  std::set<std::pair<std::string, std::string>> documents_seen_;
  std::vector<std::string> sentences_;
};

}  // namespace

Result<std::vector<std::string>> unaccounted_state(Transaction& tx) {
  EXA_ASSIGN(const ReplayedState logged, replayed_log(tx));
  return Comparison(tx, logged).all();
}

}  // namespace exa
