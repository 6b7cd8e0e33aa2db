// Runs of an instance's template: what goes in, what comes out, and how the instance stands after.
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "base/json_or_null.h"
#include "base/private_file.h"
#include "base/private_folder.h"
#include "service/instance_parts.h"

namespace exa {
namespace {

namespace fs = std::filesystem;

// Beside the work folder, where the template's programs may not write.
std::string inputs_file(Service& service, const ComputeInstance& instance) {
  return instance_folder(service, instance) + "/inputs.json";
}

// What the log and a reason must never show.
std::vector<std::string> secrets_in(const ComputeSku& sku, const json::object& inputs) {
  std::vector<std::string> secrets;
  for (const InputSetting& setting : sku.inputs) {
    const json::value* value = inputs.if_contains(setting.name);
    if (setting.type == InputType::secret && value != nullptr && value->is_string())
      secrets.emplace_back(value->get_string());
  }
  return secrets;
}

Result<ProvisionRun> run_of(Service& service, const InstanceJob& job, ProvisionAction action) {
  ProvisionRun run;
  EXA_ASSERT(provision_driver(job.environment.driver));
  run.driver = *provision_driver(job.environment.driver);
  run.action = action;
  run.template_folder = job.environment.folder;
  run.work_folder = work_folder(service, job.instance);
  EXA_ASSIGN(run.inputs, kept_inputs(service, job));
  run.secrets = secrets_in(job.sku, run.inputs);
  run.files.push_back(instance_file(job.instance));
  if (action == ProvisionAction::apply)
    for (const DeclaredOutput& output : job.environment.outputs) run.outputs.push_back(output.name);
  run.time_limit = job.environment.time_limit;
  // what is taken down is taken down with what there is
  if (action == ProvisionAction::apply || action == ProvisionAction::start)
    run.check_copy = [environment = job.environment](const std::string& copied) {
      return check_unchanged(environment, copied);
    };
  return run;
}

InstanceState state_after(ProvisionAction action) {
  switch (action) {
    case ProvisionAction::apply:
    case ProvisionAction::start:
      return InstanceState::running;
    case ProvisionAction::stop:
      return InstanceState::stopped;
    case ProvisionAction::destroy:
      return InstanceState::deleting;
  }
  return InstanceState::failed;
}

void note_result(ComputeInstance& instance, const InstanceJob& job, ProvisionAction action,
                 const ProvisionResult& result) {
  InstanceRun& run = *instance.last_run;
  run.ended_at = result.ended;
  run.outcome = name_of(result.outcome);
  run.reason = result.reason;
  run.log_cut_bytes = result.log_cut_bytes;
  run.left_behind = result.left_behind;
  instance.reason = result.reason;
  if (result.outcome != ProvisionOutcome::succeeded) {
    instance.state = InstanceState::failed;
    return;
  }
  instance.state = state_after(action);
  if (instance.state == InstanceState::running) starts_running(instance, result.ended);
  if (instance.state == InstanceState::stopped || instance.state == InstanceState::deleting)
    ends_running(instance, result.ended);
  if (action == ProvisionAction::apply || !result.outputs.empty())
    take_outputs(instance, job, result.outputs);
}

Result<void> keep_result(Service& service, const Caller& caller, const ComputeInstance& before,
                         const ComputeInstance& instance) {
  EXA_TRY(service.mutate(without_key(caller), [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    const bool over =
        instance.state == InstanceState::stopped || instance.state == InstanceState::deleting;
    if (over) {
      EXA_TRY(give_capacity_back(tx, deed, instance, service.now()));
    }
    EXA_TRY(keep_instance(tx, deed, before, instance));
    deed.details["run"] = instance.last_run->action;
    deed.details["outcome"] = instance.last_run->outcome;
    return Answer{};
  }));
  return {};
}

}  // namespace

std::string instance_folder(Service& service, const ComputeInstance& instance) {
  return fmt::format("{}/instances/{}", service.trail().folder().string(), instance.id);
}

std::string work_folder(Service& service, const ComputeInstance& instance) {
  return instance_folder(service, instance) + "/work";
}

std::string text_in_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

ProvisionFile instance_file(const ComputeInstance& instance) {
  const json::object all = to_json(instance);
  json::object told;
  for (const std::string_view key :
       {"name", "project", "id", "owner", "compute_profile", "environment_template", "labels",
        "annotations", "hardware_profile", "shape", "pool", "cluster", "lease"})
    told[key] = all.at(key);
  return {"instance.json", to_text(told) + "\n"};
}

Result<void> keep_inputs(Service& service, const ComputeInstance& instance,
                         const ResolvedInputs& inputs) {
  EXA_TRY(make_private_folder(instance_folder(service, instance)));
  return replace_file(inputs_file(service, instance), to_text(revealed(inputs)), 0600);
}

Result<json::object> kept_inputs(Service& service, const InstanceJob& job) {
  const std::string kept = text_in_file(inputs_file(service, job.instance));
  if (!kept.empty()) {
    EXA_ASSIGN(const json::value read, parse_json(kept, "the inputs that were kept"));
    if (read.is_object()) return read.get_object();
  }
  json::object inputs;
  for (const auto& member : job.instance.inputs)
    if (const json::value* value = find(member.value(), "value")) inputs[member.key()] = *value;
  for (const InputSetting& setting : job.sku.inputs) {
    if (setting.type != InputType::secret || !inputs.contains(setting.name)) continue;
    return fail(Code::conflict,
                fmt::format("the secret input {} of {} is not here: it is kept by the server that "
                            "launched it",
                            setting.name, job.instance.name),
                "run it there, or delete the instance with --abandon and launch it again");
  }
  return inputs;
}

void drop_folder(Service& service, const ComputeInstance& instance) {
  std::error_code ignored;  // what cannot be removed is of no use to anybody
  fs::remove_all(instance_folder(service, instance), ignored);
}

Result<ComputeInstance> run_template(Service& service, const Caller& caller, InstanceJob job,
                                     ProvisionAction action, InstanceState during) {
  EXA_ASSIGN(const ProvisionRun run, run_of(service, job, action));
  const ComputeInstance before = job.instance;
  ComputeInstance& instance = job.instance;
  instance.state = during;
  instance.reason.clear();
  instance.last_run = InstanceRun{std::string(name_of(action)), service.now(), {}, "", "", 0, 0};
  EXA_TRY(note_instance(service, caller, before, instance, {{"run", name_of(action)}}));
  const ComputeInstance begun = instance;
  const auto result = run_provision(run, service.around().clock, *caller.progress);
  if (result) {
    note_result(instance, job, action, *result);
  } else {
    // nothing ran: what was stopped still is
    const bool was_stopped = before.state == InstanceState::stopped;
    instance.state = was_stopped ? InstanceState::stopped : InstanceState::failed;
    instance.reason = result.error().message;
    for (const Problem& problem : result.error().problems)
      instance.reason += fmt::format("; {}: {}", problem.where, problem.message);
    instance.last_run->ended_at = service.now();
    instance.last_run->outcome = "failed";
    instance.last_run->reason = instance.reason;
  }
  EXA_TRY(keep_result(service, caller, begun, instance));
  return instance;
}

}  // namespace exa
