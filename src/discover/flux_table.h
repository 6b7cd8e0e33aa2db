// The tables that `flux resource list`, `status`, `drain` and `flux queue` print for people, in the
// default layout, with columns chosen by -o, and with '|' between the fields.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "discover/flux_r.h"

namespace exa {

// A row of `flux resource list`: the resources of some nodes that are in one state. A partly used
// node stands in a free row and in an allocated row, so rows are never added up to a number of
// nodes.
struct ListRow {
  std::string state;  // free, allocated, down
  std::string queue;
  std::vector<std::string> properties;
  bool properties_cut = false;  // the table ended a name with '+': that name is not kept
  std::optional<int64_t> nodes, cores, gpus;  // sums over `hosts`; unknown without the column
  std::vector<std::string> hosts;
  std::vector<RankResources> ranks;  // from {rlist}: exactly what each host holds; else empty
  int line = 0;
};
Result<std::vector<ListRow>> parse_resource_list(std::string_view text);

struct StatusRow {
  std::string state;     // avail, exclude, draining, drained, …, without the '*'
  bool offline = false;  // '*': its broker cannot be reached
  std::vector<std::string> hosts;
  std::string reason;
};
Result<std::vector<StatusRow>> parse_resource_status(std::string_view text);
Result<std::vector<StatusRow>> parse_resource_drain(std::string_view text);

struct QueueRow {
  std::string name;             // empty: the one unnamed queue
  std::optional<bool> enabled;  // takes jobs
  std::optional<bool> started;  // starts them; named queues are stopped until somebody starts them
};
Result<std::vector<QueueRow>> parse_queue_list(std::string_view text);
Result<std::vector<QueueRow>> parse_queue_status(std::string_view text);

// Flux 0.88 colours some tables even when they go to a file.
std::string without_colour(std::string_view text);

}  // namespace exa
