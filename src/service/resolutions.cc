#include "service/resolutions.h"

#include <fmt/format.h>

#include "base/quantity.h"
#include "base/quote.h"
#include "discover/readers.h"
#include "hardware/inventory_json.h"
#include "resolve/suggest.h"
#include "service/consumers.h"
#include "service/stored.h"

namespace exa {
namespace {

Observation observation_of(const Fleet& fleet, const SnapshotHead& head) {
  return {&fleet, head.id, head.taken_at, head.declared, std::nullopt};
}

Resolution resolve_seen(const Shape& shape, const Cluster& cluster, const SnapshotHead& head,
                        const Fleet& fleet, Time now,
                        const std::optional<ProbeFailure>& failure = {}) {
  Observation seen = observation_of(fleet, head);
  if (failure) seen.failed = {failure->at, failure->message};
  return resolve({shape, cluster.name, std::move(seen), cluster.max_age, now});
}

Result<void> keep(Transaction& tx, const std::string& project, const std::string& name,
                  int64_t version, const std::string& cluster_uid, const Resolution& resolution,
                  const SnapshotHead& head, Time now) {
  const json::array unconfirmed(resolution.unconfirmed.begin(), resolution.unconfirmed.end());
  EXA_TRY(tx.change(
      "INSERT INTO resolution (project, name, version, cluster_uid, status, cause, "
      "reason, unconfirmed, "
      "snapshot_id, snapshot_taken_at, resolved_at, status_since) VALUES ($1, $2, $3, $4, $5, "
      "$6, $7, $8, $9, $10, $11, $11) "
      "ON CONFLICT (project, name, version, cluster_uid) DO UPDATE SET status = $5, "
      "cause = $6, reason = $7, "
      "unconfirmed = $8, snapshot_id = $9, snapshot_taken_at = $10, resolved_at = $11, "
      "status_since = CASE WHEN resolution.status = $5 THEN resolution.status_since ELSE $11 "
      "END",
      {project, name, version, cluster_uid, std::string(exa::name(resolution.status)),
       std::string(exa::name(resolution.cause)), resolution.reason, to_text(unconfirmed), head.id,
       head.taken_at.micros, now.micros}));
  return {};
}

// One kept answer as lists show it.
Result<json::object> kept_json(const Row& row, Time now) {
  EXA_ASSIGN(json::value unconfirmed, parse_stored(row.text(4), "a stored resolution"));
  if (!unconfirmed.is_array()) return fail(Code::store_damaged, "a stored resolution is no list");
  const Time taken_at{row.integer(6)};
  const KeptAnswer kept =
      aged({row.text(1), row.text(2), row.text(3)}, taken_at, Duration{row.integer(8)}, now);
  if (kept.stale) unconfirmed.as_array().emplace_back("snapshot_age");
  return json::object{{"cluster", row.text(0)},
                      {"status", kept.status},
                      {"cause", kept.cause},
                      {"reason", kept.reason},
                      {"unconfirmed", std::move(unconfirmed)},
                      {"snapshot_id", row.text(5)},
                      {"snapshot_taken_at", format_rfc3339(taken_at)},
                      {"resolved_at", format_rfc3339(Time{row.integer(7)})}};
}

using VersionKey = std::tuple<std::string, std::string, int64_t>;

// The statuses that are kept for a cluster, before they are worked out anew.
Result<std::map<VersionKey, std::string>> kept_statuses(Transaction& tx, const Cluster& cluster) {
  EXA_ASSIGN(const auto rows,
             tx.rows("SELECT project, name, version, status FROM resolution WHERE cluster_uid = $1",
                     {cluster.uid}));
  std::map<VersionKey, std::string> statuses;
  for (const Row& row : rows) statuses[{row.text(0), row.text(1), row.integer(2)}] = row.text(3);
  return statuses;
}

constexpr std::string_view kKeptColumns =
    "c.name, r.status, r.cause, r.reason, r.unconfirmed, r.snapshot_id, r.snapshot_taken_at, "
    "r.resolved_at, "
    "c.max_age";

// A file instead of a cluster. A saved capture says how old it is; tool output does not say when or
// where it was printed, and so counts as declared.
Result<Resolution> resolve_file(const Shape& shape, const ResolveProfile& what, Time now) {
  EXA_ASSIGN(const Capture capture,
             capture_from_file(*what.snapshot_file, "--snapshot", std::nullopt, now));
  EXA_TRY(check_not_from_the_future(capture, "--snapshot", "/snapshot", now));
  EXA_ASSIGN(const Inventory inventory, read_capture(capture));
  const Fleet fleet = build_fleet(inventory);
  return resolve({shape,
                  "the snapshot file",
                  {&fleet, "file", capture.taken_at, capture.is_handed_in(), std::nullopt},
                  minutes(15),
                  now,
                  what.as_of_snapshot});
}

// The command that keeps a suggested shape as a profile.
std::string set_command(const std::string& name, const Shape& shape) {
  std::vector<std::string> words = {"exa",
                                    "hardware",
                                    "profile",
                                    "set",
                                    name,
                                    "--accelerator-family",
                                    std::string(info(shape.accelerator_family).name)};
  const auto add = [&](bool wanted, const char* flag, std::string value) {
    if (!wanted) return;
    words.emplace_back(flag);
    words.push_back(std::move(value));
  };
  add(shape.gpu_count > 0, "--gpu", std::to_string(shape.gpu_count));
  add(!shape.mig_profile.empty(), "--mig-profile", shape.mig_profile);
  add(shape.cpu_milli > 0, "--cpu", format_milli(shape.cpu_milli));
  add(shape.memory_bytes > 0, "--memory-gb", format_gib(shape.memory_bytes));
  add(!shape.accelerator_model_hint.empty(), "--accelerator-model-hint",
      shape.accelerator_model_hint);
  return shell_line(words);
}

}  // namespace

KeptAnswer aged(KeptAnswer kept, Time taken_at, Duration max_age, Time now) {
  if (kept.status != name(Status::verified) || now - taken_at <= max_age) return kept;
  return {std::string(name(Status::degraded)), std::string(name(Cause::stale_snapshot)),
          fmt::format("it was verified, but the snapshot is {} old (at most {} counts)",
                      format_age(now - taken_at), format_duration(max_age)),
          true};
}

Result<Resolution> resolve_on(Transaction& tx, const Shape& shape, const std::string& cluster_name,
                              Time now) {
  if (cluster_name.empty()) return resolve({shape, "", {}, minutes(15), now});
  EXA_ASSIGN(const Cluster cluster, find_cluster(tx, cluster_name));
  EXA_ASSIGN(const auto head, newest_snapshot(tx, cluster));
  EXA_ASSIGN(const auto failure, failure_since(tx, cluster));
  if (!head) {
    Observation nothing;
    if (failure) nothing.failed = {failure->at, failure->message};
    return resolve({shape, cluster.name, std::move(nothing), cluster.max_age, now});
  }
  EXA_ASSIGN(const Inventory inventory, load_inventory(tx, head->id));
  return resolve_seen(shape, cluster, *head, build_fleet(inventory), now, failure);
}

Result<Answer> resolve_profile(Service& service, const ResolveProfile& what) {
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    const Time now = service.now();
    EXA_ASSIGN(const StoredVersion stored, find_profile(tx, what.project, what.ref));
    if (what.surface) EXA_TRY(check_applicable(stored.profile, *what.surface));
    EXA_ASSIGN(const Resolution resolution,
               what.snapshot_file ? resolve_file(stored.profile.shape, what, now)
                                  : resolve_on(tx, stored.profile.shape, what.cluster, now));
    Answer answer;
    answer.body = {{"name", stored.profile.name},
                   {"version", stored.profile.version},
                   {"project", stored.profile.project}};
    for (auto& member : to_json(resolution)) answer.body[member.key()] = member.value();
    const std::string status(name(resolution.status));
    if (resolution.status == Status::unresolvable)
      answer.exit_code = info(Code::unresolvable).exit_code;
    if (std::ranges::find(what.fail_on, status) != what.fail_on.end()) {
      answer.exit_code = info(Code::fail_on).exit_code;
    }
    if (stored.deprecation) {
      answer.notices.push_back(
          fmt::format("{}@{} is retired{}; {}", stored.profile.name, stored.profile.version,
                      stored.deprecation->reason.empty() ? "" : ": " + stored.deprecation->reason,
                      advice(*stored.deprecation)));
    }
    if (resolution.cause == Cause::no_snapshot) {
      answer.notices.push_back(
          fmt::format("nothing is known about {} yet; next: exa cluster discover {}", what.cluster,
                      what.cluster));
    }
    return answer;
  });
}

Result<json::array> last_resolutions(Transaction& tx, const std::string& project,
                                     const std::string& name, int64_t version, Time now) {
  EXA_ASSIGN(
      const auto rows,
      tx.rows(fmt::format("SELECT {} FROM resolution r JOIN cluster c ON c.uid = r.cluster_uid "
                          "WHERE r.project = $1 AND r.name = $2 AND r.version = $3 ORDER BY c.name",
                          kKeptColumns),
              {project, name, version}));
  json::array list;
  for (const Row& row : rows) {
    EXA_ASSIGN(json::object kept, kept_json(row, now));
    list.emplace_back(std::move(kept));
  }
  return list;
}

Result<ResolutionsByName> last_resolutions_of_page(Transaction& tx, const std::string& project,
                                                   const std::string& after,
                                                   const std::string& last, Time now) {
  EXA_ASSIGN(
      const auto rows,
      tx.rows(fmt::format(
                  "SELECT {}, r.name FROM resolution r JOIN cluster c ON c.uid = r.cluster_uid "
                  "JOIN profile_label l ON l.project = r.project AND l.name = r.name "
                  "AND l.label = 'active' AND l.version = r.version "
                  "WHERE r.project = $1 AND r.name > $2 AND r.name <= $3 ORDER BY r.name, c.name",
                  kKeptColumns),
              {project, after, last}));
  ResolutionsByName result;
  for (const Row& row : rows) {
    EXA_ASSIGN(json::object kept, kept_json(row, now));
    result[row.text(9)].emplace_back(std::move(kept));
  }
  return result;
}

Result<void> refresh_version(Transaction& tx, const HardwareProfile& profile, Time now) {
  EXA_ASSIGN(const auto rows, tx.rows("SELECT name FROM cluster WHERE removed_at IS NULL"));
  for (const Row& row : rows) {
    EXA_ASSIGN(const Cluster cluster, find_cluster(tx, row.text(0)));
    EXA_ASSIGN(const auto head, newest_snapshot(tx, cluster));
    if (!head) continue;
    EXA_ASSIGN(const Inventory inventory, load_inventory(tx, head->id));
    const Resolution resolution =
        resolve_seen(profile.shape, cluster, *head, build_fleet(inventory), now);
    EXA_TRY(keep(tx, profile.project, profile.name, profile.version, cluster.uid, resolution, *head,
                 now));
  }
  return {};
}

Result<std::vector<StatusChange>> refresh_cluster(Transaction& tx, const Cluster& cluster,
                                                  const SnapshotHead& head,
                                                  const Inventory& inventory, Time now) {
  const Fleet fleet = build_fleet(inventory);
  EXA_ASSIGN(const auto before, kept_statuses(tx, cluster));
  std::vector<StatusChange> changes;
  // active versions, and those that somebody runs on here
  EXA_ASSIGN(
      const auto rows,
      tx.rows(
          fmt::format("SELECT DISTINCT v.project, v.name, v.version, v.shape FROM "
                      "profile_version v "
                      "LEFT JOIN profile_label l ON l.project = v.project AND l.name = v.name "
                      "AND l.version = v.version AND l.label = 'active' "
                      "LEFT JOIN consumer u ON {} AND u.version = v.version AND u.cluster = $1 "
                      "WHERE v.deleted_at IS NULL AND (l.label IS NOT NULL OR u.ref IS NOT NULL)",
                      runs_on("v.project", "v.name")),
          {cluster.name}));
  for (const Row& row : rows) {
    const std::string what = fmt::format("the stored shape of {}@{}", row.text(1), row.integer(2));
    EXA_ASSIGN(const json::object value, parse_stored_object(row.text(3), what));
    EXA_ASSIGN(const Shape shape, from_stored(shape_from_json(value), what));
    const Resolution resolution = resolve_seen(shape, cluster, head, fleet, now);
    EXA_TRY(keep(tx, row.text(0), row.text(1), row.integer(2), cluster.uid, resolution, head, now));
    const auto earlier = before.find({row.text(0), row.text(1), row.integer(2)});
    const std::string_view status = name(resolution.status);
    if (earlier == before.end() || earlier->second == status) continue;
    changes.push_back({row.text(0), row.text(1), row.integer(2), cluster.name, earlier->second,
                       std::string(status)});
  }
  return changes;
}

json::object to_json(const StatusChange& change) {
  return {{"project", change.project}, {"name", change.name},        {"version", change.version},
          {"cluster", change.cluster}, {"from_status", change.from}, {"to_status", change.to}};
}

Result<Answer> suggest_profiles(Service& service, const std::string& project,
                                const std::string& cluster_name) {
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    EXA_TRY(require_project(tx, project));
    EXA_ASSIGN(const Cluster cluster, find_cluster(tx, cluster_name));
    EXA_ASSIGN(const auto head, newest_snapshot(tx, cluster));
    if (!head) {
      return fail(Code::not_found, fmt::format("nothing is known about {} yet", cluster_name),
                  fmt::format("exa cluster discover {}", cluster_name));
    }
    EXA_ASSIGN(const Inventory inventory, load_inventory(tx, head->id));
    json::array items;
    for (const Suggestion& suggestion : suggest(inventory)) {
      json::object object{{"name", suggestion.name}, {"why", suggestion.why}};
      for (auto& member : shape_to_json(suggestion.shape)) object[member.key()] = member.value();
      object["command"] = set_command(suggestion.name, suggestion.shape);
      items.emplace_back(std::move(object));
    }
    EXA_ASSIGN(const auto heads, load_heads(tx, {project, "", 1'000'000}));
    std::vector<HardwareProfile> active;
    for (const ProfileHead& one : heads) {
      if (one.active) active.push_back(one.active->profile);
    }
    const Fleet fleet = build_fleet(inventory);
    json::array misfits;
    for (const NeverFits& misfit :
         never_fits(active, observation_of(fleet, *head), cluster.name, service.now())) {
      misfits.emplace_back(json::object{
          {"name", misfit.name}, {"version", misfit.version}, {"reason", misfit.reason}});
    }
    Answer answer;
    if (!items.empty()) {
      answer.notices.push_back(fmt::format("to keep one, under any name: {}",
                                           std::string_view(items[0].at("command").as_string())));
    }
    answer.body = {{"cluster", cluster_name},
                   {"snapshot_id", head->id},
                   {"items", std::move(items)},
                   {"never_fits", std::move(misfits)},
                   {"next_cursor", nullptr}};
    return answer;
  });
}

}  // namespace exa
