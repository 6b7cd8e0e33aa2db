// Where an instance is put whose template runs here: a pool is chosen for its shape, and its
// devices are held as long as it runs. Jobs of schedulers get theirs as launches do.
#include <algorithm>

#include <fmt/format.h>

#include "base/json_or_null.h"
#include "place/pool_explain.h"
#include "place/profile_ask.h"
#include "service/instance_parts.h"
#include "service/leases.h"
#include "service/placement_parts.h"
#include "service/placement_rows.h"

namespace exa {
namespace {

constexpr Duration kLifetime = hours(7 * 24);
constexpr Duration kRenewBelow = hours(4 * 24);

PlaceWorkload workload_of(const ComputeInstance& instance) {
  PlaceWorkload workload = workload_of_shape(instance.project, instance.name, *instance.shape);
  workload.workload["hardware_profile"] = text_or_null(instance.hardware_profile);
  workload.reserve = true;
  workload.lifetime = kLifetime;
  return workload;
}

void note_placement(ComputeInstance& instance, const Decision& decision, const json::object& kept) {
  instance.decision = text_or(kept, "id", "");
  if (const json::value* lease = kept.if_contains("lease"); lease->is_object())
    instance.lease = text_or(*lease, "id", "");
  const PlaceAnswer answer = answer_of(decision);
  const auto* placement = std::get_if<Placement>(&answer);
  if (placement == nullptr) return;
  instance.pool = placement->pool;
  instance.cluster = decision.pools->pools[decision.candidates[*decision.chosen].pool].cluster;
  if (!instance.price_per_hour) instance.price_per_hour = placement->cost_of_ask;
}

}  // namespace

PlaceWorkload workload_of_shape(const std::string& project, const std::string& name,
                                const Shape& shape) {
  HardwareProfile profile;
  profile.shape = shape;
  PlaceWorkload workload;
  workload.project = project;
  workload.workload = ask_of(profile);
  workload.workload["name"] = name;
  workload.workload["fallback"] = false;  // what its profile promises is of one family
  return workload;
}

bool has_pool_of(const Pools& pools, Family family) {
  return std::ranges::any_of(pools->pools,
                             [&](const Pool& pool) { return pool.accelerator == family; });
}

Result<std::vector<std::string>> take_capacity(Service& service, const Caller& caller,
                                               Transaction& tx, Deed& deed,
                                               ComputeInstance& instance) {
  std::vector<std::string> notices;
  if (!instance.shape) return notices;
  const Time now = service.now();
  const Family family = instance.shape->accelerator_family;
  EXA_ASSIGN(const Pools pools, load_picture(tx, now));
  if (!has_pool_of(pools, family) && family == Family::cpu) {
    notices.emplace_back("there is no pool of cpu: nothing is set aside for it");
    return notices;
  }
  const PlaceWorkload workload = workload_of(instance);
  EXA_ASSIGN(const PlaceAsk ask, ask_from(tx, workload, pools->rules.engines));
  EXA_ASSIGN(const Decision decision, place(ask, pools, now));
  if (!decision.chosen) {
    const PlaceAnswer answer = answer_of(decision);
    const auto* rejection = std::get_if<Rejection>(&answer);
    return fail(
        decision.refusal == RefusalKind::blocked ? Code::blocked : Code::unresolvable,
        rejection == nullptr ? "nothing can hold it" : rejection->reason,
        fmt::format("exa hardware pools shows what there is; exa hardware place {} explains",
                    instance.name));
  }
  EXA_ASSIGN(const Answer kept, keep_placement(service, caller, workload, tx, deed, decision));
  note_placement(instance, decision, kept.body);
  also_wrote(deed, "decision", instance.decision, kept.body);
  return notices;
}

Result<void> give_capacity_back(Transaction& tx, Deed& deed, const ComputeInstance& instance,
                                Time now) {
  if (instance.lease.empty()) return {};
  EXA_ASSIGN(auto lease, load_lease(tx, instance.lease));
  if (!lease || lease->ended_at) return {};
  lease->ended_at = std::max(now, lease->taken_at);
  EXA_TRY(update_lease(tx, *lease));
  also_wrote(deed, "lease", lease->id, to_stored_json(*lease));
  return {};
}

Result<bool> needs_renewal(Transaction& tx, const ComputeInstance& instance, Time now) {
  EXA_ASSIGN(const auto lease, load_lease(tx, instance.lease));
  return lease && !lease->ended_at && lease->expires_at - now < kRenewBelow;
}

Result<void> renew_capacity(Transaction& tx, Deed& deed, const ComputeInstance& instance,
                            Time now) {
  if (instance.lease.empty()) return {};
  EXA_ASSIGN(auto lease, load_lease(tx, instance.lease));
  if (!lease || lease->ended_at) return {};
  lease->expires_at = now + kLifetime;
  EXA_TRY(update_lease(tx, *lease));
  also_wrote(deed, "lease", lease->id, to_stored_json(*lease));
  return {};
}

}  // namespace exa
