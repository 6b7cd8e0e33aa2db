// The one counting function: five numbers per model (or way of sharing), never one. Semantics §2.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hardware/inventory.h"

namespace exa {

// Sums over nodes for one (family, model as shown, sharing, MIG profile). A nullopt sum means that
// at least one node did not say.
struct DeviceCount {
  Family family = Family::other;
  std::string model;  // canonical, else as reported, else "" (unknown)
  Sharing sharing = Sharing::whole;
  std::string mig_profile;
  std::string resource;  // as asked for; empty when spelled differently from node to node
  // Cards behind the units. Rows can be alternatives of the same cards; then the row of whole
  // cards, else the first, shows them, so that rows may be added up. nullopt: shown there, or
  // unknown.
  std::optional<int64_t> physical;
  std::optional<int64_t> units;   // all nodes; unknown where cards were seen and their offers not
  std::optional<int64_t> usable;  // units on usable nodes
  std::optional<int64_t> used;    // all nodes
  std::optional<int64_t> free;    // free units on usable nodes
  // On usable nodes and not to be had by any job: free where no cpu or no memory is left, or (not
  // in `free`) whole cards that nobody holds but whose shares are in use.
  std::optional<int64_t> stranded;
  int64_t nodes = 0;

  bool operator==(const DeviceCount&) const = default;
};

struct CapacityCount {
  int64_t nodes = 0;
  int64_t usable_nodes = 0;
  std::vector<std::pair<Health, int64_t>> unusable;  // by health, only those that occur
  std::optional<int64_t> cpu_milli;                  // of usable nodes
  std::optional<int64_t> cpu_free_milli;
  std::optional<int64_t> memory_bytes;
  std::optional<int64_t> memory_free_bytes;
  std::vector<DeviceCount> devices;  // sorted by family, model, sharing, profile
};

CapacityCount count_capacity(const Inventory& inventory);

}  // namespace exa
