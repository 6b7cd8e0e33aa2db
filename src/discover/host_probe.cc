// Asking one machine, and recognising what its tools printed.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "discover/host_pci.h"
#include "discover/host_system.h"
#include "discover/nvml.h"
#include "discover/probe.h"
#include "discover/readers.h"

namespace exa {
namespace {

constexpr int kNotFound = 127;
constexpr std::string_view kPciRoot = "/sys/bus/pci/devices/";

// ---- Files ------------------------------------------------------------------------------------

struct FileQuestion {
  std::string_view name;
  std::string_view path;
  bool needed;  // its absence is worth saying
};
constexpr std::array kFiles = {
    FileQuestion{"hostname", "/proc/sys/kernel/hostname", true},
    FileQuestion{"/proc/cpuinfo", "/proc/cpuinfo", true},
    FileQuestion{"/proc/meminfo", "/proc/meminfo", true},
    FileQuestion{"/proc/self/cgroup", "/proc/self/cgroup", false},
    FileQuestion{"/proc/sys/kernel/osrelease", "/proc/sys/kernel/osrelease", false},
    FileQuestion{"/opt/rocm/.info/version", "/opt/rocm/.info/version", false},
};

Result<void> ask_files(Capture& capture, Transport& transport) {
  for (const FileQuestion& question : kFiles) {
    auto text = transport.read_file(std::string(question.path));
    if (text) {
      capture.outputs.push_back({std::string(question.name), {}, 0, std::move(*text), ""});
    } else if (text.error().code == Code::probe_failed && capture.outputs.empty()) {
      return fail(std::move(text).error());  // the machine itself cannot be reached
    } else if (question.needed) {
      capture.outputs.push_back({std::string(question.name), {}, 1, "", text.error().message});
    }
  }
  return {};
}

// "PATH:content" of grep -H as "PATH=content". PCI addresses hold colons, so the path's end is
// looked for after the last '/'.
std::string as_facts(std::string_view printed) {
  std::string facts;
  for (std::string_view line : split(printed, '\n')) {
    size_t slash = 0;
    for (size_t at = line.find('/'); at != std::string_view::npos; at = line.find('/', at + 1))
      slash = at;
    size_t colon = line.find(':', slash);
    if (!line.starts_with('/') || colon == std::string_view::npos) continue;
    facts += fmt::format("{}={}\n", line.substr(0, colon), line.substr(colon + 1));
  }
  return facts;
}

void ask_limits(Capture& capture, Transport& transport) {
  auto own =
      std::find_if(capture.outputs.begin(), capture.outputs.end(),
                   [](const CapturedOutput& one) { return one.name == "/proc/self/cgroup"; });
  if (own == capture.outputs.end()) return;
  std::vector<std::string> files = group_limit_files(own->out);
  if (files.empty()) return;
  // -s: some of the files are not there (the root has no cpu.max), which is no failure.
  std::vector<std::string> argv = {"grep", "-s", "-H", ""};
  argv.insert(argv.end(), files.begin(), files.end());
  if (auto finished = transport.run(argv))
    capture.outputs.push_back({"cgroup", std::move(argv), 0, as_facts(finished->out), ""});
}

// ---- The bus ----------------------------------------------------------------------------------

// Two commands instead of a round trip per file: over ssh a machine with a hundred devices would
// take a minute. find follows the links below devices/ for the files; the second prints the links.
void ask_bus(Capture& capture, Transport& transport) {
  std::vector<std::string> argv = {"find",      "-L",        "/sys/bus/pci/devices",
                                   "-maxdepth", "2",         "(",
                                   "-name",     "class",     "-o",
                                   "-name",     "vendor",    "-o",
                                   "-name",     "device",    "-o",
                                   "-name",     "numa_node", ")",
                                   "-type",     "f",         "-exec",
                                   "grep",      "-s",        "-H",
                                   ".",         "{}",        "+"};
  auto finished = transport.run(argv);
  std::string facts = finished ? as_facts(finished->out) : "";
  bool listed = finished && (finished->exit_code == 0 || !facts.empty());
  if (!listed) {
    std::string why = finished ? std::string(trim(finished->err)) : finished.error().message;
    capture.outputs.push_back(
        {"/sys pci", std::move(argv), 1, "", "the PCI bus could not be listed: " + why});
    return;
  }
  std::vector<std::string> links = {"find"};
  if (auto devices = parse_sys_pci(facts))
    for (const PciAccelerator& card : accelerators(*devices))
      for (std::string_view link : {"driver", "physfn"})
        links.push_back(fmt::format("{}{}/{}", kPciRoot, card.device.address, link));
  if (links.size() > 1) {
    for (std::string_view word : {"-maxdepth", "0", "-printf", "%p->%l\\n"})
      links.emplace_back(word);
    if (auto printed = transport.run(links)) {
      for (std::string_view line : split(printed->out, '\n')) {
        size_t arrow = line.find("->");
        if (arrow == std::string_view::npos) continue;
        std::string_view target = line.substr(arrow + 2);
        facts +=
            fmt::format("{}->{}\n", line.substr(0, arrow), target.substr(target.rfind('/') + 1));
      }
    }
  }
  capture.outputs.push_back({"/sys pci", std::move(argv), 0, std::move(facts), ""});
}

// ---- Tools ------------------------------------------------------------------------------------

struct ToolQuestion {
  std::string_view name;
  std::vector<std::vector<std::string>> tries;  // the first program that is there answers
  std::string_view not_if_answered;  // an answer to this question makes this one needless
};

const std::vector<ToolQuestion>& tool_questions() {
  static const std::vector<std::string> rocm = {"--showproductname",   "--showmeminfo", "vram",
                                                "--showdriverversion", "--showbus",     "--json"};
  static const auto with = [](std::string program, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), std::move(program));
    return arguments;
  };
  static const std::vector<ToolQuestion> questions = {
      {"nvidia-smi -q -x", {{"nvidia-smi", "-q", "-x"}}, ""},
      {"nvidia-smi -L", {{"nvidia-smi", "-L"}}, ""},
      {"amd-smi static --json",
       {{"amd-smi", "static", "--json"}, {"/opt/rocm/bin/amd-smi", "static", "--json"}},
       ""},
      {"rocm-smi --json",
       {with("rocm-smi", rocm), with("/opt/rocm/bin/rocm-smi", rocm)},
       "amd-smi static --json"},
      {"hl-smi -Q",
       {{"hl-smi", "-Q", "index,uuid,name,driver_version,memory.total,memory.used,memory.free",
         "-f", "csv,noheader"}},
       ""},
  };
  return questions;
}

void ask_tools(Capture& capture, Transport& transport) {
  for (const ToolQuestion& question : tool_questions()) {
    bool needless =
        std::any_of(capture.outputs.begin(), capture.outputs.end(), [&](const CapturedOutput& one) {
          return one.name == question.not_if_answered && one.exit_code == 0;
        });
    if (needless) continue;
    CapturedOutput output{std::string(question.name), question.tries.front(), kNotFound, "",
                          "not found"};
    for (const std::vector<std::string>& argv : question.tries) {
      auto finished = transport.run(argv);
      if (!finished && finished.error().code == Code::not_found) continue;
      output.argv = argv;
      output.exit_code = finished ? finished->exit_code : 1;
      output.out = finished ? std::move(finished->out) : "";
      output.err = finished ? std::move(finished->err) : finished.error().message;
      if (output.exit_code != kNotFound) break;
    }
    capture.outputs.push_back(std::move(output));
  }
}

// NVML speaks only for the machine that this process runs on.
void ask_nvml(Capture& capture, const Transport& transport) {
  if (transport.describe() != "local") return;
  auto report = nvml_report();
  if (report)
    capture.outputs.push_back({"nvml", {}, 0, std::move(*report), ""});
  else if (report.error().code != Code::not_found)
    capture.outputs.push_back({"nvml", {}, 1, "", report.error().message});
}

// ---- Recognising ------------------------------------------------------------------------------

std::optional<std::string> recognise_json(std::string_view text) {
  auto has = [&](std::string_view word) { return text.find(word) != std::string_view::npos; };
  std::string_view start = trim(text);
  if (start.starts_with('{') && has("\"card0\"") &&
      (has("\"VRAM Total Memory (B)\"") || has("\"Card ") || has("\"PCI Bus\"")))
    return "rocm-smi --json";
  if (has("\"gpu\"") && has("\"asic\"") && (start.starts_with('[') || has("\"gpu_data\"")))
    return "amd-smi static --json";
  if (start.starts_with('{') && has("\"gpus\"") && has("\"driver_version\"") && has("\"mig_mode\""))
    return "nvml";
  return std::nullopt;
}

bool is_lspci_line(std::string_view line) {
  size_t end_of_class = line.find("]: ");
  return end_of_class != std::string_view::npos && end_of_class >= 5 &&
         line[end_of_class - 5] == '[' && !pci_address(line.substr(0, line.find(' '))).empty();
}

std::optional<std::string> recognise_text(std::string_view text) {
  std::string_view start = trim(text.substr(0, 8192));
  std::string_view first = trim(start.substr(0, start.find('\n')));
  auto has = [&](std::string_view word) { return start.find(word) != std::string_view::npos; };
  if (first.starts_with(kPciRoot)) return "/sys pci";
  if (start.find("NVSMI LOG") < 80) return "nvidia-smi -q";
  if (has("| NVIDIA-SMI ")) return "nvidia-smi";
  if (first.starts_with("GPU ") && has("(UUID: GPU-")) return "nvidia-smi -L";
  if (first.find("GPU0\tCPU Affinity") != std::string_view::npos ||
      (first.find("GPU0") != std::string_view::npos && has("\nGPU0\t X")))
    return "nvidia-smi topo -m";
  if (has("| AIP  Name") || has("HL-SMI Version")) return "hl-smi";
  std::vector<std::string_view> cells = split(first, ',');
  for (std::string_view& cell : cells) cell = trim(cell);
  if (cells.size() >= 5 && cells[2].starts_with("HL-")) return "hl-smi -Q";
  if (cells.size() >= 2 && std::count(cells.begin(), cells.end(), "name") > 0 &&
      (has("memory.total") || has("mig.mode.current") || has("driver_version") ||
       has("pci.bus_id")))
    return "nvidia-smi --query-gpu";
  if (is_lspci_line(first)) return "lspci -nn";
  if (first.starts_with("processor") && first.find(':') != std::string_view::npos)
    return "/proc/cpuinfo";
  if (first.starts_with("MemTotal:")) return "/proc/meminfo";
  return std::nullopt;
}

}  // namespace

Result<Capture> probe_host(const ClusterAddress&, Transport& transport, Time now) {
  Capture capture;
  capture.kind = ClusterKind::host;
  capture.taken_at = now;
  capture.transport = transport.describe();
  EXA_TRY(ask_files(capture, transport));
  ask_limits(capture, transport);
  ask_bus(capture, transport);
  ask_tools(capture, transport);
  ask_nvml(capture, transport);
  return capture;
}

std::optional<std::string> recognise_host(std::string_view text) {
  std::string_view start = trim(text.substr(0, 4096));
  if (start.empty()) return std::nullopt;
  if (start.front() == '<')
    return text.find("<nvidia_smi_log>") != std::string_view::npos
               ? std::optional<std::string>("nvidia-smi -q -x")
               : std::nullopt;
  if (start.front() == '{' || start.front() == '[') return recognise_json(text);
  return recognise_text(text);
}

}  // namespace exa
