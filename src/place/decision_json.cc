// The JSON form of a decision: what the store keeps and every interface prints.
#include <fmt/format.h>

#include "base/json_or_null.h"
#include "place/pool_explain.h"
namespace exa {
namespace {

json::object candidate_to_json(const Decision& decision, const CandidateReport& report) {
  const PoolSet& set = *decision.pools;
  const PoolCandidate& c = decision.candidates[report.candidate];
  const Pool& pool = set.pools[c.pool];
  json::array reasons;
  for (const CandidateReason& reason : report.reasons)
    reasons.push_back(json::object{{"code", name(reason.why)}, {"text", reason.text}});
  json::array unsure;
  for (size_t i = 0; i < kUnsures; ++i)
    if (c.unsure.has(static_cast<Unsure>(i))) unsure.emplace_back(name(static_cast<Unsure>(i)));
  const auto carbon = carbon_rate(pool);
  const auto& where = set.prepared[c.pool].jurisdiction;
  json::value free = nullptr;
  if (c.free) free = *c.free;
  json::value snapshot = nullptr;
  if (pool.seen)
    snapshot = json::object{{"id", text_or_null(pool.seen->id)},
                            {"taken_at", format_rfc3339(pool.seen->taken_at)}};
  return {
      {"pool", report.pool},
      {"outcome", name(c.outcome)},
      {"text", report.text},
      {"reasons", std::move(reasons)},
      {"accelerator", info(pool.accelerator).name},
      {"model", text_or_null(pool.model)},
      {"target", name(pool.target)},
      {"region", text_or_null(pool.region)},
      {"jurisdiction", text_or_null(where.value_or(""))},
      {"egress", name(c.egress)},
      {"fallback", c.tier > 0},
      {"total", c.total},
      {"free", std::move(free)},
      {"held_fraction", number_from_milli(c.held_milli)},
      {"fraction_honored", c.fraction_honored},
      {"cost_per_hour", pool.price ? number_from_micros(pool.price->micros) : nullptr},
      {"cost_of_ask_per_hour", c.price_known ? number_from_micros(c.price_micros) : nullptr},
      {"currency", pool.price ? json::value(pool.price->currency) : nullptr},
      {"price_set", pool.price.has_value()},
      {"carbon_factor", carbon ? number_from_micros(carbon->micrograms_per_hour) : nullptr},
      {"carbon_source", carbon ? json::value(carbon->estimate ? "estimate" : "factor") : nullptr},
      {"stranded", c.stranded},
      {"declared", pool.declared()},
      {"snapshot", std::move(snapshot)},
      {"unconfirmed", std::move(unsure)}};
}

}  // namespace

json::object to_json(const Decision& decision) {
  const PlaceAnswer answer = answer_of(decision);
  const auto* placement = std::get_if<Placement>(&answer);
  const auto* rejection = std::get_if<Rejection>(&answer);
  json::array candidates;
  for (const CandidateReport& report : explain(decision))
    candidates.push_back(candidate_to_json(decision, report));
  const auto verdict = burst_verdict(decision);
  std::string_view outcome = "rejected";
  if (placement != nullptr) outcome = placement->fallback ? "fallback" : "placed";
  json::value burst = nullptr;
  if (verdict) burst = to_json(*verdict);
  return {{"workload", to_json(decision.ask.workload)},
          {"burst", decision.ask.burst},
          {"residency", to_json(decision.residency)},
          {"decision", outcome},
          {"placement", placement != nullptr ? json::value(to_json(*placement)) : nullptr},
          {"rejection", rejection != nullptr ? json::value(to_json(*rejection)) : nullptr},
          {"order", kPlaceOrder},
          {"candidates", std::move(candidates)},
          {"burst_verdict", std::move(burst)},
          {"policy_revision", decision.pools->rules.policy.revision},
          {"decided_at", format_rfc3339(decision.decided_at)},
          {"advice", true}};
}

}  // namespace exa
