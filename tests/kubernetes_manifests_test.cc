// What a real API server makes of manifests: run by tests/with_kubernetes (make test-kubernetes).
// The server is 1.20, which has no indexed jobs yet: what it drops of a manifest is named here, and
// nothing else may be missing.
#include <chrono>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/yaml.h"
#include "kubernetes_for_test.h"
#include "launch/random_shapes_for_test.h"
#include "launch/serving.h"

namespace exa {
namespace {

using kubernetes::Api;
using kubernetes::Trial;
using testing::ElementsAre;
using testing::IsEmpty;

class KubernetesManifests : public testing::Test {
 protected:
  static void SetUpTestSuite() { make_namespace(); }
};

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

}  // namespace
}  // namespace exa
