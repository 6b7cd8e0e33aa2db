// scontrol's text: "Key=value" words, a node per record, on many lines or (with -o) on one.
#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "discover/hostlist.h"
#include "discover/slurm_source.h"

namespace exa {
namespace {

constexpr std::string_view kTool = "scontrol show node";

enum Field : size_t {
  kName,
  kCpuAllocated,
  kCpuEffective,
  kCpuTotal,
  kFeatures,
  kActiveFeatures,
  kGres,
  kGresDrain,
  kGresUsed,
  kMemory,
  kMemoryAllocated,
  kMemoryKept,
  kState,
  kPartitions,
  kConfigured,
  kAllocated,
  kReservation,
  kFieldCount,
};

// `needed` in every release: a record that lacks one of them was cut off.
struct FieldName {
  std::string_view key;
  bool needed;
};
constexpr std::array<FieldName, kFieldCount> kFields = {{
    {"NodeName", true},
    {"CPUAlloc", true},
    {"CPUEfctv", false},  // since 22.05: without the cores kept for the system
    {"CPUTot", true},
    {"Features", false},  // before 15.08
    {"ActiveFeatures", false},
    {"Gres", true},
    {"GresDrain", false},
    {"GresUsed", false},  // only with -d
    {"RealMemory", true},
    {"AllocMem", true},
    {"MemSpecLimit", false},
    {"State", true},
    {"Partitions", false},
    {"CfgTRES", true},
    {"AllocTRES", true},
    {"ReservationName", false},
}};

// Free text that people write; nothing behind it is looked at as a field.
constexpr std::string_view kFreeText[] = {"Reason", "Comment", "Extra"};

struct Record {
  std::array<std::optional<std::string_view>, kFieldCount> fields;
  std::string_view reason;
  std::optional<size_t> open_end;  // the field whose value runs into the end of the text
};

bool is_blank(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

// "scheduled update [root@2026-11-30T04:04:07]": the text before the stamp of who and when.
std::string_view reason_text(std::string_view text) {
  size_t end = text.size();
  for (const std::string_view stop : {"\n   Comment=", "\n   Extra=", " Comment=", " Extra="})
    end = std::min(end, text.find(stop));
  text = text.substr(0, end);
  for (size_t open = text.find(" ["); open != std::string_view::npos;
       open = text.find(" [", open + 1)) {
    const size_t close = text.find(']', open);
    if (close == std::string_view::npos) break;
    if (text.substr(open, close - open).find('@') != std::string_view::npos) {
      return trim(text.substr(0, open));
    }
  }
  return trim(text.substr(0, text.find('\n')));
}

bool starts_free_text(std::string_view key) {
  for (const std::string_view name : kFreeText)
    if (key == name) return true;
  return false;
}

std::string_view find_reason(std::string_view free_text) {
  size_t at = 0;
  while ((at = free_text.find("Reason=", at)) != std::string_view::npos) {
    if (at == 0 || is_blank(free_text[at - 1])) return reason_text(free_text.substr(at + 7));
    ++at;
  }
  return "";
}

// The first word of a key counts: OS= and free text may hold anything.
Record parse_record(std::string_view text) {
  Record record;
  size_t at = 0;
  while (at < text.size()) {
    while (at < text.size() && is_blank(text[at])) ++at;
    size_t end = at;
    size_t equals = std::string_view::npos;
    while (end < text.size() && !is_blank(text[end])) {
      if (text[end] == '=' && equals == std::string_view::npos) equals = end;
      ++end;
    }
    if (equals != std::string_view::npos) {
      const std::string_view key = text.substr(at, equals - at);
      if (starts_free_text(key)) {
        record.reason = find_reason(text.substr(at));
        break;
      }
      for (size_t i = 0; i < kFieldCount; ++i) {
        if (kFields[i].key != key) continue;
        if (!record.fields[i]) record.fields[i] = text.substr(equals + 1, end - equals - 1);
        if (end == text.size()) record.open_end = i;
        break;
      }
    }
    at = end;
  }
  return record;
}

Result<SlurmNodeFacts> facts_of(const Record& record) {
  for (size_t i = 0; i < kFieldCount; ++i) {
    if (kFields[i].needed && !record.fields[i]) {
      return fail(Code::unreadable_output, fmt::format("{} is missing", kFields[i].key));
    }
  }
  // "AllocTRES=gres/gpu=1" without anything behind it may be the beginning of more
  if (record.open_end) {
    return fail(Code::unreadable_output,
                fmt::format("{} is cut off at the end", kFields[*record.open_end].key));
  }
  const auto text = [&](Field field) { return record.fields[field].value_or(""); };
  const auto number = [&](Field field) { return slurm_number(text(field), kFields[field].key); };
  SlurmNodeFacts facts;
  facts.name = text(kName);
  auto state = read_slurm_state(text(kState));
  if (!state) return fail(in_field(std::move(state).error(), "State"));
  facts.state = *state;
  facts.state_text = std::string(text(kState));
  facts.gres = text(kGres);
  facts.gres_used = record.fields[kGresUsed];
  facts.gres_drained = text(kGresDrain);
  facts.configured_tres = record.fields[kConfigured];
  facts.allocated_tres = record.fields[kAllocated];
  EXA_ASSIGN(facts.cpus, number(record.fields[kCpuEffective] ? kCpuEffective : kCpuTotal));
  EXA_ASSIGN(facts.cpus_allocated, number(kCpuAllocated));
  EXA_ASSIGN(facts.memory_mib, number(kMemory));
  EXA_ASSIGN(facts.memory_allocated_mib, number(kMemoryAllocated));
  EXA_ASSIGN(facts.memory_kept_mib, number(kMemoryKept));
  facts.features = slurm_words(text(record.fields[kActiveFeatures] ? kActiveFeatures : kFeatures));
  facts.partitions = slurm_words(text(kPartitions));
  facts.reason = record.reason;
  facts.reservation = text(kReservation);
  return facts;
}

// Where the record behind `at` starts; records start at the beginning of a line.
size_t next_record(std::string_view text, std::string_view key, size_t at) {
  const std::string start = fmt::format("\n{}=", key);
  const size_t found = text.find(start, at);
  return found == std::string_view::npos ? text.size() : found + 1;
}

std::string line_of(std::string_view text, size_t offset) {
  return fmt::format("line {}", 1 + std::ranges::count(text.substr(0, offset), '\n'));
}

Result<Node> read_record(std::string_view text, SlurmContext& context, std::string& name) {
  const Record record = parse_record(text);
  name = std::string(record.fields[kName].value_or(""));
  EXA_ASSIGN(const SlurmNodeFacts facts, facts_of(record));
  return node_of(facts, context);
}

}  // namespace

Result<std::vector<Node>> read_scontrol_nodes(std::string_view text, SlurmContext& context) {
  std::vector<Node> nodes;
  if (trim(text) == "No nodes in the system") return nodes;
  size_t at = 0;
  while (at < text.size() && is_blank(text[at])) ++at;
  if (!text.substr(at).starts_with("NodeName=")) {
    return fail(at_place(
        {Code::unreadable_output, "a record that starts with NodeName= is expected", {}, "", {}},
        kTool, line_of(text, at), ""));
  }
  while (at < text.size()) {
    const size_t end = next_record(text, "NodeName", at);
    std::string name;
    auto node = read_record(text.substr(at, end - at), context, name);
    if (!node) return fail(at_place(std::move(node).error(), kTool, line_of(text, at), name));
    nodes.push_back(std::move(*node));
    at = end;
  }
  return nodes;
}

SlurmConfig read_scontrol_config(std::string_view text) {
  SlurmConfig config;
  for (const std::string_view line : split(text, '\n')) {
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view key = trim(line.substr(0, equals));
    const std::string_view value = trim(line.substr(equals + 1));
    if (key == "ClusterName" && !says_nothing(value)) config.cluster = std::string(value);
    if (key == "SLURM_VERSION" && !says_nothing(value)) config.version = std::string(value);
    if (key == "PrivateData") {
      config.shows_all_jobs = lower(value).find("job") == std::string::npos &&
                              lower(value).find("all") == std::string::npos;
    }
  }
  return config;
}

Result<std::map<std::string, std::string, std::less<>>> read_reservations(std::string_view text) {
  std::map<std::string, std::string, std::less<>> reserved_for;
  size_t at = text.starts_with("ReservationName=") ? 0 : next_record(text, "ReservationName", 0);
  while (at < text.size()) {
    const size_t end = next_record(text, "ReservationName", at);
    const std::string_view record = text.substr(at, end - at);
    const auto field = [&](std::string_view key) -> std::string_view {
      size_t found = record.find(key);
      while (found != 0 && found != std::string_view::npos && !is_blank(record[found - 1])) {
        found = record.find(key, found + 1);
      }
      if (found == std::string_view::npos) return "";
      const std::string_view value = record.substr(found + key.size());
      return value.substr(0, value.find_first_of(" \n"));
    };
    const std::string_view nodes = field("Nodes=");
    if (field("State=") == "ACTIVE" && !says_nothing(nodes)) {
      EXA_ASSIGN(const auto names, expand_hostlist(nodes));
      const std::string what = fmt::format("reservation {}", field("ReservationName="));
      for (const std::string& name : names) reserved_for.emplace(name, what);
    }
    at = end;
  }
  return reserved_for;
}

}  // namespace exa
