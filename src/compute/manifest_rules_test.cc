// Every rule of a manifest with the exact place of its problem.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compute/manifest_for_test.h"

namespace exa {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

struct Row {
  std::string fields;
  std::string problem;  // the beginning of the only one; empty: none
};

void expect(std::string (*manifest)(std::string_view), const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    const std::vector<std::string> problems = problems_of_manifests(manifest(row.fields));
    if (row.problem.empty())
      EXPECT_THAT(problems, IsEmpty()) << row.fields;
    else
      EXPECT_THAT(problems, ElementsAre(StartsWith(row.problem))) << row.fields;
  }
}

TEST(ManifestRules, ComputeProfile) {
  expect(profile_with,
         {
             {"minWorkerNodes: 0", ""},
             {"minWorkerNodes: -1", "f:6:3 -1 is not between 0 and 2147483647"},
             {"minWorkerNodes: 2147483648", "f:6:3 2147483648 is not between"},
             {"minWorkerNodes: 18446744073709551615", "f:6:3 18446744073709551615 is not between"},
             {"minWorkerNodes: 2.5", "f:6:3 spec.minWorkerNodes is a number; wanted: whole number"},
             {"minWorkerNodes: '2'",
              "f:6:3 spec.minWorkerNodes is text; wanted: whole number (without quotes: 2)"},
             {"minWorkerNodes: null", ""},
             {"gpuLimits: {NVIDIA-H100: 0, nvidia-a100: 3}", ""},
             {"gpuLimits: {NVIDIA-H100: -1}", "f:6:15 -1 is not between 0 and"},
             {"gpuLimits: {NVIDIA-H100: 1, nvidia h100: 1}",
              "f:6:31 \"NVIDIA-H100\" and \"nvidia h100\" are one family, NVIDIA H100 (write one"},
             {"gpuLimits: {'--': 1}", "f:6:15 \"--\" is no GPU family"},
             {"gpuLimits: {NVIDIA-H100: x}",
              "f:6:15 spec.gpuLimits[NVIDIA-H100] is text; wanted: whole number"},
             {"gpuLimits: {NVIDIA-H100: null}", "f:6:15 spec.gpuLimits[NVIDIA-H100] is nothing;"},
             {"gpuLimits: [8]", "f:6:3 spec.gpuLimits is a list; wanted: map of whole numbers"},
             {"settingsRef: {name: site}", ""},
             {"settingsRef: {}", "f:6:3 spec.settingsRef.name is missing and required"},
             {"settingsRef: {name: Site}", "f:6:17 \"Site\" is no name (a name is lower-case"},
             {"settingsRef: site", "f:6:3 spec.settingsRef is text; wanted: object"},
             {"sshKeys: [ssh-rsa]", "f:6:13 the key has nothing behind its type"},
             {"sshKeys: [1]", "f:6:13 spec.sshKeys[] is a number; wanted: text (in quotes: \"1\")"},
             {"sshKeys: ssh-rsa", "f:6:3 spec.sshKeys is text; wanted: list of text"},
             {"workerPoolDefaults: {labels: {a b: c}}", "f:6:33 \"a b\" is no key of a label"},
             {"workerPoolDefaults: {labels: {a: b c}}", "f:6:33 \"b c\" is no value of a label"},
             {"workerPoolDefaults: {labels: {a: true}}",
              "f:6:33 spec.workerPoolDefaults.labels[a] is true or false; wanted: text (in quotes: "
              "\"true\")"},
             {"workerPoolDefaults: {annotations: {A.b/c: any 'text', d: ''}}", ""},
             {"workerPoolDefaults: {annotations: {a/b/c: x}}", "f:6:38 \"a/b/c\" is no key of an"},
             {"workerPoolDefaults: {annotations: {a: " + std::string(60'000, 'x') +
                  ", b: " + std::string(60'000, 'x') + ", c: " + std::string(60'000, 'x') +
                  ", d: " + std::string(60'000, 'x') + ", e: " + std::string(60'000, 'x') + "}}",
              "f:6:24 annotations of 300005 bytes; Kubernetes takes 262144"},
         });
}

TEST(ManifestRules, Taints) {
  expect(profile_with,
         {
             {"workerPoolDefaults: {taints: [{key: k, effect: NoExecute}]}", ""},
             {"workerPoolDefaults: {taints: [{key: k, value: v, effect: PreferNoSchedule}]}", ""},
             {"workerPoolDefaults: {taints: [{effect: NoExecute}]}",
              "f:6:33 spec.workerPoolDefaults.taints[].key is missing and required"},
             {"workerPoolDefaults: {taints: [{key: k}]}",
              "f:6:33 spec.workerPoolDefaults.taints[].effect is missing and required"},
             {"workerPoolDefaults: {taints: [{key: k, effect: noschedule}]}",
              "f:6:42 \"noschedule\" is no effect (did you mean NoSchedule"},
             {"workerPoolDefaults: {taints: [{key: k, effect: Never}]}",
              "f:6:42 \"Never\" is no effect (one of NoSchedule, PreferNoSchedule, NoExecute)"},
             {"workerPoolDefaults: {taints: [{key: a b, effect: NoExecute}]}",
              "f:6:34 \"a b\" is no key of a taint"},
             {"workerPoolDefaults: {taints: [{key: k, value: a b, effect: NoExecute}]}",
              "f:6:42 \"a b\" is no value of a taint"},
             {"workerPoolDefaults: {taints: [{key: k, effect: NoExecute}, {key: k, value: v, "
              "effect: NoExecute}]}",
              "f:6:62 a second taint \"k\" of NoExecute"},
             {"workerPoolDefaults: {taints: [k]}",
              "f:6:33 spec.workerPoolDefaults.taints[] is text; wanted: object"},
         });
}

TEST(ManifestRules, Edge) {
  expect(
      profile_with,
      {
          {"edge: {vip: '2001:db8::1'}", ""},
          {"edge: {vip: 10.10.189.256}", "f:6:10 \"10.10.189.256\" is no IP address"},
          {"edge: {vip: vip.example.com}", "f:6:10 \"vip.example.com\" is no IP address"},
          {"edge: {vip: 0.0.0.0}", "f:6:10 \"0.0.0.0\" is no machine's address"},
          {"edge: {vip: 127.0.0.1}", "f:6:10 \"127.0.0.1\" is every machine's own address"},
          {"edge: {vip: '::1'}", "f:6:10 \"::1\" is every machine's own address"},
          {"edge: {vip: 224.0.0.1}", "f:6:10 \"224.0.0.1\" is a multicast address"},
          {"edge: {vip: 'ff02::1'}", "f:6:10 \"ff02::1\" is a multicast address"},
          {"edge: {vip: 255.255.255.255}", "f:6:10 \"255.255.255.255\" is a reserved address"},
          {"edge: {ntpServers: [time.google.com, 10.0.0.1, '2001:db8::1']}", ""},
          {"edge: {ntpServers: [a, 'b c']}", "f:6:26 \"b c\" is neither a host name nor an"},
          {"edge: {ntpServers: [10.0.0.300]}", "f:6:23 \"10.0.0.300\" is neither"},
          {"edge: {networkOverlayConfig: {cidr: 192.168.1.7/24}}",
           "f:6:33 \"192.168.1.7/24\" has bits behind its prefix (did you mean 192.168.1.0/24?)"},
          {"edge: {networkOverlayConfig: {cidr: 192.168.1.0}}",
           "f:6:33 \"192.168.1.0\" is no network (such as 192.168.1.0/24)"},
          {"edge: {networkOverlayConfig: {overlayNetworkType: vxlan}}",
           "f:6:33 \"vxlan\" is no type of overlay network (VXLAN is the one)"},
          {"edge: {networkOverlayConfig: {enabled: yes}}",
           "f:6:33 spec.edge.networkOverlayConfig.enabled is text; wanted: true or false"},
          {"edge: {networkOverlayConfig: {staticIp: 'true'}}",
           "f:6:33 spec.edge.networkOverlayConfig.staticIp is text; wanted: true or false "
           "(without quotes: true)"},
          {"edge: {vip: 192.168.1.9, networkOverlayConfig: {cidr: 192.168.1.0/24}}", ""},
          {"edge: {isTwoNode: true}", ""},
      });
}

TEST(ManifestRules, ATwoNodeClusterHasOneControlPlane) {
  EXPECT_THAT(problems_of_manifests("apiVersion: palette.ai/v1alpha1\n"
                                    "kind: ComputeProfile\n"
                                    "metadata: {name: p}\n"
                                    "spec:\n"
                                    "  edge: {isTwoNode: true}\n"
                                    "  controlPlaneDefaults: {nodeCount: 3}\n"),
              ElementsAre("f:5:10 a two-node cluster is one control plane and its standby, but "
                          "controlPlaneDefaults.nodeCount is 3 (write nodeCount: 1 or isTwoNode: "
                          "false)"));
}

TEST(ManifestRules, TheControlPlaneKeepsItsQuorum) {
  for (const int count : {-1, 0, 1, 2, 3, 4, 5, 6}) {
    const std::vector<std::string> problems = problems_of_manifests(
        fmt::format("apiVersion: palette.ai/v1alpha1\nkind: ComputeProfile\nmetadata: {{name: p}}\n"
                    "spec: {{controlPlaneDefaults: {{nodeCount: {}}}}}\n",
                    count));
    if (count == 1 || count == 3 || count == 5)
      EXPECT_THAT(problems, IsEmpty()) << count;
    else
      EXPECT_THAT(problems,
                  ElementsAre(StartsWith(fmt::format("f:4:31 {} nodes of a control plane: must be "
                                                     "1, 3 or 5 to maintain quorum",
                                                     count))));
  }
}

TEST(ManifestRules, Platform) {
  expect(
      platform_with,
      {
          {"gpus: {NVIDIA-H100: 8}", ""},
          {"gpus: {NVIDIA-H100: 0}", "f:5:10 0 is not between 1 and"},
          {"gpus: {NVIDIA-H100: 8, nvidia_h100: 1}", "f:5:26 \"NVIDIA-H100\" and \"nvidia_h100\""},
          {"gpuMemory: 80G", ""},
          {"gpuMemory: '80'", "f:5:3 "},
          {"gpuMemory: 80", "f:5:3 spec.gpuMemory is a number; wanted: text"},
          {"mode: dedicated", ""},
          {"mode: share", "f:5:3 \"share\" is no mode (did you mean shared?)"},
          {"architecture: arm64", ""},
          {"architecture: x86_64", "f:5:3 \"x86_64\" is no architecture (did you mean AMD64?)"},
          {"architecture: aarch64", "f:5:3 \"aarch64\" is no architecture (did you mean ARM64?)"},
          {"architecture: sparc", "f:5:3 \"sparc\" is no architecture (AMD64 or ARM64)"},
          {"workerResourceGroups: {region/us-west: zone-a}", ""},
          {"workerResourceGroups: {palette.ai.rg/tier: a}",
           "f:5:26 \"palette.ai.rg/tier\" is no resource group (without the prefix of the tag: "
           "tier)"},
          {"controlPlaneResourceGroups: {'': a}", "f:5:32 \"\" is no resource group"},
          {"controlPlaneResourceGroups: {a: 3}",
           "f:5:32 spec.controlPlaneResourceGroups[a] is a number; wanted: text (in quotes: "
           "\"3\")"},
          {"workloadProfileRef: {}", "f:5:3 spec.workloadProfileRef.name is missing and required"},
          {"computeProfileRef: {name: p, override: {minWorkerNodes: 1}}", ""},
          {"computeProfileRef: {override: {controlPlaneDefaults: {workerNodeEligible: true}}}", ""},
          {"computeProfileRef: {override: {minWorkerNodes: -1}}", "f:5:34 -1 is not between 0"},
          {"computeProfileRef: {override: {workerPoolDefaults: {taints: [{key: k}]}}}",
           "f:5:64 spec.computeProfileRef.override.workerPoolDefaults.taints[].effect is missing"},
          {"computeProfileRef: {override: {gpuLimits: {NVIDIA-H100: 1, nvidia h100: 2}}}",
           "f:5:62 \"NVIDIA-H100\" and \"nvidia h100\" are one family"},
      });
}

TEST(ManifestRules, KindsAndVersions) {
  struct Document {
    std::string text;
    std::string problem;
  };
  const std::vector<Document> documents = {
      {"apiVersion: palette.ai/v1alpha1\nkind: ComputProfile\n",
       "f:2:1 \"ComputProfile\" is no kind that is known (did you mean ComputeProfile"},
      {"apiVersion: palette.ai/v1alpha1\nkind: computeprofile\n",
       "f:2:1 \"computeprofile\" is no kind that is known (did you mean ComputeProfile"},
      {"apiVersion: palette.ai/v1alpha1\nkind: Zebra\n",
       "f:2:1 \"Zebra\" is no kind that is known (one of Settings, ComputeProfile, "},
      {"apiVersion: palette.ai/v1alpha1\n", "f:1:1 kind is missing"},
      {"apiVersion: palette.ai/v1alpha1\nkind: 3\n", "f:2:1 kind is missing"},
      {"apiVersion: palette.ai/v1\nkind: Compute\nmetadata: {name: a}\n",
       "f:1:1 \"palette.ai/v1\" is no apiVersion of Compute (did you mean palette.ai/v1alpha1?)"},
      {"apiVersion: palette.ai/v1alpha1\nkind: WorkloadProfile\nmetadata: {name: a}\n",
       "f:1:1 \"palette.ai/v1alpha1\" is no apiVersion of WorkloadProfile (did you mean mural."},
      {"kind: Compute\nmetadata: {name: a}\n", "f:1:1 apiVersion is missing and required"},
      {"apiVersion: palette.ai/v1alpha1\nkind: Compute\n", "f:1:1 metadata.name is missing"},
      {"apiVersion: palette.ai/v1alpha1\nkind: Compute\nmetadata: {}\n",
       "f:3:1 metadata.name is missing and required"},
      {"apiVersion: palette.ai/v1alpha1\nkind: Compute\nmetadata: {name: a_b}\n",
       "f:3:12 \"a_b\" is no name"},
      {"apiVersion: palette.ai/v1alpha1\nkind: Compute\nmetadata: {name: a, namespace: b.c}\n",
       "f:3:21 \"b.c\" is no namespace"},
      {"apiVersion: palette.ai/v1alpha1\nkind: Compute\nmetadata: {name: a, labels: {'': b}}\n",
       "f:3:30 \"\" is no key of a label"},
      {"apiVersion: palette.ai/v1alpha1\nkind: Project\nmetadata: {name: a}\n",
       "f:1:1 spec.computeProfileRef.name is missing and required (A project must reference a"},
      {"apiVersion: palette.ai/v1alpha1\nkind: Project\nmetadata: {name: a.b}\n"
       "spec: {computeProfileRef: {name: p}}\n",
       "f:3:12 \"a.b\" is no namespace"},
      {"apiVersion: palette.ai/v1alpha1\nkind: Settings\nmetadata: {name: a}\n"
       "spec: {machineSources: [edge, 'A B']}\n",
       "f:4:31 \"A B\" is no name"},
      {"apiVersion: palette.ai/v1alpha1\nkind: Settings\nmetadata: {name: a}\n"
       "spec: {provisioner: ''}\n",
       "f:4:8 \"\" is no name"},
      {"- a\n", "f:1:1 a manifest is an object"},
      {"", "f:1:1 holds no manifest"},
      {"# nothing\n---\n", "f:1:1 holds no manifest"},
      {"kind: Compute\nkind: Compute\n", "f:2:1 the key kind stands twice"},
  };
  for (const Document& document : documents)
    EXPECT_THAT(problems_of_manifests(document.text), ElementsAre(StartsWith(document.problem)))
        << document.text;
}

TEST(ManifestRules, AListOfKubectlIsToBeWrittenOut) {
  EXPECT_THAT(problems_of_manifests("apiVersion: v1\nkind: List\nitems: []\n"),
              ElementsAre("f:2:1 \"List\" is no kind that is known (write its items as documents "
                          "with --- between)",
                          StartsWith("f:1:1 \"v1\" is no apiVersion that is known")));
}

TEST(ManifestRules, TheLabelOfAWorkloadProfileIsAWholeNumberAsText) {
  const auto with = [](std::string_view label) {
    return problems_of_manifests(
        fmt::format("apiVersion: mural.spectrocloud.com/v1alpha1\nkind: WorkloadProfile\n"
                    "metadata: {{name: w, labels: {{palette.ai/min-nodes: {}}}}}\n",
                    label));
  };
  EXPECT_THAT(with("'0'"), IsEmpty());
  for (const std::string_view wrong : {"'-1'", "'2.5'", "three", "''", "'99999999999'", "'+1'"})
    EXPECT_THAT(with(wrong), testing::Contains(StartsWith("f:3:30 "))) << wrong;
  EXPECT_THAT(with("three"), ElementsAre("f:3:30 \"three\" is no whole number from 0 on (such as "
                                         "'3')"));
  EXPECT_THAT(with("3"), ElementsAre("f:3:30 metadata.labels[palette.ai/min-nodes] is a number; "
                                     "wanted: text (in quotes: \"3\")"));
}

TEST(ManifestRules, AllProblemsOfAllDocumentsAreToldAtOnceInTheirOrder) {
  EXPECT_THAT(
      problems_of_manifests(profile_with("minWorkerNodes: -1\n  gpuLimits: {'-': -2}") +
                            "---\nkind: Zebra\n---\n[]\n---\n" + profile_with("edge: {vip: x}")),
      ElementsAre(StartsWith("f:6:3 -1"), StartsWith("f:7:15 -2"),
                  StartsWith("f:7:15 \"-\" is no GPU family"), StartsWith("f:9:1 \"Zebra\""),
                  StartsWith("f:11:1 a manifest"), StartsWith("f:18:10 \"x\" is no IP address")));
}

TEST(ManifestRules, AHundredProblemsAreEnough) {
  std::string limits = "gpuLimits: {";
  for (int i = 0; i < 500; ++i) limits += fmt::format("f{}: -1, ", i);
  EXPECT_EQ(problems_of_manifests(profile_with(limits + "z: -1}")).size(), 100U);
}

TEST(ManifestRules, TwoOfOneKindNamespaceAndNameAreAProblem) {
  const std::string profile = profile_with("minWorkerNodes: 1");
  EXPECT_THAT(problems_of_manifests(profile + "---\n" + profile),
              ElementsAre("f:8:1 ComputeProfile p stands twice in a (the first is at f:1:1)"));
  const std::string other =
      "apiVersion: palette.ai/v1alpha1\nkind: Compute\nmetadata: {name: p, "
      "namespace: a}\n---\napiVersion: palette.ai/v1alpha1\nkind: "
      "Compute\nmetadata: {name: p, namespace: b}\n";
  EXPECT_THAT(problems_of_manifests(profile + "---\n" + other), IsEmpty());
}

TEST(ManifestRules, DependenciesComeFirst) {
  const auto manifests = read_manifests(palette_file("all-kinds.yaml"), "f");
  ASSERT_TRUE(manifests);
  std::vector<PaletteKind> kinds;
  for (const Manifest& manifest : *manifests) kinds.push_back(manifest.kind);
  EXPECT_THAT(kinds, ElementsAre(PaletteKind::settings, PaletteKind::compute_profile,
                                 PaletteKind::workload_profile, PaletteKind::project,
                                 PaletteKind::compute, PaletteKind::ml_platform));
  const MlPlatformSpec platform = ml_platform_spec(manifests->back());
  EXPECT_EQ(platform.architecture, "AMD64");
  EXPECT_EQ(platform.mode, AllocationMode::shared);
  EXPECT_EQ(platform.gpu_memory_bytes, 80'000'000'000);
  EXPECT_EQ(platform.worker_groups,
            (ResourceGroups{{"network-pool", "3"}, {"region/us-west", "zone-a"}}));
  EXPECT_EQ(platform.workload_profile_ref, "clearml-workload-profile");
  const Manifest& project = (*manifests)[3];
  EXPECT_EQ(project.name_space, "project-a");
  EXPECT_EQ(project_spec(project).compute_profile_ref, "edge-compute-profile");
  EXPECT_EQ(project_spec(project).settings_ref, "site");
  EXPECT_EQ(compute_spec((*manifests)[4]).settings_ref, "site");
  EXPECT_THAT(settings_spec((*manifests)[0]).machine_sources, ElementsAre("edge"));
  EXPECT_EQ(settings_spec((*manifests)[0]).provisioner, "ansible");
}

TEST(ManifestRules, JsonIsTakenAsItStands) {
  constexpr std::string_view kJson =
      "{\n\t\"apiVersion\": \"palette.ai/v1alpha1\",\n\t\"kind\": \"Compute\",\n"
      "\t\"metadata\": {\"name\": \"c\", \"annotations\": {\"a\": \"\\/ \\u00e9\"}}\n}\n";
  EXPECT_EQ(only_manifest(kJson).name, "c");
  EXPECT_THAT(problems_of_manifests("{\"apiVersion\": \"palette.ai/v1alpha1\",\n \"kind\": "
                                    "\"Compute\",\n \"metadata\": {\"name\": \"C\"}}"),
              ElementsAre(StartsWith("f:3:15 \"C\" is no name")));
  // which the reader of YAML does not know
  const Manifest smile = only_manifest(
      R"({"apiVersion": "palette.ai/v1alpha1", "kind": "Compute", "metadata": {"name": "c",)"
      R"( "annotations": {"a": "\ud83d\ude00"}}})");
  EXPECT_EQ(smile.document.at("metadata").at("annotations").at("a"), "😀");
}

TEST(ManifestRules, AStoredManifestIsToldByPointer) {
  const json::value document = {
      {"apiVersion", "palette.ai/v1alpha1"},
      {"kind", "ComputeProfile"},
      {"metadata", {{"name", "p"}}},
      {"spec",
       {{"controlPlaneDefaults", {{"labels", {{"a/b c", ""}}}}}, {"gpulimits", json::object()}}}};
  const auto manifest = manifest_of(document);
  ASSERT_FALSE(manifest);
  EXPECT_THAT(as_lines(manifest.error().problems),
              ElementsAre(StartsWith("/spec/controlPlaneDefaults/labels/a~1b c \"a/b c\" is no")));
}

TEST(ManifestRules, SlipsAreToldAndOtherUnknownFieldsAreNot) {
  const auto warnings = [](const std::string& text) {
    return as_lines(only_manifest(text).warnings);
  };
  EXPECT_THAT(warnings(profile_with("gpuLimit: {NVIDIA-H100: 1}")),
              ElementsAre("f:6:3 \"gpuLimit\" is no field that is known of spec; it is kept and "
                          "does nothing (did you mean gpuLimits?)"));
  EXPECT_THAT(warnings(profile_with("workerPoolDefaults: {taints: [{key: k, effect: NoExecute, "
                                    "Value: v}]}")),
              ElementsAre(StartsWith("f:6:61 \"Value\" is no field that is known of "
                                     "spec.workerPoolDefaults.taints[];")));
  EXPECT_THAT(warnings(profile_with("cloudConfig: {vip2: 1}\n  x-note: [1, 2.5, null]")),
              IsEmpty());
  EXPECT_THAT(
      warnings("apiVersion: mural.spectrocloud.com/v1alpha1\nkind: WorkloadProfile\n"
               "metadata: {name: w, labels: {palette.ai/min-node: '3', palette.ai/platform: "
               "x, other/min-node: '3'}}\n"),
      ElementsAre("f:3:30 \"palette.ai/min-node\" is no label that is read (did you mean "
                  "palette.ai/min-nodes?)"));
}

TEST(ManifestRules, TheNamespaceOfAProjectIsItsName) {
  const Manifest project = only_manifest(
      "apiVersion: palette.ai/v1alpha1\nkind: Project\nmetadata: {name: a, namespace: "
      "b}\nspec: {computeProfileRef: {name: p}}\n");
  EXPECT_EQ(project.name_space, "a");
  EXPECT_THAT(as_lines(project.warnings),
              ElementsAre("f:3:21 the namespace of a project is its own name; this one is not "
                          "used"));
}

TEST(ManifestRules, AStatusIsPassedOver) {
  for (const std::string_view status : {"{}", "3", "[x]", "{metadata: {name: 3}}"}) {
    const Manifest compute = only_manifest(
        fmt::format("apiVersion: palette.ai/v1alpha1\nkind: Compute\nmetadata: {{name: a}}\n"
                    "status: {}\n",
                    status));
    EXPECT_THAT(compute.warnings, IsEmpty()) << status;
  }
}

TEST(ManifestRules, KindsAreFoundByTheirWords) {
  for (const PaletteKindInfo& kind : palette_kinds()) {
    EXPECT_EQ(find_palette_kind(kind.name), &kind);
    EXPECT_EQ(find_palette_kind(kind.word), &kind);
    EXPECT_EQ(find_palette_kind(kind.plural), &kind);
    EXPECT_EQ(&info(kind.kind), &kind);
  }
  EXPECT_EQ(find_palette_kind("pod"), nullptr);
}

}  // namespace
}  // namespace exa
