// InferenceServices on a real API server that knows the resource, without KServe itself: run by
// tests/with_kubernetes with KUBE_TEST_KUBELET=1 (make test-kubernetes). What KServe would do is
// done by the tests: its status, its pods.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kubernetes_for_test.h"
#include "launch/kubernetes_pod.h"
#include "launch/specs_for_test.h"

namespace exa {
namespace {

using kubernetes::Api;
using kubernetes::Trial;
using testing::HasSubstr;

constexpr const char* kDefinitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
constexpr const char* kDefinition = "inferenceservices.serving.kserve.io";
constexpr const char* kServices =
    "/apis/serving.kserve.io/v1beta1/namespaces/default/inferenceservices";

LaunchSpec served(std::string name) {
  LaunchSpec spec = small(std::move(name), {"busybox", "httpd", "-f", "-p", "8080"});
  spec.kind = Surface::serving;
  spec.port = 8080;
  spec.kserve = KServe{1, 0};
  return spec;
}

std::string path_of(const LaunchSpec& spec) {
  return fmt::format("{}/{}", kServices, job_name(spec));
}

json::value object_of(const LaunchSpec& spec) {
  auto found = api().get(path_of(spec));
  EXPECT_TRUE(found) << found.error().message;
  EXPECT_TRUE(found && *found) << path_of(spec);
  return found && *found ? **found : json::value();
}

// What KServe says, in its place.
void say(const LaunchSpec& spec, const json::object& status) {
  const auto access = kubernetes_access(address(), kubernetes_environment());
  ASSERT_TRUE(access);
  HttpRequest request = request_to(*access, path_of(spec) + "/status");
  request.method = "PATCH";
  request.headers.emplace_back("Content-Type", "application/merge-patch+json");
  request.body = to_text(json::object{{"status", status}});
  const auto reply = http_send(request);
  ASSERT_TRUE(reply) << reply.error().message;
  ASSERT_EQ(reply->status, 200) << reply->body;
}

json::array ready(std::string_view status, std::string_view reason = "",
                  std::string_view message = "") {
  json::object condition{{"type", "Ready"}, {"status", status}};
  if (!reason.empty()) condition["reason"] = reason;
  if (!message.empty()) condition["message"] = message;
  json::array conditions;
  conditions.push_back(std::move(condition));
  return conditions;
}

TEST(KubernetesWithoutKServe, IsToldByNameAndNothingIsMade) {
  const LaunchSpec spec = served("nowhere");
  const auto rendered = driver().render(spec);
  ASSERT_TRUE(rendered);
  const auto tried = driver().rehearse(spec, *rendered);
  const auto job = driver().submit(spec, *rendered);
  ASSERT_FALSE(job || tried);
  EXPECT_EQ(job.error().code, Code::unresolvable);
  EXPECT_THAT(job.error().message, HasSubstr("serving.kserve.io/v1beta1 is not installed on http"));
  EXPECT_EQ(tried.error().message, job.error().message);
  EXPECT_FALSE(*driver().find(spec, ""));
  EXPECT_TRUE(driver().cancel(spec, ""));
}

class KServeOnKubernetes : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    open_pretended_nodes(false);
    Api server = api();
    const auto definition =
        parse_yaml(contents_of(EXA_TESTDATA "/launch/kserve_crd.yaml"), "kserve_crd.yaml");
    ASSERT_TRUE(definition) << definition.error().message;
    const auto made = server.create(kDefinitions, definition->at(0).value, Trial::no);
    ASSERT_TRUE(made) << made.error().message;
    for (int tries = 0; tries < 100; ++tries) {
      const auto group = server.get("/apis/serving.kserve.io/v1beta1");
      ASSERT_TRUE(group) << group.error().message;
      if (*group && !at(**group, "/resources").as_array().empty()) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    FAIL() << "the API server does not serve what it was told of";
  }
  static void TearDownTestSuite() {
    EXPECT_TRUE(api().remove(fmt::format("{}/{}", kDefinitions, kDefinition), ""));
  }
};

TEST_F(KServeOnKubernetes, WhatIsRenderedIsWhatIsKept) {
  LaunchSpec spec = served("whole");
  spec.resources = {Family::nvidia, "L4", 1, 1000, "", 500, kGiB, 1};
  spec.environment = {{"PRICE", "$5"}};
  spec.replicas = 0;
  spec.kserve = KServe{4, 8};
  const Launched service(spec);
  EXPECT_EQ(service.job(), "inferenceservice.serving.kserve.io/exa-serving-whole");
  const auto rendered = driver().render(spec);
  ASSERT_TRUE(rendered);
  const auto document = parse_yaml(rendered->files.at(0).text, "rendered");
  ASSERT_TRUE(document);
  const json::value kept = object_of(spec);
  for (const char* member : {"/spec", "/metadata/labels", "/metadata/annotations"})
    EXPECT_EQ(at(kept, member), at(document->at(0).value, member)) << member;
}

TEST_F(KServeOnKubernetes, ItStandsAsKServeSays) {
  const LaunchSpec spec = served("says");
  const Launched service(spec);
  EXPECT_EQ(service.look().state, JobState::pending);
  EXPECT_EQ(service.look().reason, "KServe has not said anything of it yet");
  say(spec, {{"conditions", ready("False", "RevisionFailed", "image cannot be pulled")}});
  EXPECT_EQ(service.look().state, JobState::pending);
  EXPECT_EQ(service.look().reason, "RevisionFailed: image cannot be pulled");
  say(spec, {{"conditions", ready("True")},
             {"url", "http://says.default.example.com"},
             {"observedGeneration", 1}});
  const Observed seen = service.look();
  EXPECT_EQ(seen.state, JobState::running);
  EXPECT_EQ(seen.reason, "");
  EXPECT_EQ(seen.url, "http://says.default.example.com");
}

TEST_F(KServeOnKubernetes, ItIsChangedInPlaceAndReadyOnlyOnceThatIsSeen) {
  const LaunchSpec spec = served("again");
  const Launched service(spec);
  say(spec, {{"conditions", ready("True")}, {"observedGeneration", 1}});
  const json::value uid = at(object_of(spec), "/metadata/uid");
  LaunchSpec next = spec;
  next.id = "again-2";
  next.replicas = 3;
  next.kserve = KServe{3, 0};
  const Launched scaled(next);
  EXPECT_EQ(scaled.job(), service.job());
  EXPECT_EQ(at(object_of(next), "/metadata/uid"), uid);
  EXPECT_EQ(at(object_of(next), "/spec/predictor/minReplicas"), json::value(3));
  EXPECT_FALSE(*driver().find(spec, ""));
  EXPECT_EQ(scaled.look().state, JobState::pending);
  EXPECT_EQ(scaled.look().reason, "KServe has not looked at the change yet");
  say(next, {{"observedGeneration", 2}});
  EXPECT_EQ(scaled.look().state, JobState::running);
}

TEST_F(KServeOnKubernetes, ARefusedChangeLeavesWhatRuns) {
  const LaunchSpec spec = served("kept");
  const Launched service(spec);
  const json::value before = object_of(spec);
  LaunchSpec next = spec;
  next.id = "kept-2";
  next.kserve = KServe{9, 0};  // the definition of the tests has 8 at most
  const auto refused = driver().submit(next, *driver().render(next));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::unresolvable);
  EXPECT_THAT(refused.error().message, HasSubstr("maxReplicas"));
  LaunchSpec foreign = spec;
  foreign.id = "kept-3";
  foreign.project = "speech";
  const auto taken = driver().submit(foreign, *driver().render(foreign));
  ASSERT_FALSE(taken);
  EXPECT_THAT(taken.error().message, HasSubstr("is not of this project"));
  EXPECT_EQ(object_of(spec), before);
}

TEST_F(KServeOnKubernetes, ItsEndIsTheEndOfTheObject) {
  const LaunchSpec spec = served("ends");
  const Launched service(spec);
  EXPECT_TRUE(*driver().find(spec, ""));
  ASSERT_TRUE(driver().cancel(spec, service.job()));
  EXPECT_FALSE(*driver().find(spec, ""));
  EXPECT_FALSE(*api().get(path_of(spec)));
  EXPECT_TRUE(driver().cancel(spec, service.job()));
}

TEST_F(KServeOnKubernetes, ItsOutputIsThatOfThePodsThatKServeMakes) {
  const LaunchSpec spec = served("talks");
  const Launched service(spec);
  EXPECT_EQ(driver().logs(spec, service.job(), 10).error().code, Code::not_found);
  const json::value pod = json::object{
      {"apiVersion", "v1"},
      {"kind", "Pod"},
      {"metadata",
       json::object{{"name", "talks-predictor"},
                    {"labels", json::object{{kubernetes::kKServeLabel, job_name(spec)}}}}},
      {"spec",
       json::object{{"restartPolicy", "Never"},
                    {"containers",
                     json::array{json::object{{"name", kubernetes::kKServeContainer},
                                              {"image", spec.image},
                                              {"command", {"sh", "-c", "echo one; echo two"}}}}}}}};
  const char* pods = "/api/v1/namespaces/default/pods";
  const auto made = api().create(pods, pod, Trial::no);
  ASSERT_TRUE(made) << made.error().message;
  std::string text;
  for (int tries = 0; tries < 120 && text.empty(); ++tries) {
    text = driver().logs(spec, service.job(), 1).value_or("");
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }
  EXPECT_EQ(text, "two\n");
  EXPECT_THAT(service.look().nodes, testing::ElementsAre("localhost"));
  EXPECT_TRUE(api().remove(std::string(pods) + "/talks-predictor", ""));
}

}  // namespace
}  // namespace exa
