// GPU packing: cards in use before idle ones, nodes in use before idle ones. The three bands and
// their scores are those of the policy of that name in Weng et al., USENIX ATC 2023 (artifact).
#include "place/policy_parts.h"

namespace exa {
namespace {

constexpr int32_t kTop = 100;

int32_t score(const AskShape& ask, const NodeClass& node) {
  if (ask.total_milli == 0) return 0;
  if (node.whole == node.count)
    return std::max<int32_t>(kTop / 3 - node.whole, node.whole);  // an idle node
  const uint8_t first = fullest_card(ask, node);
  int32_t idle = 0;
  int32_t percent = 0;
  if (ask.share_milli == kWholeDevice) {
    idle = ask.devices;
  } else {
    for (int32_t i = 0; i < ask.devices; ++i) {
      const uint16_t free = node.cards.at(first + static_cast<size_t>(i));
      if (free == kWholeDevice) ++idle;
      percent += free / 10;
    }
  }
  if (idle > 0) return std::max(kTop / 2 - idle, kTop / 3);
  return std::max(kTop - percent / 10, kTop / 2);
}

class Packing final : public DevicePolicy {
 public:
  std::string_view name() const override { return "packing"; }
  Ties ties() const override { return Ties::by_name; }
  void price(const AskShape& ask, std::span<const NodeClass* const> classes,
             std::span<Offered> out) const override {
    for (size_t i = 0; i < classes.size(); ++i)
      out[i] = {-score(ask, *classes[i]), 0, fullest_card(ask, *classes[i])};
  }
};

}  // namespace

std::unique_ptr<DevicePolicy> make_packing() {
  return std::make_unique<Packing>();
}

}  // namespace exa
