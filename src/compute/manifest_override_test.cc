#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compute/manifest_for_test.h"

namespace exa {
namespace {

using testing::ElementsAre;

Manifest document_profile() {
  return only_manifest(palette_file("compute-profile.yaml"));
}

ComputeProfileSpec with(const json::object& override_) {
  auto spec = overridden(document_profile(), override_);
  EXA_ASSERT(spec.has_value());
  return *std::move(spec);
}

std::vector<std::string> refused(const json::object& override_) {
  const auto spec = overridden(document_profile(), override_);
  return spec ? std::vector<std::string>() : as_lines(spec.error().problems);
}

TEST(ManifestOverride, NothingChangesNothing) {
  EXPECT_EQ(with({}).minimum_workers, 2);
  EXPECT_EQ(with({{"minWorkerNodes", nullptr}}).minimum_workers, 2);
}

TEST(ManifestOverride, ObjectsAreMergedAndTheRestIsReplaced) {
  const ComputeProfileSpec spec =
      with({{"minWorkerNodes", 1},
            {"edge", {{"vip", "10.0.0.9"}, {"ntpServers", {"time.example.com"}}}},
            {"workerPoolDefaults", {{"labels", {{"tier", "fast"}}}, {"taints", json::array()}}}});
  EXPECT_EQ(spec.minimum_workers, 1);
  EXPECT_EQ(spec.edge->vip, "10.0.0.9");
  EXPECT_THAT(spec.edge->ntp_servers, ElementsAre("time.example.com"));
  EXPECT_EQ(spec.edge->overlay_cidr, "192.168.1.0/24");
  EXPECT_EQ(spec.workers.labels, (std::vector<std::pair<std::string, std::string>>{
                                     {"palette.ai", "true"}, {"tier", "fast"}}));
  EXPECT_TRUE(spec.workers.taints.empty());
  EXPECT_EQ(spec.control_plane.node_count, 3);
}

TEST(ManifestOverride, WhatTheTwoMakeTogetherIsChecked) {
  EXPECT_THAT(refused({{"edge", {{"isTwoNode", true}}}}),
              ElementsAre(testing::StartsWith("/spec/edge/isTwoNode a two-node cluster")));
}

TEST(ManifestOverride, ALimitIsOfAFamilyHoweverItIsSpelled) {
  const ComputeProfileSpec spec = with({{"gpuLimits", {{"nvidia h100", 2}, {"NVIDIA-L40S", 4}}}});
  ASSERT_EQ(spec.gpu_limits.size(), 3U);
  EXPECT_EQ(spec.gpu_limits[0].second, 6);
  EXPECT_EQ(spec.gpu_limits[1], (std::pair<GpuFamily, int64_t>{gpu_family("NVIDIA H100"), 2}));
}

TEST(ManifestOverride, APlatformRaisesNoLimit) {
  EXPECT_THAT(
      refused({{"gpuLimits", {{"nvidia h100", 7}, {"NVIDIA-A100", 6}}}}),
      ElementsAre("/spec/gpuLimits/nvidia h100 7 NVIDIA H100 are above the 6 of the compute "
                  "profile (an override may lower a limit; raise it in the compute "
                  "profile)"));
  // a null is as if it were not there
  EXPECT_EQ(with({{"gpuLimits", {{"nvidia h100", nullptr}}}}).gpu_limits.size(), 2U);
  EXPECT_EQ(with({{"gpuLimits", nullptr}}).gpu_limits.size(), 2U);
}

}  // namespace
}  // namespace exa
