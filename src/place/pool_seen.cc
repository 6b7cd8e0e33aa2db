#include "place/pool_seen.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "place/mig.h"

namespace exa {
namespace {

bool is_of_pool(const CardSet& cards, const Pool& pool) {
  if (cards.family != pool.accelerator) return false;
  if (pool.model.empty()) return true;
  return match_model(pool.model, cards.model.empty() ? cards.reported : cards.model,
                     cards.memory_bytes) != Match::contradicted;
}

// Thousandths of a device in one unit of an offer; 0: unknown.
int64_t offered_share(const CardSet& cards, const Offer& offer) {
  if (offer.sharing == Sharing::mig) {
    const DeviceModel* model = single_model(cards.model);
    if (model == nullptr) return 0;
    for (const MigProfile& profile : model->mig_profiles) {
      if (profile.name == offer.mig_profile) return share_of(*model, profile).satisfied;
    }
    return 0;
  }
  const int64_t cards_there = cards.physical.value_or(0);
  return offer.units > 0 && cards_there > 0 ? cards_there * 1000 / offer.units : 0;
}

using ShareKey = std::tuple<Sharing, std::string, int64_t>;

void add_shares(const CardSet& cards, std::map<ShareKey, PoolShares>& shares) {
  for (const Offer& offer : cards.offers) {
    if (offer.sharing == Sharing::whole || offer.units == 0) continue;
    const int64_t milli = offered_share(cards, offer);
    const auto [at, fresh] = shares.try_emplace({offer.sharing, offer.mig_profile, milli});
    PoolShares& row = at->second;
    if (fresh) {
      row = {offer.sharing, offer.mig_profile, milli, offer.units, offer.free, offer.units};
      continue;
    }
    row.units += offer.units;
    row.free = row.free && offer.free ? std::optional(*row.free + *offer.free) : std::nullopt;
    row.largest_on_node = std::max(row.largest_on_node.value_or(0), offer.units);
  }
}

// A pool of the cpu family has as many units as its nodes have whole cores. A node with devices of
// several models counts with the model of which it has most: nobody gets two models in one ask.
PoolNodes node_of(const Node& node, const Pool& pool) {
  PoolNodes row{.nodes = 1,
                .cpu_milli = node.cpu_milli,
                .cpu_free_milli = node.cpu_free_milli,
                .memory_bytes = node.memory_bytes,
                .memory_free_bytes = node.memory_free_bytes};
  if (pool.accelerator == Family::cpu) {
    row.devices = node.cpu_milli.value_or(0) / 1000;
    if (node.cpu_free_milli) row.free = *node.cpu_free_milli / 1000;
    return row;
  }
  row.free = 0;
  for (const CardSet& cards : node.cards) {
    if (!is_of_pool(cards, pool)) continue;
    for (const Offer& offer : cards.offers) {
      if (offer.sharing != Sharing::whole || offer.units <= row.devices) continue;
      row.devices = offer.units;
      row.free = offer.free;
      row.model = cards.model.empty() ? cards.reported : cards.model;
      row.device_memory_bytes = cards.memory_bytes;
    }
  }
  return row;
}

void take(std::optional<int64_t>& free, int64_t held) {
  if (free) free = std::max<int64_t>(0, *free - held);
}

// What leases hold of the node is no longer free, whichever pool they were taken from.
void take_held(PoolNodes& row, std::string_view node, std::span<const Lease> open) {
  for (const Lease& lease : open) {
    for (const LeasedNode& held : lease.nodes) {
      if (held.name != node) continue;
      take(row.free, held.devices);
      take(row.cpu_free_milli, held.cpu_milli);
      take(row.memory_free_bytes, held.memory_bytes);
    }
  }
}

bool is_in(const Pool& pool, const Node& node, const NodeSelector& selector) {
  const bool in_partition =
      pool.partition.empty() ||
      std::ranges::find(node.partitions, pool.partition) != node.partitions.end();
  return node.usable() && in_partition && selector.matches(node);
}

auto likeness(const PoolNodes& row) {
  return std::tuple(row.devices, row.model, row.device_memory_bytes, row.free, row.cpu_milli,
                    row.cpu_free_milli, row.memory_bytes, row.memory_free_bytes);
}

void take_held(std::vector<PoolShares>& shares, std::span<const Lease> open) {
  for (const Lease& lease : open) {
    if (lease.mig_profile.empty()) continue;
    for (PoolShares& row : shares) {
      const std::string_view asked = row.mig_profile.empty() ? name(row.sharing) : row.mig_profile;
      if (asked != lease.mig_profile || row.share_milli != lease.held_milli || !row.free) continue;
      row.free = std::max<int64_t>(0, *row.free - lease.devices);
      break;
    }
  }
}

}  // namespace

PoolSnapshot seen_by(const Pool& pool, const Inventory& inventory,
                     std::span<const Lease> open_leases) {
  PoolSnapshot seen;
  std::map<ShareKey, PoolShares> shares;
  std::map<decltype(likeness({})), PoolNodes> alike;
  // checked when the pool was set; a selector that cannot be read takes in nothing
  const auto selector = NodeSelector::parse(pool.selector);
  for (const Node& node : inventory.nodes) {
    if (!selector || !is_in(pool, node, *selector)) continue;
    for (const CardSet& cards : node.cards) {
      if (is_of_pool(cards, pool)) add_shares(cards, shares);
    }
    PoolNodes row = node_of(node, pool);
    if (row.devices == 0) continue;
    take_held(row, node.name, open_leases);
    const auto [at, fresh] = alike.try_emplace(likeness(row), row);
    if (!fresh) ++at->second.nodes;
  }
  for (const auto& [key, row] : alike) seen.nodes.push_back(row);
  for (auto& [key, row] : shares) seen.shares.push_back(std::move(row));
  take_held(seen.shares, open_leases);
  return seen;
}

std::vector<LeasedNode> nodes_for(const Pool& pool, const Inventory& inventory,
                                  std::span<const Lease> open_leases, const Workload& workload) {
  struct Room {
    int64_t left = 0;
    const Node* node = nullptr;
  };
  std::vector<Room> rooms;
  const auto selector = NodeSelector::parse(pool.selector);
  const auto has = [](const std::optional<int64_t>& free, int64_t asked) {
    return asked == 0 || (free && *free >= asked);
  };
  for (const Node& node : inventory.nodes) {
    if (!selector || !is_in(pool, node, *selector)) continue;
    PoolNodes row = node_of(node, pool);
    take_held(row, node.name, open_leases);
    const bool other =
        !workload.model.empty() &&
        match_model(workload.model, row.model, row.device_memory_bytes) == Match::contradicted;
    if (other || !has(row.free, workload.gpus) || !has(row.cpu_free_milli, workload.cpu_milli) ||
        !has(row.memory_free_bytes, workload.memory_bytes))
      continue;
    rooms.push_back({*row.free - workload.gpus, &node});
  }
  if (static_cast<int64_t>(rooms.size()) < workload.nodes) return {};
  std::ranges::sort(rooms, {}, [](const Room& room) {
    return std::tuple(room.left, std::string_view(room.node->name));
  });
  rooms.resize(static_cast<size_t>(workload.nodes));
  std::vector<LeasedNode> nodes;
  nodes.reserve(rooms.size());
  for (const Room& room : rooms) {
    nodes.push_back({room.node->name, pool.accelerator == Family::cpu ? 0 : workload.gpus,
                     pool.accelerator == Family::cpu
                         ? std::max(workload.cpu_milli, workload.gpus * 1000)
                         : workload.cpu_milli,
                     workload.memory_bytes});
  }
  return nodes;
}

}  // namespace exa
