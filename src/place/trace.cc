#include "place/trace.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/quantity.h"
#include "base/text.h"

namespace exa {
namespace {

constexpr size_t kMostProblems = 200;

// The rows of one file by column name, and what is wrong with them.
class Table {
 public:
  Table(std::string_view text, std::string_view what, std::span<const std::string_view> required)
      : what_(what) {
    size_t number = 0;
    for (std::string_view line : split(text, '\n')) {
      ++number;
      if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
      if (number == 1) {
        read_header(line, required);
        continue;
      }
      if (!line.empty()) rows_.push_back({number, line});
    }
    if (rows_.empty() && problems_.empty()) wrong(number, "no rows below the header");
  }

  bool readable() const { return columns_read_; }

  // Calls row(cells) for each row with the right number of cells.
  template <typename Row>
  void each(Row&& row) {
    for (const auto& [number, line] : rows_) {
      line_ = number;
      cells_ = split(line, ',');
      if (line.find('"') != std::string_view::npos)
        wrong("quoted cells are not read");
      else if (cells_.size() != header_.size())
        wrong(fmt::format("{} cells, the header has {}", cells_.size(), header_.size()));
      else
        row();
    }
  }

  std::string_view cell(std::string_view column) const {
    const auto found = std::ranges::find(header_, column);
    return found == header_.end() ? std::string_view()
                                  : cells_[static_cast<size_t>(found - header_.begin())];
  }

  int64_t amount(std::string_view column, int64_t most) {
    const Result<int64_t> read = parse_count(cell(column), column);
    if (read && *read <= most) return *read;
    wrong(read ? fmt::format("{} {} is more than {}", column, *read, most) : read.error().message);
    return 0;
  }

  std::string text(std::string_view column) {
    const std::string_view value = cell(column);
    if (value.empty()) wrong(fmt::format("{} is empty", column));
    if (!is_valid_utf8(value)) wrong(fmt::format("{} is not UTF-8", column));
    return std::string(value);
  }

  void wrong(std::string message) { wrong(line_, std::move(message)); }
  // Something is wrong with the row at hand: what follows from it need not be said.
  bool row_is_bad() const { return bad_line_ == line_; }

  // Nothing is wrong with the rows read so far, or the error that lists all of it.
  std::optional<Error> error() {
    if (problems_.empty()) return std::nullopt;
    if (dropped_ > 0)
      problems_.push_back({std::string(what_), fmt::format("and {} more problems", dropped_), ""});
    return invalid(what_, std::move(problems_));
  }

 private:
  struct Row {
    size_t number;
    std::string_view line;
  };

  void read_header(std::string_view line, std::span<const std::string_view> required) {
    for (const std::string_view name : split(line, ',')) {
      if (std::ranges::find(header_, name) != header_.end())
        wrong(1, fmt::format("column {} stands twice", printable(name)));
      header_.push_back(name);
    }
    columns_read_ = true;
    const std::vector<std::string> names(header_.begin(), header_.end());
    for (const std::string_view name : required) {
      if (std::ranges::find(header_, name) != header_.end()) continue;
      columns_read_ = false;
      wrong(1, fmt::format("no column {}", name), did_you_mean(name, names));
    }
  }

  void wrong(size_t line, std::string message, std::string suggestion = {}) {
    bad_line_ = line;
    if (problems_.size() >= kMostProblems) {
      ++dropped_;
      return;
    }
    problems_.push_back(
        {fmt::format("{} line {}", what_, line), std::move(message), std::move(suggestion)});
  }

  std::string_view what_;
  std::vector<std::string_view> header_;
  bool columns_read_ = false;
  std::vector<Row> rows_;
  size_t line_ = 1;
  size_t bad_line_ = 0;
  std::vector<std::string_view> cells_;
  std::vector<Problem> problems_;
  size_t dropped_ = 0;
};

DeviceAsk ask_of(Table& table) {
  DeviceAsk ask;
  ask.cpu_milli = table.amount("cpu_milli", kMostCpuMilli);
  ask.memory_bytes = table.amount("memory_mib", kMostMemoryBytes / kMiB) * kMiB;
  ask.devices = table.amount("num_gpu", kMostCards);
  const int64_t share = table.amount("gpu_milli", kMostCpuMilli);
  if (table.row_is_bad()) return ask;
  if (ask.devices == 0 && share != 0)
    table.wrong(fmt::format("gpu_milli {} with num_gpu 0", share));
  if (ask.devices > 0 && (share < 1 || share > kWholeDevice))
    table.wrong(fmt::format("gpu_milli {}: 1 to 1000 thousandths of each GPU", share));
  if (ask.devices > 1 && share >= 1 && share < kWholeDevice)
    table.wrong(fmt::format("gpu_milli {} with num_gpu {}: only one GPU can be shared", share,
                            ask.devices));
  if (ask.devices > 0) ask.share_milli = share;
  const std::string_view models = table.cell("gpu_spec");
  if (models.empty()) return ask;
  for (const std::string_view model : split(models, '|')) {
    if (model.empty() || !is_valid_utf8(model))
      table.wrong(fmt::format("gpu_spec {}: an empty or unreadable model", printable(models)));
    ask.models.emplace_back(model);
  }
  // an "or" list is a set: openb repeats some models, and the order means nothing
  std::ranges::sort(ask.models);
  ask.models.erase(std::unique(ask.models.begin(), ask.models.end()), ask.models.end());
  return ask;
}

}  // namespace

Result<std::vector<DeviceNode>> read_trace_nodes(std::string_view text, std::string_view what) {
  static constexpr std::string_view kColumns[] = {"sn", "cpu_milli", "memory_mib", "gpu", "model"};
  Table table(text, what, kColumns);
  std::vector<DeviceNode> nodes;
  std::set<std::string, std::less<>> names;
  if (table.readable())
    table.each([&] {
      DeviceNode node;
      node.name = table.text("sn");
      if (!names.insert(node.name).second)
        table.wrong(fmt::format("node {} stands twice", printable(node.name)));
      node.cpu_milli = node.cpu_free_milli = table.amount("cpu_milli", kMostCpuMilli);
      node.memory_bytes = node.memory_free_bytes =
          table.amount("memory_mib", kMostMemoryBytes / kMiB) * kMiB;
      node.cards = table.amount("gpu", kMostCards);
      node.model = std::string(table.cell("model"));
      if (!is_valid_utf8(node.model)) table.wrong("model is not UTF-8");
      if (node.cards == 0 && !node.model.empty())
        table.wrong(fmt::format("model {} but no GPU", printable(node.model)));
      nodes.push_back(std::move(node));
    });
  if (std::optional<Error> error = table.error()) return fail(std::move(*error));
  return nodes;
}

Result<std::vector<TracePod>> read_trace_pods(std::string_view text, std::string_view what) {
  static constexpr std::string_view kColumns[] = {"name", "cpu_milli", "memory_mib", "num_gpu",
                                                  "gpu_milli"};
  Table table(text, what, kColumns);
  std::vector<TracePod> pods;
  std::set<std::string, std::less<>> names;
  if (table.readable())
    table.each([&] {
      TracePod pod{table.text("name"), ask_of(table)};
      if (!names.insert(pod.name).second)
        table.wrong(fmt::format("task {} stands twice", printable(pod.name)));
      pods.push_back(std::move(pod));
    });
  if (std::optional<Error> error = table.error()) return fail(std::move(*error));
  return pods;
}

bool is_usage_export(std::string_view text) {
  return text.starts_with("id,project,workload,");
}

Result<std::vector<TracePod>> read_usage_export(std::string_view text, std::string_view what) {
  static constexpr std::string_view kColumns[] = {"id",    "workload", "device",
                                                  "model", "devices",  "held_milli"};
  Table table(text, what, kColumns);
  std::vector<TracePod> pods;
  if (table.readable())
    table.each([&] {
      TracePod pod{table.text("id"), {}};
      const int64_t devices = table.amount("devices", 1'000'000);
      if (table.cell("device") == "cpu") {
        pod.ask.cpu_milli = devices * 1000;
      } else {
        pod.ask.devices = table.amount("devices", kMostCards);
        pod.ask.share_milli = table.amount("held_milli", kWholeDevice);
        if (pod.ask.share_milli < 1) table.wrong("held_milli 0: nothing of a device was held");
        if (!table.cell("model").empty()) pod.ask.models = {std::string(table.cell("model"))};
      }
      pods.push_back(std::move(pod));
    });
  if (std::optional<Error> error = table.error()) return fail(std::move(*error));
  return pods;
}

Result<std::vector<TracePod>> read_arrivals(std::string_view text, std::string_view what) {
  static constexpr std::string_view kColumns[] = {"seq",     "pod",       "cpu_milli", "memory_mib",
                                                  "num_gpu", "gpu_milli", "gpu_spec"};
  Table table(text, what, kColumns);
  std::vector<TracePod> pods;
  int64_t last = -1;
  if (table.readable())
    table.each([&] {
      const int64_t sequence = table.amount("seq", INT64_MAX);
      if (sequence <= last)
        table.wrong(fmt::format("seq {} after {}: it must ascend", sequence, last));
      last = sequence;
      pods.push_back({table.text("pod"), ask_of(table)});
    });
  if (std::optional<Error> error = table.error()) return fail(std::move(*error));
  return pods;
}

}  // namespace exa
