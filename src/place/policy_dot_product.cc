// Dot product: the node whose free vector is least aligned with the ask, after Tetris (Grandl et
// al., SIGCOMM 2014) as Weng et al. use it: amounts over those of the largest node; a share looks
// at each card in use and at the idle cards together.
#include "place/policy_parts.h"

namespace exa {
namespace {

int32_t score(const AskShape& ask, const NodeClass& node, int32_t free_milli) {
  const double cpu = static_cast<double>(node.cpu_free) / kLargestCpu *
                     (static_cast<double>(ask.cpu_milli) / kLargestCpu);
  const double gpu = static_cast<double>(free_milli) / kLargestGpu *
                     (static_cast<double>(ask.total_milli) / kLargestGpu);
  return static_cast<int32_t>(100 * (1 - (cpu + gpu) / 2));
}

Offered best(const AskShape& ask, const NodeClass& node) {
  Offered offered{1, 0, fullest_card(ask, node)};
  const auto consider = [&](int32_t free_milli, uint8_t card) {
    const int32_t cost = -score(ask, node, free_milli);
    if (cost < offered.cost) offered = {cost, 0, card};
  };
  if (ask.devices <= 1 && ask.share_milli < kWholeDevice && !ask.mig)
    for_each_card(ask, node, [&](uint8_t card) {
      if (node.cards.at(card) < kWholeDevice) consider(node.cards.at(card), card);
    });
  if (node.whole >= ask.devices)
    consider(node.whole * static_cast<int32_t>(kWholeDevice),
             static_cast<uint8_t>(node.count - node.whole));
  if (offered.cost > 0) offered.cost = 0;  // shares of several cards, all in use
  return offered;
}

class DotProduct final : public DevicePolicy {
 public:
  std::string_view name() const override { return "dot-product"; }
  Ties ties() const override { return Ties::by_name; }
  void price(const AskShape& ask, std::span<const NodeClass* const> classes,
             std::span<Offered> out) const override {
    for (size_t i = 0; i < classes.size(); ++i) out[i] = best(ask, *classes[i]);
  }
};

}  // namespace

std::unique_ptr<DevicePolicy> make_dot_product() {
  return std::make_unique<DotProduct>();
}

}  // namespace exa
