// Fragmentation gradient descent (Weng et al., USENIX ATC 2023): the node, and card, on which
// fragmentation grows least. The score is the authors' integer one, floor(100 sigmoid(fall/1000)):
// rounding is what makes FGD pack. Equal scores go to the smallest name; an ask without devices
// first goes where the least device share is free, which is what reproduces the published figures
// (docs/performance.md).
#include <cmath>

#include "place/fragmentation.h"
#include "place/policy_parts.h"

namespace exa {
namespace {

class Fgd final : public DevicePolicy {
 public:
  std::string_view name() const override { return "fgd"; }
  Ties ties() const override { return Ties::by_name; }
  void learn(const DeviceFleet& fleet, const AskMix& mix) override {
    fragmentation_ = std::make_unique<Fragmentation>(fleet, mix);
    mig_.clear();
    for (const DeviceKind& kind : fleet.kinds()) mig_.push_back(kind.mig ? 1 : 0);
  }

  void price(const AskShape& ask, std::span<const NodeClass* const> classes,
             std::span<Offered> out) const override {
    for (size_t i = 0; i < classes.size(); ++i) out[i] = best(ask, *classes[i]);
  }

 private:
  Offered best(const AskShape& ask, const NodeClass& node) const {
    const uint32_t tie = ask.devices == 0 ? static_cast<uint32_t>(node.free_milli) : 0;
    if (!fragmentation_ || fragmentation_->weight() == 0 || mig_[node.kind] != 0)
      return {0, left_over(ask, node), fullest_card(ask, node)};  // knows nothing: best fit
    const int64_t before = fall(node.kind, node.cpu_free, node.cards, node.count);
    const int64_t cpu = node.cpu_free - ask.cpu_milli;
    Offered offered{1, tie, 0};
    for_each_card(ask, node, [&](uint8_t card) {
      if (!ask.shares_a_card() && offered.cost <= 0) return;  // whole cards: one way only
      CardStates after = node.cards;
      for (int32_t n = 0; n < ask.devices; ++n) {
        uint16_t& state = after.at(card + static_cast<size_t>(n));
        state = static_cast<uint16_t>(state - ask.share_milli);
      }
      const int64_t change = before - fall(node.kind, cpu, after, node.count);
      const int32_t cost = -score(change);
      if (offered.cost > 0 || cost < offered.cost) offered = {cost, tie, card};
    });
    if (offered.cost > 0)  // an ask without devices on a node without cards
      offered = {-score(before - fall(node.kind, cpu, node.cards, node.count)), tie, 0};
    return offered;
  }

  int64_t fall(uint32_t kind, int64_t cpu, const CardStates& cards, uint8_t count) const {
    return fragmentation_->of(kind, cpu, std::span(cards).first(count));
  }

  int32_t score(int64_t change) const {
    const double fall =
        static_cast<double>(change) / static_cast<double>(fragmentation_->weight()) / 1000;
    return static_cast<int32_t>(100 / (1 + std::exp(-fall)));
  }

  std::unique_ptr<Fragmentation> fragmentation_;
  std::vector<uint8_t> mig_;
};

}  // namespace

std::unique_ptr<DevicePolicy> make_fgd() {
  return std::make_unique<Fgd>();
}

}  // namespace exa
