#include "hardware/count.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace exa {
namespace {

using Amount = std::optional<int64_t>;
using Key = std::tuple<Family, std::string, Sharing, std::string>;

// One unknown part makes the sum unknown: a sum without it would be a claim.
void add(Amount& sum, Amount part) {
  if (sum && part)
    *sum += *part;
  else
    sum.reset();
}

// Cards that no plugin or driver offers still exist; nothing of them can be asked for.
std::vector<Offer> offers_of(const CardSet& cards) {
  if (!cards.offers.empty()) return cards.offers;
  Offer nothing;
  nothing.used = 0;
  nothing.free = 0;
  return {nothing};
}

// What is free on a node without cpu or memory cannot be had by any job.
Amount stranded_on(const Node& node, Amount free) {
  if (free == 0) return 0;
  if (node.cpu_free_milli == 0 || node.memory_free_bytes == 0) return free;
  if (node.cpu_free_milli && node.memory_free_bytes) return 0;
  return std::nullopt;
}

struct Row {
  DeviceCount count;
  const Node* last_node = nullptr;
};

void add_offer(Row& row, const Node& node, const Offer& offer, Amount cards) {
  DeviceCount& count = row.count;
  if (row.last_node == nullptr)
    count.resource = offer.resource;
  else if (count.resource != offer.resource)
    count.resource.clear();
  if (row.last_node != &node) ++count.nodes;
  row.last_node = &node;

  add(count.physical, cards);
  count.units += offer.units;
  add(count.used, offer.used);
  if (!node.usable()) return;
  count.usable += offer.units;
  add(count.free, offer.free);
  add(count.stranded, stranded_on(node, offer.free));
}

Row empty_row(const Key& key) {
  Row row;
  std::tie(row.count.family, row.count.model, row.count.sharing, row.count.mig_profile) = key;
  row.count.physical = row.count.used = row.count.free = row.count.stranded = 0;
  return row;
}

void add_cards(std::map<Key, Row>& rows, const Node& node, const CardSet& cards) {
  const std::string& model = cards.model.empty() ? cards.reported : cards.model;
  // Offers are cut from the same cards, which therefore count once.
  Amount not_yet_counted = cards.physical;
  for (const Offer& offer : offers_of(cards)) {
    const Key key(cards.family, model, offer.sharing, offer.mig_profile);
    const auto row = rows.try_emplace(key, empty_row(key)).first;
    add_offer(row->second, node, offer, not_yet_counted);
    not_yet_counted = 0;
  }
}

}  // namespace

CapacityCount count_capacity(const Inventory& inventory) {
  CapacityCount capacity;
  capacity.cpu_milli = capacity.cpu_free_milli = 0;
  capacity.memory_bytes = capacity.memory_free_bytes = 0;
  std::map<Health, int64_t> unusable;
  std::map<Key, Row> rows;
  for (const Node& node : inventory.nodes) {
    ++capacity.nodes;
    for (const CardSet& cards : node.cards) add_cards(rows, node, cards);
    if (!node.usable()) {
      ++unusable[node.health];
      continue;
    }
    ++capacity.usable_nodes;
    add(capacity.cpu_milli, node.cpu_milli);
    add(capacity.cpu_free_milli, node.cpu_free_milli);
    add(capacity.memory_bytes, node.memory_bytes);
    add(capacity.memory_free_bytes, node.memory_free_bytes);
  }
  capacity.unusable.assign(unusable.begin(), unusable.end());
  for (auto& [key, row] : rows) capacity.devices.push_back(std::move(row.count));
  return capacity;
}

}  // namespace exa
