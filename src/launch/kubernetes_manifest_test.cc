#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "base/yaml.h"
#include "launch/kubernetes_pod.h"
#include "launch/manifests_for_test.h"
#include "launch/renderers.h"

namespace exa {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::vector<std::string> places(const Result<Rendered>& rendered) {
  std::vector<std::string> result;
  if (!rendered)
    for (const Problem& problem : rendered.error().problems) result.push_back(problem.where);
  return result;
}

// What the kubelet makes of a command, an argument or a variable's value: "$$" is '$', and
// "$(NAME)" the variable, or itself where there is none (k8s.io/kubernetes
// third_party/forked/golang/expansion).
std::string as_kubelet_reads(std::string_view text,
                             const std::map<std::string, std::string, std::less<>>& variables) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '$' || i + 1 == text.size()) {
      out += text[i];
    } else if (text[i + 1] == '$') {
      out += '$';
      ++i;
    } else if (text[i + 1] == '(' && text.find(')', i) != std::string_view::npos) {
      const size_t close = text.find(')', i);
      const std::string_view name = text.substr(i + 2, close - i - 2);
      const auto found = variables.find(name);
      out += found == variables.end() ? fmt::format("$({})", name) : found->second;
      i = close;
    } else {
      out += '$';
    }
  }
  return out;
}

TEST(KubernetesManifest, ReadsLikeHandWritten) {
  LaunchSpec mig = serving_for_test();
  mig.resources = {Family::nvidia, "A100-80GB", 2, 1000, "1g.10gb+me", 500, 1536 * kMiB, 1};
  LaunchSpec gaudi = training_for_test();
  gaudi.resources = {Family::intel_gaudi, "Gaudi-2", 8, 1000, "", 0, 409 * kGiB, 1};
  LaunchSpec tpu = training_for_test();
  tpu.resources = {Family::tpu, "TPU-v5e", 4, 1000, "", 0, 0, 4};
  LaunchSpec amd = workbench_for_test();
  amd.resources = {Family::amd, "MI300X", 1, 500, "", 0, 0, 1};
  LaunchSpec cpu = training_for_test();
  cpu.resources = {Family::cpu, "", 0, 1000, "", 2500, 1000, 1};
  cpu.command = {"python3", "train.py"};
  for (const auto& [name, spec] :
       std::vector<std::pair<std::string, LaunchSpec>>{{"workbench", workbench_for_test()},
                                                       {"training", training_for_test()},
                                                       {"serving", serving_for_test()},
                                                       {"mig", mig},
                                                       {"gaudi", gaudi},
                                                       {"tpu", tpu},
                                                       {"amd-fraction", amd},
                                                       {"cpu", cpu}}) {
    const auto rendered = render_kubernetes(spec);
    ASSERT_TRUE(rendered) << name << ": " << rendered.error().message;
    expect_file(fmt::format("kubernetes/{}.yaml", name), with_notes(*rendered));
  }
}

TEST(KubernetesManifest, EachKindHasItsObjectsAndWhatRunsComesLast) {
  EXPECT_THAT(kinds_of(workbench_for_test()),
              ElementsAre("PersistentVolumeClaim", "Service", "Pod"));
  EXPECT_THAT(kinds_of(training_for_test()), ElementsAre("Service", "Job"));
  EXPECT_THAT(kinds_of(serving_for_test()), ElementsAre("Service", "Deployment"));
}

TEST(KubernetesManifest, EveryObjectButTheVolumeCarriesTheLaunchAndEveryPodToo) {
  for (const LaunchSpec& spec : {workbench_for_test(), training_for_test(), serving_for_test()}) {
    for (const json::value& object : objects_of(spec)) {
      const json::value labels = at(object, "/metadata/labels");
      const bool outlives = text_or(object, "kind", "") == "PersistentVolumeClaim";
      EXPECT_EQ(text_or(labels, "exa/launch-id", ""), outlives ? "" : spec.id);
      EXPECT_EQ(text_or(labels, "app.kubernetes.io/managed-by", ""), "exa");
      EXPECT_EQ(at(object, "/metadata/annotations/exa~1launch"),
                json::value(outlives ? "nothing there" : launch_tag(spec)));
    }
  }
  EXPECT_EQ(at(object_of_kind(training_for_test(), "Job"),
               "/spec/template/metadata/labels/exa~1launch-id"),
            "t-1");
}

TEST(KubernetesManifest, AServiceFindsThePodsOfEveryRevision) {
  const json::value selector = at(object_of_kind(serving_for_test(), "Service"), "/spec/selector");
  EXPECT_EQ(find(selector, "exa/launch-id"), nullptr);
  EXPECT_EQ(at(object_of_kind(serving_for_test(), "Deployment"), "/spec/selector/matchLabels"),
            selector);
}

TEST(KubernetesManifest, TheHeadOfAJobIsThePodOfIndexZeroByItsName) {
  const json::value job = object_of_kind(training_for_test(), "Job");
  const json::value command = at(job, "/spec/template/spec/containers/0/command");
  EXPECT_EQ(at(command, "/4"), "--rdzv-endpoint=exa-training-llama-0.exa-training-llama:29500");
  EXPECT_EQ(at(command, "/3"), "--node-rank=$(JOB_COMPLETION_INDEX)");
  EXPECT_EQ(at(command, "/5"), "--rdzv-id=t-1");
  EXPECT_EQ(at(job, "/spec/template/spec/subdomain"), "exa-training-llama");
  EXPECT_EQ(at(job, "/spec/completions"), 2);
  EXPECT_EQ(at(job, "/spec/parallelism"), 2);
  const json::value service = object_of_kind(training_for_test(), "Service");
  EXPECT_EQ(at(service, "/spec/clusterIP"), "None");
  EXPECT_EQ(at(service, "/spec/publishNotReadyAddresses"), true);
}

TEST(KubernetesManifest, AJobOfOneNodeThatKnowsNoHeadNeedsNoService) {
  LaunchSpec spec = training_for_test();
  spec.resources.nodes = 1;
  spec.command = {"true"};
  EXPECT_THAT(kinds_of(spec), ElementsAre("Job"));
}

TEST(KubernetesManifest, APodOutsideOfAJobIsItsOwnHead) {
  LaunchSpec spec = serving_for_test();
  spec.command = {"serve", Word{RunTime::head_node, "/", RunTime::node_rank}};
  const json::value container = at(pod_spec(spec), "/containers/0");
  EXPECT_EQ(at(container, "/command/1"), "$(EXA_POD_ADDRESS)/0");
  EXPECT_EQ(at(container, "/env/0/valueFrom/fieldRef/fieldPath"), "status.podIP");
}

// A restart of the whole job is the failure of each of its pods, and Kubernetes counts those.
TEST(KubernetesManifest, RestartsAreCountedForEveryNode) {
  LaunchSpec spec = training_for_test();
  EXPECT_EQ(at(object_of_kind(spec, "Job"), "/spec/backoffLimit"), 4);
  spec.restarts = 0;
  EXPECT_EQ(at(object_of_kind(spec, "Job"), "/spec/backoffLimit"), 0);
}

struct Amount {
  int64_t milli;
  std::string_view cpu;
  int64_t bytes;
  std::string_view memory;
};

TEST(KubernetesManifest, AmountsKeepEveryByteAndEveryThousandth) {
  const Amount kAmounts[] = {
      {1, "1m", 1, "1"},
      {500, "500m", kKiB, "1Ki"},
      {1000, "1", 1000, "1000"},
      {1250, "1250m", 1536 * kMiB, "1536Mi"},
      {8000, "8", 32 * kGiB, "32Gi"},
      {100'000'000, "100000", 107'374'183, "107374183"},
  };
  for (const Amount& row : kAmounts) {
    LaunchSpec spec = training_for_test();
    spec.resources = {Family::cpu, "", 0, 1000, "", row.milli, row.bytes, 1};
    const json::value limits = at(pod_spec(spec), "/containers/0/resources/limits");
    EXPECT_EQ(at(limits, "/cpu"), json::value(row.cpu));
    EXPECT_EQ(at(limits, "/memory"), json::value(row.memory));
    EXPECT_EQ(parse_kubernetes_quantity(row.cpu)->milli, row.milli);
    EXPECT_EQ(parse_kubernetes_quantity(row.memory)->whole, row.bytes);
  }
}

TEST(KubernetesManifest, WhatIsNotAskedIsNotWritten) {
  LaunchSpec spec = training_for_test();
  spec.resources = {};
  spec.environment = {};
  const json::value container = at(pod_spec(spec), "/containers/0");
  for (const char* key : {"resources", "env", "workingDir", "ports", "volumeMounts"})
    EXPECT_EQ(find(container, key), nullptr) << key;
  EXPECT_EQ(at(pod_spec(spec), "/affinity"), "nothing there");
}

TEST(KubernetesManifest, APodHasTheLeastRights) {
  for (const LaunchSpec& spec : {workbench_for_test(), training_for_test(), serving_for_test()}) {
    const json::value pod = pod_spec(spec);
    EXPECT_EQ(at(pod, "/automountServiceAccountToken"), false);
    EXPECT_EQ(at(pod, "/enableServiceLinks"), false);
    EXPECT_EQ(at(pod, "/securityContext/seccompProfile/type"), "RuntimeDefault");
    EXPECT_EQ(at(pod, "/containers/0/securityContext/allowPrivilegeEscalation"), false);
    EXPECT_EQ(at(pod, "/containers/0/securityContext/capabilities"),
              json::value(json::object{{"drop", json::array{"ALL"}}}));
  }
}

// --- what is refused

struct Refused {
  std::string_view where;
  void (*change)(LaunchSpec&);
};

TEST(KubernetesManifest, WhatItHasNoWordForIsRefusedByName) {
  constexpr Refused kRefused[] = {
      {"/options/partition", [](LaunchSpec& s) { s.options.partition = "gpu"; }},
      {"/options/account", [](LaunchSpec& s) { s.options.account = "a"; }},
      {"/options/qos", [](LaunchSpec& s) { s.options.qos = "q"; }},
      {"/options/name_space", [](LaunchSpec& s) { s.options.name_space = "Not/One"; }},
      {"/options/time_limit", [](LaunchSpec& s) { s.options.time_limit = hours(1); }},
      {"/image", [](LaunchSpec& s) { s.image = ""; }},
      {"/image", [](LaunchSpec& s) { s.image = "two words"; }},
      {"/folder", [](LaunchSpec& s) { s.folder = "relative"; }},
      {"/volume",
       [](LaunchSpec& s) {
         s.volume = {1, "/data"};
       }},
      {"/volume/mount",
       [](LaunchSpec& s) {
         s.volume = {1, "/a:b"};
       }},
      {"/port", [](LaunchSpec& s) { s.port = 0; }},
      {"/port", [](LaunchSpec& s) { s.port = 70'000; }},
      {"/resources/nodes", [](LaunchSpec& s) { s.resources.nodes = 2; }},
      {"/id", [](LaunchSpec& s) { s.id = ""; }},
      {"/id", [](LaunchSpec& s) { s.id = "with blanks"; }},
      {"/name", [](LaunchSpec& s) { s.name = "Upper"; }},
      {"/argv/1",
       [](LaunchSpec& s) {
         s.command = {"sh", "\xff"};
       }},
      {"/environment/A",
       [](LaunchSpec& s) {
         s.environment = {{"A", "\xc3("}};
       }},
      {"/environment/JOB_COMPLETION_INDEX",
       [](LaunchSpec& s) {
         s.environment = {{"JOB_COMPLETION_INDEX", "1"}};
       }},
      {"/resources/memory_bytes",
       [](LaunchSpec& s) { s.resources = {Family::intel_gaudi, "", 1, 1000, "", 0, 0, 1}; }},
  };
  for (const Refused& row : kRefused) {
    LaunchSpec spec = serving_for_test();
    row.change(spec);
    const auto rendered = render_kubernetes(spec);
    ASSERT_FALSE(rendered) << row.where;
    EXPECT_EQ(rendered.error().code, Code::invalid_input);
    EXPECT_THAT(places(rendered), Contains(std::string(row.where)));
  }
}

TEST(KubernetesManifest, AllProblemsAreToldAtOnce) {
  LaunchSpec spec = serving_for_test();
  spec.image = "";
  spec.port = 0;
  spec.options.partition = "gpu";
  spec.resources.nodes = 2;
  EXPECT_THAT(places(render_kubernetes(spec)),
              ElementsAre("/options/partition", "/image", "/resources/nodes", "/port"));
}

// --- byte for byte

TEST(KubernetesManifest, TextsReachTheProgramByteForByte) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 2000; ++round) {
    LaunchSpec spec = training_for_test();
    std::vector<std::string> words;
    spec.command = {"program"};
    for (int i = 0; i < 4; ++i) {
      words.push_back(random_text(random, 8));
      spec.command.emplace_back(words.back());
    }
    const std::string around = random_text(random, 4);
    spec.command.push_back(Word{around, RunTime::node_rank, around});
    spec.environment = {{"A", random_text(random, 8)}, {"HOME", random_text(random, 8)}};
    const json::value container = at(pod_spec(spec), "/containers/0");
    const std::map<std::string, std::string, std::less<>> variables{{"HOME", "wrong"},
                                                                    {"JOB_COMPLETION_INDEX", "1"}};
    for (size_t i = 0; i < words.size(); ++i) {
      const json::value text = at(container, fmt::format("/command/{}", i + 1));
      ASSERT_EQ(as_kubelet_reads(text.as_string(), variables), words[i]);
    }
    ASSERT_EQ(as_kubelet_reads(at(container, "/command/5").as_string(), variables),
              around + "1" + around);
    for (size_t i = 0; i < 2; ++i) {
      const json::value text = at(container, fmt::format("/env/{}/value", i));
      ASSERT_EQ(as_kubelet_reads(text.as_string(), variables), spec.environment[i].second);
    }
  }
}

}  // namespace
}  // namespace exa
