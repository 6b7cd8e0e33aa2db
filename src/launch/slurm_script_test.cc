#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launch/renderers.h"
#include "launch/scheduler_samples_for_test.h"

namespace exa {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Rendered rendered(const LaunchSpec& spec) {
  const auto result = render_slurm(spec);
  if (!result) {
    ADD_FAILURE() << result.error().message << ": "
                  << (result.error().problems.empty() ? "" : result.error().problems[0].message);
    return {};
  }
  return *result;
}

std::string script(const LaunchSpec& spec) {
  const Rendered result = rendered(spec);
  return result.files.empty() ? "" : result.files[0].text;
}

std::vector<std::string> refused(const LaunchSpec& spec) {
  const auto result = render_slurm(spec);
  if (result) return {};
  EXPECT_EQ(result.error().code, Code::invalid_input);
  return places(result.error());
}

LaunchSpec small() {
  LaunchSpec spec;
  spec.project = "default";
  spec.name = "small";
  spec.id = "1";
  spec.command = {"train.sh"};
  return spec;
}

TEST(SlurmScript, ScriptsAreThoseThatAPersonApproved) {
  for (const Sample& sample : scheduler_samples()) {
    SCOPED_TRACE(sample.name);
    const Rendered result = rendered(sample.spec);
    EXPECT_THAT(result.command, ElementsAre("sbatch", "--parsable", "job.sbatch"));
    ASSERT_EQ(result.files.size(), 1);
    EXPECT_EQ(result.files[0].name, "job.sbatch");
    expect_as_kept(sample.name + ".sbatch", result.files[0].text);
  }
}

TEST(SlurmScript, WhatIsNotAskedHasNoLine) {
  EXPECT_EQ(script(small()),
            "#!/bin/bash\n"
            "#SBATCH --job-name=exa-training-small\n"
            "#SBATCH --comment=\"training default/small 1\"\n"
            "#SBATCH --nodes=1\n"
            "#SBATCH --ntasks-per-node=1\n"
            "#SBATCH --no-requeue\n"
            "set -euo pipefail\n"
            "umask \"${EXA_UMASK:-$(umask)}\"\n"
            "unset EXA_UMASK\n"
            "\n"
            "exec srun --nodes=1 --ntasks=1 --ntasks-per-node=1 --kill-on-bad-exit=1 --export=ALL "
            "-- train.sh\n");
  EXPECT_THAT(rendered(small()).notes, IsEmpty());
}

TEST(SlurmScript, DevicesAreAskedForInTheWordsOfTheirFamily) {
  struct Case {
    const char* why;
    Family family;
    int64_t gpus;
    const char* mig;
    int64_t fraction_milli, shares;
    const char* device;
    const char* gres;
    const char* note;  // part of the first; empty: none
  };
  const Case cases[] = {
      {"any model", Family::nvidia, 2, "", 1000, 0, "", "gpu:2", "of any model or vendor"},
      {"the cluster's own type", Family::nvidia, 2, "", 1000, 0, "gpu:a100", "gpu:a100:2", ""},
      {"AMD too is gres/gpu", Family::amd, 8, "", 1000, 0, "gpu:mi300x", "gpu:mi300x:8", ""},
      {"Gaudi", Family::intel_gaudi, 8, "", 1000, 0, "", "hpu:8", "of any model"},
      {"the other name of Gaudi", Family::intel_gaudi, 8, "", 1000, 0, "gaudi:gaudi2",
       "gaudi:gaudi2:8", "nothing of which gres/gaudi it holds"},
      {"TPU", Family::tpu, 4, "", 1000, 0, "tpu:v5", "tpu:v5:4", "nothing of which"},
      {"MIG by its profile", Family::nvidia, 3, "1g.10gb", 1000, 0, "", "gpu:1g.10gb:3",
       "refuses the job"},
      {"MIG as the cluster calls it", Family::nvidia, 1, "1g.10gb", 1000, 0,
       "gpu:nvidia_a100-sxm4-80gb_1g.10gb", "gpu:nvidia_a100-sxm4-80gb_1g.10gb:1", ""},
      {"MIG by a word that says nothing", Family::nvidia, 1, "1g.10gb", 1000, 0, "gpu:small",
       "gpu:small:1", "says that it is a MIG profile 1g.10gb"},
      {"half of eight shards", Family::nvidia, 1, "", 500, 8, "", "shard:4", "4 of its 8 shards:"},
      {"a third is rounded up", Family::amd, 1, "", 333, 4, "gpu:mi300x", "shard:mi300x:2",
       "2 of its 4 shards, rounded up"},
      {"shards by their own name", Family::nvidia, 1, "", 250, 8, "shard:l40s", "shard:l40s:2",
       "2 of its 8"},
      {"nobody knows the shards", Family::nvidia, 1, "", 500, 0, "gpu:l40s", "gpu:l40s:1",
       "into is not known"},
      {"half of each of two cards", Family::nvidia, 2, "", 500, 8, "gpu:l40s", "gpu:l40s:2",
       "not on each"},
      {"no shares of a Gaudi", Family::intel_gaudi, 1, "", 500, 8, "hpu:gaudi2", "hpu:gaudi2:1",
       "are not shared"},
      {"no devices", Family::nvidia, 0, "", 1000, 0, "gpu:a100", "", ""},
      {"a cpu has none", Family::cpu, 0, "", 1000, 0, "", "", ""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.why);
    LaunchSpec spec = small();
    spec.resources = {c.family, "", c.gpus, c.fraction_milli, c.mig};
    spec.options.device = c.device;
    spec.options.shares_per_device = c.shares;
    const Rendered result = rendered(spec);
    const std::string line = fmt::format("\n#SBATCH --gres={}\n", c.gres);
    EXPECT_THAT(result.files[0].text, *c.gres == '\0'
                                          ? Not(HasSubstr("--gres"))
                                          : testing::Matcher<std::string>(HasSubstr(line)));
    if (*c.note == '\0')
      EXPECT_THAT(result.notes, IsEmpty());
    else
      EXPECT_THAT(result.notes, Contains(HasSubstr(c.note)));
  }
}

TEST(SlurmScript, AModelThatIsNotAskedForIsNamed) {
  LaunchSpec spec = two_nodes_of_four();
  spec.options.device = "";
  EXPECT_THAT(rendered(spec).notes,
              ElementsAre(AllOf(HasSubstr("A100-80GB needs"), HasSubstr("gpu:TYPE"))));
}

TEST(SlurmScript, AmountsAreRoundedUpAndNeverToZero) {
  LaunchSpec spec = small();
  spec.resources.cpu_milli = 1;
  spec.resources.memory_bytes = 1;
  spec.options.time_limit = {1};
  Rendered result = rendered(spec);
  EXPECT_THAT(result.files[0].text, AllOf(HasSubstr("--cpus-per-task=1\n"), HasSubstr("--mem=1M\n"),
                                          HasSubstr("--time=0-00:00:01\n"),
                                          HasSubstr("srun --nodes=1 --ntasks=1 --ntasks-per-node=1 "
                                                    "--cpus-per-task=1 ")));
  EXPECT_THAT(result.notes, ElementsAre(HasSubstr("0.001 asked for as 1")));
  spec.resources.cpu_milli = 8000;
  spec.resources.memory_bytes = 32 * kGiB;
  spec.options.time_limit = seconds(49 * 3600 + 61);
  result = rendered(spec);
  EXPECT_THAT(result.files[0].text,
              AllOf(HasSubstr("--cpus-per-task=8\n"), HasSubstr("--mem=32768M\n"),
                    HasSubstr("--time=2-01:01:01\n")));
  EXPECT_THAT(result.notes, IsEmpty());
}

TEST(SlurmScript, OnlyWhatATaskAloneKnowsNeedsAShellInIt) {
  LaunchSpec spec = small();
  spec.command = {"a", {"--head=", RunTime::head_node, ":29500"}, {RunTime::job_id}};
  EXPECT_THAT(script(spec), HasSubstr("-- a --head=\"$EXA_HEAD_NODE\":29500 \"$SLURM_JOB_ID\"\n"));
  spec.command.push_back({"--rank=", RunTime::node_rank});
  EXPECT_THAT(script(spec),
              HasSubstr("-- sh -c 'exec a --head=\"$EXA_HEAD_NODE\":29500 \"$SLURM_JOB_ID\" "
                        "--rank=\"$SLURM_PROCID\"'\n"));
  spec.command = {"a", ":", "b"};  // srun would run two programs
  EXPECT_THAT(script(spec), HasSubstr("-- sh -c 'exec a : b'\n"));
  spec.command = {"a", {"", ":"}, "b"};
  EXPECT_THAT(script(spec), HasSubstr("-- sh -c "));
}

TEST(SlurmScript, TheHeadNodeIsLookedUpOnlyWhereItIsNeeded) {
  LaunchSpec spec = small();
  EXPECT_THAT(script(spec), Not(HasSubstr("scontrol")));
  spec.command.push_back({RunTime::head_node});
  EXPECT_THAT(script(spec), HasSubstr("scontrol show hostnames \"$SLURM_JOB_NODELIST\""));
}

TEST(SlurmScript, EverythingThatItCannotCarryIsRefusedAtOnceByName) {
  LaunchSpec spec = small();
  spec.project = "two words";
  spec.name = "Small";
  spec.id = "";
  spec.folder = "relative";
  spec.image = "jupyter/scipy-notebook:latest";
  spec.replicas = 2;
  spec.options.partition = "a\n#SBATCH --uid=0";
  spec.options.account = "-a";
  spec.options.qos = "a b";
  spec.options.name_space = "default";
  spec.command = {"a", "two\nlines"};
  EXPECT_THAT(refused(spec), ElementsAre("/argv/1", "/name", "/project", "/id",
                                         "/options/partition", "/options/account", "/options/qos",
                                         "/folder", "/image", "/options/name_space", "/replicas"));
}

TEST(SlurmScript, NothingButAPlainWordStandsOnALineThatSlurmReads) {
  const char* hostile[] = {"a b",  "a\"b", "a'b", "a`b", "$(b)", "a;b",   "a#b",  "a\\b", "a%j",
                           "\xff", "a\tb", "a=b", "a/b", "ä",    "a\x01", "a\nb", "a&b",  "<a"};
  for (const char* word : hostile) {
    SCOPED_TRACE(word);
    LaunchSpec spec = small();
    spec.options.partition = word;
    EXPECT_THAT(refused(spec), ElementsAre("/options/partition"));
  }
  for (const char* folder : {"/a b", "/a%j", "/a\"", "/a$b", "/a\n", "/a\\n", "a", "/~", "/a;b"}) {
    SCOPED_TRACE(folder);
    LaunchSpec spec = small();
    spec.folder = folder;
    EXPECT_THAT(refused(spec), ElementsAre("/folder"));
  }
  for (const char* device :
       {"gpu:", ":a100", "gpu:a100:4", "gpu,license:x", "gpu:4", "mps", "a100"}) {
    SCOPED_TRACE(device);
    LaunchSpec spec = small();
    spec.resources.family = Family::nvidia;
    spec.resources.gpus = 1;
    spec.options.device = device;
    EXPECT_THAT(refused(spec), ElementsAre("/options/device"));
  }
  LaunchSpec spec = on_a_slice();
  spec.resources.mig_profile = "1g.10gb,gpu:8";
  EXPECT_THAT(refused(spec), ElementsAre("/resources/mig_profile"));
}

TEST(SlurmScript, VariablesThatWouldNotArriveAreRefused) {
  for (const char* key : {"SLURM_JOB_ID", "SBATCH_UID", "SRUN_DEBUG", "BASH_ENV", "UID", "IFS",
                          "RANDOM", "PWD", "_", "EXA_HEAD_NODE", "EXA_ATTEMPT"}) {
    LaunchSpec spec = small();
    spec.environment = {{key, "1"}};
    EXPECT_THAT(refused(spec), ElementsAre(fmt::format("/environment/{}", key)));
  }
  LaunchSpec spec = small();
  spec.environment = {{"CUDA_VISIBLE_DEVICES", ""}};
  EXPECT_THAT(refused(spec), IsEmpty()) << "nobody else sets it in a job without devices";
  spec.resources.family = Family::nvidia;
  spec.resources.gpus = 1;
  EXPECT_THAT(refused(spec), ElementsAre("/environment/CUDA_VISIBLE_DEVICES"));
}

TEST(SlurmScript, AFailedProgramIsStartedAgainAndALostNodeQueuesTheJobAnew) {
  LaunchSpec spec = small();
  EXPECT_THAT(script(spec), AllOf(HasSubstr("#SBATCH --no-requeue\n"), Not(HasSubstr("until"))));
  spec.restarts = 2;
  EXPECT_THAT(script(spec), AllOf(HasSubstr("#SBATCH --requeue\n#SBATCH --open-mode=append\n"),
                                  HasSubstr("export EXA_ATTEMPT=${SLURM_RESTART_COUNT:-0}\n"),
                                  HasSubstr("[ \"$EXA_ATTEMPT\" -lt 2 ] ||")));
}

TEST(SlurmScript, ADiskIsNotedBecauseNothingIsSetAside) {
  LaunchSpec spec = notebook("home");
  spec.resources.gpus = 0;
  spec.resources.cpu_milli = 1000;
  spec.volume = {10 * kGiB, "/home/ada"};
  EXPECT_THAT(rendered(spec).notes,
              ElementsAre(AllOf(HasSubstr("no 10 GiB"), HasSubstr("/home/ada/work"))));
}

}  // namespace
}  // namespace exa
