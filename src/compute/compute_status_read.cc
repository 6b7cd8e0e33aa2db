#include "compute/compute_status.h"

namespace exa {
namespace {

std::vector<std::string> texts(const json::value& object, std::string_view key) {
  std::vector<std::string> all;
  const json::value* list = find(object, key);
  if (list == nullptr || !list->is_array()) return all;
  for (const json::value& each : list->get_array())
    if (each.is_string()) all.emplace_back(each.get_string());
  return all;
}

std::optional<int64_t> number(const json::value& object, std::string_view key) {
  const json::value* value = find(object, key);
  if (value == nullptr || !value->is_int64()) return std::nullopt;
  return value->get_int64();
}

ComputeGroup group_of(const json::value& value) {
  ComputeGroup group;
  group.architecture = text_or(value, "architecture", "");
  group.cpu_count = number(value, "cpuCount");
  group.family = text_or(value, "family", "");
  group.gpu_count = number(value, "gpuCount").value_or(0);
  group.machines = texts(value, "machines");
  if (const json::value* groups = find(value, "resourceGroups");
      groups != nullptr && groups->is_object())
    for (const auto& each : groups->get_object())
      if (each.value().is_string())
        group.resource_groups.emplace_back(each.key(), std::string(each.value().get_string()));
  return group;
}

Result<std::vector<ComputeGroup>> groups_of(const json::value& status, std::string_view key) {
  const json::value* list = find(status, key);
  if (list == nullptr || !list->is_array())
    return fail(Code::invalid_input, "the status of a Compute has no " + std::string(key));
  std::vector<ComputeGroup> groups;
  for (const json::value& each : list->get_array()) groups.push_back(group_of(each));
  return groups;
}

}  // namespace

Result<ComputeStatus> compute_status_from_json(const json::value& value) {
  ComputeStatus status;
  EXA_ASSIGN(status.control_plane, groups_of(value, "availableControlPlaneCompute"));
  EXA_ASSIGN(status.workers, groups_of(value, "availableWorkerCompute"));
  const json::value* unoffered = find(value, "unofferedMachines");
  if (unoffered == nullptr || !unoffered->is_array()) return status;
  for (const json::value& each : unoffered->get_array())
    status.unoffered.push_back({std::string(text_or(each, "id", "")),
                                std::string(text_or(each, "source", "")), texts(each, "reasons")});
  return status;
}

}  // namespace exa
