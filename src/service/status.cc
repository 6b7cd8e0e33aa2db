#include "service/status.h"

#include <fmt/format.h>

#include "base/plural.h"
#include "base/quantity.h"
#include "resolve/resolve.h"
#include "service/clusters.h"
#include "service/consumers.h"
#include "service/discovery_schedule.h"
#include "service/resolutions.h"
#include "service/stored.h"

namespace exa {
namespace {

int badness(const std::string& status) {
  constexpr std::string_view kOrder[] = {"verified", "degraded", "unchecked", "unresolvable"};
  const auto* found = std::ranges::find(kOrder, status);
  return static_cast<int>(found - std::begin(kOrder));
}

auto place_of(const Standing& standing) {
  return std::tuple(-badness(standing.status), standing.project, standing.name, standing.version,
                    standing.cluster);
}

// Everything kept about versions that are active or in use, aged as lists age it.
Result<std::vector<Standing>> load_standings(Transaction& tx, const Projects& known, Time now) {
  EXA_ASSIGN(
      const auto rows,
      tx.rows(fmt::format(
          "SELECT r.project, r.name, r.version, c.name, r.status, r.reason, r.status_since, "
          "r.snapshot_taken_at, c.max_age, l.label, u.kind, u.ref, u.project "
          "FROM resolution r JOIN cluster c ON c.uid = r.cluster_uid AND c.removed_at IS NULL "
          "LEFT JOIN profile_label l ON l.project = r.project AND l.name = r.name AND "
          "l.version = r.version AND l.label = 'active' "
          "LEFT JOIN consumer u ON {} AND u.version = r.version AND u.cluster = c.name "
          "WHERE l.label IS NOT NULL OR u.ref IS NOT NULL "
          "ORDER BY r.project, r.name, r.version, c.name, u.kind, u.ref, u.project",
          runs_on("r.project", "r.name"))));
  std::vector<Standing> all;
  for (const Row& row : rows) {
    // what another project shares is known to those who run on it
    const bool runs_here = !row.is_null(11) && known.contains(row.text(12));
    if (!known.contains(row.text(0)) && !runs_here) continue;
    const bool same = !all.empty() && all.back().project == row.text(0) &&
                      all.back().name == row.text(1) && all.back().version == row.integer(2) &&
                      all.back().cluster == row.text(3);
    if (!same) {
      const Time taken_at{row.integer(7)};
      const Duration max_age{row.integer(8)};
      const KeptAnswer kept = aged({row.text(4), "", row.text(5)}, taken_at, max_age, now);
      all.push_back({row.text(0), row.text(1), row.integer(2), row.text(3), kept.status,
                     kept.reason,
                     kept.stale ? Time{taken_at.micros + max_age.micros} : Time{row.integer(6)},
                     !row.is_null(9), kept.stale});
    }
    if (row.is_null(11)) continue;
    if (runs_here)
      all.back().consumers.push_back(fmt::format("{}/{}", row.text(10), row.text(11)));
    else
      ++all.back().other_consumers;
  }
  return all;
}

json::object standing_json(const Standing& standing) {
  return {{"project", standing.project},
          {"name", standing.name},
          {"version", standing.version},
          {"cluster", standing.cluster},
          {"status", standing.status},
          {"since", standing.since.micros == 0 ? json::value(nullptr)
                                               : json::value(format_rfc3339(standing.since))},
          {"reason", standing.reason},
          {"consumers", json::array(standing.consumers.begin(), standing.consumers.end())},
          {"other_consumers", standing.other_consumers},
          {"next",
           standing.stale
               ? fmt::format("exa cluster discover {}", standing.cluster)
               : fmt::format("exa hardware profile resolve {}@{} --cluster {} --project {}",
                             standing.name, standing.version, standing.cluster, standing.project)}};
}

// A cluster that was not seen at its last look, or never.
Result<json::array> failing_clusters(Transaction& tx, Time now) {
  EXA_ASSIGN(const auto all, load_looks(tx));
  json::array failing;
  for (const Looks& looks : all) {
    if (looks.last && looks.failures == 0) continue;
    EXA_ASSIGN(const Cluster cluster, find_cluster(tx, looks.cluster));
    EXA_ASSIGN(const auto head, newest_snapshot(tx, cluster));
    EXA_ASSIGN(const auto failure, failure_since(tx, cluster));
    failing.emplace_back(json::object{
        {"name", looks.cluster},
        {"failures", looks.failures},
        {"error", failure ? json::value(failure->message) : json::value("nobody looked yet")},
        {"last_seen_at", head ? json::value(format_rfc3339(head->taken_at)) : json::value(nullptr)},
        {"next_look_at", format_rfc3339(std::max(next_look(looks), now))},
        {"next", fmt::format("exa cluster discover {}", looks.cluster)}});
  }
  return failing;
}

std::map<std::string, int64_t> by_status(const std::vector<Standing>& standings) {
  std::map<std::string, int64_t> counts{
      {"verified", 0}, {"degraded", 0}, {"unresolvable", 0}, {"unchecked", 0}};
  for (const Standing& standing : standings) ++counts[standing.status];
  return counts;
}

}  // namespace

std::vector<Standing> troubles(std::vector<Standing> standings) {
  // the best place of each active version
  std::map<std::tuple<std::string, std::string, int64_t>, int> best;
  for (const Standing& standing : standings) {
    if (!standing.active) continue;
    const auto [entry, fresh] = best.try_emplace(
        {standing.project, standing.name, standing.version}, badness(standing.status));
    if (!fresh) entry->second = std::min(entry->second, badness(standing.status));
  }
  std::set<std::tuple<std::string, std::string, int64_t>> named;
  std::erase_if(standings, [&](const Standing& standing) {
    const int bad = badness(standing.status);
    if (bad == 0) return true;
    if (!standing.consumers.empty() || standing.other_consumers > 0) return false;
    const std::tuple key(standing.project, standing.name, standing.version);
    const bool best_of_bad = standing.active && best.at(key) == bad;
    return !best_of_bad || !named.insert(key).second;
  });
  std::ranges::sort(standings, {}, place_of);
  return standings;
}

Result<Answer> overall_status(Service& service, const Caller& caller, const OverallStatus& what) {
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    const Time now = service.now();
    EXA_ASSIGN(auto standings, load_standings(tx, caller.known, now));
    const auto counts = by_status(standings);
    const std::vector<Standing> bad = troubles(std::move(standings));
    EXA_ASSIGN(json::array failing, failing_clusters(tx, now));
    Answer answer;
    json::array profiles;
    std::set<std::string> seen;
    for (const Standing& standing : bad) {
      profiles.emplace_back(standing_json(standing));
      seen.insert(standing.status);
    }
    if (!failing.empty()) seen.insert("failing");
    json::object summary;
    for (const auto& [status, count] : counts) summary[status] = count;
    summary["clusters_failing"] = static_cast<int64_t>(failing.size());
    answer.body = {{"ok", seen.empty()},
                   {"at", format_rfc3339(now)},
                   {"summary", std::move(summary)},
                   {"profiles", std::move(profiles)},
                   {"clusters", std::move(failing)}};
    const bool tripped = std::ranges::any_of(
        what.fail_on, [&](const std::string& status) { return seen.contains(status); });
    if (tripped) answer.exit_code = info(Code::fail_on).exit_code;
    return answer;
  });
}

Result<Figures> figures(Transaction& tx, Time now) {
  Figures read;
  EXA_ASSIGN(const auto entries, tx.rows("SELECT COALESCE(MAX(idx), -1) + 1 FROM audit_entry"));
  read.audit_entries = entries.at(0).integer(0);
  EXA_ASSIGN(const auto leases,
             tx.rows("SELECT COUNT(*) FROM lease WHERE ended_at IS NULL AND expires_at > $1",
                     {now.micros}));
  read.open_leases = leases.at(0).integer(0);
  EXA_ASSIGN(const auto looks, load_looks(tx));
  read.clusters = static_cast<int64_t>(looks.size());
  read.clusters_failing =
      std::ranges::count_if(looks, [](const Looks& of) { return of.failures > 0; });
  EXA_ASSIGN(const auto standings, load_standings(tx, {.all = true, .names = {}}, now));
  read.standings = by_status(standings);
  EXA_ASSIGN(
      const auto seen,
      tx.rows("SELECT MIN(newest) FROM (SELECT MAX(s.taken_at) AS newest FROM cluster c JOIN "
              "snapshot s ON s.cluster_uid = c.uid WHERE c.removed_at IS NULL GROUP BY c.uid) "
              "AS of_each"));
  if (!seen.at(0).is_null(0)) read.oldest_sight = now - Time{seen.at(0).integer(0)};
  return read;
}

}  // namespace exa
