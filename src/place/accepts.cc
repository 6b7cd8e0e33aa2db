#include "place/accepts.h"

#include <algorithm>

#include "hardware/catalogue.h"

namespace exa {

bool accepts_model(const DeviceKind& kind, std::span<const std::string> models) {
  if (models.empty()) return true;
  if (kind.cards == 0 || kind.model.empty()) return false;
  return std::ranges::any_of(models, [&](const std::string& model) {
    return model == kind.model ||
           match_model(model, kind.model, kind.model_memory_bytes) == Match::confirmed;
  });
}

bool has_capabilities(const DeviceKind& kind, std::span<const std::string> capabilities) {
  return std::ranges::all_of(capabilities, [&](const std::string& tag) {
    return std::ranges::binary_search(kind.capabilities, tag);
  });
}

}  // namespace exa
