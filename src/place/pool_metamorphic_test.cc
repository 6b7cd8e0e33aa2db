// What must hold of any fleet, and what must not change the answer.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "place/pool_dice_for_test.h"

namespace exa {
namespace {

using namespace samples;

TEST(PlaceMetamorphic, NothingThatIsOfferedAsAChangeFailsWhenTried) {
  const uint64_t seed = seed_of_run();
  Dice dice(seed);
  int offered = 0;
  for (int i = 0; i < kFleets / 4; ++i) {
    SCOPED_TRACE(fmt::format("EXA_SEED={} fleet {}", seed, i));
    const std::vector<Pool> pools = any_fleet(dice);
    const PlaceAsk ask = any_ask(dice);
    for (const NearMiss& miss : near_misses(decide(ask, pools))) {
      PlaceAsk instead = ask;
      instead.workload = miss.instead;
      instead.opted_in = true;
      EXPECT_FALSE(miss.changes.empty());
      const Decision again = decide(instead, pools);
      const PoolCandidate& c = candidate(again, miss.pool);
      EXPECT_FALSE(c.why.has(Why::residency));
      if (!miss.only_the_ask) continue;
      ++offered;
      ASSERT_TRUE(c.why.empty());
    }
  }
  EXPECT_GT(offered, 100);
}

TEST(PlaceMetamorphic, TheOrderOfRegistrationPlaysNoPart) {
  const uint64_t seed = seed_of_run();
  Dice dice(seed);
  for (int i = 0; i < kFleets / 10; ++i) {
    SCOPED_TRACE(fmt::format("EXA_SEED={} fleet {}", seed, i));
    std::vector<Pool> pools = any_fleet(dice);
    const PlaceAsk ask = any_ask(dice);
    const std::string before = to_text(to_json(decide(ask, pools)));
    std::ranges::shuffle(pools, dice.engine());
    ASSERT_EQ(to_text(to_json(decide(ask, pools))), before);
  }
}

TEST(PlaceMetamorphic, ADearerPoolAddedChangesNothing) {
  const uint64_t seed = seed_of_run();
  Dice dice(seed);
  for (int i = 0; i < kFleets / 10; ++i) {
    SCOPED_TRACE(fmt::format("EXA_SEED={} fleet {}", seed, i));
    std::vector<Pool> pools = any_fleet(dice);
    const PlaceAsk ask = any_ask(dice);
    const Decision before = decide(ask, pools);
    if (!before.chosen) continue;
    Pool dearer = before.pools->pools[*before.chosen];
    dearer.name = "a-dearer";
    const int64_t price = dearer.price ? dearer.price->micros : 0;
    if (!before.candidates[*before.chosen].price_known) continue;
    dearer.price = Money{price + 1'000'000, "USD"};
    pools.push_back(dearer);
    ASSERT_EQ(chosen_pool(decide(ask, pools)), chosen_pool(before));
  }
}

TEST(PlaceMetamorphic, WithoutTheWinnerTheSecondWins) {
  const uint64_t seed = seed_of_run();
  Dice dice(seed);
  for (int i = 0; i < kFleets / 10; ++i) {
    SCOPED_TRACE(fmt::format("EXA_SEED={} fleet {}", seed, i));
    std::vector<Pool> pools = any_fleet(dice);
    const PlaceAsk ask = any_ask(dice);
    const Decision before = decide(ask, pools);
    if (!before.chosen) continue;
    const auto reports = explain(before);
    std::erase_if(pools, [&](const Pool& p) { return p.name == reports[0].pool; });
    const std::string second =
        reports.size() > 1 && reports[1].outcome == CandidateOutcome::eligible ? reports[1].pool
                                                                               : "";
    ASSERT_EQ(chosen_pool(decide(ask, pools)), second);
  }
}

TEST(PlaceMetamorphic, EuOnlyNeverLandsOutside) {
  const uint64_t seed = seed_of_run();
  Dice dice(seed);
  int placed = 0;
  for (int i = 0; i < kFleets; ++i) {
    SCOPED_TRACE(fmt::format("EXA_SEED={} fleet {}", seed, i));
    PlaceAsk ask = any_ask(dice);
    (dice.one_in(2) ? ask.workload.residency : ask.dataset_residency) = "eu-only";
    const Decision decision = decide(ask, any_fleet(dice));
    if (!decision.chosen) continue;
    ++placed;
    const Pool& pool = decision.pools->pools[*decision.chosen];
    // a stricter class keeps the data on premises, whose region then does not matter
    if (pool.target == Target::cloud || decision.residency.residency == Residency::eu_only) {
      ASSERT_EQ(pool.region, "eu");
    }
  }
  EXPECT_GT(placed, kFleets / 100);
}

}  // namespace
}  // namespace exa
