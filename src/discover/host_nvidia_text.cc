// What nvidia-smi prints for people: the default table, -q, -L and topo -m.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/quantity.h"
#include "base/text.h"
#include "discover/host_gpus.h"

namespace exa {
namespace {

Failure wrong(std::string_view tool, int line, std::string_view why) {
  return fail(Code::unreadable_output, fmt::format("{}: line {}: {}", tool, line, why));
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::string_view word : split(text, ' '))
    if (!trim(word).empty()) words.push_back(trim(word));
  return words;
}

std::string_view after(std::string_view line, std::string_view label) {
  size_t at = line.find(label);
  return at == std::string_view::npos ? "" : line.substr(at + label.size());
}

void add_software(ToolReport& report, std::string_view product, std::string_view version) {
  std::vector<std::string_view> words = words_of(version);
  if (!words.empty() && !is_unknown_word(words[0]))
    report.software.push_back({std::string(product), std::string(words[0])});
}

HostGpu nvidia_gpu(std::string_view name) {
  HostGpu gpu;
  gpu.family = Family::nvidia;
  if (!is_unknown_word(name)) gpu.reported = trim(name);
  if (says_lost(name)) gpu.fault = "GPU is lost";
  return gpu;
}

// "59MiB /  81559MiB": the second number.
Result<std::optional<int64_t>> memory_total(std::string_view cell, std::string_view what) {
  size_t slash = cell.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  return parse_mib(cell.substr(slash + 1), what);
}

// ---- The default table ------------------------------------------------------------------------

struct TableGpu {
  HostGpu gpu;
  std::vector<MigRow> rows;
};

// A GPU takes two or three lines: name and bus; memory and compute mode; MIG mode.
Result<void> table_line(std::vector<std::string_view>& cells, int line,
                        std::map<int64_t, TableGpu>& gpus, std::optional<int64_t>& current) {
  std::vector<std::string_view> left = words_of(cells[0]);
  if (left.size() >= 2 && parse_count(left[0], "index")) {
    current = *parse_count(left[0], "index");
    if (gpus.contains(*current)) return wrong("nvidia-smi", line, "the same GPU stands twice");
    if (left.back() == "On" || left.back() == "Off") left.pop_back();
    std::string name;
    for (size_t i = 1; i < left.size(); ++i) name += (i > 1 ? " " : "") + std::string(left[i]);
    HostGpu gpu = nvidia_gpu(name);
    // A long name is cut: "NVIDIA H100 80GB HBM3 ..." names only what stands before.
    if (gpu.reported.ends_with("...")) gpu.remark = "the table cut the name off";
    std::vector<std::string_view> bus = words_of(cells[1]);
    gpu.address = bus.empty() ? "" : pci_address(bus[0]);
    gpus[*current].gpu = std::move(gpu);
  } else if (current && cells[1].find("MiB") != std::string_view::npos) {
    HostGpu& gpu = gpus[*current].gpu;
    EXA_ASSIGN(gpu.memory_bytes, memory_total(cells[1], fmt::format("nvidia-smi: line {}", line)));
    if (cells[2].find("Prohibited") != std::string_view::npos ||
        cells[2].find("Prohi") != std::string_view::npos)
      gpu.fault = "compute mode is Prohibited";
  } else if (current && trim(cells[0]).empty() && trim(cells[2]) == "Enabled") {
    gpus[*current].gpu.mig = true;
  }
  for (std::string_view cell : cells)
    if (current && says_lost(cell)) gpus[*current].gpu.fault = "GPU is lost";
  if (current && left.size() > 1 && left.back() == "ERR!")
    gpus[*current].gpu.fault = "ERR! in nvidia-smi";
  return {};
}

// "|  0    2   1   1  |  22MiB / 71424MiB  | 32  0 |  3   0  3  0  3 |": GPU GI CI device, memory,
// SMs of the compute instance, then engines of the GPU instance (CE ENC DEC OFA JPG).
Result<void> mig_line(std::vector<std::string_view>& cells, int line,
                      std::map<int64_t, TableGpu>& gpus) {
  std::vector<std::string_view> ids = words_of(cells[0]);
  // The second line of a device (BAR1) has no ids, and the header has words.
  if (ids.size() != 4 || ids[0] == "GPU") return {};
  std::string what = fmt::format("nvidia-smi: line {}", line);
  auto number = [&](std::string_view cell, size_t index) -> std::optional<int64_t> {
    std::vector<std::string_view> words = words_of(cell);
    if (index >= words.size()) return std::nullopt;
    auto value = parse_count(words[index], "count");
    return value ? std::optional<int64_t>(*value) : std::nullopt;
  };
  std::optional<int64_t> gpu = number(cells[0], 0);
  MigRow row{number(cells[0], 1), number(cells[2], 0), std::nullopt,
             std::nullopt,        std::nullopt,        ""};
  if (!gpu || !gpus.contains(*gpu) || !row.gpu_instance)
    return wrong("nvidia-smi", line, "is no MIG device");
  EXA_ASSIGN(row.memory_bytes, memory_total(cells[1], what));
  if (cells.size() > 3) {
    row.copy_engines = number(cells[3], 0);
    row.ofa_engines = number(cells[3], 3);
  }
  gpus[*gpu].rows.push_back(std::move(row));
  return {};
}

std::vector<std::string_view> table_cells(std::string_view line) {
  line = trim(line);
  if (line.size() < 2 || line.front() != '|' || line.back() != '|') return {};
  return split(line.substr(1, line.size() - 2), '|');
}

}  // namespace

Result<ToolReport> parse_nvidia_table(std::string_view text) {
  ToolReport report{"nvidia-smi", {}, {}, {}};
  std::map<int64_t, TableGpu> gpus;
  std::optional<int64_t> current;
  enum class Part { head, devices, instances, processes } part = Part::head;
  int number = 0;
  for (std::string_view line : split(text, '\n')) {
    ++number;
    if (line.find("Driver Version:") != std::string_view::npos) {
      add_software(report, "nvidia-driver", after(line, "Driver Version:"));
      add_software(report, "cuda", after(line, "CUDA Version:"));
    }
    if (line.find("|====") != std::string_view::npos && part == Part::head) part = Part::devices;
    if (line.find("MIG devices:") != std::string_view::npos) part = Part::instances;
    if (line.find("Processes:") != std::string_view::npos) part = Part::processes;
    std::vector<std::string_view> cells = table_cells(line);
    if (cells.size() < 3) continue;
    if (part == Part::devices) EXA_TRY(table_line(cells, number, gpus, current));
    if (part == Part::instances) EXA_TRY(mig_line(cells, number, gpus));
  }
  if (part == Part::head) return wrong(report.tool, 1, "is no table of GPUs");
  for (auto& [index, one] : gpus) {
    one.gpu.instances = mig_instances(one.gpu.reported, one.gpu.memory_bytes, one.rows);
    report.gpus.push_back(std::move(one.gpu));
  }
  return report;
}

// -q indents by four blanks per level: "GPU 00000000:00:09.0" begins a GPU, "    MIG Device" an
// instance.
Result<ToolReport> parse_nvidia_details(std::string_view text) {
  ToolReport report{"nvidia-smi -q", {}, {}, {}};
  std::vector<std::vector<MigRow>> rows;
  std::string section;  // the last label at one level of indentation
  std::optional<int64_t> attached;
  bool fb_seen_in_mig = false;
  int number = 0;
  for (std::string_view line : split(text, '\n')) {
    ++number;
    std::string what = fmt::format("{}: line {}", report.tool, number);
    size_t indent = std::min(line.find_first_not_of(' '), line.size());
    size_t colon = line.find(" : ");
    std::string_view label = trim(line.substr(0, colon));
    std::string_view value = colon == std::string_view::npos ? "" : trim(line.substr(colon + 3));
    if (indent == 0 && label == "Driver Version") add_software(report, "nvidia-driver", value);
    if (indent == 0 && label == "CUDA Version") add_software(report, "cuda", value);
    if (indent == 0 && label == "Attached GPUs") {
      EXA_ASSIGN(attached, parse_count(value, what));
    }
    if (indent == 0 && label.starts_with("GPU ")) {
      report.gpus.push_back(nvidia_gpu(""));
      report.gpus.back().address = pci_address(label.substr(4));
      rows.emplace_back();
      section.clear();
    }
    if (report.gpus.empty() || trim(line).empty()) continue;
    HostGpu& gpu = report.gpus.back();
    if (says_lost(line)) gpu.fault = "GPU is lost";
    if (indent == 4) section = label;
    if (indent == 4 && label == "MIG Device") {
      rows.back().emplace_back();
      fb_seen_in_mig = false;
    }
    if (indent == 4 && label == "Product Name" && !is_unknown_word(value)) gpu.reported = value;
    if (indent == 4 && label == "Compute Mode" && value == "Prohibited")
      gpu.fault = "compute mode is Prohibited";
    if (section == "MIG Mode" && label == "Current") gpu.mig = value == "Enabled";
    if (section == "FB Memory Usage" && label == "Total") {
      EXA_ASSIGN(gpu.memory_bytes, parse_mib(value, what));
    }
    if (section != "MIG Device" || rows.back().empty()) continue;
    MigRow& row = rows.back().back();
    auto take = [&](std::string_view wanted, std::optional<int64_t>& into) {
      if (label != wanted) return;
      if (auto count = parse_count(value, what)) into = *count;
    };
    take("GPU Instance ID", row.gpu_instance);
    take("Multiprocessor count", row.multiprocessors);
    take("Copy Engine count", row.copy_engines);
    take("OFA count", row.ofa_engines);
    if (label.ends_with("FB Memory Usage")) fb_seen_in_mig = true;
    if (label == "Total" && fb_seen_in_mig && !row.memory_bytes) {
      EXA_ASSIGN(row.memory_bytes, parse_mib(value, what));
    }
  }
  for (size_t i = 0; i < report.gpus.size(); ++i)
    report.gpus[i].instances =
        mig_instances(report.gpus[i].reported, report.gpus[i].memory_bytes, rows[i]);
  if (!attached && report.gpus.empty())
    return wrong(report.tool, 1, "names no GPU and no number of them");
  report.some_undescribed = attached && *attached > static_cast<int64_t>(report.gpus.size());
  if (report.some_undescribed)
    report.unread.push_back({report.tool, fmt::format("{} GPUs are attached and {} described",
                                                      *attached, report.gpus.size())});
  return report;
}

Result<ToolReport> parse_nvidia_list(std::string_view text) {
  ToolReport report{"nvidia-smi -L", {}, {}, {}};
  std::vector<std::vector<MigRow>> rows;
  int number = 0;
  for (std::string_view line : split(text, '\n')) {
    ++number;
    std::string_view words = trim(line);
    if (words.empty() || words.starts_with("WARNING") || words.starts_with("No devices")) continue;
    if (says_lost(words)) {
      report.gpus.push_back(nvidia_gpu("GPU is lost"));
      rows.emplace_back();
    } else if (words.starts_with("GPU ") && words.find(": ") != std::string_view::npos) {
      std::string_view name = words.substr(words.find(": ") + 2);
      report.gpus.push_back(nvidia_gpu(name.substr(0, name.rfind(" (UUID"))));
      rows.emplace_back();
    } else if (words.starts_with("MIG ") && !rows.empty()) {
      std::vector<std::string_view> parts = words_of(words);
      if (parts.size() < 3 || parts[2] != "Device")
        return wrong(report.tool, number, "is no MIG device");
      MigRow row;
      row.profile = parts[1];
      rows.back().push_back(std::move(row));
      report.gpus.back().mig = true;
    } else {
      return wrong(report.tool, number,
                   fmt::format("cannot read '{}'", printable(words.substr(0, 80))));
    }
  }
  for (size_t i = 0; i < report.gpus.size(); ++i)
    report.gpus[i].instances = mig_instances(report.gpus[i].reported, {}, rows[i]);
  return report;
}

// The matrix has a row and a column per GPU, and says nothing else about them.
Result<ToolReport> parse_nvidia_topology(std::string_view text) {
  ToolReport report{"nvidia-smi topo -m", {}, {}, {}};
  for (std::string_view line : split(text, '\n')) {
    std::string_view first = line.substr(0, std::min(line.find('\t'), line.size()));
    if (!first.starts_with("GPU") || first.size() == line.size()) continue;
    if (!parse_count(trim(first.substr(3)), "index")) continue;
    report.gpus.push_back(nvidia_gpu(""));
    report.gpus.back().instances_listed = false;
  }
  if (report.gpus.empty()) return wrong(report.tool, 1, "has no row of a GPU");
  report.unread.push_back({report.tool, "says how many GPUs there are, and no model"});
  return report;
}

}  // namespace exa
