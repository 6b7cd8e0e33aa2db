// Whether the cards of a kind are what an ask accepts. Inside place/ only.
#pragma once

#include <span>
#include <string>

#include "place/device_fleet.h"

namespace exa {

// One of the models is borne out by the kind's model (catalogue rules: hint A100 accepts any A100);
// no models: any. A kind without cards accepts nothing that names a model.
bool accepts_model(const DeviceKind& kind, std::span<const std::string> models);
bool has_capabilities(const DeviceKind& kind, std::span<const std::string> capabilities);

}  // namespace exa
