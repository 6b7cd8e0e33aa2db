// How long it takes to lay out 10,000 nodes and to resolve against them.
#include <benchmark/benchmark.h>

#include "base/quantity.h"
#include "resolve/resolve.h"
#include "resolve/suggest.h"

namespace {

using namespace exa;

constexpr int64_t kNodes = 10'000;
constexpr Time kNow{1'800'000'000'000'000};

struct Kind {
  std::string_view model;
  int64_t cards;
  int64_t cores;
  int64_t memory_gib;
};
constexpr Kind kKinds[] = {
    {"A100-SXM4-80GB", 8, 128, 1024},
    {"NVIDIA H100 80GB HBM3", 8, 192, 2048},
    {"a100", 4, 64, 512},
    {"l40s", 4, 64, 512},
    {"V100-SXM2-32GB", 4, 40, 384},
    {"", 2, 32, 256},
};

// Mixed models, drivers, free amounts and states. `own_memory`: every node reports another size, as
// Kubernetes' allocatable does; `own_feature`: every node is a class of its own.
Inventory fleet_of(bool own_memory, bool own_feature) {
  Inventory inventory;
  inventory.kind = ClusterKind::slurm;
  for (int64_t i = 0; i < kNodes; ++i) {
    const Kind& kind = kKinds[i % 6];
    Node node;
    node.name = "node-" + std::to_string(i);
    node.health = i % 50 == 0 ? Health::drained : Health::usable;
    node.cpu_milli = kind.cores * 1000;
    node.cpu_free_milli = i % 3 * kind.cores * 500;
    node.memory_bytes = kind.memory_gib * kGiB - (own_memory ? i * 4096 : 0);
    node.memory_free_bytes = *node.memory_bytes / (1 + i % 4);
    node.software = {{"cuda", i % 4 == 0 ? "12.2" : "12.4"}};
    node.features = {"ib"};
    if (own_feature) node.features.push_back("rack-" + std::to_string(i));
    CardSet set;
    set.family = Family::nvidia;
    set.reported = kind.model;
    set.physical = kind.cards;
    Offer whole;
    whole.units = kind.cards;
    whole.free = i % (kind.cards + 1);
    set.offers = {whole};
    node.cards = {set};
    inventory.nodes.push_back(std::move(node));
  }
  return inventory;
}

Shape plain_shape() {
  Shape shape;
  shape.accelerator_family = Family::nvidia;
  shape.gpu_count = 4;
  shape.cpu_milli = 32'000;
  shape.memory_bytes = 256 * kGiB;
  shape.nodes = 16;
  return shape;
}

Shape full_shape() {
  Shape shape = plain_shape();
  shape.accelerator_model_hint = "A100-80GB";
  shape.driver_tag = "cuda-12.4";
  shape.runtime_tag = "pytorch-2.4-cu124";  // nobody reports it: every set of claims is tried
  return shape;
}

Shape refused_shape() {
  Shape shape = full_shape();
  shape.gpu_count = 16;
  return shape;
}

void resolve_shape(benchmark::State& state, const Inventory& inventory, const Shape& shape) {
  const Fleet fleet = build_fleet(inventory);
  ResolveInput input;
  input.shape = shape;
  input.target = "hpc";
  input.seen = {&fleet, "snap-1", kNow, false};
  input.now = kNow;
  for (auto _ : state) benchmark::DoNotOptimize(resolve(input));
  state.counters["classes"] = static_cast<double>(fleet.classes.size());
}

void BuildFleet(benchmark::State& state) {
  const Inventory inventory = fleet_of(true, false);
  for (auto _ : state) benchmark::DoNotOptimize(build_fleet(inventory));
}
BENCHMARK(BuildFleet)->Unit(benchmark::kMillisecond);

void Suggest(benchmark::State& state) {
  const Inventory inventory = fleet_of(true, false);
  for (auto _ : state) benchmark::DoNotOptimize(suggest(inventory));
}
BENCHMARK(Suggest)->Unit(benchmark::kMillisecond);

BENCHMARK_CAPTURE(resolve_shape, counts_only, fleet_of(true, false), plain_shape())
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(resolve_shape, every_claim, fleet_of(true, false), full_shape())
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(resolve_shape, refused, fleet_of(true, false), refused_shape())
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(resolve_shape, every_node_its_own_class, fleet_of(true, true), full_shape())
    ->Unit(benchmark::kMicrosecond);

}  // namespace
