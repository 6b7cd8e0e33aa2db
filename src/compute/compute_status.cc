#include "compute/compute_status.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "base/json_or_null.h"
#include "base/text.h"

namespace exa {
namespace {

struct Offered {
  ComputeGroup hardware;  // without its machines
  const std::string* id = nullptr;
};

ComputeGroup hardware_of(const Machine& machine) {
  ComputeGroup group;
  group.architecture = machine.architecture;
  group.gpu_count = machine.gpus.value;
  if (group.gpu_count > 0)
    group.family = machine.family.value.shown;
  else if (machine.cpus.is_known())
    group.cpu_count = machine.cpus.value;
  group.resource_groups = machine.groups;
  return group;
}

bool stands_before(const ComputeGroup& a, const ComputeGroup& b) {
  const auto key = [](const ComputeGroup& group) {
    return std::tuple<const ResourceGroups&, const std::string&, int64_t, int64_t>(
        group.resource_groups, group.architecture, -group.gpu_count, -group.cpu_count.value_or(0));
  };
  if (key(a) != key(b)) return key(a) < key(b);
  return a.family > b.family;
}

std::vector<ComputeGroup> grouped(std::vector<Offered> offered) {
  std::ranges::sort(offered, [](const Offered& a, const Offered& b) {
    if (a.hardware == b.hardware) return *a.id < *b.id;
    return stands_before(a.hardware, b.hardware);
  });
  std::vector<ComputeGroup> groups;
  const ComputeGroup* last = nullptr;
  for (const Offered& machine : offered) {
    if (last == nullptr || !(machine.hardware == *last)) groups.push_back(machine.hardware);
    last = &machine.hardware;
    groups.back().machines.push_back(*machine.id);
  }
  return groups;
}

json::array json_of(const std::vector<ComputeGroup>& groups) {
  json::array rows;
  for (const ComputeGroup& group : groups) {
    json::object row{{"architecture", text_or_null(group.architecture)},
                     {"available", group.available}};
    if (group.cpu_count) row["cpuCount"] = *group.cpu_count;
    if (!group.family.empty()) row["family"] = group.family;
    if (group.gpu_count > 0) row["gpuCount"] = group.gpu_count;
    row["instances"] = static_cast<int64_t>(group.machines.size());
    row["machines"] = json::array(group.machines.begin(), group.machines.end());
    if (!group.resource_groups.empty()) {
      json::object names;
      for (const auto& [name, value] : group.resource_groups) names[name] = value;
      row["resourceGroups"] = std::move(names);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

// --- the document's block

void print_resource_groups(const ResourceGroups& groups, std::string& out) {
  if (groups.empty()) return;
  size_t widest = 0;
  for (const auto& [name, value] : groups) widest = std::max(widest, printable(name).size());
  out += "    Resource Groups:\n";
  for (const auto& [name, value] : groups)
    out += fmt::format("      {:<{}}  {}\n", printable(name) + ":", widest + 1,
                       to_text(json::value(printable(value))));
}

void print_group(const ComputeGroup& group, std::string& out) {
  const auto line = [&](std::string_view key, std::string_view value) {
    out += fmt::format("    {:<15}{}\n", key, value);
  };
  line("Architecture:", group.architecture.empty() ? "unknown" : printable(group.architecture));
  line("Available:", group.available ? "true" : "false");
  if (group.cpu_count) line("Cpu Count:", std::to_string(*group.cpu_count));
  if (!group.family.empty()) line("Family:", printable(group.family));
  if (group.gpu_count > 0) line("Gpu Count:", std::to_string(group.gpu_count));
  line("Instances:", std::to_string(group.machines.size()));
  out += "    Machines:\n";
  for (const std::string& id : group.machines) out += fmt::format("      {}\n", printable(id));
  print_resource_groups(group.resource_groups, out);
}

void print_groups(std::string_view title, const std::vector<ComputeGroup>& groups,
                  std::string& out) {
  out += fmt::format("  {}:{}\n", title, groups.empty() ? "  none" : "");
  for (const ComputeGroup& group : groups) print_group(group, out);
}

}  // namespace

ComputeStatus compute_status(std::span<const SeenMachine> machines) {
  ComputeStatus status;
  std::vector<Offered> control_plane;
  std::vector<Offered> workers;
  for (const SeenMachine& seen : machines) {
    const Machine& machine = *seen.machine;
    std::vector<std::string> reasons = machine.unfit;
    reasons.insert(reasons.end(), seen.reasons.begin(), seen.reasons.end());
    if (!reasons.empty())
      status.unoffered.push_back({machine.id, seen.source, std::move(reasons)});
    else
      (machine.worker ? workers : control_plane).push_back({hardware_of(machine), &machine.id});
  }
  status.control_plane = grouped(std::move(control_plane));
  status.workers = grouped(std::move(workers));
  std::ranges::sort(status.unoffered, {}, [](const UnofferedMachine& machine) {
    return std::tie(machine.id, machine.source);
  });
  return status;
}

json::object to_json(const ComputeStatus& status) {
  json::array unoffered;
  for (const UnofferedMachine& machine : status.unoffered)
    unoffered.push_back(
        json::object{{"id", machine.id},
                     {"source", text_or_null(machine.source)},
                     {"reasons", json::array(machine.reasons.begin(), machine.reasons.end())}});
  return {{"availableControlPlaneCompute", json_of(status.control_plane)},
          {"availableWorkerCompute", json_of(status.workers)},
          {"unofferedMachines", std::move(unoffered)}};
}

std::string describe(const ComputeStatus& status) {
  std::string out = "Status:\n";
  print_groups("Available Control Plane Compute", status.control_plane, out);
  print_groups("Available Worker Compute", status.workers, out);
  if (status.unoffered.empty()) return out;
  out += "  Unoffered Machines:\n";
  for (const UnofferedMachine& machine : status.unoffered) {
    out += fmt::format("    {}:\n", printable(machine.id));
    for (const std::string& reason : machine.reasons)
      out += fmt::format("      {}\n", printable(reason));
  }
  return out;
}

}  // namespace exa
