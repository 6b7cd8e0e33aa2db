#include "compute/machine_selection.h"

#include <random>

#include <gmock/gmock.h>

#include "base/quantity.h"
#include "compute/machines_for_test.h"

namespace exa {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const Tags kWorker = {{"palette.ai/worker", "true"}};
const Tags kControlPlane = {{"palette.ai/control-plane", "true"}};

SelectionAsk ask_for(std::string_view family, int64_t gpus, int64_t minimum = 0) {
  SelectionAsk ask;
  if (gpus > 0) ask.gpus = {{gpu_family(family), gpus}};
  ask.minimum_workers = minimum;
  return ask;
}

ChosenAs chosen_as(const Selection& selection, std::string_view id) {
  return verdict_of(selection, id).as;
}

const std::string& why(const Selection& selection, std::string_view id) {
  return verdict_of(selection, id).why;
}

// --- the document's scenario

TEST(Fill, TheDocumentsTable) {
  const TestFleet fleet({cpu_report("control", 4), gpu_report("gpu-node-1", "H100", 8),
                         cpu_report("cpu-node-1", 16, kWorker),
                         cpu_report("cpu-node-2", 16, kWorker)});
  const Selection selection = select_machines(fleet.rows, ask_for("H100", 8, 3));
  ASSERT_TRUE(selection.met);
  EXPECT_THAT(selection.workers, ElementsAre("cpu-node-1", "cpu-node-2", "gpu-node-1"));
  EXPECT_EQ(chosen_as(selection, "gpu-node-1"), ChosenAs::gpu_worker);
  EXPECT_EQ(chosen_as(selection, "cpu-node-1"), ChosenAs::worker_tagged);
  EXPECT_EQ(chosen_as(selection, "cpu-node-2"), ChosenAs::worker_tagged);
  EXPECT_EQ(selection.filler_gpus, 0);
  EXPECT_EQ(why(selection, "gpu-node-1"), "gives 8 NVIDIA H100, which were asked for");
  EXPECT_EQ(why(selection, "cpu-node-1"),
            "fills the minimum of 3 workers: it is tagged palette.ai/worker: true");
}

TEST(Fill, Step1OneNodeOfEightIsSufficientWithoutAMinimum) {
  const TestFleet fleet({cpu_report("control", 4), gpu_report("g1", "H100", 8),
                         gpu_report("g2", "H100", 8), gpu_report("g3", "H100", 8),
                         gpu_report("g4", "H100", 8)});
  const Selection selection = select_machines(fleet.rows, ask_for("H100", 8));
  ASSERT_TRUE(selection.met);
  EXPECT_THAT(selection.workers, ElementsAre("g1"));
  EXPECT_EQ(why(selection, "g2"), "not needed: 1 machine was enough for 8 NVIDIA H100");
}

TEST(Fill, Step2TaggedWorkersComeBeforeGpusOfTheFamily) {
  const TestFleet fleet({cpu_report("control", 4), gpu_report("g1", "H100", 8),
                         gpu_report("g2", "H100", 1), gpu_report("g3", "A100", 1),
                         cpu_report("w1", 4, kWorker), gpu_report("w2", "A100", 8, kWorker)});
  const Selection selection = select_machines(fleet.rows, ask_for("H100", 8, 3));
  ASSERT_TRUE(selection.met);
  EXPECT_THAT(selection.workers, ElementsAre("g1", "w1", "w2"));
  EXPECT_EQ(chosen_as(selection, "w2"), ChosenAs::worker_tagged);
  EXPECT_EQ(selection.filler_gpus, 8);
}

TEST(Fill, Step3ThenThoseOfTheFamilyWithTheFewestGpus) {
  const TestFleet fleet({cpu_report("control", 4), gpu_report("g1", "H100", 8),
                         gpu_report("g2", "H100", 8), gpu_report("g3", "H100", 2),
                         gpu_report("g4", "A100", 1), cpu_report("w1", 4, kWorker)});
  const Selection selection = select_machines(fleet.rows, ask_for("H100", 8, 3));
  ASSERT_TRUE(selection.met);
  EXPECT_THAT(selection.workers, ElementsAre("g1", "g3", "w1"));
  EXPECT_EQ(chosen_as(selection, "g3"), ChosenAs::requested_family);
  EXPECT_EQ(selection.filler_gpus, 2);
  EXPECT_EQ(selection.leftover_gpus, 0);
  EXPECT_EQ(why(selection, "g4"),
            "its GPUs are NVIDIA A100; NVIDIA H100 is asked for; the minimum of 3 workers is "
            "reached without it");
}

TEST(Fill, Step4ThenThoseOfAnyFamilyWithTheFewestGpus) {
  const TestFleet fleet({cpu_report("control", 4), gpu_report("g1", "H100", 8),
                         gpu_report("g2", "A100", 8), gpu_report("g3", "L40S", 4),
                         gpu_report("g4", "A100", 4)});
  const Selection selection = select_machines(fleet.rows, ask_for("H100", 8, 3));
  ASSERT_TRUE(selection.met);
  EXPECT_THAT(selection.workers, ElementsAre("g1", "g3", "g4"));
  EXPECT_EQ(chosen_as(selection, "g3"), ChosenAs::any_family);
  EXPECT_EQ(verdict_of(selection, "g4").gpus, 4);
}

TEST(Fill, AllOrNothing) {
  const TestFleet fleet(
      {cpu_report("control", 4), gpu_report("g1", "H100", 8), cpu_report("w1", 4, kWorker)});
  const Selection selection = select_machines(fleet.rows, ask_for("H100", 8, 3));
  EXPECT_FALSE(selection.met);
  EXPECT_THAT(selection.workers, IsEmpty());
  EXPECT_THAT(selection.control_plane, IsEmpty());
  EXPECT_THAT(selection.shortages,
              ElementsAre("1 of 3 workers is missing: 2 machines can be one; tag machines "
                          "palette.ai/worker: true, or ask for a minimum of 2"));
  for (const MachineVerdict& verdict : selection.machines) {
    EXPECT_EQ(verdict.as, ChosenAs::not_chosen);
    EXPECT_EQ(verdict.gpus, 0);
  }
  EXPECT_EQ(why(selection, "g1"),
            "could give 8 NVIDIA H100; nobody is taken as long as something is missing");
  EXPECT_THAT(why(selection, "w1"), HasSubstr("it could fill the minimum of 3 workers"));
  EXPECT_THAT(why(selection, "control"), HasSubstr("could be a control plane"));
}

// --- GPUs

TEST(Gpus, FewestMachinesThenLeastLeftOverThenIds) {
  const TestFleet fleet({cpu_report("control", 4), gpu_report("a", "H100", 8),
                         gpu_report("b", "H100", 4), gpu_report("c", "H100", 2),
                         gpu_report("d", "H100", 2), gpu_report("e", "H100", 4)});
  const auto workers = [&](int64_t gpus) {
    return select_machines(fleet.rows, ask_for("H100", gpus)).workers;
  };
  EXPECT_THAT(workers(1), ElementsAre("c"));
  EXPECT_THAT(workers(3), ElementsAre("b"));
  EXPECT_THAT(workers(5), ElementsAre("a"));
  EXPECT_THAT(workers(8), ElementsAre("a"));
  EXPECT_THAT(workers(9), ElementsAre("a", "c"));
  EXPECT_THAT(workers(12), ElementsAre("a", "b"));
  EXPECT_THAT(workers(14), ElementsAre("a", "b", "c"));
  EXPECT_THAT(workers(20), ElementsAre("a", "b", "c", "d", "e"));
}

TEST(Gpus, LeftOverOnesOfADedicatedMachineAreSaid) {
  const TestFleet fleet({cpu_report("control", 4), gpu_report("a", "H100", 8)});
  const Selection selection = select_machines(fleet.rows, ask_for("H100", 5));
  EXPECT_EQ(selection.leftover_gpus, 3);
  EXPECT_EQ(verdict_of(selection, "a").gpus, 8);
}

TEST(Gpus, OfSeveralFamiliesAreFoundEach) {
  const TestFleet fleet({cpu_report("control", 4), gpu_report("a", "H100", 8),
                         gpu_report("b", "A100", 8), gpu_report("c", "A100", 4)});
  SelectionAsk ask = ask_for("A100", 3);
  ask.gpus.emplace_back(gpu_family("H100"), 8);
  const Selection selection = select_machines(fleet.rows, ask);
  EXPECT_THAT(selection.workers, ElementsAre("a", "c"));
}

TEST(Gpus, ThatAreMissingAreCountedAndWhatWouldHelpIsSaid) {
  TestFleet fleet({cpu_report("control", 4), gpu_report("a", "H100", 4), gpu_report("b", "H100", 2),
                   gpu_report("c", "H100", 8), gpu_report("d", "A100", 8)});
  fleet.at("c").unavailable = "in use by ml-1";
  const Selection selection = select_machines(fleet.rows, ask_for("H100", 8));
  EXPECT_FALSE(selection.met);
  EXPECT_THAT(selection.shortages,
              ElementsAre("2 of 8 NVIDIA H100 are missing: 6 can be had from 2 machines; left out: "
                          "8 on machines that are in use or held back; add machines, or ask for at "
                          "most 6"));
  EXPECT_EQ(why(selection, "c"), "in use by ml-1");
}

TEST(Gpus, OfTooLittleOrUnknownMemoryDoNotCount) {
  MachineReport small = gpu_report("small", "A100", 8);
  small.gpus->front().memory_bytes = 40 * kGiB;
  MachineReport large = gpu_report("large", "A100", 8);
  large.gpus->front().memory_bytes = 80 * kGiB;
  const TestFleet fleet({cpu_report("control", 4), small, large, gpu_report("blank", "A100", 8)});
  SelectionAsk ask = ask_for("A100", 8);
  ask.gpu_memory_bytes = 80'000'000'000;
  const Selection selection = select_machines(fleet.rows, ask);
  EXPECT_THAT(selection.workers, ElementsAre("large"));
  EXPECT_THAT(why(selection, "small"), HasSubstr("its GPUs have 40 GiB each; 80 GB are asked for"));
  EXPECT_THAT(why(selection, "blank"), HasSubstr("the memory of its GPUs is not known"));
}

// --- shared mode

TEST(Shared, OnlyWhatIsNeededIsTakenOfTheLastMachine) {
  TestFleet fleet({cpu_report("control", 4), gpu_report("a", "H100", 8), gpu_report("b", "H100", 8),
                   gpu_report("c", "H100", 8), cpu_report("w", 4, kWorker)});
  fleet.at("a").free_gpus = 0;
  fleet.at("b").free_gpus = 5;
  SelectionAsk ask = ask_for("H100", 9, 3);
  ask.mode = AllocationMode::shared;
  const Selection selection = select_machines(fleet.rows, ask);
  ASSERT_TRUE(selection.met);
  EXPECT_THAT(selection.workers, ElementsAre("b", "c", "w"));
  EXPECT_EQ(verdict_of(selection, "b").gpus, 5);
  EXPECT_EQ(verdict_of(selection, "c").gpus, 4);
  EXPECT_EQ(selection.leftover_gpus, 0);
  EXPECT_THAT(why(selection, "a"), HasSubstr("all its GPUs are in use by others"));
}

TEST(Shared, FillersGiveNoGpus) {
  TestFleet fleet(
      {cpu_report("control", 4), gpu_report("a", "H100", 8), gpu_report("b", "H100", 8)});
  fleet.at("b").free_gpus = 0;
  SelectionAsk ask = ask_for("H100", 8, 2);
  ask.mode = AllocationMode::shared;
  const Selection selection = select_machines(fleet.rows, ask);
  ASSERT_TRUE(selection.met);
  EXPECT_EQ(chosen_as(selection, "b"), ChosenAs::requested_family);
  EXPECT_EQ(verdict_of(selection, "b").gpus, 0);
  EXPECT_EQ(selection.filler_gpus, 0);
}

// --- control plane

TEST(ControlPlane, IsOfMachinesOfThatRoleFewestGpusFirst) {
  const TestFleet fleet({gpu_report("a", "H100", 8, kControlPlane), cpu_report("b", 4),
                         gpu_report("c", "H100", 2, kControlPlane), cpu_report("d", 4),
                         gpu_report("e", "H100", 8)});
  SelectionAsk ask = ask_for("H100", 8);
  ask.control_planes = 3;
  const Selection selection = select_machines(fleet.rows, ask);
  ASSERT_TRUE(selection.met);
  EXPECT_THAT(selection.control_plane, ElementsAre("b", "c", "d"));
  EXPECT_THAT(selection.workers, ElementsAre("e"));
  EXPECT_THAT(why(selection, "a"), HasSubstr("3 before it were enough"));
}

TEST(ControlPlane, ThatIsMissingIsCounted) {
  const TestFleet fleet({cpu_report("a", 4), gpu_report("e", "H100", 8)});
  SelectionAsk ask = ask_for("H100", 8);
  ask.control_planes = 3;
  const Selection selection = select_machines(fleet.rows, ask);
  EXPECT_THAT(selection.shortages,
              ElementsAre("2 of 3 control planes are missing: 1 machine can be one; add machines "
                          "without GPUs, or tag some palette.ai/control-plane: true"));
}

TEST(ControlPlane, ThatWorksIsTheOneThatSavesAMachine) {
  const TestFleet fleet(
      {cpu_report("a", 4), gpu_report("b", "H100", 8, kControlPlane), gpu_report("c", "H100", 8)});
  SelectionAsk ask = ask_for("H100", 8);
  ask.control_plane_works = true;
  const Selection selection = select_machines(fleet.rows, ask);
  ASSERT_TRUE(selection.met);
  EXPECT_THAT(selection.control_plane, ElementsAre("b"));
  EXPECT_THAT(selection.workers, ElementsAre("b"));
  EXPECT_EQ(chosen_as(selection, "b"), ChosenAs::control_plane_and_worker);
  EXPECT_EQ(verdict_of(selection, "b").gpus, 8);
  EXPECT_EQ(why(selection, "c"), "not needed: the control plane has the 8 NVIDIA H100");
}

TEST(ControlPlane, ThatWorksMayBeTheWholePlatform) {
  const TestFleet fleet({cpu_report("a", 4)});
  SelectionAsk ask;
  ask.control_plane_works = true;
  EXPECT_TRUE(select_machines(fleet.rows, ask).met);
  ask.minimum_workers = 1;
  EXPECT_TRUE(select_machines(fleet.rows, ask).met);
  ask.minimum_workers = 2;
  EXPECT_FALSE(select_machines(fleet.rows, ask).met);
}

TEST(ControlPlane, OfThreeDoesNotWork) {
  const TestFleet fleet({cpu_report("a", 4), cpu_report("b", 4), cpu_report("c", 4)});
  SelectionAsk ask;
  ask.control_plane_works = true;
  ask.control_planes = 3;
  ask.minimum_workers = 1;
  EXPECT_FALSE(select_machines(fleet.rows, ask).met);
}

TEST(Ask, ForNothingIsRefused) {
  const TestFleet fleet({cpu_report("a", 4), gpu_report("b", "H100", 8)});
  const Selection selection = select_machines(fleet.rows, {});
  EXPECT_FALSE(selection.met);
  EXPECT_THAT(selection.shortages,
              ElementsAre("asks for no GPUs and no workers: nothing could run on it"));
}

// --- filters

TEST(Filters, TheFirstThatAMachineFailsIsSaid) {
  MachineReport untagged = gpu_report("unfit", "H100", 8);
  untagged.tags.clear();
  MachineReport arm = gpu_report("arm", "H100", 8);
  arm.architecture = "arm64";
  MachineReport blank = gpu_report("blank", "H100", 8);
  blank.architecture = "";
  const Tags pool = {{"palette.ai.rg/pool/a", "1"}};
  TestFleet fleet({cpu_report("control", 4, pool), cpu_report("outside", 4), untagged, arm, blank,
                   gpu_report("other", "H100", 8, {{"palette.ai.rg/pool/a", "2"}}),
                   gpu_report("used", "H100", 8, pool), gpu_report("good", "H100", 8, pool)});
  fleet.at("used").unavailable = "in use by ml-1";
  SelectionAsk ask = ask_for("H100", 8);
  ask.architecture = "AMD64";
  ask.worker_groups = {{"pool/a", "1"}};
  ask.control_plane_groups = {{"pool/a", "1"}};
  const Selection selection = select_machines(fleet.rows, ask);
  ASSERT_TRUE(selection.met);
  EXPECT_EQ(why(selection, "unfit"), "it has no tag palette.ai: true");
  EXPECT_EQ(why(selection, "used"), "in use by ml-1");
  EXPECT_EQ(why(selection, "arm"), "it is ARM64; AMD64 is asked for");
  EXPECT_EQ(why(selection, "blank"), "its architecture is not known; AMD64 is asked for");
  EXPECT_EQ(why(selection, "outside"),
            "it is not in the resource group pool/a: 1, which is asked of control planes");
  EXPECT_EQ(why(selection, "other"),
            "it is not in the resource group pool/a: 1, which is asked of workers");
  EXPECT_THAT(selection.workers, ElementsAre("good"));
}

TEST(Names, OfModesAndChoices) {
  EXPECT_EQ(find_allocation_mode("shared"), AllocationMode::shared);
  EXPECT_EQ(find_allocation_mode(name(AllocationMode::dedicated)), AllocationMode::dedicated);
  EXPECT_EQ(find_allocation_mode("Shared"), std::nullopt);
  EXPECT_EQ(name(ChosenAs::control_plane_and_worker), "control-plane-and-worker");
  EXPECT_EQ(name(ChosenAs::worker_tagged), "worker-tagged");
}

// --- large fleets

std::vector<MachineReport> random_fleet(std::mt19937& random, int machines) {
  std::vector<MachineReport> reports;
  for (int i = 0; i < machines; ++i)
    reports.push_back(gpu_report("m" + std::to_string(100'000 + i), "H100",
                                 static_cast<int64_t>(random() % 16) + 1));
  reports.push_back(cpu_report("control", 4));
  return reports;
}

TEST(LargeFleet, AnswersAreExactWhateverTheNumbersOfGpus) {
  std::mt19937 random(7);
  const TestFleet fleet(random_fleet(random, 2'000));
  const auto total = [&](const std::vector<std::string>& ids) {
    int64_t gpus = 0;
    for (const std::string& id : ids)
      gpus += std::ranges::find(fleet.machines, id, &Machine::id)->gpus.value;
    return gpus;
  };
  for (int64_t gpus = 1; gpus < 4'000; gpus += 37) {
    const Selection selection = select_machines(fleet.rows, ask_for("H100", gpus));
    ASSERT_TRUE(selection.met);
    // with every size at hand nothing is ever left over
    EXPECT_EQ(selection.leftover_gpus, 0) << gpus;
    EXPECT_EQ(total(selection.workers), gpus);
  }
}

TEST(LargeFleet, AMachineThatMayNotBeOfferedChangesNothing) {
  std::mt19937 random(8);
  std::vector<MachineReport> reports = random_fleet(random, 300);
  const TestFleet fleet(reports);
  for (int i = 0; i < 50; ++i) {
    MachineReport unfit = gpu_report("m1000" + std::to_string(i) + "x", "H100", i % 16 + 1);
    unfit.tags.clear();
    reports.push_back(unfit);
  }
  const TestFleet larger(reports);
  for (const int64_t gpus : {1, 7, 33, 100, 900}) {
    const Selection before = select_machines(fleet.rows, ask_for("H100", gpus, 20));
    const Selection after = select_machines(larger.rows, ask_for("H100", gpus, 20));
    EXPECT_EQ(before.workers, after.workers);
    EXPECT_EQ(before.control_plane, after.control_plane);
    EXPECT_EQ(before.leftover_gpus, after.leftover_gpus);
  }
}

TEST(LargeFleet, OfEveryPossibleNumberOfGpusTheWorstIsAnsweredToo) {
  std::vector<MachineReport> reports = {cpu_report("control", 4)};
  for (int i = 0; i < 1'280; ++i)
    reports.push_back(
        gpu_report("m" + std::to_string(10'000 + i * 7 % 1'280), "H100", i % 128 + 1));
  const TestFleet fleet(reports);
  for (const int64_t gpus : {129, 1'001, 30'001, 77'777}) {
    const Selection selection = select_machines(fleet.rows, ask_for("H100", gpus));
    ASSERT_TRUE(selection.met);
    EXPECT_EQ(selection.leftover_gpus, 0);
  }
}

}  // namespace
}  // namespace exa
