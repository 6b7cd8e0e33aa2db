// Which devices a manifest asks for, and which nodes may give them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hardware/catalogue.h"
#include "launch/manifests_for_test.h"

namespace exa {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

struct Devices {
  Resources ask;
  std::string_view resource;
  std::string_view quantity;
};

TEST(KubernetesDevices, DevicesAreWholeNumbersAndRequestsAreLimits) {
  const Devices kDevices[] = {
      {{Family::nvidia, "", 2, 1000, "", 0, 0, 1}, "nvidia.com/gpu", "2"},
      {{Family::nvidia, "", 3, 250, "", 0, 0, 1}, "nvidia.com/gpu", "3"},
      {{Family::nvidia, "", 4, 1000, "1g.5gb", 0, 0, 1}, "nvidia.com/mig-1g.5gb", "4"},
      {{Family::nvidia, "", 1, 1000, "1g.10gb+me", 0, 0, 1}, "nvidia.com/mig-1g.10gb.me", "1"},
      {{Family::nvidia, "", 1, 1000, "1g.24gb+me.all", 0, 0, 1},
       "nvidia.com/mig-1g.24gb.me.all",
       "1"},
      {{Family::nvidia, "", 1, 1000, "1g.24gb-me", 0, 0, 1}, "nvidia.com/mig-1g.24gb-me", "1"},
      {{Family::amd, "", 8, 1000, "", 0, 0, 1}, "amd.com/gpu", "8"},
      {{Family::intel_gaudi, "", 1, 1000, "", 1000, 0, 1}, "habana.ai/gaudi", "1"},
      {{Family::intel_gaudi, "", 1, 1000, "", 1000, 0, 1}, "hugepages-2Mi", "11876Mi"},
      {{Family::intel_gaudi, "", 8, 1000, "", 1000, 0, 1}, "hugepages-2Mi", "95000Mi"},
      {{Family::tpu, "v5e", 8, 1000, "", 0, 0, 1}, "google.com/tpu", "8"},
  };
  for (const Devices& row : kDevices) {
    LaunchSpec spec = training_for_test();
    spec.resources = row.ask;
    const json::value limits = at(pod_spec(spec), "/containers/0/resources/limits");
    EXPECT_EQ(text_or(limits, row.resource, ""), row.quantity) << row.resource;
    EXPECT_EQ(at(pod_spec(spec), "/containers/0/resources/requests"), limits);
  }
}

// --- model hints

json::array required_terms(const LaunchSpec& spec) {
  return at(pod_spec(spec),
            "/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/"
            "nodeSelectorTerms")
      .as_array();
}

// As the scheduler decides: terms are alternatives, expressions hold together.
bool admits(const json::array& terms, const std::map<std::string, std::string>& labels) {
  return std::ranges::any_of(terms, [&](const json::value& term) {
    return std::ranges::all_of(at(term, "/matchExpressions").as_array(), [&](const json::value& e) {
      const auto label = labels.find(std::string(text_or(e, "key", "")));
      const std::string_view op = text_or(e, "operator", "");
      if (op == "Exists") return label != labels.end();
      if (op == "DoesNotExist") return label == labels.end();
      const json::value values = at(e, "/values");
      const bool in = label != labels.end() &&
                      std::ranges::find(values.as_array(), json::value(label->second)) !=
                          values.as_array().end();
      return op == "In" ? in : !in;
    });
  });
}

struct HintCase {
  std::string_view hint;
  std::map<std::string, std::string> labels;
  bool admitted;
};

TEST(KubernetesDevices, AHintLeavesOutNodesKnownToHaveAnotherModelAndNoOthers) {
  const std::string product = "nvidia.com/gpu.product";
  const std::string gke = "cloud.google.com/gke-accelerator";
  const HintCase kCases[] = {
      {"A100-80GB", {{product, "NVIDIA-A100-SXM4-80GB"}}, true},
      {"A100-80GB", {{product, "NVIDIA-A100-80GB-PCIe"}}, true},
      {"A100-80GB", {{product, "NVIDIA-A100-SXM4-40GB"}}, false},
      {"A100", {{product, "NVIDIA-A100-SXM4-40GB"}}, true},
      {"A100", {{product, "NVIDIA-A10"}}, false},
      {"A10", {{product, "NVIDIA-A100-SXM4-40GB"}}, false},
      {"L4", {{product, "NVIDIA-L40S"}}, false},
      {"H100", {{product, "NVIDIA-H100-80GB-HBM3"}}, true},
      {"H200", {{product, "NVIDIA-H200"}}, true},
      {"nvidia", {{product, "NVIDIA-L4"}}, true},
      {"A100", {}, true},
      {"A100", {{gke, "nvidia-l4"}}, false},
      {"A100", {{gke, "nvidia-tesla-a100"}}, true},
      {"A100-80GB", {{gke, "nvidia-tesla-a100"}}, false},
      {"L4", {{gke, "nvidia-l4"}}, true},
      {"L4", {{gke, "nvidia-a100-80gb"}}, false},
  };
  for (const HintCase& row : kCases) {
    LaunchSpec spec = training_for_test();
    spec.resources = {Family::nvidia, std::string(row.hint), 1, 1000, "", 0, 0, 1};
    EXPECT_EQ(admits(required_terms(spec), row.labels), row.admitted)
        << row.hint << (row.labels.empty() ? "" : row.labels.begin()->second);
  }
}

TEST(KubernetesDevices, AWholeCardIsNotTakenFromANodeOfSlicesOrShares) {
  const std::map<std::string, std::string> kNodes[] = {
      {{"nvidia.com/gpu.sharing-strategy", "time-slicing"}},
      {{"nvidia.com/gpu.sharing-strategy", "mps"}, {"nvidia.com/gpu.product", "NVIDIA-L4-SHARED"}},
      {{"nvidia.com/gpu.slices.gi", "1"},
       {"nvidia.com/gpu.product", "NVIDIA-A100-SXM4-80GB-MIG-1g.10gb"}},
      {{"cloud.google.com/gke-gpu-sharing-strategy", "time-sharing"}},
      {{"cloud.google.com/gke-gpu-partition-size", "1g.5gb"}},
  };
  for (const char* hint : {"", "L4", "A100"}) {
    for (const auto& labels : kNodes) {
      LaunchSpec spec = training_for_test();
      spec.resources = {Family::nvidia, hint, 1, 1000, "", 0, 0, 1};
      EXPECT_FALSE(admits(required_terms(spec), labels)) << hint << labels.begin()->second;
    }
    LaunchSpec spec = training_for_test();
    spec.resources = {Family::nvidia, hint, 1, 1000, "", 0, 0, 1};
    EXPECT_TRUE(admits(required_terms(spec), {{"nvidia.com/gpu.sharing-strategy", "none"}}));
    // half a card may be a share
    spec.resources.fraction_milli = 500;
    const json::value rules = at(pod_spec(spec), "/affinity/nodeAffinity");
    EXPECT_THAT(to_text(rules), HasSubstr("sharing-strategy"));
    EXPECT_THAT(to_text(rules), Not(HasSubstr("gpu.slices.gi")));
  }
}

TEST(KubernetesDevices, EveryValueOfALabelIsAModelOfTheCatalogue) {
  size_t values = 0;
  for (const auto& [family, hint] : {std::pair{Family::nvidia, "nvidia"}, {Family::amd, "amd"}}) {
    LaunchSpec spec = training_for_test();
    spec.resources = {family, hint, 1, 500, "", 0, 0, 1};
    const json::array terms = required_terms(spec);
    for (const json::value& term : terms) {
      const json::value list = at(term, "/matchExpressions/0/values");
      if (!list.is_array()) continue;
      for (const json::value& value : list.as_array()) {
        std::string_view text = value.as_string();
        if (text.ends_with("-SHARED")) text.remove_suffix(7);
        EXPECT_FALSE(models_meant(text).empty()) << text;
        ++values;
      }
    }
  }
  EXPECT_GT(values, 100U);
}

TEST(KubernetesDevices, AHintThatNoLabelKnowsIsNotedAndKeepsNobodyOut) {
  LaunchSpec spec = training_for_test();
  spec.resources = {Family::nvidia, "no such model 123", 1, 1000, "", 0, 0, 1};
  EXPECT_TRUE(admits(required_terms(spec), {{"nvidia.com/gpu.product", "NVIDIA-L4"}}));
  EXPECT_THAT(render_kubernetes(spec)->notes, Contains(HasSubstr("No label of a node says")));
}

TEST(KubernetesDevices, NodesOfAJobAreDistinct) {
  const json::value rule =
      at(pod_spec(training_for_test()),
         "/affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution/0");
  EXPECT_EQ(at(rule, "/topologyKey"), "kubernetes.io/hostname");
  EXPECT_EQ(at(rule, "/labelSelector/matchLabels/exa~1launch-id"), "t-1");
}

struct Slice {
  std::string_view hint;
  int64_t chips;
  int64_t nodes;
  std::string_view topology;  // empty: refused
};

TEST(KubernetesDevices, ATpuIsPlacedByItsKindAndTopology) {
  constexpr Slice kSlices[] = {
      {"TPU-v5e", 1, 1, "1x1"},   {"TPU-v5e", 4, 1, "2x2"},   {"TPU-v5e", 8, 1, "2x4"},
      {"TPU-v5e", 4, 2, "2x4"},   {"TPU-v5e", 4, 4, "4x4"},   {"TPU-v6e", 4, 64, "16x16"},
      {"TPU-v5p", 4, 1, "2x2x1"}, {"TPU-v4", 4, 16, "4x4x4"}, {"TPU-v7x", 4, 2, "2x2x2"},
      {"TPU-v5e", 3, 1, ""},      {"TPU-v5e", 8, 2, ""},      {"TPU-v5e", 4, 3, ""},
      {"TPU-v5p", 8, 1, ""},      {"TPU-v5e", 4, 128, ""},    {"", 4, 1, ""},
      {"tpu", 4, 1, ""},          {"TPU-v2", 4, 1, ""},
  };
  for (const Slice& row : kSlices) {
    LaunchSpec spec = training_for_test();
    spec.resources = {Family::tpu, std::string(row.hint), row.chips, 1000, "", 0, 0, row.nodes};
    const auto rendered = render_kubernetes(spec);
    ASSERT_EQ(rendered.has_value(), !row.topology.empty())
        << row.hint << row.chips << "x" << row.nodes;
    if (!rendered) continue;
    EXPECT_EQ(at(pod_spec(spec), "/nodeSelector/cloud.google.com~1gke-tpu-topology"),
              json::value(row.topology));
  }
}

}  // namespace
}  // namespace exa
