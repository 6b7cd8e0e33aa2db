#include "launch/training.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"

namespace exa {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

TrainingJob job_of(Launcher launcher, Strategy strategy, int64_t nodes, int64_t gpus) {
  TrainingJob job;
  job.launcher = launcher;
  job.strategy = strategy;
  job.nodes = nodes;
  job.processes_per_node = gpus;
  job.script = launcher == Launcher::megatron ? "pretrain_gpt.py" : "train.py";
  return job;
}

// As a person would read it: words apart by blanks, what is only known later in braces.
std::string line(const CommandLine& command) {
  std::vector<std::string> words;
  for (const Word& word : command) {
    std::string text;
    for (const auto& part : word.parts) {
      if (const auto* literal = std::get_if<std::string>(&part)) text += *literal;
      if (const auto* known_later = std::get_if<RunTime>(&part))
        text += *known_later == RunTime::head_node   ? "{head}"
                : *known_later == RunTime::node_rank ? "{rank}"
                                                     : "{job}";
    }
    words.push_back(text);
  }
  return join(words, " ");
}

std::string line(const TrainingJob& job) {
  EXPECT_THAT(problems_of(job), IsEmpty());
  return line(training_command(job));
}

std::vector<std::string> places(const TrainingJob& job) {
  std::vector<std::string> list;
  for (const Problem& problem : problems_of(job)) list.push_back(problem.where);
  return list;
}

TEST(Training, EachLauncherGetsTheLineThatItReads) {
  struct Case {
    Launcher launcher;
    Strategy strategy;
    int64_t nodes, gpus;
    const char* expected;
  };
  const Case cases[] = {
      {Launcher::torchrun, Strategy::fsdp, 1, 4,
       "torchrun --standalone --nproc_per_node=4 --log_dir=logs --redirects=1 --tee=1 train.py "
       "--strategy=fsdp"},
      {Launcher::torchrun, Strategy::fsdp, 2, 4,
       "torchrun --nnodes=2 --nproc_per_node=4 --rdzv_backend=c10d --rdzv_endpoint={head}:29500 "
       "--rdzv_id={job} --log_dir=logs --redirects=1 --tee=1 train.py --strategy=fsdp"},
      {Launcher::torchrun, Strategy::megatron, 1, 2,
       "torchrun --standalone --nproc_per_node=2 --log_dir=logs --redirects=1 --tee=1 train.py "
       "--strategy=megatron"},
      {Launcher::deepspeed, Strategy::zero, 1, 4,
       "deepspeed --num_gpus=4 --master_port=29500 --no_local_rank train.py --strategy=zero"},
      {Launcher::deepspeed, Strategy::zero, 2, 4,
       "sh -c printf \"%s slots=4\\n\" node-0 node-1 >\"$0\" && exec \"$@\" "
       "deepspeed-hostfile-{job}-{rank} deepspeed --hostfile=deepspeed-hostfile-{job}-{rank} "
       "--no_ssh --node_rank={rank} --master_addr={head} --num_nodes=2 --num_gpus=4 "
       "--master_port=29500 --no_local_rank train.py --strategy=zero"},
      {Launcher::accelerate, Strategy::ddp, 1, 4,
       "accelerate launch --multi_gpu --num_machines=1 --num_processes=4 "
       "--main_process_port=29500 train.py --strategy=ddp"},
      {Launcher::accelerate, Strategy::ddp, 1, 1,
       "accelerate launch --num_machines=1 --num_processes=1 --main_process_port=29500 train.py "
       "--strategy=ddp"},
      {Launcher::accelerate, Strategy::fsdp, 2, 4,
       "accelerate launch --use_fsdp --num_machines=2 --num_processes=8 --machine_rank={rank} "
       "--main_process_ip={head} --main_process_port=29500 train.py --strategy=fsdp"},
      {Launcher::accelerate, Strategy::zero, 2, 4,
       "accelerate launch --use_deepspeed --num_machines=2 --num_processes=8 "
       "--machine_rank={rank} --main_process_ip={head} --deepspeed_multinode_launcher=standard "
       "--main_process_port=29500 train.py --strategy=zero"},
      {Launcher::megatron, Strategy::megatron, 2, 8,
       "torchrun --nnodes=2 --nproc_per_node=8 --rdzv_backend=c10d --rdzv_endpoint={head}:29500 "
       "--rdzv_id={job} --log_dir=logs --redirects=1 --tee=1 pretrain_gpt.py "
       "--tensor-model-parallel-size=1 --pipeline-model-parallel-size=1"},
  };
  for (const Case& expected : cases)
    EXPECT_EQ(line(job_of(expected.launcher, expected.strategy, expected.nodes, expected.gpus)),
              expected.expected);
}

TEST(Training, TheScriptIsToldHowOftenToSaveAndThenItsOwnArguments) {
  TrainingJob job = job_of(Launcher::torchrun, Strategy::ddp, 1, 2);
  job.checkpoint_every = "10min";
  job.arguments = {"--lr", "3e-4", "-v", "a b"};
  EXPECT_THAT(line(job),
              HasSubstr("train.py --strategy=ddp --checkpoint-every=10min --lr 3e-4 -v a b"));
  job.script = "";
  job.module = "my.training";
  EXPECT_THAT(line(job), HasSubstr("--tee=1 --module my.training --strategy=ddp"));
  job.launcher = Launcher::deepspeed;
  EXPECT_THAT(line(job), HasSubstr("--no_local_rank --module my.training --strategy=ddp"));
}

TEST(Training, AMegatronScriptIsToldItsParallelSizesAndIterations) {
  TrainingJob job = job_of(Launcher::megatron, Strategy::megatron, 2, 8);
  job.tensor_parallel = 4;
  job.pipeline_parallel = 2;
  job.checkpoint_every = "500";
  job.arguments = {"--mock-data"};
  EXPECT_THAT(line(job),
              HasSubstr("pretrain_gpt.py --tensor-model-parallel-size=4 "
                        "--pipeline-model-parallel-size=2 --save-interval=500 --mock-data"));
}

TEST(Training, RestartsPortAndLogFolderReachTheLauncher) {
  TrainingJob job = job_of(Launcher::torchrun, Strategy::ddp, 2, 2);
  job.restarts = 3;
  job.port = 31000;
  job.log_folder = "out/ranks";
  EXPECT_THAT(line(job), HasSubstr("--rdzv_endpoint={head}:31000 --rdzv_id={job} --max_restarts=3 "
                                   "--log_dir=out/ranks"));
  job.launcher = Launcher::accelerate;
  EXPECT_THAT(line(job), HasSubstr("--main_process_port=31000 --max_restarts=3"));
}

TEST(Training, NoLineOfSeveralNodesMeetsOnOneMachine) {
  for (const Launcher launcher :
       {Launcher::torchrun, Launcher::deepspeed, Launcher::accelerate, Launcher::megatron}) {
    const Strategy strategy = launcher == Launcher::megatron ? Strategy::megatron : Strategy::zero;
    const TrainingJob job = job_of(launcher, strategy, 3, 2);
    const CommandLine command = training_command(job);
    EXPECT_TRUE(mentions(command, RunTime::head_node)) << name(launcher);
    for (const char* here : {"localhost", "127.0.0.1", "standalone"})
      EXPECT_THAT(line(command), testing::Not(HasSubstr(here))) << name(launcher);
    EXPECT_THAT(problems_of(command, training_environment(job)), IsEmpty()) << name(launcher);
  }
}

TEST(Training, OneNodeNeedsNothingThatIsKnownOnlyLater) {
  for (const Launcher launcher : {Launcher::torchrun, Launcher::deepspeed, Launcher::accelerate}) {
    const CommandLine command = training_command(job_of(launcher, Strategy::zero, 1, 2));
    for (const RunTime what : {RunTime::head_node, RunTime::node_rank, RunTime::job_id})
      EXPECT_FALSE(mentions(command, what)) << name(launcher);
  }
}

TEST(Training, TheEnvironmentHasThreadsAndMegatronsOneQueue) {
  TrainingJob job = job_of(Launcher::torchrun, Strategy::ddp, 1, 2);
  EXPECT_THAT(training_environment(job), IsEmpty());
  job.cpus_per_process = 8;
  EXPECT_THAT(training_environment(job), ElementsAre(Pair("OMP_NUM_THREADS", "8")));
  job.launcher = Launcher::megatron;
  EXPECT_THAT(training_environment(job),
              ElementsAre(Pair("CUDA_DEVICE_MAX_CONNECTIONS", "1"), Pair("OMP_NUM_THREADS", "8")));
}

TEST(Training, AStrategyHasALauncherThatCanDoIt) {
  EXPECT_THAT(strategy_names(), ElementsAre("ddp", "fsdp", "zero", "megatron"));
  EXPECT_THAT(launcher_names(), ElementsAre("torchrun", "deepspeed", "accelerate", "megatron"));
  for (const std::string_view word : strategy_names()) {
    const Strategy strategy = find_strategy(word).value();
    EXPECT_EQ(name(strategy), word);
    EXPECT_THAT(problems_of(job_of(launcher_for(strategy), strategy, 2, 4)), IsEmpty()) << word;
  }
  for (const std::string_view word : launcher_names())
    EXPECT_EQ(name(find_launcher(word).value()), word);
  EXPECT_FALSE(find_strategy("FSDP"));
  EXPECT_FALSE(find_launcher("mpirun"));
}

TEST(Training, EveryProblemOfAJobIsNamedAtOnce) {
  TrainingJob job;
  job.nodes = 0;
  job.processes_per_node = -1;
  job.port = 80;
  job.restarts = -1;
  job.cpus_per_process = -1;
  job.arguments = {"fine", "two\nlines"};
  job.log_folder = "";
  EXPECT_THAT(places(job),
              ElementsAre("/nodes", "/processes_per_node", "/restarts", "/port",
                          "/cpus_per_process", "/script", "/arguments/1", "/log_folder"));
}

TEST(Training, WhatALauncherCannotDoIsRefusedByName) {
  struct Case {
    const char* why;
    Launcher launcher;
    Strategy strategy;
    void (*change)(TrainingJob&);
    const char* where;
  };
  const Case cases[] = {
      {"deepspeed shards by ZeRO", Launcher::deepspeed, Strategy::fsdp, [](TrainingJob&) {},
       "/launcher"},
      {"accelerate passes no parallel sizes", Launcher::accelerate, Strategy::megatron,
       [](TrainingJob&) {}, "/launcher"},
      {"Megatron-LM is itself a strategy", Launcher::megatron, Strategy::fsdp, [](TrainingJob&) {},
       "/launcher"},
      {"accelerate would start a single process", Launcher::accelerate, Strategy::ddp,
       [](TrainingJob& job) { job.on_cpu = true; }, "/launcher"},
      {"deepspeed counts GPUs", Launcher::deepspeed, Strategy::zero,
       [](TrainingJob& job) { job.on_cpu = true; }, "/launcher"},
      {"Megatron-LM wants GPUs", Launcher::megatron, Strategy::megatron,
       [](TrainingJob& job) { job.on_cpu = true; }, "/launcher"},
      {"deepspeed restarts nobody", Launcher::deepspeed, Strategy::zero,
       [](TrainingJob& job) { job.restarts = 1; }, "/restarts"},
      {"only Megatron-LM is told", Launcher::torchrun, Strategy::megatron,
       [](TrainingJob& job) { job.tensor_parallel = 2; }, "/tensor_parallel"},
      {"3 does not divide 8", Launcher::megatron, Strategy::megatron,
       [](TrainingJob& job) { job.tensor_parallel = 3; }, "/tensor_parallel"},
      {"2 × 8 is more than 8", Launcher::megatron, Strategy::megatron,
       [](TrainingJob& job) {
         job.tensor_parallel = 2;
         job.pipeline_parallel = 8;
       },
       "/tensor_parallel"},
      {"a product that no integer holds", Launcher::megatron, Strategy::megatron,
       [](TrainingJob& job) {
         job.tensor_parallel = int64_t{1} << 62;
         job.pipeline_parallel = int64_t{1} << 62;
       },
       "/tensor_parallel"},
      {"Megatron-LM counts iterations", Launcher::megatron, Strategy::megatron,
       [](TrainingJob& job) { job.checkpoint_every = "10min"; }, "/checkpoint_every"},
      {"script and module", Launcher::torchrun, Strategy::ddp,
       [](TrainingJob& job) { job.module = "m"; }, "/module"},
      {"an option for a script", Launcher::torchrun, Strategy::ddp,
       [](TrainingJob& job) { job.script = "--no_python"; }, "/script"},
      {"above the last port", Launcher::torchrun, Strategy::ddp,
       [](TrainingJob& job) { job.port = 65536; }, "/port"},
  };
  for (const Case& refused : cases) {
    TrainingJob job = job_of(refused.launcher, refused.strategy, 2, 4);
    refused.change(job);
    EXPECT_THAT(places(job), ElementsAre(refused.where)) << refused.why;
  }
}

TEST(Training, OneProcessOnACpuIsFineForAccelerate) {
  TrainingJob job = job_of(Launcher::accelerate, Strategy::ddp, 1, 1);
  job.on_cpu = true;
  EXPECT_EQ(line(job),
            "accelerate launch --cpu --num_machines=1 --num_processes=1 --main_process_port=29500 "
            "train.py --strategy=ddp");
}

TEST(Training, DeepspeedsCountingOfGpusIsNoted) {
  EXPECT_THAT(notes_of(job_of(Launcher::deepspeed, Strategy::zero, 1, 2)),
              ElementsAre(HasSubstr("from 0")));
  EXPECT_THAT(notes_of(job_of(Launcher::torchrun, Strategy::zero, 1, 2)), IsEmpty());
}

}  // namespace
}  // namespace exa
