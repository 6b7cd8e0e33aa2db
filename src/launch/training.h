// The command lines of distributed training, each right for its launcher. Requirement Phase 3;
// semantics §8. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launch/command_line.h"

namespace exa {

enum class Launcher { torchrun, deepspeed, accelerate, megatron };
std::string_view name(Launcher launcher);
std::optional<Launcher> find_launcher(std::string_view name);
std::vector<std::string_view> launcher_names();

enum class Strategy { ddp, fsdp, zero, megatron };
std::string_view name(Strategy strategy);
std::optional<Strategy> find_strategy(std::string_view name);
std::vector<std::string_view> strategy_names();

// What a strategy is launched with unless somebody says otherwise. ZeRO too with torchrun, which
// DeepSpeed's library reads its ranks from: DeepSpeed's own launcher wants a hostfile and numbers
// the GPUs of a node from 0 whatever the scheduler gave (see notes_of).
Launcher launcher_for(Strategy strategy);

struct TrainingJob {
  Strategy strategy = Strategy::ddp;
  Launcher launcher = Launcher::torchrun;
  int64_t nodes = 1;
  int64_t processes_per_node = 1;      // GPUs of a node; on cpu: what was asked for
  bool on_cpu = false;                 // gloo instead of a device's own backend
  std::string script;                  // "train.py", or "-m module" as `module`
  std::string module;                  // instead of a script
  std::vector<std::string> arguments;  // of the script, passed on as they are
  int64_t tensor_parallel = 1;         // megatron; tensor × pipeline divides nodes × GPUs
  int64_t pipeline_parallel = 1;
  std::string checkpoint_every;  // "10min", as the script reads it; empty: not said
  int64_t restarts = 0;          // of failed workers, inside the job
  int64_t port = 29500;          // rendezvous, 1024 to 65535
  int64_t cpus_per_process = 0;  // for OMP_NUM_THREADS; 0: not known
  // Where torchrun keeps what each rank prints, below the working folder; all of it still goes to
  // the job's own output.
  std::string log_folder = "logs";
};

// Everything that is wrong with it, at once: a launcher that cannot do the strategy, parallel sizes
// that do not divide the processes, ports, neither or both of script and module.
std::vector<Problem> problems_of(const TrainingJob& job);

// What there is to know about it that is no problem, a sentence each.
std::vector<std::string> notes_of(const TrainingJob& job);

// To be run once on every node. The rendezvous of several nodes is the head node's, as the
// scheduler names it; one node meets itself. What the script is told comes after it:
// --strategy=NAME, --checkpoint-every=TIME, then its own arguments; a Megatron-LM script knows
// neither and gets its parallel sizes and --save-interval. `job` has no problems.
CommandLine training_command(const TrainingJob& job);
Variables training_environment(const TrainingJob& job);

}  // namespace exa
