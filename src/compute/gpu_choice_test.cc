#include "compute/gpu_choice.h"

#include <bit>
#include <random>

#include <gmock/gmock.h>

namespace exa {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr unsigned kSeed = 4'711;

GpuSupply supply_of(const std::vector<int64_t>& gpus) {
  GpuSupply supply;
  for (uint32_t place = 0; place < gpus.size(); ++place) supply.add(place, gpus[place]);
  return supply;
}

// Every subset; of equal ones the first by its sorted places.
std::vector<uint32_t> by_trying(const std::vector<int64_t>& gpus, int64_t asked) {
  std::tuple<int, int64_t, std::vector<uint32_t>> best{1'000, 0, {}};
  for (uint32_t set = 0; set < 1U << gpus.size(); ++set) {
    int64_t sum = 0;
    std::vector<uint32_t> places;
    for (uint32_t place = 0; place < gpus.size(); ++place)
      if ((set >> place & 1) != 0) {
        sum += gpus[place];
        places.push_back(place);
      }
    if (sum >= asked) best = std::min(best, std::tuple{std::popcount(set), sum, places});
  }
  return std::get<2>(best);
}

TEST(GpuChoice, OfNothingAskedIsNobodyAndOfTooMuchIsNone) {
  EXPECT_THAT(choose_gpus(supply_of({8, 8}), 0)->places, IsEmpty());
  EXPECT_FALSE(choose_gpus(supply_of({8, 8}), 17));
  EXPECT_FALSE(choose_gpus({}, 1));
}

TEST(GpuChoice, SpendsWhatTheLargestWouldLeaveOver) {
  // 8 + 8 would leave 3 over, 8 + 5 none
  EXPECT_THAT(choose_gpus(supply_of({8, 4, 8, 5}), 13)->places, ElementsAre(0, 3));
  // two are exchanged at once: 7 + 7 for 8 + 6
  EXPECT_THAT(choose_gpus(supply_of({7, 8, 7, 8}), 14)->places, ElementsAre(0, 2));
  // 6 + 8 and 7 + 7 leave none over: the one with the first place is taken
  EXPECT_THAT(choose_gpus(supply_of({6, 7, 7, 8, 8}), 14)->places, ElementsAre(0, 3));
  EXPECT_THAT(choose_gpus(supply_of({7, 7, 6, 8, 8}), 14)->places, ElementsAre(0, 1));
}

TEST(GpuChoice, IsWhatTryingEverySetFinds) {
  std::mt19937 random(kSeed);
  for (int n = 0; n < 4'000; ++n) {
    std::vector<int64_t> gpus(1 + random() % 10);
    const auto most = static_cast<int64_t>(2 + random() % 14);
    int64_t all = 0;
    for (int64_t& count : gpus) {
      count = 1 + static_cast<int64_t>(random()) % most;
      all += count;
    }
    const int64_t asked = 1 + static_cast<int64_t>(random()) % all;
    const auto choice = choose_gpus(supply_of(gpus), asked);
    ASSERT_TRUE(choice);
    ASSERT_EQ(choice->places, by_trying(gpus, asked))
        << "seed " << kSeed << ", supply " << n << ": " << testing::PrintToString(gpus) << " for "
        << asked;
    int64_t sum = 0;
    for (const uint32_t place : choice->places) sum += gpus[place];
    EXPECT_EQ(sum, choice->gpus);
  }
}

}  // namespace
}  // namespace exa
