// From labels and resource names to cards. Only labels tell whether a unit of nvidia.com/gpu is a
// card, a MIG slice or a share, so that is decided here, in one place, for every vendor.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hardware/inventory.h"

namespace exa::kubernetes {

// Bytes of device memory are among the units. More than any node has; what a node claims can be
// added up without running over.
inline constexpr int64_t kMostUnits = int64_t{1} << 50;

// The labels of a node, borrowed, sorted by key.
class Labels {
 public:
  using Pairs = std::vector<std::pair<std::string_view, std::string_view>>;
  explicit Labels(const Pairs& sorted) : pairs_(sorted) {}

  std::optional<std::string_view> find(std::string_view key) const;
  std::string_view get(std::string_view key) const { return find(key).value_or(""); }
  // A whole number from 0 to kMostUnits; nullopt when absent or anything else.
  std::optional<int64_t> number(std::string_view key) const;
  const Pairs& pairs() const { return pairs_; }

 private:
  const Pairs& pairs_;
};

// One extended resource of a node.
struct Resource {
  std::string_view name;
  int64_t capacity = 0;
  int64_t allocatable = 0;
  std::optional<int64_t> used;  // nullopt: the pods could not be seen
};

// Whether amounts of this resource are read at all (and must therefore be readable).
bool is_device_resource(std::string_view name);

// The cards of one node. `resources` holds device resources only, sorted by name.
//
// A plain nvidia.com/gpu (or amd.com/gpu) on a node without any label that describes its devices is
// offered as `unread`, with `physical` unknown and a remark: whole cards are the plugins' default,
// but nobody said that a unit is a card. So are the chips of a TPU slice that spans hosts.
std::vector<CardSet> cards_of(const Labels& labels, const std::vector<Resource>& resources);

// Driver and runtime versions by label.
std::vector<Software> software_of(const Labels& labels);

}  // namespace exa::kubernetes
