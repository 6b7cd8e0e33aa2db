// Reading what scontrol prints for 10,000 nodes, as a discovery of a large cluster does.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "discover/readers.h"

namespace exa {
namespace {

constexpr std::string_view kGres[] = {
    "gpu:a100:4(S:0-1)",
    "gpu:h100:8(S:0-1)",
    "gpu:mi300x:8",
    "gpu:nvidia_a100-sxm4-80gb:2,gpu:nvidia_a100-sxm4-80gb_1g.10gb:14",
    "gpu:l40s:4,shard:l40s:32",
    "(null)"};
constexpr std::string_view kUsed[] = {
    "gpu:a100:2(IDX:0,2),hpu:0,shard:0",
    "gpu:h100:8(IDX:0-7),hpu:0,shard:0",
    "gpu:mi300x:0(IDX:N/A),hpu:0,shard:0",
    "gpu:nvidia_a100-sxm4-80gb:1(IDX:0),gpu:nvidia_a100-sxm4-80gb_1g.10gb:3(IDX:2-4),shard:0",
    "gpu:l40s:1(IDX:0),hpu:0,shard:l40s:2(IDX:1-2)",
    "gpu:0,hpu:0,shard:0"};
constexpr std::string_view kStates[] = {"MIXED",         "ALLOCATED",  "IDLE",
                                        "MIXED+PLANNED", "IDLE+DRAIN", "DOWN+NOT_RESPONDING"};

std::string node_text(int i) {
  const auto kind = static_cast<size_t>(i % 6);
  const auto state = static_cast<size_t>((i / 7) % 6);
  return fmt::format(
      "NodeName=rack{0:03}-n{1:02} Arch=x86_64 CoresPerSocket=64 \n"
      "   CPUAlloc={2} CPUEfctv=256 CPUTot=256 CPULoad=12.{1:02}\n"
      "   AvailableFeatures=rack{0:03},ib,gen4,cuda-12.4\n"
      "   ActiveFeatures=rack{0:03},ib,gen4,cuda-12.4\n"
      "   Gres={3}\n   GresDrain=N/A\n   GresUsed={4}\n"
      "   NodeAddr=rack{0:03}-n{1:02} NodeHostName=rack{0:03}-n{1:02} Version=23.11.4\n"
      "   OS=Linux 5.14.0-362.24.1.el9_3.x86_64 #1 SMP PREEMPT_DYNAMIC Thu Feb 15 07:18:13 EST "
      "2024 \n"
      "   RealMemory=1031000 AllocMem={5} FreeMem=912345 Sockets=2 Boards=1\n"
      "   State={6} ThreadsPerCore=2 TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A\n"
      "   Partitions=gpu,overlap,long \n"
      "   BootTime=2026-11-30T02:17:18 SlurmdStartTime=2026-11-30T03:42:26\n"
      "   LastBusyTime=2026-11-30T03:42:51 ResumeAfterTime=None\n"
      "   CfgTRES=cpu=256,mem=1031000M,billing=256,gres/gpu=8\n"
      "   AllocTRES=cpu={2},mem={5}M,gres/gpu=2\n"
      "   CapWatts=n/a\n   CurrentWatts=0 AveWatts=0\n"
      "   ExtSensorsJoules=n/a ExtSensorsWatts=0 ExtSensorsTemp=n/a\n{7}\n",
      i / 40, i % 40, (i * 8) % 256, kGres[kind], kUsed[kind], (i * 4000) % 1031000, kStates[state],
      state >= 4 ? "   Reason=Kill task failed [root@2026-11-29T23:01:02]\n" : "");
}

Capture listing(int nodes) {
  Capture capture;
  capture.kind = ClusterKind::slurm;
  std::string text;
  for (int i = 0; i < nodes; ++i) text += node_text(i);
  capture.outputs.push_back({"scontrol show node", {}, 0, std::move(text), ""});
  return capture;
}

void read_slurm_listing(benchmark::State& state) {
  const Capture capture = listing(static_cast<int>(state.range(0)));
  for (auto round : state) {
    (void)round;
    auto inventory = read_slurm(capture);
    if (!inventory || inventory->nodes.size() != static_cast<size_t>(state.range(0))) {
      state.SkipWithError("the listing was not read");
      break;
    }
    benchmark::DoNotOptimize(inventory);
  }
  state.SetBytesProcessed(static_cast<int64_t>(capture.outputs[0].out.size()) *
                          static_cast<int64_t>(state.iterations()));
}
BENCHMARK(read_slurm_listing)->Arg(100)->Arg(10'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace exa
