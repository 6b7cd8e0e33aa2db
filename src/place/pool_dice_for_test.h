// Random fleets and asks from small domains, so that everything meets everything. The seed is
// printed with a failure; EXA_SEED repeats a run.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <random>

#include <fmt/format.h>

#include "base/quantity.h"
#include "place/pool_samples_for_test.h"

namespace exa::samples {

inline constexpr int kFleets = 20'000;

inline uint64_t seed_of_run() {
  const char* given = std::getenv("EXA_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
}

class Dice {
 public:
  explicit Dice(uint64_t seed) : random_(seed) {}
  int64_t below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(n)); }
  bool one_in(int64_t n) { return below(n) == 0; }
  template <typename T>
  T of(std::initializer_list<T> values) {
    return values.begin()[below(static_cast<int64_t>(values.size()))];
  }
  std::mt19937_64& engine() { return random_; }

 private:
  std::mt19937_64 random_;
};

inline Family any_family(Dice& dice) {
  return dice.of(
      {Family::nvidia, Family::nvidia, Family::amd, Family::intel_gaudi, Family::tpu, Family::cpu});
}

inline std::optional<int64_t> told(Dice& dice, int64_t value) {
  if (dice.one_in(5)) return std::nullopt;
  return value;
}

inline void add_snapshot(Dice& dice, Pool& pool) {
  pool.cluster = "c-" + pool.name;
  if (dice.one_in(8)) return;
  PoolSnapshot seen;
  seen.id = "s";
  seen.taken_at = kNow + minutes(-dice.of({1, 1, 1, 14, 16, -16}));
  const int64_t kinds = dice.below(4);
  for (int64_t i = 0; i < kinds; ++i) {
    PoolNodes row;
    row.nodes = dice.below(3);
    row.devices = dice.of({0, 1, 2, 4});
    row.free = told(dice, dice.below(row.devices + 1));
    row.cpu_milli = told(dice, dice.of({4, 8, 16}) * 1000);
    if (row.cpu_milli) row.cpu_free_milli = told(dice, dice.below(3) * *row.cpu_milli / 2);
    row.memory_bytes = told(dice, dice.of({16, 32}) * kGiB);
    if (row.memory_bytes) row.memory_free_bytes = told(dice, dice.below(3) * *row.memory_bytes / 2);
    seen.nodes.push_back(row);
  }
  if (dice.one_in(3)) {
    PoolShares shares;
    shares.sharing = Sharing::time_slice;
    shares.share_milli = dice.of({0, 250, 500});
    shares.units = dice.below(6);
    shares.free = told(dice, dice.below(shares.units + 1));
    shares.largest_on_node = told(dice, dice.below(shares.units + 1));
    seen.shares.push_back(shares);
  }
  pool.seen = seen;
}

inline Pool any_pool(Dice& dice, int64_t index) {
  Pool made =
      pool(fmt::format("p{}", index), dice.of({Target::hpc, Target::cloud}), any_family(dice),
           dice.below(7), dice.of<std::string_view>({"eu", "eu-west-2", "us", "", "mars"}));
  if (made.accelerator == Family::nvidia)
    made.model = dice.of<const char*>({"", "A100-SXM4-80GB", "A100-PCIE-40GB"});
  if (made.accelerator == Family::amd) made.model = dice.of<const char*>({"", "MI300X"});
  if (!dice.one_in(3)) made.price = Money{dice.below(3) * 500'000, dice.one_in(9) ? "EUR" : "USD"};
  if (dice.one_in(3)) made.capabilities.emplace_back("nvlink");
  made.drained = dice.one_in(8);
  if (dice.one_in(2)) {
    add_snapshot(dice, made);
  } else {
    made.supports_fractions = made.accelerator == Family::nvidia && dice.one_in(2);
    made.leases.devices = dice.below(made.count + 1);
    if (made.leases.devices > 0) made.leases.rests = {dice.of<int64_t>({100, 250, 300, 500, 600})};
  }
  return made;
}

inline std::vector<Pool> any_fleet(Dice& dice) {
  std::vector<Pool> pools;
  const int64_t count = dice.below(7);
  for (int64_t i = 0; i < count; ++i) pools.push_back(any_pool(dice, i));
  std::ranges::shuffle(pools, dice.engine());
  return pools;
}

inline PlaceAsk any_ask(Dice& dice) {
  PlaceAsk ask = ask_for(
      any_family(dice), dice.of<std::string_view>({"generic", "generic", "vllm", "sglang", "ipex"}),
      dice.of({Target::any, Target::any, Target::hpc, Target::cloud}));
  Workload& work = ask.workload;
  if (dice.one_in(4)) work.capabilities = {dice.of<const char*>({"fp8", "bf16", "nvlink"})};
  work.gpus = dice.of({1, 1, 2, 4});
  work.nodes = dice.of({1, 1, 2, 3});
  work.fraction_milli = dice.of({1000, 1000, 250, 500, 700});
  work.cpu_milli = dice.of({0, 0, 4000, 8000});
  work.memory_bytes = dice.of({0, 0, 16, 32}) * kGiB;
  work.gpu_memory_bytes = dice.of({0, 0, 0, 40, 80, 100}) * kGiB;
  work.model = dice.of<const char*>({"", "", "", "A100", "A100-80GB", "MI300X", "H100"});
  work.residency = dice.of<const char*>({"", "open", "eu-only", "eu-only", "no-egress", "who"});
  work.allow_fallback = !dice.one_in(4);
  ask.project_residency = dice.of<const char*>({"", "", "open", "eu-only"});
  ask.burst = dice.one_in(4);
  ask.opted_in = !ask.burst || !dice.one_in(4);
  return ask;
}

}  // namespace exa::samples
