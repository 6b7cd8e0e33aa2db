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

// One way of asking, with the number of units open where nothing listed them.
struct Counted {
  Offer offer;
  Amount units;
};

// Cards that no plugin or driver offers still exist; nothing of them can be asked for.
std::vector<Counted> offers_of(const CardSet& cards) {
  std::vector<Counted> offers;
  for (const Offer& offer : cards.offers) offers.push_back({offer, offer.units});
  for (const Sharing sharing : cards.offers_unread) {
    // One row stands for cards of which nothing at all is known; MIG alone is known to be on.
    if (sharing == Sharing::mig && cards.offers_unread.size() > 1) continue;
    Offer unread;
    unread.sharing = sharing;
    offers.push_back({unread, std::nullopt});
  }
  if (!offers.empty()) return offers;
  Offer nothing;
  nothing.used = 0;
  nothing.free = 0;
  return {{nothing, 0}};
}

// Whole cards that no job holds and that are not free: they carry shares in use.
Amount carrying_shares(const Offer& offer) {
  if (offer.sharing != Sharing::whole) return 0;
  if (!offer.used || !offer.free) return std::nullopt;
  return std::max<int64_t>(0, offer.units - *offer.used - *offer.free);
}

// What is free on a node without cpu or memory cannot be had by any job.
Amount stranded_on(const Node& node, const Offer& offer) {
  const Amount free = offer.free;
  Amount stranded = carrying_shares(offer);
  if (!free) return std::nullopt;
  if (free == 0) return stranded;
  if (node.cpu_free_milli == 0 || node.memory_free_bytes == 0)
    add(stranded, free);
  else if (!node.cpu_free_milli || !node.memory_free_bytes)
    stranded.reset();
  return stranded;
}

struct Row {
  DeviceCount count;
  const Node* last_node = nullptr;
  bool shows_cards = false;  // some cards are counted here and in no other row
};

void add_offer(Row& row, const Node& node, const Counted& counted) {
  const Offer& offer = counted.offer;
  DeviceCount& count = row.count;
  if (row.last_node == nullptr)
    count.resource = offer.resource;
  else if (count.resource != offer.resource)
    count.resource.clear();
  if (row.last_node != &node) ++count.nodes;
  row.last_node = &node;

  add(count.units, counted.units);
  add(count.used, offer.used);
  if (!node.usable()) return;
  add(count.usable, counted.units);
  add(count.free, offer.free);
  add(count.stranded, stranded_on(node, offer));
}

Row empty_row(const Key& key) {
  Row row;
  std::tie(row.count.family, row.count.model, row.count.sharing, row.count.mig_profile) = key;
  row.count.units = row.count.usable = 0;
  row.count.physical = row.count.used = row.count.free = row.count.stranded = 0;
  return row;
}

void add_cards(std::map<Key, Row>& rows, const Node& node, const CardSet& cards) {
  const std::string& model = cards.model.empty() ? cards.reported : cards.model;
  const std::vector<Counted> offers = offers_of(cards);
  // Offers are cut from the same cards: the row that stands first shows them, which is that of
  // whole cards where there are any.
  const auto showing = std::ranges::min_element(offers, {}, [](const Counted& one) {
    return std::pair(one.offer.sharing, one.offer.mig_profile);
  });
  for (auto one = offers.begin(); one != offers.end(); ++one) {
    const Key key(cards.family, model, one->offer.sharing, one->offer.mig_profile);
    Row& row = rows.try_emplace(key, empty_row(key)).first->second;
    add_offer(row, node, *one);
    if (one != showing) continue;
    add(row.count.physical, cards.physical);
    row.shows_cards = true;
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
  for (auto& [key, row] : rows) {
    if (!row.shows_cards) row.count.physical.reset();
    capacity.devices.push_back(std::move(row.count));
  }
  return capacity;
}

}  // namespace exa
