// The machines of one platform out of 10,000, with the verdict of each (aim: under 5 ms).
#include <benchmark/benchmark.h>

#include "compute/machine_selection.h"

namespace {

using namespace exa;

constexpr int64_t kMixed[] = {1, 2, 4, 8};

struct Fleet {
  std::vector<Machine> machines;
  std::vector<FleetMachine> rows;
};

// One of ten is a control plane, one a worker without GPUs, one of another family.
Fleet fleet_of(int64_t count, bool is_mixed) {
  Fleet fleet;
  fleet.machines.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    MachineReport report;
    report.id = "edge-5db0384219cfa0fa4ef97d53bf" + std::to_string(100'000 + i);
    report.architecture = "AMD64";
    report.cpus = 64;
    report.gpus.emplace();
    if (i % 10 > 1)
      report.gpus->push_back({i % 10 == 2 ? "NVIDIA A100-SXM4-80GB" : "NVIDIA H100 80GB HBM3",
                              is_mixed ? kMixed[i * 7 % 11 % 4] : 8,
                              {}});
    report.tags = {{"palette.ai", "true"}, {"palette.ai.rg/network-pool", "1"}};
    if (i % 10 == 1) report.tags.emplace_back("palette.ai/worker", "true");
    fleet.machines.push_back(read_machine(report));
  }
  for (const Machine& machine : fleet.machines)
    fleet.rows.push_back({&machine, machine.gpus.value, ""});
  return fleet;
}

SelectionAsk ask_for(int64_t gpus) {
  SelectionAsk ask;
  ask.gpus = {{gpu_family("H100"), gpus}};
  ask.minimum_workers = 20;
  ask.control_planes = 3;
  ask.worker_groups = {{"network-pool", "1"}};
  return ask;
}

void select_from(benchmark::State& state, bool is_mixed, SelectionAsk ask) {
  const Fleet fleet = fleet_of(10'000, is_mixed);
  ask.gpus.front().second = state.range(0);
  for (auto _ : state) benchmark::DoNotOptimize(select_machines(fleet.rows, ask));
}
BENCHMARK_CAPTURE(select_from, of_eight, false, ask_for(8))
    ->Name("machines/select_of_eight")
    ->Arg(8)
    ->Arg(64)
    ->Arg(1'000)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(select_from, mixed, true, ask_for(8))
    ->Name("machines/select_mixed")
    ->Arg(8)
    ->Arg(64)
    ->Arg(1'001)
    ->Arg(10'001)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(select_from, refused, true, ask_for(8))
    ->Name("machines/select_refused")
    ->Arg(1'000'000)
    ->Unit(benchmark::kMicrosecond);

SelectionAsk with_working_control_plane() {
  SelectionAsk ask = ask_for(8);
  ask.control_planes = 1;
  ask.control_plane_works = true;
  return ask;
}
BENCHMARK_CAPTURE(select_from, working_control_plane, true, with_working_control_plane())
    ->Name("machines/select_working_control_plane")
    ->Arg(64)
    ->Unit(benchmark::kMicrosecond);

void read_reports(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(fleet_of(10'000, true));
}
BENCHMARK(read_reports)->Name("machines/read_reports")->Unit(benchmark::kMicrosecond);

}  // namespace
