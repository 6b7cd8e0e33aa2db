// What several policies measure of a node. Inside place/ only.
#pragma once

#include <algorithm>
#include <limits>

#include "place/policy.h"

namespace exa {

// The largest node of the openb cluster, by which its authors scale amounts.
inline constexpr int64_t kLargestCpu = 128'000;
inline constexpr int64_t kLargestGpu = 8'000;

// What would be left of a node, cpu and devices scaled alike: 0 is a perfect fit.
inline uint32_t left_over(const AskShape& ask, const NodeClass& node) {
  const int64_t cpu = node.cpu_free - ask.cpu_milli;
  const int64_t gpu = node.free_milli - ask.total_milli;
  const int64_t sum = cpu * 1000 * (kLargestGpu / 1000) + gpu * 1000 * (kLargestCpu / 1000);
  return static_cast<uint32_t>(std::min<int64_t>(sum / 1024, std::numeric_limits<uint32_t>::max()));
}

// The fullest card that holds the share, as a place in `cards`; the cards after it hold it too.
inline uint8_t fullest_card(const AskShape& ask, const NodeClass& node) {
  if (ask.devices == 0 || ask.mig) return 0;
  uint8_t card = 0;
  while (card < node.count && node.cards[card] < ask.share_milli) ++card;
  return card;
}

// Calls price(node, place of the card) for each different card that holds the share, fullest first.
template <typename Price>
void for_each_card(const AskShape& ask, const NodeClass& node, Price&& price) {
  for (uint8_t card = fullest_card(ask, node); card < node.count; ++card)
    if (card == 0 || node.cards.at(card) != node.cards.at(card - size_t{1}) ||
        node.cards.at(card - size_t{1}) < ask.share_milli)
      price(card);
}

std::unique_ptr<DevicePolicy> make_best_fit();
std::unique_ptr<DevicePolicy> make_packing();
std::unique_ptr<DevicePolicy> make_spread();
std::unique_ptr<DevicePolicy> make_dot_product();
std::unique_ptr<DevicePolicy> make_fgd();
std::unique_ptr<DevicePolicy> make_random();
std::unique_ptr<DevicePolicy> make_exa();

}  // namespace exa
