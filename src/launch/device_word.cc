#include "launch/device_word.h"

#include <algorithm>
#include <map>

#include "hardware/catalogue.h"

namespace exa {
namespace {

struct Seen {
  int64_t units = 0;
  int64_t shares = 0;
};

bool is_meant(const CardSet& cards, const Resources& resources) {
  if (cards.family != resources.family) return false;
  if (resources.model.empty()) return true;
  return match_model(resources.model, cards.model.empty() ? cards.reported : cards.model,
                     cards.memory_bytes) != Match::contradicted;
}

bool is_meant(const Offer& offer, const Resources& resources) {
  if (!resources.mig_profile.empty())
    return offer.sharing == Sharing::mig && offer.mig_profile == resources.mig_profile;
  if (resources.fraction_milli < 1000)
    return offer.sharing != Sharing::whole && offer.sharing != Sharing::mig;
  return offer.sharing == Sharing::whole;
}

bool is_in(const Node& node, const std::string& partition) {
  return node.usable() && (partition.empty() ||
                           std::ranges::find(node.partitions, partition) != node.partitions.end());
}

}  // namespace

DeviceWord device_word(const Inventory& inventory, const Resources& resources,
                       const std::string& partition) {
  DeviceWord word;
  if (resources.gpus == 0 || resources.family == Family::cpu) return word;
  const bool whole = resources.mig_profile.empty() && resources.fraction_milli == 1000;
  if (whole && resources.model.empty()) return word;
  std::map<std::string, Seen> seen;
  for (const Node& node : inventory.nodes) {
    if (!is_in(node, partition)) continue;
    for (const CardSet& cards : node.cards) {
      if (!is_meant(cards, resources)) continue;
      for (const Offer& offer : cards.offers) {
        if (!is_meant(offer, resources) || offer.resource.empty()) continue;
        Seen& row = seen[offer.resource];
        row.units += offer.units;
        const int64_t physical = cards.physical.value_or(0);
        if (physical > 0) row.shares = offer.units / physical;
      }
    }
  }
  std::vector<std::pair<int64_t, std::string>> words;
  for (const auto& [resource, row] : seen) words.emplace_back(-row.units, resource);
  std::ranges::sort(words);
  for (const auto& [units, resource] : words) {
    if (word.device.empty()) {
      word.device = resource;
      word.shares_per_device = seen[resource].shares;
    } else {
      word.others.push_back(resource);
    }
  }
  return word;
}

}  // namespace exa
