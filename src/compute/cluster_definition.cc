#include "compute/cluster_definition.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "base/yaml.h"
#include "compute/machine.h"
#include "compute/network_text.h"

namespace exa {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

json::object object_of(const Pairs& pairs) {
  json::object object;
  for (const auto& [key, value] : pairs) object[key] = value;
  return object;
}

json::array list_of(const std::vector<std::string>& texts) {
  return json::array(texts.begin(), texts.end());
}

json::array list_of(const std::vector<Taint>& taints) {
  json::array list;
  for (const Taint& taint : taints) {
    json::object object = {{"key", taint.key}};
    if (!taint.value.empty()) object["value"] = taint.value;
    object["effect"] = taint.effect;
    list.push_back(std::move(object));
  }
  return list;
}

json::object edge_of(const EdgeSettings& edge) {
  json::object object;
  if (!edge.vip.empty()) object["vip"] = edge.vip;
  object["ntpServers"] = list_of(edge.ntp_servers);
  json::object overlay = {{"enabled", edge.overlay_enabled}, {"staticIp", edge.overlay_static_ip}};
  if (!edge.overlay_cidr.empty()) overlay["cidr"] = edge.overlay_cidr;
  if (!edge.overlay_type.empty()) overlay["overlayNetworkType"] = edge.overlay_type;
  object["networkOverlayConfig"] = std::move(overlay);
  object["isTwoNode"] = edge.is_two_node;
  return object;
}

template <typename Defaults>
void add_defaults(json::object& object, const Defaults& defaults) {
  object["labels"] = object_of(defaults.labels);
  object["annotations"] = object_of(defaults.annotations);
  object["taints"] = list_of(defaults.taints);
}

// Of the roles that the machine has, the control plane's first.
Pairs of_roles(const PlatformMachine& machine, const Pairs& control_plane, const Pairs& workers) {
  Pairs pairs;
  if (machine.control_plane) pairs = control_plane;
  if (!machine.worker) return pairs;
  for (const auto& pair : workers)
    if (std::ranges::find(pairs, pair.first, &Pairs::value_type::first) == pairs.end())
      pairs.push_back(pair);
  return pairs;
}

std::vector<Taint> taints_of(const PlatformMachine& machine, const ComputeProfileSpec& profile) {
  if (!machine.worker) return profile.control_plane.taints;
  if (!machine.control_plane) return profile.workers.taints;
  std::vector<Taint> soft;
  for (const auto* const taints : {&profile.control_plane.taints, &profile.workers.taints})
    for (const Taint& taint : *taints)
      if (taint.effect == "PreferNoSchedule" && std::ranges::find(soft, taint) == soft.end())
        soft.push_back(taint);
  return soft;
}

std::string_view address_of(const PlatformMachine& machine) {
  return machine.address.empty() ? machine.id : machine.address;
}

json::object machine_of(const PlatformMachine& machine, const ComputeProfileSpec& profile) {
  json::object object = {{"id", machine.id}, {"address", address_of(machine)}};
  if (!machine.architecture.empty()) object["architecture"] = machine.architecture;
  json::array roles;
  if (machine.control_plane) roles.push_back("control-plane");
  if (machine.worker) roles.push_back("worker");
  object["roles"] = std::move(roles);
  object["gpus"] = machine.gpus;
  if (!machine.family.empty()) object["gpuFamily"] = machine.family;
  object["labels"] =
      object_of(of_roles(machine, profile.control_plane.labels, profile.workers.labels));
  object["annotations"] =
      object_of(of_roles(machine, profile.control_plane.annotations, profile.workers.annotations));
  object["taints"] = list_of(taints_of(machine, profile));
  return object;
}

std::string cluster_yaml(const PlatformDefinition& platform) {
  const ComputeProfileSpec& profile = platform.profile;
  json::object spec = {{"mode", name(platform.mode)}};
  if (!platform.workload_profile.empty()) spec["workloadProfile"] = platform.workload_profile;
  spec["sshKeys"] = list_of(profile.ssh_keys);
  if (profile.edge) spec["edge"] = edge_of(*profile.edge);
  json::object plane = {{"nodeCount", profile.control_plane.node_count},
                        {"workerNodeEligible", profile.control_plane.worker_node_eligible}};
  add_defaults(plane, profile.control_plane);
  spec["controlPlaneDefaults"] = std::move(plane);
  json::object workers;
  add_defaults(workers, profile.workers);
  spec["workerPoolDefaults"] = std::move(workers);
  if (profile.minimum_workers) spec["minWorkerNodes"] = *profile.minimum_workers;
  json::array machines;
  for (const PlatformMachine& machine : platform.machines)
    machines.push_back(machine_of(machine, profile));
  spec["machines"] = std::move(machines);
  json::object metadata = {
      {"name", platform.name}, {"namespace", platform.project}, {"uid", platform.id}};
  return to_yaml(json::object{{"apiVersion", "exa/v1"},
                              {"kind", "ClusterDefinition"},
                              {"metadata", std::move(metadata)},
                              {"spec", std::move(spec)}});
}

json::object group_of(std::span<const PlatformMachine> machines, bool PlatformMachine::*is_in) {
  json::object hosts;
  for (const PlatformMachine& machine : machines)
    if (machine.*is_in) hosts[machine.id] = json::object{{"ansible_host", address_of(machine)}};
  return {{"hosts", std::move(hosts)}};
}

std::string inventory_yaml(std::span<const PlatformMachine> machines) {
  json::object groups = {{"control_plane", group_of(machines, &PlatformMachine::control_plane)},
                         {"workers", group_of(machines, &PlatformMachine::worker)}};
  return to_yaml(json::object{{"all", json::object{{"children", std::move(groups)}}}});
}

// A host that is called as a group would be taken for all of it.
constexpr std::string_view kGroups[] = {"all", "ungrouped", "control_plane", "workers"};

std::vector<Problem> not_for_an_inventory(std::span<const PlatformMachine> machines) {
  std::vector<Problem> problems;
  for (size_t i = 0; i < machines.size(); ++i) {
    const PlatformMachine& machine = machines[i];
    const std::string at = pointer("", std::to_string(i));
    const auto id = check_machine_id(machine.id);
    if (!id) problems.push_back({pointer(at, "id"), id.error().message, ""});
    if (std::ranges::find(kGroups, machine.id) != std::end(kGroups))
      problems.push_back({pointer(at, "id"),
                          fmt::format("\"{}\" is a group of the inventory", machine.id),
                          "give the machine another id"});
    const std::string_view address = address_of(machine);
    if (id && !machine.address.empty() && !is_host_name(address) && !parse_ip_address(address))
      problems.push_back({pointer(at, "address"),
                          fmt::format("\"{}\" of {} is neither a host name nor an IP address",
                                      printable(address), machine.id),
                          ""});
  }
  return problems;
}

}  // namespace

Result<std::vector<DefinitionFile>> cluster_definition(const PlatformDefinition& platform) {
  std::vector<Problem> problems = not_for_an_inventory(platform.machines);
  if (!problems.empty())
    return fail(invalid(fmt::format("the machines of {}", platform.name), std::move(problems)));
  return std::vector<DefinitionFile>{{"cluster.yaml", cluster_yaml(platform)},
                                     {"inventory.yaml", inventory_yaml(platform.machines)}};
}

}  // namespace exa
