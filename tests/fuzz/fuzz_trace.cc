// Any bytes as a trace of nodes, pods or arrivals: refused with every problem named, or values that
// a fleet and a placer take and a short replay survives.
#include <cstddef>
#include <cstdint>

#include "place/device_placer.h"
#include "place/simulate.h"

namespace exa {
namespace {

void check(const Error& error) {
  EXA_ASSERT(!error.problems.empty());
  for (const Problem& problem : error.problems)
    EXA_ASSERT(!problem.where.empty() && !problem.message.empty());
}

void replay(std::vector<TracePod> pods) {
  for (const TracePod& pod : pods) EXA_ASSERT(problems_of(pod.ask).empty());
  if (pods.size() > 50) pods.resize(50);
  DeviceNode node;
  node.name = "n";
  node.cards = 4;
  node.model = "T4";
  node.cpu_milli = node.cpu_free_milli = 64'000;
  node.memory_bytes = node.memory_free_bytes = int64_t{1} << 38;
  for (const std::string_view policy : policy_names()) {
    const auto run = simulate({{node}, pods, std::string(policy), mix_of(pods), true, 1});
    EXA_ASSERT(run && run->allocated_milli <= run->capacity_milli);
  }
}

}  // namespace
}  // namespace exa

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace exa;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (auto nodes = read_trace_nodes(text, "nodes")) {
    EXA_ASSERT(DeviceFleet::build(std::move(*nodes)));
  } else {
    check(nodes.error());
  }
  if (auto pods = read_trace_pods(text, "pods"))
    replay(std::move(*pods));
  else
    check(pods.error());
  if (auto pods = read_arrivals(text, "arrivals"))
    replay(std::move(*pods));
  else
    check(pods.error());
  return 0;
}
