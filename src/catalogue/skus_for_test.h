// A compute profile that says something everywhere, for tests.
#pragma once

#include "catalogue/compute_sku.h"
#include "catalogue/inputs_for_test.h"

namespace exa::sample {

inline json::object full_sku() {
  return parsed(R"({
    "name": "medium-gpu", "display_name": "Medium", "description": "Two GPUs.\nFor training.",
    "allocation": "dedicated", "environment_template": {"name": "gpu-vm", "version": "v1.2"},
    "hardware_profile": null,
    "shape": {"accelerator_family": "nvidia", "accelerator_model_hint": "A100", "gpu_count": 2,
              "cpu": 8, "memory_gb": 32},
    "labels": {"team": "ml"}, "annotations": {"example.com/note": "a b"},
    "icon_url": "https://example.com/a.png", "readme": "# Medium\n\n- two GPUs",
    "price_per_hour": {"amount": "2.5", "currency": "EUR"},
    "inputs": [{"name": "gpu_count", "type": "number", "min": 1, "max": 8, "step": 1, "default": 2},
               {"name": "image", "override": "notallowed", "default": "ubuntu"},
               {"name": "password", "type": "secret", "required": true}],
    "outputs": [{"name": "address", "label": "Address"}, {"name": "token", "secret": true}]
  })")
      .as_object();
}

inline ComputeSku sku_of(const json::object& object) {
  auto sku = compute_sku_from_json(object);
  EXA_ASSERT(sku.has_value());
  return *sku;
}

// As full_sku(), with some members replaced; null takes one out.
inline json::object sku_with(std::string_view members) {
  json::object object = full_sku();
  const json::value changed = parsed(members);
  for (const auto& member : changed.as_object()) object[member.key()] = member.value();
  return object;
}

}  // namespace exa::sample
