// From the document of a manifest that was checked to the values that the rest of exa works with.
#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "compute/machine.h"
#include "compute/manifest_checks.h"
#include "compute/manifest_walk.h"

namespace exa {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;
using GpuCounts = std::vector<std::pair<GpuFamily, int64_t>>;

const json::object& nothing() {
  static const json::object kNothing;
  return kNothing;
}

const json::object& object_at(const json::object& object, std::string_view key) {
  const json::value* const value = find(object, key);
  return value == nullptr || !value->is_object() ? nothing() : value->get_object();
}

const json::object& spec_of(const Manifest& manifest, PaletteKind kind) {
  EXA_ASSERT(manifest.kind == kind);
  return object_at(manifest.document, "spec");
}

std::string name_at(const json::object& object, std::string_view key) {
  return std::string(text_or(object_at(object, key), "name", ""));
}

bool is_true(const json::object& object, std::string_view key) {
  const json::value* const value = find(object, key);
  return value != nullptr && *value == true;
}

std::optional<int64_t> number_at(const json::object& object, std::string_view key) {
  const json::value* const value = find(object, key);
  if (value == nullptr || value->is_null()) return std::nullopt;
  return value->to_number<int64_t>();
}

std::vector<std::string> texts_at(const json::object& object, std::string_view key) {
  std::vector<std::string> texts;
  const json::value* const value = find(object, key);
  if (value == nullptr || !value->is_array()) return texts;
  for (const json::value& text : value->get_array())
    texts.emplace_back(trim(std::string_view(text.get_string())));
  return texts;
}

Pairs pairs_at(const json::object& object, std::string_view key) {
  Pairs pairs;
  for (const auto& member : object_at(object, key))
    pairs.emplace_back(member.key(), std::string_view(member.value().get_string()));
  return pairs;
}

GpuCounts counts_at(const json::object& object, std::string_view key) {
  GpuCounts counts;
  for (const auto& member : object_at(object, key))
    counts.emplace_back(gpu_family(member.key()), member.value().to_number<int64_t>());
  std::ranges::sort(counts);
  return counts;
}

std::vector<Taint> taints_at(const json::object& object) {
  std::vector<Taint> taints;
  const json::value* const value = find(object, "taints");
  if (value == nullptr || !value->is_array()) return taints;
  for (const json::value& taint : value->get_array())
    taints.push_back({std::string(text_or(taint, "key", "")),
                      std::string(text_or(taint, "value", "")),
                      std::string(text_or(taint, "effect", ""))});
  return taints;
}

EdgeSettings edge_of(const json::object& edge) {
  const json::object& overlay = object_at(edge, "networkOverlayConfig");
  return {std::string(text_or(edge, "vip", "")),
          texts_at(edge, "ntpServers"),
          is_true(overlay, "enabled"),
          is_true(overlay, "staticIp"),
          std::string(text_or(overlay, "cidr", "")),
          std::string(text_or(overlay, "overlayNetworkType", "")),
          is_true(edge, "isTwoNode")};
}

ComputeProfileSpec profile_of(const json::object& spec) {
  ComputeProfileSpec profile;
  profile.settings_ref = name_at(spec, "settingsRef");
  profile.ssh_keys = texts_at(spec, "sshKeys");
  const json::value* const edge = find(spec, "edge");
  if (edge != nullptr && edge->is_object()) profile.edge = edge_of(edge->get_object());
  const json::object& plane = object_at(spec, "controlPlaneDefaults");
  profile.control_plane = {number_at(plane, "nodeCount").value_or(1),
                           is_true(plane, "workerNodeEligible"), pairs_at(plane, "labels"),
                           pairs_at(plane, "annotations"), taints_at(plane)};
  const json::object& workers = object_at(spec, "workerPoolDefaults");
  profile.workers = {pairs_at(workers, "labels"), pairs_at(workers, "annotations"),
                     taints_at(workers)};
  profile.minimum_workers = number_at(spec, "minWorkerNodes");
  profile.gpu_limits = counts_at(spec, "gpuLimits");
  return profile;
}

ResourceGroups groups_at(const json::object& object, std::string_view key) {
  ResourceGroups groups = pairs_at(object, key);
  std::ranges::sort(groups);
  return groups;
}

// --- overrides -----------------------------------------------------------------------------------

void merge(json::object& base, const json::object& over) {
  for (const auto& member : over) {
    const json::value& value = member.value();
    if (value.is_null()) continue;
    json::value& place = base[member.key()];
    if (place.is_object() && value.is_object()) {
      merge(place.get_object(), value.get_object());
    } else {
      place = value;
    }
  }
}

// One family under two spellings would otherwise stand twice.
void forget_respelled(json::object& base_limits, const json::object& over_limits) {
  for (const auto& over : over_limits) {
    if (over.value().is_null()) continue;
    const GpuFamily family = gpu_family(over.key());
    std::vector<std::string> respelled;
    for (const auto& limit : base_limits)
      if (limit.key() != over.key() && gpu_family(limit.key()) == family)
        respelled.emplace_back(limit.key());
    for (const std::string& key : respelled) base_limits.erase(key);
  }
}

void refuse_raised_limits(const GpuCounts& limits, const json::object& over_limits,
                          Findings& findings) {
  for (const auto& over : over_limits) {
    if (!over.value().is_int64()) continue;
    const GpuFamily family = gpu_family(over.key());
    const auto limit =
        std::ranges::find_if(limits, [&](const auto& known) { return known.first == family; });
    if (limit == limits.end() || over.value().get_int64() <= limit->second) continue;
    add_problem(findings, pointer("/spec/gpuLimits", over.key()),
                fmt::format("{} {} are above the {} of the compute profile",
                            over.value().get_int64(), printable(family.shown), limit->second),
                "an override may lower a limit; raise it in the compute profile");
  }
}

}  // namespace

ComputeProfileSpec compute_profile_spec(const Manifest& manifest) {
  return profile_of(spec_of(manifest, PaletteKind::compute_profile));
}

SettingsSpec settings_spec(const Manifest& manifest) {
  const json::object& spec = spec_of(manifest, PaletteKind::settings);
  return {texts_at(spec, "machineSources"), std::string(text_or(spec, "provisioner", ""))};
}

ComputeSpec compute_spec(const Manifest& manifest) {
  return {name_at(spec_of(manifest, PaletteKind::compute), "settingsRef")};
}

ProjectSpec project_spec(const Manifest& manifest) {
  const json::object& spec = spec_of(manifest, PaletteKind::project);
  return {name_at(spec, "computeProfileRef"), name_at(spec, "settingsRef")};
}

WorkloadProfileSpec workload_profile_spec(const Manifest& manifest) {
  EXA_ASSERT(manifest.kind == PaletteKind::workload_profile);
  const json::object& labels = object_at(object_at(manifest.document, "metadata"), "labels");
  const json::value* const label = find(labels, "palette.ai/min-nodes");
  if (label == nullptr || !label->is_string()) return {};
  return {std::string(std::string_view(label->get_string()))};
}

MlPlatformSpec ml_platform_spec(const Manifest& manifest) {
  const json::object& spec = spec_of(manifest, PaletteKind::ml_platform);
  MlPlatformSpec platform;
  platform.compute_profile_ref = name_at(spec, "computeProfileRef");
  platform.override_ = object_at(object_at(spec, "computeProfileRef"), "override");
  platform.workload_profile_ref = name_at(spec, "workloadProfileRef");
  platform.gpus = counts_at(spec, "gpus");
  if (const std::string_view memory = text_or(spec, "gpuMemory", ""); !memory.empty())
    platform.gpu_memory_bytes = parse_gpu_memory(memory).value_or(0);
  platform.mode =
      find_allocation_mode(text_or(spec, "mode", "")).value_or(AllocationMode::dedicated);
  std::string architecture(text_or(spec, "architecture", ""));
  std::ranges::transform(architecture, architecture.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  });
  platform.architecture = std::move(architecture);
  platform.control_plane_groups = groups_at(spec, "controlPlaneResourceGroups");
  platform.worker_groups = groups_at(spec, "workerResourceGroups");
  return platform;
}

Result<ComputeProfileSpec> overridden(const Manifest& compute_profile,
                                      const json::object& override_) {
  json::object both = compute_profile.document;
  json::object& spec = both["spec"].get_object();
  if (const auto limits = spec.find("gpuLimits");
      limits != spec.end() && limits->value().is_object())
    forget_respelled(limits->value().get_object(), object_at(override_, "gpuLimits"));
  merge(spec, override_);
  Findings findings;
  check_fields(both, fields_of(PaletteKind::compute_profile), "", "", findings);
  refuse_raised_limits(compute_profile_spec(compute_profile).gpu_limits,
                       object_at(override_, "gpuLimits"), findings);
  if (!findings.problems.empty())
    return fail(invalid(fmt::format("compute profile {} with its override", compute_profile.name),
                        std::move(findings.problems)));
  return profile_of(spec);
}

}  // namespace exa
