#include "service/placement_rows.h"

#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "place/pool_seen.h"
#include "service/clusters.h"
#include "service/leases.h"
#include "service/stored.h"

namespace exa {
namespace {

constexpr std::string_view kPoolColumns =
    "name, spec, created_at, created_by, updated_at, updated_by";

// Inventories by cluster, read once however many pools a cluster backs.
class Seen {
 public:
  Seen(Transaction& tx, Time now) : tx_(tx), now_(now) {}

  // A pool whose cluster is gone, or was never looked at, stays unseen.
  Result<void> look(Pool& pool, std::span<const Lease> open) {
    EXA_ASSIGN(const Look* look, at(pool.cluster));
    if (!look->head) return {};
    PoolSnapshot seen = seen_by(pool, look->inventory, open);
    seen.id = look->head->id;
    seen.taken_at = look->head->taken_at;
    seen.max_age = look->max_age;
    seen.last_failure = look->failure;
    seen.declared = look->head->declared;
    pool.seen = std::move(seen);
    return {};
  }

 private:
  struct Look {
    std::optional<SnapshotHead> head;
    Inventory inventory;
    Duration max_age;
    std::string failure;
  };

  Result<const Look*> at(const std::string& cluster_name) {
    const auto known = looks_.find(cluster_name);
    if (known != looks_.end()) return &known->second;
    Look look;
    auto cluster = find_cluster(tx_, cluster_name);
    if (!cluster && cluster.error().code != Code::not_found) return fail(cluster.error());
    if (cluster) {
      look.max_age = cluster->max_age;
      EXA_ASSIGN(look.head, newest_snapshot(tx_, *cluster));
      EXA_ASSIGN(const auto failure, failure_since(tx_, *cluster));
      if (failure) look.failure = failure->message;
      if (look.head) {
        EXA_ASSIGN(look.inventory, load_inventory(tx_, look.head->id));
      }
    }
    return &looks_.emplace(cluster_name, std::move(look)).first->second;
  }

  Transaction& tx_;
  Time now_;
  std::map<std::string, Look> looks_;
};

Result<StoredPool> pool_of(const Row& row) {
  StoredPool stored;
  EXA_ASSIGN(const json::object spec, parse_stored_object(row.text(1), "stored pool"));
  EXA_ASSIGN(stored.pool, from_stored(pool_from_json(spec), "stored pool " + row.text(0)));
  stored.created_at = Time{row.integer(2)};
  stored.created_by = row.text(3);
  stored.updated_at = Time{row.integer(4)};
  stored.updated_by = row.text(5);
  return stored;
}

std::vector<Lease> on_cluster(const LeasesByPool& leases, const std::string& cluster) {
  std::vector<Lease> there;
  for (const auto& [pool, of_pool] : leases) {
    std::ranges::copy_if(of_pool, std::back_inserter(there),
                         [&](const Lease& lease) { return lease.cluster == cluster; });
  }
  return there;
}

Result<void> add_what_is_held(StoredPool& stored, Seen& seen, const LeasesByPool& leases,
                              Time now) {
  const auto own = leases.find(stored.pool.name);
  if (own != leases.end()) {
    stored.pool.leases = held(own->second, now);
    for (const Lease& lease : own->second) stored.leased += lease.devices;
  }
  if (stored.pool.declared()) return {};
  return seen.look(stored.pool, on_cluster(leases, stored.pool.cluster));
}

Pools picture_of(std::vector<StoredPool> stored, PlaceRules rules) {
  std::vector<Pool> pools;
  pools.reserve(stored.size());
  std::map<std::string, int64_t> currencies;
  for (StoredPool& one : stored) {
    if (one.pool.price) ++currencies[one.pool.price->currency];
    pools.push_back(std::move(one.pool));
  }
  // prices are compared in the currency that most pools are priced in, the first by name of equals
  const auto most =
      std::ranges::max_element(currencies, {}, [](const auto& pair) { return pair.second; });
  if (most != currencies.end()) rules.currency = most->first;
  return build_pools(std::move(pools), std::move(rules));
}

}  // namespace

Result<EngineTable> load_engines(Transaction& tx) {
  EngineTable table = shipped_engines();
  EXA_ASSIGN(const auto rows, tx.rows("SELECT spec FROM engine ORDER BY name"));
  for (const Row& row : rows) {
    EXA_ASSIGN(const json::object spec, parse_stored_object(row.text(0), "stored engine"));
    EXA_ASSIGN(Engine engine, engine_from_json(spec));
    EXA_ASSIGN(table, with_engine(std::move(table), std::move(engine)));
  }
  return table;
}

Result<JurisdictionTable> load_jurisdictions(Transaction& tx) {
  JurisdictionTable table;
  EXA_ASSIGN(const auto rows, tx.rows("SELECT spec FROM region ORDER BY name"));
  for (const Row& row : rows) {
    EXA_ASSIGN(const json::object spec, parse_stored_object(row.text(0), "stored region"));
    EXA_ASSIGN(table, with_region(std::move(table), text_or(spec, "region", ""),
                                  text_or(spec, "jurisdiction", "")));
  }
  return table;
}

Result<BurstPolicy> load_burst_policy(Transaction& tx) {
  EXA_ASSIGN(const auto rows, tx.rows("SELECT spec FROM burst_policy"));
  if (rows.empty()) return BurstPolicy{};
  EXA_ASSIGN(const json::object spec, parse_stored_object(rows[0].text(0), "stored burst policy"));
  return from_stored(read_policy(spec), "stored burst policy");
}

Result<PlaceRules> load_place_rules(Transaction& tx) {
  PlaceRules rules;
  EXA_ASSIGN(rules.engines, load_engines(tx));
  EXA_ASSIGN(rules.policy, load_burst_policy(tx));
  EXA_ASSIGN(rules.jurisdictions, load_jurisdictions(tx));
  return rules;
}

Result<std::vector<StoredPool>> load_pools(Transaction& tx, Time now) {
  EXA_ASSIGN(const auto rows,
             tx.rows(fmt::format("SELECT {} FROM pool ORDER BY name", kPoolColumns)));
  EXA_ASSIGN(auto leases, open_leases_by_pool(tx, now));
  Seen seen(tx, now);
  std::vector<StoredPool> pools;
  pools.reserve(rows.size());
  for (const Row& row : rows) {
    EXA_ASSIGN(StoredPool stored, pool_of(row));
    EXA_TRY(add_what_is_held(stored, seen, leases, now));
    pools.push_back(std::move(stored));
  }
  return pools;
}

Result<std::vector<std::string>> pool_names(Transaction& tx) {
  EXA_ASSIGN(const auto rows, tx.rows("SELECT name FROM pool ORDER BY name"));
  std::vector<std::string> names;
  for (const Row& row : rows) names.push_back(row.text(0));
  return names;
}

Result<StoredPool> find_pool(Transaction& tx, const std::string& name, Time now) {
  EXA_ASSIGN(const auto rows,
             tx.rows(fmt::format("SELECT {} FROM pool WHERE name = $1", kPoolColumns), {name}));
  if (rows.empty()) {
    EXA_ASSIGN(const auto names, pool_names(tx));
    Error error;
    error.code = Code::not_found;
    error.message = fmt::format("there is no pool \"{}\"", printable(name));
    error.alternatives = close_matches(name, names);
    error.next = "exa hardware pools";
    return fail(std::move(error));
  }
  EXA_ASSIGN(StoredPool stored, pool_of(rows[0]));
  EXA_ASSIGN(const auto leases, open_leases_by_pool(tx, now));
  Seen seen(tx, now);
  EXA_TRY(add_what_is_held(stored, seen, leases, now));
  return stored;
}

Result<std::vector<Lease>> leases_on(Transaction& tx, const std::string& cluster, Time now) {
  EXA_ASSIGN(const auto leases, open_leases_by_pool(tx, now));
  return on_cluster(leases, cluster);
}

Result<Pools> load_picture(Transaction& tx, Time now) {
  EXA_ASSIGN(auto stored, load_pools(tx, now));
  EXA_ASSIGN(PlaceRules rules, load_place_rules(tx));
  return picture_of(std::move(stored), std::move(rules));
}

Result<Pools> load_launch_picture(Transaction& tx, Time now, const std::string& cluster,
                                  Family family) {
  EXA_ASSIGN(auto stored, load_pools(tx, now));
  std::erase_if(stored, [&](const StoredPool& one) {
    return one.pool.declared() || (!cluster.empty() && one.pool.cluster != cluster);
  });
  const bool has_family = std::ranges::any_of(
      stored, [&](const StoredPool& one) { return one.pool.accelerator == family; });
  if (!cluster.empty() && !has_family) {
    StoredPool own;
    own.pool.name = kNoPool + cluster;
    own.pool.cluster = cluster;
    own.pool.accelerator = family;
    EXA_ASSIGN(const auto leases, open_leases_by_pool(tx, now));
    Seen seen(tx, now);
    EXA_TRY(add_what_is_held(own, seen, leases, now));
    stored.push_back(std::move(own));
  }
  EXA_ASSIGN(PlaceRules rules, load_place_rules(tx));
  return picture_of(std::move(stored), std::move(rules));
}

Result<void> put_setting(Transaction& tx, std::string_view table, const std::string& name,
                         const json::object& spec, Time now, const std::string& who) {
  EXA_TRY(drop_setting(tx, table, name));
  EXA_TRY(tx.change(fmt::format("INSERT INTO {} VALUES ($1, $2, $3, $4)", table),
                    {name, to_text(spec), now.micros, who}));
  return {};
}

Result<void> drop_setting(Transaction& tx, std::string_view table, const std::string& name) {
  EXA_TRY(tx.change(fmt::format("DELETE FROM {} WHERE name = $1", table), {name}));
  return {};
}

}  // namespace exa
