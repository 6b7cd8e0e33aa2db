#include "launch/kubernetes_pod.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/kubernetes_names.h"
#include "base/quantity.h"
#include "base/text.h"
#include "launch/kubernetes_devices.h"
#include "launch/refusals.h"

namespace exa::kubernetes {
namespace {

constexpr std::string_view kPodAddress = "EXA_POD_ADDRESS";
constexpr std::string_view kCompletionIndex = "JOB_COMPLETION_INDEX";  // set by Kubernetes

json::object from_field(std::string_view name, std::string_view path) {
  return {{"name", name},
          {"valueFrom", json::object{{"fieldRef", json::object{{"fieldPath", path}}}}}};
}

// A job of several nodes has a service, and the pod of index 0 a name in it; any other pod is its
// own head. The index is set by the controller of indexed jobs (Kubernetes 1.22). The id of the
// launch stands for the job's: it is the same on every node and no other job's.
std::string spelt(RunTime what, const LaunchSpec& spec) {
  const bool is_job = spec.kind == Surface::training;
  switch (what) {
    case RunTime::head_node:
      return is_job ? name_of_head(spec) : fmt::format("$({})", kPodAddress);
    case RunTime::node_rank:
      return is_job ? fmt::format("$({})", kCompletionIndex) : "0";
    case RunTime::job_id:
      return literal(spec.id);
  }
  EXA_ASSERT(false && "every word has a spelling");
}

std::string spelt(const Word& word, const LaunchSpec& spec) {
  std::string text;
  for (const auto& part : word.parts) {
    const auto* known_later = std::get_if<RunTime>(&part);
    text += known_later ? spelt(*known_later, spec) : literal(std::get<std::string>(part));
  }
  return text;
}

json::object resources_of_pod(const LaunchSpec& spec, const DeviceAsk& devices) {
  json::object amounts;
  if (spec.resources.cpu_milli > 0) amounts["cpu"] = cpu_quantity(spec.resources.cpu_milli);
  if (spec.resources.memory_bytes > 0)
    amounts["memory"] = bytes_quantity(spec.resources.memory_bytes);
  for (const auto& [name, quantity] : devices.limits) amounts[name] = quantity;
  if (amounts.empty()) return {};
  return {{"requests", amounts}, {"limits", amounts}};
}

// The least that still runs images as they come: many start as root, write to their own file system
// and listen anywhere, so neither is forbidden. A volume belongs to root; the group lets whoever
// the image runs as write to it.
json::object security_of_pod(const LaunchSpec& spec) {
  json::object security{{"seccompProfile", json::object{{"type", "RuntimeDefault"}}}};
  if (needs_claim(spec)) {
    security["fsGroup"] = 100;
    security["fsGroupChangePolicy"] = "OnRootMismatch";
  }
  return security;
}

json::object security_of_container(const DeviceAsk& devices) {
  json::object capabilities{{"drop", json::array{"ALL"}}};
  if (!devices.capabilities.empty()) {
    json::array add;
    for (const std::string& one : devices.capabilities) add.emplace_back(one);
    capabilities["add"] = std::move(add);
  }
  return {{"allowPrivilegeEscalation", false}, {"capabilities", std::move(capabilities)}};
}

// Where the files of a launch are; without any, the image decides.
std::string working_folder(const LaunchSpec& spec) {
  return spec.folder.empty() && !spec.files.empty() ? "/exa" : spec.folder;
}

struct Mounted {
  json::array volumes;
  json::array mounts;
};

Mounted mounted(const LaunchSpec& spec) {
  Mounted result;
  if (needs_claim(spec)) {
    result.volumes.push_back(
        json::object{{"name", "home"},
                     {"persistentVolumeClaim", json::object{{"claimName", volume_name(spec)}}}});
    result.mounts.push_back(json::object{{"name", "home"}, {"mountPath", spec.volume.mount}});
  }
  if (!spec.files.empty()) {
    result.volumes.push_back(
        json::object{{"name", "files"}, {"configMap", json::object{{"name", job_name(spec)}}}});
    result.mounts.push_back(
        json::object{{"name", "files"}, {"mountPath", working_folder(spec)}, {"readOnly", true}});
  }
  if (spec.resources.gpus > 0) {
    // a container is given 64 MiB of shared memory, which data loaders and NCCL outgrow
    result.volumes.push_back(
        json::object{{"name", "shared-memory"}, {"emptyDir", json::object{{"medium", "Memory"}}}});
    result.mounts.push_back(json::object{{"name", "shared-memory"}, {"mountPath", "/dev/shm"}});
  }
  return result;
}

json::object container_of(const LaunchSpec& spec, std::string_view name, const DeviceAsk& devices,
                          json::array mounts) {
  json::array command;
  for (const Word& word : spec.command) command.emplace_back(spelt(word, spec));
  json::array environment;
  if (spec.kind != Surface::training && mentions(spec.command, RunTime::head_node))
    environment.push_back(from_field(kPodAddress, "status.podIP"));
  for (const auto& [key, value] : spec.environment)
    environment.push_back(json::object{{"name", key}, {"value", literal(value)}});

  json::object container{{"name", name}, {"image", spec.image}, {"command", std::move(command)}};
  if (const std::string folder = working_folder(spec); !folder.empty())
    container["workingDir"] = folder;
  if (!environment.empty()) container["env"] = std::move(environment);
  if (spec.port > 0) {
    // the protocol is a key of the list, which server-side apply wants said before 1.22
    container["ports"] = json::array{
        json::object{{"name", "main"}, {"containerPort", spec.port}, {"protocol", "TCP"}}};
  }
  if (json::object amounts = resources_of_pod(spec, devices); !amounts.empty())
    container["resources"] = std::move(amounts);
  if (spec.kind == Surface::serving && spec.port > 0) {
    // a model is loaded for minutes; until then nothing listens
    container["readinessProbe"] =
        json::object{{"tcpSocket", json::object{{"port", spec.port}}}, {"periodSeconds", 5}};
  }
  if (!mounts.empty()) container["volumeMounts"] = std::move(mounts);
  container["securityContext"] = security_of_container(devices);
  return container;
}

json::object affinity_of(const LaunchSpec& spec, const DeviceAsk& devices) {
  json::object affinity;
  if (!devices.node_affinity.empty()) affinity["nodeAffinity"] = devices.node_affinity;
  if (spec.kind == Surface::training && spec.resources.nodes > 1) {
    // `nodes` are distinct nodes, as a resolution counts them
    affinity["podAntiAffinity"] = json::object{
        {"requiredDuringSchedulingIgnoredDuringExecution",
         json::array{json::object{
             {"topologyKey", "kubernetes.io/hostname"},
             {"labelSelector",
              json::object{{"matchLabels", json::object{{kLaunchLabel, spec.id}}}}}}}}};
  }
  return affinity;
}

// A ConfigMap holds 1 MiB, names and all.
void refuse_large_files(const LaunchSpec& spec, std::vector<Problem>& problems) {
  constexpr size_t kMost = 1'000'000;
  size_t bytes = 0;
  for (const RenderedFile& file : spec.files) bytes += file.text.size();
  if (bytes <= kMost) return;
  problems.push_back({"/files", fmt::format("are {} bytes: Kubernetes keeps {}", bytes, kMost),
                      "build them into the image"});
}

void refuse_names(const LaunchSpec& spec, std::vector<Problem>& problems) {
  if (const auto checked = check_launch_name(spec.name); !checked)
    problems.insert(problems.end(), checked.error().problems.begin(),
                    checked.error().problems.end());
  const auto label = [&](std::string_view value, std::string_view where) {
    if (!value.empty() && is_label_value(value)) return;
    problems.push_back(
        {std::string(where), fmt::format("\"{}\" is no value of a label", printable(value)), ""});
  };
  label(spec.id, "/id");
  label(spec.project, "/project");
  const std::string_view space = spec.options.name_space;
  const bool fine =
      space.size() <= 63 && !space.starts_with('-') && !space.ends_with('-') &&
      space.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string_view::npos;
  if (!fine) {
    problems.push_back(
        {"/options/name_space", fmt::format("\"{}\" is no namespace", printable(space)), ""});
  }
  for (const auto& [key, value] : spec.environment) {
    if (key != kCompletionIndex && key != kPodAddress) continue;
    problems.push_back({fmt::format("/environment/{}", key),
                        "is set on Kubernetes: ranks and addresses come from it", "another name"});
  }
  if (spec.port < 0 || spec.port > 65535)
    problems.push_back({"/port", fmt::format("{} is no port", spec.port), "1 to 65535"});
}

}  // namespace

json::object labels_of(const LaunchSpec& spec, bool with_id) {
  json::object labels{{"app.kubernetes.io/name", spec.name},
                      {"app.kubernetes.io/instance", job_name(spec)},
                      {"app.kubernetes.io/component", launch_kind(spec.kind)},
                      {"app.kubernetes.io/part-of", spec.project},
                      {"app.kubernetes.io/managed-by", "exa"}};
  if (with_id) labels[kLaunchLabel] = spec.id;
  return labels;
}

json::object metadata_of(const LaunchSpec& spec, const std::string& name, bool with_id) {
  json::object metadata{{"name", name}, {"namespace", namespace_of(spec)}};
  metadata["labels"] = labels_of(spec, with_id);
  if (with_id) metadata["annotations"] = json::object{{kTagAnnotation, launch_tag(spec)}};
  return metadata;
}

json::object selector_of(const LaunchSpec& spec) {
  return {{"app.kubernetes.io/instance", job_name(spec)},
          {"app.kubernetes.io/part-of", spec.project},
          {"app.kubernetes.io/managed-by", "exa"}};
}

std::string namespace_of(const LaunchSpec& spec) {
  return spec.options.name_space.empty() ? "default" : spec.options.name_space;
}

std::string volume_name(const LaunchSpec& spec) {
  return job_name(spec) + "-home";
}

bool needs_claim(const LaunchSpec& spec) {
  return spec.kind == Surface::workbench && spec.volume.bytes > 0;
}

std::string literal(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '$') escaped += '$';
    escaped += c;
  }
  return escaped;
}

std::string bytes_quantity(int64_t bytes) {
  constexpr std::pair<int64_t, std::string_view> kUnits[] = {
      {1024 * kGiB, "Ti"}, {kGiB, "Gi"}, {kMiB, "Mi"}, {kKiB, "Ki"}};
  for (const auto& [size, unit] : kUnits)
    if (bytes % size == 0) return fmt::format("{}{}", bytes / size, unit);
  return std::to_string(bytes);
}

std::string cpu_quantity(int64_t milli) {
  return milli % 1000 == 0 ? std::to_string(milli / 1000) : fmt::format("{}m", milli);
}

std::string name_of_head(const LaunchSpec& spec) {
  return fmt::format("{0}-0.{0}", job_name(spec));
}

Pod pod_of(const LaunchSpec& spec, std::string_view container, std::vector<Problem>& problems) {
  DeviceAsk devices = device_ask(spec.resources, problems);
  Mounted disks = mounted(spec);
  Pod pod;
  pod.notes = std::move(devices.notes);
  // nothing that runs here talks to the API server
  pod.spec["automountServiceAccountToken"] = false;
  pod.spec["enableServiceLinks"] = false;
  pod.spec["securityContext"] = security_of_pod(spec);
  if (!devices.node_selector.empty()) pod.spec["nodeSelector"] = devices.node_selector;
  if (json::object affinity = affinity_of(spec, devices); !affinity.empty())
    pod.spec["affinity"] = std::move(affinity);
  if (!devices.tolerations.empty()) pod.spec["tolerations"] = devices.tolerations;
  pod.spec["containers"] =
      json::array{container_of(spec, container, devices, std::move(disks.mounts))};
  if (!disks.volumes.empty()) pod.spec["volumes"] = std::move(disks.volumes);
  return pod;
}

json::object template_of(const LaunchSpec& spec, json::object pod_spec,
                         std::string_view restart_policy) {
  json::object metadata{{"labels", labels_of(spec)},
                        {"annotations", json::object{{kTagAnnotation, launch_tag(spec)}}}};
  pod_spec["restartPolicy"] = restart_policy;
  return {{"metadata", std::move(metadata)}, {"spec", std::move(pod_spec)}};
}

void refuse_for_kubernetes(const LaunchSpec& spec, std::vector<Problem>& problems) {
  refuse_names(spec, problems);
  refuse_options(spec, "Kubernetes", {"name_space", "time_limit"}, problems);
  refuse_without_container(spec, "Kubernetes", problems);
  refuse_other_than_text(spec, "a manifest", problems);
  refuse_large_files(spec, problems);
  if (spec.volume.bytes > 0 && spec.kind != Surface::workbench) {
    problems.push_back({"/volume", "only a workbench has a volume that outlives it on Kubernetes",
                        "leave it out"});
  }
}

}  // namespace exa::kubernetes
