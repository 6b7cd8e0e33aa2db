// What a real server (1.20, with a real kubelet) said, recorded under testdata/launch, and what it
// means.
#include "launch/kubernetes_status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launch/specs_for_test.h"

namespace exa::kubernetes {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Recorded {
  json::value main;
  json::array pods;
};

Recorded recorded(std::string_view name) {
  const std::string text =
      contents_of(fmt::format("{}/launch/kubernetes/observed/{}.json", EXA_TESTDATA, name));
  const auto value = parse_json(text, name);
  EXPECT_TRUE(value) << name;
  return {value->at("main"), value->at("pods").as_array()};
}

struct Meaning {
  std::string_view file;
  JobState state;
  std::string_view reason;
  std::optional<int> exit_code;
  bool started;
  bool ended;
};

TEST(KubernetesStatus, WhatAServerSaysIsReadRight) {
  const Meaning kMeanings[] = {
      {"job-succeeded", JobState::succeeded, "", 0, true, true},
      {"job-failed", JobState::failed,
       "exit code 3 (BackoffLimitExceeded: Job has reached the specified backoff limit)", 3, true,
       true},
      {"job-deadline",
       JobState::failed,
       "DeadlineExceeded: Job was active longer than specified deadline",
       {},
       true,
       true},
      {"job-out-of-memory", JobState::failed,
       "OOMKilled (BackoffLimitExceeded: Job has reached the specified backoff limit)", 137, true,
       true},
      {"job-running", JobState::running, "", {}, true, false},
      {"job-unschedulable",
       JobState::pending,
       "Unschedulable: 0/20 nodes are available: 1 Insufficient nvidia.com/gpu, 19 node(s) were "
       "unschedulable.",
       {},
       false,
       false},
      {"job-partly-running",
       JobState::pending,
       "2 of 3 pods run: Unschedulable: 0/20 nodes are available: 1 Insufficient nvidia.com/gpu, "
       "19 node(s) "
       "were unschedulable.",
       {},
       true,
       false},
      {"job-image-missing",
       JobState::pending,
       "ImagePullBackOff: Back-off pulling image \"127.0.0.1:1/nothing:1\"",
       {},
       false,
       false},
      {"pod-running", JobState::running, "", {}, true, false},
      {"pod-failed", JobState::failed, "exit code 7", 7, true, true},
      {"deployment-ready", JobState::running, "", {}, true, false},
      {"deployment-partly-ready",
       JobState::running,
       "2 of 3 replicas are ready: Unschedulable: 0/20 nodes are available: 1 Insufficient "
       "nvidia.com/gpu, "
       "19 node(s) were unschedulable.",
       {},
       true,
       false},
  };
  for (const Meaning& row : kMeanings) {
    const Recorded said = recorded(row.file);
    const Observed seen = observed_of(said.main, said.pods);
    EXPECT_EQ(seen.state, row.state) << row.file;
    EXPECT_EQ(seen.reason, row.reason) << row.file;
    EXPECT_EQ(seen.exit_code, row.exit_code) << row.file;
    EXPECT_EQ(seen.started.has_value(), row.started) << row.file;
    EXPECT_EQ(seen.ended.has_value(), row.ended) << row.file;
    EXPECT_EQ(has_ended(said.main), row.ended) << row.file;
  }
}

TEST(KubernetesStatus, AServiceWhoseReplicasEndSaysHowTheyDid) {
  const Recorded said = recorded("deployment-crashing");
  const Observed seen = observed_of(said.main, said.pods);
  EXPECT_EQ(seen.state, JobState::pending);
  EXPECT_THAT(
      seen.reason,
      testing::MatchesRegex(
          "0 of 2 replicas are ready: CrashLoopBackOff: back-off .*\\(it ended with 7, Error\\)"));
}

TEST(KubernetesStatus, TimesAreThoseOfTheContainersAndTheJob) {
  const Recorded said = recorded("job-failed");
  const Observed seen = observed_of(said.main, said.pods);
  EXPECT_EQ(format_rfc3339(*seen.started), "2026-11-30T21:13:09.000000Z");
  EXPECT_EQ(format_rfc3339(*seen.ended), "2026-11-30T21:13:11.000000Z");
  EXPECT_THAT(seen.nodes, ElementsAre("localhost"));
}

// --- jobs of several nodes, which that server does not have: by hand from the API reference

json::value pod(std::string_view name, std::string_view index, std::string_view node,
                std::string_view phase) {
  json::value made = json::object{
      {"metadata",
       json::object{
           {"name", name},
           {"creationTimestamp", "2026-11-30T21:00:00Z"},
           {"annotations", json::object{{"batch.kubernetes.io/job-completion-index", index}}}}},
      {"spec", json::object{{"nodeName", node}}},
      {"status", json::object{{"phase", phase}}}};
  return made;
}

json::value job() {
  return json::object{{"kind", "Job"}, {"metadata", json::object()}, {"status", json::object()}};
}

TEST(KubernetesStatus, NodesStandInTheOrderOfTheirRanks) {
  const json::array pods{pod("z", "10", "n10", "Running"), pod("y", "2", "n2", "Running"),
                         pod("x", "0", "n0", "Running"), pod("w", "1", "n2", "Running")};
  EXPECT_THAT(observed_of(job(), pods).nodes, ElementsAre("n0", "n2", "n10"));
  EXPECT_EQ(pod_with_the_log(pods), "x");
}

TEST(KubernetesStatus, TheNewestPodOfTheFirstNodeHasTheLog) {
  json::array pods{pod("a-first-try", "0", "n0", "Failed"),
                   pod("b-second-try", "0", "n0", "Running"), pod("c-other", "1", "n1", "Running")};
  pods[1].at("metadata").as_object()["creationTimestamp"] = "2026-11-30T21:05:00Z";
  pods[2].at("metadata").as_object()["creationTimestamp"] = "2026-11-30T21:09:00Z";
  EXPECT_EQ(pod_with_the_log(pods), "b-second-try");
  EXPECT_EQ(pod_with_the_log({}), "");
}

TEST(KubernetesStatus, APodThatIsReplacedIsNotLookedAt) {
  json::array pods{pod("old", "0", "lost", "Pending"), pod("new", "0", "n1", "Running")};
  pods[0].at("metadata").as_object()["deletionTimestamp"] = "2026-11-30T21:05:00Z";
  const Observed seen = observed_of(job(), pods);
  EXPECT_EQ(seen.state, JobState::running);
  EXPECT_THAT(seen.nodes, ElementsAre("n1"));
}

TEST(KubernetesStatus, WhatWasToldToGoIsCancelledUnlessItWasOver) {
  json::value main = job();
  main.at("metadata").as_object()["deletionTimestamp"] = "2026-11-30T21:05:00Z";
  EXPECT_EQ(observed_of(main, {pod("a", "0", "n0", "Running")}).state, JobState::cancelled);
  const json::value complete = json::object{{"type", "Complete"}, {"status", "True"}};
  main.at("status").as_object()["conditions"] = json::array{complete};
  EXPECT_EQ(observed_of(main, json::array{pod("a", "0", "n0", "Succeeded")}).state,
            JobState::succeeded);
}

TEST(KubernetesStatus, AnEvictedPodSaysSo) {
  json::value evicted = pod("a", "", "n0", "Failed");
  evicted.at("status").as_object()["reason"] = "Evicted";
  evicted.at("status").as_object()["message"] = "The node was low on resource: memory.\x1b[31m";
  json::value main = evicted;
  main.as_object()["kind"] = "Pod";
  const Observed seen = observed_of(main, json::array{evicted});
  EXPECT_EQ(seen.state, JobState::failed);
  EXPECT_EQ(seen.reason, "Evicted: The node was low on resource: memory.\\x1b[31m");
}

TEST(KubernetesStatus, AJobWithoutPodsWaits) {
  const Observed seen = observed_of(job(), {});
  EXPECT_EQ(seen.state, JobState::pending);
  EXPECT_EQ(seen.reason, "");
  EXPECT_THAT(seen.nodes, IsEmpty());
}

TEST(KubernetesStatus, NoAnswerOfAnyShapeIsTakenForAnEnd) {
  const json::value kOdd[] = {
      nullptr,
      7,
      "text",
      json::array{1, 2},
      json::object{{"kind", "Job"}, {"status", 3}},
      json::object{{"kind", "Pod"}, {"status", json::object{{"phase", json::array()}}}}};
  for (const json::value& odd : kOdd) {
    const json::array pods{odd};
    const Observed seen = observed_of(odd, pods);
    EXPECT_TRUE(seen.state == JobState::pending || seen.state == JobState::unknown) << to_text(odd);
    EXPECT_FALSE(has_ended(odd));
  }
}

json::value inference_service(json::object status) {
  return json::object{{"kind", "InferenceService"},
                      {"metadata", json::object{{"generation", 2}}},
                      {"status", std::move(status)}};
}

json::object condition_of(std::string_view type, std::string_view status,
                          std::string_view reason = "", std::string_view message = "") {
  return {{"type", type}, {"status", status}, {"reason", reason}, {"message", message}};
}

// Written from KServe's description of its conditions: it was not there to be recorded.
TEST(KubernetesStatus, AnInferenceServiceStandsAsItsConditionsSay) {
  struct Said {
    json::object status;
    JobState state;
    std::string_view reason;
  };
  const Said kSaid[] = {
      {{}, JobState::pending, "KServe has not said anything of it yet"},
      {{{"conditions", json::array{condition_of("Ready", "True")}}}, JobState::running, ""},
      {{{"conditions", json::array{condition_of("Ready", "True")}}, {"observedGeneration", 2}},
       JobState::running,
       ""},
      {{{"conditions", json::array{condition_of("Ready", "True")}}, {"observedGeneration", 1}},
       JobState::pending,
       "KServe has not looked at the change yet"},
      {{{"conditions", json::array{condition_of("Ready", "Unknown")}}}, JobState::pending, ""},
      {{{"conditions",
         json::array{condition_of("PredictorReady", "False", "RevisionFailed", "no image"),
                     condition_of("Ready", "False", "Failed", "predictor")}}},
       JobState::pending,
       "Failed: predictor"},
      {{{"conditions",
         json::array{condition_of("PredictorReady", "False", "RevisionFailed", "no image"),
                     condition_of("Ready", "False")}}},
       JobState::pending,
       "RevisionFailed: no image"},
  };
  for (const Said& row : kSaid) {
    const Observed seen = observed_of(inference_service(row.status), {});
    EXPECT_EQ(seen.state, row.state) << to_text(row.status);
    EXPECT_EQ(seen.reason, row.reason) << to_text(row.status);
  }
}

TEST(KubernetesStatus, AnInferenceServiceSaysWhereItAnswers) {
  const json::value said = inference_service({{"url", "http://chat.example.com\x1b[2J"}});
  EXPECT_EQ(observed_of(said, {}).url, "http://chat.example.com\\x1b[2J");
  EXPECT_EQ(observed_of(inference_service({{"url", 7}}), {}).url, "");
}

TEST(KubernetesStatus, APodSaysWhyWhenKServeDoesNot) {
  json::value waiting = pod("chat-predictor", "", "n1", "Pending");
  waiting.at("status").as_object()["containerStatuses"] = json::array{json::object{
      {"state",
       json::object{{"waiting", json::object{{"reason", "ImagePullBackOff"}, {"message", ""}}}}}}};
  const Observed seen = observed_of(
      inference_service({{"conditions", json::array{condition_of("Ready", "Unknown")}}}),
      json::array{waiting});
  EXPECT_EQ(seen.reason, "ImagePullBackOff");
  EXPECT_THAT(seen.nodes, ElementsAre("n1"));
}

}  // namespace
}  // namespace exa::kubernetes
