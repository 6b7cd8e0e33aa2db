#include "discover/flux_fleet.h"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "base/text.h"

namespace exa {
namespace {

FluxNode& add_node(FluxFleet& fleet, std::string name, std::optional<int64_t> rank) {
  FluxNode node;
  node.name = std::move(name);
  node.rank = rank;
  return fleet.nodes.emplace_back(std::move(node));
}

// Cores and gpus of one rank in each state, to be made into numbers once all states are in.
struct Held {
  IdSet free, allocated, down;
  IdSet whole() const { return unite(unite(free, allocated), down); }
};

void settle(FluxAmount& amount, const Held& held) {
  if (!amount.total) amount.total = held.whole().count();
  amount.allocated = held.allocated.count();
  // The states may have been asked one after the other, and a job may have started in between: what
  // was seen allocated is never also called free.
  amount.free = subtract(held.free, held.allocated).count();
}

using AmountOf = FluxAmount FluxNode::*;
using SumOf = std::optional<int64_t> ListRow::*;

// What a row's sum says of one of its nodes, if there is only one possibility.
std::optional<int64_t> share_of(const FluxNode& node, AmountOf amount, const ListRow& row,
                                SumOf sum, const std::map<std::string, FluxNode*>& nodes) {
  if (!(row.*sum)) return std::nullopt;
  if (row.hosts.size() == 1 || *(row.*sum) == 0) return row.*sum;
  int64_t totals = 0;
  for (const std::string& host : row.hosts) {
    std::optional<int64_t> total = (nodes.at(host)->*amount).total;
    if (!total) return std::nullopt;
    totals += *total;
  }
  if (totals == *(row.*sum)) return (node.*amount).total;
  return std::nullopt;
}

// Nodes that rows hold together: their totals can only be told as one sum.
std::vector<std::vector<size_t>> groups_of(std::span<const ListRow> rows,
                                           std::map<std::string, size_t>& group_of_host) {
  std::vector<size_t> parent(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) parent[i] = i;
  auto root = [&](size_t i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  };
  for (size_t i = 0; i < rows.size(); ++i)
    for (const std::string& host : rows[i].hosts) {
      auto [first, is_new] = group_of_host.emplace(host, i);
      if (!is_new) parent[root(i)] = root(first->second);
    }
  std::vector<std::vector<size_t>> groups(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) groups[root(i)].push_back(i);
  for (auto& [host, group] : group_of_host) group = root(group);
  return groups;
}

void take_sums(FluxFleet& fleet, std::span<const ListRow> rows, AmountOf amount, SumOf sum) {
  std::map<std::string, FluxNode*> nodes;
  for (FluxNode& node : fleet.nodes) nodes.emplace(node.name, &node);
  std::map<std::string, size_t> group_of_host;
  std::vector<std::vector<size_t>> groups = groups_of(rows, group_of_host);
  std::vector<int64_t> hosts_in(rows.size(), 0);
  for (const auto& [host, group] : group_of_host) ++hosts_in[group];
  for (const auto& [host, group] : group_of_host) {
    FluxAmount& seen = nodes.at(host)->*amount;
    if (seen.total) continue;
    int64_t whole = 0;
    bool known = true;
    for (size_t row : groups[group]) {
      known = known && (rows[row].*sum);
      whole += (rows[row].*sum).value_or(0);
    }
    // Flux puts nodes of one queue and the same properties into one row; that they hold the same
    // number each is likely and not said. None at all is said of every one.
    if (known && (hosts_in[group] == 1 || whole == 0)) seen.total = whole;
  }
  std::map<std::string, std::optional<int64_t>> allocated, free;
  for (const auto& [host, group] : group_of_host) allocated[host] = free[host] = 0;
  for (const ListRow& row : rows) {
    if (row.state == "down") continue;
    auto& state = row.state == "free" ? free : allocated;
    for (const std::string& host : row.hosts) {
      std::optional<int64_t> share = share_of(*nodes.at(host), amount, row, sum, nodes);
      std::optional<int64_t>& so_far = state[host];
      if (so_far && share) *so_far += *share;
      if (!share) so_far.reset();
    }
  }
  for (const auto& [host, group] : group_of_host) {
    FluxNode& node = *nodes.at(host);
    FluxAmount& seen = node.*amount;
    seen.allocated = allocated[host];
    seen.free = free[host];
    if (!seen.total || node.states.contains("down")) continue;
    if (!seen.free && seen.allocated) seen.free = *seen.total - *seen.allocated;
    if (!seen.allocated && seen.free) seen.allocated = *seen.total - *seen.free;
    if (seen.free.value_or(0) < 0) seen.free.reset();
    if (seen.allocated.value_or(0) < 0) seen.allocated.reset();
  }
}

struct StatusMeaning {
  std::string_view word;
  Health online;
  Health offline;
};
constexpr std::array kMeanings = {
    StatusMeaning{"avail", Health::usable, Health::not_responding},
    StatusMeaning{"online", Health::usable, Health::not_responding},
    StatusMeaning{"allocated", Health::usable, Health::not_responding},
    StatusMeaning{"offline", Health::not_responding, Health::not_responding},
    StatusMeaning{"torpid", Health::not_responding, Health::not_responding},
    StatusMeaning{"draining", Health::draining, Health::draining},
    StatusMeaning{"drained", Health::drained, Health::drained},
    StatusMeaning{"exclude", Health::unknown, Health::unknown},
};

// One broker of several on a machine may be lost while the others are not; the tables name hosts
// only, so the worse word is kept for all of them.
int badness(Health health) {
  switch (health) {
    case Health::usable:
      return 1;
    case Health::draining:
      return 2;
    case Health::drained:
      return 3;
    case Health::not_responding:
      return 4;
    default:
      return 0;
  }
}

}  // namespace

std::vector<FluxNode*> FluxFleet::named(const std::string& host) {
  std::vector<FluxNode*> found;
  for (FluxNode& node : nodes)
    if (node.name == host) found.push_back(&node);
  return found;
}

void take_whole(FluxFleet& fleet, const FluxR& r) {
  for (const RankResources& rank : r.ranks) {
    FluxNode& node = add_node(fleet, rank.host, rank.rank);
    node.cores.total = rank.cores.count();
    node.gpus.total = rank.gpus.count();
    node.properties.insert(rank.properties.begin(), rank.properties.end());
  }
}

void take_states(FluxFleet& fleet, std::span<const StateOfRanks> states) {
  std::map<int64_t, size_t> by_rank;
  for (size_t i = 0; i < fleet.nodes.size(); ++i)
    if (fleet.nodes[i].rank) by_rank.emplace(*fleet.nodes[i].rank, i);
  std::map<size_t, std::pair<Held, Held>> held;  // cores, gpus
  for (const auto& [state, ranks] : states) {
    for (const RankResources& rank : ranks) {
      auto [at, is_new] = by_rank.emplace(rank.rank, fleet.nodes.size());
      if (is_new) add_node(fleet, rank.host, rank.rank);
      FluxNode& node = fleet.nodes[at->second];
      node.states.insert(state);
      node.properties.insert(rank.properties.begin(), rank.properties.end());
      auto& [cores, gpus] = held[at->second];
      auto field = state == "free" ? &Held::free : state == "down" ? &Held::down : &Held::allocated;
      cores.*field = unite(cores.*field, rank.cores);
      gpus.*field = unite(gpus.*field, rank.gpus);
    }
  }
  for (size_t i = 0; i < fleet.nodes.size(); ++i) {
    FluxNode& node = fleet.nodes[i];
    settle(node.cores, held[i].first);
    settle(node.gpus, held[i].second);
    if (node.states.contains("down"))
      node.health = Health::down;
    else if (!node.states.empty())
      node.health = Health::usable;
  }
}

void take_list(FluxFleet& fleet, std::span<const ListRow> rows) {
  std::set<std::string> known;
  for (const FluxNode& node : fleet.nodes) known.insert(node.name);
  for (const ListRow& row : rows)
    for (const std::string& host : row.hosts)
      if (known.insert(host).second) add_node(fleet, host, std::nullopt);
  std::map<std::string, std::vector<FluxNode*>> nodes;
  for (FluxNode& node : fleet.nodes) nodes[node.name].push_back(&node);
  for (const ListRow& row : rows)
    for (const std::string& host : row.hosts)
      for (FluxNode* node : nodes[host]) {
        node->states.insert(row.state);
        if (row.state == "down")
          node->health = Health::down;
        else if (node->health == Health::unknown)
          node->health = Health::usable;
      }
  take_sums(fleet, rows, &FluxNode::cores, &ListRow::cores);
  take_sums(fleet, rows, &FluxNode::gpus, &ListRow::gpus);
}

void take_queues_and_properties(FluxFleet& fleet, std::span<const ListRow> rows) {
  std::map<std::string, std::vector<FluxNode*>> nodes;
  for (FluxNode& node : fleet.nodes) nodes[node.name].push_back(&node);
  for (const ListRow& row : rows)
    for (const std::string& host : row.hosts)
      for (FluxNode* node : nodes[host]) {
        node->properties.insert(row.properties.begin(), row.properties.end());
        node->properties_cut = node->properties_cut || row.properties_cut;
        for (std::string_view queue : split(row.queue, ','))
          if (!queue.empty()) node->queues.emplace(queue);
      }
}

Result<void> take_status(FluxFleet& fleet, std::span<const StatusRow> rows) {
  std::map<std::string, std::vector<size_t>> nodes;
  bool from_status_alone = fleet.nodes.empty();
  for (size_t i = 0; i < fleet.nodes.size(); ++i) nodes[fleet.nodes[i].name].push_back(i);
  std::vector<Health> told(fleet.nodes.size(), Health::unknown);
  for (const StatusRow& row : rows) {
    auto meaning = std::find_if(kMeanings.begin(), kMeanings.end(),
                                [&](const StatusMeaning& one) { return one.word == row.state; });
    if (meaning == kMeanings.end())
      return fail(Code::unreadable_output,
                  fmt::format("flux resource status: unknown state '{}'", printable(row.state)));
    Health health = row.offline ? meaning->offline : meaning->online;
    for (const std::string& host : row.hosts) {
      bool excluded = row.state == "exclude";
      if (from_status_alone && !nodes.contains(host) && !excluded) {
        nodes[host] = {fleet.nodes.size()};
        add_node(fleet, host, std::nullopt);
        told.push_back(Health::unknown);
      }
      for (size_t at : nodes[host]) {
        FluxNode& node = fleet.nodes[at];
        node.excluded = node.excluded || excluded;
        if (badness(health) <= badness(told[at])) continue;
        told[at] = node.health = health;
        node.status = row.state + (row.offline ? "*" : "");
        if (!row.reason.empty()) node.reason = row.reason;
      }
    }
  }
  return {};
}

void take_drain(FluxFleet& fleet, std::span<const StatusRow> rows) {
  for (const StatusRow& row : rows)
    for (const std::string& host : row.hosts)
      for (FluxNode* node : fleet.named(host)) {
        if (node->reason.empty()) node->reason = row.reason;
        if (!node->status.empty()) continue;
        node->status = row.state + (row.offline ? "*" : "");
        node->health = row.state == "draining" ? Health::draining : Health::drained;
      }
}

}  // namespace exa
