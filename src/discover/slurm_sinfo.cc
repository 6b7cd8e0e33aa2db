// sinfo's columns, a line per node and partition:
//   sinfo -N -h -o '%N|%P|%T|%t|%c|%m|%G|%f|%e|%C|%E'
//   sinfo -N -h -O
//   NodeList,Partition,StateComplete,Gres,GresUsed,CPUsState,Memory,AllocMem,Features,Reason
// (the second with widths, because -O cuts what is longer than 20 characters without a mark).
#include <array>
#include <unordered_map>

#include <fmt/format.h>

#include "base/text.h"
#include "discover/slurm_source.h"

namespace exa {
namespace {

constexpr std::string_view kCpuHeading = "CPUS(A/I/O/T)";

enum BarField : size_t {
  kBarName,
  kBarPartition,
  kBarState,
  kBarShort,
  kBarCpus,
  kBarMemory,
  kBarGres,
  kBarFeatures,
  kBarFreeMemory,
  kBarCpuStates,
  kBarReason,
  kBarCount
};
enum ColumnField : size_t {
  kColName,
  kColPartition,
  kColState,
  kColGres,
  kColGresUsed,
  kColCpuStates,
  kColMemory,
  kColAllocated,
  kColFeatures,
  kColReason,
  kColCount
};

template <size_t N>
using Row = std::array<std::string_view, N>;

// The last field is free text and takes the rest of the line. False: fewer than N fields.
bool split_bars(std::string_view line, Row<kBarCount>& row) {
  for (size_t i = 0; i + 1 < row.size(); ++i) {
    const size_t bar = line.find('|');
    if (bar == std::string_view::npos) return false;
    row[i] = line.substr(0, bar);
    line.remove_prefix(bar + 1);
  }
  row.back() = trim(line);
  return true;
}

bool split_columns(std::string_view line, Row<kColCount>& row) {
  for (size_t i = 0; i + 1 < row.size(); ++i) {
    line = trim(line);
    const size_t blank = line.find_first_of(" \t");
    if (blank == std::string_view::npos) return false;
    row[i] = line.substr(0, blank);
    line.remove_prefix(blank);
  }
  row.back() = trim(line);
  return !row.back().empty();
}

struct Cpus {
  std::optional<int64_t> allocated;
  std::optional<int64_t> total;
};

// "8/56/0/64": allocated, idle, other, total.
Result<Cpus> parse_cpu_states(std::string_view text) {
  const auto parts = split(text, '/');
  if (parts.size() != 4) {
    return fail(Code::unreadable_output,
                fmt::format("CPUS: \"{}\" is not allocated/idle/other/total",
                            printable(text.substr(0, 40))));
  }
  Cpus cpus;
  EXA_ASSIGN(cpus.allocated, slurm_number(parts[0], "CPUS"));
  EXA_ASSIGN(cpus.total, slurm_number(parts[3], "CPUS"));
  return cpus;
}

Result<SlurmState> state_of(std::string_view text) {
  auto state = read_slurm_state(text);
  if (!state) return fail(in_field(std::move(state).error(), "STATE"));
  return state;
}

// The default partition is marked with a star.
std::vector<std::string_view> partition_of(std::string_view text) {
  if (text.ends_with('*')) text.remove_suffix(1);
  return says_nothing(text) ? std::vector<std::string_view>{} : std::vector{text};
}

Result<void> check_name(std::string_view name) {
  if (name.find_first_of("[],") == std::string_view::npos) return {};
  return fail(Code::unreadable_output,
              "several nodes share a line; ask sinfo with -N for a line per node");
}

Result<SlurmNodeFacts> facts_of_bars(const Row<kBarCount>& row) {
  SlurmNodeFacts facts;
  facts.name = row[kBarName];
  EXA_TRY(check_name(facts.name));
  facts.partitions = partition_of(row[kBarPartition]);
  EXA_ASSIGN(facts.state, state_of(row[kBarState]));
  facts.state_text = std::string(row[kBarState]);
  EXA_ASSIGN(const Cpus cpus, parse_cpu_states(row[kBarCpuStates]));
  facts.cpus = cpus.total;
  facts.cpus_allocated = cpus.allocated;
  EXA_ASSIGN(facts.memory_mib, slurm_number(row[kBarMemory], "MEMORY"));
  facts.gres = row[kBarGres];
  facts.missing_count = MissingCount::is_an_error;
  facts.features = slurm_words(row[kBarFeatures]);
  facts.reason = row[kBarReason];
  return facts;
}

Result<SlurmNodeFacts> facts_of_columns(const Row<kColCount>& row) {
  SlurmNodeFacts facts;
  facts.name = row[kColName];
  EXA_TRY(check_name(facts.name));
  facts.partitions = partition_of(row[kColPartition]);
  EXA_ASSIGN(facts.state, state_of(row[kColState]));
  facts.state_text = std::string(row[kColState]);
  EXA_ASSIGN(const Cpus cpus, parse_cpu_states(row[kColCpuStates]));
  facts.cpus = cpus.total;
  facts.cpus_allocated = cpus.allocated;
  EXA_ASSIGN(facts.memory_mib, slurm_number(row[kColMemory], "MEMORY"));
  EXA_ASSIGN(facts.memory_allocated_mib, slurm_number(row[kColAllocated], "ALLOCMEM"));
  facts.gres = row[kColGres];
  facts.gres_used = row[kColGresUsed];
  facts.missing_count = MissingCount::is_an_error;
  facts.features = slurm_words(row[kColFeatures]);
  facts.reason = row[kColReason];
  return facts;
}

// A node stands once per partition; everything but the partition is the same.
class NodeGatherer {
 public:
  void add(Node node) {
    const auto [at, is_new] = index_.try_emplace(node.name, nodes_.size());
    if (is_new) {
      nodes_.push_back(std::move(node));
      return;
    }
    auto& partitions = nodes_[at->second].partitions;
    for (std::string& partition : node.partitions) {
      const auto place = std::ranges::lower_bound(partitions, partition);
      if (place == partitions.end() || *place != partition) {
        partitions.insert(place, std::move(partition));
      }
    }
  }

  std::vector<Node> take() { return std::move(nodes_); }

 private:
  std::vector<Node> nodes_;
  std::unordered_map<std::string, size_t> index_;
};

// Where the columns of -O start, when the heading is printed and its blanks are as sinfo put them.
std::vector<size_t> column_starts(std::string_view heading) {
  std::vector<size_t> starts;
  bool wide = false;
  for (size_t i = 1; i < heading.size(); ++i) {
    if (heading[i - 1] != ' ' || heading[i] == ' ') continue;
    starts.push_back(i);
    wide |= i >= 2 && heading[i - 2] == ' ';
  }
  if (!wide) starts.clear();
  return starts;
}

// A column that is full to its edge was cut: what is in it cannot be trusted.
bool is_cut(std::string_view line, const std::vector<size_t>& starts) {
  for (const size_t start : starts)
    if (start < line.size() && line[start] != ' ' && line[start - 1] != ' ') return true;
  return false;
}

constexpr std::string_view kCutHint =
    "fewer columns than asked for; a column may be cut (sinfo -O wants widths, as in Gres:200)";

template <size_t N>
Result<Node> read_row(std::string_view line, SlurmContext& context,
                      bool (*split_row)(std::string_view, Row<N>&),
                      Result<SlurmNodeFacts> (*facts_of)(const Row<N>&)) {
  Row<N> row;
  if (!split_row(line, row)) return fail(Code::unreadable_output, std::string(kCutHint));
  EXA_ASSIGN(const SlurmNodeFacts facts, facts_of(row));
  return node_of(facts, context);
}

template <size_t N>
Result<std::vector<Node>> read_rows(std::string_view text, std::string_view tool,
                                    SlurmContext& context,
                                    bool (*split_row)(std::string_view, Row<N>&),
                                    Result<SlurmNodeFacts> (*facts_of)(const Row<N>&)) {
  NodeGatherer gatherer;
  std::vector<size_t> starts;
  size_t number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (trim(line).empty()) continue;
    const std::string where = fmt::format("line {}", number);
    if (number == 1 && line.find(kCpuHeading) != std::string_view::npos) {
      if (N == kColCount) starts = column_starts(line);
      continue;
    }
    if (is_cut(line, starts)) {
      return fail(at_place({Code::unreadable_output,
                            "a column is cut (sinfo -O wants widths, as in Gres:200)",
                            {},
                            "",
                            {}},
                           tool, where, ""));
    }
    auto node = read_row<N>(line, context, split_row, facts_of);
    if (!node) {
      const std::string_view first = trim(line);
      return fail(at_place(std::move(node).error(), tool, where,
                           first.substr(0, first.find_first_of("| \t"))));
    }
    gatherer.add(std::move(*node));
  }
  return gatherer.take();
}

std::string_view first_line(std::string_view text) {
  while (!text.empty() && (text[0] == '\n' || text[0] == '\r')) text.remove_prefix(1);
  return text.substr(0, text.find('\n'));
}

bool are_cpu_states(std::string_view text) {
  return text == kCpuHeading || (std::ranges::count(text, '/') == 3 && parse_cpu_states(text));
}

}  // namespace

Result<std::vector<Node>> read_sinfo_bars(std::string_view text, SlurmContext& context) {
  return read_rows<kBarCount>(text, "sinfo -N -o", context, split_bars, facts_of_bars);
}

Result<std::vector<Node>> read_sinfo_columns(std::string_view text, SlurmContext& context) {
  return read_rows<kColCount>(text, "sinfo -N -O", context, split_columns, facts_of_columns);
}

bool looks_like_sinfo_bars(std::string_view text) {
  Row<kBarCount> row;
  return split_bars(first_line(text), row) && are_cpu_states(row[kBarCpuStates]);
}

bool looks_like_sinfo_columns(std::string_view text) {
  Row<kColCount> row;
  return split_columns(first_line(text), row) && are_cpu_states(row[kColCpuStates]);
}

}  // namespace exa
