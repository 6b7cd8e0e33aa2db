// The manifests of the requirement document, as they stand (testdata/palette/README.md).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/yaml.h"
#include "compute/manifest_for_test.h"

namespace exa {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Pairs = std::vector<std::pair<std::string, std::string>>;

TEST(PaletteExamples, TheComputeProfileIsTakenWordForWord) {
  const Manifest manifest = only_manifest(palette_file("compute-profile.yaml"));
  EXPECT_EQ(manifest.kind, PaletteKind::compute_profile);
  EXPECT_EQ(manifest.name, "edge-compute-profile");
  EXPECT_EQ(manifest.name_space, "project-a");
  EXPECT_EQ(manifest.place, "f:1:1");
  const ComputeProfileSpec spec = compute_profile_spec(manifest);
  EXPECT_THAT(spec.ssh_keys,
              ElementsAre("ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQC7... test-user@test-machine",
                          "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQC8... admin@admin-machine"));
  ASSERT_TRUE(spec.edge);
  EXPECT_EQ(spec.edge->vip, "10.10.189.24");
  EXPECT_THAT(spec.edge->ntp_servers, ElementsAre("time.google.com", "time2.google.com"));
  EXPECT_FALSE(spec.edge->overlay_enabled);
  EXPECT_TRUE(spec.edge->overlay_static_ip);
  EXPECT_EQ(spec.edge->overlay_cidr, "192.168.1.0/24");
  EXPECT_EQ(spec.edge->overlay_type, "VXLAN");
  EXPECT_FALSE(spec.edge->is_two_node);
  EXPECT_EQ(spec.control_plane.node_count, 3);
  EXPECT_FALSE(spec.control_plane.worker_node_eligible);
  EXPECT_EQ(spec.control_plane.labels, (Pairs{{"palette.ai", "true"}}));
  EXPECT_EQ(spec.control_plane.annotations,
            (Pairs{{"control-plane-annotation", "control-plane-value"},
                   {"kubernetes.io/description", "Control plane node"}}));
  EXPECT_THAT(spec.control_plane.taints,
              ElementsAre(Taint{"node-role.kubernetes.io/control-plane", "", "NoSchedule"}));
  EXPECT_EQ(spec.workers.labels, (Pairs{{"palette.ai", "true"}}));
  EXPECT_THAT(spec.workers.taints, ElementsAre(Taint{"worker-taint", "true", "NoExecute"}));
  EXPECT_EQ(spec.minimum_workers, 2);
  ASSERT_EQ(spec.gpu_limits.size(), 2U);
  EXPECT_EQ(spec.gpu_limits[0].first, gpu_family("nvidia a100"));
  EXPECT_EQ(spec.gpu_limits[1], (std::pair<GpuFamily, int64_t>{gpu_family("NVIDIA H100"), 6}));
}

TEST(PaletteExamples, TheKeysOfTheDocumentAreToldToOpenNothing) {
  EXPECT_THAT(
      as_lines(only_manifest(palette_file("compute-profile.yaml")).warnings),
      ElementsAre("f:9:7 the key is cut off (…): it will open nothing (copy the whole line)",
                  "f:10:7 the key is cut off (…): it will open nothing (copy the whole line)"));
}

TEST(PaletteExamples, TheWorkloadProfileSaysItsMinimum) {
  const Manifest manifest = only_manifest(palette_file("workload-profile.yaml"));
  EXPECT_EQ(workload_profile_spec(manifest).min_nodes, "3");
  EXPECT_THAT(manifest.warnings, IsEmpty());
}

TEST(PaletteExamples, ExcerptsAreRefusedForWhatTheyLeaveOutAlone) {
  constexpr std::string_view kMissing =
      "f:6:1 spec.controlPlaneDefaults is missing and required "
      "(How the nodes of the control plane are configured)";
  for (const std::string_view name :
       {"compute-profile-gpu-limits.yaml", "compute-profile-minimum-workers.yaml"})
    EXPECT_THAT(problems_of_manifests(palette_file(name)), ElementsAre(kMissing)) << name;
}

TEST(PaletteExamples, WhatIsKeptIsWhatWasWritten) {
  for (const std::string_view name :
       {"compute-profile.yaml", "workload-profile.yaml", "all-kinds.yaml"}) {
    const std::string text = palette_file(name);
    const auto written = parse_yaml(text, "f");
    ASSERT_TRUE(written && !written->empty()) << name;
    const auto manifests = read_manifests(text, "f");
    ASSERT_TRUE(manifests) << name << testing::PrintToString(problems_of_manifests(text));
    for (const YamlDocument& document : *written) {
      const auto kept = std::ranges::count_if(*manifests, [&](const Manifest& manifest) {
        return to_text(manifest.document) == to_text(document.value);
      });
      EXPECT_EQ(kept, 1) << name << ':' << document.line;
    }
    for (const Manifest& manifest : *manifests) {
      const Manifest again = only_manifest(to_yaml(manifest.document));
      EXPECT_EQ(to_text(again.document), to_text(manifest.document));
    }
  }
}

}  // namespace
}  // namespace exa
