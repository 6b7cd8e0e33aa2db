// What nvidia-smi prints for programs (XML, CSV) and what NVML says.
#include <algorithm>

#include <fmt/format.h>

#include "base/json.h"
#include "base/quantity.h"
#include "base/text.h"
#include "discover/host_gpus.h"
#include "discover/host_xml.h"

namespace exa {
namespace {

void add_software(ToolReport& report, std::string_view product, std::string_view version) {
  version = trim(version);
  if (!is_unknown_word(version))
    report.software.push_back({std::string(product), std::string(version)});
}

// A GPU as any of the sources words it, before the words are understood.
struct Words {
  std::string_view name, memory, address, mig, compute_mode;
};

Result<HostGpu> gpu_of(const Words& words, std::string_view what) {
  HostGpu gpu;
  gpu.family = Family::nvidia;
  if (!is_unknown_word(words.name)) gpu.reported = trim(words.name);
  EXA_ASSIGN(gpu.memory_bytes, parse_mib(words.memory, what));
  gpu.address = pci_address(words.address);
  std::string mig = lower(trim(words.mig));
  gpu.mig = mig == "enabled";
  for (std::string_view word :
       {words.name, words.memory, words.address, words.mig, words.compute_mode})
    if (says_lost(word)) gpu.fault = "GPU is lost";
  if (!gpu.fault.empty()) return gpu;
  if (mig.find("err!") != std::string::npos || mig.find("unknown error") != std::string::npos)
    gpu.fault = "the MIG mode could not be read: " + std::string(trim(words.mig));
  else if (mig != "enabled" && mig != "disabled" && !is_unknown_word(mig))
    return fail(Code::unreadable_output,
                fmt::format("{}: '{}' is no MIG mode", what, printable(words.mig)));
  // In this mode no process can open the device.
  if (lower(trim(words.compute_mode)) == "prohibited") gpu.fault = "compute mode is Prohibited";
  return gpu;
}

Result<std::optional<int64_t>> number(std::string_view text, std::string_view what) {
  if (is_unknown_word(text)) return std::nullopt;
  auto value = parse_count(trim(text), what);
  if (!value)
    return fail(Code::unreadable_output,
                fmt::format("{}: '{}' is no number", what, printable(text.substr(0, 40))));
  return std::optional<int64_t>(*value);
}

Result<MigRow> mig_row_of(const XmlElement& device) {
  constexpr std::string_view kWhat = "nvidia-smi -q -x: mig_device";
  MigRow row;
  const std::string shared = "device_attributes/shared/";
  EXA_ASSIGN(row.gpu_instance, number(device.text_of("gpu_instance_id"), kWhat));
  EXA_ASSIGN(row.multiprocessors, number(device.text_of(shared + "multiprocessor_count"), kWhat));
  EXA_ASSIGN(row.copy_engines, number(device.text_of(shared + "copy_engine_count"), kWhat));
  EXA_ASSIGN(row.ofa_engines, number(device.text_of(shared + "ofa_count"), kWhat));
  EXA_ASSIGN(row.memory_bytes, parse_mib(device.text_of("fb_memory_usage/total"), kWhat));
  return row;
}

Result<HostGpu> gpu_of(const XmlElement& element, size_t index) {
  std::string what = fmt::format("nvidia-smi -q -x: gpu {}", index);
  if (element.child("product_name") == nullptr)
    return fail(Code::unreadable_output, what + " has no product_name");
  EXA_ASSIGN(HostGpu gpu,
             gpu_of({element.text_of("product_name"), element.text_of("fb_memory_usage/total"),
                     element.attribute("id"), element.text_of("mig_mode/current_mig"),
                     element.text_of("compute_mode")},
                    what));
  std::vector<MigRow> rows;
  if (const XmlElement* devices = element.child("mig_devices"); devices != nullptr && gpu.mig)
    for (const XmlElement& device : devices->children) {
      if (device.name != "mig_device") continue;
      EXA_ASSIGN(MigRow row, mig_row_of(device));
      rows.push_back(std::move(row));
    }
  gpu.instances = mig_instances(gpu.reported, gpu.memory_bytes, rows);
  return gpu;
}

// ---- CSV --------------------------------------------------------------------------------------

std::vector<std::string_view> csv_cells(std::string_view line) {
  std::vector<std::string_view> cells = split(line, ',');
  for (std::string_view& cell : cells) cell = trim(cell);
  return cells;
}

}  // namespace

Result<ToolReport> parse_nvidia_xml(std::string_view text) {
  ToolReport report{"nvidia-smi -q -x", {}, {}, {}};
  EXA_ASSIGN(XmlElement log, parse_xml(text, report.tool));
  if (log.name != "nvidia_smi_log")
    return fail(Code::unreadable_output,
                fmt::format("{}: <{}> is not nvidia_smi_log", report.tool, printable(log.name)));
  add_software(report, "nvidia-driver", log.text_of("driver_version"));
  add_software(report, "cuda", log.text_of("cuda_version"));
  for (const XmlElement& element : log.children) {
    if (element.name != "gpu") continue;
    EXA_ASSIGN(HostGpu gpu, gpu_of(element, report.gpus.size()));
    report.gpus.push_back(std::move(gpu));
  }
  EXA_ASSIGN(auto attached, number(log.text_of("attached_gpus"), report.tool + ": attached_gpus"));
  auto described = static_cast<int64_t>(report.gpus.size());
  report.some_undescribed = attached && *attached > described;
  if (report.some_undescribed)
    report.unread.push_back(
        {report.tool, fmt::format("{} GPUs are attached and {} described", *attached, described)});
  return report;
}

Result<ToolReport> parse_nvidia_query(std::string_view text) {
  ToolReport report{"nvidia-smi --query-gpu", {}, {}, {}};
  std::vector<std::string_view> header;
  std::string driver;
  int line_number = 0;
  for (std::string_view line : split(text, '\n')) {
    ++line_number;
    if (trim(line).empty()) continue;
    if (header.empty()) {
      header = csv_cells(line);
      if (std::find(header.begin(), header.end(), "name") == header.end())
        return fail(Code::unreadable_output,
                    report.tool + ": line 1: the header has no column 'name'");
      continue;
    }
    std::string what = fmt::format("{}: line {}", report.tool, line_number);
    if (says_lost(line) && line.find(',') == std::string_view::npos) {
      report.gpus.push_back({Family::nvidia, "", {}, "", "GPU is lost", "", false, {}});
      continue;
    }
    std::vector<std::string_view> cells = csv_cells(line);
    if (cells.size() != header.size())
      return fail(Code::unreadable_output, what + " has another number of fields than the header");
    auto cell = [&](std::string_view column) -> std::string_view {
      for (size_t i = 0; i < header.size(); ++i)
        if (header[i].substr(0, header[i].find(" [")) == column) return cells[i];
      return "";
    };
    // With nounits the unit stands in the header only.
    std::string memory(cell("memory.total"));
    if (!memory.empty() && memory.find_first_not_of("0123456789") == std::string::npos)
      memory += " MiB";
    EXA_ASSIGN(HostGpu gpu, gpu_of({cell("name"), memory, cell("pci.bus_id"),
                                    cell("mig.mode.current"), cell("compute_mode")},
                                   what));
    gpu.instances_listed = false;  // a query has the mode and no column for instances
    if (driver.empty()) driver = cell("driver_version");
    report.gpus.push_back(std::move(gpu));
  }
  if (header.empty()) return fail(Code::unreadable_output, report.tool + ": is empty");
  add_software(report, "nvidia-driver", driver);
  return report;
}

Result<ToolReport> parse_nvml(std::string_view text) {
  ToolReport report{"nvml", {}, {}, {}};
  auto document = parse_json(text, report.tool, tool_output_limits());
  auto unreadable = [&](std::string_view why) {
    return fail(Code::unreadable_output, fmt::format("nvml: {}", why));
  };
  if (!document) return unreadable(document.error().message);
  const json::value* gpus = find(*document, "gpus");
  if (gpus == nullptr || !gpus->is_array()) return unreadable("/gpus is no list");
  add_software(report, "nvidia-driver", text_or(*document, "driver_version", ""));
  add_software(report, "cuda", text_or(*document, "cuda_version", ""));
  auto whole = [](const json::value& object, std::string_view key) -> std::optional<int64_t> {
    const json::value* value = find(object, key);
    if (value == nullptr || !value->is_int64() || value->get_int64() < 0) return std::nullopt;
    return value->get_int64();
  };
  for (const json::value& entry : gpus->get_array()) {
    std::string_view error = text_or(entry, "error", "");
    EXA_ASSIGN(HostGpu gpu,
               gpu_of({text_or(entry, "name", ""), "", text_or(entry, "bus_id", ""),
                       text_or(entry, "mig_mode", ""), text_or(entry, "compute_mode", "")},
                      "nvml"));
    gpu.memory_bytes = whole(entry, "memory_bytes");
    if (!error.empty()) gpu.fault = error;
    std::vector<MigRow> rows;
    if (const json::value* devices = find(entry, "mig_devices");
        devices != nullptr && devices->is_array())
      for (const json::value& device : devices->get_array()) {
        MigRow row{whole(device, "gpu_instance"), whole(device, "multiprocessors"),
                   whole(device, "copy_engines"), whole(device, "ofa_engines"),
                   whole(device, "memory_bytes"), ""};
        // "NVIDIA A100-SXM4-40GB MIG 3g.20gb"
        std::string_view name = text_or(device, "name", "");
        if (size_t mig = name.find(" MIG "); mig != std::string_view::npos)
          row.profile = name.substr(mig + 5);
        rows.push_back(std::move(row));
      }
    gpu.instances = mig_instances(gpu.reported, gpu.memory_bytes, rows);
    report.gpus.push_back(std::move(gpu));
  }
  return report;
}

}  // namespace exa
