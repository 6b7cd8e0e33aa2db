// Launches on a real API server, scheduler and kubelet: run by tests/with_kubernetes with
// KUBE_TEST_KUBELET=1 (make test-kubernetes). The server is 1.20, which has no indexed jobs yet:
// what it drops of a manifest is named here, and nothing else may be missing.
#include <chrono>
#include <cstdlib>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/yaml.h"
#include "launch/kubernetes_api.h"
#include "launch/kubernetes_driver.h"
#include "launch/manifests_for_test.h"
#include "launch/random_shapes_for_test.h"
#include "launch/serving.h"

namespace exa {
namespace {

using kubernetes::Api;
using kubernetes::Trial;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  EXPECT_TRUE(value) << name << " is not set: run this through tests/with_kubernetes";
  return value ? value : "";
}

ClusterAddress address() {
  ClusterAddress cluster;
  cluster.kind = ClusterKind::kubernetes;
  cluster.kubeconfig = from_environment("KUBECONFIG");
  return cluster;
}

KubernetesDriver driver() {
  return {address(), unwatched()};
}

Api api() {
  auto connected = Api::connect(address(), unwatched());
  EXPECT_TRUE(connected) << connected.error().message;
  return std::move(*connected);
}

// The pretended nodes take pods and never run them: they are closed where something has to run.
void open_pretended_nodes(bool open) {
  Api server = api();
  const auto nodes = server.list("/api/v1/nodes", "");
  ASSERT_TRUE(nodes) << nodes.error().message;
  for (const json::value& node : *nodes) {
    const std::string name(at(node, "/metadata/name").as_string());
    if (name == "localhost" || name == "cordoned-1") continue;
    const json::value closed = json::object{{"apiVersion", "v1"},
                                            {"kind", "Node"},
                                            {"metadata", json::object{{"name", name}}},
                                            {"spec", json::object{{"unschedulable", !open}}}};
    const auto changed = server.apply("/api/v1/nodes/" + name, closed, Trial::no);
    ASSERT_TRUE(changed) << changed.error().message;
  }
}

void make_namespace() {
  const json::value space = json::object{{"apiVersion", "v1"},
                                         {"kind", "Namespace"},
                                         {"metadata", json::object{{"name", "research"}}}};
  const auto made = api().create("/api/v1/namespaces", space, Trial::no);
  ASSERT_TRUE(made || made.error().code == Code::conflict) << made.error().message;
}

class KubernetesManifests : public testing::Test {
 protected:
  static void SetUpTestSuite() { make_namespace(); }
};

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

// Nobody on a pretended node says that a pod has ended, so it would stay for good.
void forget_pods_on_pretended_nodes() {
  Api server = api();
  const auto pods = server.list("/api/v1/pods", "fieldSelector=spec.nodeName%21%3Dlocalhost");
  ASSERT_TRUE(pods) << pods.error().message;
  const auto access = kubernetes_access(address(), kubernetes_environment());
  ASSERT_TRUE(access);
  for (const json::value& pod : *pods) {
    if (!at(pod, "/metadata/deletionTimestamp").is_string()) continue;
    HttpRequest request = request_to(
        *access, fmt::format("/api/v1/namespaces/{}/pods/{}?gracePeriodSeconds=0",
                             std::string_view(at(pod, "/metadata/namespace").as_string()),
                             std::string_view(at(pod, "/metadata/name").as_string())));
    request.method = "DELETE";
    ASSERT_TRUE(http_send(request));
  }
}

// --- what the server makes of a manifest

bool same_quantity(const json::value& sent, const json::value& kept) {
  if (!sent.is_string() || !kept.is_string()) return false;
  const auto a = parse_kubernetes_quantity(sent.get_string());
  const auto b = parse_kubernetes_quantity(kept.get_string());
  return a && b && a->milli == b->milli;
}

// Everything that was sent and did not come back, as pointers. The server adds defaults and writes
// quantities its own way; what it does not know it drops without a word.
void missing(const json::value& sent, const json::value& kept, const std::string& where,
             std::vector<std::string>& out) {
  if (sent.is_object() && kept.is_object()) {
    for (const auto& member : sent.get_object()) {
      const json::value* there = find(kept, member.key());
      if (there == nullptr) {
        // an empty text is written as none
        if (member.value() != json::value("")) out.push_back(pointer(where, member.key()));
      } else {
        missing(member.value(), *there, pointer(where, member.key()), out);
      }
    }
  } else if (sent.is_array() && kept.is_array() &&
             sent.get_array().size() <= kept.get_array().size()) {
    for (size_t i = 0; i < sent.get_array().size(); ++i)
      missing(sent.get_array()[i], kept.get_array()[i], fmt::format("{}/{}", where, i), out);
  } else if (sent != kept && !same_quantity(sent, kept)) {
    out.push_back(where);
  }
}

std::string collection_of(const json::value& object) {
  const auto* kind = kubernetes::find_kind(text_or(object, "kind", ""));
  const json::value space = at(object, "/metadata/namespace");
  return kubernetes::path_of(*kind, space.as_string());
}

void expect_accepted_whole(Api& server, const LaunchSpec& spec, Trial trial) {
  for (const json::value& object : objects_of(spec)) {
    const auto kept = server.create(collection_of(object), object, trial);
    ASSERT_TRUE(kept) << kept.error().message << "\n" << to_yaml(object);
    std::vector<std::string> dropped;
    missing(object, *kept, "", dropped);
    const bool is_job = text_or(object, "kind", "") == "Job";
    EXPECT_THAT(dropped, is_job ? testing::Matcher<std::vector<std::string>>(
                                      ElementsAre("/spec/completionMode"))
                                : IsEmpty())
        << to_yaml(object);
  }
}

std::vector<LaunchSpec> specs() {
  std::vector<LaunchSpec> list = {workbench_for_test(), training_for_test(), serving_for_test()};
  for (const Resources& resources : std::vector<Resources>{
           {Family::nvidia, "A100-80GB", 2, 1000, "1g.10gb+me", 500, 1536 * kMiB, 1},
           {Family::nvidia, "L4", 1, 250, "", 0, 0, 1},
           {Family::intel_gaudi, "", 3, 1000, "", 0, 409 * kGiB, 1},
           {Family::tpu, "TPU-v5e", 4, 1000, "", 0, 0, 1},
           {Family::amd, "MI300X", 1, 500, "", 0, 0, 1},
           {Family::cpu, "", 0, 1000, "", 2500, 1000, 1}}) {
    for (LaunchSpec spec : {workbench_for_test(), training_for_test(), serving_for_test()}) {
      spec.resources = resources;
      list.push_back(spec);
    }
  }
  return list;
}

TEST_F(KubernetesManifests, EveryManifestIsAcceptedWhole) {
  Api server = api();
  for (const LaunchSpec& spec : specs()) expect_accepted_whole(server, spec, Trial::yes);
}

TEST_F(KubernetesManifests, RandomLaunchesAreAcceptedWhole) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::mt19937_64 random(seed);
  Api server = api();
  for (int round = 0; round < 100; ++round) {
    LaunchSpec spec = random_launch(random);
    spec.options.name_space = "research";
    if (render_kubernetes(spec)) expect_accepted_whole(server, spec, Trial::yes);
  }
}

TEST_F(KubernetesManifests, EveryManifestIsMadeAndDeleted) {
  Api server = api();
  for (const LaunchSpec& spec : specs()) {
    expect_accepted_whole(server, spec, Trial::no);
    ASSERT_TRUE(driver().cancel(spec, ""));
    ASSERT_TRUE(driver().delete_volume(spec));
    for (const json::value& object : objects_of(spec)) {
      const std::string path =
          collection_of(object) + "/" + std::string(at(object, "/metadata/name").as_string());
      for (int tries = 0; tries < 100; ++tries) {
        forget_pods_on_pretended_nodes();
        const auto there = server.get(path);
        ASSERT_TRUE(there) << there.error().message;
        if (!*there) break;
        ASSERT_LT(tries, 99) << path << " is still there";
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
      }
    }
  }
}

// KServe itself is not here; what its predictor holds is a pod.
TEST_F(KubernetesManifests, ThePredictorOfAnInferenceServiceIsAPod) {
  Api server = api();
  const auto models = read_serving_file(
      "{name: chat, engine: kserve, image: registry.local/x:1, command: [serve]}", "s.yaml");
  ASSERT_TRUE(models);
  for (const LaunchSpec& spec : specs()) {
    if (spec.resources.nodes > 1) continue;
    const auto rendered = render_kserve({models->at(0), spec.resources}, {"vision", "s-1", {}});
    ASSERT_TRUE(rendered) << rendered.error().message;
    const auto documents = parse_yaml(rendered->files.at(0).text, "inference-service.yaml");
    ASSERT_TRUE(documents);
    json::object pod_spec_of_it = at(documents->at(0).value, "/spec/predictor").as_object();
    pod_spec_of_it.erase("minReplicas");
    pod_spec_of_it.erase("maxReplicas");
    const json::value pod =
        json::object{{"apiVersion", "v1"},
                     {"kind", "Pod"},
                     {"metadata", json::object{{"name", "predictor"}, {"namespace", "default"}}},
                     {"spec", pod_spec_of_it}};
    const auto kept = server.create("/api/v1/namespaces/default/pods", pod, Trial::yes);
    ASSERT_TRUE(kept) << kept.error().message;
    std::vector<std::string> dropped;
    missing(pod, *kept, "", dropped);
    EXPECT_THAT(dropped, IsEmpty());
  }
}

// --- what runs

LaunchSpec small(std::string name, std::vector<std::string> command) {
  LaunchSpec spec;
  spec.kind = Surface::training;
  spec.project = "vision";
  spec.name = std::move(name);
  spec.id = spec.name + "-1";
  spec.resources.cpu_milli = 10;
  spec.command.assign(command.begin(), command.end());
  spec.image = from_environment("KUBE_TEST_IMAGE");
  return spec;
}

// One submission that ends with the test.
class Launched {
 public:
  explicit Launched(LaunchSpec spec) : spec_(std::move(spec)) {
    const auto rendered = driver().render(spec_);
    EXPECT_TRUE(rendered) << rendered.error().message;
    if (!rendered) return;
    const auto job = driver().submit(spec_, *rendered);
    EXPECT_TRUE(job) << job.error().message;
    job_ = job.value_or("");
  }
  Launched(const Launched&) = delete;
  ~Launched() {
    EXPECT_TRUE(driver().cancel(spec_, job_));
    forget_pods_on_pretended_nodes();
  }

  const std::string& job() const { return job_; }

  Observed look() const {
    const auto seen = driver().find(spec_, "");
    EXPECT_TRUE(seen) << seen.error().message;
    EXPECT_TRUE(seen && seen->has_value()) << job_ << " is not found";
    return seen && *seen ? **seen : Observed{};
  }

  // Looks until `enough` says so, for a minute.
  template <typename Predicate>
  Observed wait(Predicate enough) const {
    Observed seen;
    for (int tries = 0; tries < 120; ++tries) {
      seen = look();
      if (enough(seen)) return seen;
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
    }
    ADD_FAILURE() << job_ << " is " << static_cast<int>(seen.state) << ": " << seen.reason;
    return seen;
  }
  Observed wait_for(JobState state) const {
    return wait([&](const Observed& seen) { return seen.state == state; });
  }

  std::string logs(int64_t lines = 1000) const {
    const auto text = driver().logs(spec_, job_, lines);
    EXPECT_TRUE(text || text.error().code == Code::not_found) << text.error().message;
    return text.value_or("");
  }

 private:
  LaunchSpec spec_;
  std::string job_;
};

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
