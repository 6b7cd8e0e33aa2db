// read_host: what the files and tools of one machine said -> one node. A device can be asked for if
// a tool of its vendor listed it; what only the PCI bus shows is present, and unless something
// rules it out (no driver, a virtual machine has it) whether it can be asked for is not known.
// Families that neither a tool nor the bus spoke of are unread, not absent.
#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "base/quantity.h"
#include "base/text.h"
#include "discover/host_gpus.h"
#include "discover/host_pci.h"
#include "discover/host_system.h"
#include "discover/readers.h"

namespace exa {
namespace {

// The tools in the order in which they are believed, within a family.
struct Tool {
  std::string_view question;
  std::string_view program;
  Family family;
  ToolReader read;
};
constexpr std::array kTools = {
    Tool{"nvidia-smi -q -x", "nvidia-smi", Family::nvidia, parse_nvidia_xml},
    Tool{"nvml", "libnvidia-ml.so.1", Family::nvidia, parse_nvml},
    Tool{"nvidia-smi --query-gpu", "nvidia-smi", Family::nvidia, parse_nvidia_query},
    Tool{"nvidia-smi -q", "nvidia-smi", Family::nvidia, parse_nvidia_details},
    Tool{"nvidia-smi", "nvidia-smi", Family::nvidia, parse_nvidia_table},
    Tool{"nvidia-smi -L", "nvidia-smi", Family::nvidia, parse_nvidia_list},
    Tool{"nvidia-smi topo -m", "nvidia-smi", Family::nvidia, parse_nvidia_topology},
    Tool{"amd-smi static --json", "amd-smi", Family::amd, parse_amd_smi},
    Tool{"rocm-smi --json", "rocm-smi", Family::amd, parse_rocm_smi},
    Tool{"hl-smi -Q", "hl-smi", Family::intel_gaudi, parse_hl_smi_query},
    Tool{"hl-smi", "hl-smi", Family::intel_gaudi, parse_hl_smi_table},
};

constexpr int kNotFound = 127;

struct ExitMeaning {
  int exit_code;
  std::string_view meaning;
  bool answers;           // its output is worth reading all the same
  bool has_none = false;  // nothing can be asked for
};
// nvidia-smi's manual, "RETURN VALUE".
constexpr std::array kNvidiaExits = {
    ExitMeaning{2, "an argument is not known to this version", false},
    ExitMeaning{3, "not supported on this device", false},
    ExitMeaning{4, "no permission", false},
    ExitMeaning{6, "no device was found", false, true},
    ExitMeaning{8, "a power cable is not attached", true},
    ExitMeaning{9, "the NVIDIA driver is not loaded", false, true},
    ExitMeaning{10, "the driver met an interrupt problem", true},
    ExitMeaning{12, "the NVML library was not found", false},
    ExitMeaning{13, "this NVML library lacks the function", false},
    ExitMeaning{14, "the infoROM is corrupted", true},
    ExitMeaning{15, "a GPU is lost", true},
};

std::string first_line(const CapturedOutput& output) {
  std::string_view text = trim(trim(output.err).empty() ? output.out : output.err);
  return printable(text.substr(0, std::min<size_t>(text.find('\n'), 200)));
}

// ---- Tools ------------------------------------------------------------------------------------

struct FamilyReport {
  std::vector<ToolReport> reports;  // those that answered, in order of belief
  std::vector<Unread> failures;
  std::vector<Unread> missing;  // programs that are not there
  std::vector<Error> unreadable;
  bool has_none = false;  // a tool said that nothing can be asked for
};

const ExitMeaning* nvidia_exit(const Tool& tool, int exit_code) {
  if (tool.family != Family::nvidia) return nullptr;
  auto found = std::find_if(kNvidiaExits.begin(), kNvidiaExits.end(),
                            [&](const ExitMeaning& one) { return one.exit_code == exit_code; });
  return found == kNvidiaExits.end() ? nullptr : &*found;
}

void read_tool(const Tool& tool, const CapturedOutput& output, FamilyReport& family) {
  std::string question(tool.question);
  if (output.exit_code == kNotFound && trim(output.out).empty()) {
    family.missing.push_back({std::string(tool.program), "not found on the PATH"});
    return;
  }
  bool answers = output.exit_code == 0;
  if (!answers) {
    const ExitMeaning* exit = nvidia_exit(tool, output.exit_code);
    std::string line = first_line(output);
    family.failures.push_back({question, fmt::format("exit {}: {}", output.exit_code,
                                                     exit           ? std::string(exit->meaning)
                                                     : line.empty() ? "no reason given"
                                                                    : line)});
    family.has_none = family.has_none || (exit != nullptr && exit->has_none);
    answers = exit != nullptr && exit->answers && !trim(output.out).empty();
  }
  if (!answers) return;
  if (trim(output.out).starts_with("No devices were found")) {
    family.failures.push_back({question, "no device was found"});
    family.has_none = true;
    return;
  }
  auto report = tool.read(output.out);
  if (!report) {
    family.unreadable.push_back(std::move(report).error());
    return;
  }
  family.reports.push_back(std::move(*report));
}

// Another tool's list of as many devices, in the same order, fills what the best one left open.
void complete(ToolReport& best, const ToolReport& other) {
  for (const Software& software : other.software)
    if (std::none_of(best.software.begin(), best.software.end(),
                     [&](const Software& one) { return one.product == software.product; }))
      best.software.push_back(software);
  if (other.gpus.size() != best.gpus.size()) return;
  for (size_t i = 0; i < best.gpus.size(); ++i) {
    HostGpu& gpu = best.gpus[i];
    const HostGpu& more = other.gpus[i];
    if (!gpu.address.empty() && !more.address.empty() && gpu.address != more.address) continue;
    if (gpu.reported.empty()) gpu.reported = more.reported;
    if (!gpu.memory_bytes) gpu.memory_bytes = more.memory_bytes;
    if (gpu.address.empty()) gpu.address = more.address;
    gpu.instances_listed = gpu.instances_listed || more.instances_listed;
    // A list that names the profiles decides over one where they were told by their size.
    bool named =
        std::count(gpu.instances.begin(), gpu.instances.end(), "") == 0 && !gpu.instances.empty();
    if (gpu.mig && !named && !more.instances.empty()) gpu.instances = more.instances;
  }
}

struct Machine {
  std::vector<HostGpu> gpus;
  std::vector<CardSet> virtual_functions;
  std::vector<Family> devices_unread;
  std::vector<Software> software;
  std::vector<Unread> unread;
};

Result<FamilyReport> ask_tools(const Capture& capture, Family family) {
  FamilyReport report;
  for (const Tool& tool : kTools)
    if (tool.family == family)
      if (const CapturedOutput* output = capture.find(tool.question))
        read_tool(tool, *output, report);
  bool has_gpus = std::any_of(report.reports.begin(), report.reports.end(),
                              [](const ToolReport& one) { return !one.gpus.empty(); });
  // An answer that cannot be read is no zero: unless another tool told of the same devices, it
  // fails.
  if (!has_gpus && !report.unreadable.empty()) return fail(report.unreadable.front());
  for (const Error& error : report.unreadable) report.failures.push_back({"", error.message});
  return report;
}

ToolState state_of(const FamilyReport& report) {
  if (!report.reports.empty())
    return {true, fmt::format("{} does not list it", report.reports.front().tool)};
  if (!report.failures.empty())
    return {report.has_none,
            fmt::format("{}: {}", report.failures.front().what, report.failures.front().why)};
  std::string programs;
  for (const Unread& missing : report.missing)
    if (programs.find(missing.what) == std::string::npos)
      programs += (programs.empty() ? "" : " and ") + missing.what;
  if (programs.empty()) return {false, "no tool was asked about it"};
  return {false, programs + " not found, so it cannot be confirmed"};
}

Result<void> read_family(const Capture& capture, Family family,
                         const std::vector<PciAccelerator>& on_bus, bool bus_was_read,
                         Machine& machine) {
  EXA_ASSIGN(FamilyReport report, ask_tools(capture, family));
  auto best = std::find_if(report.reports.begin(), report.reports.end(),
                           [](const ToolReport& one) { return !one.gpus.empty(); });
  std::vector<HostGpu> gpus;
  if (best != report.reports.end()) {
    for (const ToolReport& other : report.reports)
      if (&other != &*best) complete(*best, other);
    gpus = best->gpus;
    machine.software.insert(machine.software.end(), best->software.begin(), best->software.end());
    machine.unread.insert(machine.unread.end(), best->unread.begin(), best->unread.end());
    bool only_list = best->tool == "nvidia-smi -L";
    if (only_list &&
        std::none_of(gpus.begin(), gpus.end(), [](const HostGpu& gpu) { return gpu.mig; }))
      machine.unread.push_back(
          {"MIG mode", "nvidia-smi -L shows instances, but not whether MIG is on"});
  }
  auto here = std::count_if(on_bus.begin(), on_bus.end(),
                            [&](const PciAccelerator& card) { return card.family == family; });
  const ToolState tools = state_of(report);
  const bool all_told = tools.answered && (best == report.reports.end() || !best->some_undescribed);
  if (!bus_was_read && !all_told) machine.devices_unread.push_back(family);
  for (Unread& failure : report.failures) {
    if (failure.what.empty()) failure.what = "unreadable";
    machine.unread.push_back(std::move(failure));
  }
  // Without a device on the bus a missing tool leaves no question open.
  bool answered = !report.reports.empty() || !report.failures.empty();
  std::vector<std::string> told;
  for (const Unread& missing : report.missing) {
    if (answered || (bus_was_read && here == 0) ||
        std::count(told.begin(), told.end(), missing.what) > 0)
      continue;
    told.push_back(missing.what);
    machine.unread.push_back(
        {missing.what, bus_was_read ? fmt::format("{}; {} devices of its vendor are on the "
                                                  "PCI bus",
                                                  missing.why, here)
                                    : missing.why + "; the PCI bus was not read either"});
  }
  add_unlisted(gpus, family, on_bus, tools, machine.virtual_functions);
  std::move(gpus.begin(), gpus.end(), std::back_inserter(machine.gpus));
  return {};
}

// ---- Processors, memory, bus --------------------------------------------------------------------

Result<std::vector<PciAccelerator>> read_bus(const Capture& capture, bool& was_read,
                                             std::vector<Unread>& unread) {
  std::vector<PciDevice> devices;
  const CapturedOutput* sys = capture.find("/sys pci");
  const CapturedOutput* lspci = capture.find("lspci -nn");
  if (sys != nullptr && sys->exit_code == 0) {
    EXA_ASSIGN(devices, parse_sys_pci(sys->out));
    was_read = true;
  } else if (lspci != nullptr && lspci->exit_code == 0) {
    EXA_ASSIGN(devices, parse_lspci(lspci->out));
    was_read = true;
  } else {
    unread.push_back({"/sys pci", sys != nullptr
                                      ? first_line(*sys)
                                      : "not asked: devices that no tool lists are not known"});
  }
  return accelerators(devices);
}

Result<std::optional<int64_t>> read_amount(const Capture& capture, std::string_view question,
                                           Result<int64_t> (*parse)(std::string_view),
                                           std::vector<Unread>& unread) {
  const CapturedOutput* output = capture.find(question);
  if (output == nullptr || output->exit_code != 0) {
    unread.push_back(
        {std::string(question), output == nullptr ? "not asked" : first_line(*output)});
    return std::nullopt;
  }
  EXA_ASSIGN(int64_t amount, parse(output->out));
  return std::optional<int64_t>(amount);
}

// A container or a batch job sees all of the machine in /proc and may use less of it.
Result<void> limit(const Capture& capture, Node& node) {
  const CapturedOutput* output = capture.find("cgroup");
  if (output == nullptr) return {};
  EXA_ASSIGN(GroupLimits limits, parse_group_limits(output->out));
  std::string said;
  auto say = [&](std::string what, const std::string& path) {
    said += fmt::format("{}{} ({})", said.empty() ? "limited by its cgroup: " : ", ", what,
                        printable(path));
  };
  if (limits.cpu_milli && (!node.cpu_milli || *limits.cpu_milli < *node.cpu_milli)) {
    say(fmt::format("cpu {} of {}", format_milli(*limits.cpu_milli),
                    node.cpu_milli ? format_milli(*node.cpu_milli) : "unknown"),
        limits.cpu_path);
    node.cpu_milli = limits.cpu_milli;
  }
  if (limits.memory_bytes && (!node.memory_bytes || *limits.memory_bytes < *node.memory_bytes)) {
    say(fmt::format("memory {} of {}", format_bytes(*limits.memory_bytes),
                    node.memory_bytes ? format_bytes(*node.memory_bytes) : "unknown"),
        limits.memory_path);
    node.memory_bytes = limits.memory_bytes;
  }
  if (!said.empty()) node.state += "; " + said;
  return {};
}

std::string answer_or_empty(const Capture& capture, std::string_view question) {
  const CapturedOutput* output = capture.find(question);
  return output == nullptr || output->exit_code != 0 ? "" : std::string(trim(output->out));
}

std::string one_line(std::string text) {
  return text.substr(0, text.find('\n'));
}

void add_versions(const Capture& capture, std::vector<Software>& software) {
  if (std::string rocm = one_line(answer_or_empty(capture, "/opt/rocm/.info/version"));
      !rocm.empty())
    software.push_back({"rocm", rocm});
  if (std::string kernel = one_line(answer_or_empty(capture, "/proc/sys/kernel/osrelease"));
      !kernel.empty())
    software.push_back({"linux", kernel});
}

}  // namespace

Result<Inventory> read_host(const Capture& capture) {
  Machine machine;
  Node node;
  node.name = one_line(answer_or_empty(capture, "hostname"));
  if (node.name.empty()) node.name = "localhost";
  node.health = Health::usable;  // it answered
  node.state = "up";
  EXA_ASSIGN(node.cpu_milli, read_amount(capture, "/proc/cpuinfo", parse_cpuinfo, machine.unread));
  EXA_ASSIGN(node.memory_bytes,
             read_amount(capture, "/proc/meminfo", parse_meminfo, machine.unread));
  EXA_TRY(limit(capture, node));

  bool bus_was_read = false;
  EXA_ASSIGN(std::vector<PciAccelerator> on_bus, read_bus(capture, bus_was_read, machine.unread));
  for (Family family : {Family::nvidia, Family::amd, Family::intel_gaudi})
    EXA_TRY(read_family(capture, family, on_bus, bus_was_read, machine));
  for (Family family : {Family::tpu, Family::other})
    add_unlisted(machine.gpus, family, on_bus, {false, "no tool here speaks to it"},
                 machine.virtual_functions);
  if (!bus_was_read) machine.devices_unread.push_back(Family::tpu);
  node.devices_unread = std::move(machine.devices_unread);
  node.cards = card_sets(machine.gpus);
  std::move(machine.virtual_functions.begin(), machine.virtual_functions.end(),
            std::back_inserter(node.cards));
  node.software = std::move(machine.software);
  add_versions(capture, node.software);

  bool asked_anything = node.cpu_milli || node.memory_bytes || bus_was_read || !node.cards.empty();
  if (!asked_anything) {
    std::vector<Problem> problems;
    for (const Unread& unread : machine.unread) problems.push_back({unread.what, unread.why, ""});
    return fail(Error{Code::unreadable_output,
                      "nothing here says what the machine has",
                      std::move(problems),
                      "exa cluster capture NAME",
                      {}});
  }
  Inventory inventory;
  inventory.kind = ClusterKind::host;
  inventory.tool = "host";
  inventory.nodes.push_back(std::move(node));
  inventory.unread = std::move(machine.unread);
  return inventory;
}

}  // namespace exa
