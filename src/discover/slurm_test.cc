// Counts that are not set or not possible, and how files of Slurm are recognised.
#include "discover/slurm_samples_for_test.h"

namespace exa {
namespace {

using namespace slurm_sample;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(SlurmSentinels, ACountThatIsNotSetLeavesTheDevicesThereAndTheirNumberOpen) {
  for (const std::string unset : {"4294967294", "4294967295", "-2", "18446744073709551614"}) {
    const Inventory inventory = with_gres("gpu:a100:" + unset, "");
    const CardSet& cards = node(inventory, "n1").cards.at(0);
    EXPECT_EQ(cards.family, Family::nvidia);
    EXPECT_EQ(cards.physical, kUnknown) << unset;
    EXPECT_THAT(cards.offers, IsEmpty());
    EXPECT_THAT(cards.offers_unread, ElementsAre(Sharing::whole));
  }
}

TEST(SlurmSentinels, AUseThatIsNotSetIsNotNone) {
  const Inventory inventory = with_gres("gpu:a100:4", "gpu:a100:4294967294(IDX:N/A)");
  const Offer& offer = node(inventory, "n1").cards.at(0).offers.at(0);
  EXPECT_EQ(offer.units, 4);
  EXPECT_EQ(offer.used, kUnknown);
  EXPECT_EQ(offer.free, kUnknown);
}

TEST(SlurmSentinels, MoreDevicesThanAMachineHasAreRefusedByName) {
  std::string text =
      "NodeName=n1 CPUTot=64 CPUAlloc=0 RealMemory=512000 AllocMem=0 State=IDLE\n   "
      "CfgTRES=cpu=64\n   AllocTRES=\n   Gres=gpu:a100:4097\n";
  const auto inventory = read_capture(capture_of("scontrol show node", text));
  ASSERT_FALSE(inventory);
  EXPECT_EQ(inventory.error().code, Code::unreadable_output);
  EXPECT_THAT(inventory.error().message, HasSubstr("node n1: 4097 is no number of devices"));
}

// ---- recognising --------------------------------------------------------------------------------

TEST(SlurmRecognise, FilesAreKnownByWhatTheyHold) {
  const struct {
    std::string file;
    std::optional<std::string> name;
  } rows[] = {
      {"scontrol-show-node.txt", "scontrol show node"},
      {"scontrol-show-node-oneline.txt", "scontrol show node"},
      {"scontrol-d-show-node-a100-01.txt", "scontrol show node"},
      {"sinfo-N-o.txt", "sinfo -N -o"},
      {"sinfo-N-O.txt", "sinfo -N -O"},
      // byte for byte the same
      {"sinfo.json", "sinfo --json or slurmrestd nodes"},
      {"rest-nodes-v0.0.38.json", "sinfo --json or slurmrestd nodes"},
      {"rest-node-nosuch.json", "sinfo --json or slurmrestd nodes"},
      {"squeue.json", "squeue --json"},
      {"rest-partitions-v0.0.38.json", std::nullopt},
      {"rest-ping.json", std::nullopt},
      {"scontrol-show-config.txt", "scontrol show config"},
      {"scontrol-show-partition-oneline.txt", "scontrol show partition -o"},
      {"scontrol-show-reservation-oneline.txt", "scontrol show reservation -o"},
      {"scontrol-show-job-oneline.txt", std::nullopt},
      {"sinfo-summary.txt", std::nullopt},
      {"squeue.txt", std::nullopt},
      {"squeue-O-tres.txt", std::nullopt},
      {"sacct.txt", std::nullopt},
      {"slurm.conf", std::nullopt},
      {"gres.conf", std::nullopt},
  };
  for (const auto& row : rows) EXPECT_EQ(recognise_slurm(sample(row.file)), row.name) << row.file;
  EXPECT_EQ(recognise_slurm("slurm-wlm 22.05.8\n"), "sinfo --version");
  EXPECT_EQ(recognise_slurm(""), std::nullopt);
  EXPECT_EQ(recognise_slurm("{}"), std::nullopt);
}

TEST(SlurmRecognise, AFileThatNamesNoNodeSaysSo) {
  const std::string text = R"({"meta":{"Slurm":{"release":"22.05.8"}},"errors":[],"nodes":[]})";
  const auto question = recognise_slurm(text);
  ASSERT_TRUE(question);
  Capture capture = capture_of(*question, text);
  capture.transport = "file";
  const auto refused = read_slurm(capture);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("names no node"));
}

TEST(SlurmRecognise, WithDetailsTheUsedDevicesAreRead) {
  const Inventory inventory = read("scontrol show node", "scontrol-d-show-node-a100-01.txt");
  ASSERT_EQ(inventory.nodes.size(), 1u);
  EXPECT_EQ(inventory.nodes[0].cards[0].offers[0].used, 1);
  EXPECT_EQ(inventory.nodes[0].cards[0].offers[0].free, 3);
}

}  // namespace
}  // namespace exa
