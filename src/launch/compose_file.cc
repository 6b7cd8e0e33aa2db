// One service on one machine, for docker-compose 1.29 and `docker compose`. What a scheduler would
// decide (which card, whether it is free) nobody decides here, and the notes say so.
#include <fmt/format.h>

#include "base/quantity.h"
#include "base/yaml.h"
#include "launch/compose.h"
#include "launch/refusals.h"
#include "launch/renderers.h"

namespace exa {
namespace {

// Compose puts variables of its own environment in place of $NAME and ${NAME}, everywhere.
std::string literal(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '$') escaped += '$';
    escaped += c;
  }
  return escaped;
}

// One container is the whole run, and known by its name.
std::string spelt(RunTime what, const LaunchSpec& spec) {
  switch (what) {
    case RunTime::head_node:
      return job_name(spec);
    case RunTime::node_rank:
      return "0";
    case RunTime::job_id:
      return literal(spec.id);
  }
  EXA_ASSERT(false && "every word has a spelling");
}

json::array words_of(const LaunchSpec& spec) {
  json::array words;
  for (const Word& word : spec.command) {
    std::string text;
    for (const auto& part : word.parts) {
      const auto* known_later = std::get_if<RunTime>(&part);
      text += known_later ? spelt(*known_later, spec) : literal(std::get<std::string>(part));
    }
    words.emplace_back(std::move(text));
  }
  return words;
}

// Bytes are exact; whole GiB read better.
std::string memory_of(int64_t bytes) {
  return bytes % kGiB == 0 ? fmt::format("{}g", bytes / kGiB) : fmt::format("{}b", bytes);
}

// "0,1,2"
std::string first_devices(int64_t count) {
  std::string list;
  for (int64_t i = 0; i < count; ++i) list += fmt::format("{}{}", i == 0 ? "" : ",", i);
  return list;
}

bool is_set(const Variables& environment, std::string_view key) {
  return std::ranges::any_of(environment, [&](const auto& one) { return one.first == key; });
}

struct Devices {
  json::array reservations;
  json::object keys;      // of the service
  Variables environment;  // beside the launch's own
};

// AMD's and Intel's cards are handed in by name, so a count becomes the first ones.
void name_first_devices(const LaunchSpec& spec, Devices& devices) {
  const std::string_view variable = info(spec.resources.family).visible_devices;
  if (!is_set(spec.environment, variable))
    devices.environment.emplace_back(variable, first_devices(spec.resources.gpus));
}

Devices devices_of(const LaunchSpec& spec) {
  Devices devices;
  if (spec.resources.gpus == 0) return devices;
  switch (spec.resources.family) {
    case Family::nvidia:
      devices.reservations.push_back(json::object{{"driver", "nvidia"},
                                                  {"count", spec.resources.gpus},
                                                  {"capabilities", json::array{"gpu"}}});
      break;
    case Family::amd:
      devices.keys["devices"] = json::array{"/dev/kfd:/dev/kfd", "/dev/dri:/dev/dri"};
      devices.keys["group_add"] = json::array{"video"};
      name_first_devices(spec, devices);
      break;
    case Family::intel_gaudi:
      devices.keys["runtime"] = "habana";
      devices.keys["cap_add"] = json::array{"SYS_NICE"};
      name_first_devices(spec, devices);
      break;
    default:
      break;  // refused
  }
  // 64 MiB of shared memory are less than data loaders and NCCL use
  const int64_t memory = spec.resources.memory_bytes;
  devices.keys["shm_size"] = memory > 0 ? memory_of(memory) : "8g";
  return devices;
}

json::object deploy_of(const LaunchSpec& spec, Devices& devices) {
  json::object limits;
  if (spec.resources.cpu_milli > 0) limits["cpus"] = format_milli(spec.resources.cpu_milli);
  if (spec.resources.memory_bytes > 0) limits["memory"] = memory_of(spec.resources.memory_bytes);
  json::object resources;
  if (!limits.empty()) resources["limits"] = std::move(limits);
  if (!devices.reservations.empty())
    resources["reservations"] = json::object{{"devices", std::move(devices.reservations)}};
  if (resources.empty()) return {};
  return {{"resources", std::move(resources)}};
}

json::object service_of(const LaunchSpec& spec) {
  Devices devices = devices_of(spec);
  json::object service{{"image", spec.image},
                       {"hostname", job_name(spec)},
                       // a network of its own would be one of the few that Docker has room for
                       {"network_mode", "bridge"},
                       {"entrypoint", words_of(spec)}};  // so that the image's own is not in front
  json::object environment;
  for (const auto& [key, value] : spec.environment) environment[key] = literal(value);
  for (const auto& [key, value] : devices.environment) environment[key] = value;
  if (!environment.empty()) service["environment"] = std::move(environment);
  if (!spec.folder.empty()) service["working_dir"] = literal(spec.folder);
  if (spec.port > 0) service["ports"] = json::array{fmt::format("127.0.0.1:{0}:{0}", spec.port)};
  if (spec.volume.bytes > 0) {
    service["volumes"] = json::array{json::object{
        {"type", "volume"}, {"source", "home"}, {"target", literal(spec.volume.mount)}}};
  }
  service["restart"] = spec.restarts > 0 ? fmt::format("on-failure:{}", spec.restarts) : "no";
  service["cap_drop"] = json::array{"ALL"};
  service["security_opt"] = json::array{"no-new-privileges:true"};
  service["labels"] = json::object{{kLaunchLabel, launch_tag(spec)}, {"exa.launch-id", spec.id}};
  for (const auto& member : devices.keys) service[member.key()] = member.value();
  if (json::object deploy = deploy_of(spec, devices); !deploy.empty())
    service["deploy"] = std::move(deploy);
  return service;
}

void refuse(const LaunchSpec& spec, std::vector<Problem>& problems) {
  const Resources& asked = spec.resources;
  refuse_options(spec, "Compose", {}, problems);
  refuse_without_container(spec, "Compose", problems);
  refuse_other_than_text(spec, "a compose file", problems);
  refuse_files(spec, "Compose", problems);
  refuse_kserve(spec, "Compose", problems);
  const auto say = [&](std::string where, std::string message, std::string suggestion) {
    problems.push_back({std::move(where), std::move(message), std::move(suggestion)});
  };
  if (asked.nodes > 1) {
    say("/resources/nodes", fmt::format("Compose runs on one machine, not on {}", asked.nodes),
        "launch it on Slurm, Flux or Kubernetes");
  }
  if (spec.replicas > 1) {
    say("/replicas", fmt::format("{} replicas would want one port of one machine", spec.replicas),
        "launch it on Kubernetes or Ray");
  }
  if (asked.gpus > 0 && !asked.mig_profile.empty()) {
    say("/resources/mig_profile",
        fmt::format("Compose finds a MIG instance by its UUID and has no word for {}",
                    asked.mig_profile),
        "launch it on Slurm or Kubernetes");
  }
  if (asked.gpus > 0 && (asked.family == Family::tpu || asked.family == Family::cpu)) {
    say("/resources/gpus",
        fmt::format("Compose hands no device of the {} family to a container that has no "
                    "privileges",
                    info(asked.family).name),
        "launch it on Kubernetes");
  }
}

std::vector<std::string> notes_on(const LaunchSpec& spec) {
  std::vector<std::string> notes;
  const Resources& asked = spec.resources;
  if (asked.gpus > 0) {
    notes.push_back(fmt::format("Docker keeps nobody else off the {} it hands in.",
                                asked.gpus == 1 ? "device" : "devices"));
    if (!asked.model.empty())
      notes.push_back(fmt::format("Docker takes the machine's devices, whether they are {} or not.",
                                  asked.model));
    if (asked.fraction_milli < 1000) {
      notes.push_back(fmt::format("Docker hands in whole devices: {} of one cannot be asked for.",
                                  format_milli(asked.fraction_milli)));
    }
  }
  if (asked.cpu_milli > 0 || asked.memory_bytes > 0)
    notes.push_back("Docker holds the program to its limits, and sets nothing aside for it.");
  if (spec.volume.bytes > 0)
    notes.push_back(fmt::format("A named volume has no size: {} are not enforced.",
                                format_bytes(spec.volume.bytes)));
  return notes;
}

}  // namespace

std::string compose_project(const LaunchSpec& spec) {
  return fmt::format("exa_{}_{}_{}", spec.project, launch_kind(spec.kind), spec.name);
}

Result<Rendered> render_compose(const LaunchSpec& spec) {
  std::vector<Problem> problems;
  refuse(spec, problems);
  if (!problems.empty()) return fail(invalid("the launch with Compose", std::move(problems)));
  const std::string name = job_name(spec);
  json::object file{{"version", "3.9"}, {"services", json::object{{name, service_of(spec)}}}};
  if (spec.volume.bytes > 0) file["volumes"] = json::object{{"home", json::object()}};
  return Rendered{{"docker-compose", "--project-name", compose_project(spec), "--file",
                   "compose.yaml", "up", "--detach", "--no-build"},
                  {{"compose.yaml", to_yaml(file)}},
                  {},
                  "",
                  notes_on(spec)};
}

}  // namespace exa
