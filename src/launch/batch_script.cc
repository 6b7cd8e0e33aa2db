#include "launch/batch_script.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/quantity.h"
#include "base/quote.h"
#include "base/text.h"
#include "launch/refusals.h"

namespace exa {
namespace {

// A shell keeps these for itself: exported, they arrive as something else or not at all (bash(1),
// "Shell Variables"; dash).
constexpr std::string_view kShellsOwn[] = {"COMP_WORDBREAKS",
                                           "DIRSTACK",
                                           "EPOCHREALTIME",
                                           "EPOCHSECONDS",
                                           "EUID",
                                           "FUNCNAME",
                                           "GROUPS",
                                           "HISTCMD",
                                           "IFS",
                                           "LINENO",
                                           "OLDPWD",
                                           "OPTERR",
                                           "OPTIND",
                                           "PIPESTATUS",
                                           "POSIXLY_CORRECT",
                                           "PPID",
                                           "PS1",
                                           "PS2",
                                           "PS4",
                                           "PWD",
                                           "RANDOM",
                                           "SECONDS",
                                           "SHELLOPTS",
                                           "SHLVL",
                                           "SRANDOM",
                                           "UID",
                                           "_"};

// Variables of the scripts themselves.
constexpr std::string_view kScriptsOwn[] = {"EXA_ATTEMPT", "EXA_HEAD_NODE", "EXA_JOB_ID",
                                            "EXA_LAUNCHER", "EXA_STATUS"};

bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool holds_only(std::string_view text, std::string_view others) {
  return std::ranges::all_of(
      text, [&](char c) { return is_alphanumeric(c) || others.find(c) != std::string_view::npos; });
}

bool is_directive_path(std::string_view text) {
  return text.size() <= 1024 && text.starts_with('/') && holds_only(text, "/.,:@+=-");
}

void check_environment(const LaunchSpec& spec, const BatchScheduler& scheduler,
                       std::span<const std::string_view> overwritten,
                       std::vector<Problem>& problems) {
  for (const auto& entry : spec.environment) {
    const std::string& key = entry.first;
    const auto is_key = [&](std::string_view name) { return name == key; };
    std::string why;
    if (std::ranges::any_of(scheduler.own_prefixes,
                            [&](std::string_view prefix) { return key.starts_with(prefix); }))
      why = fmt::format("is {}'s own, which would set or obey it", scheduler.name);
    else if (std::ranges::any_of(overwritten, is_key))
      why = fmt::format("is set by {} to the devices that the job holds", scheduler.name);
    else if (std::ranges::any_of(kScriptsOwn, is_key))
      why = "is a variable of the script itself";
    else if (key.starts_with("BASH") || std::ranges::any_of(kShellsOwn, is_key))
      why = "is the shell's own and would not arrive";
    if (!why.empty())
      problems.push_back({fmt::format("/environment/{}", printable(key)), std::move(why), ""});
  }
}

// What stands on lines that the scheduler reads itself.
void check_directives(const LaunchSpec& spec, const BatchScheduler& scheduler,
                      std::vector<Problem>& problems) {
  if (const auto named = check_launch_name(spec.name); !named)
    problems.insert(problems.end(), named.error().problems.begin(), named.error().problems.end());
  struct Field {
    std::string_view where;
    const std::string& value;
    bool required;
  };
  const Field fields[] = {{"/project", spec.project, true},
                          {"/id", spec.id, true},
                          {"/options/partition", spec.options.partition, false},
                          {"/options/account", spec.options.account, false},
                          {"/options/qos", spec.options.qos, false}};
  for (const Field& field : fields) {
    if (field.value.empty() && !field.required) continue;
    if (is_directive_word(field.value)) continue;
    problems.push_back({std::string(field.where),
                        fmt::format("\"{}\" cannot stand in a script of {}: letters, digits and "
                                    "_ . , : @ + -, beginning with a letter or digit",
                                    printable(field.value), scheduler.name),
                        ""});
  }
  if (!spec.folder.empty() && !is_directive_path(spec.folder))
    problems.push_back({"/folder",
                        fmt::format("\"{}\" cannot stand in a script of {}: an absolute path of "
                                    "letters, digits and _ / . , : @ + = -",
                                    printable(spec.folder), scheduler.name),
                        ""});
}

void check_vocabulary(const LaunchSpec& spec, const BatchScheduler& scheduler,
                      std::vector<Problem>& problems) {
  const auto refuse = [&](std::string_view where, std::string_view what) {
    problems.push_back({std::string(where), fmt::format("{} {}", scheduler.name, what), ""});
  };
  if (!spec.image.empty())
    refuse("/image", "runs programs, not images: leave it out, or run the container's own program");
  if (!spec.options.name_space.empty())
    refuse("/options/name_space", "has no namespaces: that is a word of Kubernetes");
  if (spec.replicas != 1) refuse("/replicas", "keeps one run of a job, not replicas of a service");
  refuse_kserve(spec, scheduler.name, problems);
  if (!spec.files.empty() && spec.folder.empty())
    refuse("/folder", "needs one for the files of the program");
}

bool sets_path(const LaunchSpec& spec) {
  return std::ranges::any_of(spec.environment,
                             [](const auto& entry) { return entry.first == "PATH"; });
}

std::string_view variable_of(RunTime what, const BatchScheduler& scheduler) {
  switch (what) {
    case RunTime::head_node:
      return "EXA_HEAD_NODE";
    case RunTime::node_rank:
      return scheduler.node_rank;
    case RunTime::job_id:
      return scheduler.job_id;
  }
  EXA_ASSERT(false && "every word known later has a variable");
}

std::string task_word(const Word& word, const BatchScheduler& scheduler) {
  std::string text;
  for (const auto& part : word.parts) {
    if (const auto* literal = std::get_if<std::string>(&part))
      text += shell_quote(*literal);
    else
      text += fmt::format("\"${}\"", variable_of(std::get<RunTime>(part), scheduler));
  }
  return text.empty() ? "''" : text;
}

}  // namespace

bool is_directive_word(std::string_view text) {
  return !text.empty() && text.size() <= 255 && is_alphanumeric(text.front()) &&
         holds_only(text, ".,:@+-");
}

bool is_device_word(std::string_view text) {
  return is_directive_word(text) && text.find_first_of(",:@") == std::string_view::npos &&
         text.find_first_not_of("0123456789") != std::string_view::npos;
}

std::vector<Problem> problems_of_script(const LaunchSpec& spec, const BatchScheduler& scheduler,
                                        std::span<const std::string_view> overwritten) {
  std::vector<Problem> problems = problems_of(spec.command, spec.environment);
  check_environment(spec, scheduler, overwritten, problems);
  check_directives(spec, scheduler, problems);
  check_vocabulary(spec, scheduler, problems);
  return problems;
}

std::string script_opening(const LaunchSpec& spec, const BatchScheduler& scheduler) {
  std::string text = "set -euo pipefail\n";
  // Slurm runs in /tmp what has no folder, and says so only in the log.
  if (!spec.folder.empty()) text += fmt::format("cd {}\n", shell_quote(spec.folder));
  if (sets_path(spec)) text += fmt::format("EXA_LAUNCHER=$(type -P {})\n", scheduler.launcher);
  return text;
}

std::string script_exports(const LaunchSpec& spec) {
  std::string text;
  for (const auto& [key, value] : spec.environment)
    text += fmt::format("export {}={}\n", key, shell_quote(value));
  return text;
}

std::string script_search(const LaunchSpec& spec) {
  const auto program = spec.command.empty() ? std::nullopt : literal(spec.command[0]);
  if (spec.installed_by.empty() || !program) return {};
  return fmt::format("type -P -- {} >/dev/null || {{ echo {} >&2; exit {}; }}\n",
                     shell_quote(*program), shell_quote(without_its_program(spec, "this node")),
                     kNoSuchProgram);
}

std::string task_words(const CommandLine& command, const BatchScheduler& scheduler) {
  std::string text;
  for (const Word& word : command) {
    if (!text.empty()) text += ' ';
    text += task_word(word, scheduler);
  }
  return text;
}

std::string in_a_shell(std::string_view inner) {
  return "sh -c " + shell_quote(fmt::format("exec {}", inner));
}

std::string script_run(const LaunchSpec& spec, const BatchScheduler& scheduler,
                       std::string_view launcher_options, std::string_view task,
                       std::string_view first_attempt) {
  const std::string_view launcher =
      sets_path(spec) ? std::string_view("\"$EXA_LAUNCHER\"") : scheduler.launcher;
  const std::string line = fmt::format("{} {} {}", launcher, launcher_options, task);
  if (spec.restarts <= 0) return fmt::format("exec {}\n", line);
  return fmt::format(
      "export EXA_ATTEMPT={}\n"
      "until {}; do\n"
      "  EXA_STATUS=$?\n"
      "  [ \"$EXA_ATTEMPT\" -lt {} ] || exit \"$EXA_STATUS\"\n"
      "  EXA_ATTEMPT=$((EXA_ATTEMPT + 1))\n"
      "done\n",
      first_attempt, line, spec.restarts);
}

int64_t whole_cores(int64_t cpu_milli) {
  return (cpu_milli + 999) / 1000;
}

void note_common_limits(const LaunchSpec& spec, const BatchScheduler& scheduler,
                        std::vector<std::string>& notes) {
  const int64_t cpu = spec.resources.cpu_milli;
  if (cpu % 1000 != 0)
    notes.push_back(fmt::format("{} counts whole cores: {} asked for as {}", scheduler.name,
                                format_milli(cpu), whole_cores(cpu)));
  if (spec.volume.bytes > 0)
    notes.push_back(fmt::format(
        "{} keeps no disks: no {} are set aside, what is to outlive the job belongs into {}",
        scheduler.name, format_bytes(spec.volume.bytes),
        spec.folder.empty() ? "a folder that does" : spec.folder));
}

}  // namespace exa
