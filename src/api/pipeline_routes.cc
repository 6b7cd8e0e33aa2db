// Rows and handlers of `exa pipeline …`: training runs (requirement Phase 3).
#include "api/cursor.h"
#include "api/launch_params.h"
#include "service/training_runs.h"

namespace exa {
namespace {

constexpr Surface kKind = Surface::training;

Result<Reply> run(Service& service, const Call& call) {
  RunTraining what;
  EXA_ASSIGN(what.launch, launch_request(call));
  EXA_ASSIGN(what.environment, environment_arg(call));
  what.launch.restarts = call.integer("restarts", 0);
  what.model = call.text("model");
  what.dataset = call.text("dataset");
  what.script = call.text("script");
  what.command = texts_arg(call, "command");
  return reply_with_plan(service, call, run_training(service, call.caller, std::move(what)));
}

Result<Reply> launch(Service& service, const Call& call) {
  LaunchDistributed what;
  EXA_ASSIGN(what.launch, launch_request(call));
  EXA_ASSIGN(what.environment, environment_arg(call));
  what.launch.restarts = call.integer("restarts", 0);
  what.model = call.text("model");
  what.dataset = call.text("dataset");
  if (call.has("processes_per_node"))
    what.processes_per_node = call.integer("processes_per_node", 1);
  TrainingJob& job = what.job;
  const auto strategy = find_strategy(call.text("strategy"));
  EXA_ASSERT(strategy);  // checked against the choices
  job.strategy = *strategy;
  job.launcher = find_launcher(call.text("launcher")).value_or(launcher_for(*strategy));
  job.module = call.text("module");
  job.script = call.has("script") || job.module.empty() ? call.text("script") : "";
  if (job.script.empty() && job.module.empty()) job.script = "train.py";
  job.arguments = texts_arg(call, "arguments");
  job.tensor_parallel = call.integer("tensor_parallel", 1);
  job.pipeline_parallel = call.integer("pipeline_parallel", 1);
  job.checkpoint_every = call.text("checkpoint_every");
  job.restarts = call.integer("worker_restarts", 0);
  job.port = call.integer("rendezvous_port", job.port);
  return reply_with_plan(service, call, launch_distributed(service, call.caller, std::move(what)));
}

Result<Reply> list(Service& service, const Call& call) {
  Page page{call.text("project"), "", call.integer("limit", 50)};
  EXA_ASSIGN(page.after, place_before(call, "training-runs"));
  EXA_ASSIGN(Answer answer, list_launches(service, page, kKind));
  close_cursor(answer.body, "training-runs");
  return reply_of(std::move(answer));
}

Result<Reply> show(Service& service, const Call& call) {
  return reply_of(
      show_launch(service, call.caller, call.text("project"), kKind, call.text("name")));
}

Result<Reply> wait(Service& service, const Call& call) {
  return reply_of(wait_for_launch(service, call.caller, call.text("project"), kKind,
                                  call.text("name"), seconds(1)));
}

Result<Reply> logs(Service& service, const Call& call) {
  return reply_of(launch_logs(service, call.caller, call.text("project"), kKind, call.text("name"),
                              call.integer("lines", 100)));
}

Result<Reply> cancel(Service& service, const Call& call) {
  return reply_of(
      stop_launch(service, call.caller, call.text("project"), kKind, call.text("name")));
}

Result<Reply> remove(Service& service, const Call& call) {
  return reply_of(
      delete_launch(service, call.caller, call.text("project"), kKind, call.text("name")));
}

Param run_param() {
  return launch_name_param("name of the run", "training-run");
}

Param text_param(std::string_view name, std::string_view flag, std::string_view help) {
  return {.name = name, .in = In::body, .flag = flag, .help = help};
}

Param count_param(std::string_view name, std::string_view flag, std::string_view help,
                  int64_t least, int64_t most) {
  return {.name = name,
          .in = In::body,
          .kind = Kind::integer,
          .flag = flag,
          .help = help,
          .least = least,
          .most = most};
}

std::vector<Param> run_params() {
  return {
      text_param("name", "--name", "name of the run (default: the model's and an id)"),
      text_param("dataset", "--dataset", "dataset; the program finds it as EXA_DATASET"),
      count_param("restarts", "--restarts", "start it again after a failure, so often", 0, 100)};
}

}  // namespace

std::vector<Route> pipeline_routes() {
  static const std::vector<std::string_view> kStrategies = strategy_names();
  static const std::vector<std::string_view> kLaunchers = launcher_names();
  return {
      {.id = "pipeline.run",
       .method = Method::post,
       .path = "/api/v1/training-runs",
       .command = "pipeline run",
       .tier = Tier::mutating,
       .action = "launch:write",
       .summary = "Run a training program on one node",
       .detail = "Without a command behind --, it runs `python3 SCRIPT --model=MODEL "
                 "--dataset=DATASET`. A profile fills what is not given; every flag that is given "
                 "wins over it. --dry-run shows what will be run, where and why.",
       .params =
           joined({{text_param("model", "--model", "model; the program finds it as EXA_MODEL"),
                    {.name = "script",
                     .in = In::body,
                     .flag = "--script",
                     .help = "Python program to run",
                     .fallback = "train.py"},
                    {.name = "command",
                     .in = In::body,
                     .kind = Kind::words,
                     .help = "after --: the whole command, instead of a script"}},
                   run_params(),
                   shape_params({"--gpus", "GPUs; with --mig-profile: instances"}, false),
                   target_params()}),
       .handler = run,
       .reply = "Launch",
       .is_long = true,
       .creates = true,
       .fails_with = {Code::inapplicable},
       .check = check_launch,
       .examples = {"exa pipeline run --model llama --dataset wiki --hardware-profile small "
                    "--dry-run"}},
      {.id = "pipeline.distributed_launch",
       .method = Method::post,
       .path = "/api/v1/distributed-training-runs",
       .command = "pipeline distributed launch",
       .tier = Tier::mutating,
       .action = "launch:write",
       .summary = "Train a model on several nodes",
       .detail =
           "One launcher on each node, which meet at the head node that the scheduler names. A "
           "profile gives nodes and GPUs per node as the flags would; the command is the same.",
       .params = joined(
           {{{.name = "model", .in = In::body, .help = "what is trained", .required = true},
             {.name = "strategy",
              .in = In::body,
              .kind = Kind::choice,
              .flag = "--strategy",
              .help = "how the model is spread",
              .fallback = "fsdp",
              .choices = kStrategies},
             {.name = "launcher",
              .in = In::body,
              .kind = Kind::choice,
              .flag = "--launcher",
              .help = "program that starts the workers (default: the strategy's)",
              .choices = kLaunchers},
             text_param("script", "--script", "Python program to run (default train.py)"),
             text_param("module", "--module", "Python module to run, instead of a script"),
             count_param("processes_per_node", "--processes-per-node",
                         "workers on each node (default: one for each GPU)", 1, 1024),
             count_param("tensor_parallel", "--tensor-parallel", "of Megatron-LM (default 1)", 1,
                         100'000),
             count_param("pipeline_parallel", "--pipeline-parallel", "of Megatron-LM (default 1)",
                         1, 100'000),
             text_param("checkpoint_every", "--checkpoint-every",
                        "how often the program saves its state, e.g. 10min"),
             count_param("worker_restarts", "--worker-restarts",
                         "restarts of failed workers inside the job", 0, 100),
             count_param("rendezvous_port", "--rendezvous-port",
                         "port on the head node (default 29500)", 1024, 65'535),
             {.name = "arguments",
              .in = In::body,
              .kind = Kind::words,
              .help = "after --: arguments of the program"}},
            run_params(),
            shape_params({"--gpus-per-node", "GPUs on each node; with --mig-profile: instances"},
                         true),
            target_params()}),
       .handler = launch,
       .reply = "Launch",
       .is_long = true,
       .creates = true,
       .fails_with = {Code::inapplicable},
       .check = check_launch,
       .examples = {"exa pipeline distributed launch llama --nodes 2 --gpus-per-node 4 --strategy "
                    "fsdp --cluster hpc --dry-run"}},
      {.id = "pipeline.list",
       .path = "/api/v1/training-runs",
       .command = "pipeline list",
       .action = "launch:read",
       .summary = "List training runs, the newest first, as they stood when last seen",
       .params = {limit_param(), cursor_param(), project_param()},
       .handler = list,
       .reply = "LaunchList",
       .examples = {"exa pipeline list"}},
      {.id = "pipeline.show",
       .path = "/api/v1/training-runs/{name}",
       .command = "pipeline show",
       .action = "launch:read",
       .summary = "Show a training run as it stands now",
       .params = {run_param(), project_param()},
       .handler = show,
       .reply = "Launch",
       .examples = {"exa pipeline show llama-1"}},
      {.id = "pipeline.wait",
       .path = "/api/v1/training-runs/{name}/end",
       .command = "pipeline wait",
       .action = "launch:read",
       .summary = "Follow a training run to its end",
       .detail = "Ends with exit code 1 when the run failed.",
       .params = {run_param(), project_param()},
       .handler = wait,
       .reply = "Launch",
       .is_long = true,
       .examples = {"exa pipeline wait llama-1"}},
      {.id = "pipeline.logs",
       .path = "/api/v1/training-runs/{name}/logs",
       .command = "pipeline logs",
       .action = "launch:read",
       .summary = "Show what a training run printed last",
       .params = {run_param(), lines_param(), project_param()},
       .handler = logs,
       .reply = "LaunchLogs",
       .examples = {"exa pipeline logs llama-1 --lines 20"}},
      {.id = "pipeline.cancel",
       .method = Method::post,
       .path = "/api/v1/training-runs/{name}/cancel",
       .command = "pipeline cancel",
       .tier = Tier::mutating,
       .action = "launch:write",
       .summary = "End a training run; its record stays",
       .params = {run_param(), project_param(), dry_run_param()},
       .handler = cancel,
       .reply = "Launch",
       .is_long = true,
       .examples = {"exa pipeline cancel llama-1"}},
      {.id = "pipeline.delete",
       .method = Method::del,
       .path = "/api/v1/training-runs/{name}",
       .command = "pipeline delete",
       .tier = Tier::destructive,
       .action = "launch:write",
       .summary = "End a training run if need be, and forget it",
       .params = {run_param(), project_param(), dry_run_param()},
       .handler = remove,
       .reply = "DeletedLaunch",
       .is_long = true,
       .examples = {"exa pipeline delete llama-1 --yes"}},
  };
}

}  // namespace exa
