// Instances whose template a scheduler runs: launches of the kind "instance" and the same name.
#include <fmt/format.h>

#include "base/json_or_null.h"
#include "service/instance_parts.h"
#include "service/launch.h"
#include "service/launch_parts.h"

namespace exa {
namespace {

constexpr Surface kKind = Surface::any;

// A shape of the project's own is named without it.
std::string profile_for(const ComputeInstance& instance) {
  const std::string own = instance.project + "/";
  return instance.hardware_profile.starts_with(own) ? instance.hardware_profile.substr(own.size())
                                                    : instance.hardware_profile;
}

Variables environment_of(const LaunchTarget& target) {
  const std::string folder = target.folder.empty() ? "" : target.folder + "/";
  return {{"EXA_ACTION", "apply"},
          {"EXA_INPUTS", folder + "inputs.json"},
          {"EXA_OUTPUTS", folder + "outputs.json"}};
}

Result<LaunchRequest> request_of(const InstanceJob& job, const json::object& inputs) {
  const ComputeInstance& instance = job.instance;
  LaunchRequest request;
  request.kind = kKind;
  request.project = instance.project;
  request.name = instance.name;
  request.kept = {instance.shape.value_or(Shape{}), profile_for(instance), {}, {}};
  request.cluster = job.environment.cluster;
  request.image = job.environment.image;
  request.options = job.environment.options;
  EXA_ASSIGN(std::vector<RenderedFile> files, files_of(job.environment));
  files.push_back({"inputs.json", to_text(inputs) + "\n"});
  const ProvisionFile about = instance_file(instance);
  files.push_back({about.name, about.text});
  request.program = [files](const Shape&, const LaunchTarget& target) -> Result<Program> {
    Program program;
    program.command = {"sh", target.folder.empty() ? "run" : target.folder + "/run", "apply"};
    program.environment = environment_of(target);
    program.files = files;
    return program;
  };
  return request;
}

Result<std::optional<Launch>> launch_of(Service& service, const ComputeInstance& instance) {
  return read_value<std::optional<Launch>>(service.store(), [&](Transaction& tx) {
    return load_launch(tx, instance.project, kKind, instance.name);
  });
}

// What its placement says an hour costs, where its profile says nothing.
std::optional<Money> price_in(const json::object& answer) {
  const json::value whole(answer);
  boost::system::error_code error;
  const json::value* price =
      whole.find_pointer("/plan/placement/placement/cost_of_ask_per_hour", error);
  const json::value* currency = whole.find_pointer("/plan/placement/placement/currency", error);
  if (price == nullptr || !price->is_number()) return std::nullopt;
  auto money = parse_money(to_text(*price), currency != nullptr && currency->is_string()
                                                ? std::string_view(currency->get_string())
                                                : kDefaultCurrency);
  return money ? std::optional(*money) : std::nullopt;
}

// Every step of it has entries of its own: the launch's.
Result<ComputeInstance> after_launch(Service& service, const Caller& caller, const InstanceJob& job,
                                     Result<Answer> answer, std::string_view action) {
  ComputeInstance instance = job.instance;
  instance.last_run->ended_at = service.now();
  if (answer) {
    instance.last_run->outcome = "succeeded";
    if (!instance.price_per_hour) instance.price_per_hour = price_in(answer->body);
    EXA_ASSIGN(const auto launch, launch_of(service, instance));
    if (launch) follow_launch(instance, *launch, service.now());
  } else {
    instance.last_run->outcome = "failed";
    instance.last_run->reason = answer.error().message;
    instance.reason = answer.error().message;
    instance.state = InstanceState::failed;
  }
  EXA_TRY(note_instance(service, caller, job.instance, instance, {{"run", action}}));
  return instance;
}

Result<InstanceJob> begun(Service& service, const Caller& caller, InstanceJob job,
                          std::string_view action, InstanceState during) {
  const ComputeInstance before = job.instance;
  job.instance.state = during;
  job.instance.reason.clear();
  job.instance.last_run = InstanceRun{std::string(action), service.now(), {}, "", "", 0, 0};
  EXA_TRY(note_instance(service, caller, before, job.instance, {{"run", action}}));
  return job;
}

}  // namespace

bool is_job(const ComputeInstance& instance) {
  const auto driver = find_template_driver(instance.driver);
  return driver && !provision_driver(*driver);
}

void follow_launch(ComputeInstance& instance, const Launch& launch, Time now) {
  instance.lease = launch.lease;
  instance.decision = launch.decision;
  instance.cluster = launch.cluster;
  instance.reason = launch.reason;
  if (launch.started_at) starts_running(instance, *launch.started_at);
  using enum InstanceState;
  switch (launch.state) {
    case LaunchState::submitting:
    case LaunchState::pending:
      if (instance.state != starting) instance.state = launching;
      return;
    case LaunchState::running:
      instance.state = launch.ending ? stopping : running;
      return;
    case LaunchState::succeeded:
      instance.state = stopped;
      if (instance.reason.empty()) instance.reason = "its job ended";
      break;
    case LaunchState::stopped:
      instance.state = stopped;
      break;
    case LaunchState::failed:
    case LaunchState::cancelled:
      instance.state = failed;
      if (instance.reason.empty()) instance.reason = name(launch.state);
      break;
  }
  if (instance.running_since) ends_running(instance, launch.ended_at.value_or(now));
}

Result<Answer> rehearse_job(Service& service, const Caller& caller, const InstanceJob& job,
                            const json::object& inputs) {
  EXA_ASSIGN(const LaunchRequest request, request_of(job, inputs));
  Caller rehearsing = without_key(caller);
  rehearsing.dry_run = true;
  return start_launch(service, rehearsing, request);
}

Result<ComputeInstance> launch_job(Service& service, const Caller& caller, InstanceJob job) {
  EXA_ASSIGN(const json::object inputs, kept_inputs(service, job));
  EXA_ASSIGN(const LaunchRequest request, request_of(job, inputs));
  EXA_ASSIGN(job, begun(service, caller, std::move(job), "apply", InstanceState::launching));
  return after_launch(service, caller, job, start_launch(service, without_key(caller), request),
                      "apply");
}

Result<ComputeInstance> stop_job(Service& service, const Caller& caller, InstanceJob job) {
  EXA_ASSIGN(job, begun(service, caller, std::move(job), "stop", InstanceState::stopping));
  const ComputeInstance& instance = job.instance;
  return after_launch(
      service, caller, job,
      stop_launch(service, without_key(caller), instance.project, kKind, instance.name), "stop");
}

Result<ComputeInstance> restart_job(Service& service, const Caller& caller, InstanceJob job) {
  EXA_ASSIGN(const auto launch, launch_of(service, job.instance));
  if (!launch) return launch_job(service, caller, std::move(job));
  EXA_ASSIGN(job, begun(service, caller, std::move(job), "start", InstanceState::starting));
  const ComputeInstance& instance = job.instance;
  return after_launch(
      service, caller, job,
      restart_launch(service, without_key(caller), instance.project, kKind, instance.name, {}),
      "start");
}

Result<void> delete_job(Service& service, const Caller& caller, const ComputeInstance& instance) {
  EXA_ASSIGN(const auto launch, launch_of(service, instance));
  if (!launch) return {};
  EXA_TRY(delete_launch(service, without_key(caller), instance.project, kKind, instance.name));
  return {};
}

Result<std::string> job_logs(Service& service, const Caller& caller,
                             const ComputeInstance& instance, int64_t lines) {
  EXA_ASSIGN(const Answer answer,
             launch_logs(service, caller, instance.project, kKind, instance.name, lines));
  return std::string(text_or(answer.body, "text", ""));
}

Result<json::object> job_outputs(Service& service, const Caller& caller,
                                 const ComputeInstance& instance) {
  EXA_ASSIGN(const auto launch, launch_of(service, instance));
  if (!launch || launch->job.empty()) return json::object();
  EXA_ASSIGN(Aim aim, aim_of(service, caller, *launch));
  const auto text = aim.driver->outputs(launch->spec, launch->job);
  if (!text && text.error().code == Code::not_found) return json::object();
  if (!text) return fail(text.error());
  EXA_ASSIGN(const json::value read, parse_json(*text, "what its job put out"));
  if (read.is_object()) return read.get_object();
  return fail(Code::invalid_input, "what its job put out is not a JSON object",
              fmt::format("exa instance logs {}", instance.name));
}

Result<ComputeInstance> look_at_job(Service& service, const ComputeInstance& stored,
                                    Progress& progress, std::string& failure) {
  const Caller caller = observer("instance.observe", progress);
  const auto shown = show_launch(service, caller, stored.project, kKind, stored.name);
  ComputeInstance instance = stored;
  if (!shown) {
    failure = shown.error().message;
    return instance;
  }
  if (!shown->notices.empty()) failure = shown->notices.front();
  EXA_ASSIGN(const auto launch, launch_of(service, stored));
  if (launch) follow_launch(instance, *launch, service.now());
  return instance;
}

}  // namespace exa
