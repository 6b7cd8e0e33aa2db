// Pools and asks that several tests use.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "place/pool_explain.h"

namespace exa::samples {

inline constexpr Time kNow{1'800'000'000'000'000};

inline Money usd(std::string_view text) {
  return *parse_money(text);
}

inline Pool pool(std::string_view name, Target target, Family family, int64_t count,
                 std::string_view region) {
  Pool made;
  made.name = name;
  made.target = target;
  made.accelerator = family;
  made.count = count;
  made.region = region;
  return made;
}

// The document's three lines of add-pool, in its order.
inline std::vector<Pool> document_pools() {
  Pool hpc_nvidia = pool("hpc-nvidia", Target::hpc, Family::nvidia, 8, "eu");
  hpc_nvidia.price = usd("2.5");
  hpc_nvidia.carbon_micrograms = 300 * kMicro;
  hpc_nvidia.supports_fractions = true;
  return {hpc_nvidia, pool("hpc-mi300", Target::hpc, Family::amd, 4, "eu"),
          pool("cloud-a100", Target::cloud, Family::nvidia, 100, "us")};
}

inline PlaceAsk ask_for(Family family, std::string_view engine = "generic",
                        Target target = Target::any) {
  PlaceAsk ask;
  ask.workload.name = "train";
  ask.workload.accelerator = family;
  ask.workload.engine = engine;
  ask.workload.target = target;
  return ask;
}

inline Decision decide(const PlaceAsk& ask, std::vector<Pool> pools, PlaceRules rules = {}) {
  auto decision = place(ask, build_pools(std::move(pools), std::move(rules)), kNow);
  EXA_ASSERT(decision.has_value());
  return std::move(*decision);
}

inline std::string chosen_pool(const Decision& decision) {
  return decision.chosen ? decision.pools->pools[*decision.chosen].name : std::string();
}

inline const PoolCandidate& candidate(const Decision& decision, std::string_view pool) {
  for (const PoolCandidate& c : decision.candidates)
    if (decision.pools->pools[c.pool].name == pool) return c;
  EXA_ASSERT(false && "there is no such pool");
}

// A pool of a cluster that was looked at a minute ago.
inline Pool seen_pool(std::string_view name, std::vector<PoolNodes> nodes) {
  Pool made = pool(name, Target::hpc, Family::nvidia, 1, "eu");
  made.cluster = name;
  made.seen = PoolSnapshot{};
  made.seen->id = "snap-1";
  made.seen->taken_at = Time{kNow.micros - minutes(1).micros};
  made.seen->nodes = std::move(nodes);
  return made;
}

}  // namespace exa::samples
