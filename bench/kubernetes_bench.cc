// Reading the node list of a large cluster: 10,000 nodes as the API server prints them, with the
// labels of node and GPU feature discovery, images, conditions and managedFields, about 100 MB.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "discover/readers.h"

namespace exa {
namespace {

constexpr std::string_view kGpuLabels =
    R"("beta.kubernetes.io/arch":"amd64","kubernetes.io/arch":"amd64","kubernetes.io/os":"linux",)"
    R"("node.kubernetes.io/instance-type":"p4de.24xlarge","topology.kubernetes.io/region":"eu-west-1",)"
    R"("topology.kubernetes.io/zone":"eu-west-1a","nvidia.com/cuda.driver-version.full":"550.54.15",)"
    R"("nvidia.com/cuda.driver.major":"550","nvidia.com/cuda.driver.minor":"54",)"
    R"("nvidia.com/cuda.driver.rev":"15","nvidia.com/cuda.runtime-version.full":"12.4",)"
    R"("nvidia.com/cuda.runtime.major":"12","nvidia.com/cuda.runtime.minor":"4",)"
    R"("nvidia.com/gfd.timestamp":"1732935600","nvidia.com/gpu.compute.major":"8",)"
    R"("nvidia.com/gpu.compute.minor":"0","nvidia.com/gpu.count":"8","nvidia.com/gpu.family":"ampere",)"
    R"("nvidia.com/gpu.machine":"p4de.24xlarge","nvidia.com/gpu.memory":"81920",)"
    R"("nvidia.com/gpu.mode":"compute","nvidia.com/gpu.present":"true",)"
    R"("nvidia.com/gpu.product":"NVIDIA-A100-SXM4-80GB","nvidia.com/gpu.replicas":"1",)"
    R"("nvidia.com/gpu.sharing-strategy":"none","nvidia.com/mig.capable":"true",)"
    R"("nvidia.com/mig.config":"all-disabled","nvidia.com/mig.config.state":"success",)"
    R"("nvidia.com/mig.strategy":"single","nvidia.com/mps.capable":"false")";

constexpr std::string_view kAmounts =
    R"("cpu":"95870m","ephemeral-storage":"511902100Ki","hugepages-1Gi":"0","hugepages-2Mi":"0",)"
    R"("memory":"1072693248Ki","nvidia.com/gpu":"8","pods":"110")";

// Everything of a node but its name.
std::string node_after_name() {
  std::string out = R"(","uid":"7bbf8afe-fb4f-457c-8870-7006b5c5144c","labels":{)";
  for (int i = 0; i < 40; ++i)
    out += fmt::format("\"feature.node.kubernetes.io/cpu-cpuid.FEATURE{}\":\"true\",", i);
  out.append(kGpuLabels).append(R"(},"managedFields":[)");
  for (int manager = 0; manager < 2; ++manager) {
    out += fmt::format(R"({}{{"manager":"manager-{}","operation":"Update","apiVersion":"v1",)"
                       R"("fieldsType":"FieldsV1","fieldsV1":{{"f:metadata":{{"f:labels":{{)",
                       manager ? "," : "", manager);
    for (int i = 0; i < 20; ++i)
      out += fmt::format(R"({}"f:feature.node.kubernetes.io/cpu-cpuid.FEATURE{}":{{}})",
                         i ? "," : "", i);
    out += "}}}}";
  }
  out +=
      R"(]},"spec":{"taints":[{"key":"nvidia.com/gpu","value":"present","effect":"NoSchedule"}]},)";
  out += fmt::format(R"("status":{{"capacity":{{{0}}},"allocatable":{{{0}}},"conditions":[)",
                     kAmounts);
  for (const std::string_view type : {"MemoryPressure", "DiskPressure", "PIDPressure", "Ready"})
    out +=
        fmt::format(R"({}{{"type":"{}","status":"{}","lastHeartbeatTime":"2026-11-30T03:00:00Z",)"
                    R"("reason":"KubeletHasSufficient","message":"kubelet is fine"}})",
                    type == "MemoryPressure" ? "" : ",", type, type == "Ready" ? "True" : "False");
  out += R"(],"images":[)";
  for (int i = 0; i < 14; ++i)
    out += fmt::format(R"({0}{{"names":["registry.example.com/team/image-{1}@sha256:)"
                       R"(0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0",)"
                       R"("registry.example.com/team/image-{1}:1.{1}"],"sizeBytes":{2}}})",
                       i ? "," : "", i, 100'000'000 + i);
  return out + R"(],"nodeInfo":{"architecture":"amd64","kubeletVersion":"v1.29.3"}}})";
}

std::string node_list(int nodes) {
  const std::string rest = node_after_name();
  std::string out = R"({"kind":"NodeList","apiVersion":"v1","metadata":{},"items":[)";
  for (int n = 0; n < nodes; ++n)
    out += fmt::format(R"({}{{"metadata":{{"name":"gpu-{:05})", n ? "," : "", n) + rest;
  return out + "]}";
}

void read_nodes(benchmark::State& state) {
  Capture capture;
  capture.kind = ClusterKind::kubernetes;
  const auto nodes = static_cast<size_t>(state.range(0));
  capture.outputs.push_back({"GET /api/v1/nodes", {}, 0, node_list(static_cast<int>(nodes)), {}});
  const size_t bytes = capture.outputs[0].out.size();
  for (auto _ : state) {
    const auto inventory = read_kubernetes(capture);
    if (!inventory || inventory->nodes.size() != nodes) {
      state.SkipWithError("the list was not read");
      break;
    }
    benchmark::DoNotOptimize(inventory->nodes.data());
  }
  state.SetBytesProcessed(static_cast<int64_t>(bytes) * static_cast<int64_t>(state.iterations()));
  state.counters["list_MB"] = static_cast<double>(bytes) / 1e6;
}
BENCHMARK(read_nodes)
    ->Name("kubernetes/read_nodes")
    ->Arg(10'000)
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime();

}  // namespace
}  // namespace exa
