#include "compute/machine.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "compute/gpu_memory.h"
#include "compute/machine_tags.h"
#include "hardware/machine_bounds.h"

namespace exa {
namespace {

constexpr size_t kLongestId = 253;

// The GPUs that the agent detected, as one machine has them.
struct DetectedGpus {
  int64_t count = 0;
  std::vector<GpuFamily> families;      // distinct, in the order of the report; empty ones left out
  std::string text;                     // of the first family, as the driver prints it
  bool has_unnamed = false;             // some GPUs are of no known family
  std::optional<int64_t> memory_bytes;  // the least of any
};

bool is_possible(const GpuReport& gpu) {
  return gpu.count >= 0 && gpu.count <= kMostGpus &&
         (!gpu.memory_bytes || (*gpu.memory_bytes > 0 && *gpu.memory_bytes <= kMostGpuMemory));
}

DetectedGpus sum_up(const std::vector<GpuReport>& gpus) {
  DetectedGpus sum;
  bool has_unsized = false;
  for (const GpuReport& gpu : gpus) {
    if (gpu.count == 0) continue;
    sum.count += gpu.count;
    const GpuFamily family = gpu_family(gpu.family);
    if (family.empty()) {
      sum.has_unnamed = true;
    } else if (std::ranges::find(sum.families, family) == sum.families.end()) {
      if (sum.families.empty()) sum.text = gpu.family;
      sum.families.push_back(family);
    }
    if (!gpu.memory_bytes)
      has_unsized = true;
    else
      sum.memory_bytes = std::min(sum.memory_bytes.value_or(*gpu.memory_bytes), *gpu.memory_bytes);
  }
  if (has_unsized) sum.memory_bytes.reset();
  return sum;
}

std::string known_architecture(std::string_view text) {
  const std::string word = lower(trim(text));
  if (word == "x86_64" || word == "x86-64" || word == "amd64") return "AMD64";
  if (word == "aarch64" || word == "arm64") return "ARM64";
  std::string shown(trim(text));
  for (char& c : shown)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
  return shown;
}

class MachineReader {
 public:
  explicit MachineReader(const MachineReport& report)
      : report_(report), tags_(read_tags(report.tags)) {}

  Machine read() {
    machine_.id = report_.id;
    machine_.address = report_.address.empty() ? report_.id : report_.address;
    machine_.architecture = known_architecture(report_.architecture);
    machine_.memory_bytes = report_.memory_bytes;
    machine_.is_tagged = tags_.palette == true;
    machine_.worker_tagged = tags_.worker == true;
    machine_.groups = tags_.groups;
    read_consent();
    read_cores();
    read_gpus();
    read_role();
    machine_.notes.insert(machine_.notes.end(), tags_.unknown.begin(), tags_.unknown.end());
    return std::move(machine_);
  }

 private:
  void refuse(std::string why) { machine_.unfit.push_back(std::move(why)); }

  void note_difference(std::string_view tag, std::string_view tagged, std::string_view detected) {
    machine_.notes.push_back(fmt::format(
        "tag {} says {}, the agent detected {}: the agent's counts", tag, tagged, detected));
  }

  void read_consent() {
    const bool is_there = std::ranges::find(report_.tags, "palette.ai", &Tags::value_type::first) !=
                          report_.tags.end();
    if (!is_there)
      refuse("it has no tag palette.ai: true");
    else if (tags_.palette == false)
      refuse("its tag palette.ai is false");
    for (const std::string& tag : tags_.unreadable) refuse(tag);
  }

  void read_cores() {
    if (report_.memory_bytes && *report_.memory_bytes <= 0)
      refuse(fmt::format("it reports {} bytes of memory, which no machine has",
                         *report_.memory_bytes));
    if (!report_.cpus) {
      if (tags_.cpus) machine_.cpus = {*tags_.cpus, KnownFrom::tag};
      return;
    }
    const int64_t cores = *report_.cpus;
    if (cores < 1 || cores > kMostCores)
      return refuse(fmt::format("it reports {} cores, which no machine has", cores));
    machine_.cpus = {cores, KnownFrom::agent};
    if (tags_.cpus && *tags_.cpus != cores)
      note_difference("cpus", std::to_string(*tags_.cpus), std::to_string(cores));
  }

  void read_gpus() {
    if (!report_.gpus) return gpus_by_tag();
    for (const GpuReport& gpu : *report_.gpus)
      if (!is_possible(gpu))
        return refuse(fmt::format("it reports {} GPUs of {} bytes, which no machine has", gpu.count,
                                  gpu.memory_bytes.value_or(0)));
    const DetectedGpus detected = sum_up(*report_.gpus);
    if (detected.count > kMostGpus)
      return refuse(fmt::format("it reports {} GPUs, which no machine has", detected.count));
    machine_.gpus = {detected.count, KnownFrom::agent};
    if (tags_.gpus && *tags_.gpus != detected.count)
      note_difference("gpus", std::to_string(*tags_.gpus), std::to_string(detected.count));
    if (detected.count == 0) return;
    read_family(detected);
    read_gpu_memory(detected.memory_bytes);
    check_card(machine_.family.from == KnownFrom::agent ? detected.text
                                                        : tags_.gpu_family.value_or(""));
  }

  void gpus_by_tag() {
    // an unreadable tag has its reason already
    const bool is_written =
        std::ranges::find(report_.tags, "gpus", &Tags::value_type::first) != report_.tags.end();
    if (!tags_.gpus) {
      if (!is_written)
        refuse(
            "how many GPUs it has is not known: the agent did not detect it, and there is no "
            "tag gpus");
      return;
    }
    machine_.gpus = {*tags_.gpus, KnownFrom::tag};
    if (*tags_.gpus == 0) return;
    read_family({});
    read_gpu_memory({});
    check_card(tags_.gpu_family.value_or(""));
  }

  void read_family(const DetectedGpus& detected) {
    std::vector<GpuFamily> families = detected.families;
    const GpuFamily tagged = gpu_family(tags_.gpu_family.value_or(""));
    const bool tag_fills = families.empty() || detected.has_unnamed;
    if (tag_fills && !tagged.empty() && std::ranges::find(families, tagged) == families.end())
      families.push_back(tagged);
    if (families.empty() || (detected.has_unnamed && tagged.empty()))
      return refuse(
          "the family of its GPUs is not known: the agent did not detect it, and there "
          "is no tag gpu-family");
    if (families.size() > 1) {
      std::vector<std::string> names;
      for (const GpuFamily& family : families) names.push_back(family.shown);
      return refuse(
          fmt::format("its GPUs are of {} families: {}", families.size(), join(names, " and ")));
    }
    const bool by_agent = !detected.families.empty();
    machine_.family = {families.front(), by_agent ? KnownFrom::agent : KnownFrom::tag};
    if (by_agent && !tagged.empty() && tagged != families.front())
      note_difference("gpu-family", tagged.shown, families.front().shown);
  }

  void read_gpu_memory(std::optional<int64_t> detected) {
    const std::optional<int64_t> tagged = tags_.gpu_memory_bytes;
    if (detected)
      machine_.gpu_memory_bytes = {*detected, KnownFrom::agent};
    else if (tagged)
      machine_.gpu_memory_bytes = {*tagged, KnownFrom::tag};
    if (detected && tagged && !same_gpu_memory(*detected, *tagged))
      note_difference("gpu-memory", shown_gpu_memory(*tagged), shown_gpu_memory(*detected));
  }

  void check_card(std::string_view family_text) {
    if (!machine_.family.is_known() || !machine_.gpu_memory_bytes.is_known()) return;
    std::string why =
        impossible_card(family_text, machine_.family.value, machine_.gpu_memory_bytes.value);
    if (!why.empty()) refuse(std::move(why));
  }

  void read_role() {
    const bool control_plane = tags_.control_plane == true;
    const bool worker = tags_.worker == true;
    if (control_plane && worker)
      machine_.notes.emplace_back(
          "it is tagged both palette.ai/control-plane: true and palette.ai/worker: true, which it "
          "never should be: it counts as a worker");
    if (worker)
      machine_.worker = true;
    else if (control_plane)
      machine_.control_plane = true;
    else
      read_default_role();
    const bool has_none = machine_.gpus.is_known() && machine_.gpus.value == 0;
    if (has_none && !machine_.cpus.is_known() && !cores_were_refused())
      refuse(
          "how many cores it has is not known: the agent did not detect it, and there is no tag "
          "cpus");
  }

  void read_default_role() {
    if (!machine_.gpus.is_known()) return;
    const bool is_worker = machine_.gpus.value > 0;
    if (is_worker && tags_.worker == false)
      return refuse(
          "it has no role: with GPUs it would be a worker, and palette.ai/worker is "
          "false");
    if (!is_worker && tags_.control_plane == false)
      return refuse(
          "it has no role: without GPUs it would be a control plane, and "
          "palette.ai/control-plane is false");
    (is_worker ? machine_.worker : machine_.control_plane) = true;
  }

  bool cores_were_refused() const {
    return report_.cpus.has_value() ||
           std::ranges::find(report_.tags, "cpus", &Tags::value_type::first) != report_.tags.end();
  }

  const MachineReport& report_;
  const MachineTags tags_;
  Machine machine_;
};

bool is_id_edge(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

}  // namespace

std::string_view name(KnownFrom from) {
  switch (from) {
    case KnownFrom::nothing:
      return "unknown";
    case KnownFrom::agent:
      return "agent";
    case KnownFrom::tag:
      return "tag";
  }
  EXA_ASSERT(false && "every origin has a name");
}

Machine read_machine(const MachineReport& report) {
  return MachineReader(report).read();
}

Result<void> check_machine_id(std::string_view id) {
  const auto is_inner = [](char c) { return is_id_edge(c) || c == '-' || c == '_' || c == '.'; };
  if (!id.empty() && id.size() <= kLongestId && is_id_edge(id.front()) && is_id_edge(id.back()) &&
      std::ranges::all_of(id, is_inner))
    return {};
  return fail(Code::invalid_input,
              fmt::format("\"{}\" is not a machine's id: at most {} letters, digits, '-', '_' and "
                          "'.', a letter or digit at both ends",
                          printable(id.substr(0, kLongestId)), kLongestId));
}

}  // namespace exa
