#include "compute/machine.h"

#include <gmock/gmock.h>

#include "base/quantity.h"
#include "compute/machines_for_test.h"

namespace exa {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

std::string first_unfit(const MachineReport& report) {
  const Machine machine = read_machine(report);
  return machine.unfit.empty() ? "" : machine.unfit.front();
}

// --- the document's table of tags

TEST(Tags, OfTheDocumentFillWhatTheAgentDidNotDetect) {
  const Machine machine = read_machine(tagged_report(
      "edge-1",
      {{"gpus", "8"}, {"cpus", "6"}, {"gpu-memory", "80G"}, {"gpu-family", "nvidia-a100"}}));
  EXPECT_THAT(machine.unfit, IsEmpty());
  EXPECT_EQ(machine.gpus, (Known<int64_t>{8, KnownFrom::tag}));
  EXPECT_EQ(machine.cpus, (Known<int64_t>{6, KnownFrom::tag}));
  EXPECT_EQ(machine.gpu_memory_bytes, (Known<int64_t>{80'000'000'000, KnownFrom::tag}));
  EXPECT_EQ(machine.family, (Known<GpuFamily>{gpu_family("A100"), KnownFrom::tag}));
  EXPECT_EQ(machine.family.value.shown, "NVIDIA A100");
  EXPECT_TRUE(machine.worker);
}

TEST(Tags, WithoutPaletteTrueAMachineIsNotOffered) {
  MachineReport report = cpu_report("edge-1", 4);
  report.tags.clear();
  EXPECT_EQ(first_unfit(report), "it has no tag palette.ai: true");
  report.tags = {{"palette.ai", "false"}};
  EXPECT_EQ(first_unfit(report), "its tag palette.ai is false");
  report.tags = {{"palette.ai", "yes"}};
  EXPECT_EQ(first_unfit(report), "tag palette.ai is \"yes\": write true or false");
  report.tags = {{"palette.ai", "TRUE"}};
  EXPECT_EQ(first_unfit(report), "");
}

TEST(Tags, TheMissingOneIsTheFirstReasonOfSeveral) {
  MachineReport report;
  report.id = "edge-1";
  report.tags = {{"cpus", "0"}};
  EXPECT_THAT(read_machine(report).unfit,
              ElementsAre("it has no tag palette.ai: true",
                          "tag cpus is \"0\": write a whole number from 1 to 1048576",
                          HasSubstr("how many GPUs it has is not known")));
}

TEST(Tags, ThatCannotBeReadMakeTheMachineUnfit) {
  for (const auto& [key, value] : Tags{{"cpus", "0"},
                                       {"cpus", "-4"},
                                       {"cpus", "8.5"},
                                       {"cpus", ""},
                                       {"cpus", "1048577"},
                                       {"cpus", " 8"},
                                       {"gpus", "-1"},
                                       {"gpus", "many"},
                                       {"gpus", "129"},
                                       {"gpus", "99999999999999999999"},
                                       {"gpu-memory", "80"},
                                       {"gpu-memory", ""},
                                       {"gpu-family", "--"},
                                       {"palette.ai/control-plane", "1"},
                                       {"palette.ai/worker", ""},
                                       {"palette.ai.rg/", "1"}}) {
    MachineReport report = gpu_report("edge-1", "H100", 8, {{key, value}});
    EXPECT_THAT(read_machine(report).unfit, ElementsAre(HasSubstr("tag " + key)))
        << key << ": " << value;
  }
}

TEST(Tags, AMisspeltOneIsNoted) {
  const Machine machine =
      read_machine(cpu_report("edge-1", 4, {{"palette.ai/wroker", "true"}, {"rack", "7"}}));
  EXPECT_THAT(machine.unfit, IsEmpty());
  EXPECT_THAT(machine.notes, ElementsAre("tag palette.ai/wroker means nothing here: did you mean "
                                         "palette.ai/worker?"));
}

TEST(Tags, OfResourceGroupsMayHaveSlashesInTheName) {
  const Machine machine =
      read_machine(cpu_report("edge-1", 4,
                              {{"palette.ai.rg/network-pool", "1"},
                               {"palette.ai.rg/storage-tier", "high-performance"},
                               {"palette.ai.rg/region/us-west", "zone-a"},
                               {"palette.ai.rg/workload-type", "training"}}));
  EXPECT_THAT(
      machine.groups,
      ElementsAre(Pair("network-pool", "1"), Pair("region/us-west", "zone-a"),
                  Pair("storage-tier", "high-performance"), Pair("workload-type", "training")));
}

TEST(ParseTag, ReadsWhatPeopleWrite) {
  EXPECT_EQ(*parse_tag("palette.ai=true"),
            (std::pair<std::string, std::string>{"palette.ai", "true"}));
  EXPECT_EQ(*parse_tag("gpus: 8"), (std::pair<std::string, std::string>{"gpus", "8"}));
  EXPECT_EQ(*parse_tag("palette.ai.rg/network-pool: \"1\""),
            (std::pair<std::string, std::string>{"palette.ai.rg/network-pool", "1"}));
  EXPECT_EQ(*parse_tag("palette.ai.rg/region/us-west: \"zone-a\""),
            (std::pair<std::string, std::string>{"palette.ai.rg/region/us-west", "zone-a"}));
  EXPECT_EQ(*parse_tag("note="), (std::pair<std::string, std::string>{"note", ""}));
  EXPECT_EQ(*parse_tag("url=http://a:1"),
            (std::pair<std::string, std::string>{"url", "http://a:1"}));
  for (const char* text : {"", "gpus", "=8", ": 8", "a b: 1", "a: \x1b[2J", "a: \xff"})
    EXPECT_FALSE(parse_tag(text)) << text;
}

// --- agent and tags

TEST(Agent, WinsOverTagsAndANoteTellsBoth) {
  MachineReport report = gpu_report(
      "edge-1", "NVIDIA H100 80GB HBM3", 8,
      {{"gpus", "4"}, {"cpus", "6"}, {"gpu-memory", "40G"}, {"gpu-family", "nvidia-a100"}});
  report.gpus->front().memory_bytes = 81'559 * kMiB;
  const Machine machine = read_machine(report);
  EXPECT_THAT(machine.unfit, IsEmpty());
  EXPECT_EQ(machine.gpus, (Known<int64_t>{8, KnownFrom::agent}));
  EXPECT_EQ(machine.cpus, (Known<int64_t>{64, KnownFrom::agent}));
  EXPECT_EQ(machine.family.value.shown, "NVIDIA H100");
  EXPECT_EQ(machine.gpu_memory_bytes.value, 81'559 * kMiB);
  EXPECT_THAT(
      machine.notes,
      ElementsAre("tag cpus says 6, the agent detected 64: the agent's counts",
                  "tag gpus says 4, the agent detected 8: the agent's counts",
                  "tag gpu-family says NVIDIA A100, the agent detected NVIDIA H100: the agent's "
                  "counts",
                  "tag gpu-memory says 40 GB, the agent detected 79.6 GiB: the agent's counts"));
}

TEST(Agent, ThatDetectsNoGpusIsBelievedOverATag) {
  const Machine machine = read_machine(cpu_report("edge-1", 4, {{"gpus", "8"}}));
  EXPECT_EQ(machine.gpus, (Known<int64_t>{0, KnownFrom::agent}));
  EXPECT_TRUE(machine.control_plane);
  EXPECT_THAT(machine.notes, ElementsAre(HasSubstr("tag gpus says 8, the agent detected 0")));
}

TEST(Agent, ThatAgreesWithTheTagsLeavesNoNote) {
  MachineReport report = gpu_report("edge-1", "NVIDIA A100-SXM4-80GB", 8,
                                    {{"gpus", "8"}, {"gpu-memory", "80G"}, {"gpu-family", "A100"}});
  report.gpus->front().memory_bytes = 81'920 * kMiB;
  EXPECT_THAT(read_machine(report).notes, IsEmpty());
}

TEST(Gpus, ThatNobodyTellsAreUnknownAndNeverNone) {
  for (const Tags& tags :
       {Tags{}, Tags{{"palette.ai/control-plane", "true"}}, Tags{{"palette.ai/worker", "true"}}}) {
    MachineReport report = tagged_report("edge-1", tags);
    report.cpus = 4;
    const Machine machine = read_machine(report);
    EXPECT_FALSE(machine.gpus.is_known());
    EXPECT_THAT(machine.unfit, ElementsAre("how many GPUs it has is not known: the agent did not "
                                           "detect it, and there is no tag gpus"));
  }
}

TEST(Gpus, OfUnknownFamilyAreNotOffered) {
  EXPECT_THAT(first_unfit(tagged_report("edge-1", {{"gpus", "8"}})),
              HasSubstr("the family of its GPUs is not known"));
  EXPECT_THAT(first_unfit(gpu_report("edge-1", "N/A", 8)), HasSubstr("family of its GPUs"));
  EXPECT_EQ(first_unfit(gpu_report("edge-1", "", 8, {{"gpu-family", "nvidia-h100"}})), "");
}

TEST(Gpus, OfTwoFamiliesAreNotOfferedAndBothAreNamed) {
  MachineReport report = gpu_report("edge-1", "NVIDIA H100", 4);
  report.gpus->push_back({"NVIDIA A100", 4, {}});
  EXPECT_EQ(first_unfit(report), "its GPUs are of 2 families: NVIDIA H100 and NVIDIA A100");
}

TEST(Gpus, OfOneFamilyInSeveralRowsAreCountedTogether) {
  MachineReport report = gpu_report("edge-1", "NVIDIA H100 80GB HBM3", 4);
  report.gpus->front().memory_bytes = 81'559 * kMiB;
  report.gpus->push_back({"NVIDIA H100 PCIe", 4, 80 * kGiB});
  const Machine machine = read_machine(report);
  EXPECT_THAT(machine.unfit, IsEmpty());
  EXPECT_EQ(machine.gpus.value, 8);
  EXPECT_EQ(machine.gpu_memory_bytes.value, 81'559 * kMiB);  // the least of any
}

TEST(Gpus, WhoseMemoryNoSuchCardHasAreNotOffered) {
  MachineReport report = gpu_report("edge-1", "NVIDIA H100", 8);
  report.gpus->front().memory_bytes = 16'000'000'000;
  EXPECT_THAT(first_unfit(report), HasSubstr("NVIDIA H100 with 16 GB is not a card that exists"));
  EXPECT_THAT(first_unfit(tagged_report(
                  "edge-1", {{"gpus", "8"}, {"gpu-family", "nvidia-h100"}, {"gpu-memory", "16G"}})),
              HasSubstr("NVIDIA H100 with 16 GB is not a card that exists"));
}

TEST(Numbers, ThatNoMachineHasAreRefused) {
  for (const int64_t cores : {int64_t{-1}, int64_t{0}, int64_t{1} << 21}) {
    EXPECT_THAT(first_unfit(cpu_report("edge-1", cores)), HasSubstr("which no machine has"));
  }
  for (const int64_t gpus : {int64_t{-1}, int64_t{129}, int64_t{1} << 62})
    EXPECT_THAT(first_unfit(gpu_report("edge-1", "H100", gpus)), HasSubstr("which no machine has"));
  MachineReport report = gpu_report("edge-1", "H100", 100);
  report.gpus->push_back({"H100", 100, {}});
  EXPECT_THAT(first_unfit(report), HasSubstr("it reports 200 GPUs, which no machine has"));
  report = cpu_report("edge-1", 4);
  report.memory_bytes = 0;
  EXPECT_THAT(first_unfit(report), HasSubstr("0 bytes of memory"));
}

TEST(Cores, OfAMachineWithoutGpusMustBeKnown) {
  MachineReport report = cpu_report("edge-1", 4);
  report.cpus.reset();
  EXPECT_THAT(first_unfit(report), HasSubstr("how many cores it has is not known"));
  report = gpu_report("edge-2", "H100", 8);
  report.cpus.reset();
  EXPECT_EQ(first_unfit(report), "");
}

TEST(Architecture, HasOneSpelling) {
  for (const auto& [written, shown] : Tags{{"x86_64", "AMD64"},
                                           {"amd64", "AMD64"},
                                           {"AMD64", "AMD64"},
                                           {"aarch64", "ARM64"},
                                           {"riscv64", "RISCV64"},
                                           {"", ""}}) {
    MachineReport report = cpu_report("edge-1", 4);
    report.architecture = written;
    EXPECT_EQ(read_machine(report).architecture, shown);
  }
}

// --- roles

struct RoleCase {
  int64_t gpus;
  const char* control_plane;  // tag; nullptr: none
  const char* worker;
  const char* role;  // "": none, unfit
};

TEST(Role, AnExplicitTagReplacesTheDefaultAndFalseRemovesIt) {
  for (const RoleCase& row : {RoleCase{8, nullptr, nullptr, "worker"},
                              {0, nullptr, nullptr, "control plane"},
                              {8, "true", nullptr, "control plane"},
                              {0, nullptr, "true", "worker"},
                              {8, "true", "true", "worker"},
                              {0, "true", "true", "worker"},
                              {8, "false", nullptr, "worker"},
                              {0, nullptr, "false", "control plane"},
                              {8, nullptr, "false", ""},
                              {0, "false", nullptr, ""},
                              {8, "true", "false", "control plane"},
                              {0, "false", "true", "worker"},
                              {8, "false", "false", ""},
                              {0, "True", "FALSE", "control plane"}}) {
    Tags tags;
    if (row.control_plane != nullptr)
      tags.emplace_back("palette.ai/control-plane", row.control_plane);
    if (row.worker != nullptr) tags.emplace_back("palette.ai/worker", row.worker);
    const Machine machine = read_machine(row.gpus > 0 ? gpu_report("edge-1", "H100", row.gpus, tags)
                                                      : cpu_report("edge-1", 4, tags));
    const std::string role = machine.worker          ? "worker"
                             : machine.control_plane ? "control plane"
                                                     : "";
    EXPECT_FALSE(machine.worker && machine.control_plane);
    EXPECT_EQ(role, row.role) << row.gpus << " " << (row.control_plane ? row.control_plane : "-")
                              << " " << (row.worker ? row.worker : "-");
    EXPECT_EQ(machine.unfit.empty(), !role.empty());
    if (role.empty()) {
      EXPECT_THAT(machine.unfit.front(), HasSubstr("it has no role"));
    }
  }
}

TEST(Role, OfAMachineTaggedAsBothIsWorkerAndANoteSaysSo) {
  const Machine machine = read_machine(cpu_report(
      "edge-1", 4, {{"palette.ai/control-plane", "true"}, {"palette.ai/worker", "true"}}));
  EXPECT_TRUE(machine.worker);
  EXPECT_FALSE(machine.control_plane);
  EXPECT_THAT(machine.notes, ElementsAre(AllOf(HasSubstr("both"), HasSubstr("a worker"))));
}

TEST(MachineId, IsPlain) {
  EXPECT_TRUE(check_machine_id("edge-5db0384219cfa0fa4ef97d53bf291b2e"));
  EXPECT_TRUE(check_machine_id("a"));
  EXPECT_TRUE(check_machine_id(std::string(253, 'a')));
  for (const std::string& id :
       {std::string(), std::string("-a"), std::string("a-"), std::string("a b"),
        std::string("../a"), std::string("a/b"), std::string("a\n"), std::string(254, 'a')})
    EXPECT_FALSE(check_machine_id(id)) << id;
}

}  // namespace
}  // namespace exa
