#include "hardware/family.h"

#include "base/error.h"

namespace exa {
namespace {

using Names = std::string_view;

constexpr Names kNvidiaResources[] = {"nvidia.com/gpu"};
constexpr Names kAmdResources[] = {"amd.com/gpu"};
constexpr Names kGaudiResources[] = {"habana.ai/gaudi"};
constexpr Names kTpuResources[] = {"google.com/tpu"};
// i915_monitoring is not a device: it lets a pod look at all of them.
constexpr Names kIntelResources[] = {"gpu.intel.com/i915", "gpu.intel.com/xe"};

constexpr Names kGpuGres[] = {"gpu"};
constexpr Names kGaudiGres[] = {"hpu", "gaudi"};
constexpr Names kTpuGres[] = {"tpu"};

constexpr Names kNvidiaFractions[] = {"mig", "time-slicing", "mps", "shard"};
constexpr Names kAmdFractions[] = {"shard"};

constexpr FamilyInfo kFamilies[] = {
    {Family::nvidia, "nvidia", true, "cuda", "NVIDIA", kNvidiaResources, kGpuGres,
     "CUDA_VISIBLE_DEVICES", true, kNvidiaFractions},
    {Family::amd, "amd", true, "rocm", "AMD", kAmdResources, kGpuGres, "ROCR_VISIBLE_DEVICES",
     false, kAmdFractions},
    {Family::intel_gaudi,
     "intel-gaudi",
     true,
     "ipex",
     "Intel Gaudi",
     kGaudiResources,
     kGaudiGres,
     "HABANA_VISIBLE_DEVICES",
     false,
     {}},
    {Family::tpu,
     "tpu",
     true,
     "xla",
     "Google TPU",
     kTpuResources,
     kTpuGres,
     "TPU_VISIBLE_CHIPS",
     false,
     {}},
    {Family::cpu, "cpu", true, "cpu", "CPU", {}, {}, "", false, {}},
    {Family::other, "other", false, "", "other", kIntelResources, {}, "", false, {}},
};

}  // namespace

std::span<const FamilyInfo> families() {
  return kFamilies;
}

const FamilyInfo& info(Family family) {
  for (const FamilyInfo& row : kFamilies)
    if (row.family == family) return row;
  EXA_ASSERT(false && "every family has a row");
}

std::optional<Family> find_family(std::string_view name) {
  for (const FamilyInfo& row : kFamilies)
    if (row.name == name) return row.family;
  return std::nullopt;
}

std::vector<Family> device_families() {
  std::vector<Family> list;
  for (const FamilyInfo& row : kFamilies)
    if (row.askable && row.family != Family::cpu) list.push_back(row.family);
  return list;
}

std::vector<std::string> askable_family_names() {
  std::vector<std::string> names;
  for (const FamilyInfo& row : kFamilies)
    if (row.askable) names.emplace_back(row.name);
  return names;
}

}  // namespace exa
