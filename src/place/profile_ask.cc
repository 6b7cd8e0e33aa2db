#include "place/profile_ask.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/quantity.h"
#include "place/mig.h"

namespace exa {
namespace {

// The smallest share among the models meant, all of the family without a hint: what every one of
// them honours with this instance.
std::optional<int64_t> instance_share(const Shape& shape) {
  std::optional<int64_t> least;
  const std::string_view meant = shape.accelerator_model_hint.empty()
                                     ? info(shape.accelerator_family).name
                                     : std::string_view(shape.accelerator_model_hint);
  for (const DeviceModel* model : models_meant(meant)) {
    for (const MigProfile& profile : model->mig_profiles) {
      if (profile.name != shape.mig_profile) continue;
      const int64_t share = share_of(*model, profile).satisfied;
      least = std::min(least.value_or(share), share);
    }
  }
  return least;
}

}  // namespace

json::object ask_of(const HardwareProfile& profile) {
  const Shape& shape = profile.shape;
  json::object ask{{"accelerator", info(shape.accelerator_family).name},
                   {"gpus", std::max<int64_t>(1, shape.gpu_count)},
                   {"nodes", shape.nodes}};
  int64_t fraction = shape.gpu_fraction_milli;
  if (!shape.mig_profile.empty()) fraction = instance_share(shape).value_or(fraction);
  if (fraction < 1000) ask["fraction"] = number_from_milli(fraction);
  if (shape.cpu_milli > 0) ask["cpu"] = number_from_milli(shape.cpu_milli);
  if (shape.memory_bytes > 0) ask["memory_gb"] = number_from_text(format_gib(shape.memory_bytes));
  if (!shape.accelerator_model_hint.empty()) ask["model"] = shape.accelerator_model_hint;
  ask["hardware_profile"] = fmt::format("{}@{}", profile.name, profile.version);
  return ask;
}

}  // namespace exa
