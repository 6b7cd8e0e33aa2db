// Looking at sources of machines: what they say is kept, and that they were looked at.
#include <algorithm>

#include <fmt/format.h>

#include "service/clusters.h"
#include "service/machine_parts.h"

namespace exa {
namespace {

// The reports of one look, believed one by one, and the look itself.
Result<int64_t> keep_reading(Transaction& tx, const StoredSource& stored,
                             const MachineReading& reading, Time now) {
  const WatchRules rules = rules_of(stored);
  int64_t changed = 0;
  for (const MachineReport& report : reading.reports) {
    EXA_ASSIGN(const auto before, load_watched(tx, report.id));
    if (before && before->source == stored.source.name && before->report == report) continue;
    Heard heard = hear(before, stored.source.name, report, now, rules);
    // as old as what was seen, not as the look at what was seen
    if (stored.source.kind == MachineSourceKind::cluster && !heard.refused)
      heard.machine.heard_at = report.reported_at;
    changed += heard.changed ? 1 : 0;
    EXA_TRY(put_watched(tx, heard.machine));
  }
  return changed;
}

Result<void> keep_look(Transaction& tx, const std::string& source, Time now, bool succeeded,
                       const std::string& error) {
  EXA_TRY(tx.change(
      "INSERT INTO machine_look VALUES ($1, $2, $3, $4) ON CONFLICT (source) DO UPDATE SET "
      "looked_at = $2, succeeded_at = COALESCE($3, machine_look.succeeded_at), error = $4",
      {source, now.micros, succeeded ? Value(now.micros) : Value(nullptr),
       error.empty() ? Value(nullptr) : Value(error)}));
  return {};
}

Result<MachineReading> nodes_of(Transaction& tx, const MachineSource& source) {
  EXA_ASSIGN(const Cluster cluster, find_cluster(tx, source.cluster));
  EXA_ASSIGN(const auto head, newest_snapshot(tx, cluster));
  if (!head) {
    return fail(Code::probe_failed, fmt::format("nothing is known about {} yet", source.cluster),
                fmt::format("exa cluster discover {}", source.cluster));
  }
  EXA_ASSIGN(const Inventory inventory, load_inventory(tx, head->id));
  MachineReading reading;
  for (const Node& node : inventory.nodes) {
    MachineReport report = machine_of_node(source.cluster, node, head->taken_at);
    if (const auto checked = check_machine_id(report.id); !checked)
      reading.unread.push_back({node.name, checked.error().message});
    else
      reading.reports.push_back(std::move(report));
  }
  return reading;
}

// Asks the source; outside of any transaction, but for a cluster's nodes, which are stored.
Result<MachineReading> reading_of(Service& service, const MachineSource& source,
                                  Progress& progress) {
  switch (source.kind) {
    case MachineSourceKind::cluster:
      return read_value<MachineReading>(service.store(),
                                        [&](Transaction& tx) { return nodes_of(tx, source); });
    case MachineSourceKind::agent:
      return fail(invalid("source", {{"/name",
                                      fmt::format("{} is a source of agents: they report by "
                                                  "themselves",
                                                  source.name),
                                      ""}}));
    default:
      return look_at_machines(source, service.now(), progress);
  }
}

std::string words_of(const Error& error) {
  std::string text = error.message;
  for (const Problem& problem : error.problems)
    text += fmt::format("; {} {}", problem.where, problem.message);
  return text;
}

std::string unread_words(const std::vector<Unread>& unread) {
  std::string text;
  constexpr size_t kShown = 5;
  for (size_t i = 0; i < unread.size() && i < kShown; ++i)
    text += fmt::format("{}{}: {}", i == 0 ? "" : "; ", unread[i].what, unread[i].why);
  if (unread.size() > kShown) text += fmt::format("; and {} more", unread.size() - kShown);
  return text;
}

struct Looked {
  MachineReading reading;
  int64_t changed = 0;
};
Result<Looked> look(Service& service, const StoredSource& stored, Progress& progress) {
  auto reading = reading_of(service, stored.source, progress);
  const Time now = service.now();
  if (stored.source.kind == MachineSourceKind::agent) return fail(std::move(reading).error());
  if (!reading) {
    EXA_TRY(service.store().write([&](Transaction& tx) {
      return keep_look(tx, stored.source.name, now, false, words_of(reading.error()));
    }));
    return fail(std::move(reading).error());
  }
  Looked looked{*std::move(reading), 0};
  EXA_TRY(service.store().write([&](Transaction& tx) -> Result<void> {
    EXA_ASSIGN(looked.changed, keep_reading(tx, stored, looked.reading, now));
    return keep_look(tx, stored.source.name, now, true, unread_words(looked.reading.unread));
  }));
  return looked;
}

}  // namespace

Result<Answer> look_at_source(Service& service, const Caller& caller, const std::string& name) {
  EXA_ASSIGN(const StoredSource stored,
             read_value<StoredSource>(
                 service.store(), [&](Transaction& tx) { return find_machine_source(tx, name); }));
  EXA_ASSIGN(const Looked looked, look(service, stored, *caller.progress));
  Answer answer;
  json::array unread;
  for (const Unread& each : looked.reading.unread)
    unread.emplace_back(json::object{{"what", each.what}, {"why", each.why}});
  answer.body = {{"name", name},
                 {"machines", looked.reading.reports.size()},
                 {"changed", looked.changed},
                 {"unread", std::move(unread)}};
  return answer;
}

Result<int64_t> look_at_due_sources(Service& service, Progress& progress) {
  EXA_ASSIGN(const auto sources,
             read_value<std::vector<StoredSource>>(service.store(), load_machine_sources));
  int64_t failed = 0;
  for (const StoredSource& each : sources) {
    if (each.source.kind == MachineSourceKind::agent) continue;
    // a tenth early rather than a whole round late
    const Duration due{each.source.interval.micros * 9 / 10};
    if (each.look && service.now() - each.look->looked_at < due) continue;
    failed += look(service, each, progress) ? 0 : 1;
    if (progress.cancelled()) break;
  }
  return failed;
}

}  // namespace exa
