// Shapes whose fields are each well formed and together impossible. Semantics §3.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/quantity.h"
#include "base/text.h"
#include "hardware/catalogue.h"
#include "profile/validate.h"

namespace exa {
namespace {

using Found = std::optional<Problem>;

Problem at(std::string_view field, std::string message, std::string suggestion = {}) {
  return {pointer("", field), std::move(message), std::move(suggestion)};
}

bool is_cpu(const Shape& shape) {
  return shape.accelerator_family == Family::cpu;
}

std::string_view family_name(const Shape& shape) {
  return info(shape.accelerator_family).name;
}

Found cpu_with_gpus(const Shape& shape) {
  if (!is_cpu(shape) || shape.gpu_count == 0) return std::nullopt;
  return at("gpu_count", fmt::format("must be 0 for the cpu family, not {}", shape.gpu_count));
}

Found cpu_with_fraction(const Shape& shape) {
  if (!is_cpu(shape) || shape.gpu_fraction_milli == 1000) return std::nullopt;
  return at("gpu_fraction", "has no meaning for the cpu family");
}

Found cpu_with_model(const Shape& shape) {
  if (!is_cpu(shape) || shape.accelerator_model_hint.empty()) return std::nullopt;
  return at("accelerator_model_hint", "has no meaning for the cpu family");
}

Found family_without_mig(const Shape& shape) {
  if (shape.mig_profile.empty() || info(shape.accelerator_family).has_mig) return std::nullopt;
  return at("mig_profile", fmt::format("the {} family has no MIG", family_name(shape)));
}

// A hint from the catalogue that means no device of the family at all.
Found model_of_another_family(const Shape& shape) {
  if (is_cpu(shape) || shape.accelerator_model_hint.empty()) return std::nullopt;
  const auto models = models_meant(shape.accelerator_model_hint);
  const bool fits = models.empty() || std::ranges::any_of(models, [&](const DeviceModel* model) {
                      return model->family == shape.accelerator_family;
                    });
  if (fits) return std::nullopt;
  const std::string_view other = info(models.front()->family).name;
  return at("accelerator_model_hint",
            fmt::format("{} is a device of the {} family, not of {}", shape.accelerator_model_hint,
                        other, family_name(shape)));
}

std::vector<const DeviceModel*> models_of(const Shape& shape) {
  std::vector<const DeviceModel*> models;
  if (!shape.accelerator_model_hint.empty()) models = models_meant(shape.accelerator_model_hint);
  if (!models.empty()) return models;
  for (const DeviceModel& model : catalogue())
    if (model.family == shape.accelerator_family) models.push_back(&model);
  return models;
}

std::vector<std::string> mig_profiles_of(const std::vector<const DeviceModel*>& models) {
  std::vector<std::string> names;
  for (const DeviceModel* model : models)
    for (const MigProfile& profile : model->mig_profiles)
      if (std::ranges::find(names, profile.name) == names.end()) names.emplace_back(profile.name);
  return names;
}

// With a hint that the catalogue knows, one of the models meant must have the profile; without, any
// model of the family.
Found model_without_that_mig(const Shape& shape) {
  if (shape.mig_profile.empty() || !info(shape.accelerator_family).has_mig) return std::nullopt;
  const auto models = models_of(shape);
  const bool known = std::ranges::any_of(models, [&](const DeviceModel* model) {
    return find_mig_profile(*model, shape.mig_profile) != nullptr;
  });
  if (known) return std::nullopt;
  const bool hinted =
      !shape.accelerator_model_hint.empty() && !models_meant(shape.accelerator_model_hint).empty();
  if (!hinted) {
    return at(
        "mig_profile",
        fmt::format("no {} device has the MIG profile {}", family_name(shape), shape.mig_profile),
        did_you_mean(shape.mig_profile, mig_profiles_of(models)));
  }
  const std::vector<std::string> profiles = mig_profiles_of(models);
  return at("mig_profile",
            profiles.empty()
                ? fmt::format("{} has no MIG", shape.accelerator_model_hint)
                : fmt::format("{} has no MIG profile {}; it has {}", shape.accelerator_model_hint,
                              shape.mig_profile, join(profiles, ", ")),
            did_you_mean(shape.mig_profile, profiles));
}

Found mig_with_fraction(const Shape& shape) {
  if (shape.mig_profile.empty() || shape.gpu_fraction_milli == 1000) return std::nullopt;
  return at("gpu_fraction", fmt::format("must be 1 together with mig_profile: {} already says how "
                                        "much of a device",
                                        shape.mig_profile));
}

Found fraction_of_nothing(const Shape& shape) {
  if (is_cpu(shape) || shape.gpu_count > 0 || shape.gpu_fraction_milli == 1000) return std::nullopt;
  return at("gpu_fraction",
            fmt::format("{} of no device: gpu_count is 0", format_milli(shape.gpu_fraction_milli)));
}

Found mig_of_nothing(const Shape& shape) {
  if (is_cpu(shape) || shape.gpu_count > 0 || shape.mig_profile.empty()) return std::nullopt;
  return at("mig_profile",
            fmt::format("no instance of {} is asked for: gpu_count is 0", shape.mig_profile));
}

Found applicable_to_nothing(const Shape& shape) {
  if (!shape.applicability.empty()) return std::nullopt;
  return at("applicability", fmt::format("is empty; name some of {}", join(surface_names(), ", ")));
}

constexpr std::array kRules = {
    cpu_with_model,    model_of_another_family, cpu_with_gpus,      cpu_with_fraction,
    mig_with_fraction, fraction_of_nothing,     family_without_mig, model_without_that_mig,
    mig_of_nothing,    applicable_to_nothing,
};

}  // namespace

std::vector<Problem> contradictions(const Shape& shape) {
  std::vector<Problem> problems;
  for (const auto rule : kRules)
    if (Found found = rule(shape)) problems.push_back(std::move(*found));
  return problems;
}

}  // namespace exa
