// What one workload asks of the nodes of one cluster. Amounts are integers: thousandths of a core,
// bytes, thousandths of a device; nothing is rounded. Pure values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"

namespace exa {

inline constexpr int64_t kWholeDevice = 1000;

// A MIG instance as the hardware counts it: compute slices (of 7) and memory slices (of 8).
struct MigSlices {
  int compute = 0;
  int memory = 0;
  bool operator==(const MigSlices&) const = default;
};

struct DeviceAsk {
  int64_t nodes = 1;                      // distinct nodes, all or none
  int64_t devices = 0;                    // per node, of one model; with `mig`, instances per node
  int64_t share_milli = kWholeDevice;     // of each device; less than 1000 shares a card
  std::optional<MigSlices> mig;           // instances of this size; share_milli is then 1000
  std::vector<std::string> models;        // any of these; empty: any model
  std::vector<std::string> capabilities;  // all of these ("fp8", "bf16")
  int64_t cpu_milli = 0;                  // per node
  int64_t memory_bytes = 0;               // per node
  std::string group;                      // resource group; empty: none asked for
  bool group_required = false;            // else only preferred

  // Thousandths of devices on one node; 0 for an ask without devices. A MIG instance counts as its
  // share of the card's compute slices.
  int64_t milli_per_node() const {
    return mig ? devices * mig->compute * kWholeDevice / 7 : devices * share_milli;
  }
  bool operator==(const DeviceAsk&) const = default;
};

// Everything wrong with an ask, at once: empty when it can be placed somewhere in principle.
std::vector<Problem> problems_of(const DeviceAsk& ask);

}  // namespace exa
