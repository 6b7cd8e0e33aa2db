// Ray Serve's configuration. Fields: ray.serve.schema (ServeDeploySchema, ServeApplicationSchema,
// DeploymentSchema, RayActorOptionsSchema); releases before 2.9 refuse keys they do not know, so
// only those are written that all have.
#include <fmt/format.h>

#include "base/quantity.h"
#include "base/text.h"
#include "base/yaml.h"
#include "hardware/catalogue.h"
#include "launch/serving.h"

namespace exa {
namespace {

// ray.util.accelerators, by the series of the catalogue ("" where the name decides). A type that no
// node reports makes replicas wait for ever, so models without a row get none.
struct RayType {
  std::string_view model;  // name or series
  std::string_view type;
};
constexpr RayType kRayTypes[] = {
    {"K80", "K80"},
    {"P100", "P100"},
    {"V100", "V100"},
    {"T4", "T4"},
    {"A10G", "A10G"},
    {"A100", "A100"},
    {"L4", "L4"},
    {"L40S", "L40S"},
    {"H100", "H100"},
    {"H200", "H200"},
    {"H20", "H20"},
    {"B200", "B200"},
    {"MI100", "AMD-Instinct-MI100"},
    {"MI210", "AMD-Instinct-MI210"},
    {"MI250", "AMD-Instinct-MI250X-MI250"},
    {"MI250X", "AMD-Instinct-MI250X"},
    {"MI300A", "AMD-Instinct-MI300A"},
    {"MI300X", "AMD-Instinct-MI300X-OAM"},
    {"MI308X", "AMD-Instinct-MI308X"},
    {"MI325X", "AMD-Instinct-MI325X-OAM"},
    {"Gaudi-1", "Intel-GAUDI"},
    {"Gaudi-2", "Intel-GAUDI"},
    {"Gaudi-3", "Intel-GAUDI"},
    {"TPU-v2", "TPU-V2"},
    {"TPU-v3", "TPU-V3"},
    {"TPU-v4", "TPU-V4"},
    {"TPU-v5e", "TPU-V5LITEPOD"},
    {"TPU-v5p", "TPU-V5P"},
    {"TPU-v6e", "TPU-V6E"},
};

std::string_view type_of(const DeviceModel& model) {
  const auto* row = std::ranges::find(kRayTypes, model.series, &RayType::model);
  return row == std::end(kRayTypes) ? std::string_view() : row->type;
}

// The type that every model meant has; empty: none, or not one.
std::string_view type_of(std::string_view hint) {
  const std::vector<const DeviceModel*> meant = models_meant(hint);
  std::string_view type = meant.empty() ? std::string_view() : type_of(*meant.front());
  for (const DeviceModel* model : meant)
    if (type_of(*model) != type) return {};
  return type;
}

// Whether a type holds more models than the hint means: A100 is one of 40 or of 80 GB.
bool is_wider(std::string_view type, std::string_view hint) {
  const size_t meant = models_meant(hint).size();
  const auto of_type = [&](const DeviceModel& model) { return type_of(model) == type; };
  return static_cast<size_t>(std::ranges::count_if(catalogue(), of_type)) > meant;
}

// One model while it is rendered.
struct Sizing {
  const SizedModel& sized;
  std::vector<Problem>& problems;
  std::vector<std::string>& notes;

  const std::string& name() const { return sized.model.name; }
  void say(std::string_view field, std::string message, std::string suggestion) const {
    problems.push_back({pointer(pointer("", name()), "resources") + std::string(field),
                        std::move(message), std::move(suggestion)});
  }
  void note(std::string text) const { notes.push_back(fmt::format("{}: {}", name(), text)); }
};

// A resource of its own for what Ray does not count as a GPU.
std::string_view resource_of(Family family) {
  if (family == Family::intel_gaudi) return "HPU";
  if (family == Family::tpu) return "TPU";
  return {};
}

void add_gpus(const Sizing& sizing, json::object& options) {
  const Resources& asked = sizing.sized.resources;
  const int64_t milli = asked.gpus * asked.fraction_milli;
  const std::string product = fmt::format("{} × {} = {}", asked.gpus,
                                          format_milli(asked.fraction_milli), format_milli(milli));
  if (milli > 1000 && milli % 1000 != 0) {
    sizing.say("/gpu_fraction",
               fmt::format("{}: Ray gives a replica part of one GPU, or whole ones", product),
               "ask for one device with a fraction, or for a fraction of 1");
    return;
  }
  if (asked.gpus > 1 && asked.fraction_milli < 1000)
    sizing.note(fmt::format("{} for Ray: parts of several GPUs become that many GPUs.", product));
  options["num_gpus"] = number_from_milli(milli);
}

void add_units(const Sizing& sizing, std::string_view resource, json::object& options) {
  const Resources& asked = sizing.sized.resources;
  if (asked.fraction_milli < 1000) {
    sizing.say("/gpu_fraction", fmt::format("Ray gives out whole {}s", resource),
               "ask for a fraction of 1");
    return;
  }
  // ray._private.accelerators.tpu: other numbers are refused when the replica starts
  constexpr int64_t kChips[] = {1, 2, 4, 8};
  if (resource == "TPU" && std::ranges::find(kChips, asked.gpus) == std::end(kChips)) {
    sizing.say("/gpu",
               fmt::format("Ray gives a replica 1, 2, 4 or 8 TPU chips, not {}", asked.gpus),
               "one of those");
    return;
  }
  options["resources"] = json::object{{resource, asked.gpus}};
}

void add_type(const Sizing& sizing, json::object& options) {
  const std::string& hint = sizing.sized.resources.model;
  if (hint.empty()) return;
  const std::string_view type = type_of(hint);
  if (type.empty()) {
    sizing.note(fmt::format("Ray has no accelerator type for {}: replicas may get another model.",
                            printable(hint)));
    return;
  }
  if (is_wider(type, hint))
    sizing.note(fmt::format("Ray's type {} does not tell {} from others of its kind.", type,
                            printable(hint)));
  options["accelerator_type"] = type;
}

void add_devices(const Sizing& sizing, json::object& options) {
  const Resources& asked = sizing.sized.resources;
  if (asked.gpus == 0) return;
  if (!asked.mig_profile.empty()) {
    sizing.say(
        "/mig_profile",
        fmt::format("Ray counts a MIG instance as a GPU and has no word for {}", asked.mig_profile),
        "ask for a fraction, or serve it on Kubernetes");
    return;
  }
  const std::string_view resource = resource_of(asked.family);
  if (resource.empty()) {
    add_gpus(sizing, options);
  } else {
    add_units(sizing, resource, options);
  }
  add_type(sizing, options);
}

json::object actor_options(const Sizing& sizing) {
  const Resources& asked = sizing.sized.resources;
  json::object options;
  if (asked.cpu_milli > 0) options["num_cpus"] = number_from_milli(asked.cpu_milli);
  if (asked.memory_bytes > 0) options["memory"] = asked.memory_bytes;
  add_devices(sizing, options);
  if (asked.nodes > 1) {
    sizing.say("/nodes",
               fmt::format("a replica of Ray Serve is on one node, not on {}", asked.nodes),
               "1, or serve it with vllm");
  }
  // Ray's default, which null would mean too
  if (asked.cpu_milli == 0) sizing.note("no cpu is asked for: Ray counts 1 for each replica.");
  return options;
}

json::object deployment_of(const Sizing& sizing) {
  const ServedModel& model = sizing.sized.model;
  json::object deployment{{"name", model.deployment}};
  if (model.replicas.automatic) {
    json::object scale{{"min_replicas", model.replicas.least},
                       {"max_replicas", model.replicas.most}};
    if (model.replicas.target) scale["target_ongoing_requests"] = *model.replicas.target;
    deployment["autoscaling_config"] = std::move(scale);
  } else {
    deployment["num_replicas"] = model.replicas.least;
  }
  if (json::object options = actor_options(sizing); !options.empty())
    deployment["ray_actor_options"] = std::move(options);
  return deployment;
}

// Ray puts variables of its worker in place of $NAME and ${NAME} in the values of others, and has
// no way to write a '$' that stays there.
bool ray_would_expand(std::string_view value) {
  for (size_t at = value.find('$'); at != std::string_view::npos; at = value.find('$', at + 1)) {
    const char next = at + 1 < value.size() ? value[at + 1] : ' ';
    const bool letter = (next >= 'a' && next <= 'z') || (next >= 'A' && next <= 'Z');
    if (letter || next == '_' || next == '{') return true;
  }
  return false;
}

json::object variables_of(const Sizing& sizing) {
  json::object variables;
  for (const auto& [key, value] : sizing.sized.model.environment) {
    variables[key] = value;
    if (!ray_would_expand(value)) continue;
    sizing.problems.push_back({pointer(pointer(pointer("", sizing.name()), "env"), key),
                               "Ray would put other variables in place of its '$' words",
                               "pass it in args, or in a file"});
  }
  return variables;
}

json::object application_of(const Sizing& sizing) {
  const ServedModel& model = sizing.sized.model;
  json::object application{
      {"name", model.name}, {"route_prefix", model.route}, {"import_path", model.import_path}};
  if (json::object variables = variables_of(sizing); !variables.empty())
    application["runtime_env"] = json::object{{"env_vars", std::move(variables)}};
  if (!model.application.empty()) application["args"] = model.application;
  application["deployments"] = json::array{deployment_of(sizing)};
  return application;
}

Result<json::object> config_of(std::span<const SizedModel> models,
                               std::vector<std::string>& notes) {
  std::vector<Problem> problems;
  json::array applications;
  for (const SizedModel& sized : models) {
    EXA_ASSERT(sized.model.engine == ServingEngine::ray);
    const Sizing sizing{sized, problems, notes};
    applications.push_back(application_of(sizing));
  }
  if (!problems.empty()) return fail(invalid("the models for Ray Serve", std::move(problems)));
  return json::object{{"applications", std::move(applications)}};
}

}  // namespace

Result<Rendered> render_ray(std::span<const SizedModel> models) {
  Rendered rendered;
  EXA_ASSIGN(const json::object config, config_of(models, rendered.notes));
  rendered.command = {"serve", "deploy", "serve.yaml"};
  rendered.notes.emplace_back(
      "serve deploy replaces everything that the Ray cluster serves: applications that are not in "
      "this file are deleted.");
  rendered.files.push_back({"serve.yaml", to_yaml(config)});
  return rendered;
}

Result<Rendered> render_ray_run(const SizedModel& model, int64_t port) {
  SizedModel alone = model;
  alone.resources.memory_bytes = 0;
  Rendered rendered;
  EXA_ASSIGN(json::object config, config_of({&alone, 1}, rendered.notes));
  if (port > 0) config["http_options"] = json::object{{"port", port}};
  if (model.resources.memory_bytes > 0) {
    rendered.notes.push_back(
        fmt::format("{}: Ray is not asked for the {}: it sets a part of a node's memory aside for "
                    "its objects and would find too little for the replica.",
                    model.model.name, format_bytes(model.resources.memory_bytes)));
  }
  constexpr std::string_view kFile = "serve_config.yaml";
  // local: a Ray of its own, whatever cluster this machine belongs to
  rendered.command = {"serve", "run", "--address=local", std::string(kFile)};
  rendered.files.push_back({std::string(kFile), to_yaml(config)});
  return rendered;
}

}  // namespace exa
