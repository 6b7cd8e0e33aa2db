// Best fit: the node with the least left over, cpu and devices scaled alike.
#include "place/policy_parts.h"

namespace exa {
namespace {

class BestFit final : public DevicePolicy {
 public:
  std::string_view name() const override { return "best-fit"; }
  void price(const AskShape& ask, std::span<const NodeClass* const> classes,
             std::span<Offered> out) const override {
    for (size_t i = 0; i < classes.size(); ++i)
      out[i] = {0, left_over(ask, *classes[i]), fullest_card(ask, *classes[i])};
  }
};

}  // namespace

std::unique_ptr<DevicePolicy> make_best_fit() {
  return std::make_unique<BestFit>();
}

}  // namespace exa
