#include "service/discovery_schedule.h"

#include <gtest/gtest.h>

namespace exa {
namespace {

Duration wait_after(Duration max_age, int64_t failures) {
  const Time last{1'000'000'000};
  return Duration{next_look({"hpc", max_age, last, failures}).micros - last.micros};
}

TEST(DiscoverySchedule, ANewClusterIsDueAtOnce) {
  EXPECT_EQ(next_look({"hpc", minutes(15), {}, 0}).micros, 0);
}

TEST(DiscoverySchedule, TwoLooksMayFailBeforeAnswersAgeOut) {
  EXPECT_EQ(wait_after(minutes(15), 0), minutes(5));
  EXPECT_EQ(wait_after(seconds(6), 0), seconds(10));
  EXPECT_EQ(wait_after(hours(24), 0), hours(1));
}

TEST(DiscoverySchedule, FailuresBackOffUpToALimit) {
  EXPECT_EQ(wait_after(minutes(15), 1), minutes(10));
  EXPECT_EQ(wait_after(minutes(15), 2), minutes(15));
  EXPECT_EQ(wait_after(minutes(15), 1000), minutes(15));
  EXPECT_EQ(wait_after(seconds(30), 3), seconds(80));
  EXPECT_EQ(wait_after(seconds(30), 50), minutes(15));
  EXPECT_EQ(wait_after(hours(2), 1000), hours(2));
}

}  // namespace
}  // namespace exa
