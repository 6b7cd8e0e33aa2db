// Which MIG instances fit on a card together, as NVIDIA's guide has it.
#include "place/mig.h"

#include <gtest/gtest.h>

namespace exa {
namespace {

struct Packing {
  const char* title;
  std::vector<MigSlices> instances;
  bool fits;
};

constexpr MigSlices k1g{1, 1};
constexpr MigSlices k1gDouble{1, 2};
constexpr MigSlices k2g{2, 2};
constexpr MigSlices k3g{3, 4};
constexpr MigSlices k4g{4, 4};
constexpr MigSlices k7g{7, 8};

const Packing kPackings[] = {
    {"seven of the smallest", {k1g, k1g, k1g, k1g, k1g, k1g, k1g}, true},
    {"there is no eighth", {k1g, k1g, k1g, k1g, k1g, k1g, k1g, k1g}, false},
    {"four with two memory slices", {k1gDouble, k1gDouble, k1gDouble, k1gDouble}, true},
    {"a fifth finds no memory", {k1gDouble, k1gDouble, k1gDouble, k1gDouble, k1g}, false},
    {"three quarters", {k2g, k2g, k2g}, true},
    {"and a small one beside", {k2g, k2g, k2g, k1g}, true},
    {"no fourth quarter: compute", {k2g, k2g, k2g, k2g}, false},
    {"two halves", {k3g, k3g}, true},
    {"halves leave compute without memory", {k3g, k3g, k1g}, false},
    {"four sevenths and three", {k4g, k3g}, true},
    {"there is no second large half", {k4g, k4g}, false},
    {"half, quarter and two small", {k4g, k2g, k1g}, true},
    {"all", {k7g}, true},
    {"nothing beside all", {k7g, k1g}, false},
    {"a small one does not spoil the large half", {k1g, k4g}, true},
    {"small, then two halves: too little memory", {k1g, k3g, k3g}, false},
    {"two quarters beside a half", {k3g, k2g, k2g}, true},
};

TEST(Mig, InstancesArePackedAsTheHardwareAllows) {
  for (const Packing& packing : kPackings) {
    SCOPED_TRACE(packing.title);
    MigCard card = kEmptyMigCard;
    std::vector<std::pair<MigSlices, int>> placed;
    for (const MigSlices& slices : packing.instances)
      if (const auto start = best_start(card, slices)) {
        card = with_instance(card, slices, *start);
        placed.emplace_back(slices, *start);
      }
    EXPECT_EQ(placed.size() == packing.instances.size(), packing.fits);
    for (const auto& [slices, start] : placed) card = without_instance(card, slices, start);
    EXPECT_EQ(card, kEmptyMigCard);
  }
}

TEST(Mig, SlicesAreCountedAndStartsAreTheHardwares) {
  EXPECT_EQ(free_memory(kEmptyMigCard), 8);
  EXPECT_EQ(free_compute(kEmptyMigCard), 7);
  EXPECT_EQ(starts_left(kEmptyMigCard, k4g), 0b1U);
  EXPECT_EQ(starts_left(kEmptyMigCard, k3g), 0b10001U);
  EXPECT_EQ(starts_left(kEmptyMigCard, k1gDouble), 0b1010101U);
  const MigCard used = with_instance(kEmptyMigCard, k3g, 0);
  EXPECT_EQ(free_memory(used), 4);
  EXPECT_EQ(starts_left(used, k4g), 0U) << "the large half starts only at slice 0";
}

}  // namespace
}  // namespace exa
