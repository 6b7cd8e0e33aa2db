// Placement inside one cluster: nodes and devices by its newest snapshot.
#include <fmt/format.h>

#include "place/cluster_place.h"
#include "service/clusters.h"
#include "service/placement_parts.h"
#include "service/placement_rows.h"
#include "service/placements.h"
#include "service/stored.h"

namespace exa {
namespace {

constexpr int64_t kRemembered = 200;  // decisions that the policy prepares for

// What was asked for lately, whatever came of it.
Result<AskMix> recent_asks(Transaction& tx, const EngineTable& engines) {
  EXA_ASSIGN(const auto rows,
             tx.rows("SELECT spec FROM decision ORDER BY decided_at DESC, id DESC LIMIT $1",
                     {kRemembered}));
  AskMix mix;
  for (const Row& row : rows) {
    EXA_ASSIGN(const json::value spec, parse_stored(row.text(0), "stored decision"));
    const json::value* workload = find(spec, "workload");
    if (workload == nullptr || !workload->is_object()) continue;
    // an engine that was removed since changes nothing about what was asked of devices
    json::object ask = workload->get_object();
    ask.erase("engine");
    if (const auto read = read_workload(ask, engines)) mix.observe(device_ask_of(*read));
  }
  return mix;
}

// What the pools of a cluster say of it. Without a pool it stands on premises, in no known region.
struct Standing {
  Target target = Target::hpc;
  std::string region;
  bool drained = false;  // every pool of it is
  std::string drain_reason;
};

Result<Standing> standing_of(Transaction& tx, const std::string& cluster, Time now) {
  Standing standing;
  EXA_ASSIGN(const auto pools, load_pools(tx, now));
  bool any = false;
  bool open = false;
  for (const StoredPool& stored : pools) {
    if (stored.pool.cluster != cluster) continue;
    any = true;
    open = open || !stored.pool.drained;
    if (stored.pool.target == Target::cloud) standing.target = Target::cloud;
    if (standing.region.empty()) standing.region = stored.pool.region;
    if (stored.pool.drained) standing.drain_reason = stored.pool.drain_reason;
  }
  standing.drained = any && !open;
  return standing;
}

struct Refused {
  std::string kind;
  std::string reason;
};

// What forbids the whole cluster before any node is looked at: the same questions that pools get.
std::optional<Refused> why_not_there(const PlaceAsk& ask, const std::string& cluster,
                                     const Standing& standing, const PlaceRules& rules,
                                     bool stale) {
  const Workload& work = ask.workload;
  const Engine* engine = find_engine(rules.engines, work.engine);
  if (engine != nullptr && !runs_on(*engine, work.accelerator))
    return Refused{"not-portable", why_not_portable(*engine, work.accelerator)};
  if (work.target != Target::any && work.target != standing.target) {
    return Refused{"impossible", fmt::format("{} stands in {}, {} asked", cluster,
                                             name(standing.target), name(work.target))};
  }
  if (standing.drained) {
    return Refused{"busy",
                   fmt::format("every pool of {} is drained{}{}", cluster,
                               standing.drain_reason.empty() ? "" : ": ", standing.drain_reason)};
  }
  if (stale) {
    return Refused{"not-seen", fmt::format("{} was looked at too long ago; exa cluster discover {} "
                                           "looks now",
                                           cluster, cluster)};
  }
  return std::nullopt;
}

Answer answer_of(json::object spec, const SnapshotHead& head, const Cluster& cluster, Time now,
                 int exit_code) {
  Answer answer;
  answer.status = 201;
  answer.exit_code = exit_code;
  const Duration age = now - head.taken_at;
  spec["snapshot"] = json::object{{"id", head.id},
                                  {"taken_at", format_rfc3339(head.taken_at)},
                                  {"age_seconds", age.micros / 1'000'000},
                                  {"declared", head.declared},
                                  {"stale", age > cluster.max_age}};
  answer.body = std::move(spec);
  return answer;
}

}  // namespace

Result<Answer> place_inside(Service& service, const Caller& caller, const PlaceOnCluster& what) {
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    const Time now = service.now();
    EXA_ASSIGN(const Cluster cluster, find_cluster(tx, what.cluster));
    EXA_ASSIGN(const auto head, newest_snapshot(tx, cluster));
    if (!head) {
      return fail(Code::not_found, fmt::format("cluster {} was never looked at", cluster.name),
                  fmt::format("exa cluster discover {}", cluster.name));
    }
    EXA_ASSIGN(const PlaceRules rules, load_place_rules(tx));
    EXA_ASSIGN(const PlaceAsk ask, ask_from(tx,
                                            {.project = what.project,
                                             .workload = what.workload,
                                             .hardware_profile = what.hardware_profile,
                                             .dataset_residency = what.dataset_residency},
                                            rules.engines));
    EXA_ASSIGN(const Inventory inventory, load_inventory(tx, head->id));
    ClusterPlaceOptions options{what.policy, what.group, what.group_required, what.mig_profile, {}};
    EXA_ASSIGN(options.mix, recent_asks(tx, rules.engines));
    EXA_ASSIGN(const ClusterDecision decision,
               place_on_cluster(ask.workload, cluster.name, inventory, options));
    EXA_ASSIGN(const Standing standing, standing_of(tx, cluster.name, now));
    auto refused =
        why_not_there(ask, cluster.name, standing, rules, now - head->taken_at > cluster.max_age);
    const BurstVerdict verdict = judge_burst({.workload = ask.workload.name,
                                              .pool = cluster.name,
                                              .region = standing.region,
                                              .residency = residency_of(ask, rules.policy),
                                              .opted_in = true,
                                              .cloud = standing.target == Target::cloud},
                                             rules.policy, rules.jurisdictions);
    if (!refused && !verdict.allowed) refused = Refused{"blocked", verdict.reason};
    json::object chosen = to_json(decision);
    std::string text = to_text(decision);
    int exit_code = decision.placed() ? 0 : info(Code::unresolvable).exit_code;
    if (refused) {
      chosen["decision"] = "rejected";
      chosen["placement"] = nullptr;
      chosen["rejection"] = json::object{{"kind", refused->kind}, {"reason", refused->reason}};
      text = "✗ Rejected: " + refused->reason;
      exit_code = info(refused->kind == "blocked" ? Code::blocked : Code::unresolvable).exit_code;
    }
    const bool attempt =
        standing.target == Target::cloud && (decision.placed() || !verdict.allowed);
    const std::string id = service.around().new_id();
    json::object spec{{"id", id}, {"project", what.project}};
    for (auto& member : chosen) spec[member.key()] = std::move(member.value());
    spec["text"] = text;
    spec["advice"] = true;
    spec["decided_at"] = format_rfc3339(now);
    spec["decided_by"] = caller.principal.name;
    Answer answer = answer_of(std::move(spec), *head, cluster, now, exit_code);
    if (head->declared) {
      answer.notices.emplace_back(
          "its capacity comes from tool output that does not say when it was printed");
    }
    if (decision.placed() && !refused && !decision.fraction_honored)
      answer.notices.emplace_back("a share was asked; whole devices are taken");
    if (attempt) {
      EXA_TRY(keep_burst_event(
          tx, deed, verdict,
          {service.around().new_id(), id, what.project, now, caller.principal.name}));
    }
    EXA_TRY(keep_decision(tx, deed, answer.body, now, caller.principal.name));
    return answer;
  });
}

}  // namespace exa
