// What ends as a Pod: Kubernetes itself, Kueue, OpenShift AI, KubeSpawner.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launch/vocabulary_reading_for_test.h"

namespace exa {
namespace {

using sample::notes_of;
using sample::open_in;
using sample::read_as;
using sample::write_over;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string pod(std::string_view resources, std::string_view more = "") {
  return fmt::format(
      "apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec:\n{}  containers:\n"
      "    - name: c\n      resources: {}\n",
      more, resources);
}

struct Row {
  std::string_view resources;
  std::string_view fields;
};

TEST(Kubernetes, QuantitiesAreReadAsTheySay) {
  constexpr Row kRows[] = {
      {"{requests: {cpu: 500m, memory: 512Mi}}",
       R"({"accelerator_family":"cpu","cpu":0.5,"memory_gb":0.5})"},
      {"{limits: {cpu: 8, memory: 32Gi, nvidia.com/gpu: 2}}",
       R"({"accelerator_family":"nvidia","gpu_count":2,"cpu":8,"memory_gb":32})"},
      {"{limits: {memory: 1G}}", R"({"accelerator_family":"cpu","memory_gb":0.931322575})"},
      {"{limits: {amd.com/gpu: '8'}}", R"({"accelerator_family":"amd","gpu_count":8})"},
      {"{limits: {habana.ai/gaudi: 8}}", R"({"accelerator_family":"intel-gaudi","gpu_count":8})"},
      {"{limits: {google.com/tpu: 4}}", R"({"accelerator_family":"tpu","gpu_count":4})"},
      {"{limits: {nvidia.com/mig-1g.10gb.me: 1}}",
       R"({"accelerator_family":"nvidia","gpu_count":1,"mig_profile":"1g.10gb+me"})"},
      {"{requests: {nvidia.com/gpu: 1}, limits: {nvidia.com/gpu: 1}}",
       R"({"accelerator_family":"nvidia","gpu_count":1})"},
      {"{limits: {nvidia.com/gpu: 0.5}}",
       "error f:7:28 0.5 of nvidia.com/gpu: Kubernetes gives whole devices only\n"},
      {"{limits: {nvidia.com/gpu: 1, nvidia.com/mig-1g.10gb: 2}}",
       "error f:7:47 2 of nvidia.com/mig-1g.10gb beside 1 of nvidia.com/gpu; a profile asks for "
       "one "
       "kind\n"},
      {"{limits: {cpu: lots, memory: 32Q}}",
       "error f:7:28 \"lots\" is not a Kubernetes quantity\nerror f:7:39 \"32Q\" is not a "
       "Kubernetes quantity\n"},
      {"{limits: {gpu.intel.com/i915: 1}}",
       "error f:7:28 gpu.intel.com/i915 is of no family that a profile may ask for\n"},
      {"[1]", "error f:7:7 must be a map, not a list\n"},
  };
  for (const Row& row : kRows) {
    std::string read = read_as("kubernetes", pod(row.resources), "f");
    EXPECT_EQ(read, row.fields) << row.resources;
  }
}

TEST(Kubernetes, WhatIsReservedCounts) {
  const std::string text =
      pod("{requests: {cpu: 4, memory: 8Gi}, limits: {cpu: 8, memory: 8192Mi}}");
  EXPECT_EQ(read_as("kubernetes", text, "f"),
            R"({"accelerator_family":"cpu","cpu":4,"memory_gb":8})");
  EXPECT_THAT(notes_of("kubernetes", text, "f"),
              ElementsAre("f:7:61 is another amount than is requested, which is what counts"));
}

TEST(Kubernetes, TheModelComesFromTheSelector) {
  const auto read = [](std::string_view selector) {
    return read_as(
        "kubernetes",
        pod("{limits: {nvidia.com/gpu: 1}}", fmt::format("  nodeSelector: {}\n", selector)), "f");
  };
  EXPECT_THAT(read("{nvidia.com/gpu.product: NVIDIA-A100-80GB-PCIe}"),
              HasSubstr(R"("accelerator_model_hint":"A100-PCIE-80GB")"));
  EXPECT_THAT(read("{nvidia.com/gpu.product: NVIDIA-H200}"), HasSubstr(R"("H200-SXM5-141GB")"));
  EXPECT_THAT(read("{nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB-MIG-1g.10gb}"),
              HasSubstr(R"("mig_profile":"1g.10gb")"));
  EXPECT_THAT(read("{cloud.google.com/gke-accelerator: nvidia-l4}"), HasSubstr(R"("L4")"));
  EXPECT_THAT(notes_of("kubernetes",
                       pod("{limits: {nvidia.com/gpu: 1}}",
                           "  nodeSelector: {nvidia.com/gpu.product: Tesla-T4-SHARED, "
                           "disk: ssd}\n"),
                       "f"),
              ElementsAre("f:5:18 how many share a device stands in the cluster's configuration",
                          "f:5:59 /spec/nodeSelector/disk is no field of a profile"));
}

TEST(Kubernetes, DevicesOfTheClustersOwnMakingAreLeftOpen) {
  const std::string text = pod("{limits: {nvidia.com/gpu.shared: 2}}");
  EXPECT_THAT(open_in("kubernetes", text), ElementsAre("accelerator_family", "gpu_count"));
  EXPECT_EQ(read_as("kubernetes", text, "f"), "{}");
}

TEST(Kubernetes, OneContainerAsks) {
  EXPECT_THAT(
      read_as("kubernetes",
              "kind: Pod\nspec:\n  containers:\n  - {name: a, resources: {limits: {cpu: 1}}}\n"
              "  - {name: b, resources: {limits: {cpu: 1}}}\n",
              "f"),
      HasSubstr("error f:5:5 asks for resources as f:4:5 does"));
  EXPECT_THAT(read_as("kubernetes", "kind: Service\n", "f"), HasSubstr("there is no Pod in it"));
}

constexpr std::string_view kDeployment = R"(apiVersion: v1
kind: Service
metadata:
  name: web
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels:
    app: web
spec:
  replicas: 3
  template:
    spec:
      nodeSelector:
        disk: ssd
        nvidia.com/gpu.product: NVIDIA-L4
      containers:
        - name: proxy
          image: proxy:1
        - name: web
          image: web:1
          resources:
            requests:
              cpu: "4"
              ephemeral-storage: 1Gi
            limits:
              nvidia.com/gpu: 1
)";

TEST(Kubernetes, ADeploymentKeepsEverythingElse) {
  EXPECT_EQ(
      read_as("kubernetes", kDeployment, "f"),
      R"({"accelerator_family":"nvidia","accelerator_model_hint":"L4","gpu_count":1,"cpu":4})");
  EXPECT_THAT(notes_of("kubernetes", kDeployment, "f"),
              ElementsAre("f:1:1 the document is no field of a profile",
                          "f:10:3 /metadata/labels is no field of a profile",
                          "f:13:3 /spec/replicas is no field of a profile",
                          "f:17:9 /spec/template/spec/nodeSelector/disk is no field of a profile",
                          "f:20:11 /spec/template/spec/containers/0 is no field of a profile",
                          "f:23:11 /spec/template/spec/containers/1/image is no field of a profile",
                          "f:27:15 /spec/template/spec/containers/1/resources/requests/"
                          "ephemeral-storage is no field of a profile"));
  std::string wanted(kDeployment);
  const auto replace = [&](std::string_view a, std::string_view b) {
    wanted.replace(wanted.find(a), a.size(), b);
  };
  replace("        nvidia.com/gpu.product: NVIDIA-L4\n", "");
  replace("nvidia.com/gpu: 1", "amd.com/gpu: 2");
  EXPECT_EQ(write_over("kubernetes", R"({"accelerator_family":"amd","gpu_count":2,"cpu":4})",
                       kDeployment),
            wanted);
}

TEST(Kubernetes, JsonStaysJson) {
  const std::string text = to_pretty_text(json::parse(
      R"({"kind":"Pod","spec":{"containers":[{"image":"x","resources":{"limits":{"cpu":1}}}]}})"));
  EXPECT_EQ(write_over("kubernetes", R"({"accelerator_family":"cpu","cpu":1})", text), text);
  EXPECT_THAT(notes_of("kubernetes", text), Contains("/spec/containers/0/image "
                                                     "/spec/containers/0/image is no field of a "
                                                     "profile"));
}

TEST(Kueue, AQuotaSaysNothingOfOneNode) {
  EXPECT_THAT(read_as("kueue", "apiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueue\n", "f"),
              HasSubstr("there is no Workload in it"));
}

constexpr std::string_view kHardwareProfile = R"(apiVersion: infrastructure.opendatahub.io/v1
kind: HardwareProfile
metadata:
  name: gpu
  namespace: redhat-ods-applications
  annotations:
    opendatahub.io/display-name: One GPU
    opendatahub.io/managed: "false"
    opendatahub.io/dashboard-feature-visibility: "[\"model-serving\",\"lab\"]"
spec:
  identifiers:
    - displayName: CPU
      identifier: cpu
      minCount: 1
      maxCount: 8
      defaultCount: "4"
      resourceType: CPU
    - displayName: GPU
      identifier: nvidia.com/gpu
      minCount: 1
      defaultCount: 1
    - displayName: NIC
      identifier: rdma/hca
      minCount: 1
      defaultCount: 1
  scheduling:
    type: Node
    node:
      tolerations:
        - key: nvidia.com/gpu
          operator: Exists
)";

TEST(OpenshiftAi, TheDefaultIsWhatIsAskedFor) {
  EXPECT_EQ(read_as("openshift-ai", kHardwareProfile, "f"),
            R"({"accelerator_family":"nvidia","gpu_count":1,"cpu":4,"applicability":["serving"]})");
  EXPECT_THAT(
      notes_of("openshift-ai", kHardwareProfile, "f"),
      ElementsAre("f:9:5 \"lab\" is no use that a profile names",
                  "f:14:7 a profile asks for one amount: the default counts",
                  "f:15:7 a profile asks for one amount: the default counts",
                  "f:5:3 /metadata/namespace is no field of a profile",
                  "f:8:5 /metadata/annotations/opendatahub.io~1managed is no field of a profile",
                  "f:22:7 /spec/identifiers/2 is no field of a profile",
                  "f:28:5 /spec/scheduling/node is no field of a profile"));
}

TEST(OpenshiftAi, WhatAProfileDoesNotKnowStays) {
  std::string wanted(kHardwareProfile);
  const auto replace = [&](std::string_view a, std::string_view b) {
    wanted.replace(wanted.find(a), a.size(), b);
  };
  replace("maxCount: 8\n      defaultCount: \"4\"", "maxCount: 16\n      defaultCount: 16");
  EXPECT_EQ(write_over("openshift-ai",
                       R"({"accelerator_family":"nvidia","gpu_count":1,"cpu":16,
                           "applicability":["serving"]})",
                       kHardwareProfile),
            wanted);
}

TEST(Kubespawner, AnEntryIsFoundWhereverItStands) {
  constexpr std::string_view kEntry =
      "display_name: GPU\n  kubespawner_override: {cpu_limit: 4, mem_limit: 16G, "
      "extra_resource_limits: {nvidia.com/gpu: '1'}, image: lab:1}\n";
  constexpr std::string_view kFields =
      R"({"accelerator_family":"nvidia","gpu_count":1,"cpu":4,"memory_gb":16})";
  EXPECT_EQ(read_as("kubespawner", fmt::format("- {}", kEntry), "f"), kFields);
  EXPECT_EQ(read_as("kubespawner", fmt::format("profile_list:\n- {}", kEntry), "f"), kFields);
  EXPECT_EQ(read_as("kubespawner",
                    fmt::format("singleuser:\n  profileList:\n  - {}",
                                "kubespawner_override: {mem_limit: 0.5G}"),
                    "f"),
            R"({"accelerator_family":"cpu","memory_gb":0.5})");
  EXPECT_THAT(read_as("kubespawner", fmt::format("- {}- {}", kEntry, kEntry), "f"),
              HasSubstr("2 entries; a profile is one of them"));
  EXPECT_THAT(read_as("kubespawner", "- kubespawner_override: {mem_limit: 16Gi}", "f"),
              HasSubstr("error f:1:26 \"16Gi\" is not a whole number"));
  const std::string over =
      write_over("kubespawner", R"({"accelerator_family":"cpu","cpu":2,"memory_gb":16})",
                 fmt::format("hub: 1\nprofile_list:\n- {}", kEntry));
  EXPECT_THAT(over, HasSubstr("image: lab:1"));
  EXPECT_THAT(over, HasSubstr("hub: 1"));
  EXPECT_THAT(over, HasSubstr("cpu_limit: 2"));
  EXPECT_THAT(over, Not(HasSubstr("nvidia")));
}

}  // namespace
}  // namespace exa
