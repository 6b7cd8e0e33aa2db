// Launches on a real API server, scheduler and kubelet: run by tests/with_kubernetes with
// KUBE_TEST_KUBELET=1 (make test-kubernetes).
#include <chrono>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kubernetes_for_test.h"

namespace exa {
namespace {

using kubernetes::Api;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class KubernetesLaunch : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    make_namespace();
    open_pretended_nodes(false);
  }
};

class KubernetesPlacement : public testing::Test {
 protected:
  static void SetUpTestSuite() { open_pretended_nodes(true); }
};

// --- what runs

TEST_F(KubernetesLaunch, AJobRunsToItsEndAndItsOutputIsRead) {
  const Launched job(small("hello", {"sh", "-c", "echo one; echo two; echo three"}));
  EXPECT_EQ(job.job(), "job.batch/exa-training-hello");
  const Observed seen = job.wait_for(JobState::succeeded);
  EXPECT_EQ(seen.exit_code, 0);
  EXPECT_THAT(seen.nodes, ElementsAre("localhost"));
  ASSERT_TRUE(seen.started && seen.ended);
  EXPECT_LE(*seen.started, *seen.ended);
  EXPECT_EQ(job.logs(), "one\ntwo\nthree\n");
  EXPECT_EQ(job.logs(2), "two\nthree\n");
}

TEST_F(KubernetesLaunch, AScriptAmongItsFilesRunsAndSaysWhatItPutOut) {
  LaunchSpec spec = small("files", {"sh", "run", "apply"});
  spec.files = {{"run",
                 "echo \"EXA_OUTPUTS {\\\"old\\\": 1}\"\n"
                 "echo \"EXA_OUTPUTS {\\\"did\\\": \\\"$1\\\", \\\"port\\\": $(cat port)}\"\n"
                 "touch here 2>/dev/null && echo writable; seq 2000\n"},
                {"port", "8080"}};
  {
    const Launched job(spec);
    job.wait_for(JobState::succeeded);
    EXPECT_EQ(job.outputs().value_or("nothing"), R"({"did": "apply", "port": 8080})");
    EXPECT_THAT(job.logs(10'000), testing::Not(HasSubstr("writable")));
  }
  // its files go with it
  const auto left = api().get("/api/v1/namespaces/default/configmaps/exa-training-files");
  ASSERT_TRUE(left) << left.error().message;
  EXPECT_FALSE(*left);
  spec.id = "files-2";
  spec.files[0].text = "echo nothing\n";
  const Launched quiet(spec);
  quiet.wait_for(JobState::succeeded);
  ASSERT_FALSE(quiet.outputs());
  EXPECT_EQ(quiet.outputs().error().code, Code::not_found);
}

TEST_F(KubernetesLaunch, AJobThatFailsSaysHow) {
  const Launched job(small("fails", {"sh", "-c", "exit 3"}));
  const Observed seen = job.wait_for(JobState::failed);
  EXPECT_EQ(seen.exit_code, 3);
  EXPECT_THAT(seen.reason, HasSubstr("exit code 3 (BackoffLimitExceeded"));
  EXPECT_TRUE(seen.ended);
}

TEST_F(KubernetesLaunch, AJobOverItsTimeLimitSaysSo) {
  LaunchSpec spec = small("slow", {"sleep", "600"});
  spec.options.time_limit = seconds(3);
  const Launched job(spec);
  const Observed seen = job.wait_for(JobState::failed);
  EXPECT_THAT(seen.reason, HasSubstr("DeadlineExceeded"));
}

TEST_F(KubernetesLaunch, AJobThatTakesTooMuchMemorySaysSo) {
  LaunchSpec spec =
      small("hungry", {"busybox", "dd", "if=/dev/zero", "of=/dev/null", "bs=256M", "count=1"});
  spec.resources.memory_bytes = 16 * kMiB;
  const Launched job(spec);
  const Observed seen = job.wait_for(JobState::failed);
  EXPECT_THAT(seen.reason, HasSubstr("OOMKilled"));
  EXPECT_EQ(seen.exit_code, 137);
}

TEST_F(KubernetesLaunch, WhatFitsNowhereWaitsAndSaysWhy) {
  LaunchSpec spec = small("toobig", {"true"});
  spec.resources = {Family::nvidia, "", 64, 1000, "", 0, 0, 1};
  const Launched job(spec);
  const Observed seen =
      job.wait([](const Observed& o) { return o.reason.starts_with("Unschedulable"); });
  EXPECT_EQ(seen.state, JobState::pending);
  EXPECT_THAT(seen.reason, HasSubstr("Insufficient nvidia.com/gpu"));
  EXPECT_THAT(seen.nodes, IsEmpty());
  EXPECT_FALSE(seen.started);
}

TEST_F(KubernetesLaunch, AnImageThatIsNotThereIsToldByName) {
  LaunchSpec spec = small("noimage", {"true"});
  spec.image = "127.0.0.1:1/nothing:1";
  const Launched job(spec);
  const Observed seen =
      job.wait([](const Observed& o) { return o.reason.find("ImagePull") != std::string::npos; });
  EXPECT_EQ(seen.state, JobState::pending);
  EXPECT_EQ(driver().logs(spec, "", 10).error().code, Code::not_found);
}

TEST_F(KubernetesLaunch, ARunningJobIsCancelledAndGone) {
  const LaunchSpec spec = small("long", {"sleep", "600"});
  const Launched job(spec);
  EXPECT_EQ(job.wait_for(JobState::running).state, JobState::running);
  ASSERT_TRUE(driver().cancel(spec, job.job()));
  for (int tries = 0; tries < 60; ++tries) {
    const auto seen = driver().find(spec, job.job());
    ASSERT_TRUE(seen) << seen.error().message;
    if (!*seen) return;
    EXPECT_EQ((*seen)->state, JobState::cancelled);
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
  FAIL() << "it is still there";
}

TEST_F(KubernetesLaunch, CancellingWhatIsNotThereIsNoError) {
  EXPECT_TRUE(driver().cancel(small("never", {"true"}), "job.batch/exa-training-never"));
  EXPECT_FALSE(*driver().find(small("never", {"true"}), ""));
}

// --- byte for byte through API server, kubelet and runtime

TEST_F(KubernetesLaunch, TextsReachTheProgramByteForByte) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::mt19937_64 random(seed);
  LaunchSpec spec = small(
      "bytes",
      {"sh", "-c", "for a; do printf '%s\\n' \"$a\"; done; printf '%s\\n' \"$A\" \"$B\"", "sh"});
  std::string expected;
  for (int i = 0; i < 200; ++i) {
    const std::string text = random_text(random, 10);
    spec.command.emplace_back(text);
    expected += text + "\n";
  }
  spec.environment = {{"A", "$(HOME) $$ $(A) " + random_text(random, 20)},
                      {"B", "$(A)" + random_text(random, 20)}};
  for (const auto& [key, value] : spec.environment) expected += value + "\n";
  const Launched job(spec);
  job.wait_for(JobState::succeeded);
  EXPECT_EQ(job.logs(), expected);
}

TEST_F(KubernetesLaunch, APodOutsideOfAJobKnowsItsOwnAddress) {
  LaunchSpec spec = small("address", {"sh", "-c", "echo \"$1\"; sleep 600", "sh"});
  spec.kind = Surface::workbench;
  spec.command.push_back(Word{RunTime::head_node, " ", RunTime::node_rank, " ", RunTime::job_id});
  const Launched workbench(spec);
  workbench.wait([&](const Observed&) { return workbench.logs().ends_with('\n'); });
  EXPECT_THAT(workbench.logs(), testing::MatchesRegex("[0-9.]+ 0 address-1\n"));
}

// --- names

TEST_F(KubernetesLaunch, ASubmissionIsFoundAgainAndNotRepeated) {
  const LaunchSpec spec = small("again", {"sleep", "600"});
  const Launched job(spec);
  const auto second = driver().submit(spec, *driver().render(spec));
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(*second, job.job());
}

TEST_F(KubernetesLaunch, ANameInUseIsRefusedAndOneThatIsOverGivesWay) {
  LaunchSpec next = small("name", {"true"});
  next.id = "name-2";
  {
    const Launched job(small("name", {"sleep", "600"}));
    job.wait_for(JobState::running);
    const auto refused = driver().submit(next, *driver().render(next));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::conflict);
    EXPECT_THAT(refused.error().message, HasSubstr("of launch name-1 still runs"));
    LaunchSpec other = next;
    other.project = "speech";
    const auto foreign = driver().submit(other, *driver().render(other));
    ASSERT_FALSE(foreign);
    EXPECT_THAT(foreign.error().message, HasSubstr("is not of this project"));
  }
  const Launched over(small("over", {"true"}));
  over.wait_for(JobState::succeeded);
  LaunchSpec anew = small("over", {"true"});
  anew.id = "over-2";
  const Launched replaced(anew);
  replaced.wait_for(JobState::succeeded);
  EXPECT_FALSE(*driver().find(small("over", {"true"}), ""));
}

TEST_F(KubernetesLaunch, ARefusalLeavesNothingBehind) {
  LaunchSpec spec = workbench_for_test();
  spec.name = "refused";
  spec.options.name_space = "no-such-namespace";
  const auto job = driver().submit(spec, *driver().render(spec));
  ASSERT_FALSE(job);
  EXPECT_EQ(job.error().code, Code::unresolvable);
  EXPECT_THAT(job.error().message, HasSubstr("no-such-namespace"));
  // the pod is refused, behind a volume and a service that would do
  spec.options.name_space.clear();
  spec.environment.clear();
  auto rendered = *driver().render(spec);
  std::string& text = rendered.files[0].text;
  const size_t policy = text.find("restartPolicy: Never");
  ASSERT_NE(policy, std::string::npos);
  text.replace(policy, 20, "restartPolicy: Wrong");
  const auto wrong = driver().submit(spec, rendered);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, Code::unresolvable);
  EXPECT_THAT(wrong.error().message, HasSubstr("restartPolicy"));
  Api server = api();
  EXPECT_FALSE(*server.get("/api/v1/namespaces/default/services/exa-workbench-refused"));
  EXPECT_FALSE(
      *server.get("/api/v1/namespaces/default/persistentvolumeclaims/exa-workbench-refused-home"));
}

TEST_F(KubernetesLaunch, RanksNeedAServerThatHasThem) {
  LaunchSpec spec = training_for_test();
  const auto job = driver().submit(spec, *driver().render(spec));
  ASSERT_FALSE(job);
  EXPECT_EQ(job.error().code, Code::unresolvable);
  EXPECT_THAT(job.error().message,
              HasSubstr("v1.20.2: ranks of a job's nodes come from indexed jobs"));
}

TEST_F(KubernetesLaunch, WhoMayNotIsToldSo) {
  ClusterAddress outsider = address();
  outsider.kubeconfig = from_environment("KUBE_TEST_OUTSIDER_KUBECONFIG");
  const LaunchSpec spec = small("outsider", {"true"});
  const auto job = KubernetesDriver(outsider, unwatched()).submit(spec, *driver().render(spec));
  ASSERT_FALSE(job);
  EXPECT_EQ(job.error().code, Code::forbidden);
}

// --- workbenches and services

TEST_F(KubernetesLaunch, TheVolumeOfAWorkbenchOutlivesItAndIsWaitedFor) {
  LaunchSpec spec = small("bench", {"sleep", "600"});
  spec.kind = Surface::workbench;
  spec.volume = {kGiB, "/data"};
  spec.port = 8888;
  Api server = api();
  const std::string claim =
      "/api/v1/namespaces/default/persistentvolumeclaims/exa-workbench-bench-home";
  std::string uid;
  {
    const Launched workbench(spec);
    // nothing makes volumes here
    const Observed seen = workbench.wait([](const Observed& o) { return !o.reason.empty(); });
    EXPECT_EQ(seen.state, JobState::pending);
    EXPECT_THAT(seen.reason, HasSubstr("unbound immediate PersistentVolumeClaims"));
    uid = at(**server.get(claim), "/metadata/uid").as_string();
  }
  EXPECT_EQ(at(**server.get(claim), "/metadata/uid"), json::value(uid));
  LaunchSpec larger = spec;
  larger.id = "bench-2";
  larger.volume.bytes = 2 * kGiB;
  const auto refused = driver().submit(larger, *driver().render(larger));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("has 1 GiB, and 2 GiB are asked for"));
  ASSERT_TRUE(driver().delete_volume(spec));
}

TEST_F(KubernetesLaunch, AServiceIsReadyWhenItListensAndIsChangedInPlace) {
  LaunchSpec spec = small("web", {"busybox", "httpd", "-f", "-p", "8000"});
  spec.kind = Surface::serving;
  spec.port = 8000;
  spec.replicas = 2;
  const Launched service(spec);
  EXPECT_EQ(service.job(), "deployment.apps/exa-serving-web");
  const Observed seen = service.wait(
      [](const Observed& o) { return o.state == JobState::running && o.reason.empty(); });
  EXPECT_THAT(seen.nodes, ElementsAre("localhost"));
  Api server = api();
  const std::string path = "/apis/apps/v1/namespaces/default/deployments/exa-serving-web";
  const std::string uid(at(**server.get(path), "/metadata/uid").as_string());
  LaunchSpec next = spec;
  next.id = "web-2";
  next.replicas = 1;
  const Launched changed(next);
  changed.wait([](const Observed& o) { return o.state == JobState::running && o.reason.empty(); });
  EXPECT_EQ(at(**server.get(path), "/metadata/uid"), json::value(uid));
  EXPECT_FALSE(*driver().find(spec, ""));
}

TEST_F(KubernetesLaunch, AServiceThatDoesNotStartSaysWhy) {
  LaunchSpec spec = small("broken", {"sh", "-c", "exit 7"});
  spec.kind = Surface::serving;
  spec.port = 8000;
  const Launched service(spec);
  const Observed seen = service.wait(
      [](const Observed& o) { return o.reason.find("CrashLoopBackOff") != std::string::npos; });
  EXPECT_EQ(seen.state, JobState::pending);
  EXPECT_THAT(seen.reason, StartsWith("0 of 1 replicas are ready: CrashLoopBackOff"));
  EXPECT_THAT(seen.reason, HasSubstr("it ended with 7"));
}

// --- where the real scheduler puts it

struct Placed {
  Resources resources;
  std::vector<std::string> nodes;  // one of these; empty: nowhere
};

TEST_F(KubernetesPlacement, DevicesComeFromNodesThatMayHaveThem) {
  const Placed kPlaced[] = {
      {{Family::nvidia, "A100-80GB", 2, 1000, "", 0, 0, 1}, {"a100-1", "a100-2", "mig-mixed-1"}},
      {{Family::nvidia, "H100", 2, 1000, "", 0, 0, 1}, {"h100-1"}},
      {{Family::nvidia, "A100-80GB", 1, 1000, "3g.40gb", 0, 0, 1}, {"mig-mixed-1"}},
      {{Family::nvidia, "L4", 2, 1000, "", 0, 0, 1}, {"gke-l4-1"}},
      // nobody says of which model it is: taken, when none is known to be the right one
      {{Family::nvidia, "B200", 1, 1000, "", 0, 0, 1}, {"plain-gpu-1"}},
      // a share, and never for a whole card
      {{Family::nvidia, "A10G", 1, 250, "", 0, 0, 1}, {"shared-1"}},
      {{Family::nvidia, "A10G", 1, 1000, "", 0, 0, 1}, {"plain-gpu-1"}},
      {{Family::nvidia, "", 8, 1000, "", 0, 0, 1}, {"a100-1", "h100-1"}},
      {{Family::nvidia, "T4", 8, 1000, "", 0, 0, 1}, {}},
  };
  for (const Placed& row : kPlaced) {
    LaunchSpec spec = small("placed", {"true"});
    spec.image = "127.0.0.1:1/nothing:1";
    spec.resources = row.resources;
    const Launched job(spec);
    const Observed seen = job.wait([](const Observed& o) {
      return !o.nodes.empty() || o.reason.starts_with("Unschedulable");
    });
    const std::string node = seen.nodes.empty() ? "" : seen.nodes[0];
    if (row.nodes.empty()) {
      EXPECT_EQ(node, "") << row.resources.model;
    } else {
      EXPECT_THAT(row.nodes, testing::Contains(node)) << row.resources.model << ": " << seen.reason;
    }
  }
}

}  // namespace
}  // namespace exa
