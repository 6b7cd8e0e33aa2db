#include "discover/flux_table.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/plural.h"
#include "base/quantity.h"
#include "base/text.h"
#include "discover/hostlist.h"
#include "discover/plausible.h"

namespace exa {
namespace {

struct Token {
  std::string_view text;
  size_t at = 0;  // column on the screen: the marks of the UP column are three bytes wide
};

bool begins_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
}

size_t byte_of_column(std::string_view line, size_t column) {
  size_t at = 0;
  for (size_t seen = 0; at < line.size(); ++at)
    if (begins_character(line[at]) && seen++ == column) break;
  return at;
}

std::vector<Token> tokens_of(std::string_view line) {
  std::vector<Token> tokens;
  size_t column = 0;
  for (size_t at = 0; at < line.size();) {
    if (line[at] == ' ' || line[at] == '\t' || line[at] == '\r') {
      ++at;
      ++column;
      continue;
    }
    size_t end = std::min(line.find_first_of(" \t\r", at), line.size());
    tokens.push_back({line.substr(at, end - at), column});
    for (; at < end; ++at) column += begins_character(line[at]) ? 1 : 0;
  }
  return tokens;
}

// A table cut into cells by its own header; every row has one cell per column.
struct Row {
  std::vector<std::string> cells;
  int line = 0;
};
struct Table {
  std::vector<std::string> columns;
  std::vector<Row> rows;
};

struct Layout {
  std::string_view name;
  std::vector<std::string_view> known;     // columns that may occur
  std::vector<std::string_view> optional;  // of those, the ones whose cell may be empty
};

Failure wrong(const Layout& layout, int line, std::string_view why) {
  return fail(Code::unreadable_output, fmt::format("{}: line {}: {}", layout.name, line, why));
}

bool has(const std::vector<std::string_view>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The default status table prints {state:>10}{up:>2}, so that the two headers run together.
std::vector<Token> header_of(std::string_view line) {
  std::vector<Token> header;
  for (const Token& token : tokens_of(line)) {
    if (token.text == "STATEUP") {
      header.push_back({token.text.substr(0, 5), token.at});
      header.push_back({token.text.substr(5), token.at + 5});
    } else {
      header.push_back(token);
    }
  }
  return header;
}

// Columns are told apart from the two ends inward, because a wide cell pushes the rest of its row
// to the right of the header. Only where cells may be empty does the header's position decide.
bool fill_row(const Layout& layout, const std::vector<Token>& header,
              const std::vector<Token>& tokens, std::vector<std::string>& cells) {
  auto may_be_empty = [&](const Token& column) { return has(layout.optional, column.text); };
  size_t first = 0;
  while (first < header.size() && !may_be_empty(header[first])) ++first;
  size_t last = header.size();
  while (last > first && !may_be_empty(header[last - 1])) --last;
  size_t after = header.size() - last;
  if (tokens.size() < first + after) return false;
  cells.assign(header.size(), "");
  for (size_t i = 0; i < first; ++i) cells[i] = tokens[i].text;
  for (size_t i = 0; i < after; ++i) cells[last + i] = tokens[tokens.size() - after + i].text;
  std::span middle(tokens.begin() + static_cast<std::ptrdiff_t>(first),
                   tokens.end() - static_cast<std::ptrdiff_t>(after));
  auto holds_blanks = [](const Token& column) {
    return column.text == "REASON" || column.text == "TIME";
  };
  bool in_order = middle.size() == last - first &&
                  std::none_of(header.begin() + static_cast<std::ptrdiff_t>(first),
                               header.begin() + static_cast<std::ptrdiff_t>(last), holds_blanks);
  for (size_t i = 0; i < middle.size(); ++i) {
    size_t column = in_order ? first + i : last;
    if (!in_order)
      while (column > first && header[column - 1].at > middle[i].at) --column;
    if (!in_order && column-- == first) return false;
    if (cells[column].empty()) {
      if (!in_order && header[column].at != middle[i].at) return false;
      cells[column] = middle[i].text;
    } else if (holds_blanks(header[column])) {
      cells[column].append(" ").append(middle[i].text);
    } else {
      return false;
    }
  }
  return true;
}

Result<Table> piped_table(const Layout& layout, const std::vector<std::string_view>& lines) {
  Table table;
  for (size_t i = 0; i < lines.size(); ++i) {
    std::string_view line = trim(lines[i]);
    if (line.empty()) continue;
    std::vector<std::string> cells;
    for (std::string_view cell : split(line, '|')) cells.emplace_back(trim(cell));
    int number = static_cast<int>(i) + 1;
    if (table.columns.empty()) {
      table.columns = std::move(cells);
    } else if (cells.size() != table.columns.size()) {
      return wrong(layout, number, "has another number of fields than the header");
    } else {
      table.rows.push_back({std::move(cells), number});
    }
  }
  return table;
}

Result<Table> aligned_table(const Layout& layout, const std::vector<std::string_view>& lines) {
  Table table;
  std::vector<Token> header;
  for (size_t i = 0; i < lines.size(); ++i) {
    int number = static_cast<int>(i) + 1;
    std::vector<Token> tokens = tokens_of(lines[i]);
    if (tokens.empty()) continue;
    if (header.empty()) {
      header = header_of(lines[i]);
      for (const Token& column : header) table.columns.emplace_back(column.text);
      continue;
    }
    Row row{{}, number};
    bool filled = fill_row(layout, header, tokens, row.cells);
    // A row of no nodes ("allocated 0 0 0") has an empty NODELIST at its end.
    bool no_nodes = !filled && header.back().text == "NODELIST" && tokens.back().text == "0";
    if (no_nodes) {
      std::vector<Token> shorter(header.begin(), header.end() - 1);
      filled = fill_row(layout, shorter, tokens, row.cells);
      row.cells.emplace_back();
    }
    if (!filled) return wrong(layout, number, "does not fit the header");
    table.rows.push_back(std::move(row));
  }
  return table;
}

Result<Table> read_table(const Layout& layout, std::string_view text) {
  std::vector<std::string_view> lines = split(text, '\n');
  auto header = std::find_if(lines.begin(), lines.end(),
                             [](std::string_view line) { return !trim(line).empty(); });
  if (header == lines.end()) return wrong(layout, 1, "is empty");
  EXA_ASSIGN(Table table, header->find('|') != std::string_view::npos
                              ? piped_table(layout, lines)
                              : aligned_table(layout, lines));
  std::vector<std::string_view> seen;
  for (const std::string& column : table.columns) {
    if (!has(layout.known, column))
      return wrong(layout, 1, fmt::format("unknown column '{}'", printable(column)));
    if (has(seen, column)) return wrong(layout, 1, fmt::format("column {} stands twice", column));
    seen.push_back(column);
  }
  return table;
}

const std::string* cell(const Table& table, const Row& row, std::string_view column) {
  for (size_t i = 0; i < table.columns.size(); ++i)
    if (table.columns[i] == column) return &row.cells[i];
  return nullptr;
}

std::string cell_or_empty(const Table& table, const Row& row, std::string_view column) {
  const std::string* found = cell(table, row, column);
  return found == nullptr ? "" : *found;
}

Result<std::vector<std::string>> hosts_in(const Layout& layout, int line, std::string_view list) {
  if (list.empty()) return std::vector<std::string>{};
  // '+' is the mark of a cell that the table cut off: the rest of the names is not there to be
  // read.
  if (list.back() == '+') return wrong(layout, line, "the list of nodes is cut off with '+'");
  auto hosts = expand_hostlist(list);
  if (!hosts) return wrong(layout, line, hosts.error().message);
  return std::move(*hosts);
}

// A million nodes of a million cores; sums over rows, in thousandths, stay far below int64.
constexpr int64_t kMostInARow = int64_t{1} << 40;

Result<std::optional<int64_t>> number_in(const Layout& layout, const Table& table, const Row& row,
                                         std::string_view column) {
  const std::string* text = cell(table, row, column);
  if (text == nullptr || *text == "-1" || *text == "-2") return std::nullopt;
  auto number = parse_count(*text, column);
  if (!number) return wrong(layout, row.line, number.error().message);
  if (is_unset_number(*number)) return std::nullopt;
  if (*number > kMostInARow)
    return wrong(layout, row.line, fmt::format("{} is out of range for {}", *number, column));
  return std::optional<int64_t>(*number);
}

// {rlist}: "rank0/core[0-55],gpu[0-1] rank[1-2]/core[0-63],gpu[0-3]"; the hosts are in rank order.
Result<std::vector<RankResources>> ranks_in(const Layout& layout, const ListRow& row,
                                            std::string_view list) {
  std::vector<RankResources> ranks;
  for (const Token& token : tokens_of(list)) {
    size_t slash = token.text.find('/');
    if (token.text.substr(0, 4) != "rank" || slash == std::string_view::npos)
      return wrong(layout, row.line, fmt::format("'{}' is no rank", printable(token.text)));
    EXA_ASSIGN(IdSet members, parse_idset(token.text.substr(4, slash - 4), "rank"));
    RankResources resources;
    std::string_view rest = token.text.substr(slash + 1);
    while (!rest.empty()) {
      size_t open = rest.find_first_of("0123456789[");
      size_t end = open == std::string_view::npos ? open
                   : rest[open] == '['            ? rest.find(']', open)
                                                  : rest.find(',', open);
      if (open == std::string_view::npos || (rest[open] == '[' && end == std::string_view::npos))
        return wrong(layout, row.line, fmt::format("cannot read '{}'", printable(rest)));
      std::string_view kind = rest.substr(0, open);
      if (rest[open] == '[') ++end;
      end = std::min(end, rest.size());
      EXA_ASSIGN(IdSet ids, parse_idset(rest.substr(open, end - open), kind));
      if (kind == "core") resources.cores = std::move(ids);
      if (kind == "gpu") resources.gpus = std::move(ids);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    if (members.count() + static_cast<int64_t>(ranks.size()) >
        static_cast<int64_t>(row.hosts.size()))
      return wrong(layout, row.line, "names more ranks than hosts");
    for (const IdRange& range : members.ranges)
      for (resources.rank = range.first; resources.rank <= range.last; ++resources.rank)
        ranks.push_back(resources);
  }
  std::stable_sort(ranks.begin(), ranks.end(),
                   [](const RankResources& a, const RankResources& b) { return a.rank < b.rank; });
  if (ranks.size() != row.hosts.size())
    return wrong(layout, row.line, "names another number of ranks than of hosts");
  for (size_t i = 0; i < ranks.size(); ++i) ranks[i].host = row.hosts[i];
  return ranks;
}

void set_properties(ListRow& row, std::string_view list) {
  if (list.empty()) return;
  row.properties_cut = list.back() == '+';
  for (std::string_view name : split(list, ','))
    if (!name.empty() && name.back() != '+') row.properties.emplace_back(name);
}

}  // namespace

Result<std::vector<ListRow>> parse_resource_list(std::string_view text) {
  static const Layout layout{
      "flux resource list",
      {"STATE", "QUEUE", "PROPERTIES", "NNODES", "NCORES", "NGPUS", "NODELIST", "LIST"},
      {"QUEUE", "PROPERTIES"}};
  EXA_ASSIGN(Table table, read_table(layout, text));
  for (std::string_view needed : {"STATE", "NODELIST"})
    if (std::find(table.columns.begin(), table.columns.end(), needed) == table.columns.end())
      return wrong(layout, 1, fmt::format("has no column {}", needed));
  std::vector<ListRow> rows;
  for (const Row& from : table.rows) {
    ListRow row;
    row.line = from.line;
    row.state = cell_or_empty(table, from, "STATE");
    if (row.state != "free" && row.state != "allocated" && row.state != "down")
      return wrong(layout, row.line, fmt::format("unknown state '{}'", printable(row.state)));
    row.queue = cell_or_empty(table, from, "QUEUE");
    set_properties(row, cell_or_empty(table, from, "PROPERTIES"));
    EXA_ASSIGN(row.nodes, number_in(layout, table, from, "NNODES"));
    EXA_ASSIGN(row.cores, number_in(layout, table, from, "NCORES"));
    EXA_ASSIGN(row.gpus, number_in(layout, table, from, "NGPUS"));
    EXA_ASSIGN(row.hosts, hosts_in(layout, row.line, cell_or_empty(table, from, "NODELIST")));
    if (row.nodes && *row.nodes != static_cast<int64_t>(row.hosts.size()))
      return wrong(
          layout, row.line,
          fmt::format("says {} and names {}", counted(*row.nodes, "node"), row.hosts.size()));
    if (const std::string* list = cell(table, from, "LIST")) {
      EXA_ASSIGN(row.ranks, ranks_in(layout, row, *list));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Result<std::vector<StatusRow>> parse_resource_status(std::string_view text) {
  static const Layout layout{
      "flux resource status",
      {"STATE", "STATUS", "UP", "NNODES", "NODELIST", "REASON", "TIME", "RANKS"},
      {"REASON", "TIME"}};
  EXA_ASSIGN(Table table, read_table(layout, text));
  std::vector<StatusRow> rows;
  for (const Row& from : table.rows) {
    StatusRow row;
    row.state = cell_or_empty(table, from, "STATE") + cell_or_empty(table, from, "STATUS");
    if (!row.state.empty() && row.state.back() == '*') {
      row.offline = true;
      row.state.pop_back();
    }
    const std::string* list = cell(table, from, "NODELIST");
    if (row.state.empty() || list == nullptr)
      return wrong(layout, from.line, "has no state or no list of nodes");
    EXA_ASSIGN(row.hosts, hosts_in(layout, from.line, *list));
    EXA_ASSIGN(auto nodes, number_in(layout, table, from, "NNODES"));
    if (nodes && *nodes != static_cast<int64_t>(row.hosts.size()))
      return wrong(layout, from.line,
                   fmt::format("says {} and names {}", counted(*nodes, "node"), row.hosts.size()));
    row.reason = cell_or_empty(table, from, "REASON");
    rows.push_back(std::move(row));
  }
  return rows;
}

// TIME and REASON hold blanks, so that only the header's positions tell the columns apart.
Result<std::vector<StatusRow>> parse_resource_drain(std::string_view text) {
  static const Layout layout{"flux resource drain", {}, {}};
  std::vector<StatusRow> rows;
  size_t state = 0, reason = 0, nodes = 0;
  int number = 0;
  for (std::string_view line : split(text, '\n')) {
    ++number;
    if (trim(line).empty()) continue;
    if (nodes == 0) {
      state = line.find("STATE");
      reason = line.find("REASON");
      nodes = line.find("NODELIST");
      if (state >= reason || reason >= nodes || nodes == std::string_view::npos)
        return wrong(layout, number, "is not the header STATE … REASON … NODELIST");
      continue;
    }
    size_t reason_at = byte_of_column(line, reason), nodes_at = byte_of_column(line, nodes);
    if (nodes_at >= line.size() || line[reason_at - 1] != ' ' || line[nodes_at - 1] != ' ' ||
        line[nodes_at] == ' ')
      return wrong(layout, number, "does not fit the header");
    StatusRow row;
    std::string_view word = line.substr(byte_of_column(line, state));
    row.state = word.substr(0, word.find(' '));
    if (!row.state.empty() && row.state.back() == '*') {
      row.offline = true;
      row.state.pop_back();
    }
    if (row.state != "drained" && row.state != "draining")
      return wrong(layout, number, fmt::format("unknown state '{}'", printable(row.state)));
    row.reason = trim(line.substr(reason_at, nodes_at - reason_at));
    EXA_ASSIGN(row.hosts, hosts_in(layout, number, trim(line.substr(nodes_at))));
    rows.push_back(std::move(row));
  }
  return rows;
}

Result<std::vector<QueueRow>> parse_queue_list(std::string_view text) {
  static const Layout layout{"flux queue list", {}, {}};
  std::vector<QueueRow> rows;
  std::vector<Token> header;
  int number = 0;
  auto mark = [](std::string_view text_of_mark) -> std::optional<bool> {
    for (std::string_view yes : {"✔", "y", "enabled", "started", "on"})
      if (text_of_mark == yes) return true;
    for (std::string_view no : {"✗", "n", "disabled", "stopped", "off"})
      if (text_of_mark == no) return false;
    return std::nullopt;
  };
  for (std::string_view line : split(text, '\n')) {
    ++number;
    std::vector<Token> tokens = tokens_of(line);
    if (tokens.empty()) continue;
    if (header.empty()) {
      header = std::move(tokens);
      if (header.front().text != "QUEUE") return wrong(layout, number, "does not begin with QUEUE");
      continue;
    }
    if (tokens.size() != header.size()) return wrong(layout, number, "does not fit the header");
    QueueRow row;
    std::string_view name = tokens.front().text;
    if (name.back() == '*') name.remove_suffix(1);  // the default queue
    row.name = name;
    for (size_t i = 1; i < header.size(); ++i) {
      if (header[i].text != "EN" && header[i].text != "ST") continue;
      std::optional<bool> value = mark(tokens[i].text);
      if (!value)
        return wrong(layout, number, fmt::format("'{}' is no mark", printable(tokens[i].text)));
      (header[i].text == "EN" ? row.enabled : row.started) = value;
    }
    rows.push_back(std::move(row));
  }
  if (header.empty()) return wrong(layout, 1, "is empty");
  return rows;
}

// "gpu: Job submission is enabled" or, for the unnamed queue, "Job submission is disabled: reason".
Result<std::vector<QueueRow>> parse_queue_status(std::string_view text) {
  static const Layout layout{"flux queue status", {}, {}};
  struct Sentence {
    std::string_view text;
    std::optional<bool> QueueRow::*field;
    bool value;
  };
  static const std::array sentences{
      Sentence{"Job submission is enabled", &QueueRow::enabled, true},
      Sentence{"Job submission is disabled", &QueueRow::enabled, false},
      Sentence{"Scheduling is started", &QueueRow::started, true},
      Sentence{"Scheduling is stopped", &QueueRow::started, false}};
  std::vector<QueueRow> rows;
  int number = 0;
  for (std::string_view line : split(text, '\n')) {
    ++number;
    line = trim(line);
    auto sentence = std::find_if(sentences.begin(), sentences.end(), [&](const Sentence& one) {
      return line.find(one.text) != std::string_view::npos;
    });
    if (line.empty()) continue;
    if (sentence == sentences.end()) {
      // With -v job counts follow: "0 alloc requests queued".
      if (line.find_first_of("0123456789") == 0) continue;
      return wrong(layout, number, fmt::format("cannot read '{}'", printable(line.substr(0, 80))));
    }
    std::string_view name = line.substr(0, line.find(sentence->text));
    name = trim(name);
    if (!name.empty() && name.back() == ':') name.remove_suffix(1);
    auto row = std::find_if(rows.begin(), rows.end(),
                            [&](const QueueRow& one) { return one.name == name; });
    if (row == rows.end()) row = rows.insert(rows.end(), QueueRow{std::string(name), {}, {}});
    (*row).*(sentence->field) = sentence->value;
  }
  return rows;
}

std::string without_colour(std::string_view text) {
  std::string plain;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\x1b' && at + 1 < text.size() && text[at + 1] == '[') {
      at += 2;
      while (at < text.size() && (text[at] < '@' || text[at] > '~')) ++at;
    } else {
      plain += text[at];
    }
  }
  return plain;
}

}  // namespace exa
