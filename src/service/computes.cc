#include "service/computes.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "service/stored.h"

namespace exa {
namespace {

// The machines of a Compute as its status finds them: those of its sources, each with why it is not
// to be had.
std::vector<SeenMachine> seen_machines(const FleetPicture& fleet,
                                       const std::vector<std::string>& sources,
                                       const Caller& caller, Time now) {
  std::vector<SeenMachine> seen;
  for (const StoredMachine& stored : fleet.machines) {
    if (!std::ranges::binary_search(sources, stored.watched.source)) continue;
    SeenMachine one{&stored.machine, stored.watched.source,
                    why_not_reliable(stored, fleet.sources, now)};
    if (const auto held = fleet.holds.find(stored.machine.id); held != fleet.holds.end())
      for (const MachineHold& hold : held->second) one.reasons.push_back(held_words(hold, caller));
    seen.push_back(std::move(one));
  }
  return seen;
}

json::object condition(std::string_view type, bool is_true, std::string_view reason,
                       std::string message, const StoredManifest& compute, Time changed_at) {
  return {{"type", type},
          {"status", is_true ? "True" : "False"},
          {"reason", reason},
          {"message", std::move(message)},
          {"observedGeneration", compute.generation},
          {"lastTransitionTime", format_rfc3339(changed_at)}};
}

struct KeptStatus {
  json::value status;  // what was offered then
  Time changed_at;
  Time reconciled_at;
};

std::string key_of(const StoredManifest& compute) {
  return fmt::format("{}/{}", compute.manifest.name_space, compute.manifest.name);
}

Result<std::optional<KeptStatus>> kept_status(Transaction& tx, const StoredManifest& compute) {
  EXA_ASSIGN(const auto rows,
             tx.rows("SELECT status, changed_at, reconciled_at FROM compute_status WHERE id = $1",
                     {key_of(compute)}));
  std::optional<KeptStatus> kept;
  if (rows.empty()) return kept;
  EXA_ASSIGN(json::value status,
             parse_stored(rows[0].text(0), "a stored status", tool_output_limits()));
  kept = {std::move(status), Time{rows[0].integer(1)}, Time{rows[0].integer(2)}};
  return kept;
}

// When the source last said something: of agents their newest report.
std::optional<Time> last_answer(const StoredSource& source, const FleetPicture& fleet) {
  if (source.source.kind != MachineSourceKind::agent)
    return source.look ? source.look->succeeded_at : std::nullopt;
  std::optional<Time> newest;
  for (const StoredMachine& each : fleet.machines)
    if (each.watched.source == source.source.name) newest = std::max(newest, each.watched.heard_at);
  return newest;
}

json::array sources_json(const FleetPicture& fleet, const std::vector<std::string>& meant) {
  json::array list;
  for (const StoredSource& each : fleet.sources) {
    if (!std::ranges::binary_search(meant, each.source.name)) continue;
    const auto answered = last_answer(each, fleet);
    const bool failed = each.look && !each.look->error.empty();
    list.emplace_back(json::object{
        {"name", each.source.name},
        {"kind", name(each.source.kind)},
        {"lastSucceeded", answered ? json::value(format_rfc3339(*answered)) : json::value(nullptr)},
        {"error", failed ? json::value(each.look->error) : json::value(nullptr)}});
  }
  return list;
}

std::string failing_sources(const FleetPicture& fleet, const std::vector<std::string>& meant) {
  std::string text;
  for (const StoredSource& each : fleet.sources) {
    if (!std::ranges::binary_search(meant, each.source.name) || !each.look) continue;
    if (each.look->error.empty()) continue;
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", each.source.name, each.look->error);
  }
  return text;
}

json::array conditions(const StoredManifest& compute, const ComputeStatus& status,
                       const std::string& failing, Time changed_at) {
  const bool control_plane = !status.control_plane.empty();
  const bool workers = !status.workers.empty();
  std::string message = "machines of both roles are offered";
  if (!control_plane && !workers)
    message = "no machine is offered";
  else if (!control_plane)
    message = "no machine is offered for a control plane";
  else if (!workers)
    message = "no machine is offered for workers";
  const bool ready = control_plane && workers;
  json::array list;
  list.emplace_back(condition("Ready", ready, ready ? "MachinesOffered" : "MachinesMissing",
                              std::move(message), compute, changed_at));
  list.emplace_back(condition(
      "CapacityKnown", failing.empty(), failing.empty() ? "SourcesAnswered" : "SourceFailed",
      failing.empty() ? "every source answered" : failing, compute, changed_at));
  return list;
}

// What a change of is worth telling: everything but ages.
struct Offered {
  json::object status;
  ComputeStatus groups;
  std::string failing;
};

Result<Offered> offered_now(Transaction& tx, const Caller& caller, const StoredManifest& compute,
                            const FleetPicture& fleet, Time now) {
  EXA_ASSIGN(const auto meant, sources_meant(tx, compute.manifest.name_space,
                                             compute_spec(compute.manifest).settings_ref));
  Offered offered;
  offered.groups = compute_status(seen_machines(fleet, meant, caller, now));
  offered.status = to_json(offered.groups);
  offered.status["sources"] = sources_json(fleet, meant);
  offered.failing = failing_sources(fleet, meant);
  return offered;
}

// As kept, to be compared: what is offered. Reasons hold ages and change all the time.
json::value comparable(const Offered& offered) {
  json::object out = to_json(offered.groups);
  json::array ids;
  for (const UnofferedMachine& each : offered.groups.unoffered) ids.emplace_back(each.id);
  out["unofferedMachines"] = std::move(ids);
  out["failing"] = !offered.failing.empty();
  return out;
}

// When what a status rests on last changed, as far as that is known.
Time rests_on(const StoredManifest& compute, const FleetPicture& fleet) {
  Time newest = compute.updated_at;
  for (const StoredMachine& each : fleet.machines)
    newest = std::max(newest, each.watched.heard_at.value_or(Time{}));
  return newest;
}

Caller the_controller() {
  Caller caller;
  caller.principal = owner_of_folder("exa", "");
  caller.origin = "exa serve";
  caller.action = "compute.reconcile";
  caller.known.all = true;
  caller.permitted.all = true;
  return caller;
}

Result<bool> reconcile_one(Service& service, const Caller& caller, const StoredManifest& compute,
                           const FleetPicture& fleet) {
  const Time now = service.now();
  Offered offered;
  bool changed = false;
  Time since = now;  // of a first look: when what it rests on last changed
  EXA_TRY(service.store().write([&](Transaction& tx) -> Result<void> {
    EXA_ASSIGN(offered, offered_now(tx, caller, compute, fleet, now));
    EXA_ASSIGN(const auto kept, kept_status(tx, compute));
    const json::value status = comparable(offered);
    changed = !kept || kept->status != status;
    if (!kept) since = rests_on(compute, fleet);
    if (changed) return {};
    EXA_TRY(tx.change("UPDATE compute_status SET reconciled_at = $2 WHERE id = $1",
                      {key_of(compute), now.micros}));
    return {};
  }));
  if (!changed) return false;
  EXA_TRY(service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_TRY(
        tx.change("INSERT INTO compute_status VALUES ($1, $2, $3, $3) ON CONFLICT (id) DO "
                  "UPDATE SET status = $2, changed_at = $3, reconciled_at = $3",
                  {key_of(compute), to_text(comparable(offered)), now.micros}));
    const auto count = [](const std::vector<ComputeGroup>& groups) {
      size_t machines = 0;
      for (const ComputeGroup& group : groups) machines += group.machines.size();
      return static_cast<int64_t>(machines);
    };
    deed.object_kind = "compute";
    deed.object_name = compute.manifest.name;
    deed.project = compute.manifest.name_space;
    deed.details = {{"control_plane", count(offered.groups.control_plane)},
                    {"workers", count(offered.groups.workers)},
                    {"unoffered", static_cast<int64_t>(offered.groups.unoffered.size())},
                    {"failing", offered.failing}};
    return Answer{};
  }));
  return true;
}

}  // namespace

Result<FleetPicture> load_fleet(Transaction& tx) {
  FleetPicture fleet;
  EXA_ASSIGN(fleet.sources, load_machine_sources(tx));
  EXA_ASSIGN(fleet.machines, load_machines(tx, fleet.sources));
  EXA_ASSIGN(const auto platforms, load_platforms(tx));
  fleet.holds = holds_of(platforms);
  return fleet;
}

Result<std::vector<std::string>> sources_meant(Transaction& tx, const std::string& project,
                                               const std::string& settings_ref) {
  std::string settings = settings_ref;
  if (settings.empty()) {
    EXA_ASSIGN(const auto of_project, project_settings(tx, project));
    if (of_project) settings = of_project->settings_ref;
  }
  std::vector<std::string> names;
  if (!settings.empty()) {
    EXA_ASSIGN(const StoredManifest stored,
               find_manifest(tx, project, PaletteKind::settings, settings));
    names = settings_spec(stored.manifest).machine_sources;
  }
  if (names.empty()) {
    EXA_ASSIGN(const auto sources, load_machine_sources(tx));
    for (const StoredSource& each : sources) names.push_back(each.source.name);
  }
  std::ranges::sort(names);
  return names;
}

Result<json::object> compute_status_json(Transaction& tx, const Caller& caller,
                                         const StoredManifest& compute, const FleetPicture& fleet,
                                         Time now) {
  EXA_ASSIGN(Offered offered, offered_now(tx, caller, compute, fleet, now));
  EXA_ASSIGN(const auto kept, kept_status(tx, compute));
  const bool still = kept && kept->status == comparable(offered);
  offered.status["conditions"] = conditions(compute, offered.groups, offered.failing,
                                            still ? kept->changed_at : rests_on(compute, fleet));
  offered.status["lastReconciled"] =
      kept ? json::value(format_rfc3339(kept->reconciled_at)) : json::value(nullptr);
  return std::move(offered.status);
}

Result<int64_t> reconcile_computes(Service& service, Progress& progress) {
  EXA_TRY(look_at_due_sources(service, progress));
  std::vector<StoredManifest> computes;
  FleetPicture fleet;
  EXA_TRY(service.store().read([&](Transaction& tx) -> Result<void> {
    EXA_ASSIGN(computes, load_manifests(tx, PaletteKind::compute, ""));
    if (computes.empty()) return {};
    EXA_ASSIGN(fleet, load_fleet(tx));
    return {};
  }));
  const Caller caller = the_controller();
  int64_t changed = 0;
  for (const StoredManifest& compute : computes) {
    if (progress.cancelled()) break;
    EXA_ASSIGN(const bool one, reconcile_one(service, caller, compute, fleet));
    changed += one ? 1 : 0;
  }
  return changed;
}

}  // namespace exa
