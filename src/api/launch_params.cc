#include "api/launch_params.h"

#include <fmt/format.h>

#include "base/quantity.h"
#include "profile/validate.h"

namespace exa {
namespace {

// "KEY=VALUE"; nullopt: it has no key.
std::optional<std::pair<std::string, std::string>> variable_of(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) return std::nullopt;
  return std::pair(std::string(text.substr(0, equals)), std::string(text.substr(equals + 1)));
}

void check_environment(const json::object& args, std::vector<Problem>& problems) {
  const json::value* list = args.if_contains("env");
  if (list == nullptr || !list->is_array()) return;
  for (size_t i = 0; i < list->get_array().size(); ++i) {
    const json::value& each = list->get_array()[i];
    if (each.is_string() && !variable_of(each.get_string()))
      problems.push_back({fmt::format("/env/{}", i), "is not KEY=VALUE", ""});
  }
}

// Problems of the fields that were given; that others are missing is for the profile to mend.
void check_shape(const json::object& args, std::vector<Problem>& problems) {
  json::object given;
  for (const std::string_view field : shape_fields())
    if (const json::value* value = args.if_contains(field)) given[field] = *value;
  const bool all = given.contains("accelerator_family") || args.contains("hardware_profile");
  if (!given.contains("accelerator_family")) given["accelerator_family"] = "nvidia";
  for (Problem& problem : problems_of_shape(given)) {
    const std::string field = problem.where.empty() ? "" : problem.where.substr(1);
    // contradictions are judged with the profile, in the use case
    if (!all || args.contains(field)) problems.push_back(std::move(problem));
  }
}

Param body(std::string_view name, std::string_view flag, std::string_view help) {
  return {.name = name, .in = In::body, .flag = flag, .help = help};
}

Param body(Kind kind, std::string_view name, std::string_view flag, std::string_view help) {
  return {.name = name, .in = In::body, .kind = kind, .flag = flag, .help = help};
}

}  // namespace

std::vector<Param> shape_params(const GpuFlag& gpu, bool with_nodes) {
  std::vector<Param> params = {
      {.name = "hardware_profile",
       .in = In::body,
       .flag = "--hardware-profile",
       .help = "profile that fills what is not given here: name, name@3, name@label",
       .completes = "profile"},
      body(Kind::integer, "gpu_count", gpu.flag, gpu.help),
      body(Kind::decimal, "gpu_fraction", "--gpu-fraction", "share of each GPU, e.g. 0.5"),
      body("mig_profile", "--mig-profile", "MIG profile, e.g. 1g.10gb; --gpu counts instances"),
      body(Kind::decimal, "cpu", "--cpu", "cores on each node"),
      body(Kind::decimal, "memory_gb", "--memory-gb", "GiB of memory on each node"),
      {.name = "accelerator_family",
       .in = In::body,
       .kind = Kind::choice,
       .flag = "--accelerator-family",
       .help = "family of the devices (default nvidia where GPUs are asked for, else cpu)",
       .choices = family_choices()},
      body("accelerator_model_hint", "--accelerator-model-hint", "model, e.g. A100-80GB")};
  if (with_nodes) params.push_back(body(Kind::integer, "nodes", "--nodes", "nodes (default 1)"));
  return params;
}

std::vector<Param> target_params() {
  static const std::vector<std::string_view> kRequire = {"verified"};
  static const std::vector<std::string_view> kBackends = {"process", "compose"};
  return {{.name = "cluster",
           .in = In::body,
           .flag = "--cluster",
           .help = "where it runs: a cluster, or auto (default: this machine)",
           .completes = "cluster"},
          {.name = "backend",
           .in = In::body,
           .kind = Kind::choice,
           .flag = "--backend",
           .help = "how it runs where no scheduler is: as a process (default), or in a container",
           .choices = kBackends},
          {.name = "require",
           .in = In::body,
           .kind = Kind::choice,
           .flag = "--require",
           .help = "refuse unless the cluster was seen to have all of it",
           .choices = kRequire},
          body("residency", "--residency", "class of the data: open, eu-only, restricted, …"),
          body("dataset_residency", "--dataset-residency", "class of the dataset"),
          body("folder", "--folder",
               "absolute folder on the target (default exa/… in the home folder there)"),
          body("image", "--image", "container image, where the target runs containers"),
          body(Kind::words, "env", "--env", "KEY=VALUE for its environment; may be repeated"),
          body("device", "--device", "the cluster's own word for the device, e.g. gpu:a100"),
          body("partition", "--partition", "Slurm partition or Flux queue"),
          body("account", "--account", "Slurm account or Flux bank"),
          body("qos", "--qos", "Slurm quality of service"),
          body("namespace", "--namespace", "Kubernetes namespace"),
          body(Kind::duration, "time_limit", "--time-limit", "end it after this long, e.g. 8h"),
          project_param(),
          dry_run_param()};
}

std::vector<Param> joined(std::vector<std::vector<Param>> groups) {
  std::vector<Param> all;
  for (auto& group : groups)
    for (Param& param : group) all.push_back(std::move(param));
  return all;
}

Param launch_name_param(std::string_view what, std::string_view completes) {
  return {.name = "name", .in = In::path, .help = what, .required = true, .completes = completes};
}

json::object shape_args_of(const Call& call) {
  json::object given;
  for (const std::string_view field : shape_fields())
    if (const json::value* value = call.args.if_contains(field)) given[field] = *value;
  return given;
}

Result<Variables> environment_arg(const Call& call) {
  Variables environment;
  for (const std::string& text : texts_arg(call, "env")) {
    auto variable = variable_of(text);
    EXA_ASSERT(variable);  // check_launch has seen it
    environment.push_back(*std::move(variable));
  }
  return environment;
}

Result<LaunchRequest> launch_request(const Call& call) {
  LaunchRequest what;
  what.project = call.text("project");
  what.name = call.text("name");
  what.hardware_profile = call.text("hardware_profile");
  what.given = shape_args_of(call);
  what.cluster = call.text("cluster");
  what.backend = call.text("backend");
  what.require = call.text("require");
  what.residency = call.text("residency");
  what.dataset_residency = call.text("dataset_residency");
  what.folder = call.text("folder");
  what.image = call.text("image");
  what.options.device = call.text("device");
  what.options.partition = call.text("partition");
  what.options.account = call.text("account");
  what.options.qos = call.text("qos");
  what.options.name_space = call.text("namespace");
  if (call.has("time_limit")) {
    EXA_ASSIGN(what.options.time_limit, parse_duration(call.text("time_limit")));
  }
  return what;
}

std::vector<Problem> check_launch(const json::object& args) {
  std::vector<Problem> problems;
  const std::string_view name = text_or(args, "name", "");
  if (!name.empty()) {
    if (const auto checked = check_launch_name(name); !checked)
      problems.push_back(checked.error().problems[0]);
  }
  check_shape(args, problems);
  check_environment(args, problems);
  return problems;
}

}  // namespace exa
