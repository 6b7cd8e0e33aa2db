#include "place/device_ask.h"

#include <fmt/format.h>

#include "place/device_fleet.h"

namespace exa {
namespace {

constexpr int64_t kMostNodesAsked = 1'000'000;

}  // namespace

std::vector<Problem> problems_of(const DeviceAsk& ask) {
  std::vector<Problem> problems;
  const auto wrong = [&](std::string_view where, std::string message) {
    problems.push_back({std::string(where), std::move(message), ""});
  };
  if (ask.nodes < 1 || ask.nodes > kMostNodesAsked)
    wrong("/nodes", fmt::format("{} nodes: 1 to {} can be asked for", ask.nodes, kMostNodesAsked));
  if (ask.devices < 0 || ask.devices > kMostDevicesAsked)
    wrong("/devices", fmt::format("{} devices a node: 0 to {} can be asked for", ask.devices,
                                  kMostDevicesAsked));
  if (ask.share_milli < 1 || ask.share_milli > kWholeDevice)
    wrong("/share_milli",
          fmt::format("{} thousandths of a device: 1 to 1000 can be asked for", ask.share_milli));
  if (ask.mig) {
    if (ask.mig->compute < 1 || ask.mig->compute > 7 || ask.mig->memory < 1 || ask.mig->memory > 8)
      wrong("/mig", fmt::format("{} compute and {} memory slices: a card has 7 and 8",
                                ask.mig->compute, ask.mig->memory));
    if (ask.share_milli != kWholeDevice)
      wrong("/share_milli", "a MIG instance is held whole: leave the share at 1000");
    if (ask.devices == 0) wrong("/devices", "0 MIG instances: ask for at least 1");
  }
  if (ask.cpu_milli < 0 || ask.cpu_milli > kMostCpuMilli)
    wrong("/cpu_milli", fmt::format("{} thousandths of a core: 0 to {} can be asked for",
                                    ask.cpu_milli, kMostCpuMilli));
  if (ask.memory_bytes < 0 || ask.memory_bytes > kMostMemoryBytes)
    wrong("/memory_bytes",
          fmt::format("{} bytes: 0 to {} can be asked for", ask.memory_bytes, kMostMemoryBytes));
  if (ask.group_required && ask.group.empty())
    wrong("/group", "a resource group is required but none is named");
  return problems;
}

}  // namespace exa
