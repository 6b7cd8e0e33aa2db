// What a real Docker (20.10) said of containers, recorded under testdata/launch, and what it means.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launch/compose.h"
#include "launch/specs_for_test.h"

namespace exa {
namespace {

json::value recorded(std::string_view name) {
  const auto value = parse_json(
      contents_of(fmt::format("{}/launch/compose/observed/{}.json", EXA_TESTDATA, name)), name);
  EXPECT_TRUE(value) << name;
  return *value;
}

struct Meaning {
  std::string_view file;
  JobState state;
  std::string_view reason;
  std::optional<int> exit_code;
  bool started;
  bool ended;
};

TEST(ComposeStatus, WhatDockerSaysIsReadRight) {
  const Meaning kMeanings[] = {
      {"created", JobState::pending, "made, and not started yet", {}, false, false},
      {"running", JobState::running, "", {}, true, false},
      {"paused", JobState::running, "paused", {}, true, false},
      {"restarting", JobState::pending, "it failed with 4 and is started again", {}, true, false},
      {"stopped", JobState::failed, "ended by signal 9", 137, true, true},
      {"succeeded", JobState::succeeded, "", 0, true, true},
      {"failed", JobState::failed, "", 7, true, true},
      {"out-of-memory", JobState::failed, "OUT_OF_MEMORY", 137, true, true},
      {"out-of-memory-within", JobState::succeeded, "", 0, true, true},
      {"no-device",
       JobState::failed,
       R"(could not select device driver "" with capabilities: [[gpu]])",
       {},
       false,
       false}};
  for (const Meaning& row : kMeanings) {
    const auto seen = observed_of_container(recorded(row.file));
    ASSERT_TRUE(seen) << row.file;
    EXPECT_EQ(seen->state, row.state) << row.file;
    EXPECT_EQ(seen->reason, row.reason) << row.file;
    EXPECT_EQ(seen->exit_code, row.exit_code) << row.file;
    EXPECT_EQ(seen->started.has_value(), row.started) << row.file;
    EXPECT_EQ(seen->ended.has_value(), row.ended) << row.file;
    EXPECT_EQ(seen->job.size(), 12U) << row.file;
  }
}

TEST(ComposeStatus, NothingEndsBeforeItStarts) {
  const json::value quick = recorded("succeeded");  // Docker says 2.7 ms before its start
  const auto seen = observed_of_container(quick);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->ended, seen->started);
}

TEST(ComposeStatus, AProgramThatIsNotThereIsSaidInDockersWords) {
  const auto seen = observed_of_container(recorded("no-program"));
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->state, JobState::failed);
  EXPECT_THAT(seen->reason, testing::HasSubstr("no-such-program"));
}

TEST(ComposeStatus, AStateThatIsNotKnownIsNotGuessed) {
  json::value strange = recorded("running");
  strange.at("State").as_object()["Status"] = "dreaming";
  EXPECT_EQ(observed_of_container(strange).error().code, Code::unreadable_output);
  EXPECT_EQ(observed_of_container(json::object()).error().code, Code::unreadable_output);
  EXPECT_EQ(observed_of_container("text").error().code, Code::unreadable_output);
}

TEST(ComposeStatus, NoTwoLaunchesShareAName) {
  LaunchSpec one = workbench_for_test();
  LaunchSpec other = one;
  EXPECT_EQ(compose_project(one), "exa_vision_workbench_notebook");
  one.project = "a";
  one.name = "b-workbench-c";
  other.project = "a-workbench-b";
  other.name = "c";
  EXPECT_NE(compose_project(one), compose_project(other));
}

}  // namespace
}  // namespace exa
