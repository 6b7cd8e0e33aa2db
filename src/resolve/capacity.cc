// Why an ask cannot be held: each dimension judged by itself, and all together.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "resolve/fit.h"
#include "resolve/saturating.h"

namespace exa {
namespace {

void add(std::optional<int64_t>& total, int64_t amount) {
  if (amount == kNotSaid)
    total.reset();
  else if (total)
    total = saturating_sum(*total, amount);
}

// cpu or memory over the usable nodes. A node that does not say might have it.
Dimension column_dimension(std::string name, int64_t asked, const Shape& shape, const Fleet& fleet,
                           const std::vector<int64_t>& column) {
  Dimension dimension{std::move(name), asked, 0, saturating_product(asked, shape.nodes), 0,
                      shape.nodes,     0,     {}};
  bool all_say = true;
  for (const FleetClass& nodes : fleet.classes) {
    if (!nodes.usable()) continue;
    for (size_t i = nodes.first; i < nodes.first + nodes.count; ++i) {
      add(dimension.total, column[i]);
      all_say = all_say && column[i] != kNotSaid;
      if (dimension.largest) dimension.largest = std::max(*dimension.largest, column[i]);
      if (column[i] >= asked || column[i] == kNotSaid) ++dimension.nodes_that_have;
    }
  }
  if (!all_say) dimension.largest.reset();
  return dimension;
}

// The most devices that a node of the class could be asked for, all of one model and in one way.
int64_t most_devices(const std::vector<Way>& ways) {
  int64_t most = 0;
  for (const Way& way : ways) most = std::max(most, way.devices);
  return most;
}

bool is_among(const std::vector<Way>& ways, const FleetOffer& offer) {
  return std::ranges::any_of(ways, [&](const Way& way) { return way.offer == &offer; });
}

// Devices of the family that are no answer to the ask: on unusable nodes, or cut otherwise.
struct Elsewhere {
  int64_t unusable = 0;
  std::map<std::string, int64_t> otherwise;
};

std::string note_of(const Elsewhere& elsewhere) {
  std::vector<std::string> notes;
  if (elsewhere.unusable > 0)
    notes.push_back(fmt::format("{} more on nodes that are not usable", elsewhere.unusable));
  for (const auto& [what, units] : elsewhere.otherwise)
    notes.push_back(
        fmt::format("usable nodes also offer {} × {}, which is not what is asked", units, what));
  return join(notes, "; ");
}

Dimension device_dimension(const Shape& shape, const Fleet& fleet, const Comparisons& comparisons) {
  Dimension dimension{"gpu_count", shape.gpu_count, 0, shape.gpu_count * shape.nodes,
                      0,           shape.nodes,     0, {}};
  Elsewhere elsewhere;
  for (const FleetClass& nodes : fleet.classes) {
    const auto count = static_cast<int64_t>(nodes.count);
    const std::vector<Way> ways = ways_of(shape, fleet, nodes, comparisons);
    const int64_t most = most_devices(ways);
    if (!nodes.usable()) {
      if (most != kNotCounted)
        elsewhere.unusable = saturating_sum(elsewhere.unusable, saturating_product(most, count));
      continue;
    }
    if (most == kNotCounted) {
      dimension.largest.reset();
      dimension.total.reset();
    } else {
      add(dimension.total, saturating_product(most, count));
      if (dimension.largest) dimension.largest = std::max(*dimension.largest, most);
    }
    if (most >= shape.gpu_count) dimension.nodes_that_have += count;
    for (const FleetGroup& group : nodes.groups) {
      if (!group.may_be(shape.accelerator_family)) continue;
      for (const FleetOffer& offer : group.offers)
        if (offer.units > 0 && !is_among(ways, offer)) {
          int64_t& units = elsewhere.otherwise[describe(offer)];
          units = saturating_sum(units, saturating_product(offer.units, count));
        }
    }
  }
  dimension.note = note_of(elsewhere);
  return dimension;
}

// A family is asked for with no number of devices: nodes that carry it.
int64_t nodes_of_family(const Shape& shape, const Fleet& fleet, const Comparisons& comparisons) {
  int64_t count = 0;
  for (const FleetClass& nodes : fleet.classes)
    if (nodes.usable() && !ways_of(shape, fleet, nodes, comparisons).empty())
      count += static_cast<int64_t>(nodes.count);
  return count;
}

}  // namespace

std::vector<Dimension> missing_dimensions(const Shape& shape, const Fleet& fleet,
                                          const Comparisons& comparisons, const Fit& fit) {
  std::vector<Dimension> missing;
  const auto keep = [&](Dimension dimension) {
    if (dimension.nodes_that_have < shape.nodes) missing.push_back(std::move(dimension));
  };
  if (shape.gpu_count > 0) keep(device_dimension(shape, fleet, comparisons));
  if (shape.cpu_milli > 0)
    keep(column_dimension("cpu", shape.cpu_milli, shape, fleet, fleet.cpu_milli));
  if (shape.memory_bytes > 0)
    keep(column_dimension("memory_gb", shape.memory_bytes, shape, fleet, fleet.memory_bytes));
  const bool too_few = fleet.usable_nodes < shape.nodes;
  if (too_few || missing.empty()) {
    Dimension nodes{"nodes",     shape.nodes, {}, shape.nodes, fleet.usable_nodes,
                    shape.nodes, fit.nodes,   {}};
    if (!too_few) {
      nodes.note = shape.gpu_count > 0 || shape.accelerator_family == Family::cpu
                       ? "too few nodes have all of it at once"
                       : fmt::format("{} usable nodes carry a device of the family",
                                     nodes_of_family(shape, fleet, comparisons));
    }
    missing.push_back(std::move(nodes));
  }
  return missing;
}

}  // namespace exa
