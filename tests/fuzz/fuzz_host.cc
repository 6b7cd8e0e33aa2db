// Any bytes as any answer of a host: recognised or not, read or refused by name, never a crash.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "discover/readers.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static constexpr std::string_view kQuestions[] = {
      "/proc/cpuinfo",
      "/proc/meminfo",
      "cgroup",
      "/sys pci",
      "lspci -nn",
      "hostname",
      "nvidia-smi -q -x",
      "nvml",
      "nvidia-smi --query-gpu",
      "nvidia-smi -q",
      "nvidia-smi",
      "nvidia-smi -L",
      "nvidia-smi topo -m",
      "amd-smi static --json",
      "rocm-smi --json",
      "hl-smi -Q",
      "hl-smi",
  };
  std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)exa::recognise_host(text);
  for (std::string_view question : kQuestions) {
    exa::Capture capture;
    capture.kind = exa::ClusterKind::host;
    capture.outputs.push_back({std::string(question), {}, 0, std::string(text), ""});
    auto inventory = exa::read_host(capture);
    if (!inventory) continue;
    // nothing at all is never a reading
    EXA_ASSERT(!inventory->nodes.empty() || !inventory->unread.empty());
    for (const exa::Node& node : inventory->nodes) {
      EXA_ASSERT(!node.name.empty());
      for (const exa::CardSet& set : node.cards)
        for (const exa::Offer& offer : set.offers)
          EXA_ASSERT(offer.units > 0 && offer.used.value_or(0) >= 0);
    }
  }
  return 0;
}
