// From a request to a shape, and from a shape to devices.
#include <algorithm>

#include <fmt/format.h>

#include "base/quantity.h"
#include "place/pool_explain.h"
#include "place/profile_ask.h"
#include "profile/validate.h"
#include "resolve/resolve.h"
#include "service/launch_parts.h"
#include "service/leases.h"
#include "service/members.h"
#include "service/placement_parts.h"
#include "service/placement_rows.h"
#include "service/profile_rows.h"

namespace exa {
namespace {

// Renewed while it runs; what nobody looks at any more gives its devices back in the end.
constexpr Duration kLifetime = hours(7 * 24);

bool has_devices(const json::object& given) {
  const auto positive = [&](std::string_view key) {
    const json::value* value = given.if_contains(key);
    return value != nullptr && !value->is_null() && to_text(*value) != "0";
  };
  return positive("gpu_count") || positive("mig_profile");
}

// Without a profile and a word about the family: devices are NVIDIA's, no devices is cpu.
std::string_view family_for(const json::object& given) {
  return info(has_devices(given) ? Family::nvidia : Family::cpu).name;
}

// What no queue helps with: an operator, a policy or the ask itself says no.
bool is_hard(EnumSet<Why> why) {
  return why.has(Why::drained) || why.has(Why::residency) || why.has(Why::target) ||
         why.has(Why::not_portable);
}

class Placer {
 public:
  Placer(Service& service, const Caller& caller, Transaction& tx, Deed& deed,
         const LaunchRequest& what, const ShapeOfLaunch& shape)
      : service_(service), caller_(caller), tx_(tx), deed_(deed), what_(what), shape_(shape) {}

  // On the pools of `cluster`, or of any (empty).
  Result<Decision> decide(const std::string& cluster) {
    const Time now = service_.now();
    EXA_ASSIGN(const Pools pools,
               load_launch_picture(tx_, now, cluster, shape_.shape.accelerator_family));
    HardwareProfile profile;
    profile.shape = shape_.shape;
    ask_.project = what_.project;
    ask_.workload = ask_of(profile);
    ask_.workload["name"] = what_.name;
    ask_.workload["hardware_profile"] =
        shape_.profile.empty() ? json::value(nullptr) : json::value(shape_.profile);
    ask_.workload["fallback"] = false;  // what is rendered is for the family that was asked
    if (!what_.residency.empty()) ask_.workload["residency"] = what_.residency;
    ask_.dataset_residency = what_.dataset_residency;
    ask_.reserve = true;
    ask_.queues = true;
    ask_.lifetime = kLifetime;
    EXA_ASSIGN(const PlaceAsk ask, ask_from(tx_, ask_, pools->rules.engines));
    return place(ask, pools, now);
  }

  Result<Placed> keep(const Decision& decision, Launch& launch) {
    EXA_ASSIGN(Answer answer, keep_placement(service_, caller_, ask_, tx_, deed_, decision));
    launch.decision = text_or(answer.body, "id", "");
    also_wrote(deed_, "decision", launch.decision, answer.body);
    Placed placed;
    if (const json::value* lease = answer.body.if_contains("lease"); lease->is_object()) {
      launch.lease = text_or(*lease, "id", "");
      EXA_TRY(use_permit(*lease));
    } else if (!caller_.dry_run || decision.refusal) {
      EXA_TRY(wait_for_devices(decision, launch, placed));
    }
    placed.decision = std::move(answer.body);
    return placed;
  }

 private:
  // A permit is for one launch.
  Result<void> use_permit(const json::value& lease) {
    const std::string permit(text_or(lease, "permit", ""));
    if (permit.empty()) return {};
    EXA_ASSIGN(const int64_t used,
               tx_.change("UPDATE permit SET used_at = $1 WHERE id = $2 AND used_at IS NULL",
                          {service_.now().micros, permit}));
    if (used == 1) return {};
    return fail(Code::blocked, fmt::format("the permit {} was used already", permit));
  }

  // The cluster's scheduler has the last word on what is busy, unseen or stale: it keeps the work
  // waiting, or refuses it. What a policy or an operator says is said here.
  Result<void> wait_for_devices(const Decision& decision, Launch& launch, Placed& placed) {
    const PoolCandidate* waits = nullptr;
    for (const PoolCandidate& candidate : decision.candidates)
      if (waits == nullptr && !is_hard(candidate.why) &&
          candidate.outcome != CandidateOutcome::blocked)
        waits = &candidate;
    const PlaceAnswer answer = answer_of(decision);
    const auto* rejection = std::get_if<Rejection>(&answer);
    const std::string reason = rejection == nullptr ? "" : rejection->reason;
    if (waits == nullptr) {
      const bool policy = decision.refusal == RefusalKind::blocked;
      return fail(policy ? Code::blocked : Code::unresolvable, reason,
                  fmt::format("exa hardware place {} --cluster {}", what_.name,
                              launch.cluster.empty() ? "NAME" : launch.cluster));
    }
    const Pool& pool = decision.pools->pools[waits->pool];
    Lease lease =
        lease_without_promise(pool, decision.ask.workload, decision.decided_at, kLifetime);
    if (launch.cluster.empty()) lease.cluster.clear();
    lease.id = service_.around().new_id();
    lease.project = what_.project;
    lease.decision = launch.decision;
    lease.taken_by = caller_.principal.name;
    EXA_TRY(within_limits(tx_, lease, decision.decided_at));
    EXA_TRY(insert_lease(tx_, lease));
    also_wrote(deed_, "lease", lease.id, to_stored_json(lease));
    launch.lease = lease.id;
    const bool seen = decision.refusal != RefusalKind::not_seen;
    if (!launch.cluster.empty() && seen)
      placed.notices.push_back(fmt::format("nothing is promised: {}", reason));
    return {};
  }

  Service& service_;
  const Caller& caller_;
  Transaction& tx_;
  Deed& deed_;
  const LaunchRequest& what_;
  const ShapeOfLaunch& shape_;
  PlaceWorkload ask_;
};

}  // namespace

Result<ShapeOfLaunch> shape_of_launch(Transaction& tx, const LaunchRequest& what) {
  if (what.kept) return *what.kept;
  ShapeOfLaunch out;
  json::object fields;
  if (!what.hardware_profile.empty()) {
    EXA_ASSIGN(const ProfileRef ref, parse_reference(what.hardware_profile));
    EXA_ASSIGN(const StoredVersion stored, find_profile(tx, what.project, ref));
    EXA_TRY(check_applicable(stored.profile, what.kind));
    fields = shape_to_json(stored.profile.shape);
    const bool own = stored.profile.project == what.project;
    out.profile = fmt::format("{}{}@{}", own ? "" : stored.profile.project + "/",
                              stored.profile.name, stored.profile.version);
    if (stored.deprecation) {
      out.notices.push_back(
          fmt::format("{} is retired; {}", out.profile, advice(*stored.deprecation)));
    }
  }
  for (const std::string_view field : shape_fields()) {
    const json::value* value = what.given.if_contains(field);
    if (value == nullptr) continue;
    if (!out.profile.empty()) out.overrides.emplace_back(field);
    fields[field] = *value;
  }
  if (!fields.contains("accelerator_family")) fields["accelerator_family"] = family_for(fields);
  EXA_ASSIGN(out.shape, read_shape(fields));
  return out;
}

Result<Placed> take_devices(Service& service, const Caller& caller, Transaction& tx, Deed& deed,
                            const LaunchRequest& what, const ShapeOfLaunch& shape, Launch& launch) {
  Placer placer(service, caller, tx, deed, what, shape);
  const bool any = what.cluster == "auto";
  const std::string own = launch.cluster.empty() ? "this-machine" : launch.cluster;
  EXA_ASSIGN(const Decision decision, placer.decide(any ? "" : own));
  if (any) {
    const bool same =
        decision.chosen &&
        decision.pools->pools[decision.candidates[*decision.chosen].pool].cluster == launch.cluster;
    if (!same)
      return fail(Code::conflict, "what was free has changed while it was being chosen",
                  "run it again");
  }
  return placer.keep(decision, launch);
}

Result<std::string> choose_cluster(Service& service, const Caller& caller,
                                   const LaunchRequest& what) {
  return read_value<std::string>(service.store(), [&](Transaction& tx) -> Result<std::string> {
    EXA_ASSIGN(const ShapeOfLaunch shape, shape_of_launch(tx, what));
    Deed nothing;
    EXA_ASSIGN(const Decision decision,
               Placer(service, caller, tx, nothing, what, shape).decide(""));
    if (decision.chosen)
      return decision.pools->pools[decision.candidates[*decision.chosen].pool].cluster;
    const PlaceAnswer answer = answer_of(decision);
    const auto* rejection = std::get_if<Rejection>(&answer);
    const bool none = decision.refusal == RefusalKind::no_pool;
    return fail(decision.refusal == RefusalKind::blocked ? Code::blocked : Code::unresolvable,
                none ? "no pool is backed by a cluster, so there is nothing to choose from"
                     : (rejection == nullptr ? "" : rejection->reason),
                none ? "exa hardware add-pool NAME --cluster CLUSTER, or name a cluster"
                     : "exa hardware pools");
  });
}

}  // namespace exa
