// amd-smi and rocm-smi. Both change their keys from release to release: keys are compared without
// regard to case, and amd-smi's list is taken bare (ROCm 6) or inside "gpu_data" (ROCm 7).
#include <algorithm>

#include <fmt/format.h>

#include "base/json.h"
#include "base/quantity.h"
#include "base/text.h"
#include "discover/host_gpus.h"

namespace exa {
namespace {

// Warnings stand before the document: "WARNING: AMD GPU device(s) is/are in a low-power state".
std::string_view from_document(std::string_view text, std::string_view opening) {
  if (!trim(text).empty() && opening.find(trim(text).front()) != std::string_view::npos)
    return text;
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = trim(text.substr(at, end - at));
    if (!line.empty() && opening.find(line.front()) != std::string_view::npos)
      return text.substr(at);
    at = end + 1;
  }
  return text;
}

Result<json::value> document_of(std::string_view text, std::string_view tool,
                                std::string_view opening) {
  auto document = parse_json(from_document(text, opening), tool, tool_output_limits());
  if (document) return std::move(*document);
  return fail(Code::unreadable_output, fmt::format("{}: {}", tool, document.error().message));
}

const json::value* find_any_case(const json::value& object, std::string_view key) {
  if (!object.is_object()) return nullptr;
  for (const auto& [name, value] : object.get_object())
    if (lower(name) == lower(key)) return &value;
  return nullptr;
}

const json::value* walk(const json::value& from, std::initializer_list<std::string_view> path) {
  const json::value* at = &from;
  for (std::string_view key : path)
    if (at != nullptr) at = find_any_case(*at, key);
  return at;
}

std::string_view known_text(const json::value* value) {
  if (value == nullptr || !value->is_string() || is_unknown_word(value->get_string())) return "";
  return trim(std::string_view(value->get_string()));
}

// {"value": 196592, "unit": "MB"}: mebibytes whatever the unit says (an MI300X has 192 GiB).
Result<std::optional<int64_t>> vram_of(const json::value& entry, std::string_view what) {
  const json::value* value = walk(entry, {"vram", "size", "value"});
  if (value == nullptr) value = walk(entry, {"vram", "size"});
  if (value == nullptr || value->is_null() || !known_text(value).empty()) {
    if (known_text(value).empty()) return std::nullopt;
    std::string_view words = known_text(value);
    return parse_mib(std::string(words.substr(0, words.find(' '))) + " MiB", what);
  }
  if (value->is_string()) return std::nullopt;  // an unknown word
  if (!value->is_int64() || value->get_int64() < 0 || value->get_int64() > (int64_t{1} << 40))
    return fail(Code::unreadable_output, fmt::format("{}: vram size is no number of MB", what));
  std::string unit = lower(known_text(walk(entry, {"vram", "size", "unit"})));
  if (!unit.empty() && unit != "mb" && unit != "mib")
    return fail(Code::unreadable_output,
                fmt::format("{}: vram size in '{}'", what, printable(unit)));
  return std::optional<int64_t>(value->get_int64() * kMiB);
}

void add_driver(ToolReport& report, std::string_view version) {
  // A kernel's banner ("Linuxversion6.14…") stands there when the driver has no version of its own.
  bool is_version = !version.empty() && version.front() >= '0' && version.front() <= '9';
  if (is_version && report.software.empty())
    report.software.push_back({"amdgpu-driver", std::string(version)});
}

// One PCI id covers both dies' cards; each die is a device of its own to every tool.
void remark_on_dies(HostGpu& gpu) {
  if (lower(gpu.reported).find("mi250") != std::string::npos)
    gpu.remark = "two of these devices are one card";
}

}  // namespace

Result<ToolReport> parse_amd_smi(std::string_view text) {
  ToolReport report{"amd-smi static --json", {}, {}, {}};
  EXA_ASSIGN(json::value document, document_of(text, report.tool, "[{"));
  const json::value* list = &document;
  if (document.is_object()) list = find_any_case(document, "gpu_data");
  if (list == nullptr || !list->is_array())
    return fail(Code::unreadable_output, report.tool + ": is no list of GPUs");
  for (size_t i = 0; i < list->get_array().size(); ++i) {
    const json::value& entry = list->get_array()[i];
    std::string what = fmt::format("{}: entry {}", report.tool, i);
    if (find_any_case(entry, "gpu") == nullptr || find_any_case(entry, "asic") == nullptr)
      return fail(Code::unreadable_output, what + " is no GPU");
    HostGpu gpu;
    gpu.family = Family::amd;
    gpu.reported = known_text(walk(entry, {"asic", "market_name"}));
    if (gpu.reported.empty()) gpu.reported = known_text(walk(entry, {"board", "product_name"}));
    gpu.address = pci_address(known_text(walk(entry, {"bus", "bdf"})));
    EXA_ASSIGN(gpu.memory_bytes, vram_of(entry, what));
    remark_on_dies(gpu);
    // In a partitioned mode (DPX, QPX, CPX) an entry is a part of a card and is not offered as a
    // whole.
    std::string mode(known_text(walk(entry, {"partition", "compute_partition"})));
    if (!mode.empty() && lower(mode) != "spx")
      gpu.fault =
          fmt::format("compute partition mode {}: each entry is a part of a card", printable(mode));
    report.gpus.push_back(std::move(gpu));
    add_driver(report, known_text(walk(entry, {"driver", "version"})));
  }
  return report;
}

Result<ToolReport> parse_rocm_smi(std::string_view text) {
  ToolReport report{"rocm-smi --json", {}, {}, {}};
  EXA_ASSIGN(json::value document, document_of(text, report.tool, "{"));
  if (!document.is_object()) return fail(Code::unreadable_output, report.tool + ": is no object");
  for (const auto& [key, card] : document.get_object()) {
    if (lower(key) == "system") {
      add_driver(report, known_text(find_any_case(card, "driver version")));
      continue;
    }
    std::string what = fmt::format("{}: {}", report.tool, printable(key));
    if (!lower(key).starts_with("card") || !card.is_object() || !parse_count(key.substr(4), "card"))
      return fail(Code::unreadable_output, what + " is no card");
    HostGpu gpu;
    gpu.family = Family::amd;
    for (std::string_view name : {"card series", "device name", "card model"}) {
      std::string_view words = known_text(find_any_case(card, name));
      if (!words.empty() && !words.starts_with("0x") && gpu.reported.empty()) gpu.reported = words;
    }
    gpu.address = pci_address(known_text(find_any_case(card, "pci bus")));
    if (std::string_view bytes = known_text(find_any_case(card, "vram total memory (b)"));
        !bytes.empty()) {
      auto count = parse_count(bytes, "vram");
      if (!count) return fail(Code::unreadable_output, what + ": VRAM Total Memory is no number");
      gpu.memory_bytes = *count;
    }
    remark_on_dies(gpu);
    report.gpus.push_back(std::move(gpu));
  }
  return report;
}

}  // namespace exa
