#include "compute/cluster_definition.h"

#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/yaml.h"
#include "compute/manifest_for_test.h"

namespace exa {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

PlatformDefinition sample() {
  PlatformDefinition platform;
  platform.project = "project-a";
  platform.name = "training";
  platform.id = "p-1";
  platform.profile = compute_profile_spec(only_manifest(palette_file("compute-profile.yaml")));
  platform.workload_profile = "clearml-workload-profile";
  platform.machines = {{"edge-1", "10.0.0.1", "AMD64", 0, "", true, false},
                       {"edge-2", "", "AMD64", 8, "NVIDIA H100", false, true}};
  return platform;
}

std::vector<DefinitionFile> files_of(const PlatformDefinition& platform) {
  auto files = cluster_definition(platform);
  EXA_ASSERT(files.has_value() && files->size() == 2);
  return *std::move(files);
}

json::value cluster_of(const PlatformDefinition& platform) {
  const auto documents = parse_yaml(files_of(platform)[0].text, "cluster.yaml");
  EXA_ASSERT(documents.has_value());
  return documents->front().value;
}

json::value machine_of(const PlatformDefinition& platform, size_t number) {
  return cluster_of(platform).at("spec").at("machines").at(number);
}

// testdata/palette/cluster.yaml and inventory.yaml; EXA_WRITE_GOLDEN=1 writes them anew.
TEST(ClusterDefinition, IsWhatTheExampleShows) {
  for (const DefinitionFile& file : files_of(sample())) {
    if (std::getenv("EXA_WRITE_GOLDEN") != nullptr)
      std::ofstream(fmt::format("{}/palette/{}", EXA_TESTDATA, file.name)) << file.text;
    EXPECT_EQ(file.text, palette_file(file.name)) << file.name;
  }
}

TEST(ClusterDefinition, TheSamePlatformGivesTheSameBytes) {
  EXPECT_EQ(files_of(sample()), files_of(sample()));
}

TEST(ClusterDefinition, AMachineHasTheDefaultsOfItsRole) {
  const json::value plane = machine_of(sample(), 0);
  EXPECT_EQ(to_text(plane.at("taints")),
            R"([{"key":"node-role.kubernetes.io/control-plane","effect":"NoSchedule"}])");
  EXPECT_EQ(to_text(plane.at("annotations")),
            R"({"control-plane-annotation":"control-plane-value",)"
            R"("kubernetes.io/description":"Control plane node"})");
  const json::value worker = machine_of(sample(), 1);
  EXPECT_EQ(to_text(worker.at("taints")),
            R"([{"key":"worker-taint","value":"true","effect":"NoExecute"}])");
  EXPECT_EQ(worker.at("address"), "edge-2");
  EXPECT_EQ(worker.at("gpus"), 8);
}

TEST(ClusterDefinition, AMachineThatIsBothHasTheLabelsOfBothAndNoHardTaint) {
  PlatformDefinition platform = sample();
  platform.machines = {{"edge-1", "10.0.0.1", "AMD64", 0, "", true, true}};
  platform.profile.control_plane.taints.push_back({"soft", "", "PreferNoSchedule"});
  platform.profile.workers.taints.push_back({"soft", "", "PreferNoSchedule"});
  platform.profile.workers.labels.emplace_back("tier", "fast");
  const json::value machine = machine_of(platform, 0);
  EXPECT_EQ(to_text(machine.at("roles")), R"(["control-plane","worker"])");
  EXPECT_EQ(to_text(machine.at("labels")), R"({"palette.ai":"true","tier":"fast"})");
  EXPECT_EQ(
      to_text(machine.at("annotations")),
      R"({"control-plane-annotation":"control-plane-value",)"
      R"("kubernetes.io/description":"Control plane node","worker-annotation":"worker-value"})");
  EXPECT_EQ(to_text(machine.at("taints")), R"([{"key":"soft","effect":"PreferNoSchedule"}])");
  const auto inventory = parse_yaml(files_of(platform)[1].text, "inventory.yaml");
  ASSERT_TRUE(inventory);
  const json::value& groups = inventory->front().value.at("all").at("children");
  for (const std::string_view group : {"control_plane", "workers"})
    EXPECT_EQ(to_text(groups.at(group)), R"({"hosts":{"edge-1":{"ansible_host":"10.0.0.1"}}})");
}

TEST(ClusterDefinition, WhatPeopleWriteIsNoTemplateOfTheInventory) {
  constexpr std::string_view kEvil = "{{ lookup('pipe', 'id') }} {% raw %}";
  PlatformDefinition platform = sample();
  platform.profile.ssh_keys = {"ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQC7... " + std::string(kEvil)};
  platform.profile.workers.annotations = {{"a", std::string(kEvil)}};
  platform.machines[1].family = kEvil;
  platform.machines[1].architecture = kEvil;
  const std::vector<DefinitionFile> files = files_of(platform);
  EXPECT_EQ(machine_of(platform, 1).at("annotations").at("a"), json::value(kEvil));
  EXPECT_EQ(machine_of(platform, 1).at("gpuFamily"), json::value(kEvil));
  for (const std::string_view mark : {"{{", "{%", "{#", "!"})
    EXPECT_THAT(files[1].text, Not(HasSubstr(mark)));
}

TEST(ClusterDefinition, WhatAnInventoryCannotHoldIsRefused) {
  PlatformDefinition platform = sample();
  platform.machines = {{"workers", "10.0.0.1", "", 0, "", false, true},
                       {"edge-2", "10.0.0.2 ansible_connection=local", "", 0, "", false, true},
                       {"edge-3", "{{ lookup('pipe', 'id') }}", "", 0, "", false, true},
                       {"{{ x }}", "10.0.0.4", "", 0, "", false, true}};
  const auto files = cluster_definition(platform);
  ASSERT_FALSE(files);
  std::vector<std::string> places;
  for (const Problem& problem : files.error().problems) places.push_back(problem.where);
  EXPECT_THAT(places, ElementsAre("/0/id", "/1/address", "/2/address", "/3/id"));
}

TEST(ClusterDefinition, AnIdThatLooksLikeANumberStaysText) {
  PlatformDefinition platform = sample();
  platform.machines = {{"1e3", "10.0.0.1", "", 0, "", false, true},
                       {"on", "10.0.0.2", "", 0, "", false, true}};
  EXPECT_THAT(files_of(platform)[1].text, HasSubstr("\"1e3\":"));
  EXPECT_THAT(files_of(platform)[1].text, HasSubstr("\"on\":"));
}

}  // namespace
}  // namespace exa
