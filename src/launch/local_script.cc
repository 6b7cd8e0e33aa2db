#include <fmt/format.h>

#include "base/quantity.h"
#include "base/text.h"
#include "launch/refusals.h"
#include "launch/renderers.h"

namespace exa {
namespace {

void check_vocabulary(const LaunchSpec& spec, std::vector<Problem>& problems) {
  const auto refuse = [&](std::string_view where, std::string_view what) {
    problems.push_back({std::string(where), fmt::format("without a scheduler {}", what), ""});
  };
  if (spec.resources.nodes != 1)
    refuse("/resources/nodes",
           fmt::format("there is this machine alone, and {} were asked for", spec.resources.nodes));
  if (spec.replicas != 1) refuse("/replicas", "there is one of each program");
  refuse_kserve(spec, "a machine without a scheduler", problems);
  if (!spec.files.empty() && spec.folder.empty())
    refuse("/folder", "the files of the program need one");
  if (!spec.image.empty())
    refuse("/image", "programs run as they are, not in images: docker compose runs those");
  const SchedulerOptions& options = spec.options;
  if (!options.partition.empty()) refuse("/options/partition", "there are no partitions or queues");
  if (!options.account.empty()) refuse("/options/account", "there are no accounts");
  if (!options.qos.empty()) refuse("/options/qos", "there is no QOS");
  if (!options.name_space.empty()) refuse("/options/name_space", "there are no namespaces");
  if (!options.device.empty()) refuse("/options/device", "there are no names of devices");
  if (options.time_limit.micros != 0) refuse("/options/time_limit", "nobody keeps a time limit");
  if (!spec.folder.empty() && (spec.folder.front() != '/' || breaks_a_line(spec.folder)))
    problems.push_back(
        {"/folder", fmt::format("\"{}\" is no absolute path on one line", printable(spec.folder)),
         ""});
}

// There is exactly one node here.
std::string_view meaning_of(RunTime what, const LaunchSpec& spec) {
  switch (what) {
    case RunTime::head_node:
      return "127.0.0.1";
    case RunTime::node_rank:
      return "0";
    case RunTime::job_id:
      return spec.id;
  }
  EXA_ASSERT(false && "every word known later has a meaning here");
}

std::string asked(const Resources& resources) {
  std::vector<std::string> parts;
  if (resources.gpus > 0) {
    std::string devices = fmt::format("{} {}", resources.gpus, info(resources.family).name);
    if (!resources.mig_profile.empty()) devices += " " + resources.mig_profile;
    if (resources.fraction_milli < 1000)
      devices += fmt::format(" × {}", format_milli(resources.fraction_milli));
    parts.push_back(std::move(devices));
  }
  if (resources.cpu_milli > 0)
    parts.push_back(fmt::format("{} cores", format_milli(resources.cpu_milli)));
  if (resources.memory_bytes > 0) parts.push_back(format_bytes(resources.memory_bytes));
  return join(parts, ", ");
}

void note_limits(const LaunchSpec& spec, std::vector<std::string>& notes) {
  const std::string resources = asked(spec.resources);
  if (!resources.empty())
    notes.push_back(fmt::format(
        "nothing is set aside without a scheduler: {} are neither kept for the program nor kept "
        "from it",
        resources));
  if (spec.volume.bytes > 0)
    notes.push_back(fmt::format("no disk of {} is made: what the program writes stays where it is",
                                format_bytes(spec.volume.bytes)));
  if (spec.restarts > 0)
    notes.push_back("nobody starts the program again without a scheduler: it runs once");
}

}  // namespace

Result<Rendered> render_local(const LaunchSpec& spec) {
  std::vector<Problem> problems = problems_of(spec.command, spec.environment);
  if (auto named = check_launch_name(spec.name); !named)
    problems.insert(problems.end(), named.error().problems.begin(), named.error().problems.end());
  check_vocabulary(spec, problems);
  if (mentions(spec.command, RunTime::job_id) && breaks_a_line(spec.id))
    problems.push_back({"/id", "holds a line break or a NUL byte", ""});
  if (!problems.empty()) return fail(invalid("launch without a scheduler", std::move(problems)));

  Rendered rendered;
  for (const Word& word : spec.command) {
    std::string text;
    for (const auto& part : word.parts) {
      const auto* literal = std::get_if<std::string>(&part);
      text += literal != nullptr ? std::string_view(*literal)
                                 : meaning_of(std::get<RunTime>(part), spec);
    }
    rendered.command.push_back(std::move(text));
  }
  rendered.environment = spec.environment;
  rendered.folder = spec.folder;
  rendered.files = spec.files;
  note_limits(spec, rendered.notes);
  return rendered;
}

}  // namespace exa
