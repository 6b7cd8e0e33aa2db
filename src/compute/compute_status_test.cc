#include "compute/compute_status.h"

#include <gmock/gmock.h>

#include "compute/machines_for_test.h"

namespace exa {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<std::string> kControlPlane = {
    "edge-5db0384219cfa0fa4ef97d53bf291b2e", "edge-228638428bf0078309b65730b24101ee",
    "edge-a94a384220dc840fa080ae0eb47894e0", "edge-2d463842d409106c40b0db6aa2cec28f",
    "edge-99193842f541279ef93982b6023c32b4", "edge-afac3842736c2b11fd82b93eac60e742"};
const std::vector<std::string> kH100 = {"edge-e078384256765be6e92fc1118aa9f283",
                                        "edge-71bb3842c85b1731c37665c3d2ed0d10",
                                        "edge-d9673842ab48f990d65c11f504f13183"};
const std::vector<std::string> kA100 = {"edge-9baf38425dacad857c70ccdbabb48028",
                                        "edge-16a53842616769ab26a99001b0124419",
                                        "edge-a48938427145a5a6118034c9a54deb8b"};

// The document's block; only the machines of a list are in the order of their ids.
constexpr std::string_view kBlock = R"(Status:
  Available Control Plane Compute:
    Architecture:  AMD64
    Available:     true
    Cpu Count:     4
    Instances:     6
    Machines:
      edge-228638428bf0078309b65730b24101ee
      edge-2d463842d409106c40b0db6aa2cec28f
      edge-5db0384219cfa0fa4ef97d53bf291b2e
      edge-99193842f541279ef93982b6023c32b4
      edge-a94a384220dc840fa080ae0eb47894e0
      edge-afac3842736c2b11fd82b93eac60e742
  Available Worker Compute:
    Architecture:  AMD64
    Available:     true
    Family:        NVIDIA H100
    Gpu Count:     8
    Instances:     3
    Machines:
      edge-71bb3842c85b1731c37665c3d2ed0d10
      edge-d9673842ab48f990d65c11f504f13183
      edge-e078384256765be6e92fc1118aa9f283
    Architecture:  AMD64
    Available:     true
    Family:        NVIDIA A100
    Gpu Count:     8
    Instances:     3
    Machines:
      edge-16a53842616769ab26a99001b0124419
      edge-9baf38425dacad857c70ccdbabb48028
      edge-a48938427145a5a6118034c9a54deb8b
    Resource Groups:
      network-pool:  "3"
      storage-tier:  "high-performance"
)";

std::vector<MachineReport> reports_of_the_document() {
  std::vector<MachineReport> reports;
  for (const std::string& id : kControlPlane) reports.push_back(cpu_report(id, 4));
  for (const std::string& id : kH100) reports.push_back(gpu_report(id, "NVIDIA H100 80GB HBM3", 8));
  for (const std::string& id : kA100)
    reports.push_back(gpu_report(
        id, "nvidia-a100", 8,
        {{"palette.ai.rg/network-pool", "3"}, {"palette.ai.rg/storage-tier", "high-performance"}}));
  return reports;
}

ComputeStatus status_of(const std::vector<MachineReport>& reports,
                        const std::vector<std::string>& reasons = {}) {
  std::vector<Machine> machines;
  for (const MachineReport& report : reports) machines.push_back(read_machine(report));
  std::vector<SeenMachine> seen;
  for (const Machine& machine : machines) seen.push_back({&machine, "rack", reasons});
  return compute_status(seen);
}

TEST(Status, OfTheDocumentComesOutWordForWord) {
  EXPECT_EQ(describe(status_of(reports_of_the_document())), kBlock);
}

TEST(Status, OfTheDocumentHasItsGroupsInAnyOrderOfMachines) {
  std::vector<MachineReport> reports = reports_of_the_document();
  const ComputeStatus status = status_of(reports);
  ASSERT_EQ(status.control_plane.size(), 1u);
  ASSERT_EQ(status.workers.size(), 2u);
  EXPECT_EQ(status.control_plane[0].machines.size(), 6u);
  EXPECT_EQ(status.control_plane[0].cpu_count, 4);
  EXPECT_THAT(status.control_plane[0].machines, testing::UnorderedElementsAreArray(kControlPlane));
  EXPECT_EQ(status.workers[0].family, "NVIDIA H100");
  EXPECT_THAT(status.workers[0].machines, testing::UnorderedElementsAreArray(kH100));
  EXPECT_EQ(status.workers[1].family, "NVIDIA A100");
  EXPECT_THAT(status.workers[1].machines, testing::UnorderedElementsAreArray(kA100));
  EXPECT_EQ(status.workers[1].gpu_count, 8);
  std::ranges::reverse(reports);
  EXPECT_EQ(status_of(reports), status);
}

TEST(Status, MachinesOfOtherHardwareOrGroupsStandApart) {
  const ComputeStatus status =
      status_of({cpu_report("a", 4), cpu_report("b", 8), gpu_report("c", "H100", 8),
                 gpu_report("d", "H100", 4), gpu_report("e", "A100", 8),
                 gpu_report("f", "H100", 8, {{"palette.ai.rg/pool", "1"}}),
                 cpu_report("g", 6, {{"palette.ai/worker", "true"}}),
                 gpu_report("h", "H100", 2, {{"palette.ai/control-plane", "true"}})});
  const auto ids = [](const std::vector<ComputeGroup>& groups) {
    std::vector<std::string> list;
    for (const ComputeGroup& group : groups) list.push_back(group.machines.front());
    return list;
  };
  EXPECT_THAT(ids(status.control_plane), ElementsAre("h", "b", "a"));
  EXPECT_THAT(ids(status.workers), ElementsAre("c", "e", "d", "g", "f"));
  EXPECT_THAT(describe(status), HasSubstr("    Cpu Count:     6\n    Instances:     1\n"));
}

TEST(Status, EveryOtherMachineIsListedWithWhy) {
  MachineReport untagged = cpu_report("edge-2", 4);
  untagged.tags.clear();
  const ComputeStatus status = status_of({untagged, tagged_report("edge-1")}, {"in use by ml-1"});
  ASSERT_EQ(status.unoffered.size(), 2u);
  EXPECT_EQ(status.unoffered[0].id, "edge-1");
  EXPECT_EQ(status.unoffered[0].source, "rack");
  EXPECT_THAT(status.unoffered[1].reasons,
              ElementsAre("it has no tag palette.ai: true", "in use by ml-1"));
  EXPECT_THAT(describe(status), HasSubstr("  Available Worker Compute:  none\n"
                                          "  Unoffered Machines:\n"
                                          "    edge-1:\n"));
}

TEST(Status, WhatMachinesSayCannotMoveATerminal) {
  MachineReport report = cpu_report("a", 4, {{"palette.ai.rg/x\x1b[2J", "\x1b\""}});
  report.architecture = "\x1b[31m";
  const std::string text = describe(status_of({report}));
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(Status, AsJsonHasTheDocumentsKeys) {
  MachineReport untagged = cpu_report("c", 4);
  untagged.tags.clear();
  EXPECT_EQ(
      to_text(to_json(
          status_of({cpu_report("a", 4), gpu_report("b", "H100", 8, {{"palette.ai.rg/pool", "1"}}),
                     untagged}))),
      R"({"availableControlPlaneCompute":[{"architecture":"AMD64","available":true,"cpuCount":4,)"
      R"("instances":1,"machines":["a"]}],"availableWorkerCompute":[{"architecture":"AMD64",)"
      R"("available":true,"family":"NVIDIA H100","gpuCount":8,"instances":1,"machines":["b"],)"
      R"("resourceGroups":{"pool":"1"}}],"unofferedMachines":[{"id":"c","source":"rack",)"
      R"("reasons":["it has no tag palette.ai: true"]}]})");
}

}  // namespace
}  // namespace exa
