// Random: any node that fits, all alike. The floor that every other policy is held against.
#include "place/policy_parts.h"

namespace exa {
namespace {

class Random final : public DevicePolicy {
 public:
  std::string_view name() const override { return "random"; }
  Ties ties() const override { return Ties::by_lot; }
  void price(const AskShape& ask, std::span<const NodeClass* const> classes,
             std::span<Offered> out) const override {
    for (size_t i = 0; i < classes.size(); ++i) out[i] = {0, 0, fullest_card(ask, *classes[i])};
  }
};

}  // namespace

std::unique_ptr<DevicePolicy> make_random() {
  return std::make_unique<Random>();
}

}  // namespace exa
