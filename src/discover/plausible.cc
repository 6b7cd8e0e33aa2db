#include "discover/plausible.h"

#include <fmt/format.h>

#include "base/text.h"

namespace exa {
namespace {

Result<void> at_most(const Node& node, std::string_view what, int64_t count, int64_t most) {
  if (count <= most) return {};
  return fail(Code::unreadable_output,
              fmt::format("node {}: {} is no number of {} that one machine has (at most {})",
                          printable(node.name), count, what, most));
}

Result<void> check_cards(const Node& node, const CardSet& cards) {
  EXA_TRY(at_most(node, "devices", cards.physical.value_or(0), kMostDevices));
  for (const Offer& offer : cards.offers) {
    if (offer.sharing == Sharing::whole)
      EXA_TRY(at_most(node, "devices", offer.units, kMostDevices));
    if (offer.sharing == Sharing::mig)
      EXA_TRY(at_most(node, "MIG instances", offer.units, kMostSlices));
  }
  return {};
}

}  // namespace

Result<void> check_plausible(const Inventory& inventory) {
  for (const Node& node : inventory.nodes) {
    EXA_TRY(at_most(node, "cores", node.cpu_milli.value_or(0) / 1000, kMostCores));
    for (const CardSet& cards : node.cards) EXA_TRY(check_cards(node, cards));
  }
  return {};
}

}  // namespace exa
