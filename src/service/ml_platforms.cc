#include "service/ml_platforms.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/plural.h"
#include "base/text.h"
#include "service/platform_choice.h"
#include "service/profile_rows.h"

namespace exa {
namespace {

std::set<std::string> chosen_ids(const Selection& selection) {
  std::set<std::string> ids(selection.control_plane.begin(), selection.control_plane.end());
  ids.insert(selection.workers.begin(), selection.workers.end());
  return ids;
}

json::array list_of(const std::vector<std::string>& texts) {
  return json::array(texts.begin(), texts.end());
}

json::array verdicts_json(const Selection& selection) {
  json::array list;
  for (const MachineVerdict& verdict : selection.machines)
    list.emplace_back(json::object{{"id", verdict.id},
                                   {"as", name(verdict.as)},
                                   {"gpus", verdict.gpus},
                                   {"why", verdict.why}});
  return list;
}

json::object plan_json(const PlatformAsk& ask, const PlatformDecision& decided) {
  json::object gpus;
  for (const auto& [family, count] : ask.spec.gpus) gpus[family.shown] = count;
  std::vector<std::string> limits;
  for (const Problem& problem : decided.beyond) limits.push_back(problem.message);
  const Selection& selection = decided.selection;
  return {{"name", ask.name},
          {"project", ask.project},
          {"met", selection.met && decided.beyond.empty()},
          {"mode", name(ask.spec.mode)},
          {"gpus", std::move(gpus)},
          {"compute_profile", decided.terms.compute_profile},
          {"minimum_workers", decided.terms.minimum.count},
          {"minimum_from", decided.terms.minimum.from.empty()
                               ? json::value(nullptr)
                               : json::value(decided.terms.minimum.from)},
          {"warnings", list_of(decided.terms.minimum.warnings)},
          {"limits_exceeded", list_of(limits)},
          {"shortages", list_of(selection.shortages)},
          {"control_plane", list_of(selection.control_plane)},
          {"workers", list_of(selection.workers)},
          {"leftover_gpus", selection.leftover_gpus},
          {"filler_gpus", selection.filler_gpus},
          {"machines", verdicts_json(selection)}};
}

Result<void> require_met(const PlatformAsk& ask, const PlatformDecision& decided) {
  const std::string next = fmt::format("exa mlplatform plan {} explains every machine", ask.name);
  if (!decided.beyond.empty()) {
    return fail(Error{Code::blocked,
                      decided.beyond.size() == 1
                          ? decided.beyond[0].message
                          : fmt::format("{} limits are exceeded", decided.beyond.size()),
                      decided.beyond.size() == 1 ? std::vector<Problem>{} : decided.beyond,
                      next,
                      {}});
  }
  if (decided.selection.met) return {};
  std::vector<Problem> problems;
  for (const std::string& shortage : decided.selection.shortages)
    problems.push_back({"", shortage, ""});
  return fail(Error{Code::unresolvable,
                    fmt::format("the machines for {} are not there; none was taken", ask.name),
                    std::move(problems),
                    next,
                    {}});
}

HeldMachine held_of(const MachineVerdict& verdict, const Machine& machine,
                    const Selection& selection) {
  HeldMachine held;
  held.as = verdict.as;
  held.machine = {machine.id,
                  machine.address.empty() ? machine.id : machine.address,
                  machine.architecture,
                  verdict.gpus,
                  machine.family.is_known() ? machine.family.value.shown : std::string(),
                  std::ranges::binary_search(selection.control_plane, machine.id),
                  std::ranges::binary_search(selection.workers, machine.id)};
  return held;
}

Result<std::vector<HeldMachine>> held_by(Transaction& tx, const Selection& selection) {
  EXA_ASSIGN(const FleetPicture fleet, load_fleet(tx));
  const std::set<std::string> ids = chosen_ids(selection);
  std::vector<HeldMachine> held;
  for (const MachineVerdict& verdict : selection.machines) {
    if (!ids.contains(verdict.id)) continue;
    const auto at = std::ranges::find(fleet.machines, verdict.id, [](const StoredMachine& each) {
      return std::string_view(each.machine.id);
    });
    if (at != fleet.machines.end()) held.push_back(held_of(verdict, at->machine, selection));
  }
  return held;
}

bool same_machines(const std::vector<HeldMachine>& a, const std::vector<HeldMachine>& b) {
  return std::ranges::equal(a, b, [](const HeldMachine& x, const HeldMachine& y) {
    return x.machine.id == y.machine.id && x.machine.gpus == y.machine.gpus && x.as == y.as;
  });
}

// The project's own profile may change under a platform: what it was chosen by stays with it.
MlPlatform platform_of(Service& service, const Caller& caller, const PlatformAsk& ask,
                       const PlatformDecision& decided, std::vector<HeldMachine> machines,
                       const std::optional<MlPlatform>& before) {
  MlPlatform platform;
  if (before) platform = *before;
  platform.project = ask.project;
  platform.name = ask.name;
  platform.mode = ask.spec.mode;
  platform.compute_profile = decided.terms.compute_profile;
  platform.profile = decided.terms.profile_document;
  if (!ask.spec.override_.empty()) platform.profile["override"] = ask.spec.override_;
  platform.workload_profile = ask.spec.workload_profile_ref;
  platform.gpus = ask.spec.gpus;
  platform.minimum_workers = decided.terms.minimum.count;
  platform.minimum_from = decided.terms.minimum.from;
  platform.leftover_gpus = decided.selection.leftover_gpus;
  platform.filler_gpus = decided.selection.filler_gpus;
  platform.provisioner = decided.terms.provisioner;
  platform.updated_at = service.now();
  if (before) {
    platform.generation = before->generation + 1;
  } else {
    platform.id = service.around().new_id();
    platform.created_at = service.now();
    platform.created_by = caller.principal.name;
  }
  platform.machines = std::move(machines);
  return platform;
}

std::string audit_name(const MlPlatform& platform) {
  return platform.key();
}

Result<void> require_not_busy(const MlPlatform& platform) {
  const bool busy =
      platform.state == PlatformState::provisioning || platform.state == PlatformState::deleting;
  if (!busy) return {};
  return fail(Code::conflict,
              fmt::format("platform {} is {}; where that run was cut off, it can be run again",
                          platform.name, name(platform.state)),
              fmt::format("exa mlplatform provision {}", platform.name));
}

json::object created_json(const MlPlatform& platform, const PlatformDecision& decided) {
  json::object out = to_json(platform);
  out["warnings"] = list_of(decided.terms.minimum.warnings);
  return out;
}

Result<Answer> write_alone(Service& service, const Caller& caller, const PlatformAsk& ask,
                           bool is_new) {
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_TRY(require_project(tx, ask.project));
    EXA_ASSIGN(const auto before, load_platform(tx, ask.project, ask.name));
    if (is_new && before) {
      return fail(Code::conflict,
                  fmt::format("there is an ML platform \"{}\" in project {} already", ask.name,
                              ask.project),
                  fmt::format("exa mlplatform scale {}", ask.name));
    }
    if (!is_new) EXA_TRY(find_platform(tx, ask.project, ask.name));
    Answer answer;
    EXA_ASSIGN(const ManifestChange change,
               write_platform(service, tx, caller, deed, ask, answer.body));
    deed.object_kind = "manifests";
    deed.object_name = fmt::format("mlplatform/{}", ask.name);
    deed.project = ask.project;
    answer.status = is_new ? 201 : 200;
    const bool builds = !text_or(answer.body, "provisioner", "").empty();
    if (change != ManifestChange::unchanged)
      answer.notices.push_back(builds ? fmt::format("next: exa mlplatform provision {}", ask.name)
                                      : fmt::format("next: exa mlplatform render {}", ask.name));
    return answer;
  });
}

}  // namespace

Result<Answer> plan_platform(Service& service, const Caller& caller, const PlatformAsk& ask) {
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    EXA_TRY(require_project(tx, ask.project));
    EXA_ASSIGN(const auto before, load_platform(tx, ask.project, ask.name));
    EXA_ASSIGN(const PlatformDecision decided, decide_platform(service, tx, caller, ask, before));
    Answer answer;
    answer.body = plan_json(ask, decided);
    if (!decided.beyond.empty())
      answer.exit_code = info(Code::blocked).exit_code;
    else if (!decided.selection.met)
      answer.exit_code = info(Code::unresolvable).exit_code;
    return answer;
  });
}

Result<ManifestChange> write_platform(Service& service, Transaction& tx, const Caller& caller,
                                      Deed& deed, const PlatformAsk& ask, json::object& shown) {
  EXA_ASSIGN(const auto before, load_platform(tx, ask.project, ask.name));
  if (before) EXA_TRY(require_not_busy(*before));
  if (before && before->mode != ask.spec.mode)
    return fail(invalid("MLPlatform " + ask.name,
                        {{"/spec/mode", "cannot be changed: machines are held by it", ""}}));
  EXA_ASSIGN(const PlatformDecision decided, decide_platform(service, tx, caller, ask, before));
  EXA_TRY(require_met(ask, decided));
  EXA_ASSIGN(auto machines, held_by(tx, decided.selection));
  EXA_ASSIGN(const Manifest manifest, manifest_of(ask.document));
  EXA_ASSIGN(const ManifestChange document,
             write_manifest(service, tx, caller, deed, ask.project, manifest));
  if (before && document == ManifestChange::unchanged &&
      same_machines(before->machines, machines)) {
    shown = created_json(*before, decided);
    return ManifestChange::unchanged;
  }
  const MlPlatform platform =
      platform_of(service, caller, ask, decided, std::move(machines), before);
  EXA_TRY(put_platform(tx, platform));
  also_wrote(deed, "ml_platform", audit_name(platform), to_json(platform));
  shown = created_json(platform, decided);
  return before ? ManifestChange::changed : ManifestChange::created;
}

Result<Answer> create_platform(Service& service, const Caller& caller, const PlatformAsk& ask) {
  return write_alone(service, caller, ask, true);
}

Result<Answer> scale_platform(Service& service, const Caller& caller, const PlatformAsk& ask) {
  return write_alone(service, caller, ask, false);
}

Result<Answer> release_platform(Service& service, const Caller& caller, const std::string& project,
                                const std::string& name, bool abandon, const std::string& reason) {
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_TRY(require_project(tx, project));
    EXA_ASSIGN(const MlPlatform platform, find_platform(tx, project, name));
    if (!abandon) EXA_TRY(require_not_busy(platform));
    const bool built = platform.built_generation > 0 || platform.state == PlatformState::failed;
    if (built && !platform.provisioner.empty() && !abandon) {
      return fail(Code::in_use,
                  fmt::format("platform {} was built by {} and is to be taken down first", name,
                              platform.provisioner),
                  fmt::format("exa mlplatform delete {}", name));
    }
    EXA_TRY(drop_platform(tx, platform));
    also_removed(deed, "ml_platform", audit_name(platform));
    EXA_ASSIGN(const auto manifest, load_manifest(tx, project, PaletteKind::ml_platform, name));
    if (manifest) EXA_TRY(drop_manifest(tx, deed, *manifest));
    deed.object_kind = "manifests";
    deed.object_name = fmt::format("mlplatform/{}", name);
    deed.project = project;
    deed.reason = reason;
    deed.details["released"] = static_cast<int64_t>(platform.machines.size());
    Answer answer;
    answer.body = {{"kind", "MLPlatform"}, {"name", name}, {"project", project}, {"deleted", true}};
    answer.notices.push_back(fmt::format(
        "{} given back", counted(static_cast<int64_t>(platform.machines.size()), "machine")));
    return answer;
  });
}

Result<Answer> list_platforms(Service& service, const std::string& project) {
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    EXA_TRY(require_project(tx, project));
    EXA_ASSIGN(const auto platforms, load_platforms(tx));
    json::array items;
    for (const MlPlatform& platform : platforms)
      if (platform.project == project) items.emplace_back(to_json(platform));
    Answer answer;
    answer.body = {{"items", std::move(items)}, {"next_cursor", nullptr}};
    return answer;
  });
}

Result<Answer> show_platform(Service& service, const std::string& project,
                             const std::string& name) {
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    EXA_TRY(require_project(tx, project));
    EXA_ASSIGN(const MlPlatform platform, find_platform(tx, project, name));
    Answer answer;
    answer.body = to_json(platform);
    return answer;
  });
}

json::object platform_document(const std::string& project, const std::string& name,
                               const MlPlatformSpec& spec) {
  json::object out;
  if (!spec.compute_profile_ref.empty() || !spec.override_.empty()) {
    json::object reference;
    if (!spec.compute_profile_ref.empty()) reference["name"] = spec.compute_profile_ref;
    if (!spec.override_.empty()) reference["override"] = spec.override_;
    out["computeProfileRef"] = std::move(reference);
  }
  if (!spec.workload_profile_ref.empty())
    out["workloadProfileRef"] = json::object{{"name", spec.workload_profile_ref}};
  json::object gpus;
  for (const auto& [family, count] : spec.gpus) gpus[family.shown] = count;
  if (!gpus.empty()) out["gpus"] = std::move(gpus);
  if (spec.gpu_memory_bytes > 0)
    out["gpuMemory"] = fmt::format("{}M", spec.gpu_memory_bytes / 1'000'000);
  out["mode"] = exa::name(spec.mode);
  if (!spec.architecture.empty()) out["architecture"] = spec.architecture;
  const auto groups = [](const ResourceGroups& list) {
    json::object object;
    for (const auto& [key, value] : list) object[key] = value;
    return object;
  };
  if (!spec.control_plane_groups.empty())
    out["controlPlaneResourceGroups"] = groups(spec.control_plane_groups);
  if (!spec.worker_groups.empty()) out["workerResourceGroups"] = groups(spec.worker_groups);
  return {{"apiVersion", info(PaletteKind::ml_platform).api_version},
          {"kind", info(PaletteKind::ml_platform).name},
          {"metadata", json::object{{"name", name}, {"namespace", project}}},
          {"spec", std::move(out)}};
}

}  // namespace exa
