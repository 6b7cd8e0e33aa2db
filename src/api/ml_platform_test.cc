// ML platforms through the API: the document's rules end to end, from machine reports and manifests
// to machines that are held (requirement "Compute Profile and Compute"; semantics §6).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/testing.h"
#include "compute/machine.h"

namespace exa {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kProject = R"(
apiVersion: palette.ai/v1alpha1
kind: ComputeProfile
metadata: {name: edge, namespace: project-a}
spec:
  controlPlaneDefaults: {nodeCount: 1}
  gpuLimits: {'NVIDIA-H100': 8}
---
apiVersion: palette.ai/v1alpha1
kind: Project
metadata: {name: project-a}
spec:
  computeProfileRef: {name: edge}
---
apiVersion: palette.ai/v1alpha1
kind: Compute
metadata: {name: machines, namespace: project-a}
spec: {}
)";

class MlPlatforms : public testing::Test {
 protected:
  MlPlatforms() { exa.ask("machine_source.add", {{"name", "edge"}, {"kind", "agent"}}); }

  Reply report(MachineReport machine) {
    machine.reported_at = exa.now;
    machine.sequence = ++sequence_;
    return exa.call("machine.report", {{"source", "edge"}, {"report", to_text(to_json(machine))}});
  }
  static MachineReport machine(std::string id, int64_t gpus, Tags tags = {}) {
    MachineReport one;
    one.id = std::move(id);
    one.architecture = "AMD64";
    one.cpus = 4;
    one.gpus.emplace();
    if (gpus > 0) one.gpus->push_back({"NVIDIA H100 80GB HBM3", gpus, {}});
    one.tags = std::move(tags);
    one.tags.insert(one.tags.begin(), {"palette.ai", "true"});
    return one;
  }
  void add(std::string id, int64_t gpus, Tags tags = {}) {
    const Reply reply = report(machine(std::move(id), gpus, std::move(tags)));
    ASSERT_EQ(reply.status, 200) << reply.body;
  }
  // The scenario of "Minimum Worker Nodes with GPU Optimization", but for its minimum.
  void document_fleet() {
    add("cp-1", 0);
    add("gpu-node-1", 8);
    add("gpu-node-2", 8);
    add("cpu-node-1", 0, {{"palette.ai/worker", "true"}});
    add("cpu-node-2", 0, {{"palette.ai/worker", "true"}});
  }
  Reply apply(std::string_view text) { return exa.call("manifest.apply", {{"file", text}}); }
  Reply create(std::string_view name, json::object args) {
    args["name"] = name;
    args["project"] = "project-a";
    return exa.call("ml_platform.create", args);
  }
  std::vector<std::string> machines_of(std::string_view name) {
    const json::value shown =
        exa.ask("ml_platform.show", {{"name", name}, {"project", "project-a"}});
    std::vector<std::string> ids;
    for (const json::value& each : shown.at("machines").as_array())
      ids.emplace_back(each.at("id").as_string());
    return ids;
  }
  json::value compute() {
    return exa.ask("manifest.get",
                   {{"kind", "compute"}, {"name", "machines"}, {"project", "project-a"}});
  }

  TestExa exa;

 private:
  int64_t sequence_ = 0;
};

TEST_F(MlPlatforms, AProjectComesToBeWithItsComputeProfile) {
  const Reply reply = apply(kProject);
  EXPECT_EQ(reply.status, 201) << reply.body;
  EXPECT_THAT(reply.body, HasSubstr("\"result\": \"created\""));
  EXPECT_THAT(apply(kProject).body, HasSubstr("\"result\": \"unchanged\""));
  EXPECT_EQ(exa.call("audit.verify", {}).exit_code, 0);
}

TEST_F(MlPlatforms, AFileIsAppliedWholeOrNotAtAll) {
  const std::string broken = std::string(kProject) + R"(---
apiVersion: palette.ai/v1alpha1
kind: Compute
metadata: {name: other, namespace: project-a}
spec: {settingsRef: {name: nowhere}}
)";
  const Reply reply = apply(broken);
  EXPECT_EQ(reply.status, 422) << reply.body;
  EXPECT_THAT(reply.body, HasSubstr("nowhere"));
  EXPECT_EQ(exa.call("manifest.get", {{"kind", "computeprofile"}, {"project", "project-a"}}).status,
            404);
}

TEST_F(MlPlatforms, ARequestAboveTheLimitIsRejectedAndTakesNothing) {
  document_fleet();
  apply(kProject);
  const Reply reply = create("big", {{"gpus", json::array{"12 H100"}}});
  EXPECT_EQ(reply.exit_code, 7);
  EXPECT_EQ(reply.status, info(Code::blocked).http_status) << reply.body;
  EXPECT_THAT(reply.body, HasSubstr("NVIDIA H100"));
  EXPECT_EQ(exa.ask("ml_platform.list", {{"project", "project-a"}}).at("items").as_array().size(),
            0U);
}

TEST_F(MlPlatforms, EightH100GetOneMachineAndTheControlPlane) {
  document_fleet();
  apply(kProject);
  const Reply reply = create("llm", {{"gpus", json::array{"8 H100"}}});
  ASSERT_EQ(reply.status, 201) << reply.body;
  EXPECT_THAT(machines_of("llm"), ElementsAre("cp-1", "gpu-node-1"));
}

TEST_F(MlPlatforms, TheMinimumIsFilledWithWorkerTaggedMachines) {
  document_fleet();
  apply(kProject);
  const Reply reply = create("llm", {{"gpus", json::array{"8 H100"}}, {"min_workers", 3}});
  ASSERT_EQ(reply.status, 201) << reply.body;
  EXPECT_THAT(machines_of("llm"), ElementsAre("cp-1", "cpu-node-1", "cpu-node-2", "gpu-node-1"));
}

TEST_F(MlPlatforms, TheLabelOfTheWorkloadProfileWinsOverTheOverride) {
  document_fleet();
  apply(std::string(kProject) + R"(---
apiVersion: mural.spectrocloud.com/v1alpha1
kind: WorkloadProfile
metadata:
  name: clearml
  namespace: project-a
  labels: {palette.ai/min-nodes: '2'}
spec: {}
)");
  const Reply reply = create(
      "llm",
      {{"gpus", json::array{"8 H100"}}, {"min_workers", 3}, {"workload_profile", "clearml"}});
  ASSERT_EQ(reply.status, 201) << reply.body;
  EXPECT_THAT(reply.body, HasSubstr("\"minimum_workers\": 2"));
  EXPECT_THAT(machines_of("llm"), ElementsAre("cp-1", "cpu-node-1", "gpu-node-1"));
}

TEST_F(MlPlatforms, WhatCannotBeMetTakesNothingAndSaysByHowMuch) {
  add("cp-1", 0);
  add("gpu-node-1", 4);
  apply(kProject);
  const Reply reply = create("llm", {{"gpus", json::array{"8 H100"}}});
  EXPECT_EQ(reply.status, info(Code::unresolvable).http_status) << reply.body;
  EXPECT_THAT(reply.body, HasSubstr("4"));
  add("gpu-node-2", 4);
  EXPECT_EQ(create("llm", {{"gpus", json::array{"8 H100"}}}).status, 201);
}

TEST_F(MlPlatforms, APlanExplainsEveryMachineAndTakesNone) {
  document_fleet();
  apply(kProject);
  const json::value plan =
      exa.ask("ml_platform.plan",
              {{"name", "llm"}, {"project", "project-a"}, {"gpus", json::array{"8 H100"}}});
  EXPECT_EQ(plan.at("machines").as_array().size(), 5U);
  for (const json::value& machine : plan.at("machines").as_array())
    EXPECT_FALSE(machine.at("why").as_string().empty()) << to_text(machine);
  EXPECT_EQ(exa.ask("ml_platform.list", {{"project", "project-a"}}).at("items").as_array().size(),
            0U);
}

TEST_F(MlPlatforms, ADedicatedMachineIsNobodyElses) {
  document_fleet();
  add("cp-2", 0);
  add("cp-3", 0);
  apply(kProject);
  EXPECT_EQ(create("one", {{"gpus", json::array{"8 H100"}}}).status, 201);
  EXPECT_EQ(create("two", {{"gpus", json::array{"8 H100"}}}).status, 201);
  EXPECT_EQ(create("three", {{"gpus", json::array{"8 H100"}}}).status,
            info(Code::unresolvable).http_status);
  EXPECT_THAT(machines_of("one"), Not(testing::Contains("gpu-node-2")));
  exa.ask("ml_platform.delete", {{"name", "one"}, {"project", "project-a"}});
  EXPECT_EQ(create("three", {{"gpus", json::array{"8 H100"}}}).status, 201);
}

TEST_F(MlPlatforms, SharedPlatformsLieOnOneMachine) {
  document_fleet();
  add("cp-2", 0);
  apply(kProject);
  EXPECT_EQ(create("one", {{"gpus", json::array{"4 H100"}}, {"mode", "shared"}}).status, 201);
  EXPECT_EQ(create("two", {{"gpus", json::array{"4 H100"}}, {"mode", "shared"}}).status, 201);
  EXPECT_THAT(machines_of("one"), testing::Contains("gpu-node-1"));
  EXPECT_THAT(machines_of("two"), testing::Contains("gpu-node-1"));
  EXPECT_EQ(create("mine", {{"gpus", json::array{"8 H100"}}}).status, 201);
  EXPECT_THAT(machines_of("mine"), testing::Contains("gpu-node-2"));
}

TEST_F(MlPlatforms, GrowingKeepsWhatThePlatformHasAndShrinkingGivesBack) {
  add("cp-1", 0);
  add("gpu-node-1", 8);
  add("gpu-node-2", 8);
  add("gpu-node-3", 4);
  apply(R"(
apiVersion: palette.ai/v1alpha1
kind: ComputeProfile
metadata: {name: edge, namespace: project-a}
spec: {controlPlaneDefaults: {nodeCount: 1}}
---
apiVersion: palette.ai/v1alpha1
kind: Project
metadata: {name: project-a}
spec: {computeProfileRef: {name: edge}}
)");
  ASSERT_EQ(create("llm", {{"gpus", json::array{"4 H100"}}}).status, 201);
  EXPECT_THAT(machines_of("llm"), ElementsAre("cp-1", "gpu-node-3"));
  const auto scale = [&](std::string_view gpus) {
    return exa.call("ml_platform.scale",
                    {{"name", "llm"}, {"project", "project-a"}, {"gpus", json::array{gpus}}});
  };
  EXPECT_EQ(scale("12 H100").status, 200);
  EXPECT_THAT(machines_of("llm"), ElementsAre("cp-1", "gpu-node-1", "gpu-node-3"));
  EXPECT_EQ(scale("8 H100").status, 200);
  EXPECT_THAT(machines_of("llm"), ElementsAre("cp-1", "gpu-node-1"));
  EXPECT_EQ(scale("99 H100").status, info(Code::unresolvable).http_status);
  EXPECT_THAT(machines_of("llm"), ElementsAre("cp-1", "gpu-node-1"));
}

TEST_F(MlPlatforms, ASilentMachineIsNotOfferedAndTheReasonIsShown) {
  document_fleet();
  apply(kProject);
  EXPECT_THAT(to_text(compute().at("status").at("availableWorkerCompute")),
              HasSubstr("gpu-node-1"));
  exa.now = exa.now + minutes(2);
  const json::value status = compute().at("status");
  EXPECT_EQ(status.at("availableWorkerCompute").as_array().size(), 0U);
  EXPECT_EQ(status.at("unofferedMachines").as_array().size(), 5U);
  EXPECT_EQ(create("llm", {{"gpus", json::array{"8 H100"}}}).status,
            info(Code::unresolvable).http_status);
}

TEST_F(MlPlatforms, AnOldReportSentAgainIsRefusedAndKeepsNothingAlive) {
  document_fleet();
  MachineReport old = machine("gpu-node-1", 8);
  old.reported_at = exa.now;
  old.sequence = 1;
  exa.now = exa.now + seconds(60);
  const Reply replayed =
      exa.call("machine.report", {{"source", "edge"}, {"report", to_text(to_json(old))}});
  EXPECT_EQ(replayed.status, info(Code::stale).http_status) << replayed.body;
  exa.now = exa.now + seconds(60);
  const json::value shown = exa.ask("machine.show", {{"id", "gpu-node-1"}});
  EXPECT_FALSE(shown.at("offered").as_bool()) << to_text(shown);
}

TEST_F(MlPlatforms, HardwareThatChangedCountsOnceSomebodyAcceptsIt) {
  document_fleet();
  EXPECT_EQ(report(machine("gpu-node-1", 7)).status, 200);
  EXPECT_FALSE(exa.ask("machine.show", {{"id", "gpu-node-1"}}).at("offered").as_bool());
  exa.ask("machine.accept", {{"id", "gpu-node-1"}});
  const json::value shown = exa.ask("machine.show", {{"id", "gpu-node-1"}});
  EXPECT_TRUE(shown.at("offered").as_bool()) << to_text(shown);
  EXPECT_EQ(shown.at("gpus").at("value").to_number<int64_t>(), 7);
}

TEST_F(MlPlatforms, AProfileInUseIsNotDeleted) {
  apply(kProject);
  const Reply reply = exa.call(
      "manifest.delete", {{"kind", "computeprofile"}, {"name", "edge"}, {"project", "project-a"}});
  EXPECT_EQ(reply.status, info(Code::in_use).http_status) << reply.body;
  EXPECT_THAT(reply.body, HasSubstr("project project-a"));
}

TEST_F(MlPlatforms, AMemberAsksForPlatformsAndWritesNothingThatTheyAreBuiltBy) {
  document_fleet();
  apply(kProject);
  exa.principal = {"user", "grace", "user:grace", {}, "", {}};
  exa.principal.rights.by_project["project-a"] = Role::member;
  EXPECT_EQ(create("llm", {{"gpus", json::array{"8 H100"}}}).status, 201);
  const Reply reply =
      exa.call("manifest.apply", {{"file", kWorkloadProfile}, {"project", "project-a"}});
  EXPECT_EQ(reply.status, 403) << reply.body;
  EXPECT_THAT(reply.body, HasSubstr("compute_profile:write"));
}

TEST_F(MlPlatforms, AnotherProjectsPlatformIsNotNamed) {
  document_fleet();
  apply(kProject);
  ASSERT_EQ(create("secret-name", {{"gpus", json::array{"8 H100"}}}).status, 201);
  exa.ask("project.create", {{"name", "other"}});
  exa.principal = {"user", "eve", "user:eve", {}, "", {}};
  exa.principal.rights.by_project["other"] = Role::admin;
  std::string seen = exa.call("machine.list", {}).body;
  seen += exa.call("machine.show", {{"id", "gpu-node-1"}}).body;
  seen += exa.call("manifest.apply", {{"file", kProject}}).body;
  seen += exa.call("manifest.get", {{"kind", "mlplatform"}, {"project", "project-a"}}).body;
  seen += exa.call("ml_platform.show", {{"name", "secret-name"}, {"project", "project-a"}}).body;
  seen += exa.call("manifest.apply", {{"project", "other"},
                                      {"file",
                                       "{apiVersion: palette.ai/v1alpha1, kind: Compute, metadata: "
                                       "{name: all}, spec: {}}"}})
              .body;
  seen +=
      exa.call("manifest.get", {{"kind", "compute"}, {"name", "all"}, {"project", "other"}}).body;
  EXPECT_THAT(seen, HasSubstr("in use by another project"));
  EXPECT_THAT(seen, Not(HasSubstr("in use by platform")));
  EXPECT_THAT(seen, HasSubstr("there is no project"));
}

TEST_F(MlPlatforms, UnknownFieldsComeOutAsTheyWentIn) {
  apply(R"(
apiVersion: palette.ai/v1alpha1
kind: Settings
metadata: {name: palette, namespace: default, labels: {team: ml}}
spec: {paletteEndpoint: 'https://palette.example.org', nested: {list: [1, two, {three: true}]}}
)");
  const json::value shown = exa.ask("manifest.get", {{"kind", "settings"}, {"name", "palette"}});
  EXPECT_EQ(
      to_text(shown.at("spec")),
      R"({"paletteEndpoint":"https://palette.example.org","nested":{"list":[1,"two",{"three":true}]}})");
}

TEST_F(MlPlatforms, ADiffNamesEveryFieldThatDiffers) {
  apply(kProject);
  std::string changed(kProject);
  changed.replace(changed.find("nodeCount: 1"), 12, "nodeCount: 3");
  const Reply reply = exa.call("manifest.diff", {{"file", changed}});
  EXPECT_EQ(reply.exit_code, 1);
  EXPECT_THAT(reply.body, HasSubstr("/spec/controlPlaneDefaults/nodeCount"));
  EXPECT_EQ(exa.call("manifest.diff", {{"file", kProject}}).exit_code, 0);
}

TEST_F(MlPlatforms, EverythingFollowsFromTheLog) {
  document_fleet();
  apply(kProject);
  create("llm", {{"gpus", json::array{"8 H100"}}});
  exa.ask("ml_platform.delete", {{"name", "llm"}, {"project", "project-a"}});
  create("llm", {{"gpus", json::array{"8 H100"}}});
  EXPECT_EQ(exa.call("audit.verify", {}).exit_code, 0);
  exa.tamper("UPDATE ml_platform SET spec = '{}'");
  EXPECT_NE(exa.call("audit.verify", {}).exit_code, 0);
}

}  // namespace
}  // namespace exa
