#include "launch/training.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "base/text.h"

namespace exa {
namespace {

constexpr Strategy kTorchStrategies[] = {Strategy::ddp, Strategy::fsdp, Strategy::zero,
                                         Strategy::megatron};
constexpr Strategy kDeepspeedStrategies[] = {Strategy::ddp, Strategy::zero};
constexpr Strategy kAccelerateStrategies[] = {Strategy::ddp, Strategy::fsdp, Strategy::zero};
constexpr Strategy kMegatronStrategies[] = {Strategy::megatron};

struct LauncherInfo {
  Launcher launcher;
  std::string_view name;
  std::span<const Strategy> strategies;
  bool restarts_workers;
  std::string_view not_on_cpu;  // why; empty: it runs there
};

constexpr LauncherInfo kLaunchers[] = {
    {Launcher::torchrun, "torchrun", kTorchStrategies, true, ""},
    {Launcher::deepspeed, "deepspeed", kDeepspeedStrategies, false, "places its processes on GPUs"},
    {Launcher::accelerate, "accelerate", kAccelerateStrategies, true,
     "starts one process a node on CPUs, whatever it is asked"},
    {Launcher::megatron, "megatron", kMegatronStrategies, true, "trains on GPUs only"},
};

struct StrategyInfo {
  Strategy strategy;
  std::string_view name;
  Launcher launcher;
};

constexpr StrategyInfo kStrategies[] = {
    {Strategy::ddp, "ddp", Launcher::torchrun},
    {Strategy::fsdp, "fsdp", Launcher::torchrun},
    {Strategy::zero, "zero", Launcher::torchrun},
    {Strategy::megatron, "megatron", Launcher::megatron},
};

const LauncherInfo& info(Launcher launcher) {
  for (const LauncherInfo& row : kLaunchers)
    if (row.launcher == launcher) return row;
  EXA_ASSERT(false && "every launcher has a row");
}

const StrategyInfo& info(Strategy strategy) {
  for (const StrategyInfo& row : kStrategies)
    if (row.strategy == strategy) return row;
  EXA_ASSERT(false && "every strategy has a row");
}

bool is_count(std::string_view text) {
  return !text.empty() && text.size() <= 18 &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

void add_number(CommandLine& words, std::string_view option, int64_t value) {
  words.push_back(fmt::format("{}={}", option, value));
}

// script or module, and what it is told.
void add_program(CommandLine& words, const TrainingJob& job) {
  if (!job.module.empty()) words.push_back("--module");
  words.push_back(job.module.empty() ? job.script : job.module);
  if (job.launcher == Launcher::megatron) {
    add_number(words, "--tensor-model-parallel-size", job.tensor_parallel);
    add_number(words, "--pipeline-model-parallel-size", job.pipeline_parallel);
    if (!job.checkpoint_every.empty()) words.push_back("--save-interval=" + job.checkpoint_every);
  } else {
    words.push_back(fmt::format("--strategy={}", name(job.strategy)));
    if (!job.checkpoint_every.empty())
      words.push_back("--checkpoint-every=" + job.checkpoint_every);
  }
  for (const std::string& argument : job.arguments) words.push_back(argument);
}

CommandLine torchrun_command(const TrainingJob& job) {
  CommandLine words = {"torchrun"};
  if (job.nodes == 1) {
    words.push_back("--standalone");  // a free port, so that two jobs on a node do not meet
  } else {
    add_number(words, "--nnodes", job.nodes);
  }
  add_number(words, "--nproc_per_node", job.processes_per_node);
  if (job.nodes > 1) {
    words.push_back("--rdzv_backend=c10d");
    words.push_back({"--rdzv_endpoint=", RunTime::head_node, fmt::format(":{}", job.port)});
    words.push_back({"--rdzv_id=", RunTime::job_id});
  }
  if (job.restarts > 0) add_number(words, "--max_restarts", job.restarts);
  // 1 is the standard output alone. Torch 1.13 with Python 3.11 can read no other value, its own
  // default included: it fails with "'NoneType' object has no attribute 'get'".
  words.push_back("--log_dir=" + job.log_folder);
  words.push_back("--redirects=1");
  words.push_back("--tee=1");
  add_program(words, job);
  return words;
}

// Without ssh the launcher still reads from a hostfile how many nodes there are and how many GPUs
// each of them has, but asks none of them: names of our own will do, so that the file needs nothing
// that only the scheduler knows. Each node writes its own: on a shared folder one could read what
// another has only begun.
void add_hostfile(CommandLine& words, const TrainingJob& job) {
  std::string write = fmt::format("printf \"%s slots={}\\n\"", job.processes_per_node);
  for (int64_t node = 0; node < job.nodes; ++node) write += fmt::format(" node-{}", node);
  const Word file = {"deepspeed-hostfile-", RunTime::job_id, "-", RunTime::node_rank};
  words.insert(words.end(), {"sh", "-c", write + R"( >"$0" && exec "$@")", file});
}

CommandLine deepspeed_command(const TrainingJob& job) {
  CommandLine words;
  if (job.nodes > 1) add_hostfile(words, job);
  words.push_back("deepspeed");
  if (job.nodes > 1) {
    words.push_back({"--hostfile=deepspeed-hostfile-", RunTime::job_id, "-", RunTime::node_rank});
    words.push_back("--no_ssh");
    words.push_back({"--node_rank=", RunTime::node_rank});
    words.push_back({"--master_addr=", RunTime::head_node});
    add_number(words, "--num_nodes", job.nodes);
  }
  add_number(words, "--num_gpus", job.processes_per_node);
  add_number(words, "--master_port", job.port);
  // LOCAL_RANK tells the script, as it does under every other launcher.
  words.push_back("--no_local_rank");
  add_program(words, job);
  return words;
}

CommandLine accelerate_command(const TrainingJob& job) {
  const int64_t processes = job.nodes * job.processes_per_node;
  CommandLine words = {"accelerate", "launch"};
  // These exclude each other, and --multi_gpu is an error with one process.
  if (job.strategy == Strategy::fsdp)
    words.push_back("--use_fsdp");
  else if (job.strategy == Strategy::zero)
    words.push_back("--use_deepspeed");
  else if (processes > 1)
    words.push_back("--multi_gpu");
  if (job.on_cpu) words.push_back("--cpu");
  add_number(words, "--num_machines", job.nodes);
  add_number(words, "--num_processes", processes);  // over all nodes
  if (job.nodes > 1) {
    words.push_back({"--machine_rank=", RunTime::node_rank});
    words.push_back({"--main_process_ip=", RunTime::head_node});
    // the default starts the other nodes by pdsh
    if (job.strategy == Strategy::zero) words.push_back("--deepspeed_multinode_launcher=standard");
  }
  add_number(words, "--main_process_port", job.port);
  if (job.restarts > 0) add_number(words, "--max_restarts", job.restarts);
  add_program(words, job);
  return words;
}

class Findings {
 public:
  void unless(bool fine, std::string_view where, std::string message) {
    if (!fine) list_.push_back({std::string(where), std::move(message), ""});
  }
  std::vector<Problem> take() { return std::move(list_); }

 private:
  std::vector<Problem> list_;
};

void check_program(Findings& found, const TrainingJob& job) {
  constexpr std::string_view kLineBreak =
      "holds a line break or a NUL byte, which cannot be passed on";
  const bool both = !job.script.empty() && !job.module.empty();
  const bool neither = job.script.empty() && job.module.empty();
  found.unless(!both, "/module", "is given beside a script: one of them is what is run");
  found.unless(!neither, "/script", "is missing: a script or a module is what is run");
  for (const auto& [where, text] :
       {std::pair<std::string_view, const std::string&>{"/script", job.script},
        {"/module", job.module},
        {"/checkpoint_every", job.checkpoint_every},
        {"/log_folder", job.log_folder}}) {
    found.unless(!breaks_a_line(text), where, std::string(kLineBreak));
  }
  for (const auto& [where, text] :
       {std::pair<std::string_view, const std::string&>{"/script", job.script},
        {"/module", job.module}}) {
    found.unless(!text.starts_with('-'), where,
                 "begins with '-': the launcher would take it for an option of its own");
  }
  for (size_t i = 0; i < job.arguments.size(); ++i)
    found.unless(!breaks_a_line(job.arguments[i]), fmt::format("/arguments/{}", i),
                 std::string(kLineBreak));
  found.unless(!job.log_folder.empty(), "/log_folder", "is empty");
}

void check_parallel_sizes(Findings& found, const TrainingJob& job) {
  const bool positive = job.tensor_parallel >= 1 && job.pipeline_parallel >= 1;
  found.unless(job.tensor_parallel >= 1, "/tensor_parallel", "must be 1 or more");
  found.unless(job.pipeline_parallel >= 1, "/pipeline_parallel", "must be 1 or more");
  if (!positive || job.nodes < 1 || job.processes_per_node < 1) return;
  if (job.launcher != Launcher::megatron) {
    constexpr const char* kOnlyMegatron =
        "is told to Megatron-LM scripts only: use the launcher megatron, or an argument of the "
        "script";
    found.unless(job.tensor_parallel == 1, "/tensor_parallel", kOnlyMegatron);
    found.unless(job.pipeline_parallel == 1, "/pipeline_parallel", kOnlyMegatron);
    return;
  }
  const int64_t processes = job.nodes * job.processes_per_node;
  const bool too_large =
      job.tensor_parallel > processes || job.pipeline_parallel > processes / job.tensor_parallel;
  found.unless(!too_large && processes % (job.tensor_parallel * job.pipeline_parallel) == 0,
               "/tensor_parallel",
               fmt::format("tensor × pipeline ({} × {}) must divide the number of GPUs ({} nodes × "
                           "{} = {})",
                           job.tensor_parallel, job.pipeline_parallel, job.nodes,
                           job.processes_per_node, processes));
}

}  // namespace

std::string_view name(Launcher launcher) {
  return info(launcher).name;
}

std::optional<Launcher> find_launcher(std::string_view name) {
  for (const LauncherInfo& row : kLaunchers)
    if (row.name == name) return row.launcher;
  return std::nullopt;
}

std::vector<std::string_view> launcher_names() {
  std::vector<std::string_view> names;
  for (const LauncherInfo& row : kLaunchers) names.push_back(row.name);
  return names;
}

std::string_view name(Strategy strategy) {
  return info(strategy).name;
}

std::optional<Strategy> find_strategy(std::string_view name) {
  for (const StrategyInfo& row : kStrategies)
    if (row.name == name) return row.strategy;
  return std::nullopt;
}

std::vector<std::string_view> strategy_names() {
  std::vector<std::string_view> names;
  for (const StrategyInfo& row : kStrategies) names.push_back(row.name);
  return names;
}

Launcher launcher_for(Strategy strategy) {
  return info(strategy).launcher;
}

std::vector<Problem> problems_of(const TrainingJob& job) {
  constexpr int64_t kMostProcesses = 1'000'000;  // keeps products far from an overflow
  const LauncherInfo& launcher = info(job.launcher);
  Findings found;
  found.unless(std::ranges::find(launcher.strategies, job.strategy) != launcher.strategies.end(),
               "/launcher",
               fmt::format("{} does not start {}: {} does", launcher.name, name(job.strategy),
                           name(launcher_for(job.strategy))));
  found.unless(job.nodes >= 1 && job.nodes <= kMostProcesses, "/nodes",
               fmt::format("must lie between 1 and {}", kMostProcesses));
  found.unless(job.processes_per_node >= 1 && job.processes_per_node <= kMostProcesses,
               "/processes_per_node", fmt::format("must lie between 1 and {}", kMostProcesses));
  const bool one_process = job.nodes == 1 && job.processes_per_node == 1;
  const bool alone_with_accelerate =
      job.launcher == Launcher::accelerate && one_process && job.strategy == Strategy::ddp;
  found.unless(!job.on_cpu || launcher.not_on_cpu.empty() || alone_with_accelerate, "/launcher",
               fmt::format("{} {}: torchrun does it", launcher.name, launcher.not_on_cpu));
  found.unless(job.restarts >= 0, "/restarts", "must be 0 or more");
  found.unless(job.restarts <= 0 || launcher.restarts_workers, "/restarts",
               fmt::format("{} never starts a failed worker again: torchrun does, or let the whole "
                           "job be restarted",
                           launcher.name));
  found.unless(job.port >= 1024 && job.port <= 65535, "/port", "must lie between 1024 and 65535");
  found.unless(job.cpus_per_process >= 0, "/cpus_per_process", "must be 0 or more");
  check_program(found, job);
  check_parallel_sizes(found, job);
  found.unless(job.launcher != Launcher::megatron || job.checkpoint_every.empty() ||
                   is_count(job.checkpoint_every),
               "/checkpoint_every",
               "Megatron-LM saves every so many iterations: give their number, such as 500");
  return found.take();
}

std::vector<std::string> notes_of(const TrainingJob& job) {
  if (job.launcher != Launcher::deepspeed) return {};
  return {
      "deepspeed numbers the GPUs of a node from 0 whatever the scheduler gave it: where nodes are "
      "shared, devices must be confined to their job, or torchrun be the launcher"};
}

CommandLine training_command(const TrainingJob& job) {
  switch (job.launcher) {
    case Launcher::torchrun:
    case Launcher::megatron:
      return torchrun_command(job);
    case Launcher::deepspeed:
      return deepspeed_command(job);
    case Launcher::accelerate:
      return accelerate_command(job);
  }
  EXA_ASSERT(false && "every launcher has a command");
}

Variables training_environment(const TrainingJob& job) {
  Variables environment;
  // before Blackwell, kernels and communication overlap in the order given only with one queue
  if (job.launcher == Launcher::megatron)
    environment.emplace_back("CUDA_DEVICE_MAX_CONNECTIONS", "1");
  // torchrun otherwise says 1, and warns
  if (job.cpus_per_process > 0)
    environment.emplace_back("OMP_NUM_THREADS", std::to_string(job.cpus_per_process));
  return environment;
}

}  // namespace exa
