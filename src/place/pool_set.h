// Pools laid out for decisions: sorted by name, with everything that does not depend on the
// workload looked up once (jurisdiction, device memory, capabilities of the catalogue, ways of
// sharing).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "govern/burst.h"
#include "hardware/catalogue.h"
#include "hardware/engine.h"
#include "place/device_ask.h"
#include "place/pool.h"

namespace exa {

// What holds for every decision, all of it data.
struct PlaceRules {
  EngineTable engines = shipped_engines();
  BurstPolicy policy;
  JurisdictionTable jurisdictions;
  std::string currency{kDefaultCurrency};  // prices in another one are not compared: they rank last
};

// One way in which a fraction can be held on a pool's devices.
struct ShareOption {
  Sharing sharing = Sharing::mig;
  std::string mig_profile;    // empty: not told
  int64_t honours_milli = 0;  // the largest fraction that it satisfies (compute and memory)
  int64_t held_milli = 0;     // of a device that it takes; 0: exactly what is asked
  int64_t units = 0;
  std::optional<int64_t> free;
  std::optional<int64_t> largest_on_node;
  MigSlices slices;           // of a MIG instance whose place on a card is kept; 0: none
  bool from_devices = false;  // units and free follow from the pool's whole devices and its rests
};

struct PreparedPool {
  uint32_t model = 0;                   // in PoolSet::models; 0: not told
  int64_t total = 0;                    // devices: declared count, or those of the snapshot
  std::optional<int64_t> free;          // now; nullopt: unknown
  std::optional<int64_t> memory_least;  // per device, in bytes; nullopt: unknown
  std::optional<int64_t> memory_most;
  std::optional<std::string> jurisdiction;  // nullopt: unknown
  std::vector<std::string> capabilities;    // advertised and the catalogue's; sorted, unique
  std::vector<ShareOption> shares;          // smallest first
};

// Immutable once built; safe to share between threads. Names are unique.
struct PoolSet {
  std::vector<Pool> pools;                             // sorted by name
  std::vector<PreparedPool> prepared;                  // beside each
  std::vector<std::string> models;                     // distinct; the first is empty
  std::vector<std::vector<const DeviceModel*>> meant;  // beside each: rows of the catalogue
  PlaceRules rules;
};
using Pools = std::shared_ptr<const PoolSet>;

// Of all nodes together; nullopt: some node does not say.
int64_t devices_of(const PoolSnapshot& seen);
std::optional<int64_t> free_devices_of(const PoolSnapshot& seen);

// The order of `pools` does not matter. Names must be unique (asserted): the store sees to it.
Pools build_pools(std::vector<Pool> pools, PlaceRules rules = {});

}  // namespace exa
