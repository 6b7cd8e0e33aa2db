// One machine that may become a node of an ML platform: what its report says, what its tags say,
// and which of them counts (requirement "Device Tags"; semantics §6). Pure.
//
// What an agent detected wins over tags; tags fill what was not detected. What neither says is
// unknown, never 0, and a machine that is unknown in what its role needs is not offered.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/time.h"
#include "compute/gpu_family.h"

namespace exa {

// More GPUs than any one machine has; a report or a tag above it is not believed.
inline constexpr int64_t kMostGpus = 128;

// Sorted by key, unique.
using Tags = std::vector<std::pair<std::string, std::string>>;
// Group name without the prefix ("network-pool", "region/us-west") and value; sorted, unique.
using ResourceGroups = std::vector<std::pair<std::string, std::string>>;

struct GpuReport {
  std::string family;  // as the driver prints it; empty: not detected
  int64_t count = 0;
  std::optional<int64_t> memory_bytes;  // of each

  bool operator==(const GpuReport&) const = default;
};

// What a source says of a machine at one moment. An agent's own words; nothing is judged yet.
struct MachineReport {
  std::string id;        // "edge-5db0384219cfa0fa4ef97d53bf291b2e"; see check_machine_id
  Time reported_at;      // by the machine's own clock
  int64_t sequence = 0;  // rises with every report of one agent; 0: the source does not count
  bool healthy = true;
  std::string reason;           // why it is not healthy
  std::string address;          // that provisioning reaches it at; empty: its id
  std::string architecture;     // "AMD64", "ARM64"; empty: not detected
  std::optional<int64_t> cpus;  // cores
  std::optional<int64_t> memory_bytes;
  std::optional<std::vector<GpuReport>> gpus;  // empty list: it has none; nullopt: not detected
  Tags tags;

  bool operator==(const MachineReport&) const = default;
};

enum class KnownFrom { nothing, agent, tag };
std::string_view name(KnownFrom from);  // "unknown", "agent", "tag"

template <typename Value>
struct Known {
  Value value{};  // meaningless where from is nothing
  KnownFrom from = KnownFrom::nothing;

  bool is_known() const { return from != KnownFrom::nothing; }
  bool operator==(const Known&) const = default;
};

struct Machine {
  std::string id;
  std::string address;
  std::string architecture;  // "AMD64"; empty: unknown
  Known<int64_t> cpus;
  std::optional<int64_t> memory_bytes;
  Known<int64_t> gpus;
  Known<GpuFamily> family;          // of all its GPUs
  Known<int64_t> gpu_memory_bytes;  // of each GPU
  bool is_tagged = false;           // palette.ai: true
  bool control_plane = false;       // its role; never both
  bool worker = false;
  bool worker_tagged = false;  // palette.ai/worker: true, whether or not it has GPUs
  ResourceGroups groups;
  // Why it may not be offered, whatever its health: a sentence each, in the order of the checks.
  // Empty: it may.
  std::vector<std::string> unfit;
  // What a reader should know: a tag that says otherwise than the agent, both roles tagged.
  std::vector<std::string> notes;

  bool operator==(const Machine&) const = default;
};

// Reads the report by the document's rules. Tags that cannot be read make the machine unfit (the
// reason names the tag and what would be right), never a guess.
Machine read_machine(const MachineReport& report);

// "80G", "81920 MiB", "80gb": bytes. M and MB are 10^6, MiB 2^20, G and GB 10^9, GiB 2^30; any
// case; a blank before the unit is fine. A bare number is refused: its unit is not known.
Result<int64_t> parse_gpu_memory(std::string_view text);

// At most 253 characters of letters, digits, '-', '_' and '.', beginning and ending with a letter
// or digit.
Result<void> check_machine_id(std::string_view id);

// A tag as people write it: "palette.ai=true", "gpus: 8", "palette.ai.rg/network-pool: \"1\"". An
// empty value is one.
Result<std::pair<std::string, std::string>> parse_tag(std::string_view text);

// The one serializer of reports and machines. Reading finds all problems at once, by JSON pointer
// below `where`; unknown keys are problems, too. Tags may be an object or a list of "key: value".
json::object to_json(const MachineReport& report);
Result<MachineReport> machine_report_from_json(const json::value& value, std::string_view where);
json::object to_json(const Machine& machine);

}  // namespace exa
