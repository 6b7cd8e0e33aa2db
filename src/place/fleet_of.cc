#include "place/fleet_of.h"

#include <algorithm>

#include <fmt/format.h>

#include "hardware/catalogue.h"

namespace exa {
namespace {

constexpr std::string_view kGroupLabel = "palette.ai.rg/";

const Offer* whole_offer(const CardSet& cards) {
  const auto found = std::ranges::find(cards.offers, Sharing::whole, &Offer::sharing);
  return found == cards.offers.end() ? nullptr : &*found;
}

std::string_view model_of(const CardSet& cards) {
  return cards.model.empty() ? cards.reported : cards.model;
}

std::string not_whole(const CardSet& cards) {
  if (cards.offers.empty() && cards.offers_unread.empty())
    return fmt::format("its {} cannot be asked for",
                       cards.reported.empty() ? "cards" : cards.reported);
  if (cards.offers.empty()) return "how its cards may be asked for was not read";
  return fmt::format("its cards are offered as {} only", name(cards.offers.front().sharing));
}

// Adds the cards of all sets, or says why that cannot be done.
std::string add_cards(const Node& from, DeviceNode& to) {
  if (!from.devices_unread.empty()) return "it may have devices that were not read";
  int64_t free = 0;
  for (const CardSet& cards : from.cards) {
    const Offer* offer = whole_offer(cards);
    if (offer == nullptr) return not_whole(cards);
    if (!offer->free) return "how many of its devices are free is not reported";
    if (to.cards > 0 && model_of(cards) != to.model)
      return fmt::format("it has cards of several models: {} and {}",
                         to.model.empty() ? "one not reported" : to.model, model_of(cards));
    to.model = std::string(model_of(cards));
    to.model_memory_bytes = cards.memory_bytes;
    to.cards += offer->units;
    free += std::clamp<int64_t>(*offer->free, 0, offer->units);
  }
  if (to.cards > static_cast<int64_t>(kMostCards))
    return fmt::format("it has {} cards, more than the {} that are placed one by one", to.cards,
                       kMostCards);
  for (int64_t card = 0; card < to.cards; ++card)
    to.free.push_back(card < free ? static_cast<uint16_t>(kWholeDevice) : uint16_t{0});
  if (const DeviceModel* model = single_model(to.model, to.model_memory_bytes))
    to.capabilities.assign(model->capabilities.begin(), model->capabilities.end());
  return {};
}

void add_groups(const Node& from, DeviceNode& to) {
  for (const auto& [key, value] : from.labels) {
    if (!key.starts_with(kGroupLabel)) continue;
    const std::string group = key.substr(kGroupLabel.size());
    to.groups.push_back(group);
    to.groups.push_back(fmt::format("{}={}", group, value));
  }
  for (const std::string& partition : from.partitions)
    to.groups.push_back(fmt::format("partition/{}", partition));
}

std::string unusable(const Node& node) {
  const std::string_view health = name(node.health);
  return node.reason.empty() ? fmt::format("it is {}", health)
                             : fmt::format("it is {}: {}", health, node.reason);
}

bool keeps_away(const Taint& taint) {
  return taint.effect == "NoSchedule" || taint.effect == "NoExecute";
}

// Why the node cannot be placed on; empty: it can, and `to` is filled.
std::string read(const Node& from, DeviceNode& to) {
  if (!from.usable()) return unusable(from);
  const auto taint = std::ranges::find_if(from.taints, keeps_away);
  if (taint != from.taints.end())
    return fmt::format("it is tainted {}:{}", taint->key, taint->effect);
  if (!from.cpu_milli || !from.cpu_free_milli) return "how much cpu is free is not reported";
  if (!from.memory_bytes || !from.memory_free_bytes)
    return "how much memory is free is not reported";
  to.name = from.name;
  to.cpu_milli = std::max<int64_t>(*from.cpu_milli, 0);
  to.cpu_free_milli = std::clamp<int64_t>(*from.cpu_free_milli, 0, to.cpu_milli);
  to.memory_bytes = std::max<int64_t>(*from.memory_bytes, 0);
  to.memory_free_bytes = std::clamp<int64_t>(*from.memory_free_bytes, 0, to.memory_bytes);
  add_groups(from, to);
  return add_cards(from, to);
}

}  // namespace

Result<FleetReading> fleet_of(const Inventory& inventory) {
  std::vector<DeviceNode> nodes;
  std::vector<LeftOutNode> left_out;
  for (const Node& from : inventory.nodes) {
    DeviceNode to;
    if (std::string why = read(from, to); !why.empty())
      left_out.push_back({from.name, std::move(why)});
    else
      nodes.push_back(std::move(to));
  }
  std::ranges::sort(left_out, {}, &LeftOutNode::name);
  EXA_ASSIGN(DeviceFleet fleet, DeviceFleet::build(std::move(nodes)));
  return FleetReading{std::move(fleet), std::move(left_out)};
}

}  // namespace exa
