#include "service/platform_choice.h"

#include <algorithm>
#include <functional>
#include <set>

#include <fmt/format.h>

#include "base/text.h"

namespace exa {
namespace {

// The profile that the platform names, else its project's (the document: a project must name one).
Result<std::string> profile_named(Transaction& tx, const PlatformAsk& ask) {
  if (!ask.spec.compute_profile_ref.empty()) return ask.spec.compute_profile_ref;
  EXA_ASSIGN(const auto project, project_settings(tx, ask.project));
  if (project) return project->compute_profile_ref;
  return fail(
      Code::invalid_input,
      fmt::format("project {} names no compute profile, and neither does the request", ask.project),
      "exa apply -f FILE with a Project whose spec.computeProfileRef names one");
}

Result<std::string> provisioner_of(Transaction& tx, const std::string& project,
                                   const std::string& settings_ref) {
  std::string settings = settings_ref;
  if (settings.empty()) {
    EXA_ASSIGN(const auto of_project, project_settings(tx, project));
    if (of_project) settings = of_project->settings_ref;
  }
  if (settings.empty()) return std::string();
  EXA_ASSIGN(const StoredManifest stored,
             find_manifest(tx, project, PaletteKind::settings, settings));
  return settings_spec(stored.manifest).provisioner;
}

SelectionAsk selection_ask(const MlPlatformSpec& spec, const ComputeProfileSpec& profile,
                           int64_t minimum) {
  SelectionAsk ask;
  ask.gpus = spec.gpus;
  ask.gpu_memory_bytes = spec.gpu_memory_bytes;
  ask.minimum_workers = minimum;
  const bool two_node = profile.edge && profile.edge->is_two_node;
  ask.control_planes = two_node ? 2 : profile.control_plane.node_count;
  ask.control_plane_works = profile.control_plane.worker_node_eligible && ask.control_planes == 1;
  ask.architecture = spec.architecture;
  ask.control_plane_groups = spec.control_plane_groups;
  ask.worker_groups = spec.worker_groups;
  ask.mode = spec.mode;
  return ask;
}

Result<PlatformTerms> terms_of(Transaction& tx, const PlatformAsk& ask) {
  PlatformTerms terms;
  EXA_ASSIGN(terms.compute_profile, profile_named(tx, ask));
  EXA_ASSIGN(const StoredManifest stored,
             find_manifest(tx, ask.project, PaletteKind::compute_profile, terms.compute_profile));
  EXA_ASSIGN(terms.profile, overridden(stored.manifest, ask.spec.override_));
  terms.profile_document = stored.manifest.document;
  MinimumSources sources;
  sources.compute_profile = terms.compute_profile;
  sources.profile = compute_profile_spec(stored.manifest).minimum_workers;
  if (ask.spec.override_.contains("minWorkerNodes"))
    sources.override_count = terms.profile.minimum_workers;
  if (!ask.spec.workload_profile_ref.empty()) {
    EXA_ASSIGN(const StoredManifest workload,
               find_manifest(tx, ask.project, PaletteKind::workload_profile,
                             ask.spec.workload_profile_ref));
    sources.label = workload_profile_spec(workload.manifest).min_nodes;
    sources.workload_profile = ask.spec.workload_profile_ref;
  }
  EXA_ASSIGN(terms.minimum, minimum_workers(sources));
  EXA_ASSIGN(terms.provisioner, provisioner_of(tx, ask.project, terms.profile.settings_ref));
  EXA_ASSIGN(terms.sources, sources_meant(tx, ask.project, terms.profile.settings_ref));
  terms.ask = selection_ask(ask.spec, terms.profile, terms.minimum.count);
  return terms;
}

// GPUs that others hold there; -1: the machine is not to be had at all.
int64_t taken_gpus(const std::vector<MachineHold>& holds, AllocationMode mode,
                   const PlatformAsk& ask) {
  int64_t taken = 0;
  for (const MachineHold& hold : holds) {
    if (hold.project == ask.project && hold.platform == ask.name) continue;
    if (mode == AllocationMode::dedicated || hold.mode == AllocationMode::dedicated) return -1;
    taken += hold.gpus;
  }
  return taken;
}

// Every machine as this ask may choose it; those for which `left_out` has words are not to be had.
using LeftOut = std::function<std::string(const std::string& id)>;
std::vector<FleetMachine> fleet_for(const FleetPicture& fleet, const PlatformTerms& terms,
                                    const PlatformAsk& ask, const Caller& caller, Time now,
                                    const LeftOut& left_out) {
  std::vector<FleetMachine> machines;
  machines.reserve(fleet.machines.size());
  for (const StoredMachine& stored : fleet.machines) {
    const Machine& machine = stored.machine;
    FleetMachine one{&machine, machine.gpus.value, ""};
    if (!std::ranges::binary_search(terms.sources, stored.watched.source))
      one.unavailable =
          fmt::format("its source {} is not of this project's settings", stored.watched.source);
    const auto held = fleet.holds.find(machine.id);
    if (one.unavailable.empty() && held != fleet.holds.end()) {
      const int64_t taken = taken_gpus(held->second, ask.spec.mode, ask);
      if (taken < 0)
        one.unavailable = held_words(held->second.front(), caller);
      else
        one.free_gpus = std::max<int64_t>(0, machine.gpus.value - taken);
    }
    if (one.unavailable.empty()) {
      const auto reasons = why_not_reliable(stored, fleet.sources, now);
      if (!reasons.empty()) one.unavailable = join(reasons, "; ");
    }
    if (one.unavailable.empty()) one.unavailable = left_out(machine.id);
    machines.push_back(std::move(one));
  }
  return machines;
}

// What the platform lacks beyond what it has.
SelectionAsk missing_beyond(const MlPlatform& before, SelectionAsk ask) {
  for (const HeldMachine& held : before.machines) {
    if (held.machine.control_plane)
      ask.control_planes = std::max<int64_t>(0, ask.control_planes - 1);
    if (held.machine.worker) ask.minimum_workers = std::max<int64_t>(0, ask.minimum_workers - 1);
    for (auto& [family, count] : ask.gpus)
      if (held.machine.worker && gpu_family(held.machine.family) == family)
        count = std::max<int64_t>(0, count - held.machine.gpus);
  }
  std::erase_if(ask.gpus, [](const auto& each) { return each.second == 0; });
  ask.control_plane_works = ask.control_plane_works && ask.control_planes > 0;
  return ask;
}

// What was chosen beside the machines that the platform has already.
Selection beside(Selection more, const MlPlatform& before) {
  for (const HeldMachine& held : before.machines) {
    const auto at = std::ranges::find(more.machines, held.machine.id, &MachineVerdict::id);
    if (at != more.machines.end()) *at = {held.machine.id, held.as, held.machine.gpus, "kept"};
    if (held.machine.control_plane) more.control_plane.push_back(held.machine.id);
    if (held.machine.worker) more.workers.push_back(held.machine.id);
  }
  std::ranges::sort(more.control_plane);
  std::ranges::sort(more.workers);
  more.filler_gpus += before.filler_gpus;
  return more;
}

// A platform that asks for less keeps some of its machines; one that asks for more keeps them all
// and gets others beside. In shared mode it may get more of those that it has, and chooses anew.
Selection choose(const FleetPicture& fleet, const PlatformTerms& terms, const PlatformAsk& ask,
                 const Caller& caller, Time now, const std::optional<MlPlatform>& before) {
  const auto machines = [&](const LeftOut& left_out) {
    return fleet_for(fleet, terms, ask, caller, now, left_out);
  };
  const auto all = machines([](const std::string&) { return std::string(); });
  if (!before) return select_machines(all, terms.ask);
  const auto has = [&](const std::string& id) {
    return std::ranges::any_of(before->machines,
                               [&](const HeldMachine& held) { return held.machine.id == id; });
  };
  const auto own = machines([&](const std::string& id) {
    return has(id) ? std::string() : std::string("not needed: the platform's own are enough");
  });
  Selection within = select_machines(own, terms.ask);
  if (within.met) return within;
  if (ask.spec.mode == AllocationMode::shared) return select_machines(all, terms.ask);
  const auto others = machines([&](const std::string& id) {
    return has(id) ? std::string("the platform has it already") : std::string();
  });
  return beside(select_machines(others, missing_beyond(*before, terms.ask)), *before);
}

}  // namespace

Result<PlatformDecision> decide_platform(Service& service, Transaction& tx, const Caller& caller,
                                         const PlatformAsk& ask,
                                         const std::optional<MlPlatform>& before) {
  PlatformDecision decided;
  EXA_ASSIGN(decided.terms, terms_of(tx, ask));
  decided.beyond =
      beyond_limits(ask.spec.gpus, decided.terms.profile.gpu_limits, decided.terms.compute_profile);
  EXA_ASSIGN(const FleetPicture fleet, load_fleet(tx));
  decided.selection = choose(fleet, decided.terms, ask, caller, service.now(), before);
  return decided;
}

}  // namespace exa
