// What the batch scripts of Slurm and Flux have in common. A scheduler reads the directives at the
// head of a script by itself, where no quoting reaches: only text of a strict pattern stands there,
// and all else is refused by name. Everything below them is shell, quoted by base/quote.h. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "launch/launch_spec.h"

namespace exa {

struct BatchScheduler {
  std::string_view name;                           // "Slurm"
  std::string_view launcher;                       // that starts tasks within a job: "srun"
  std::string_view node_rank;                      // variable of each task
  std::string_view job_id;                         // variable of each task and of the script
  std::span<const std::string_view> own_prefixes;  // of variables that it sets or obeys itself
};

// Letters, digits and _ . , : @ + -, beginning with a letter, digit or '_'.
bool is_directive_word(std::string_view text);
// The same without , : @, which have a meaning in lists of devices and properties; not only digits.
bool is_device_word(std::string_view text);

// Everything that keeps `spec` from becoming such a script: its command and environment, names,
// folder, options, variables that would not arrive, and what no batch system has a word for.
// `overwritten` are variables that the scheduler sets to what the job holds.
std::vector<Problem> problems_of_script(const LaunchSpec& spec, const BatchScheduler& scheduler,
                                        std::span<const std::string_view> overwritten);

// What every script begins with below its directives: failures end it, and its folder is there.
std::string script_opening(const LaunchSpec& spec, const BatchScheduler& scheduler);

// The program's environment; the last before the program, because PATH may be in it.
std::string script_exports(const LaunchSpec& spec);

// Ends the script where a program is missing that its launch can say how to get; empty: no such.
std::string script_search(const LaunchSpec& spec);

// The program's words, as arguments of the launcher: `torchrun
// --rdzv_endpoint="$EXA_HEAD_NODE":29500`.
std::string task_words(const CommandLine& command, const BatchScheduler& scheduler);
// The same within a shell in each task: for what only a task knows, and for words that the launcher
// would take for its own: `sh -c 'exec torchrun …'`. `inner` is task_words, or what became of it.
std::string in_a_shell(std::string_view inner);

// The last line: the launcher in place of the script or, with restarts, again and again. Slurm's
// and Flux's own ways of queueing a job anew know nothing of a program that failed, or bring a
// cancelled job back.
std::string script_run(const LaunchSpec& spec, const BatchScheduler& scheduler,
                       std::string_view launcher_options, std::string_view task,
                       std::string_view first_attempt);

int64_t whole_cores(int64_t cpu_milli);  // rounded up

// Sentences for Rendered::notes that both need.
void note_common_limits(const LaunchSpec& spec, const BatchScheduler& scheduler,
                        std::vector<std::string>& notes);

}  // namespace exa
