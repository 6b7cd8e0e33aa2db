// What would have to change: for each pool that is refused, one change for each of its reasons,
// made to a copy of the ask and tried. Whatever does not hold when tried is not offered.
#include <algorithm>

#include <fmt/format.h>

#include "base/quantity.h"
#include "base/text.h"
#include "place/pool_explain.h"

namespace exa {
namespace {

constexpr size_t kMostOffered = 3;
constexpr size_t kMostTried = 16;  // pools, those with the fewest reasons first

struct Attempt {
  const Decision& decision;
  const PoolCandidate& c;
  NearMiss miss;
  bool hopeless = false;
  bool shape_changed = false;

  const Pool& pool() const { return decision.pools->pools[c.pool]; }
  const PreparedPool& row() const { return decision.pools->prepared[c.pool]; }
  void offer(std::string text) { miss.changes.push_back(std::move(text)); }
  void others_must(std::string text) {
    miss.only_the_ask = false;
    offer(std::move(text));
  }
};

std::vector<std::string> engines_on(const EngineTable& table, std::initializer_list<Family> all) {
  std::vector<std::string> names;
  for (const Engine& engine : table.engines)
    if (std::ranges::all_of(all, [&](Family family) { return runs_on(engine, family); }))
      names.push_back(engine.name);
  return names;
}

void change_engine(Attempt& a) {
  const Family asked = a.decision.ask.workload.accelerator;
  const auto names = engines_on(a.decision.pools->rules.engines, {asked, a.pool().accelerator});
  if (names.empty()) {
    a.hopeless = true;
  } else if (a.miss.instead.engine != names.front()) {
    a.miss.instead.engine = names.front();
    a.offer(fmt::format("--engine {}", join(names, " or ")));
  }
}

void drop_capabilities(Attempt& a) {
  std::vector<std::string> missing;
  for (const std::string& tag : a.miss.instead.capabilities)
    if (!std::ranges::binary_search(a.row().capabilities, tag)) missing.push_back(tag);
  std::erase_if(a.miss.instead.capabilities, [&](const std::string& tag) {
    return std::ranges::find(missing, tag) != missing.end();
  });
  a.offer(fmt::format("without {}", join(missing, ", ")));
}

int64_t fitting_nodes(const PoolSnapshot& seen, int64_t gpus, const Workload& work) {
  int64_t nodes = 0;
  for (const PoolNodes& row : seen.nodes)
    if (row.devices >= gpus && (!row.cpu_milli || *row.cpu_milli >= work.cpu_milli) &&
        (!row.memory_bytes || *row.memory_bytes >= work.memory_bytes))
      nodes += row.nodes;
  return nodes;
}

// Fewer nodes first, since each then keeps what it has; else fewer devices on each.
void shrink(Attempt& a, int64_t& gpus, int64_t& nodes) {
  const Workload& work = a.decision.ask.workload;
  if (a.pool().declared()) {
    if (a.c.total >= gpus) {
      nodes = a.c.total / gpus;
    } else {
      gpus = a.c.total;
      nodes = 1;
    }
    return;
  }
  const PoolSnapshot& seen = *a.pool().seen;
  if (const int64_t fit = fitting_nodes(seen, gpus, work); fit > 0) {
    nodes = std::min(nodes, fit);
    return;
  }
  while (gpus > 0 && fitting_nodes(seen, gpus, work) < nodes) --gpus;
}

void change_shape(Attempt& a) {
  if (std::exchange(a.shape_changed, true)) return;
  const Workload& work = a.decision.ask.workload;
  int64_t gpus = work.gpus;
  int64_t nodes = work.nodes;
  if (a.c.share >= 0)
    gpus = 0;  // how shares are spread over nodes is not known
  else
    shrink(a, gpus, nodes);
  if (gpus <= 0 || nodes <= 0) {
    a.hopeless = true;
    return;
  }
  std::vector<std::string> parts;
  if (gpus != work.gpus) parts.push_back(fmt::format("--gpus {}", gpus));
  if (nodes != work.nodes) parts.push_back(fmt::format("--nodes {}", nodes));
  a.miss.instead.gpus = gpus;
  a.miss.instead.nodes = nodes;
  a.offer(join(parts, " "));
}

void wait(Attempt& a) {
  std::string text = "wait";
  if (a.c.free)
    text = fmt::format("wait: {} of {} {} free now", *a.c.free, a.c.total,
                       *a.c.free == 1 ? "is" : "are");
  a.others_must(std::move(text));
}

void change(Attempt& a, Why why) {
  Workload& instead = a.miss.instead;
  switch (why) {
    case Why::not_portable:
    case Why::engine:
      return change_engine(a);
    case Why::drained:
      return a.others_must(fmt::format("take pool {} out of drain", a.pool().name));
    case Why::target:
      if (a.decision.ask.burst) return void(a.hopeless = true);
      instead.target = a.pool().target;
      return a.offer(fmt::format("--target {}", name(instead.target)));
    case Why::accelerator:
      instead.allow_fallback = true;
      return a.offer(fmt::format("let it fall back to {}", info(a.pool().accelerator).name));
    case Why::capability:
      return drop_capabilities(a);
    case Why::model:
      instead.model.clear();
      return a.offer(fmt::format("without --model {}", a.decision.ask.workload.model));
    case Why::gpu_memory:
      instead.gpu_memory_bytes = a.row().memory_most.value_or(0);
      return a.offer(
          fmt::format("--gpu-memory {} at most", format_bytes(instead.gpu_memory_bytes)));
    case Why::capacity:
    case Why::per_node:
    case Why::cpu:
    case Why::memory:
    case Why::together:
      return change_shape(a);
    case Why::not_seen:
    case Why::stale:
      return a.others_must(fmt::format("look again: exa cluster discover {}", a.pool().cluster));
    case Why::busy:
      return wait(a);
    case Why::residency:
      // residency is not the asker's to loosen; opting in to bursting is
      if (a.c.egress != EgressRule::not_opted_in) return void(a.hopeless = true);
      return a.offer("--allow-burst");
  }
}

// What stands against the pool when the changed ask is tried, apart from what others must change.
bool holds_when_tried(const Attempt& a) {
  PlaceAsk ask = a.decision.ask;
  ask.workload = a.miss.instead;
  if (a.c.egress == EgressRule::not_opted_in) ask.opted_in = true;
  const auto again = place(ask, a.decision.pools, a.decision.decided_at);
  if (!again) return false;
  EnumSet<Why> for_others;
  for (const Why why : {Why::drained, Why::not_seen, Why::stale, Why::busy}) for_others.add(why);
  const PoolCandidate& c = again->candidates[a.c.pool];
  return a.miss.only_the_ask ? c.why.empty() : c.why.only(for_others);
}

std::optional<NearMiss> attempt(const Decision& decision, const PoolCandidate& c) {
  Attempt a{decision, c, {decision.pools->pools[c.pool].name, {}, decision.ask.workload, true}};
  for (size_t i = 0; i < kWhys && !a.hopeless; ++i)
    if (const Why why = static_cast<Why>(i); c.why.has(why)) change(a, why);
  if (a.hopeless || !holds_when_tried(a)) return std::nullopt;
  return std::move(a.miss);
}

}  // namespace

std::vector<NearMiss> near_misses(const Decision& decision) {
  if (decision.chosen) return {};
  std::vector<const PoolCandidate*> order;
  for (const PoolCandidate& c : decision.candidates) order.push_back(&c);
  std::ranges::sort(order, [&](const PoolCandidate* a, const PoolCandidate* b) {
    if (a->why.size() != b->why.size()) return a->why.size() < b->why.size();
    return stands_before(*decision.pools, *a, *b);
  });
  if (order.size() > kMostTried) order.resize(kMostTried);
  std::vector<NearMiss> misses;
  for (const PoolCandidate* c : order)
    if (auto miss = attempt(decision, *c)) misses.push_back(std::move(*miss));
  std::ranges::stable_sort(misses, {}, [](const NearMiss& miss) { return miss.changes.size(); });
  if (misses.size() > kMostOffered) misses.resize(kMostOffered);
  return misses;
}

}  // namespace exa
