#include "place/pool_explain.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/quantity.h"
#include "base/text.h"

namespace exa {
namespace {

const Engine& engine_of(const Decision& decision) {
  const Engine* engine = find_engine(decision.pools->rules.engines, decision.ask.workload.engine);
  EXA_ASSERT(engine != nullptr);
  return *engine;
}

std::string_view plural(int64_t count, std::string_view one, std::string_view many) {
  return count == 1 ? one : many;
}

// One candidate beside what its reasons speak of.
struct View {
  const Decision& decision;
  const PoolCandidate& c;
  const Workload& work = decision.ask.workload;
  const Pool& pool = decision.pools->pools[c.pool];
  const PreparedPool& row = decision.pools->prepared[c.pool];
};

std::string missing_tags(const View& v) {
  std::vector<std::string> missing;
  for (const std::string& tag : v.work.capabilities)
    if (!std::ranges::binary_search(v.row.capabilities, tag)) missing.push_back(tag);
  return join(missing, ", ");
}

// Usable nodes of a backed pool that pass a test, and the most that one of them has.
template <typename Passes>
int64_t nodes_that(const View& v, Passes passes) {
  int64_t nodes = 0;
  for (const PoolNodes& row : v.pool.seen->nodes) nodes += passes(row) ? row.nodes : 0;
  return nodes;
}

std::string of_nodes(const View& v, int64_t have) {
  return fmt::format("asked on {} {}, {} on {}", v.work.nodes,
                     plural(v.work.nodes, "node", "nodes"), have == 0 ? "not there" : "there",
                     have == 0 ? "any" : std::to_string(have));
}

std::string per_node_text(const View& v) {
  int64_t most = 0;
  for (const PoolNodes& row : v.pool.seen->nodes)
    if (row.nodes > 0) most = std::max(most, row.devices);
  return fmt::format(
      "{} {} {}, at most {} on one", v.work.gpus, plural(v.work.gpus, "device", "devices"),
      of_nodes(v, nodes_that(v, [&](const PoolNodes& n) { return n.devices >= v.work.gpus; })),
      most);
}

std::string cpu_text(const View& v) {
  return fmt::format("{} {} {}", format_milli(v.work.cpu_milli),
                     plural(v.work.cpu_milli / 1000, "core", "cores"),
                     of_nodes(v, nodes_that(v, [&](const PoolNodes& n) {
                                return !n.cpu_milli || *n.cpu_milli >= v.work.cpu_milli;
                              })));
}

std::string memory_text(const View& v) {
  return fmt::format("{} of memory {}", format_bytes(v.work.memory_bytes),
                     of_nodes(v, nodes_that(v, [&](const PoolNodes& n) {
                                return !n.memory_bytes || *n.memory_bytes >= v.work.memory_bytes;
                              })));
}

std::string busy_text(const View& v) {
  const int64_t asked = v.work.devices();
  if (v.c.free && *v.c.free < asked)
    return fmt::format("{} of {} free now, {} asked", *v.c.free, v.c.total, asked);
  return fmt::format("fits on {} of {} {} now, {} asked", v.c.fitting_now, v.c.fitting_nodes,
                     plural(v.c.fitting_nodes, "node", "nodes"), v.work.nodes);
}

std::string stale_text(const View& v) {
  const Duration age = v.decision.decided_at - v.pool.seen->taken_at;
  const std::string failed =
      v.pool.seen->last_failure.empty()
          ? std::string()
          : fmt::format("; looking again failed: {}", printable(v.pool.seen->last_failure));
  if (age.micros < 0)
    return fmt::format("its snapshot is from {} ahead of now{}", format_age({-age.micros}), failed);
  return fmt::format("its snapshot is {} old, {} at most{}", format_age(age),
                     format_age(v.pool.seen->max_age), failed);
}

std::string target_text(const View& v) {
  if (v.decision.ask.burst) return "stands on premises; a burst goes to the cloud";
  return fmt::format("stands in {}, {} asked", name(v.pool.target), name(v.work.target));
}

std::string model_text(const View& v) {
  if (v.pool.model.empty())
    return fmt::format("{} devices are no {}", info(v.pool.accelerator).name, v.work.model);
  return fmt::format("has {}, {} asked", v.pool.model, v.work.model);
}

std::string text_of(const View& v, Why why) {
  switch (why) {
    case Why::not_portable:
      return why_not_portable(engine_of(v.decision), v.work.accelerator);
    case Why::drained:
      return v.pool.drain_reason.empty() ? "drained" : "drained: " + printable(v.pool.drain_reason);
    case Why::target:
      return target_text(v);
    case Why::accelerator:
      return fmt::format("has {}, {} asked without fallback", info(v.pool.accelerator).name,
                         info(v.work.accelerator).name);
    case Why::engine:
      return why_not_portable(engine_of(v.decision), v.pool.accelerator);
    case Why::capability:
      return fmt::format("does not advertise {}", missing_tags(v));
    case Why::model:
      return model_text(v);
    case Why::gpu_memory:
      return fmt::format("has {} on a device, {} asked",
                         format_bytes(v.row.memory_most.value_or(0)),
                         format_bytes(v.work.gpu_memory_bytes));
    case Why::capacity:
      return fmt::format("has {} in all, {} asked", v.c.total, v.work.devices());
    case Why::per_node:
      return per_node_text(v);
    case Why::cpu:
      return cpu_text(v);
    case Why::memory:
      return memory_text(v);
    case Why::together:
      return fmt::format("devices, cpu and memory are on one node together {}",
                         v.c.fitting_nodes == 0 ? std::string("nowhere")
                                                : fmt::format("only {} times, {} asked",
                                                              v.c.fitting_nodes, v.work.nodes));
    case Why::not_seen:
      return fmt::format("cluster {} was never looked at", v.pool.cluster);
    case Why::stale:
      return stale_text(v);
    case Why::busy:
      return busy_text(v);
    case Why::residency:
      return why_blocked(v.c.egress, v.decision.residency, v.pool.target == Target::cloud,
                         v.pool.region, v.decision.pools->rules.policy);
  }
  EXA_ASSERT(false && "every reason has its sentence");
}

std::string joined(const std::vector<CandidateReason>& reasons) {
  std::vector<std::string> texts;
  for (const CandidateReason& reason : reasons) texts.push_back(reason.text);
  return join(texts, "; ");
}

// The first point of the order in which an eligible candidate stands behind the chosen one.
std::string behind(const Decision& decision, const PoolCandidate& chosen, const PoolCandidate& c) {
  const Pool& pool = decision.pools->pools[c.pool];
  if (c.tier != chosen.tier)
    return fmt::format("{} is a fallback{}", info(pool.accelerator).name,
                       chosen.tier == 1 ? " after other devices" : "");
  if (c.price_known != chosen.price_known)
    return pool.price ? fmt::format("priced in {}, not compared", pool.price->currency)
                      : "price unknown";
  if (c.price_known && c.price_micros != chosen.price_micros)
    return fmt::format("+{} {}/h", format_micros(c.price_micros - chosen.price_micros),
                       decision.pools->rules.currency);
  if (c.stranded != chosen.stranded)
    return fmt::format("strands {} more {}", c.stranded - chosen.stranded,
                       plural(c.stranded - chosen.stranded, "device", "devices"));
  return "alike; its name comes later";
}

int rank(CandidateOutcome outcome) {
  constexpr std::array<int, 4> kRanks = {0, 1, 3, 2};  // chosen, eligible, filtered, blocked
  return kRanks.at(static_cast<size_t>(outcome));
}

}  // namespace

std::vector<CandidateReason> reasons_of(const Decision& decision, const PoolCandidate& candidate) {
  std::vector<CandidateReason> reasons;
  const View view{decision, candidate};
  for (size_t i = 0; i < kWhys; ++i)
    if (const Why why = static_cast<Why>(i); candidate.why.has(why))
      reasons.push_back({why, text_of(view, why)});
  return reasons;
}

std::vector<CandidateReport> explain(const Decision& decision) {
  const PoolSet& set = *decision.pools;
  const auto eligible = std::ranges::count_if(decision.candidates,
                                              [](const PoolCandidate& c) { return c.why.empty(); });
  std::vector<uint32_t> order(decision.candidates.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, [&](uint32_t i, uint32_t j) {
    const PoolCandidate& a = decision.candidates[i];
    const PoolCandidate& b = decision.candidates[j];
    if (a.outcome != b.outcome) return rank(a.outcome) < rank(b.outcome);
    return stands_before(set, a, b);
  });
  std::vector<CandidateReport> reports;
  reports.reserve(order.size());
  for (const uint32_t i : order) {
    const PoolCandidate& c = decision.candidates[i];
    CandidateReport report{i, set.pools[c.pool].name, c.outcome, reasons_of(decision, c), {}};
    if (c.outcome == CandidateOutcome::chosen)
      report.text = fmt::format("first of {} eligible", eligible);
    else if (c.outcome == CandidateOutcome::eligible)
      report.text = behind(decision, decision.candidates[*decision.chosen], c);
    else
      report.text = joined(report.reasons);
    reports.push_back(std::move(report));
  }
  return reports;
}

std::optional<BurstVerdict> burst_verdict(const Decision& decision) {
  const PoolSet& set = *decision.pools;
  const PoolCandidate* judged = nullptr;
  // fewest other reasons first: the pool that residency alone stands against
  const auto others = [](const PoolCandidate& c) { return c.why.size(); };
  for (const PoolCandidate& c : decision.candidates) {
    if (set.pools[c.pool].target != Target::cloud) continue;
    if (c.outcome == CandidateOutcome::chosen) {
      judged = &c;
      break;
    }
    if (c.outcome != CandidateOutcome::blocked || decision.chosen) continue;
    if (judged == nullptr || others(c) < others(*judged) ||
        (others(c) == others(*judged) && stands_before(set, c, *judged)))
      judged = &c;
  }
  if (judged == nullptr) return std::nullopt;
  const Pool& pool = set.pools[judged->pool];
  return judge_burst({.workload = decision.ask.workload.name,
                      .pool = pool.name,
                      .region = pool.region,
                      .residency = decision.residency,
                      .opted_in = decision.ask.opted_in},
                     set.rules.policy, set.rules.jurisdictions);
}

}  // namespace exa
