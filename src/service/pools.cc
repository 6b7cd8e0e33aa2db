#include "service/pools.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/json_or_null.h"
#include "base/plural.h"
#include "base/text.h"
#include "service/clusters.h"
#include "service/entity_tag.h"
#include "service/leases.h"
#include "service/placement_rows.h"

namespace exa {
namespace {

// The pool's document, then what is there of it now.
json::object pool_json(const StoredPool& stored, const PreparedPool& prepared, Time now) {
  json::object object = to_json(stored.pool);
  object["jurisdiction"] =
      prepared.jurisdiction ? json::value(*prepared.jurisdiction) : json::value(nullptr);
  object["total"] = prepared.total;
  object["free"] = number_or_null(prepared.free);
  object["leased"] = stored.leased;
  object["snapshot"] = nullptr;
  if (const auto& seen = stored.pool.seen) {
    object["snapshot"] = json::object{{"id", seen->id},
                                      {"taken_at", format_rfc3339(seen->taken_at)},
                                      {"stale", now - seen->taken_at > seen->max_age}};
  }
  object["created_at"] = format_rfc3339(stored.created_at);
  object["created_by"] = stored.created_by;
  object["updated_at"] = format_rfc3339(stored.updated_at);
  object["updated_by"] = stored.updated_by;
  return object;
}

Result<json::object> one_pool_json(Transaction& tx, const StoredPool& stored, Time now) {
  EXA_ASSIGN(PlaceRules rules, load_place_rules(tx));
  const Pools picture = build_pools({stored.pool}, std::move(rules));
  return pool_json(stored, picture->prepared[0], now);
}

Result<std::optional<StoredPool>> pool_if_any(Transaction& tx, const std::string& name, Time now) {
  std::optional<StoredPool> none;
  auto found = find_pool(tx, name, now);
  if (found) return std::optional(*std::move(found));
  if (found.error().code == Code::not_found) return none;
  return fail(std::move(found).error());
}

Result<void> write_pool(Transaction& tx, const StoredPool& stored) {
  EXA_TRY(
      tx.change("INSERT INTO pool VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (name) DO UPDATE "
                "SET spec = $2, updated_at = $5, updated_by = $6",
                {stored.pool.name, to_text(to_json(stored.pool)), stored.created_at.micros,
                 stored.created_by, stored.updated_at.micros, stored.updated_by}));
  return {};
}

// Leases were taken of what the pool is: it does not become another one under them.
Result<void> still_itself(const Pool& before, const Pool& after, int64_t leased) {
  if (leased == 0) return {};
  std::vector<Problem> problems;
  const auto same = [&](std::string_view key, bool equal) {
    if (!equal)
      problems.push_back({pointer("", key), "does not change while leases hold devices", ""});
  };
  same("accelerator", before.accelerator == after.accelerator);
  same("target", before.target == after.target);
  same("region", before.region == after.region);
  same("cluster", before.cluster == after.cluster);
  if (problems.empty()) return {};
  Error error = invalid("pool " + before.name, std::move(problems));
  error.code = Code::in_use;
  error.message = fmt::format("{} of pool {} under leases", counted(leased, "device"), before.name);
  error.next = fmt::format("exa hardware pools show {}", before.name);
  return fail(std::move(error));
}

// Price for a device first, unknown last, then by name: as a person compares them.
bool cheaper(const StoredPool& a, const StoredPool& b) {
  const auto rank = [](const Pool& pool) {
    const bool unknown = !pool.price && pool.target == Target::cloud;
    return std::tuple(unknown, pool.price ? pool.price->micros : 0, std::string_view(pool.name));
  };
  return rank(a.pool) < rank(b.pool);
}

}  // namespace

Result<Answer> add_pool(Service& service, const Caller& caller, const json::object& given) {
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    const Time now = service.now();
    const std::string name(text_or(given, "name", ""));
    EXA_ASSIGN(const auto before, pool_if_any(tx, name, now));
    EXA_ASSIGN(Pool pool, merge_pool(before ? &before->pool : nullptr, given));
    if (!pool.cluster.empty()) EXA_TRY(find_cluster(tx, pool.cluster));
    if (before) EXA_TRY(still_itself(before->pool, pool, before->leased));
    StoredPool stored{std::move(pool), now, caller.principal.name, now, caller.principal.name, 0};
    if (before) {
      stored.created_at = before->created_at;
      stored.created_by = before->created_by;
      deed.before = to_json(before->pool);
    }
    EXA_TRY(write_pool(tx, stored));
    deed.object_kind = "pool";
    deed.object_name = stored.pool.name;
    deed.after = to_json(stored.pool);
    Answer answer;
    answer.status = before ? 200 : 201;
    EXA_ASSIGN(stored, find_pool(tx, name, now));
    EXA_ASSIGN(answer.body, one_pool_json(tx, stored, now));
    answer.body["created"] = !before.has_value();
    return answer;
  });
}

Result<Answer> list_pools(Service& service) {
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    const Time now = service.now();
    EXA_ASSIGN(auto stored, load_pools(tx, now));
    EXA_ASSIGN(PlaceRules rules, load_place_rules(tx));
    std::vector<Pool> pools;
    for (const StoredPool& one : stored) pools.push_back(one.pool);
    const Pools picture = build_pools(std::move(pools), std::move(rules));
    std::ranges::sort(stored, cheaper);
    json::array items;
    for (const StoredPool& one : stored) {
      const auto at = std::ranges::find(picture->pools, one.pool.name, &Pool::name);
      items.emplace_back(
          pool_json(one, picture->prepared[static_cast<size_t>(at - picture->pools.begin())], now));
    }
    Answer answer;
    answer.body = {{"items", std::move(items)}, {"next_cursor", nullptr}};
    return answer;
  });
}

Result<Answer> show_pool(Service& service, const Caller& caller, const std::string& name) {
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    const Time now = service.now();
    EXA_ASSIGN(StoredPool stored, find_pool(tx, name, now));
    json::array leases;
    EXA_ASSIGN(const auto open, open_leases(tx, name, now));
    int64_t others = 0;
    for (const Lease& lease : open) {
      if (caller.known.contains(lease.project))
        leases.emplace_back(to_json(lease, now));
      else
        ++others;
    }
    json::array nodes;
    if (stored.pool.seen) {
      for (const PoolNodes& row : stored.pool.seen->nodes) {
        nodes.emplace_back(
            json::object{{"nodes", row.nodes},
                         {"devices", row.devices},
                         {"free", number_or_null(row.free)},
                         {"cpu_milli", number_or_null(row.cpu_milli)},
                         {"cpu_free_milli", number_or_null(row.cpu_free_milli)},
                         {"memory_bytes", number_or_null(row.memory_bytes)},
                         {"memory_free_bytes", number_or_null(row.memory_free_bytes)}});
      }
    }
    Answer answer;
    EXA_ASSIGN(answer.body, one_pool_json(tx, stored, now));
    answer.etag = entity_tag_of(to_json(stored.pool));
    answer.body["nodes"] = std::move(nodes);
    answer.body["leases"] = std::move(leases);
    if (others > 0) answer.body["leases_of_other_projects"] = others;
    return answer;
  });
}

Result<Answer> drain_pool(Service& service, const Caller& caller, const std::string& name,
                          const std::string& reason, bool undo) {
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    const Time now = service.now();
    EXA_ASSIGN(StoredPool stored, find_pool(tx, name, now));
    deed = {"pool", name, "", {}, to_json(stored.pool), {}, reason, {}};
    stored.pool.drained = !undo;
    stored.pool.drain_reason = undo ? "" : reason;
    if (auto problems = problems_of_pool(stored.pool); !problems.empty()) {
      for (Problem& problem : problems)
        if (problem.where == "/drain_reason") problem.where = "/reason";
      return fail(invalid("drain-pool", std::move(problems)));
    }
    stored.updated_at = now;
    stored.updated_by = caller.principal.name;
    EXA_TRY(write_pool(tx, stored));
    deed.after = to_json(stored.pool);
    Answer answer;
    const int64_t leased = stored.leased;
    if (!undo && leased > 0) {
      answer.notices.push_back(
          fmt::format("{} under leases; they run on until released", counted(leased, "device")));
    }
    EXA_ASSIGN(answer.body, one_pool_json(tx, stored, now));
    return answer;
  });
}

Result<Answer> remove_pool(Service& service, const Caller& caller, const std::string& name,
                           bool force, const std::string& reason) {
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    const Time now = service.now();
    EXA_ASSIGN(const StoredPool stored, find_pool(tx, name, now));
    EXA_ASSIGN(const auto open, open_leases(tx, name, now));
    if (force && reason.empty()) {
      return fail(invalid("remove", {{"/reason", "--force needs a reason", ""}}));
    }
    if (!open.empty() && !force) {
      Error error;
      error.code = Code::in_use;
      error.message = fmt::format("devices of pool {} are held by {}", name,
                                  counted(static_cast<int64_t>(open.size()), "lease"));
      for (const Lease& lease : open) {
        if (!caller.known.contains(lease.project)) continue;  // counted above, not named
        error.problems.push_back(
            {lease.id,
             fmt::format("{} holds {} until {}", lease.workload, counted(lease.devices, "device"),
                         format_rfc3339(lease.expires_at)),
             ""});
      }
      error.next = fmt::format("exa hardware drain-pool {}", name);
      return fail(std::move(error));
    }
    EXA_TRY(tx.change("DELETE FROM pool WHERE name = $1", {name}));
    deed = {"pool", name, "", {}, to_json(stored.pool), {}, reason, {}};
    Answer answer;
    answer.body = {{"name", name}, {"removed", true}, {"leases_left", open.size()}};
    return answer;
  });
}

Result<Answer> list_engines(Service& service) {
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    EXA_ASSIGN(const EngineTable table, load_engines(tx));
    json::array items;
    for (const Engine& engine : table.engines) items.emplace_back(to_json(engine));
    Answer answer;
    answer.body = {{"items", std::move(items)}, {"next_cursor", nullptr}};
    return answer;
  });
}

Result<Answer> show_engine(Service& service, const std::string& name) {
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    EXA_ASSIGN(const EngineTable table, load_engines(tx));
    const Engine* engine = find_engine(table, name);
    if (engine == nullptr) {
      std::vector<std::string> names;
      for (const Engine& one : table.engines) names.push_back(one.name);
      return fail({Code::not_found,
                   fmt::format("there is no engine \"{}\"", printable(name)),
                   {},
                   "exa hardware engines",
                   close_matches(name, names)});
    }
    Answer answer;
    answer.body = to_json(*engine);
    answer.etag = entity_tag_of(answer.body);
    return answer;
  });
}

Result<Answer> add_engine(Service& service, const Caller& caller, const std::string& name,
                          std::vector<std::string> backends) {
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_ASSIGN(EngineTable table, load_engines(tx));
    const Engine* before = find_engine(table, name);
    deed.object_kind = "engine";
    deed.object_name = name;
    if (before != nullptr) deed.before = to_json(*before);
    const bool fresh = before == nullptr;
    EXA_ASSIGN(table, with_engine(std::move(table), Engine{name, std::move(backends), false}));
    const json::object spec = to_json(*find_engine(table, name));
    EXA_TRY(put_setting(tx, "engine", name, spec, service.now(), caller.principal.name));
    deed.after = spec;
    Answer answer;
    answer.status = fresh ? 201 : 200;
    answer.body = spec;
    return answer;
  });
}

Result<Answer> remove_engine(Service& service, const Caller& caller, const std::string& name) {
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_ASSIGN(EngineTable table, load_engines(tx));
    const Engine* engine = find_engine(table, name);
    deed = {"engine", name, "", {}, {}, {}, "", {}};
    if (engine != nullptr) deed.before = to_json(*engine);
    EXA_TRY(without_engine(std::move(table), name));
    EXA_TRY(drop_setting(tx, "engine", name));
    Answer answer;
    answer.body = {{"name", name}, {"removed", true}};
    return answer;
  });
}

Result<Answer> portability(Service& service, const std::string& engine,
                           const std::string& accelerator) {
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    EXA_ASSIGN(const EngineTable table, load_engines(tx));
    EXA_ASSIGN(const Portability found, portable(table, engine, accelerator));
    Answer answer;
    answer.body = to_json(found);
    if (!found.portable) answer.exit_code = info(Code::unresolvable).exit_code;
    return answer;
  });
}

}  // namespace exa
