// Profiles that a target could hold, proposed from what was discovered; and profiles that no node
// of it can ever hold.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "profile/hardware_profile.h"
#include "resolve/resolve.h"

namespace exa {

// Left to the operating system, the scheduler's daemon and the file cache on every node, before a
// node is cut into parts. A node of two cores or less keeps half of what it has.
inline constexpr int64_t kReservedCpuMilli = 1000;
inline constexpr int64_t kReservedMemoryPercent = 5;
inline constexpr int64_t kLeastReservedMemoryBytes = int64_t{1} << 30;

struct Suggestion {
  std::string name;  // a valid profile name; unique in the list
  Shape shape;       // passes read_shape, and resolves against the inventory as it is
  std::string why;   // "3 usable nodes have 8 × A100-SXM4-80GB, …"
};

// Per kind of node (model and number of devices): the whole node, half of it, one device, and one
// instance of each MIG profile offered; for nodes without devices the whole node and half of it.
// Amounts are what the smallest node of the kind has; an amount that some node does not say is not
// asked for. Larger cuts come first; of two cuts with one name the first stays.
std::vector<Suggestion> suggest(const Inventory& inventory);

struct NeverFits {
  std::string project;
  std::string name;
  int64_t version = 0;
  std::string reason;  // of the resolution
};

// Those of the profiles that are unresolvable on the target, in the order given.
std::vector<NeverFits> never_fits(std::span<const HardwareProfile> profiles,
                                  const Observation& seen, const std::string& target, Time now);

}  // namespace exa
