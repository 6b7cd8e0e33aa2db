// What sbatch's and srun's options say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launch/vocabulary_reading_for_test.h"

namespace exa {
namespace {

using sample::notes_of;
using sample::open_in;
using sample::read_as;
using sample::write_over;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Row {
  std::string_view options;
  std::string_view fields;
};

TEST(Sbatch, EverySpellingOfAnAmountMeansTheSame) {
  constexpr Row kRows[] = {
      {"-N2 --gres=gpu:a100:4 -c 8 --mem=32G -t 1:00:00",
       R"({"accelerator_family":"nvidia","accelerator_model_hint":"A100","gpu_count":4,"cpu":8,"memory_gb":32,"nodes":2})"},
      {"-N 2", R"({"accelerator_family":"cpu","nodes":2})"},
      {"--nodes=2", R"({"accelerator_family":"cpu","nodes":2})"},
      {"--nodes 2-2", R"({"accelerator_family":"cpu","nodes":2})"},
      {"--gpus-per-node=a100:2",
       R"({"accelerator_family":"nvidia","accelerator_model_hint":"A100","gpu_count":2})"},
      {"-N2 --gpus=h100:8",
       R"({"accelerator_family":"nvidia","accelerator_model_hint":"H100","gpu_count":4,"nodes":2})"},
      {"-G mi300x",
       R"({"accelerator_family":"amd","accelerator_model_hint":"MI300X","gpu_count":1})"},
      {"--gres=gres/gpu:a100",
       R"({"accelerator_family":"nvidia","accelerator_model_hint":"A100","gpu_count":1})"},
      {"--gres=hpu:gaudi2:8",
       R"({"accelerator_family":"intel-gaudi","accelerator_model_hint":"gaudi2","gpu_count":8})"},
      {"--gres=hpu:8", R"({"accelerator_family":"intel-gaudi","gpu_count":8})"},
      {"--ntasks-per-node=4 --gpus-per-task=a100:1 -c 6",
       R"({"accelerator_family":"nvidia","accelerator_model_hint":"A100","gpu_count":4,"cpu":24})"},
      {"--sockets-per-node=2 --gpus-per-socket=a100:2",
       R"({"accelerator_family":"nvidia","accelerator_model_hint":"A100","gpu_count":4})"},
      {"-N1 -n4", R"({"accelerator_family":"cpu","cpu":4,"nodes":1})"},
      {"-n 8 -N2 --ntasks-per-node=6 -c2", R"({"accelerator_family":"cpu","cpu":8,"nodes":2})"},
      {"-c8 --mem-per-cpu=2G", R"({"accelerator_family":"cpu","cpu":8,"memory_gb":16})"},
      {"--mem=500", R"({"accelerator_family":"cpu","memory_gb":0.48828125})"},
      {"--mem=1500K", R"({"accelerator_family":"cpu","memory_gb":0.001953125})"},
      {"--mem=1T", R"({"accelerator_family":"cpu","memory_gb":1024})"},
      {"--gres=gpu:a100:2 --mem-per-gpu=40G --cpus-per-gpu=4",
       R"({"accelerator_family":"nvidia","accelerator_model_hint":"A100","gpu_count":2,"cpu":8,"memory_gb":80})"},
      {"--gres=gpu:a100_1g.10gb:2",
       R"({"accelerator_family":"nvidia","accelerator_model_hint":"A100","gpu_count":2,"mig_profile":"1g.10gb"})"},
      {"--gres=gpu:nvidia_a100-sxm4-80gb_1g.10gb",
       R"({"accelerator_family":"nvidia","accelerator_model_hint":"nvidia_a100-sxm4-80gb","gpu_count":1,"mig_profile":"1g.10gb"})"},
      {"--gres=gpu:1g.10gb:3",
       R"({"accelerator_family":"nvidia","gpu_count":3,"mig_profile":"1g.10gb"})"},
      {"--gres=gpu:2 --constraint=a100",
       R"({"accelerator_family":"nvidia","accelerator_model_hint":"A100","gpu_count":2})"},
      {"--gres=gpu:2 -C 'h100&cuda-12.4'",
       R"({"accelerator_family":"nvidia","accelerator_model_hint":"H100","gpu_count":2,"driver_tag":"cuda-12.4"})"},
      {"sbatch -N1 job.sh --mem=99G", R"({"accelerator_family":"cpu","nodes":1})"},
      {"--gpus-per-n=a100:2 --exclusive",  // getopt takes what is short for one option only
       R"({"accelerator_family":"nvidia","accelerator_model_hint":"A100","gpu_count":2})"},
      {"-vN2", R"({"accelerator_family":"cpu","nodes":2})"},
      {"", R"({"accelerator_family":"cpu"})"},
  };
  for (const Row& row : kRows) EXPECT_EQ(read_as("sbatch", row.options), row.fields) << row.options;
}

TEST(Sbatch, WhatWouldHaveToBeGuessedIsRefused) {
  constexpr Row kRows[] = {
      {"-N 2-4",
       "error -N 2-4 is a range; a profile asks for one number of nodes (write "
       "--nodes=2 or --nodes=4)\n"},
      {"-N two", "error -N \"two\" is not a number of nodes\n"},
      {"-n 8 -c 2",
       "error -n on how many nodes 8 tasks run is not said (add --nodes, or write "
       "--ntasks-per-node instead)\n"},
      {"-n 8 --ntasks-per-node=4",
       "error -n on how many nodes 8 tasks run is not said (add --nodes, "
       "or write --ntasks-per-node instead)\n"},
      {"-N2 -n5", "error -n 5 tasks on 2 nodes are not alike on every node\n"},
      {"--gpus=8",
       "error --gpus on how many nodes 8 GPUs are is not said (add --nodes, or write "
       "--gpus-per-node)\n"},
      {"-N3 -G 8", "error -G 8 GPUs on 3 nodes are not alike on every node\n"},
      {"--gres=gpu:a100:1,gpu:h100:1",
       "error --gres asks for other devices than were asked for before; a profile has one kind\n"},
      {"--gres=gpu:0.5", "error --gres 0.5 devices: Slurm counts whole ones\n"},
      {"--gpus-per-socket=2",
       "error --gpus-per-socket how many sockets a node has is not said (add "
       "--sockets-per-node, or write --gpus-per-node)\n"},
      {"--cpus-per-gpu=4", "error --cpus-per-gpu no GPU is asked for\n"},
      {"--mem=1.5G", "error --mem \"1.5G\" is not an amount of memory such as 32G or 500M\n"},
      {"--mem=1G --mem-per-cpu=1G",
       "error --mem-per-cpu memory is asked for in another way already\n"},
      {"--tres-per-task=cpu:4",
       "error --tres-per-task is not read (write --cpus-per-task and --gpus-per-task)\n"},
      {"-N $NODES",
       "error -N \"$NODES\" is known only to the shell that runs the line (write it "
       "out, or quote what is meant as it stands)\n"},
      {"-N", "error -N -N needs a value\n"},
      {"--gpus-per-nod", "error --gpus-per-nod --gpus-per-nod needs a value\n"},
      {"--constraint=a100&ib",
       "error sbatch \"&\" ends the command (quote it where it belongs to an "
       "option)\n"},
      {"-N2 --gpusper 4",
       "error --gpusper --gpusper is no option of sbatch that is known, so \"4\" may be its value "
       "or "
       "not (did you mean --gpus?)\n"},
      {"-Z", "error -Z -Z is no option of sbatch that is known\n"},
      {"-N2 'a", "error sbatch a ' is never closed\n"},
      {"--gres=gpu:max-1100:1",
       "error --gres max-1100 is of no family that a profile may ask for\n"},
  };
  for (const Row& row : kRows) EXPECT_EQ(read_as("sbatch", row.options), row.fields) << row.options;
}

TEST(Sbatch, EveryProblemIsNamedAtOnce) {
  const std::string problems = read_as("sbatch", "-N 2-4 --mem=x --gres=gpu:a:b:c");
  EXPECT_THAT(problems, HasSubstr("error -N "));
  EXPECT_THAT(problems, HasSubstr("error --mem "));
  EXPECT_THAT(problems, HasSubstr("error --gres "));
}

TEST(Sbatch, WhatAProfileHasNoFieldForIsNoted) {
  EXPECT_THAT(notes_of("sbatch", "-p gpu --time=1:00:00 -Q --exclusive --gres=gpu:a100:2,nvme:1"),
              ElementsAre("--gres nvme is no accelerator that is known", "-p no field of a profile",
                          "--time no field of a profile", "-Q no field of a profile",
                          "--exclusive whole nodes: what they have beyond the shape is not asked "
                          "for"));
  EXPECT_THAT(notes_of("sbatch", "-C 'a100|h100' --gres=gpu:a100:1"),
              ElementsAre("-C a profile has no field for features of nodes"));
  EXPECT_THAT(notes_of("sbatch", "--job-name=x -N1 -c 4"), IsEmpty());
}

TEST(Sbatch, WhatItLeavesOpenIsSaid) {
  EXPECT_THAT(open_in("sbatch", "--gres=gpu:2"), ElementsAre("accelerator_family"));
  EXPECT_THAT(notes_of("sbatch", "--gres=gpu:2"),
              ElementsAre("--gres gpu does not say whose device it is"));
  EXPECT_EQ(read_as("sbatch", "--gres=gpu:2"), R"({"gpu_count":2})");
  EXPECT_THAT(open_in("sbatch", "--gres=shard:4"), ElementsAre("gpu_count"));
  EXPECT_EQ(read_as("sbatch", "--gres=shard:4"), "{}");
  EXPECT_EQ(read_as("sbatch", "--gres=gpu:l40s:1,shard:1"),
            R"({"accelerator_family":"nvidia","accelerator_model_hint":"L40S","gpu_count":1})");
  EXPECT_THAT(open_in("sbatch", "--mem=0"), ElementsAre("memory_gb"));
}

constexpr std::string_view kScript = R"(#!/bin/bash
# a note
#SBATCH --job-name=train   # whose
#SBATCH -N 2 -p gpu
#SBATCH --gres=gpu:a100:4,nvme:1 --time=1:00:00
#SBATCH --constraint=ib&fast
##SBATCH --mem=99G

module load cuda
#SBATCH --mem=98G
srun python train.py --lr 0.1
)";

TEST(Sbatch, TheHeadOfAScriptIsReadUpToItsFirstCommand) {
  EXPECT_EQ(
      read_as("sbatch", kScript, "job.sh"),
      R"({"accelerator_family":"nvidia","accelerator_model_hint":"A100","gpu_count":4,"nodes":2})");
  EXPECT_THAT(notes_of("sbatch", kScript, "job.sh"),
              ElementsAre("job.sh:5:9 --gres: nvme is no accelerator that is known",
                          "job.sh:6:9 --constraint: a profile has no field for features of nodes",
                          "job.sh:4:14 -p: no field of a profile",
                          "job.sh:5:34 --time: no field of a profile"));
  EXPECT_EQ(read_as("sbatch", "#!/bin/sh\n#SBATCH -N 1-2\n#SBATCH hetjob\n", "job.sh"),
            "error job.sh:3:9 \"hetjob\" is no option\n"
            "error job.sh:2:9 -N: 1-2 is a range; a profile asks for one number of nodes (write "
            "--nodes=1 or --nodes=2)\n");
}

TEST(Sbatch, AScriptKeepsEverythingElse) {
  EXPECT_EQ(write_over("sbatch", R"({"accelerator_family":"nvidia","accelerator_model_hint":"H100",
                                     "gpu_count":8,"cpu":16,"memory_gb":64,"nodes":4})",
                       kScript),
            R"(#!/bin/bash
# a note
#SBATCH --job-name=train   # whose
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=16
#SBATCH --mem=64G
#SBATCH --gres=gpu:h100:8,nvme:1
#SBATCH  -p gpu
#SBATCH  --time=1:00:00
#SBATCH --constraint=ib&fast
##SBATCH --mem=99G

module load cuda
#SBATCH --mem=98G
srun python train.py --lr 0.1
)");
}

TEST(Sbatch, AScriptWithoutOptionsGetsThem) {
  EXPECT_EQ(
      write_over("sbatch", R"({"accelerator_family":"cpu","cpu":2})", "#!/bin/sh\nhostname\n"),
      "#!/bin/sh\n#SBATCH --nodes=1\n#SBATCH --ntasks-per-node=1\n#SBATCH "
      "--cpus-per-task=2\nhostname\n");
}

TEST(Srun, ACommandLineKeepsItsProgram) {
  constexpr std::string_view kLine =
      "srun -vN2 --gres gpu:a100:4 -p gpu python -c 'a b' | tee $LOG\n";
  EXPECT_EQ(
      read_as("srun", kLine),
      R"({"accelerator_family":"nvidia","accelerator_model_hint":"A100","gpu_count":4,"nodes":2})");
  EXPECT_EQ(write_over("srun", R"({"accelerator_family":"nvidia","accelerator_model_hint":"A100",
                                   "gpu_count":4,"nodes":2})",
                       kLine),
            kLine);
  EXPECT_EQ(write_over("srun", R"({"accelerator_family":"cpu","cpu":2})", kLine),
            "srun -v --nodes=1 --ntasks-per-node=1 --cpus-per-task=2 -p gpu python -c 'a b' | tee "
            "$LOG\n");
  EXPECT_EQ(write_over("srun", R"({"accelerator_family":"cpu","cpu":2})", "srun hostname"),
            "srun --nodes=1 --ntasks-per-node=1 --cpus-per-task=2 hostname");
}

TEST(Srun, AJobOfSeveralPartsIsRefused) {
  EXPECT_THAT(read_as("srun", "srun -N1 : -N2 a.out"), HasSubstr("several parts"));
}

TEST(Sbatch, OptionsAloneStayOptions) {
  EXPECT_EQ(write_over("sbatch", R"({"accelerator_family":"cpu","memory_gb":2})", "-N3 -t 5"),
            "--nodes=1 --mem=2G -t 5");
  EXPECT_EQ(write_over("sbatch", R"({"accelerator_family":"cpu","memory_gb":2})", "-t 5 -N3"),
            "-t 5 --nodes=1 --mem=2G");
}

TEST(Sbatch, AWordOfTheSitesOwnIsAskedForAsItStands) {
  const auto type_for = [](std::string hint) {
    Shape shape;
    shape.accelerator_family = Family::nvidia;
    shape.accelerator_model_hint = std::move(hint);
    shape.gpu_count = 1;
    const RenderedShape rendered = render_shape(*find_vocabulary("srun"), shape, "x");
    const size_t at = rendered.text.find("gpu:");
    return rendered.text.substr(at, rendered.text.size() - at - 1);
  };
  EXPECT_EQ(type_for("nvidia_a100-sxm4-80gb"), "gpu:nvidia_a100-sxm4-80gb:1");
  EXPECT_EQ(type_for("A100-SXM4-80GB"), "gpu:a100:1");
  EXPECT_EQ(type_for("A100"), "gpu:a100:1");
  EXPECT_EQ(type_for("a:b"), "gpu:1");
  EXPECT_EQ(type_for(""), "gpu:1");
}

}  // namespace
}  // namespace exa
