#include "base/text.h"
#include "discover/slurm_gres.h"
#include "hardware/catalogue.h"

namespace exa {

namespace {

// The family of all models that a text can mean, if it is one.
std::optional<Family> common_family(const std::vector<const DeviceModel*>& models) {
  if (models.empty()) return std::nullopt;
  for (const DeviceModel* model : models)
    if (model->family != models[0]->family) return std::nullopt;
  return models[0]->family;
}

// "1g.10gb", and the spellings that sites type by hand: "1g10gb", "1g_10gb", "1g.10gb_me".
std::string mig_profile_in(std::string_view text) {
  const std::string plain = lower(text);
  if (is_mig_profile_name(plain)) return plain;
  const size_t g = plain.find('g');
  if (g == std::string::npos || g == 0) return "";
  size_t memory = g + 1;
  if (memory < plain.size() && (plain[memory] == '_' || plain[memory] == '-')) ++memory;
  std::string respelt = plain.substr(0, g + 1) + "." + plain.substr(memory);
  if (plain.size() > g + 1 && plain[g + 1] == '.') respelt = plain;
  for (char& c : respelt)
    if (c == '_') c = '+';
  return is_mig_profile_name(respelt) ? respelt : "";
}

struct TypeParts {
  std::string_view model;
  std::string profile;
};

// "nvidia_a100-sxm4-80gb_1g.10gb" is a slice of 1g.10gb on a nvidia_a100-sxm4-80gb.
TypeParts split_type(std::string_view type) {
  for (size_t at = 0; at < type.size(); ++at) {
    if (at > 0 && type[at - 1] != '_' && type[at - 1] != '-') continue;
    std::string profile = mig_profile_in(type.substr(at));
    if (profile.empty()) continue;
    std::string_view model = type.substr(0, at == 0 ? 0 : at - 1);
    if (same_word(model, "mig")) model = "";
    if (model.size() > 4 && (same_word(model.substr(model.size() - 4), "_mig") ||
                             same_word(model.substr(model.size() - 4), "-mig"))) {
      model.remove_suffix(4);
    }
    return {model, std::move(profile)};
  }
  return {type, ""};
}

std::optional<Family> the_family_with_mig() {
  std::optional<Family> found;
  for (const FamilyInfo& family : families()) {
    if (!family.has_mig) continue;
    if (found) return std::nullopt;
    found = family.family;
  }
  return found;
}

struct KnownSoftware {
  std::string_view prefix;
  std::string_view product;
  std::optional<Family> family;
};

// Features that administrators name software by: "cuda-12.4", "rocm6.1".
constexpr KnownSoftware kSoftware[] = {
    {"cudatoolkit", "cuda", Family::nvidia},
    {"cuda", "cuda", Family::nvidia},
    {"cudnn", "cudnn", Family::nvidia},
    {"nccl", "nccl", Family::nvidia},
    {"nvidia-driver", "nvidia-driver", Family::nvidia},
    {"nvidia_driver", "nvidia-driver", Family::nvidia},
    {"rocm", "rocm", Family::amd},
    {"amdgpu", "amdgpu", Family::amd},
    {"synapseai", "synapseai", Family::intel_gaudi},
    {"habana-driver", "habana-driver", Family::intel_gaudi},
};

bool is_version(std::string_view text) {
  bool digit_before = false;
  for (const char c : text) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit && !(c == '.' && digit_before)) return false;
    digit_before = digit;
  }
  return digit_before;
}

const KnownSoftware* software_in(std::string_view feature, std::string_view& version) {
  for (const KnownSoftware& row : kSoftware) {
    if (!starts_with_ignoring_case(feature, row.prefix)) continue;
    version = feature.substr(row.prefix.size());
    if (!version.empty() && std::string_view("-_/=").find(version[0]) != std::string_view::npos) {
      version.remove_prefix(1);
    }
    if (is_version(version)) return &row;
  }
  return nullptr;
}

}  // namespace

const SlurmNames::Device& SlurmNames::device(std::string_view type) {
  if (const auto known = devices_.find(type); known != devices_.end()) return known->second;
  Device device;
  const TypeParts parts = split_type(type);
  device.reported = std::string(parts.model);
  device.mig_profile = parts.profile;
  device.family = common_family(models_meant(parts.model));
  if (const DeviceModel* model = single_model(parts.model)) device.model = std::string(model->name);
  if (!device.family && !parts.profile.empty()) device.family = the_family_with_mig();
  return devices_.emplace(std::string(type), std::move(device)).first->second;
}

const SlurmNames::Feature& SlurmNames::feature(std::string_view text) {
  if (const auto known = features_.find(text); known != features_.end()) return known->second;
  Feature feature;
  std::string_view version;
  if (const KnownSoftware* software = software_in(text, version)) {
    feature.family = software->family;
    feature.software = Software{std::string(software->product), std::string(version)};
  } else {
    // Only a feature that names one series of devices counts: "amd" and "intel" mostly mean
    // processors.
    const auto models = models_meant(text);
    bool one_series = !models.empty();
    for (const DeviceModel* model : models) one_series &= model->series == models[0]->series;
    if (one_series) feature.family = common_family(models);
  }
  return features_.emplace(std::string(text), std::move(feature)).first->second;
}

}  // namespace exa
