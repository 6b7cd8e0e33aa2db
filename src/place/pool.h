// A device pool: devices of one accelerator in one place, declared by an operator or backed by a
// discovered cluster. Requirement "Register device pools"; semantics §5. Values only; pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/money.h"
#include "base/time.h"
#include "hardware/family.h"
#include "hardware/inventory.h"
#include "place/workload.h"

namespace exa {

// What a device emits, where no factor is given: watts × PUE × grid intensity. Marked an estimate.
struct DevicePower {
  int64_t watts_milli = 0;          // drawn by one device
  int64_t pue_milli = 1000;         // power usage effectiveness of the site, at least 1
  int64_t grams_per_kwh_milli = 0;  // CO2-equivalent of the grid
  bool operator==(const DevicePower&) const = default;
};

// --- what a backed pool's snapshot says; filled by whoever loads the pool, never stored with it

// Usable nodes that are alike. nullopt: the source does not say.
struct PoolNodes {
  int64_t nodes = 0;
  int64_t devices = 0;          // whole devices of one model on each
  std::optional<int64_t> free;  // of them
  std::optional<int64_t> cpu_milli;
  std::optional<int64_t> cpu_free_milli;
  std::optional<int64_t> memory_bytes;
  std::optional<int64_t> memory_free_bytes;
  std::string model;  // of them, as the catalogue or the source names it; empty: not told
  std::optional<int64_t> device_memory_bytes;
  bool operator==(const PoolNodes&) const = default;
};

// Parts of devices that can be asked for: MIG instances, time slices, shards.
struct PoolShares {
  Sharing sharing = Sharing::mig;
  std::string mig_profile;  // for mig
  int64_t share_milli = 0;  // of a device; 0: unknown, honours nothing
  int64_t units = 0;        // on usable nodes
  std::optional<int64_t> free;
  std::optional<int64_t> largest_on_node;
  bool operator==(const PoolShares&) const = default;
};

struct PoolSnapshot {
  std::string id;
  Time taken_at;
  Duration max_age = minutes(15);
  std::string last_failure;  // why looking again failed since; empty: it did not
  bool declared = false;     // handed in rather than looked at: it does not say when it was true
  std::vector<PoolNodes> nodes;
  std::vector<PoolShares> shares;
  bool operator==(const PoolSnapshot&) const = default;
};

// Devices under leases of exa's own, of a declared pool: all that run now. For a backed pool they
// are not free on their nodes already (seen_by), and stand here only when their node is not known.
struct PoolLeases {
  int64_t devices = 0;              // held wholly or in part
  std::vector<int64_t> rests;       // thousandths left on each device held in part
  std::vector<uint16_t> mig_cards;  // state (MigCard) of each device that is cut into instances
  bool operator==(const PoolLeases&) const = default;
};

struct Pool {
  std::string name;
  Target target = Target::hpc;  // never any
  Family accelerator = Family::nvidia;
  std::string model;           // "A100-SXM4-80GB"; empty: not told
  int64_t count = 1;           // of a declared pool; a backed pool counts its snapshot
  std::string region;          // empty: not told
  std::optional<Money> price;  // per device and hour
  std::optional<int64_t> carbon_micrograms;  // factor: millionths of a gram per device and hour
  std::optional<DevicePower> power;
  bool supports_fractions = false;
  std::optional<Sharing> sharing;  // how; nullopt: the family's first mechanism (nvidia: mig)
  int64_t shares_per_device = 0;   // for time slices and shards; 0: any thousandth
  int64_t gpu_memory_bytes = 0;    // per device; 0: the catalogue's, if the model is told
  std::vector<std::string> capabilities;  // advertised; sorted, unique
  bool drained = false;
  std::string drain_reason;

  std::string cluster;    // empty: declared
  std::string partition;  // of the cluster; empty: all
  std::string selector;   // labels; empty: all

  std::optional<PoolSnapshot> seen;  // of a backed pool; nullopt: never looked at
  PoolLeases leases;

  bool declared() const { return cluster.empty(); }
  bool operator==(const Pool&) const = default;
};

// The order of a list, cheapest first: an on-premises pool without a price counts as 0, a cloud
// pool without one comes last, other currencies come by their code; then by name.
bool is_cheaper(const Pool& a, const Pool& b);

// Every rule that a pool breaks, with pointers of its JSON.
std::vector<Problem> problems_of_pool(const Pool& pool);

// add-pool: what `given` says, over `existing` where the pool is there already; keys that are
// absent keep what is stored, null clears an optional one. Keys: name, target, accelerator, model,
// count, region, cost_per_hour, currency, carbon_factor (g per device-hour), watts, pue,
// grid_intensity (g per kWh), supports_fractions, sharing (mig, time-slice, mps),
// shares_per_device, gpu_memory (text with a unit), capabilities, drained, drain_reason, cluster,
// partition, selector. A new pool needs name and accelerator. Fails with invalid_input, all
// problems at once; unknown keys last.
Result<Pool> merge_pool(const Pool* existing, const json::object& given);

// The keys of merge_pool, in its order, and `declared`; leases and snapshot are not part of it.
json::object to_json(const Pool& pool);
// Reads what to_json wrote. Fails with store_damaged.
Result<Pool> pool_from_json(const json::object& stored);

// Millionths of a gram of CO2-equivalent per device and hour: the factor, else from power; nullopt:
// unknown, which is never 0.
struct CarbonRate {
  int64_t micrograms_per_hour = 0;
  bool estimate = false;  // from power
  bool operator==(const CarbonRate&) const = default;
};
std::optional<CarbonRate> carbon_rate(const Pool& pool);

}  // namespace exa
