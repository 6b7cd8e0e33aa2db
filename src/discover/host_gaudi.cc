// hl-smi. Names are part numbers (HL-225 is a Gaudi 2, HL-325L a Gaudi 3); memory carries its unit.
#include <fmt/format.h>

#include "base/text.h"
#include "discover/host_gpus.h"

namespace exa {
namespace {

HostGpu gaudi(std::string_view name) {
  HostGpu gpu;
  gpu.family = Family::intel_gaudi;
  if (!is_unknown_word(name)) gpu.reported = trim(name);
  return gpu;
}

Failure wrong(std::string_view tool, int line, std::string_view why) {
  return fail(Code::unreadable_output, fmt::format("{}: line {}: {}", tool, line, why));
}

// The columns that the probe asks for, in its order; noheader leaves nothing else to go by.
enum Column : size_t { kIndex, kUuid, kName, kDriver, kMemoryTotal, kNeeded };

}  // namespace

Result<ToolReport> parse_hl_smi_query(std::string_view text) {
  ToolReport report{"hl-smi -Q", {}, {}, {}};
  int number = 0;
  for (std::string_view line : split(text, '\n')) {
    ++number;
    std::vector<std::string_view> cells = split(line, ',');
    if (trim(line).empty() || trim(cells[0]) == "index") continue;
    if (cells.size() < kNeeded) return wrong(report.tool, number, "has too few columns");
    std::string_view name = trim(cells[kName]);
    if (!name.starts_with("HL-") && !is_unknown_word(name))
      return wrong(report.tool, number,
                   fmt::format("'{}' is no name of a device", printable(name)));
    HostGpu gpu = gaudi(name);
    EXA_ASSIGN(gpu.memory_bytes,
               parse_mib(cells[kMemoryTotal], fmt::format("hl-smi -Q: line {}", number)));
    std::string_view driver = trim(cells[kDriver]);
    if (report.software.empty() && !is_unknown_word(driver))
      report.software.push_back({"habanalabs-driver", std::string(driver)});
    report.gpus.push_back(std::move(gpu));
  }
  if (report.gpus.empty()) return wrong(report.tool, number, "names no device");
  return report;
}

Result<ToolReport> parse_hl_smi_table(std::string_view text) {
  ToolReport report{"hl-smi", {}, {}, {}};
  int number = 0;
  for (std::string_view line : split(text, '\n')) {
    ++number;
    if (size_t at = line.find("Driver Version:"); at != std::string_view::npos) {
      std::string_view version = trim(line.substr(at + 15));
      version = trim(version.substr(0, version.find_first_of(" |")));
      if (!is_unknown_word(version))
        report.software.push_back({"habanalabs-driver", std::string(version)});
    }
    std::vector<std::string_view> cells = split(line, '|');
    if (cells.size() < 4) continue;
    size_t name_at = cells[1].find("HL-");
    if (name_at != std::string_view::npos) {
      std::string_view name = cells[1].substr(name_at);
      HostGpu gpu = gaudi(name.substr(0, name.find(' ')));
      std::string_view bus = trim(cells[2]);
      gpu.address = pci_address(bus.substr(0, bus.find(' ')));
      report.gpus.push_back(std::move(gpu));
    } else if (size_t slash = cells[2].find('/'); slash != std::string_view::npos &&
                                                  !report.gpus.empty() &&
                                                  cells[2].find("MiB") != std::string_view::npos) {
      EXA_ASSIGN(report.gpus.back().memory_bytes,
                 parse_mib(cells[2].substr(slash + 1), fmt::format("hl-smi: line {}", number)));
    }
  }
  if (report.gpus.empty()) return wrong(report.tool, 1, "names no device");
  return report;
}

}  // namespace exa
