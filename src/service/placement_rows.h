// Rows of what decides where work may run: pools, engines, regions, the burst policy, leases.
// Requirement "Heterogeneous Hardware & Hybrid HPC <-> Cloud"; semantics §5.
#pragma once

#include <string>
#include <vector>

#include "place/lease.h"
#include "place/pool_place.h"
#include "service/service.h"

namespace exa {

// The shipped tables with what an admin changed.
Result<EngineTable> load_engines(Transaction& tx);
Result<JurisdictionTable> load_jurisdictions(Transaction& tx);
Result<BurstPolicy> load_burst_policy(Transaction& tx);
Result<PlaceRules> load_place_rules(Transaction& tx);

struct StoredPool {
  Pool pool;  // with its leases and, when it is backed by a cluster, what was seen of it
  Time created_at;
  std::string created_by;
  Time updated_at;
  std::string updated_by;
  int64_t leased = 0;  // devices under open leases of it
};

// Pools by name. Fails with not_found for a name that is none, with close spellings.
Result<std::vector<StoredPool>> load_pools(Transaction& tx, Time now);
Result<StoredPool> find_pool(Transaction& tx, const std::string& name, Time now);
Result<std::vector<std::string>> pool_names(Transaction& tx);

// Open leases on the nodes of a cluster, whichever pool they were taken from.
Result<std::vector<Lease>> leases_on(Transaction& tx, const std::string& cluster, Time now);

// Every pool and every rule as one consistent picture: what place() decides on.
Result<Pools> load_picture(Transaction& tx, Time now);

// What is held of a cluster without a pool is held of this; no pool can be called so.
inline const std::string kNoPool = "cluster:";
inline bool is_no_pool(const std::string& pool) {
  return pool.starts_with(kNoPool);
}

// The pools that a launch can be placed on: those that `cluster` backs, or any cluster (empty). A
// cluster without a pool of the family is one itself, "cluster:NAME", without price or region.
Result<Pools> load_launch_picture(Transaction& tx, Time now, const std::string& cluster,
                                  Family family);

// Writes one row of a table keyed by name (pool has its own).
Result<void> put_setting(Transaction& tx, std::string_view table, const std::string& name,
                         const json::object& spec, Time now, const std::string& who);
Result<void> drop_setting(Transaction& tx, std::string_view table, const std::string& name);

}  // namespace exa
