#include "discover/slurm_source.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/quantity.h"
#include "base/text.h"

namespace exa {
namespace {

template <typename T>
Result<T> within(std::string_view field, Result<T> result) {
  if (result) return result;
  return fail(in_field(std::move(result).error(), field));
}

Result<SlurmDevices> devices_of(const SlurmNodeFacts& facts) {
  SlurmDevices devices;
  EXA_ASSIGN(devices.total, within("Gres", parse_gres(facts.gres, facts.missing_count)));
  if (facts.gres_used) {
    EXA_ASSIGN(devices.used, within("GresUsed", parse_gres(*facts.gres_used, facts.missing_count)));
  }
  if (facts.configured_tres) {
    EXA_ASSIGN(devices.configured, within("CfgTRES", parse_tres_gres(*facts.configured_tres)));
  }
  if (facts.allocated_tres) {
    EXA_ASSIGN(devices.allocated, within("AllocTRES", parse_tres_gres(*facts.allocated_tres)));
  }
  devices.drained = facts.gres_drained;
  devices.reason = facts.reason;
  devices.refused = is_refused(facts.state);
  return devices;
}

std::vector<std::string> texts(const std::vector<std::string_view>& views) {
  return {views.begin(), views.end()};
}

// Beyond this is no machine; it would overflow bytes.
constexpr int64_t kMostMib = int64_t{1} << 42;

Result<std::optional<int64_t>> bounded(std::optional<int64_t> value, int64_t most,
                                       std::string_view field) {
  if (value && (*value < 0 || *value > most)) {
    return fail(Code::unreadable_output, fmt::format("{}: {} is out of range", field, *value));
  }
  return value;
}

Result<void> fill_cpus(Node& node, const SlurmNodeFacts& facts) {
  EXA_ASSIGN(const auto cpus, bounded(facts.cpus, kMostCores, "CPUTot"));
  EXA_ASSIGN(const auto allocated, bounded(facts.cpus_allocated, kMostCores, "CPUAlloc"));
  if (!cpus) return {};
  node.cpu_milli = *cpus * 1000;
  if (allocated) node.cpu_free_milli = std::max<int64_t>(0, *cpus - *allocated) * 1000;
  return {};
}

Result<void> fill_memory(Node& node, const SlurmNodeFacts& facts) {
  EXA_ASSIGN(const auto total, bounded(facts.memory_mib, kMostMib, "RealMemory"));
  EXA_ASSIGN(const auto allocated, bounded(facts.memory_allocated_mib, kMostMib, "AllocMem"));
  EXA_ASSIGN(const auto kept, bounded(facts.memory_kept_mib, kMostMib, "MemSpecLimit"));
  // 1 MiB is slurm.conf's default: nobody wrote down how much there is
  if (!total || *total <= 1) return {};
  const int64_t mib = std::max<int64_t>(0, *total - kept.value_or(0));
  node.memory_bytes = mib * kMiB;
  if (allocated) node.memory_free_bytes = std::max<int64_t>(0, mib - *allocated) * kMiB;
  return {};
}

std::string reason_of(const SlurmNodeFacts& facts, Health health, const SlurmContext& context) {
  if (health == Health::usable) return "";
  if (!says_nothing(facts.reason) && facts.reason != "none") return std::string(facts.reason);
  if (health != Health::reserved) return "";
  if (const auto found = context.reserved_for.find(facts.name);
      found != context.reserved_for.end()) {
    return found->second;
  }
  return says_nothing(facts.reservation) ? "" : fmt::format("reservation {}", facts.reservation);
}

void fill_software(Node& node, SlurmContext& context) {
  for (const std::string& text : node.features) {
    const auto& feature = context.names.feature(text);
    if (!feature.software) continue;
    if (std::ranges::find(node.software, *feature.software) != node.software.end()) continue;
    node.software.push_back(*feature.software);
  }
}

}  // namespace

Result<Node> node_of(const SlurmNodeFacts& facts, SlurmContext& context) {
  Node node;
  if (facts.name.empty()) return fail(Code::unreadable_output, "a node without a name");
  node.name = std::string(facts.name);
  node.features = texts(facts.features);
  node.partitions = texts(facts.partitions);
  std::ranges::sort(node.partitions);
  node.partitions.erase(std::unique(node.partitions.begin(), node.partitions.end()),
                        node.partitions.end());
  node.health = health(facts.state);
  node.state = facts.state_text;
  node.reason = reason_of(facts, node.health, context);
  EXA_TRY(fill_cpus(node, facts));
  EXA_TRY(fill_memory(node, facts));
  fill_software(node, context);

  EXA_ASSIGN(SlurmDevices devices, devices_of(facts));
  if (const auto held = context.shares_on_node.find(facts.name);
      held != context.shares_on_node.end()) {
    devices.shares_held = &held->second;
  }
  std::vector<std::string> ignored;
  node.cards = cards_of(devices, node.features, context.names, ignored);
  context.ignored.insert(ignored.begin(), ignored.end());
  return node;
}

Error at_place(Error error, std::string_view tool, std::string_view where, std::string_view node) {
  const std::string problem = error.message;
  error.code = Code::unreadable_output;
  error.problems = {{std::string(where), problem, ""}};
  error.message = node.empty() ? fmt::format("{}, {}: {}", tool, where, problem)
                               : fmt::format("{}, {}, node {}: {}", tool, where,
                                             printable(node.substr(0, 64)), problem);
  return error;
}

Error in_field(Error error, std::string_view field) {
  error.message = fmt::format("{}: {}", field, error.message);
  return error;
}

Result<std::optional<int64_t>> slurm_number(std::string_view text, std::string_view field) {
  constexpr std::string_view kUnknown[] = {"",       "N/A",     "n/a", "n/s",
                                           "(null)", "Unknown", "-2",  "-1"};
  if (std::ranges::find(kUnknown, text) != std::end(kUnknown)) return std::nullopt;
  uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(text.data(), end, value);
  if (status != std::errc{} || stop != end) {
    return fail(Code::unreadable_output, fmt::format("{}: \"{}\" is not a whole number", field,
                                                     printable(text.substr(0, 40))));
  }
  if (is_unset_number(value)) return std::nullopt;
  if (value > static_cast<uint64_t>(INT64_MAX)) {
    return fail(Code::unreadable_output, fmt::format("{}: {} is out of range", field, value));
  }
  return static_cast<int64_t>(value);
}

std::vector<std::string_view> slurm_words(std::string_view text) {
  std::vector<std::string_view> words;
  if (says_nothing(text)) return words;
  for (const std::string_view word : split(text, ','))
    if (!word.empty()) words.push_back(word);
  return words;
}

}  // namespace exa
