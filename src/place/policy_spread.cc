// Spread: the node with the most left over and the emptiest cards on it, so that noisy neighbours
// are few. What that costs in fragments, a simulation shows.
#include "place/policy_parts.h"

namespace exa {
namespace {

class Spread final : public DevicePolicy {
 public:
  std::string_view name() const override { return "spread"; }
  void price(const AskShape& ask, std::span<const NodeClass* const> classes,
             std::span<Offered> out) const override {
    for (size_t i = 0; i < classes.size(); ++i)
      out[i] = {
          0, std::numeric_limits<uint32_t>::max() - left_over(ask, *classes[i]),
          static_cast<uint8_t>(
              ask.mig ? 0 : classes[i]->count - std::min<int32_t>(ask.devices, classes[i]->count))};
  }
};

}  // namespace

std::unique_ptr<DevicePolicy> make_spread() {
  return std::make_unique<Spread>();
}

}  // namespace exa
