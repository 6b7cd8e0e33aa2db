// The text of scontrol and the columns of sinfo, in part and whole.
#include "base/quantity.h"
#include "base/text.h"
#include "discover/slurm_samples_for_test.h"

namespace exa {
namespace {

using namespace slurm_sample;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// ---- scontrol text ------------------------------------------------------------------------------

std::string record(const std::string& middle, const std::string& end = "") {
  return "NodeName=n1 Arch=x86_64 CoresPerSocket=16 CPUAlloc=8 CPUTot=64 CPULoad=4.03 "
         "AvailableFeatures=x ActiveFeatures=x " +
         middle + " Partitions=p CfgTRES=cpu=64 AllocTRES= CapWatts=n/a" + end + "\n";
}

TEST(SlurmText, TheReasonCannotPoseAsFields) {
  const auto inventory = read_slurm(capture_of(
      "scontrol show node",
      record(
          "Gres=gpu:a100:4 RealMemory=1000 AllocMem=0 State=IDLE+DRAIN",
          " Reason=GresUsed=gpu:a100:0 State=IDLE [broken] fan [root@2026-11-30T07:09:26]        "
          "MemSpecLimit=5 Comment=x")));
  ASSERT_TRUE(inventory) << inventory.error().message;
  const Node& node = inventory->nodes[0];
  EXPECT_EQ(node.health, Health::drained);
  EXPECT_EQ(node.reason, "GresUsed=gpu:a100:0 State=IDLE [broken] fan");
  EXPECT_EQ(node.cards[0].offers[0].used, std::nullopt);
  EXPECT_EQ(node.memory_bytes, 1000 * kMiB);
}

TEST(SlurmText, CoresAndMemoryKeptForTheSystemAreNotCapacity) {
  const auto inventory = read_slurm(capture_of(
      "scontrol show node", record("CPUEfctv=60 Gres=(null) RealMemory=1000 AllocMem=100 "
                                   "MemSpecLimit=200 State=MIXED")));
  ASSERT_TRUE(inventory) << inventory.error().message;
  const Node& node = inventory->nodes[0];
  EXPECT_EQ(node.cpu_milli, 60000);
  EXPECT_EQ(node.cpu_free_milli, 52000);
  EXPECT_EQ(node.memory_bytes, 800 * kMiB);
  EXPECT_EQ(node.memory_free_bytes, 700 * kMiB);
}

TEST(SlurmText, MemoryThatNobodyWroteDownIsUnknown) {
  const auto inventory = read_slurm(
      capture_of("scontrol show node", record("Gres= RealMemory=1 AllocMem=0 State=IDLE")));
  ASSERT_TRUE(inventory) << inventory.error().message;
  EXPECT_EQ(inventory->nodes[0].memory_bytes, std::nullopt);
  EXPECT_EQ(inventory->nodes[0].memory_free_bytes, std::nullopt);
}

TEST(SlurmText, ErrorsNameTheLineTheNodeAndTheField) {
  const std::string good = record("Gres=gpu:a100:4 RealMemory=1000 AllocMem=0 State=IDLE");
  const struct {
    std::string middle;
    std::string field;
  } rows[] = {
      {"Gres=gpu:a100:4 RealMemory=1000 AllocMem=0 State=IDLE+SLEEPY", "State"},
      {"Gres=gpu:a100:4(S:0 RealMemory=1000 AllocMem=0 State=IDLE", "Gres"},
      {"Gres=gpu:a100:4 RealMemory=lots AllocMem=0 State=IDLE", "RealMemory"},
      {"Gres=gpu:a100:4 RealMemory=1000 State=IDLE", "AllocMem"},
      {"RealMemory=1000 AllocMem=0 State=IDLE", "Gres"},
      {"Gres=gpu:a100:4 GresUsed=gpu:a100:? RealMemory=1000 AllocMem=0 State=IDLE", "GresUsed"},
  };
  for (const auto& row : rows) {
    const auto inventory =
        read_slurm(capture_of("scontrol show node", "\n\n" + record(row.middle) + good));
    ASSERT_FALSE(inventory) << row.middle;
    EXPECT_EQ(inventory.error().code, Code::unreadable_output);
    EXPECT_THAT(inventory.error().message,
                ::testing::StartsWith("scontrol show node, line 3, node n1: " + row.field));
  }
  EXPECT_THAT(read_slurm(capture_of("scontrol show node", good + good)).error().message,
              HasSubstr("n1 is listed twice"));
  EXPECT_FALSE(read_slurm(capture_of("scontrol show node", "")));
  EXPECT_FALSE(read_slurm(capture_of("scontrol show node", "slurm_load_node error: x\n")));
  EXPECT_TRUE(read_slurm(capture_of("scontrol show node", "No nodes in the system\n")));
}

// Whatever is cut off, the rest is never read as something else.
TEST(SlurmTextProperty, ACutListingFailsOrSaysNothingNew) {
  for (const std::string file : {"scontrol-show-node.txt", "scontrol-show-node-oneline.txt"}) {
    const std::string text = sample(file);
    const Inventory whole = read("scontrol show node", file);
    size_t read_well = 0;
    for (size_t length = 0; length < text.size(); length += 3) {
      auto cut = read_slurm(capture_of("scontrol show node", text.substr(0, length)));
      if (!cut) {
        EXPECT_EQ(cut.error().code, Code::unreadable_output);
        continue;
      }
      ++read_well;
      for (Node& part : cut->nodes) {
        Node expected = node(whole, part.name);
        // the reason stands last and its stamp of who and when may have lost its end
        const bool begins_alike =
            expected.reason.starts_with(part.reason) || part.reason.starts_with(expected.reason);
        if (begins_alike) expected.reason = part.reason;
        ASSERT_EQ(part, expected) << file << " cut at " << length << ", node " << part.name;
      }
    }
    EXPECT_GT(read_well, 100u);
  }
}

// ---- sinfo columns ------------------------------------------------------------------------------

TEST(SlurmColumns, ACutColumnIsRefused) {
  const std::string rows[] = {
      // -O without widths: GRES_USED runs into CPUS
      "a100-01             gpu*                mixed               gpu:a100:4(S:0-1)   "
      "gpu:a100:1(IDX:0),hp8/56/0/64           512000              64000               a100 none\n",
      // two resources cut at the same width
      "n1 gpu* idle gpu:nvidia_a100-sxm4gpu:nvidia_a100-sxm4-80gb:0(IDX:N/A) 0/64/0/64 512000 0 x "
      "none\n",
      // a state that was cut
      "bad-01 gpu* unknown+drain+invali gpu:a100:3 gpu:a100:0 0/0/64/64 512000 0 a100 none\n",
      "n1 gpu* idle gpu:a100 gpu:a100:0 0/64/0/64 512000 0 x none\n",
      "n[1-2] gpu* idle gpu:a100:4 gpu:a100:0 0/64/0/64 512000 0 x none\n",
      "n1 gpu* idle gpu:a100:4\n",
  };
  for (const std::string& row : rows) {
    const auto inventory = read_slurm(capture_of("sinfo -N -O", row));
    ASSERT_FALSE(inventory) << row;
    EXPECT_EQ(inventory.error().code, Code::unreadable_output);
    EXPECT_THAT(inventory.error().message, HasSubstr("line 1"));
  }
}

TEST(SlurmColumns, TheHeadingShowsWhereAColumnWasCut) {
  const std::string heading =
      "NODELIST  PARTITION STATECOMPLETE  GRES        GRES_USED    CPUS(A/I/O/T) MEMORY ALLOCMEM "
      "AVAIL_FEATURES  REASON\n";
  const std::string whole =
      "n1        gpu*      idle           gpu:a100:4  gpu:a100:0   0/64/0/64     512000 0        "
      "a100,ib         none\n";
  const std::string cut =
      "n1        gpu*      idle           gpu:a100:4  gpu:a100:0   0/64/0/64     512000 0        "
      "a100,ib,cuda-12.too hot inside\n";
  EXPECT_TRUE(read_slurm(capture_of("sinfo -N -O", heading + whole)));
  const auto inventory = read_slurm(capture_of("sinfo -N -O", heading + cut));
  ASSERT_FALSE(inventory);
  EXPECT_THAT(inventory.error().message, HasSubstr("line 2: a column is cut"));
}

TEST(SlurmColumns, BarsInTheReasonBelongToIt) {
  const auto inventory = read_slurm(capture_of(
      "sinfo -N -o",
      "NODELIST|PARTITION|STATE|STATE|CPUS|MEMORY|GRES|AVAIL_FEATURES|FREE_MEM|CPUS(A/I/O/"
      "T)|REASON\n"
      "n1|gpu*|drained|drain|64|512000|gpu:a100:4|(null)|N/A|0/0/64/64|fan 1|2 broken\n"));
  ASSERT_TRUE(inventory) << inventory.error().message;
  EXPECT_EQ(inventory->nodes[0].reason, "fan 1|2 broken");
  EXPECT_THAT(inventory->nodes[0].partitions, ElementsAre("gpu"));
  EXPECT_FALSE(read_slurm(capture_of("sinfo -N -o", "n1|gpu*|idle\n")));
}

}  // namespace
}  // namespace exa
