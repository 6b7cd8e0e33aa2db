// An inventory laid out for resolving: nodes of identical devices and software form a class, and
// what differs from node to node (cpu, memory, free units) stands in flat columns in class order.
// Built once per snapshot; immutable afterwards, so any number of threads may resolve against it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hardware/inventory.h"

namespace exa {

// In a column: the source does not say.
inline constexpr int64_t kNotSaid = -1;

// One way of asking for the cards of a group: the same number of units on every node of the class.
struct FleetOffer {
  Sharing sharing = Sharing::whole;
  std::string mig_profile;  // lower case, '+' before an attribute: "1g.10gb+me"
  int64_t units = 0;
  size_t free_at = 0;  // Fleet::free[free_at + i] belongs to the class's i-th node
};

// What was seen of a device's model. Equal texts with different memory are different models.
struct FleetModel {
  Family family = Family::other;
  bool family_unread = false;  // may be of any family
  std::string text;            // canonical, else as reported; empty: not reported
  std::optional<int64_t> memory_bytes;
};

// The cards of one model in each node of a class. Card sets without a model stay groups of their
// own: nobody has seen that they are alike.
struct FleetGroup {
  Family family = Family::other;
  bool family_unread = false;
  uint32_t model = 0;                  // Fleet::models
  std::optional<int64_t> physical;     // cards per node
  std::vector<FleetOffer> offers;      // alternatives, never added up
  std::vector<Sharing> offers_unread;  // further alternatives, unknown how many units

  bool may_be(Family asked) const { return family_unread || family == asked; }
};

// What a node says about its software. Its tags are kept apart (Fleet::tagged): sites give nodes
// features of their own, and nearly none of them is ever asked for.
struct Provision {
  std::vector<Software> software;
};

struct FleetClass {
  Health health = Health::unknown;
  std::vector<FleetGroup> groups;
  std::vector<Family> devices_unread;  // families of which the nodes may have more than the groups
  uint32_t provision = 0;              // Fleet::provisions
  uint32_t taints = 0;                 // Fleet::taints
  size_t first = 0;                    // its nodes are [first, first + count) of the columns
  size_t count = 0;
  int64_t most_cpu_milli = kNotSaid;
  int64_t most_memory_bytes = kNotSaid;
  bool says_cpu = true;  // every node does
  bool says_memory = true;

  bool usable() const { return health == Health::usable; }
};

struct Fleet {
  std::vector<FleetClass> classes;
  std::vector<FleetModel> models;
  std::vector<Provision> provisions;
  std::vector<std::string> taints;  // those that keep work away, as one text; empty: none

  // The nodes that carry a tag, in lower case: features, and labels that name a runtime. Places in
  // the columns, ascending.
  std::map<std::string, std::vector<uint32_t>, std::less<>> tagged;

  // one entry per node
  std::vector<int64_t> cpu_milli;
  std::vector<int64_t> cpu_free_milli;
  std::vector<int64_t> memory_bytes;
  std::vector<int64_t> memory_free_bytes;
  // one entry per offer and node
  std::vector<int32_t> free;

  int64_t nodes = 0;
  int64_t usable_nodes = 0;
  std::vector<std::pair<Health, int64_t>> unusable;  // in the enum's order, only those that occur
  std::vector<Unread> unread;

  // On any node, usable or not: has_family was seen; may_have_family is not ruled out by what was.
  bool has_family(Family family) const;
  bool may_have_family(Family family) const;
};

Fleet build_fleet(const Inventory& inventory);

}  // namespace exa
