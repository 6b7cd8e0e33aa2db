// Placement inside one cluster: nodes and devices by its newest snapshot.
#include <fmt/format.h>

#include "place/cluster_place.h"
#include "service/clusters.h"
#include "service/placement_parts.h"
#include "service/placement_rows.h"
#include "service/placements.h"

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
    EXA_ASSIGN(const json::value spec, parse_json(row.text(0), "stored decision"));
    const json::value* workload = find(spec, "workload");
    if (workload == nullptr || !workload->is_object()) continue;
    // an engine that was removed since changes nothing about what was asked of devices
    json::object ask = workload->get_object();
    ask.erase("engine");
    if (const auto read = read_workload(ask, engines)) mix.observe(device_ask_of(*read));
  }
  return mix;
}

// A cluster stands where its pools say that it stands. Without a pool it is on premises, of which
// no region is known.
Result<std::string> why_data_may_not_go(Transaction& tx, const PlaceAsk& ask,
                                        const std::string& cluster, const PlaceRules& rules,
                                        Time now) {
  const ResidencyClaim claims[] = {{"project", ask.project_residency},
                                   {"dataset", ask.dataset_residency},
                                   {"workload", ask.workload.residency}};
  const EffectiveResidency residency = effective_residency(claims, rules.policy.unlabelled);
  EXA_ASSIGN(const auto pools, load_pools(tx, now));
  std::string region;
  bool cloud = false;
  for (const StoredPool& stored : pools) {
    if (stored.pool.cluster != cluster) continue;
    cloud = cloud || stored.pool.target == Target::cloud;
    if (region.empty()) region = stored.pool.region;
  }
  const EgressRule rule =
      judge_egress({residency.residency, cloud, jurisdiction_of(rules.jurisdictions, region), true},
                   rules.policy);
  return rule == EgressRule::allowed ? std::string()
                                     : why_blocked(rule, residency, cloud, region, rules.policy);
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
                                  {"stale", age > cluster.max_age}};
  if (age > cluster.max_age) {
    answer.notices.push_back(
        fmt::format("it was looked at {} ago; exa cluster discover {} looks now", format_age(age),
                    cluster.name));
  }
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
    EXA_ASSIGN(const std::string blocked, why_data_may_not_go(tx, ask, cluster.name, rules, now));
    json::object chosen = to_json(decision);
    std::string text = to_text(decision);
    int exit_code = decision.placed() ? 0 : info(Code::unresolvable).exit_code;
    if (!blocked.empty()) {
      chosen["decision"] = "rejected";
      chosen["placement"] = nullptr;
      chosen["rejection"] = json::object{{"kind", "blocked"}, {"reason", blocked}};
      text = "✗ Rejected: " + blocked;
      exit_code = info(Code::blocked).exit_code;
    }
    const std::string id = service.around().new_id();
    json::object spec{{"id", id}, {"project", what.project}};
    for (auto& member : chosen) spec[member.key()] = std::move(member.value());
    spec["text"] = text;
    spec["advice"] = true;
    spec["decided_at"] = format_rfc3339(now);
    spec["decided_by"] = caller.principal.name;
    Answer answer = answer_of(std::move(spec), *head, cluster, now, exit_code);
    EXA_TRY(keep_decision(tx, deed, answer.body, now, caller.principal.name));
    return answer;
  });
}

}  // namespace exa
