// What the routes of placement, bursts and leases answer.
#include "api/schema.h"
#include "govern/burst.h"
#include "place/pool_place.h"

namespace exa {
namespace {

using namespace schema;

json::object workload() {
  return object({{"name", text()},
                 {"accelerator", accelerator()},
                 {"capabilities", list(text())},
                 {"target", word(Target::cloud)},
                 {"engine", text()},
                 {"fraction", number()},
                 {"gpus", count()},
                 {"nodes", count()},
                 {"cpu", number()},
                 {"memory_gb", number()},
                 {"gpu_memory", maybe(text())},
                 {"model", maybe(text())},
                 {"residency", maybe(text())},
                 {"fallback", yes_no()},
                 {"hardware_profile", maybe(text())}});
}

json::object residency() {
  return object(
      {{"class", word(Residency::restricted)}, {"source", text()}, {"unknown", maybe(text())}});
}

json::object carbon_source() {
  return maybe(word({"factor", "estimate"}));
}

json::object placement() {
  return object({{"workload", text()},
                 {"pool", text()},
                 {"accelerator", accelerator()},
                 {"model", maybe(text())},
                 {"target", word(Target::cloud)},
                 {"region", maybe(text())},
                 {"engine", text()},
                 {"gpus", count()},
                 {"nodes", count()},
                 {"devices", count()},
                 {"fraction", number()},
                 {"held_fraction", number()},
                 {"fraction_honored", yes_no()},
                 {"held_as", text()},
                 {"fallback", yes_no()},
                 {"note", maybe(text())},
                 {"cost_per_hour", maybe(number())},
                 {"cost_of_ask_per_hour", maybe(number())},
                 {"currency", maybe(text())},
                 {"price_set", yes_no()},
                 {"carbon_factor", maybe(number())},
                 {"carbon_source", carbon_source()},
                 {"declared", yes_no()},
                 {"snapshot_id", maybe(text())},
                 {"snapshot_age_seconds", maybe(integer())},
                 {"unconfirmed", list(text())},
                 {"remarks", list(text())}});
}

json::object near_miss() {
  return object({{"pool", text()},
                 {"changes", list(text())},
                 {"instead", workload()},
                 {"only_the_ask", yes_no()}});
}

json::object rejection() {
  return object({{"workload", text()},
                 {"kind", word(RefusalKind::impossible)},
                 {"reason", text()},
                 {"near_misses", list(near_miss())}});
}

json::object candidate() {
  return object({{"pool", text()},
                 {"outcome", word(CandidateOutcome::blocked)},
                 {"text", text()},
                 {"reasons", list(object({{"code", word(Why::residency)}, {"text", text()}}))},
                 {"accelerator", accelerator()},
                 {"model", maybe(text())},
                 {"target", word(Target::cloud)},
                 {"region", maybe(text())},
                 {"jurisdiction", maybe(text())},
                 {"egress", word(EgressRule::nothing_judged)},
                 {"fallback", yes_no()},
                 {"total", count()},
                 {"free", maybe(count())},
                 {"held_fraction", number()},
                 {"fraction_honored", yes_no()},
                 {"cost_per_hour", maybe(number())},
                 {"cost_of_ask_per_hour", maybe(number())},
                 {"currency", maybe(text())},
                 {"price_set", yes_no()},
                 {"carbon_factor", maybe(number())},
                 {"carbon_source", carbon_source()},
                 {"stranded", count()},
                 {"declared", yes_no()},
                 {"snapshot", maybe(object({{"id", maybe(text())}, {"taken_at", time()}}))},
                 {"unconfirmed", list(word(Unsure::declared_capacity))}});
}

Members verdict() {
  return {{"allowed", yes_no()},      {"rule", word(EgressRule::nothing_judged)},
          {"reason", maybe(text())},  {"message", text()},
          {"workload", text()},       {"pool", maybe(text())},
          {"region", maybe(text())},  {"jurisdiction", maybe(text())},
          {"residency", residency()}, {"policy_revision", count()}};
}

json::object permit() {
  return object({{"id", text()},
                 {"workload", text()},
                 {"pool", text()},
                 {"region", text()},
                 {"residency", word(Residency::restricted)},
                 {"policy_revision", count()},
                 {"issued_at", time()},
                 {"expires_at", time()}});
}

json::object lease() {
  return object({{"id", text()},
                 {"project", text()},
                 {"workload", text()},
                 {"hardware_profile", maybe(text())},
                 {"decision", text()},
                 {"pool", text()},
                 {"target", word(Target::cloud)},
                 {"region", maybe(text())},
                 {"device", accelerator()},
                 {"model", maybe(text())},
                 {"devices", count()},
                 {"held", number()},
                 {"share", maybe(text())},
                 {"parts", list(object({{"device", count()},
                                        {"share", count()},
                                        {"compute_slices", count()},
                                        {"memory_slices", count()},
                                        {"start", count()}}))},
                 {"cluster", maybe(text())},
                 {"nodes", list(object({{"node", text()},
                                        {"devices", count()},
                                        {"cpu_milli", count()},
                                        {"memory_bytes", count()}}))},
                 {"cost_per_hour", maybe(number())},
                 {"currency", maybe(text())},
                 {"carbon_micrograms_per_hour", maybe(count())},
                 {"carbon_estimate", yes_no()},
                 {"permit", maybe(text())},
                 {"taken_at", time()},
                 {"taken_by", text()},
                 {"expires_at", time()},
                 {"ended_at", maybe(time())},
                 {"state", word({"held", "released", "expired"})}});
}

// Among pools.
json::object pool_decision(Member candidates) {
  return object({{"id", text()},
                 {"project", text()},
                 {"workload", workload()},
                 {"burst", yes_no()},
                 {"residency", residency()},
                 {"decision", word({"placed", "fallback", "rejected"})},
                 {"placement", maybe(placement())},
                 {"rejection", maybe(rejection())},
                 {"order", text()},
                 std::move(candidates),
                 {"burst_verdict", maybe(object(verdict()))},
                 {"policy_revision", count()},
                 {"decided_at", time()},
                 {"decided_by", text()},
                 {"text", text()},
                 {"advice", yes_no()},
                 {"event", maybe(text())},
                 {"permit", maybe(permit())},
                 {"lease", maybe(ref("Lease"))}});
}

json::object chosen_nodes() {
  return object({{"cluster", text()},
                 {"pool", null()},
                 {"accelerator", accelerator()},
                 {"model", maybe(text())},
                 {"gpus", count()},
                 {"fraction", number()},
                 {"fraction_honored", yes_no()},
                 {"nodes", list(object({{"node", text()}, {"devices", count()}}))}});
}

json::object refusals() {
  Members members;
  for (const std::string_view key : {"nodes", "fit", "model", "capability", "group", "mode",
                                     "devices", "cpu", "memory", "never"}) {
    members.push_back({key, count()});
  }
  return object(members);
}

// Inside one cluster, on its nodes.
json::object node_decision(Member left_out) {
  return object(
      {{"id", text()},
       {"project", text()},
       {"workload", workload()},
       {"cluster", text()},
       {"policy", text()},
       {"decision", word({"placed", "rejected"})},
       {"placement", maybe(chosen_nodes())},
       {"rejection", maybe(object({{"kind", word(RefusalKind::impossible)}, {"reason", text()}}))},
       {"refusals", refusals()},
       std::move(left_out),
       {"text", text()},
       {"advice", yes_no()},
       {"decided_at", time()},
       {"decided_by", text()},
       {"snapshot", object({{"id", text()},
                            {"taken_at", time()},
                            {"age_seconds", integer()},
                            {"declared", yes_no()},
                            {"stale", yes_no()}})}});
}

json::object left_out() {
  return list(object({{"node", text()}, {"why", text()}}));
}

json::object decision_line() {
  return object({{"id", text()},
                 {"workload", text()},
                 {"decision", word({"placed", "fallback", "rejected"})},
                 {"pool", maybe(text())},
                 {"cluster", maybe(text())},
                 {"device", maybe(accelerator())},
                 {"target", maybe(word(Target::cloud))},
                 {"region", maybe(text())},
                 {"gpus", maybe(count())},
                 {"cost_of_ask_per_hour", maybe(number())},
                 {"reason", maybe(text())},
                 {"lease", maybe(text())},
                 {"decided_at", time()},
                 {"decided_by", text()}});
}

json::object burst_event() {
  return object(Members{{"id", text()}, {"decision", text()}, {"project", text()}} + verdict() +
                Members{{"attempted_at", time()}, {"attempted_by", text()}});
}

}  // namespace

std::vector<ReplySchema> placement_schemas() {
  return {
      // what was left out is told on --explain, and kept
      {"Placement", either({pool_decision(sometimes("candidates", list(candidate()))),
                            node_decision(sometimes("left_out", left_out()))})},
      {"Decision", either({pool_decision({"candidates", list(candidate())}),
                           node_decision({"left_out", left_out()})})},
      {"DecisionList", page(decision_line())},
      {"BurstEventList", page(burst_event())},
      {"Lease", lease()},
      {"LeaseList", page(ref("Lease"))},
  };
}

}  // namespace exa
