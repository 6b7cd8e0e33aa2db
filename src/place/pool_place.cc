#include "place/pool_place.h"

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>

#include "place/mig.h"
#include "profile/validate.h"

namespace exa {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

constexpr std::array<std::string_view, kWhys> kWhyNames = {
    "not-portable", "drained",    "target",   "accelerator", "engine",   "capability",
    "model",        "gpu-memory", "capacity", "per-node",    "cpu",      "memory",
    "together",     "not-seen",   "stale",    "busy",        "residency"};
constexpr std::array<std::string_view, kUnsures> kUnsureNames = {
    "model", "gpu_memory", "gpus_per_node", "cpu", "memory_gb", "free", "declared_capacity"};
constexpr std::array<std::string_view, 4> kOutcomes = {"chosen", "eligible", "filtered", "blocked"};
constexpr std::array<std::string_view, 6> kRefusals = {"no-pool",  "not-portable", "busy",
                                                       "not-seen", "blocked",      "impossible"};

// What is worked out once per decision.
struct Question {
  const PlaceAsk& ask;
  const PoolSet& set;
  Time now;
  Residency residency;
  uint32_t families = 0;           // bit of each family on which the engine runs
  std::vector<Match> models;       // the hint against each of PoolSet::models
  uint32_t hinted_families = ~0U;  // bit of each family that the hint can mean

  const Workload& work() const { return ask.workload; }
  bool runs_on_family(Family family) const {
    return (families >> static_cast<int>(family) & 1) != 0;
  }
};

uint32_t bit(Family family) {
  return 1U << static_cast<int>(family);
}

Question question_of(const PlaceAsk& ask, const PoolSet& set, Time now, const Engine& engine,
                     Residency residency) {
  Question question{ask, set, now, residency, 0, {}, ~0U};
  for (const FamilyInfo& row : families())
    if (row.askable && runs_on(engine, row.family)) question.families |= bit(row.family);
  const std::string& hint = ask.workload.model;
  if (hint.empty()) return question;
  const std::vector<const DeviceModel*> meant = models_meant(hint);
  for (size_t i = 0; i < set.models.size(); ++i)
    question.models.push_back(meant.empty() || set.meant[i].empty()
                                  ? match_model(hint, set.models[i])
                                  : match_meant(meant, set.meant[i]));
  if (!meant.empty()) {
    question.hinted_families = 0;
    for (const DeviceModel* model : meant) question.hinted_families |= bit(model->family);
  }
  return question;
}

// --- the questions, each of which adds what fails

void check_terms(const Question& q, const Pool& pool, PoolCandidate& c) {
  const Workload& work = q.work();
  const bool other_target = q.ask.burst ? pool.target != Target::cloud
                                        : work.target != Target::any && pool.target != work.target;
  if (!q.runs_on_family(work.accelerator)) c.why.add(Why::not_portable);
  if (pool.drained) c.why.add(Why::drained);
  if (other_target) c.why.add(Why::target);
  if (pool.accelerator != work.accelerator) {
    c.tier = pool.accelerator == Family::cpu ? 2 : 1;
    if (!work.allow_fallback) c.why.add(Why::accelerator);
    if (!q.runs_on_family(pool.accelerator)) c.why.add(Why::engine);
  }
}

void check_kind(const Question& q, const Pool& pool, const PreparedPool& row, PoolCandidate& c) {
  const Workload& work = q.work();
  for (const std::string& tag : work.capabilities)
    if (!std::ranges::binary_search(row.capabilities, tag)) c.why.add(Why::capability);
  if (!work.model.empty()) {
    const bool other_family = (q.hinted_families & bit(pool.accelerator)) == 0;
    const Match match = other_family ? Match::contradicted : q.models[row.model];
    if (match == Match::contradicted) c.why.add(Why::model);
    if (match == Match::not_reported) c.unsure.add(Unsure::model);
  }
  if (work.gpu_memory_bytes == 0) return;
  if (!row.memory_most)
    c.unsure.add(Unsure::gpu_memory);
  else if (*row.memory_most < work.gpu_memory_bytes)
    c.why.add(Why::gpu_memory);
  else if (*row.memory_least < work.gpu_memory_bytes)
    c.unsure.add(Unsure::gpu_memory);
}

void check_seen(const Question& q, const Pool& pool, PoolCandidate& c) {
  if (pool.declared()) {
    c.unsure.add(Unsure::declared_capacity);
    return;
  }
  if (!pool.seen) {
    c.why.add(Why::not_seen);
    return;
  }
  if (pool.seen->declared) c.unsure.add(Unsure::declared_capacity);
  const Duration age = q.now - pool.seen->taken_at;
  if (age > pool.seen->max_age || age.micros < -pool.seen->max_age.micros) c.why.add(Why::stale);
}

void check_residency(const Question& q, const Pool& pool, const PreparedPool& row,
                     PoolCandidate& c) {
  std::optional<std::string_view> where;
  if (row.jurisdiction) where = *row.jurisdiction;
  c.egress = judge_egress({q.residency, pool.target == Target::cloud, where, q.ask.opted_in},
                          q.set.rules.policy);
  if (c.egress != EgressRule::allowed) c.why.add(Why::residency);
}

// --- capacity

// Devices on which a share of `held` thousandths can be had: free ones, and those whose rest is
// large enough. The shares of one ask are on distinct devices.
int64_t free_shares(const Pool& pool, const PreparedPool& row, const ShareOption& share,
                    int64_t held) {
  int64_t free = row.free.value_or(0) + std::ranges::count_if(pool.leases.rests, [&](int64_t rest) {
                   return rest >= held;
                 });
  // an instance needs slices of both kinds, and a place where it may begin
  if (share.slices.compute > 0) {
    free += std::ranges::count_if(
        pool.leases.mig_cards, [&](uint16_t card) { return starts_left(card, share.slices) != 0; });
  }
  return free;
}

struct Units {
  int64_t total = 0;
  std::optional<int64_t> free;
  std::optional<int64_t> largest_on_node;
};

Units units_of(const Pool& pool, const PreparedPool& row, const ShareOption& share, int64_t held) {
  if (share.from_devices) return {row.total, free_shares(pool, row, share, held), std::nullopt};
  return {share.units, share.free, share.largest_on_node};
}

bool holds(const Workload& work, const Units& units) {
  return units.total >= work.devices() &&
         (!units.largest_on_node || *units.largest_on_node >= work.gpus);
}

// Chooses how a fraction is held: the smallest share that satisfies it and is free, else the
// smallest that is there. False: whole devices must do.
bool hold_by_share(const Question& q, const Pool& pool, const PreparedPool& row, PoolCandidate& c) {
  const Workload& work = q.work();
  bool found = false;
  for (size_t i = 0; i < row.shares.size(); ++i) {
    const ShareOption& share = row.shares[i];
    if (share.honours_milli < work.fraction_milli) continue;
    const int64_t held = share.held_milli == 0 ? work.fraction_milli : share.held_milli;
    const Units units = units_of(pool, row, share, held);
    if (!holds(work, units)) continue;
    const bool now = units.free && *units.free >= work.devices();
    if (found && !now) continue;
    found = true;
    c.share = static_cast<int32_t>(i);
    c.held_milli = held;
    c.total = units.total;
    c.free = units.free;
    if (now) break;
  }
  return found;
}

void judge_shares(const Question& q, const PreparedPool& row, PoolCandidate& c) {
  const Workload& work = q.work();
  const ShareOption& share = row.shares[static_cast<size_t>(c.share)];
  if (!share.largest_on_node && work.gpus > 1) c.unsure.add(Unsure::per_node);
  if (work.cpu_milli > 0) c.unsure.add(Unsure::cpu);
  if (work.memory_bytes > 0) c.unsure.add(Unsure::memory);
  if (!c.free)
    c.unsure.add(Unsure::free);
  else if (*c.free < work.devices())
    c.why.add(Why::busy);
}

void judge_declared(const Question& q, PoolCandidate& c) {
  const Workload& work = q.work();
  if (c.total < work.devices())
    c.why.add(Why::capacity);
  else if (c.free.value_or(0) < work.devices())
    c.why.add(Why::busy);
  // a declared pool does not say how its devices are spread over nodes
  if (work.gpus > 1) c.unsure.add(Unsure::per_node);
  if (work.cpu_milli > 0) c.unsure.add(Unsure::cpu);
  if (work.memory_bytes > 0) c.unsure.add(Unsure::memory);
}

bool enough(std::optional<int64_t> amount, int64_t asked) {
  return !amount || *amount >= asked;
}

// Devices that one node would strand: free, and nothing left to run them with.
int64_t stranded_on(const PoolNodes& row, const Workload& work) {
  const int64_t left = row.free.value_or(0) - work.gpus;
  const bool no_cpu = row.cpu_free_milli && *row.cpu_free_milli - work.cpu_milli <= 0;
  const bool no_memory = row.memory_free_bytes && *row.memory_free_bytes - work.memory_bytes <= 0;
  return left > 0 && (no_cpu || no_memory) ? left : 0;
}

// Nodes that meet each part of the ask and all of them.
struct NodeTally {
  int64_t devices = 0, cpu = 0, memory = 0, all = 0;
  int64_t now = 0, perhaps_now = 0;  // of them free for it: surely, and where something is not told
  int64_t clean = 0;                 // of `now`: that strand nothing
  bool cpu_told = true, memory_told = true;
};

bool is_free_for(const PoolNodes& row, const Workload& work) {
  return enough(row.free, work.gpus) && enough(row.cpu_free_milli, work.cpu_milli) &&
         enough(row.memory_free_bytes, work.memory_bytes);
}

bool is_told(const PoolNodes& row, const Workload& work) {
  return row.free && (row.cpu_free_milli || work.cpu_milli == 0) &&
         (row.memory_free_bytes || work.memory_bytes == 0);
}

bool fits(const PoolNodes& row, const Workload& work) {
  return row.devices >= work.gpus && enough(row.cpu_milli, work.cpu_milli) &&
         enough(row.memory_bytes, work.memory_bytes);
}

NodeTally tally(const Workload& work, const PoolSnapshot& seen) {
  NodeTally sum;
  for (const PoolNodes& row : seen.nodes) {
    if (row.nodes <= 0) continue;
    sum.devices += row.devices >= work.gpus ? row.nodes : 0;
    sum.cpu += enough(row.cpu_milli, work.cpu_milli) ? row.nodes : 0;
    sum.memory += enough(row.memory_bytes, work.memory_bytes) ? row.nodes : 0;
    if (!fits(row, work)) continue;
    sum.all += row.nodes;
    sum.cpu_told = sum.cpu_told && row.cpu_milli;
    sum.memory_told = sum.memory_told && row.memory_bytes;
    if (!is_free_for(row, work)) continue;
    if (!is_told(row, work)) {
      sum.perhaps_now += row.nodes;
      continue;
    }
    sum.now += row.nodes;
    if (stranded_on(row, work) == 0) sum.clean += row.nodes;
  }
  return sum;
}

// Devices stranded when the ask takes the nodes that strand the fewest.
int64_t fewest_stranded(const Workload& work, const PoolSnapshot& seen, int64_t nodes) {
  std::vector<std::pair<int64_t, int64_t>> strands;  // devices on each, such nodes
  for (const PoolNodes& row : seen.nodes)
    if (row.nodes > 0 && fits(row, work) && is_free_for(row, work) && is_told(row, work))
      strands.emplace_back(stranded_on(row, work), row.nodes);
  std::ranges::sort(strands);
  int64_t stranded = 0;
  for (const auto& [each, there] : strands) {
    const int64_t taken = std::min(there, nodes);
    stranded += each * taken;
    nodes -= taken;
  }
  return stranded;
}

// Devices that a node is known to have otherwise: another model, or too little memory.
bool is_other(const PoolNodes& row, const Workload& work) {
  if (!work.model.empty() && !row.model.empty() &&
      match_model(work.model, row.model, row.device_memory_bytes) == Match::contradicted)
    return true;
  if (work.gpu_memory_bytes == 0) return false;
  int64_t most = row.device_memory_bytes.value_or(0);
  for (const DeviceModel* model : models_meant(row.model))
    most = std::max({most, model->sold_memory_bytes, model->reported_memory_bytes});
  return most > 0 && most < work.gpu_memory_bytes;
}

// Whether the nodes themselves say which devices they have: then they are asked, each for itself.
bool asks_of_nodes(const Workload& work, const PoolSnapshot& seen) {
  return (!work.model.empty() || work.gpu_memory_bytes > 0) &&
         std::ranges::any_of(seen.nodes, [](const PoolNodes& row) {
           return !row.model.empty() || row.device_memory_bytes.has_value();
         });
}

PoolSnapshot without_others(const Workload& work, const PoolSnapshot& seen) {
  PoolSnapshot left = seen;
  std::erase_if(left.nodes, [&](const PoolNodes& row) { return is_other(row, work); });
  return left;
}

void judge_nodes(const Question& q, const PoolSnapshot& seen, PoolCandidate& c) {
  const Workload& work = q.work();
  const NodeTally sum = tally(work, seen);
  c.fitting_nodes = sum.all;
  c.fitting_now = sum.now;
  if (c.total < work.devices()) c.why.add(Why::capacity);
  if (sum.devices < work.nodes) c.why.add(Why::per_node);
  if (sum.cpu < work.nodes) c.why.add(Why::cpu);
  if (sum.memory < work.nodes) c.why.add(Why::memory);
  const bool each =
      c.total >= work.devices() && std::min({sum.devices, sum.cpu, sum.memory}) >= work.nodes;
  if (each && sum.all < work.nodes) c.why.add(Why::together);
  if (work.cpu_milli > 0 && !sum.cpu_told) c.unsure.add(Unsure::cpu);
  if (work.memory_bytes > 0 && !sum.memory_told) c.unsure.add(Unsure::memory);
  if (sum.all < work.nodes || c.total < work.devices()) return;
  // devices under newer leases are on some node, nobody knows which: the total must allow for them
  const bool too_few = c.free && *c.free < work.devices();
  if (too_few || sum.now + sum.perhaps_now < work.nodes)
    c.why.add(Why::busy);
  else if (sum.now < work.nodes || !c.free)
    c.unsure.add(Unsure::free);
  if (sum.clean < work.nodes) c.stranded = fewest_stranded(work, seen, work.nodes);
}

void check_capacity(const Question& q, const Pool& pool, const PreparedPool& row,
                    PoolCandidate& c) {
  c.total = row.total;
  c.free = row.free;
  if (!pool.declared() && !pool.seen) return;  // nothing is known, so nothing is claimed
  if (q.work().fraction_milli < 1000) {
    if (hold_by_share(q, pool, row, c)) return judge_shares(q, row, c);
    c.fraction_honored = false;
  }
  if (pool.declared()) return judge_declared(q, c);
  if (!asks_of_nodes(q.work(), *pool.seen)) return judge_nodes(q, *pool.seen, c);
  const PoolSnapshot seen = without_others(q.work(), *pool.seen);
  if (seen.nodes.empty()) {
    c.why.add(q.work().model.empty() ? Why::gpu_memory : Why::model);
    return;
  }
  const auto confirmed = [&](const PoolNodes& nodes) {
    return match_model(q.work().model, nodes.model, nodes.device_memory_bytes) == Match::confirmed;
  };
  if (std::ranges::all_of(seen.nodes, confirmed)) c.unsure.remove(Unsure::model);
  c.total = devices_of(seen);
  c.free = free_devices_of(seen);
  if (c.free) c.free = std::max<int64_t>(0, *c.free - pool.leases.devices);
  judge_nodes(q, seen, c);
}

// --- price

void price(const Question& q, const Pool& pool, PoolCandidate& c) {
  if (!pool.price) {
    c.price_known = pool.target == Target::hpc;
    return;
  }
  c.price_known = pool.price->currency == q.set.rules.currency;
  // whole devices are the common case, and a division by 1000 through 128 bits is dear
  const int64_t devices = q.work().devices();
  const auto total = c.held_milli == 1000 ? multiply(pool.price->micros, devices)
                                          : scale(pool.price->micros, devices * c.held_milli, 1000);
  c.price_micros = total.value_or(kMost);
}

PoolCandidate judge(const Question& q, uint32_t index) {
  const Pool& pool = q.set.pools[index];
  const PreparedPool& row = q.set.prepared[index];
  PoolCandidate c;
  c.pool = index;
  check_terms(q, pool, c);
  check_kind(q, pool, row, c);
  check_seen(q, pool, c);
  check_capacity(q, pool, row, c);
  check_residency(q, pool, row, c);
  price(q, pool, c);
  if (c.why.has(Why::residency))
    c.outcome = CandidateOutcome::blocked;
  else
    c.outcome = c.why.empty() ? CandidateOutcome::eligible : CandidateOutcome::filtered;
  return c;
}

RefusalKind refusal_of(const Decision& decision, bool portable) {
  if (decision.candidates.empty())
    return portable ? RefusalKind::no_pool : RefusalKind::not_portable;
  if (!portable) return RefusalKind::not_portable;
  EnumSet<Why> busy, not_seen, blocked;
  busy.add(Why::busy);
  not_seen = busy;
  not_seen.add(Why::stale);
  not_seen.add(Why::not_seen);
  blocked = not_seen;
  blocked.add(Why::residency);
  for (const auto& [kind, reasons] : {std::pair{RefusalKind::busy, busy},
                                      {RefusalKind::not_seen, not_seen},
                                      {RefusalKind::blocked, blocked}})
    for (const PoolCandidate& c : decision.candidates)
      if (c.why.only(reasons)) return kind;
  return RefusalKind::impossible;
}

// A cheap look before the full list of problems, which is only made when there are some.
bool is_sound(const Workload& work) {
  return work.gpus >= 1 && work.gpus <= kMostGpusPerNode && work.nodes >= 1 &&
         work.nodes <= kMostNodes && work.fraction_milli >= 1 && work.fraction_milli <= 1000 &&
         work.cpu_milli >= 0 && work.memory_bytes >= 0 && work.gpu_memory_bytes >= 0 &&
         info(work.accelerator).askable;
}

}  // namespace

std::string_view name(Why why) {
  return kWhyNames.at(static_cast<size_t>(why));
}

std::string_view name(Unsure unsure) {
  return kUnsureNames.at(static_cast<size_t>(unsure));
}

std::string_view name(CandidateOutcome outcome) {
  return kOutcomes.at(static_cast<size_t>(outcome));
}

std::string_view name(RefusalKind kind) {
  return kRefusals.at(static_cast<size_t>(kind));
}

EffectiveResidency residency_of(const PlaceAsk& ask, const BurstPolicy& policy) {
  return effective_residency(std::array{ResidencyClaim{"project", ask.project_residency},
                                        ResidencyClaim{"dataset", ask.dataset_residency},
                                        ResidencyClaim{"workload", ask.workload.residency}},
                             policy.unlabelled);
}

bool stands_before(const PoolSet& set, const PoolCandidate& a, const PoolCandidate& b) {
  const auto key = [&](const PoolCandidate& c) {
    // what an unknown price is in another currency says nothing here
    return std::make_tuple(c.tier, !c.price_known, c.price_known ? c.price_micros : 0, c.stranded,
                           std::string_view(set.pools[c.pool].name));
  };
  return key(a) < key(b);
}

Result<Decision> place(const PlaceAsk& ask, const Pools& pools, Time now) {
  const PoolSet& set = *pools;
  const Workload& work = ask.workload;
  const Engine* engine = find_engine(set.rules.engines, work.engine);
  if (engine == nullptr || !is_sound(work))
    return fail(invalid("workload", problems_of_workload(work, set.rules.engines)));
  Decision decision;
  decision.ask = ask;
  decision.pools = pools;
  decision.decided_at = now;
  decision.residency = residency_of(ask, set.rules.policy);
  const Question question = question_of(ask, set, now, *engine, decision.residency.residency);
  decision.candidates.reserve(set.pools.size());
  for (uint32_t i = 0; i < set.pools.size(); ++i) {
    decision.candidates.push_back(judge(question, i));
    if (decision.candidates.back().outcome != CandidateOutcome::eligible) continue;
    if (!decision.chosen ||
        stands_before(set, decision.candidates[i], decision.candidates[*decision.chosen]))
      decision.chosen = i;
  }
  if (decision.chosen)
    decision.candidates[*decision.chosen].outcome = CandidateOutcome::chosen;
  else
    decision.refusal = refusal_of(decision, question.runs_on_family(work.accelerator));
  return decision;
}

}  // namespace exa
