#include "place/fragmentation.h"

#include <numeric>

#include "place/accepts.h"

namespace exa {

Fragmentation::Fragmentation(const DeviceFleet& fleet, const AskMix& mix) {
  for (const auto& [kind, count] : mix.by_frequency()) {
    if (weight_ * 20 >= mix.total() * 19) break;
    Row row{kind.cpu_milli, kind.devices, kind.share_milli, count, {}};
    for (const DeviceKind& cards : fleet.kinds())
      row.accepted.push_back(!cards.mig && accepts_model(cards, kind.models) ? 1 : 0);
    weight_ += count;
    rows_.push_back(std::move(row));
  }
}

int64_t Fragmentation::of(uint32_t kind, int64_t cpu_free, std::span<const uint16_t> cards) const {
  const int64_t free = std::accumulate(cards.begin(), cards.end(), int64_t{0});
  if (free == 0) return 0;
  int64_t sum = 0;
  for (const Row& row : rows_) {
    int64_t lost = free;
    if (row.devices > 0 && cpu_free >= row.cpu_milli && row.accepted[kind] != 0) {
      int64_t fit = 0;
      int64_t small = 0;
      for (const uint16_t share : cards) {
        fit += share >= row.share_milli ? 1 : 0;
        small += share >= row.share_milli ? 0 : share;
      }
      if (fit >= row.devices) lost = small;
    }
    sum += row.count * lost;
  }
  return sum;
}

double Fragmentation::ratio(const DeviceFleet& fleet) const {
  int64_t lost = 0;
  int64_t free = 0;
  for (const uint32_t id : fleet.live_classes()) {
    const NodeClass& node = fleet.node_class(id);
    if (fleet.kinds()[node.kind].mig) continue;
    lost += node.members * of(node.kind, node.cpu_free, std::span(node.cards).first(node.count));
    free += int64_t{node.members} * node.free_milli;
  }
  if (free == 0 || weight_ == 0) return 0;
  return static_cast<double>(lost) / static_cast<double>(weight_) / static_cast<double>(free);
}

}  // namespace exa
