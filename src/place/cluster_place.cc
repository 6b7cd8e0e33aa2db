#include "place/cluster_place.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/plural.h"
#include "base/quantity.h"
#include "base/text.h"
#include "hardware/catalogue.h"

namespace exa {
namespace {

// Devices of the family asked for, not known to be another model or to have less memory.
bool bears_out(const DeviceKind& kind, const Workload& workload) {
  if (kind.cards == 0) return false;
  const auto rows = models_meant(kind.model);
  const bool of_family = std::ranges::any_of(
      rows, [&](const DeviceModel* row) { return row->family == workload.accelerator; });
  if (!of_family) return false;
  if (!workload.model.empty() &&
      match_model(workload.model, kind.model, kind.model_memory_bytes) == Match::contradicted)
    return false;
  if (workload.gpu_memory_bytes == 0) return true;
  return std::ranges::any_of(rows, [&](const DeviceModel* row) {
    return row->sold_memory_bytes >= workload.gpu_memory_bytes;
  });
}

std::optional<MigSlices> slices_of(std::string_view profile, std::span<const std::string> models) {
  for (const std::string& model : models) {
    for (const DeviceModel* row : models_meant(model)) {
      for (const MigProfile& one : row->mig_profiles)
        if (one.name == profile) return MigSlices{one.compute_slices, one.memory_slices};
    }
  }
  return std::nullopt;
}

std::string why_not(const ClusterDecision& decision) {
  const NodeRefusals& refused = decision.refusals;
  std::vector<std::string> parts;
  const auto say = [&](int64_t nodes, std::string_view what) {
    if (nodes > 0) parts.push_back(fmt::format("{} {}", counted(nodes, "node"), what));
  };
  say(refused.model, "with other devices");
  say(refused.capability, "without the capabilities");
  say(refused.group, "outside the group");
  say(refused.mode, "in another MIG mode");
  say(refused.devices, "with too few devices free");
  say(refused.cpu, "with too few cores free");
  say(refused.memory, "with too little memory free");
  say(static_cast<int64_t>(decision.left_out.size()), "that could not be judged");
  return fmt::format("{} asked, {} of {} fit now: {}", counted(decision.ask.nodes, "node"),
                     refused.fit, refused.nodes,
                     parts.empty() ? "none is there" : join(parts, ", "));
}

json::object refusals_json(const NodeRefusals& refusals) {
  return {{"nodes", refusals.nodes},     {"fit", refusals.fit},
          {"model", refusals.model},     {"capability", refusals.capability},
          {"group", refusals.group},     {"mode", refusals.mode},
          {"devices", refusals.devices}, {"cpu", refusals.cpu},
          {"memory", refusals.memory},   {"never", refusals.never}};
}

}  // namespace

DeviceAsk device_ask_of(const Workload& workload) {
  DeviceAsk ask;
  ask.nodes = workload.nodes;
  ask.devices = workload.accelerator == Family::cpu ? 0 : workload.gpus;
  ask.share_milli = workload.fraction_milli;
  ask.capabilities = workload.capabilities;
  ask.cpu_milli = workload.cpu_milli;
  ask.memory_bytes = workload.memory_bytes;
  if (workload.accelerator == Family::cpu && ask.cpu_milli == 0)
    ask.cpu_milli = workload.gpus * 1000;
  if (!workload.model.empty()) ask.models = {workload.model};
  return ask;
}

Result<ClusterDecision> place_on_cluster(const Workload& workload, std::string_view cluster,
                                         const Inventory& inventory,
                                         const ClusterPlaceOptions& options) {
  EXA_ASSIGN(FleetReading reading, fleet_of(inventory));
  ClusterDecision decision;
  decision.workload = workload;
  decision.cluster = cluster;
  decision.policy = options.policy;
  decision.left_out = std::move(reading.left_out);
  decision.ask = device_ask_of(workload);
  // a snapshot lists whole devices; that some could be shared, it does not say
  decision.fraction_honored = decision.ask.share_milli == kWholeDevice;
  decision.ask.share_milli = kWholeDevice;
  decision.ask.group = options.group;
  decision.ask.group_required = options.group_required;
  if (decision.ask.devices > 0) {
    std::set<std::string> models;
    for (const DeviceKind& kind : reading.fleet.kinds())
      if (bears_out(kind, workload)) models.insert(kind.model);
    decision.ask.models.assign(models.begin(), models.end());
    if (models.empty()) {
      decision.impossible = true;
      decision.refusals.nodes = decision.refusals.model =
          static_cast<int64_t>(reading.fleet.size());
      decision.reason = fmt::format(
          "no node of {} that could be judged has {}{}{}", cluster, info(workload.accelerator).name,
          workload.model.empty() ? "" : " " + workload.model,
          workload.gpu_memory_bytes == 0
              ? ""
              : fmt::format(" with {} of memory", format_bytes(workload.gpu_memory_bytes)));
      return decision;
    }
  }
  if (!options.mig_profile.empty()) {
    decision.ask.mig = slices_of(options.mig_profile, decision.ask.models);
    if (!decision.ask.mig) {
      return fail(invalid("workload", {{"/mig_profile",
                                        fmt::format("no device of {} has MIG profile \"{}\"",
                                                    cluster, printable(options.mig_profile)),
                                        ""}}));
    }
  }
  EXA_ASSIGN(auto policy, make_policy(options.policy));
  DevicePlacer placer(reading.fleet, std::move(policy), {options.mix, true, 0});
  EXA_ASSIGN(const uint32_t number, placer.prepare(decision.ask));
  decision.refusals = placer.refusals(number);
  const auto assignment = placer.choose(number);
  if (!assignment) {
    decision.reason = why_not(decision);
    decision.impossible =
        decision.refusals.fit == 0 &&
        decision.refusals.never + decision.refusals.model == decision.refusals.nodes &&
        decision.left_out.empty();
    return decision;
  }
  for (const NodeShare& share : assignment->nodes) {
    decision.model = reading.fleet.kind_of(share.node).model;
    decision.nodes.push_back({std::string(reading.fleet.name(share.node)), share.count});
  }
  return decision;
}

json::object to_json(const ClusterDecision& decision) {
  json::value placement = nullptr;
  json::value rejection = nullptr;
  if (decision.placed()) {
    json::array nodes;
    for (const ChosenNode& node : decision.nodes) {
      nodes.emplace_back(json::object{{"node", node.node}, {"devices", node.devices}});
    }
    placement = json::object{
        {"cluster", decision.cluster},
        {"pool", nullptr},
        {"accelerator", info(decision.workload.accelerator).name},
        {"model", decision.model.empty() ? json::value(nullptr) : json::value(decision.model)},
        {"gpus", decision.ask.devices},
        {"fraction", number_from_milli(decision.workload.fraction_milli)},
        {"fraction_honored", decision.fraction_honored},
        {"nodes", std::move(nodes)}};
  } else {
    rejection = json::object{{"kind", decision.impossible ? "impossible" : "busy"},
                             {"reason", decision.reason}};
  }
  json::array left_out;
  for (const LeftOutNode& node : decision.left_out)
    left_out.emplace_back(json::object{{"node", node.name}, {"why", node.why}});
  return {{"workload", to_json(decision.workload)},
          {"cluster", decision.cluster},
          {"policy", decision.policy},
          {"decision", decision.placed() ? "placed" : "rejected"},
          {"placement", std::move(placement)},
          {"rejection", std::move(rejection)},
          {"refusals", refusals_json(decision.refusals)},
          {"left_out", std::move(left_out)}};
}

std::string to_text(const ClusterDecision& decision) {
  if (!decision.placed()) return "✗ Rejected: " + decision.reason;
  std::vector<std::string> nodes;
  for (const ChosenNode& node : decision.nodes) {
    nodes.push_back(node.devices == 0
                        ? node.node
                        : fmt::format("{} of {}", counted(node.devices, "device"), node.node));
  }
  return fmt::format("✓ {} → {} of {}", decision.workload.name, join(nodes, ", "),
                     decision.cluster);
}

}  // namespace exa
