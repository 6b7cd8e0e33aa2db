#include <algorithm>

#include <fmt/format.h>

#include "base/quantity.h"
#include "base/text.h"
#include "launch/batch_script.h"
#include "launch/renderers.h"

namespace exa {
namespace {

constexpr std::string_view kOwnPrefixes[] = {"FLUX_", "PMI_"};
constexpr BatchScheduler kFlux = {"Flux", "flux", "FLUX_TASK_RANK", "EXA_JOB_ID", kOwnPrefixes};

// The shell's gpubind plugin sets both in every task, of AMD's cards too (HIP obeys them), and
// without GPUs to -1.
constexpr std::string_view kVisibleDevices[] = {"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"};

bool is_gpu_of_flux(Family family) {
  return family == Family::nvidia || family == Family::amd;
}

bool asks_for_devices(const Resources& resources) {
  return resources.gpus > 0 && resources.family != Family::cpu;
}

// A jobspec is JSON, and flux batch reads the script as UTF-8.
void check_utf8(const LaunchSpec& spec, std::vector<Problem>& problems) {
  constexpr const char* kNotUtf8 = "is not UTF-8, and Flux carries no other bytes";
  for (size_t i = 0; i < spec.command.size(); ++i) {
    const bool fine = std::ranges::all_of(spec.command[i].parts, [](const auto& part) {
      const auto* text = std::get_if<std::string>(&part);
      return text == nullptr || is_valid_utf8(*text);
    });
    if (!fine) problems.push_back({fmt::format("/argv/{}", i), kNotUtf8, ""});
  }
  for (const auto& [key, value] : spec.environment)
    if (!is_valid_utf8(value))
      problems.push_back({fmt::format("/environment/{}", printable(key)), kNotUtf8, ""});
}

void check_resources(const LaunchSpec& spec, std::vector<Problem>& problems) {
  const Resources& resources = spec.resources;
  if (!spec.options.qos.empty())
    problems.push_back({"/options/qos", "Flux has no QOS: a queue is its word", ""});
  if (!asks_for_devices(resources)) return;
  const std::string& device = spec.options.device;
  if (!is_gpu_of_flux(resources.family))
    problems.push_back({"/resources/family",
                        fmt::format("Flux counts GPUs and no other devices: {} cannot be asked for",
                                    info(resources.family).vendor),
                        ""});
  if (!device.empty() && !is_device_word(device))
    problems.push_back(
        {"/options/device",
         fmt::format("\"{}\" is no property of Flux's nodes, such as a100", printable(device)),
         ""});
  if (!resources.mig_profile.empty() && device.empty())
    problems.push_back({"/resources/mig_profile",
                        fmt::format("Flux knows no MIG: {} can be asked for only where such slices "
                                    "are its GPUs and a property marks their nodes; give that "
                                    "property as the device",
                                    printable(resources.mig_profile)),
                        ""});
}

void note_devices(const LaunchSpec& spec, std::vector<std::string>& notes) {
  const Resources& resources = spec.resources;
  if (!asks_for_devices(resources)) return;
  if (!resources.mig_profile.empty())
    notes.push_back(
        fmt::format("Flux knows no MIG: {} is asked for as GPUs of nodes with the property {}",
                    resources.mig_profile, spec.options.device));
  if (resources.fraction_milli < 1000)
    notes.push_back(
        fmt::format("{} of each device is asked for as the whole device: Flux shares "
                    "none",
                    format_milli(resources.fraction_milli)));
  if (spec.options.device.empty())
    notes.push_back(fmt::format(
        "whatever Flux counts as a GPU will do, of any model or vendor: {} needs the property of "
        "its nodes as the device",
        resources.model.empty() ? "a model" : resources.model));
}

// Everything in long words, one a line. Flux splits a line as a shell would, and reads the value of
// an attribute as JSON if it is that: quoted twice, a bank "123" stays a name.
std::string directives(const LaunchSpec& spec) {
  const Resources& resources = spec.resources;
  std::string text;
  const auto add = [&](std::string_view option, const std::string& value) {
    if (!value.empty()) text += fmt::format("# flux: --{}={}\n", option, value);
  };
  add("job-name", job_name(spec));
  add("setattr", fmt::format("user.exa=\"{}\"", launch_tag(spec)));
  add("nodes", std::to_string(resources.nodes));
  add("nslots", std::to_string(resources.nodes));  // without it, whole nodes
  if (resources.cpu_milli > 0)
    add("cores-per-slot", std::to_string(whole_cores(resources.cpu_milli)));
  if (asks_for_devices(resources)) {
    add("gpus-per-slot", std::to_string(resources.gpus));
    add("requires", spec.options.device);
  }
  add("queue", spec.options.partition);
  if (!spec.options.account.empty())
    add("setattr", fmt::format("bank='\"{}\"'", spec.options.account));
  const int64_t limit = (spec.options.time_limit.micros + 999'999) / 1'000'000;
  if (limit > 0) add("time-limit", fmt::format("{}s", limit));
  // what goes wrong stands where it went wrong: errors and output in one file
  if (!spec.folder.empty()) add("output", spec.folder + "/flux-{{id}}.out");
  return text;
}

// Asked for again: a task that names no cores or GPUs gets one core, and sees no GPU at all.
std::string run_options(const Resources& resources) {
  std::string text = fmt::format("run --nodes={0} --ntasks={0}", resources.nodes);
  if (resources.cpu_milli > 0)
    text += fmt::format(" --cores-per-task={}", whole_cores(resources.cpu_milli));
  if (asks_for_devices(resources)) text += fmt::format(" --gpus-per-task={}", resources.gpus);
  return text + " --setopt=exit-on-error";
}

// Flux replaces {{id}}, {{name}} and the like in the words of a task.
bool has_a_template(const CommandLine& command) {
  return std::ranges::any_of(command, [](const Word& word) {
    std::string text;
    for (const auto& part : word.parts) {
      const auto* known_now = std::get_if<std::string>(&part);
      text += known_now != nullptr ? std::string_view(*known_now) : " ";
    }
    return text.find("{{") != std::string::npos;
  });
}

// For a shell the same words, without two braces side by side: braces stand only in single quotes.
std::string with_braces_apart(std::string_view words) {
  std::string text;
  for (const char c : words) {
    if (c == '{' && text.ends_with('{')) text += "''";
    text += c;
  }
  return text;
}

}  // namespace

Result<Rendered> render_flux(const LaunchSpec& spec) {
  std::vector<Problem> problems = problems_of_script(spec, kFlux, kVisibleDevices);
  check_utf8(spec, problems);
  check_resources(spec, problems);
  if (!problems.empty()) return fail(invalid("launch on Flux", std::move(problems)));

  Rendered rendered;
  rendered.command = {"flux", "batch", "job.flux"};
  note_devices(spec, rendered.notes);
  if (spec.resources.memory_bytes > 0)
    rendered.notes.push_back(fmt::format("Flux counts no memory: {} on each node are not asked for",
                                         format_bytes(spec.resources.memory_bytes)));
  note_common_limits(spec, kFlux, rendered.notes);

  std::string text = "#!/bin/bash\n" + directives(spec) + script_opening(spec, kFlux);
  if (mentions(spec.command, RunTime::head_node))
    text +=
        "\n# the host of rank 0\nEXA_HEAD_NODE=$(flux hostlist --nth=0 instance)\n"
        "export EXA_HEAD_NODE\n";
  if (mentions(spec.command, RunTime::job_id))
    text +=
        "\n# of this job; a task is told only of the job within it\n"
        "EXA_JOB_ID=$(flux getattr jobid)\nexport EXA_JOB_ID\n";
  text += '\n' + script_exports(spec) + script_search(spec);
  std::string task = task_words(spec.command, kFlux);
  if (mentions(spec.command, RunTime::node_rank) || has_a_template(spec.command))
    task = in_a_shell(with_braces_apart(task));
  text += script_run(spec, kFlux, run_options(spec.resources), task, "0");
  rendered.files.push_back({"job.flux", std::move(text)});
  rendered.files.insert(rendered.files.end(), spec.files.begin(), spec.files.end());
  return rendered;
}

}  // namespace exa
