#include "catalogue/cron.h"

#include <random>

#include <gmock/gmock.h>

namespace exa {
namespace {

CronTimes cron(std::string_view text) {
  return parse_cron(text).value();
}
Time at(std::string_view text) {
  return parse_rfc3339(text).value();
}
std::string next(std::string_view text, const std::string& zone, std::string_view from) {
  const auto found = next_after(cron(text), zone, at(from));
  return found ? format_rfc3339(*found) : "never";
}

std::string utc(std::string_view text) {
  return format_rfc3339(at(text));
}

TEST(Cron, WeekdaysAtEightInBerlinFollowTheClocksOfBerlin) {
  // CET until the last Sunday of March, CEST after it
  EXPECT_EQ(next("0 8 * * 1-5", "Europe/Berlin", "2027-03-26T12:00:00Z"),
            utc("2027-03-29T06:00:00Z"));
  EXPECT_EQ(next("0 8 * * mon-fri", "Europe/Berlin", "2027-03-25T12:00:00Z"),
            utc("2027-03-26T07:00:00Z"));
}

TEST(Cron, ATimeThatADayDoesNotHaveHappensAfterTheGap) {
  EXPECT_EQ(next("30 2 * * *", "Europe/Berlin", "2027-03-28T00:00:00Z"),
            utc("2027-03-28T01:00:00Z"));
}

TEST(Cron, ATimeThatADayHasTwiceHappensTheFirstTime) {
  EXPECT_EQ(next("30 2 * * *", "Europe/Berlin", "2027-10-30T12:00:00Z"),
            utc("2027-10-31T00:30:00Z"));
  EXPECT_EQ(next("30 2 * * *", "Europe/Berlin", "2027-10-31T00:30:00Z"),
            utc("2027-11-01T01:30:00Z"));
}

TEST(Cron, EitherDayIsEnoughWhereBothAreTold) {
  // the 13th, and Fridays
  EXPECT_EQ(next("0 0 13 * 5", "UTC", "2026-12-01T00:00:00Z"), utc("2026-12-04T00:00:00Z"));
  EXPECT_EQ(next("0 0 13 * 5", "UTC", "2026-12-11T00:00:00Z"), utc("2026-12-13T00:00:00Z"));
  EXPECT_EQ(next("0 0 13 * *", "UTC", "2026-12-01T00:00:00Z"), utc("2026-12-13T00:00:00Z"));
}

TEST(Cron, StepsListsAndNames) {
  EXPECT_EQ(next("*/20 9-10 * jan,jul *", "UTC", "2026-12-01T00:00:00Z"),
            utc("2027-01-01T09:00:00Z"));
  EXPECT_EQ(next("*/20 9-10 * jan,jul *", "UTC", "2027-01-01T09:00:00Z"),
            utc("2027-01-01T09:20:00Z"));
  EXPECT_EQ(next("5/30 * * * 7", "UTC", "2026-12-01T00:00:00Z"), utc("2026-12-06T00:05:00Z"));
  EXPECT_EQ(cron(" 0   8 * *  1-5 ").text, "0 8 * * 1-5");
}

TEST(Cron, ALeapDayIsFoundAcrossACenturyThatHasNone) {
  EXPECT_EQ(next("0 0 29 2 *", "UTC", "2096-03-01T00:00:00Z"), utc("2104-02-29T00:00:00Z"));
}

TEST(Cron, WhatIsNoScheduleIsRefusedWithTheFieldThatIsWrong) {
  const struct {
    std::string_view text;
    std::string_view says;
  } cases[] = {
      {"", "0 fields"},           {"0 8 * *", "4 fields"},        {"60 * * * *", "minute \"60\""},
      {"* 24 * * *", "hour"},     {"* * 0 * *", "day of the mo"}, {"* * * 13 *", "month \"13\""},
      {"* * * * 8", "week"},      {"5-1 * * * *", "minute"},      {"*/0 * * * *", "minute"},
      {"1,,2 * * * *", "minute"}, {"* * 30 2 *", "never"},        {"@daily", "1 fields"},
      {"* * * foo *", "month"},   {"-1 * * * *", "minute"},       {"1-2-3 * * * *", "minute"},
  };
  for (const auto& each : cases) {
    const auto read = parse_cron(each.text);
    ASSERT_FALSE(read) << each.text;
    EXPECT_THAT(read.error().message, testing::HasSubstr(each.says)) << each.text;
  }
}

TEST(Cron, AZoneThatIsNoneIsRefusedWithWhatWasMeant) {
  EXPECT_TRUE(check_time_zone("Europe/Berlin"));
  EXPECT_TRUE(check_time_zone("UTC"));
  const auto read = check_time_zone("Europe/Berln");
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().alternatives, testing::Contains("Europe/Berlin"));
  EXPECT_FALSE(check_time_zone("../../etc/passwd"));
  EXPECT_FALSE(check_time_zone(""));
}

// What lies between a moment and the next one is empty, and looking back from there finds it again.
TEST(Cron, LookingBackFindsWhatLookingForwardFound) {
  constexpr unsigned kSeed = 20261201;
  std::mt19937 dice(kSeed);
  const std::string zones[] = {"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe",
                               "Asia/Kathmandu"};
  const std::string_view crons[] = {"0 8 * * 1-5", "30 2 * * *", "*/7 * * * *", "0 0 1 * *",
                                    "15 1,2,3 * 3,4,10,11 0"};
  for (int round = 0; round < 2000; ++round) {
    const Time start{int64_t{1'790'000'000} * 1'000'000 +
                     static_cast<int64_t>(dice() % 100'000'000) * 1'000'000};
    const std::string& zone = zones[dice() % std::size(zones)];
    const CronTimes times = cron(crons[dice() % std::size(crons)]);
    const auto next = next_after(times, zone, start);
    ASSERT_TRUE(next);
    ASSERT_GT(*next, start);
    ASSERT_EQ(last_until(times, zone, *next), next) << "seed " << kSeed << " round " << round;
    const auto before = last_until(times, zone, {next->micros - 1});
    ASSERT_TRUE(before);
    ASSERT_LE(*before, start) << "seed " << kSeed << " round " << round << " " << zone << " "
                              << times.text << " from " << format_rfc3339(start);
  }
}

}  // namespace
}  // namespace exa
