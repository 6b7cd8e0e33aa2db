#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launch/renderers.h"
#include "launch/scheduler_samples_for_test.h"

namespace exa {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

LaunchSpec small() {
  LaunchSpec spec;
  spec.project = "default";
  spec.name = "small";
  spec.id = "01J";
  spec.command = {"train.sh"};
  return spec;
}

TEST(LocalScript, IsTheArgumentVectorItself) {
  LaunchSpec spec = small();
  spec.command = {"prog",
                  "$(touch CANARY); `x` 'y' \"z\" \xff",
                  "",
                  {"--head=", RunTime::head_node, ":29500"},
                  {RunTime::node_rank},
                  {RunTime::job_id}};
  spec.environment = {{"A", "b c"}};
  spec.folder = "/tmp/a b";
  const auto result = render_local(spec);
  ASSERT_TRUE(result);
  EXPECT_THAT(result->command, ElementsAre("prog", "$(touch CANARY); `x` 'y' \"z\" \xff", "",
                                           "--head=127.0.0.1:29500", "0", "01J"));
  EXPECT_THAT(result->environment, ElementsAre(Pair("A", "b c")));
  EXPECT_EQ(result->folder, "/tmp/a b");
  EXPECT_THAT(result->files, IsEmpty());
  EXPECT_THAT(result->notes, IsEmpty());
}

TEST(LocalScript, NothingIsSetAsideAndThatIsSaid) {
  LaunchSpec spec = on_half_a_card();
  spec.volume = {10 * kGiB, "/home/ada"};
  spec.restarts = 1;
  const auto result = render_local(spec);
  ASSERT_TRUE(result);
  EXPECT_THAT(result->notes,
              ElementsAre(HasSubstr("1 nvidia × 0.5, 2.5 cores, 8 GiB are neither"),
                          HasSubstr("no disk of 10 GiB"), HasSubstr("it runs once")));
}

TEST(LocalScript, WhatOneMachineCannotDoIsRefusedByName) {
  LaunchSpec spec = two_nodes_of_four();
  spec.replicas = 2;
  spec.image = "x";
  spec.folder = "relative";
  spec.name = "No Name";
  spec.options.qos = "q";
  spec.options.name_space = "n";
  spec.command.push_back("two\nlines");
  const auto result = render_local(spec);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::invalid_input);
  EXPECT_THAT(
      places(result.error()),
      ElementsAre(HasSubstr("/argv/"), "/name", "/resources/nodes", "/replicas", "/image",
                  "/options/partition", "/options/account", "/options/qos", "/options/name_space",
                  "/options/device", "/options/time_limit", "/folder"));
}

TEST(LocalScript, TrainingOnThisMachineMeetsItself) {
  TrainingJob job;
  job.processes_per_node = 2;
  job.on_cpu = true;
  job.script = "train.py";
  const auto result = render_local(training_of(job));
  ASSERT_TRUE(result);
  EXPECT_THAT(result->command,
              ElementsAre("torchrun", "--standalone", "--nproc_per_node=2", "--log_dir=logs",
                          "--redirects=1", "--tee=1", "train.py", "--strategy=ddp"));
}

}  // namespace
}  // namespace exa
