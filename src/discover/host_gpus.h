// Accelerators of one machine as one tool describes them; host.cc makes one picture of all tools.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "hardware/inventory.h"

namespace exa {

// One device, or one entry of a tool's list.
struct HostGpu {
  Family family = Family::other;
  std::string reported;  // the name as printed; empty: the tool did not say
  std::optional<int64_t> memory_bytes;
  std::string address;  // "0000:83:00.0"; empty: the tool did not say
  std::string fault;    // why nothing can be asked of it; empty: it can be used
  std::string remark;
  bool mig = false;
  std::vector<std::string>
      instances;  // the profile of each MIG GPU instance; "": fits none that is known
  bool instances_listed = true;  // the tool would have listed instances
  bool may_be_asked = false;  // with a fault: what was seen does not rule out that it can be used
};

struct ToolReport {
  std::string tool;  // the question it answers
  std::vector<HostGpu> gpus;
  std::vector<Software> software;
  std::vector<Unread> unread;
  bool some_undescribed = false;  // the tool counts more devices than it describes
};

// The readers of one answer each. Unknown words ("[N/A]", "ERR!") are unknown values; a shape that
// is not known is unreadable_output, naming the tool and the place.
using ToolReader = Result<ToolReport> (*)(std::string_view text);
Result<ToolReport> parse_nvidia_xml(std::string_view text);  // nvidia-smi -q -x
Result<ToolReport> parse_nvidia_query(
    std::string_view text);                            // nvidia-smi --query-gpu=… --format=csv
Result<ToolReport> parse_nvml(std::string_view text);  // nvml.h
Result<ToolReport> parse_nvidia_details(std::string_view text);   // nvidia-smi -q
Result<ToolReport> parse_nvidia_table(std::string_view text);     // nvidia-smi
Result<ToolReport> parse_nvidia_list(std::string_view text);      // nvidia-smi -L
Result<ToolReport> parse_nvidia_topology(std::string_view text);  // nvidia-smi topo -m
Result<ToolReport> parse_amd_smi(std::string_view text);          // amd-smi static --json
Result<ToolReport> parse_rocm_smi(std::string_view text);         // rocm-smi … --json
Result<ToolReport> parse_hl_smi_query(std::string_view text);     // hl-smi -Q … -f csv
Result<ToolReport> parse_hl_smi_table(std::string_view text);     // hl-smi

// ---- Words that several tools share
// ---------------------------------------------------------------

// Where a number or name should be: "N/A", "[Not Supported]", "ERR!", "[GPU is lost]", empty, …
bool is_unknown_word(std::string_view text);
bool says_lost(std::string_view text);  // "[GPU is lost]" and its kin

// "81559 MiB" as bytes; nullopt when unknown; an error for anything else.
Result<std::optional<int64_t>> parse_mib(std::string_view text, std::string_view what);

// "00000000:83:00.0" and "83:00.0" as "0000:83:00.0"; empty when it is no PCI address.
std::string pci_address(std::string_view text);

// ---- MIG
// ------------------------------------------------------------------------------------------

// A row of a tool's list of MIG devices. A row is a compute instance: several can share the GPU
// instance `gpu_instance`, which is what is counted.
struct MigRow {
  std::optional<int64_t> gpu_instance;
  std::optional<int64_t> multiprocessors;  // of the compute instance
  std::optional<int64_t> copy_engines;     // of the GPU instance, as is what follows
  std::optional<int64_t> ofa_engines;
  std::optional<int64_t> memory_bytes;
  std::string profile;  // where the tool names it; "1c.3g.71gb" for a part of a GPU instance
};

// The profile of every GPU instance on a card of this name and memory, by the catalogue.
std::vector<std::string> mig_instances(std::string_view product, std::optional<int64_t> card_memory,
                                       std::span<const MigRow> rows);

// ---- One picture
// ----------------------------------------------------------------------------------

std::vector<Sharing> ways_to_share(Family family);  // on a host: whole, and MIG where there is any

// Cards of one model and condition become one card set; `pci` are devices that no tool listed.
std::vector<CardSet> card_sets(std::span<const HostGpu> gpus);

}  // namespace exa
