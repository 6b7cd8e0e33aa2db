// What the answers of Flux say together about each node, before it becomes an inventory. R gives
// what a node has; the lists give what is free, allocated or down; status tells drained from lost.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "discover/flux_r.h"
#include "discover/flux_table.h"
#include "hardware/inventory.h"

namespace exa {

// One countable thing (cores, gpus) of one node.
struct FluxAmount {
  std::optional<int64_t> total, allocated, free;
};

struct FluxNode {
  std::string name;
  std::optional<int64_t> rank;
  FluxAmount cores, gpus;
  std::set<std::string> properties;
  bool properties_cut = false;
  std::set<std::string> queues;
  std::set<std::string> states;  // free, allocated, down
  Health health = Health::unknown;
  std::string status;  // in the words of `flux resource status`
  std::string reason;
  bool excluded = false;
};

// By rank where ranks are known, else in the order of the answer. Host names may repeat: several
// brokers can run on one machine.
struct FluxFleet {
  std::vector<FluxNode> nodes;
  std::vector<Unread> unread;

  std::vector<FluxNode*> named(const std::string& host);
};

// R as the whole: makes the nodes.
void take_whole(FluxFleet& fleet, const FluxR& r);

// What is in one state (`flux resource R -s free`), or one {rlist} row. Makes nodes that R has not
// named.
struct StateOfRanks {
  std::string state;
  std::vector<RankResources> ranks;
};
void take_states(FluxFleet& fleet, std::span<const StateOfRanks> states);

// `flux resource list` without {rlist}: sums over the nodes of a row. A number is set only where
// the rows leave one possibility: that nodes of one row are alike is nowhere said, so an equal
// share would be a guess.
void take_list(FluxFleet& fleet, std::span<const ListRow> rows);

void take_queues_and_properties(FluxFleet& fleet, std::span<const ListRow> rows);
Result<void> take_status(FluxFleet& fleet, std::span<const StatusRow> rows);
void take_drain(FluxFleet& fleet, std::span<const StatusRow> rows);

}  // namespace exa
