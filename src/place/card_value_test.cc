// What the rest of a card is worth: known cases, and what must hold for any mix.
#include "place/card_value.h"

#include <random>

#include <gtest/gtest.h>

namespace exa {
namespace {

TEST(CardValue, WithoutSharesARestIsWorthItsSize) {
  const CardValue value = card_value({});
  EXPECT_EQ(value[0], 0);
  EXPECT_EQ(value[137], 137'000);
  EXPECT_EQ(value[1000], 1'000'000);
}

TEST(CardValue, ARestThatNobodyAsksForIsWorthNothing) {
  const ShareDemand demand[] = {{500, 10}};
  const CardValue value = card_value(demand);
  EXPECT_EQ(value[499], 0);
  EXPECT_EQ(value[500], 500'000);
  EXPECT_EQ(value[999], 500'000);
}

TEST(CardValue, TheRestBesideALargeShareIsWorthWhatFillsIt) {
  // plenty of 320s, three to a card: each is worth a third, so 650 costs the rest
  const ShareDemand plenty[] = {{320, 1000}, {650, 100}};
  EXPECT_NEAR(card_value(plenty)[350], 333'333, 1);
  EXPECT_NEAR(card_value(plenty)[650], 666'667, 1);
  // few 320s, many 650s: the rest beside a 650 is there in plenty and worth nothing
  const ShareDemand scarce[] = {{320, 10}, {650, 1000}};
  EXPECT_EQ(card_value(scarce)[350], 0);
  EXPECT_EQ(card_value(scarce)[650], 1'000'000);
}

// Dual feasibility: no way of cutting a card is worth more than the card; and the bound that
// follows: the mix never needs fewer cards than its shares are worth.
TEST(CardValue, NoCutIsWorthMoreThanTheCard) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 200; ++round) {
    std::vector<ShareDemand> demand;
    for (int64_t share = 1 + static_cast<int64_t>(random() % 150); share < 1000;
         share += 1 + static_cast<int64_t>(random() % 200))
      demand.push_back({share, 1 + static_cast<int64_t>(random() % 500)});
    const CardValue value = card_value(demand);
    ASSERT_EQ(value[0], 0);
    ASSERT_EQ(value[1000], 1'000'000);
    double worth = 0;
    double volume = 0;
    for (size_t size = 1; size <= 1000; ++size) ASSERT_GE(value.at(size), value.at(size - 1));
    for (const ShareDemand& row : demand) {
      const auto share = static_cast<size_t>(row.share_milli);
      for (size_t size = share; size <= 1000; ++size)
        ASSERT_GE(value.at(size) + 2, value.at(size - share) + value.at(share));
      worth += value.at(share) * 1e-6 * static_cast<double>(row.count);
      volume += static_cast<double>(row.share_milli * row.count) / 1000;
    }
    ASSERT_GE(worth, volume * (1 - 1e-3)) << "the best prices are worth at least the volume";
    double first_fit = 0;  // cards that one simple way of cutting needs
    for (const ShareDemand& row : demand)
      first_fit +=
          std::ceil(static_cast<double>(row.count) / static_cast<double>(1000 / row.share_milli));
    ASSERT_LE(worth, first_fit + 1e-3);
  }
}

}  // namespace
}  // namespace exa
