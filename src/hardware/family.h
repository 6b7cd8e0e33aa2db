// Accelerator families: one row each, read by every reader, renderer and check. Adding a family is
// adding a row in family.cc.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace exa {

enum class Family { nvidia, amd, intel_gaudi, tpu, cpu, other };

struct FamilyInfo {
  Family family;
  std::string_view name;     // the document's spelling: "intel-gaudi"
  bool askable;              // a profile may name it; `other` is only ever discovered
  std::string_view backend;  // cuda, rocm, ipex, xla, cpu
  std::string_view vendor;   // for people
  std::span<const std::string_view> kubernetes_resources;  // whole-device resource names
  std::span<const std::string_view>
      slurm_gres;                    // GRES names whose untyped devices are of this family
  std::string_view visible_devices;  // environment variable, empty if none
  bool has_mig;
  std::span<const std::string_view> fraction_mechanisms;  // mig, time-slicing, mps, shard
};

std::span<const FamilyInfo> families();
const FamilyInfo& info(Family family);
std::optional<Family> find_family(std::string_view name);  // exact document spelling
std::vector<std::string> askable_family_names();
std::vector<Family> device_families();  // those that a profile may ask devices of

}  // namespace exa
