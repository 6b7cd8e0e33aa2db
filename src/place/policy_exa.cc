// exa's own policy: the node that loses the least of what the workload to come could use.
//
// A node's worth is what its free cards are worth to the mix, less what its free cpu cannot feed:
//
//   worth = sum of value(card) - sum over i of w_i max(0, U - cpu / rho_i)
//
// - value(card): the dual prices of packing the mix's shares on cards (place/card_value.h). Between
//   650 and 350 thousandths left it sees what best fit does not: which of them will be filled.
// - U: the free share that wants cpu, nine parts by value and one part by size. rho_1 and rho_2 are
//   0.37 and 0.92 of the cpu that the mix's device asks need per device, w = 1/2 and 1: below the
//   second a node is short for the typical ask, below the first even for the frugal ones. Neither
//   is more than 0.9 of what the node has: an empty node is never short.
// - Asks for devices pay for scarce models: 0.3 of a device times the model's pressure, its part of
//   what the asks name over its part of the capacity.
//
// Equal losses go to best fit. All of it is integer arithmetic, so every machine answers alike.
// Figures and how the constants were found: docs/performance.md.
#include <cmath>

#include "place/accepts.h"
#include "place/card_value.h"
#include "place/policy_parts.h"

namespace exa {
namespace {

constexpr int64_t kMicro = 1'000'000;   // of a device
constexpr int64_t kGrain = 64;          // costs closer than 64 millionths of a device are equal
constexpr int64_t kScarcity = 300'000;  // millionths per unit of pressure
constexpr int64_t kFrugalPercent = 37;  // of the mean cpu per device
constexpr int64_t kTypicalPercent = 92;
constexpr int64_t kMostPercent = 90;              // of the cpu per device that a node has
constexpr int64_t kSteepest = int64_t{1} << 26U;  // times the largest node's cpu fits 63 bits
constexpr unsigned kSlopeBits = 10;               // slopes are kept in 1/1024

class Exa final : public DevicePolicy {
 public:
  std::string_view name() const override { return "exa"; }

  void learn(const DeviceFleet& fleet, const AskMix& mix) override {
    learn_values(mix);
    learn_slopes(fleet, mix);
    learn_pressure(fleet, mix);
  }

  void price(const AskShape& ask, std::span<const NodeClass* const> classes,
             std::span<Offered> out) const override {
    if (ask.shares_a_card())
      for (size_t i = 0; i < classes.size(); ++i) out[i] = price_share(ask, *classes[i]);
    else
      for (size_t i = 0; i < classes.size(); ++i) out[i] = price_whole(ask, *classes[i]);
  }

 private:
  // Both in millionths of a device.
  struct Worth {
    int64_t value = 0;
    int64_t hungry = 0;  // U above
  };

  // What a thousandth of a core feeds on nodes of one kind, in 1/1024 millionths of a device.
  struct Feeds {
    int64_t frugal = 0;
    int64_t typical = 0;
  };

  Worth worth_of(const NodeClass& node) const {
    if (mig_[node.kind] != 0)
      return {node.free_milli * int64_t{1000}, node.free_milli * int64_t{1000}};
    Worth worth;
    for (size_t i = 0; i < node.count; ++i) {
      worth.value += value_[node.cards[i]];
      worth.hungry += hunger_[node.cards[i]];
    }
    return worth;
  }

  static int64_t unfed(const Feeds& feeds, int64_t hungry, int64_t cpu) {
    const int64_t frugal = hungry - (cpu * feeds.frugal >> kSlopeBits);
    const int64_t typical = hungry - (cpu * feeds.typical >> kSlopeBits);
    return std::max<int64_t>(frugal, 0) / 2 + std::max<int64_t>(typical, 0);
  }

  static int32_t grains(int64_t loss) {
    constexpr int64_t most = std::numeric_limits<int32_t>::max();
    return static_cast<int32_t>(std::clamp(loss / kGrain, -most, most));
  }

  Offered price_whole(const AskShape& ask, const NodeClass& node) const {
    const Feeds& feeds = feeds_[node.kind];
    const Worth before = worth_of(node);
    const uint8_t card = fullest_card(ask, node);
    Worth after = before;
    if (ask.mig) {
      after.value -= ask.total_milli * int64_t{1000};
      after.hungry = after.value;
    } else {
      for (int32_t n = 0; n < ask.devices; ++n) {
        const uint16_t free = node.cards[card + static_cast<size_t>(n)];
        const auto left = static_cast<size_t>(free - ask.share_milli);
        after.value += value_[left] - value_[free];
        after.hungry += hunger_[left] - hunger_[free];
      }
    }
    const int64_t loss =
        before.value - after.value + unfed(feeds, after.hungry, node.cpu_free - ask.cpu_milli) -
        unfed(feeds, before.hungry, node.cpu_free) + (ask.devices > 0 ? scarcity_[node.kind] : 0);
    return {grains(loss), left_over(ask, node), card};
  }

  Offered price_share(const AskShape& ask, const NodeClass& node) const {
    const Feeds& feeds = feeds_[node.kind];
    const Worth before = worth_of(node);
    const int64_t cpu = node.cpu_free - ask.cpu_milli;
    const int64_t base = scarcity_[node.kind] - unfed(feeds, before.hungry, node.cpu_free);
    Offered offered{std::numeric_limits<int32_t>::max(), left_over(ask, node), 0};
    for_each_card(ask, node, [&](uint8_t card) {
      const uint16_t free = node.cards[card];
      const auto left = static_cast<size_t>(free - ask.share_milli);
      const int64_t hungry = before.hungry + hunger_[left] - hunger_[free];
      const int32_t cost = grains(base + value_[free] - value_[left] + unfed(feeds, hungry, cpu));
      if (cost < offered.cost) {
        offered.cost = cost;
        offered.card = card;
      }
    });
    return offered;
  }

  void learn_values(const AskMix& mix) {
    std::map<int64_t, int64_t> shares;
    for (const auto& [kind, count] : mix.counts())
      if (kind.devices > 0 && kind.share_milli < kWholeDevice)
        shares[kind.share_milli] += count * kind.devices;
    std::vector<ShareDemand> demand;
    for (const auto& [share, count] : shares) demand.push_back({share, count});
    value_ = card_value(demand);
    for (size_t size = 0; size < value_.size(); ++size)
      hunger_[size] = static_cast<int32_t>(
          (9 * int64_t{value_[size]} + static_cast<int64_t>(size) * 1000) / 10);
  }

  void learn_slopes(const DeviceFleet& fleet, const AskMix& mix) {
    double cpu = 0;  // sums of whole numbers, exact as far as it matters
    double milli = 0;
    const auto add = [&](int64_t more_cpu, int64_t more_milli, int64_t count) {
      cpu += static_cast<double>(more_cpu) * static_cast<double>(count);
      milli += static_cast<double>(more_milli) * static_cast<double>(count);
    };
    for (const auto& [kind, count] : mix.counts())
      if (kind.devices > 0) add(kind.cpu_milli, kind.devices * kind.share_milli, count);
    if (milli == 0) {  // nothing asked for yet: take the fleet's own proportion
      for (const uint32_t id : fleet.live_classes()) {
        const NodeClass& node = fleet.node_class(id);
        const DeviceKind& kind = fleet.kinds()[node.kind];
        if (kind.cards > 0) add(kind.cpu_milli, kind.cards * kWholeDevice, node.members);
      }
    }
    // cpu that a device wants, in thousandths of a core per device; at least one core in a thousand
    const int64_t per_device =
        milli == 0 ? kWholeDevice : std::max<int64_t>(static_cast<int64_t>(cpu * 1000 / milli), 1);
    feeds_.clear();
    feeds_.reserve(fleet.kinds().size());
    for (const DeviceKind& kind : fleet.kinds()) {
      const int64_t has = kind.cards == 0 ? per_device * 100 : kind.cpu_milli / kind.cards;
      const auto slope = [&](int64_t percent) {
        const int64_t wanted = std::min(per_device * percent, has * kMostPercent);
        return std::min((kMicro << kSlopeBits) * 100 / std::max<int64_t>(wanted, 1), kSteepest);
      };
      feeds_.push_back({slope(kFrugalPercent), slope(kTypicalPercent)});
    }
  }

  void learn_pressure(const DeviceFleet& fleet, const AskMix& mix) {
    const size_t kinds = fleet.kinds().size();
    std::vector<double> capacity(kinds, 0);
    for (const uint32_t id : fleet.live_classes()) {
      const NodeClass& node = fleet.node_class(id);
      capacity[node.kind] += static_cast<double>(node.count) * node.members;
    }
    double all = 0;
    double asked = 0;
    for (const double cards : capacity) all += cards;
    std::map<std::vector<std::string>, int64_t> named;
    for (const auto& [kind, count] : mix.counts()) {
      const int64_t milli = kind.devices * kind.share_milli * count;
      asked += static_cast<double>(milli);
      if (!kind.models.empty()) named[kind.models] += milli;
    }
    std::vector<double> demand(kinds, 0);
    for (const auto& [models, milli] : named) {
      double open = 0;
      std::vector<size_t> accepted;
      for (size_t k = 0; k < kinds; ++k)
        if (accepts_model(fleet.kinds()[k], models)) {
          accepted.push_back(k);
          open += capacity[k];
        }
      for (const size_t k : accepted)
        if (open > 0) demand[k] += static_cast<double>(milli) * capacity[k] / open;
    }
    scarcity_.assign(kinds, 0);
    mig_.assign(kinds, 0);
    for (size_t k = 0; k < kinds; ++k) {
      mig_[k] = fleet.kinds()[k].mig ? 1 : 0;
      if (capacity[k] > 0 && asked > 0)
        scarcity_[k] = std::llround(static_cast<double>(kScarcity) * (demand[k] / asked) /
                                    (capacity[k] / all));
    }
  }

  CardValue value_{};
  CardValue hunger_{};
  std::vector<Feeds> feeds_;       // by kind
  std::vector<int64_t> scarcity_;  // by kind, millionths
  std::vector<uint8_t> mig_;       // by kind
};

}  // namespace

std::unique_ptr<DevicePolicy> make_exa() {
  return std::make_unique<Exa>();
}

}  // namespace exa
