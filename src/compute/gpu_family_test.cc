#include "compute/gpu_family.h"

#include <gmock/gmock.h>

#include "base/quantity.h"
#include "compute/gpu_memory.h"
#include "compute/machine.h"

namespace exa {
namespace {

TEST(GpuFamily, AllSpellingsOfOneSeriesAreOneFamily) {
  for (const char* text : {"nvidia-h100", "NVIDIA-H100", "NVIDIA H100", "nvidia_h100", "H100",
                           "NVIDIA H100 80GB HBM3", "NVIDIA H100 PCIe", "h100-sxm5-80gb"}) {
    EXPECT_EQ(gpu_family(text).key, "nvidia-h100") << text;
    EXPECT_EQ(gpu_family(text).shown, "NVIDIA H100") << text;
  }
  EXPECT_EQ(gpu_family("NVIDIA A100-SXM4-80GB"), gpu_family("nvidia-a100"));
  EXPECT_EQ(gpu_family("AMD Instinct MI300X").shown, "AMD MI300X");
  EXPECT_EQ(gpu_family("HL-225").shown, "Intel Gaudi 2");
  EXPECT_EQ(gpu_family("tpu-v4-podslice").shown, "Google TPU v4");
}

TEST(GpuFamily, ASizeThatTheCatalogueLacksIsOfItsSeriesAllTheSame) {
  EXPECT_EQ(gpu_family("NVIDIA A100-SXM-64GB").shown, "NVIDIA A100");
}

TEST(GpuFamily, NamesThatOnlyBeginAlikeAreDifferent) {
  EXPECT_NE(gpu_family("A10"), gpu_family("A100"));
  EXPECT_NE(gpu_family("A10"), gpu_family("A10G"));
  EXPECT_NE(gpu_family("L4"), gpu_family("L40"));
  EXPECT_NE(gpu_family("H100"), gpu_family("GH200"));
  EXPECT_NE(gpu_family("MI300"), gpu_family("MI300X"));
}

TEST(GpuFamily, AnUnknownOneIsItsOwnWords) {
  EXPECT_EQ(gpu_family("nvidia-x9").key, "nvidia-x9");
  EXPECT_EQ(gpu_family("nvidia-x9").shown, "NVIDIA X9");
  EXPECT_EQ(gpu_family("  NVIDIA_ X9 "), gpu_family("nvidia-x9"));
  EXPECT_EQ(gpu_family("NVIDIA").shown, "NVIDIA");
  EXPECT_EQ(gpu_family("x\x1b[2J").shown, "X\\X1B[2J");
}

TEST(GpuFamily, WhatNamesNothingIsEmpty) {
  for (const char* text : {"", " ", "--", "N/A", "[N/A]", "unknown", "GPU", "null"})
    EXPECT_TRUE(gpu_family(text).empty()) << text;
}

struct MemoryCase {
  const char* text;
  int64_t bytes;
};

TEST(GpuMemory, TheSixUnitsOfTheDocumentInAnyCase) {
  for (const MemoryCase& row : {MemoryCase{"80G", 80'000'000'000},
                                {"80GB", 80'000'000'000},
                                {"80GiB", 80 * kGiB},
                                {"81920M", 81'920'000'000},
                                {"81920MB", 81'920'000'000},
                                {"81920 MiB", 80 * kGiB},
                                {"80gb", 80'000'000'000},
                                {"80gIb", 80 * kGiB},
                                {"1.5G", 1'500'000'000}}) {
    const auto bytes = parse_gpu_memory(row.text);
    ASSERT_TRUE(bytes) << row.text;
    EXPECT_EQ(*bytes, row.bytes) << row.text;
  }
}

TEST(GpuMemory, ABareNumberIsRefusedBecauseItsUnitIsNotKnown) {
  const auto refused = parse_gpu_memory("80");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "\"80\" has no unit: write 80G, 80GiB or 80MiB");
}

TEST(GpuMemory, NothingElseIsAnAmount) {
  for (const char* text : {"", "G", "-80G", "0G", "80T", "80K", "80Gi", "80 G B", "8e1G", "80,5G",
                           "nan", "99999999G", "99999999999999999999G"})
    EXPECT_FALSE(parse_gpu_memory(text)) << text;
}

TEST(GpuMemory, ACardThatDoesNotExistIsSaidToBeNone) {
  EXPECT_EQ(impossible_card("H100", gpu_family("H100"), 16'000'000'000),
            "NVIDIA H100 with 16 GB is not a card that exists: it has 80 to 96 GB");
  EXPECT_EQ(impossible_card("L4", gpu_family("L4"), 80 * kGiB),
            "NVIDIA L4 with 80 GiB is not a card that exists: it has 24 GB");
}

TEST(GpuMemory, LabelsAndDriversOfRealCardsAreBelieved) {
  for (const auto& [text, bytes] :
       std::vector<std::pair<const char*, int64_t>>{{"H100", 80'000'000'000},
                                                    {"H100", 81'559 * kMiB},
                                                    {"A100", 40'000'000'000},
                                                    {"A100", 64 * kGiB},  // built for one customer
                                                    {"A10", 23'028 * kMiB},
                                                    {"MI250X", 65'520 * kMiB},
                                                    {"nvidia-x9", 1 * kGiB}})
    EXPECT_EQ(impossible_card(text, gpu_family(text), bytes), "") << text << " " << bytes;
}

}  // namespace
}  // namespace exa
