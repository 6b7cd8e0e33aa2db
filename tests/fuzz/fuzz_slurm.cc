// Any bytes under any question name: a reading or a named error, nothing else. A reading keeps the
// promises that the rest of the program builds on.
#include <cstddef>
#include <cstdint>

#include "discover/hostlist.h"
#include "discover/readers.h"

namespace exa {
namespace {

constexpr std::string_view kNames[] = {"scontrol show node",  "scontrol show node --json",
                                       "sinfo --json",        "sinfo -N -o",
                                       "sinfo -N -O",         "slurmrestd nodes",
                                       "squeue --json",       "scontrol show reservation -o",
                                       "scontrol show config"};

constexpr std::string_view kOneNode =
    "NodeName=n1 CPUAlloc=0 CPUTot=64 Gres=gpu:l40s:2,shard:l40s:16 "
    "GresUsed=gpu:l40s:0(IDX:N/A),shard:l40s:1(IDX:0) RealMemory=1000 AllocMem=0 "
    "State=IDLE+RESERVED CfgTRES=cpu=64 AllocTRES= CapWatts=n/a\n";

void check(const Inventory& inventory) {
  // nothing at all is never a reading
  EXA_ASSERT(!inventory.nodes.empty() || !inventory.unread.empty());
  for (size_t i = 0; i < inventory.nodes.size(); ++i) {
    const Node& node = inventory.nodes[i];
    EXA_ASSERT(!node.name.empty());
    EXA_ASSERT(i == 0 || inventory.nodes[i - 1].name < node.name);
    EXA_ASSERT(node.cpu_milli.value_or(0) >= 0 && node.cpu_free_milli.value_or(0) >= 0);
    EXA_ASSERT(node.cpu_free_milli.value_or(0) <= node.cpu_milli.value_or(0));
    EXA_ASSERT(node.memory_free_bytes.value_or(0) <= node.memory_bytes.value_or(0));
    for (const CardSet& cards : node.cards) {
      for (const Offer& offer : cards.offers) {
        EXA_ASSERT(offer.units > 0 && offer.used.value_or(0) >= 0);
        EXA_ASSERT(offer.free.value_or(0) >= 0 && offer.free.value_or(0) <= offer.units);
        EXA_ASSERT(offer.used || !offer.free);
      }
    }
  }
}

void feed(std::string_view name, std::string_view text) {
  Capture capture;
  capture.kind = ClusterKind::slurm;
  capture.transport = "file";  // a live cluster may have no nodes; a file without any is refused
  capture.outputs.push_back({std::string(name), {}, 0, std::string(text), ""});
  const bool lists_nodes = name != "squeue --json" && !name.starts_with("scontrol show c") &&
                           !name.starts_with("scontrol show r");
  if (!lists_nodes) {
    capture.outputs.push_back({"scontrol show node", {}, 0, std::string(kOneNode), ""});
  }
  if (name == "squeue --json") {
    capture.outputs.push_back({"scontrol show config", {}, 0, "PrivateData = cloud\n", ""});
  }
  const auto inventory = read_slurm(capture);
  if (inventory) {
    check(*inventory);
  } else {
    EXA_ASSERT(inventory.error().code == Code::unreadable_output);
    EXA_ASSERT(!inventory.error().message.empty());
  }
}

}  // namespace
}  // namespace exa

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)exa::recognise_slurm(text);
  for (const std::string_view name : exa::kNames) exa::feed(name, text);
  const auto hosts = exa::expand_hostlist(text, 1000);
  if (hosts) EXA_ASSERT(hosts->size() <= 1000);
  return 0;
}
