#include "service/platform_build.h"

#include <fstream>
#include <iterator>
#include <memory>

#include <fmt/format.h>

#include "base/text.h"
#include "service/outside_work.h"
#include "service/profile_rows.h"

namespace exa {
namespace {

std::string work_folder(Service& service, const MlPlatform& platform) {
  // ids are never given twice, so that a name that is taken again finds nothing of the one before
  return fmt::format("{}/platforms/{}", service.trail().folder().string(), platform.id);
}

Result<PlatformDefinition> definition_of(const MlPlatform& platform) {
  PlatformDefinition definition;
  definition.project = platform.project;
  definition.name = platform.name;
  definition.id = platform.id;
  definition.mode = platform.mode;
  json::object document = platform.profile;
  json::object over;
  if (const json::value* given = document.if_contains("override");
      given != nullptr && given->is_object())
    over = given->get_object();
  document.erase("override");
  EXA_ASSIGN(const Manifest profile, manifest_of(document));
  EXA_ASSIGN(definition.profile, overridden(profile, over));
  definition.workload_profile = platform.workload_profile;
  for (const HeldMachine& held : platform.machines) definition.machines.push_back(held.machine);
  return definition;
}

// Writes the platform as it is now, with an entry.
Result<Answer> keep(Service& service, const Caller& caller, const MlPlatform& platform,
                    json::object details) {
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_ASSIGN(const MlPlatform before, find_platform(tx, platform.project, platform.name));
    EXA_TRY(put_platform(tx, platform));
    deed.object_kind = "ml_platform";
    deed.object_name = platform.key();
    deed.project = platform.project;
    deed.before = to_json(before);
    deed.after = to_json(platform);
    deed.details = details;
    Answer answer;
    answer.body = to_json(platform);
    return answer;
  });
}

struct Job {
  MlPlatform platform;
  Provisioner provisioner;
  ProvisionRun run;
};

Result<Job> job_for(Service& service, const std::string& project, const std::string& name,
                    ProvisionAction action) {
  Job job;
  EXA_TRY(service.store().read([&](Transaction& tx) -> Result<void> {
    EXA_TRY(require_project(tx, project));
    EXA_ASSIGN(job.platform, find_platform(tx, project, name));
    if (job.platform.provisioner.empty()) {
      return fail(Code::conflict,
                  fmt::format("no provisioner builds platform {}: the settings name none", name),
                  fmt::format("exa mlplatform render {} prints the files to build it from", name));
    }
    EXA_ASSIGN(job.provisioner, find_provisioner(tx, job.platform.provisioner));
    return {};
  }));
  EXA_ASSIGN(const PlatformDefinition definition, definition_of(job.platform));
  ProvisionRun& run = job.run;
  run.driver = job.provisioner.driver;
  run.action = action;
  run.template_folder = job.provisioner.folder;
  run.work_folder = work_folder(service, job.platform);
  run.inputs = {{"project", project},
                {"name", name},
                {"id", job.platform.id},
                {"generation", job.platform.generation}};
  EXA_ASSIGN(auto files, cluster_definition(definition));
  for (DefinitionFile& file : files)
    run.files.push_back({std::move(file.name), std::move(file.text)});
  run.outputs =
      action == ProvisionAction::apply ? job.provisioner.outputs : std::vector<std::string>();
  run.time_limit = job.provisioner.time_limit;
  const auto problems = check_driver(run.driver, action, run.template_folder);
  if (!problems.empty())
    return fail(Error{Code::not_found,
                      fmt::format("provisioner {} cannot run here", job.provisioner.name),
                      problems,
                      "exa provisioner list",
                      {}});
  return job;
}

// Whoever works on a platform owns its name meanwhile, over all replicas; a process that dies gives
// it up.
Result<std::unique_ptr<Ownership>> own(Service& service, const MlPlatform& platform) {
  EXA_ASSIGN(auto owned, own_by_id(service, "platform", platform.id));
  if (owned) return owned;
  return fail(Code::conflict,
              fmt::format("a run of platform {} is going on: one at a time", platform.name),
              fmt::format("exa mlplatform show {}", platform.name));
}

void note_outcome(MlPlatform& platform, const ProvisionResult& result) {
  PlatformRun& run = *platform.last_run;
  run.ended_at = result.ended;
  run.succeeded = result.outcome == ProvisionOutcome::succeeded;
  run.reason = result.reason;
  run.outputs = result.outputs;
  platform.reason = result.reason;
  if (!run.succeeded) platform.state = PlatformState::failed;
}

// The run between its two entries. The platform is kept as it ended.
Result<MlPlatform> run_job(Service& service, const Caller& caller, Job job, PlatformState during) {
  const Caller entries = without_key(caller);
  MlPlatform platform = job.platform;
  platform.state = during;
  platform.reason.clear();
  platform.last_run =
      PlatformRun{std::string(name_of(job.run.action)), service.now(), {}, false, "", {}};
  EXA_TRY(keep(service, entries, platform, {{"run", name_of(job.run.action)}}));
  const auto result = run_provision(job.run, service.around().clock, *caller.progress);
  if (!result) {
    // somebody else's run goes on there: what it keeps is the truth
    if (result.error().code == Code::conflict) return fail(result.error());
    platform.state = PlatformState::failed;
    platform.reason = result.error().message;
    platform.last_run->ended_at = service.now();
    platform.last_run->reason = result.error().message;
    EXA_TRY(keep(service, entries, platform, {{"run", name_of(job.run.action)}}));
    return fail(result.error());
  }
  note_outcome(platform, *result);
  if (platform.last_run->succeeded) {
    platform.state = PlatformState::ready;
    if (job.run.action == ProvisionAction::apply) platform.built_generation = platform.generation;
  }
  EXA_TRY(keep(service, entries, platform,
               {{"run", name_of(job.run.action)}, {"outcome", name_of(result->outcome)}}));
  return platform;
}

Answer failed_answer(const MlPlatform& platform, const std::string& again) {
  Answer answer;
  answer.body = to_json(platform);
  answer.exit_code = info(Code::unexpected).exit_code;
  answer.notices.push_back(
      fmt::format("{} failed: {}", platform.last_run->action, platform.last_run->reason));
  answer.notices.push_back(
      fmt::format("exa mlplatform logs {} shows what it printed; again: {}", platform.name, again));
  return answer;
}

}  // namespace

Result<Answer> render_platform(Service& service, const std::string& project,
                               const std::string& name) {
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    EXA_TRY(require_project(tx, project));
    EXA_ASSIGN(const MlPlatform platform, find_platform(tx, project, name));
    EXA_ASSIGN(const PlatformDefinition definition, definition_of(platform));
    json::array files;
    EXA_ASSIGN(const auto defined, cluster_definition(definition));
    for (const DefinitionFile& file : defined)
      files.emplace_back(json::object{{"name", file.name}, {"text", file.text}});
    Answer answer;
    answer.body = {{"name", name}, {"project", project}, {"files", std::move(files)}};
    return answer;
  });
}

Result<Answer> build_platform(Service& service, const Caller& caller, const std::string& project,
                              const std::string& name) {
  EXA_ASSIGN(Job job, job_for(service, project, name, ProvisionAction::apply));
  if (caller.dry_run) {
    Answer answer;
    answer.body = to_json(job.platform);
    return answer;
  }
  EXA_ASSIGN(const auto owned, own(service, job.platform));
  EXA_ASSIGN(const MlPlatform platform,
             run_job(service, caller, std::move(job), PlatformState::provisioning));
  if (!platform.last_run->succeeded)
    return failed_answer(platform, fmt::format("exa mlplatform provision {}", name));
  Answer answer;
  answer.body = to_json(platform);
  return answer;
}

Result<Answer> delete_platform(Service& service, const Caller& caller, const std::string& project,
                               const std::string& name, bool abandon, const std::string& reason) {
  EXA_ASSIGN(const MlPlatform platform,
             read_value<MlPlatform>(service.store(), [&](Transaction& tx) -> Result<MlPlatform> {
               EXA_TRY(require_project(tx, project));
               return find_platform(tx, project, name);
             }));
  std::unique_ptr<Ownership> owned;
  if (!caller.dry_run) {
    EXA_ASSIGN(owned, own(service, platform));
  }
  const bool touched = platform.last_run.has_value() && !platform.provisioner.empty();
  if (touched && !abandon && !caller.dry_run) {
    EXA_ASSIGN(Job job, job_for(service, project, name, ProvisionAction::destroy));
    EXA_ASSIGN(const MlPlatform down,
               run_job(service, caller, std::move(job), PlatformState::deleting));
    if (!down.last_run->succeeded)
      return failed_answer(down, fmt::format("exa mlplatform delete {}", name));
  }
  return release_platform(service, caller, project, name, abandon || touched, reason);
}

Result<Answer> platform_logs(Service& service, const std::string& project,
                             const std::string& name) {
  EXA_ASSIGN(const MlPlatform platform,
             read_value<MlPlatform>(service.store(), [&](Transaction& tx) -> Result<MlPlatform> {
               EXA_TRY(require_project(tx, project));
               return find_platform(tx, project, name);
             }));
  std::ifstream file(work_folder(service, platform) + "/log", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  Answer answer;
  answer.body = {{"name", name}, {"project", project}, {"text", text}};
  if (text.empty()) {
    answer.notices.push_back(platform.last_run ? "it printed nothing here"
                                               : fmt::format("nothing was run for platform {} yet; "
                                                             "next: exa mlplatform provision {}",
                                                             name, name));
  }
  return answer;
}

}  // namespace exa
