#include "place/placement.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "base/json_or_null.h"
#include "base/quantity.h"
#include "base/text.h"
#include "place/pool_explain.h"

namespace exa {
namespace {

constexpr size_t kMostNamed = 3;  // pools in one sentence

std::string held_as(const PoolSet& set, const PoolCandidate& c) {
  if (c.share < 0) return "whole";
  const ShareOption& share = set.prepared[c.pool].shares[static_cast<size_t>(c.share)];
  return share.mig_profile.empty() ? std::string(name(share.sharing))
                                   : fmt::format("{} {}", name(share.sharing), share.mig_profile);
}

std::string wasted(const Placement& placement) {
  const int64_t idle = (placement.held_milli - placement.fraction_milli) * placement.devices();
  return fmt::format("{} of a device {} held and not asked for", format_milli(idle),
                     idle == 1000 ? "is" : "are");
}

void add_remarks(const Pool& pool, const PoolCandidate& c, Placement& placement) {
  auto& remarks = placement.remarks;
  if (!placement.fraction_honored)
    remarks.push_back(
        fmt::format("{} has no share for the fraction {}: whole devices are taken, {}", pool.name,
                    format_milli(placement.fraction_milli), wasted(placement)));
  else if (placement.held_milli > placement.fraction_milli)
    remarks.push_back(fmt::format("held as {}: {}", placement.held_as, wasted(placement)));
  if (!pool.price)
    remarks.emplace_back(pool.target == Target::hpc
                             ? "no price set: an on-premises pool without one counts as 0"
                             : "no price set: the cost is unknown");
  else if (!c.price_known)
    remarks.push_back(fmt::format("priced in {}, which is not compared with other currencies",
                                  pool.price->currency));
  if (pool.declared()) remarks.emplace_back("capacity as declared by an operator, not seen");
  if (pool.seen && pool.seen->declared)
    remarks.emplace_back("capacity from tool output that does not say when it was printed");
  if (!placement.unconfirmed.empty() && !pool.declared())
    remarks.push_back("not confirmed: " + join(placement.unconfirmed, ", "));
  if (!placement.carbon)
    remarks.emplace_back("carbon unknown: the pool has neither a factor nor a power");
  else if (placement.carbon->estimate)
    remarks.emplace_back("carbon is an estimate: watts × PUE × grid intensity");
}

void copy_price(const Pool& pool, const PoolCandidate& c, Placement& placement) {
  placement.price_set = pool.price.has_value();
  placement.cost_per_hour = pool.price;
  if (!pool.price && pool.target == Target::hpc) placement.cost_per_hour = Money{};
  if (placement.cost_per_hour && c.price_micros != std::numeric_limits<int64_t>::max())
    placement.cost_of_ask = Money{c.price_micros, placement.cost_per_hour->currency};
}

Placement placement_of(const Decision& decision) {
  const PoolCandidate& c = decision.candidates[*decision.chosen];
  const Pool& pool = decision.pools->pools[c.pool];
  const Workload& work = decision.ask.workload;
  Placement placement;
  placement.workload = work.name;
  placement.pool = pool.name;
  placement.accelerator = pool.accelerator;
  placement.model = pool.model;
  placement.target = pool.target;
  placement.region = pool.region;
  placement.engine = work.engine;
  placement.gpus = work.gpus;
  placement.nodes = work.nodes;
  placement.fraction_milli = work.fraction_milli;
  placement.held_milli = c.held_milli;
  placement.fraction_honored = c.fraction_honored;
  placement.held_as = held_as(*decision.pools, c);
  placement.fallback = c.tier > 0;
  if (placement.fallback)
    placement.note = fmt::format("requested {} unavailable — fell back to {}",
                                 info(work.accelerator).name, info(pool.accelerator).name);
  copy_price(pool, c, placement);
  placement.carbon = carbon_rate(pool);
  placement.declared = pool.declared() || (pool.seen && pool.seen->declared);
  if (pool.seen) {
    placement.snapshot_id = pool.seen->id;
    placement.snapshot_age = decision.decided_at - pool.seen->taken_at;
  }
  for (size_t i = 0; i < kUnsures; ++i)
    if (const Unsure unsure = static_cast<Unsure>(i); c.unsure.has(unsure))
      placement.unconfirmed.emplace_back(name(unsure));
  add_remarks(pool, c, placement);
  return placement;
}

// --- refusals

// "hpc-a: 2 of 8 free now, 4 asked; hpc-b: …": the nearest pools, those with the fewest reasons.
std::string nearest(const Decision& decision, const auto& wanted) {
  std::vector<const PoolCandidate*> order;
  for (const PoolCandidate& c : decision.candidates)
    if (wanted(c)) order.push_back(&c);
  std::ranges::sort(order, [&](const PoolCandidate* a, const PoolCandidate* b) {
    if (a->why.size() != b->why.size()) return a->why.size() < b->why.size();
    return stands_before(*decision.pools, *a, *b);
  });
  std::vector<std::string> parts;
  for (const PoolCandidate* c : order) {
    if (parts.size() == kMostNamed) {
      parts.push_back(fmt::format("{} more", order.size() - kMostNamed));
      break;
    }
    std::vector<std::string> texts;
    for (const CandidateReason& reason : reasons_of(decision, *c)) texts.push_back(reason.text);
    parts.push_back(fmt::format("{}: {}", decision.pools->pools[c->pool].name, join(texts, ", ")));
  }
  return join(parts, "; ");
}

std::string blocked_reason(const Decision& decision) {
  if (const auto verdict = burst_verdict(decision)) return verdict->reason;
  // only pools on premises: eu-only data and a site elsewhere
  return nearest(decision, [](const PoolCandidate& c) { return c.why.has(Why::residency); });
}

std::string reason_of(const Decision& decision) {
  const Workload& work = decision.ask.workload;
  const std::string ask = describe(work);
  const auto has = [](Why why) { return [why](const PoolCandidate& c) { return c.why.has(why); }; };
  switch (*decision.refusal) {
    case RefusalKind::no_pool:
      return "no device pool is registered";
    case RefusalKind::not_portable:
      return why_not_portable(*find_engine(decision.pools->rules.engines, work.engine),
                              work.accelerator);
    case RefusalKind::busy:
      return fmt::format("every pool that could hold {} is busy: {}", ask,
                         nearest(decision, [&](const PoolCandidate& c) {
                           return has(Why::busy)(c) && c.why.size() == 1;
                         }));
    case RefusalKind::not_seen:
      return fmt::format("no pool that could hold {} was seen lately: {}", ask,
                         nearest(decision, [&](const PoolCandidate& c) {
                           return has(Why::not_seen)(c) || has(Why::stale)(c);
                         }));
    case RefusalKind::blocked:
      return blocked_reason(decision);
    case RefusalKind::impossible:
      return fmt::format("no compatible device pool available for {}: {}", ask,
                         nearest(decision, [](const PoolCandidate&) { return true; }));
  }
  EXA_ASSERT(false && "every refusal has its sentence");
}

json::value money_or_null(const std::optional<Money>& money) {
  return money ? number_from_micros(money->micros) : nullptr;
}

json::array texts(const std::vector<std::string>& list) {
  json::array array;
  for (const std::string& text : list) array.emplace_back(text);
  return array;
}

}  // namespace

PlaceAnswer answer_of(const Decision& decision) {
  if (decision.chosen) return placement_of(decision);
  return Rejection{decision.ask.workload.name, *decision.refusal, reason_of(decision),
                   near_misses(decision)};
}

std::string to_text(const Placement& placement) {
  std::string text = fmt::format("✓ {} → pool {} · {} on {}", placement.workload, placement.pool,
                                 info(placement.accelerator).name, name(placement.target));
  if (placement.fallback) text += " (fallback)";
  if (!placement.note.empty()) text += "\n  " + placement.note;
  return text;
}

std::string to_text(const Rejection& rejection) {
  return "✗ Rejected: " + rejection.reason;
}

std::string to_text(const Decision& decision) {
  if (decision.ask.burst && decision.refusal == RefusalKind::blocked)
    if (const auto verdict = burst_verdict(decision)) return "⚠ " + message(*verdict);
  return std::visit([](const auto& answer) { return to_text(answer); }, answer_of(decision));
}

json::object to_json(const Placement& p) {
  json::value age = nullptr;
  if (p.snapshot_age) age = p.snapshot_age->micros / 1'000'000;
  json::value carbon_source = nullptr;
  if (p.carbon) carbon_source = p.carbon->estimate ? "estimate" : "factor";
  return {{"workload", p.workload},
          {"pool", p.pool},
          {"accelerator", info(p.accelerator).name},
          {"model", text_or_null(p.model)},
          {"target", name(p.target)},
          {"region", text_or_null(p.region)},
          {"engine", p.engine},
          {"gpus", p.gpus},
          {"nodes", p.nodes},
          {"devices", p.devices()},
          {"fraction", number_from_milli(p.fraction_milli)},
          {"held_fraction", number_from_milli(p.held_milli)},
          {"fraction_honored", p.fraction_honored},
          {"held_as", p.held_as},
          {"fallback", p.fallback},
          {"note", text_or_null(p.note)},
          {"cost_per_hour", money_or_null(p.cost_per_hour)},
          {"cost_of_ask_per_hour", money_or_null(p.cost_of_ask)},
          {"currency", p.cost_per_hour ? json::value(p.cost_per_hour->currency) : nullptr},
          {"price_set", p.price_set},
          {"carbon_factor", p.carbon ? number_from_micros(p.carbon->micrograms_per_hour) : nullptr},
          {"carbon_source", std::move(carbon_source)},
          {"declared", p.declared},
          {"snapshot_id", text_or_null(p.snapshot_id)},
          {"snapshot_age_seconds", std::move(age)},
          {"unconfirmed", texts(p.unconfirmed)},
          {"remarks", texts(p.remarks)}};
}

json::object to_json(const NearMiss& miss) {
  return {{"pool", miss.pool},
          {"changes", texts(miss.changes)},
          {"instead", to_json(miss.instead)},
          {"only_the_ask", miss.only_the_ask}};
}

json::object to_json(const Rejection& rejection) {
  json::array misses;
  for (const NearMiss& miss : rejection.near_misses) misses.emplace_back(to_json(miss));
  return {{"workload", rejection.workload},
          {"kind", name(rejection.kind)},
          {"reason", rejection.reason},
          {"near_misses", std::move(misses)}};
}

}  // namespace exa
