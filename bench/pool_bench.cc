// One decision between 100 pools in-process (aim: under 10 µs), what its explanation costs when it
// is asked for, and what laying out the pools costs once.
#include <benchmark/benchmark.h>

#include "base/quantity.h"
#include "place/pool_explain.h"

namespace {

using namespace exa;

constexpr Time kNow{1'800'000'000'000'000};

struct Kind {
  Family family;
  std::string_view model;
};
constexpr Kind kKinds[] = {{Family::nvidia, "A100-SXM4-80GB"},
                           {Family::nvidia, "H100-SXM5-80GB"},
                           {Family::amd, "MI300X"},
                           {Family::intel_gaudi, "Gaudi3"},
                           {Family::tpu, ""},
                           {Family::cpu, ""}};
constexpr std::string_view kRegions[] = {"eu-west-1", "us-east-1", "eu-west-2", "europe-west4", ""};

// Half declared, half backed by a cluster of four kinds of nodes; a third in clouds.
std::vector<Pool> pools_of(int64_t count) {
  std::vector<Pool> pools;
  for (int64_t i = 0; i < count; ++i) {
    const Kind& kind = kKinds[i % 6];
    Pool pool;
    pool.name = "pool-with-a-long-name-" + std::to_string(i);
    pool.target = i % 3 == 0 ? Target::cloud : Target::hpc;
    pool.accelerator = kind.family;
    pool.model = kind.model;
    pool.count = 64;
    pool.region = kRegions[i % 5];
    if (i % 4 != 0) pool.price = Money{(i * 37 % 90 + 10) * 100'000, "USD"};
    pool.capabilities = {"bf16", "fp8", "nvlink"};
    if (i % 2 == 0) {
      pool.cluster = "cluster";
      pool.seen = PoolSnapshot{};
      pool.seen->taken_at = kNow;
      for (int64_t row = 0; row < 4; ++row)
        pool.seen->nodes.push_back(
            {16, 8, 2 * row + 2, 128'000, row * 32'000, 1024 * kGiB, row * 256 * kGiB});
    }
    pools.push_back(std::move(pool));
  }
  return pools;
}

PlaceAsk plain_ask() {
  PlaceAsk ask;
  ask.workload.name = "train";
  return ask;
}

PlaceAsk full_ask() {
  PlaceAsk ask = plain_ask();
  ask.workload.gpus = 4;
  ask.workload.nodes = 4;
  ask.workload.cpu_milli = 32'000;
  ask.workload.memory_bytes = 256 * kGiB;
  ask.workload.gpu_memory_bytes = 80 * kGiB;
  ask.workload.capabilities = {"bf16", "fp8"};
  ask.workload.model = "H100-80GB";
  ask.workload.residency = "eu-only";
  return ask;
}

void place_on(benchmark::State& state, const PlaceAsk& ask) {
  const Pools pools = build_pools(pools_of(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(place(ask, pools, kNow));
}
BENCHMARK_CAPTURE(place_on, plain, plain_ask())
    ->Name("pools/place")
    ->Arg(100)
    ->Arg(1'000)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(place_on, every_question, full_ask())
    ->Name("pools/place_every_question")
    ->Arg(100)
    ->Unit(benchmark::kMicrosecond);

void explain_decision(benchmark::State& state) {
  const auto decision = place(full_ask(), build_pools(pools_of(100)), kNow);
  for (auto _ : state) benchmark::DoNotOptimize(to_text(to_json(*decision)));
}
BENCHMARK(explain_decision)->Name("pools/explain_as_json")->Unit(benchmark::kMicrosecond);

void lay_out(benchmark::State& state) {
  const std::vector<Pool> pools = pools_of(100);
  for (auto _ : state) benchmark::DoNotOptimize(build_pools(pools));
}
BENCHMARK(lay_out)->Name("pools/lay_out")->Unit(benchmark::kMicrosecond);

}  // namespace
