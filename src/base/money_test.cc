#include "base/money.h"

#include <limits>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace exa {
namespace {

using testing::HasSubstr;

TEST(Money, IsReadExactlyAndPrintedWithoutNoise) {
  struct Row {
    std::string_view text;
    int64_t micros;
    std::string_view printed;
  };
  constexpr Row kRows[] = {
      {"2.5", 2'500'000, "2.5"},
      {"0", 0, "0"},
      {"0.0001", 100, "0.0001"},
      {"18.0", 18'000'000, "18"},
      {"1.80", 1'800'000, "1.8"},
      {"007", 7'000'000, "7"},
      {"0.30000000", 300'000, "0.3"},
      {"999999999", 999'999'999'000'000, "999999999"},
      {"1000000000", kMostMoneyMicros, "1000000000"},
  };
  for (const Row& row : kRows) {
    const auto micros = parse_micros(row.text, "price");
    ASSERT_TRUE(micros.has_value()) << row.text;
    EXPECT_EQ(*micros, row.micros) << row.text;
    EXPECT_EQ(format_micros(*micros), row.printed);
    EXPECT_EQ(to_text(number_from_micros(*micros)), row.printed);
  }
}

TEST(Money, NonsenseIsRefusedWithASentence) {
  struct Row {
    std::string_view text;
    std::string_view says;
  };
  constexpr Row kRows[] = {
      {"", "is empty"},
      {"-1", "must not be negative"},
      {"-nan", "must not be negative"},
      {"NaN", "finite number"},
      {"inf", "finite number"},
      {"1e3", "no exponent"},
      {"1E-2", "no exponent"},
      {"2,5", "takes a point"},
      {"$2", "plain decimal"},
      {"1.", "plain decimal"},
      {".5", "plain decimal"},
      {"1.2.3", "plain decimal"},
      {"+1", "plain decimal"},
      {" 1", "plain decimal"},
      {"0x1", "plain decimal"},
      {"0.0000001", "more than 6 decimals"},
      {"1000000000.000001", "at most 1000000000"},
      {"99999999999999999999999999999999999999999999", "at most"},
  };
  for (const Row& row : kRows) {
    const auto micros = parse_micros(row.text, "price");
    ASSERT_FALSE(micros.has_value()) << row.text;
    EXPECT_EQ(micros.error().code, Code::invalid_input);
    EXPECT_THAT(micros.error().message, HasSubstr(row.says)) << row.text;
    EXPECT_THAT(micros.error().message, testing::StartsWith("price")) << row.text;
  }
}

TEST(Money, EveryAmountComesBackFromItsOwnText) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 20'000; ++i) {
    const auto micros =
        static_cast<int64_t>(random() % static_cast<uint64_t>(kMostMoneyMicros + 1));
    ASSERT_EQ(parse_micros(format_micros(micros), "price"), micros);
  }
  EXPECT_EQ(format_micros(1), "0.000001");
  EXPECT_EQ(format_micros(std::numeric_limits<int64_t>::min()), "-9223372036854.775808");
}

TEST(Money, TenHoursAtOnePointEightAreEighteen) {
  EXPECT_EQ(scale(1'800'000, 10, 1), 18'000'000);
  EXPECT_EQ(scale(1, 1, 2), 1);  // halves away from zero
  EXPECT_EQ(scale(-1, 1, 2), -1);
  EXPECT_EQ(scale(1, 1, 3), 0);
  EXPECT_EQ(scale(2, 1, 3), 1);
}

TEST(Money, WhatDoesNotFitIsNothingRatherThanAWrappedNumber) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(scale(kMost, 2, 1), std::nullopt);
  EXPECT_EQ(scale(kMost, kMost, kMost), kMost);
  EXPECT_EQ(scale(1, 1, 0), std::nullopt);
  EXPECT_EQ(multiply(kMost, 2), std::nullopt);
  EXPECT_EQ(sum({kMost, "EUR"}, {1, "EUR"}), std::nullopt);
  EXPECT_EQ(sum({1, "EUR"}, {1, "USD"}), std::nullopt);
  EXPECT_EQ(sum({1, "EUR"}, {2, "EUR"}), (Money{3, "EUR"}));
}

TEST(Money, ACurrencyIsThreeCapitalLetters) {
  EXPECT_EQ(format_money(*parse_money("2.50", "EUR")), "2.5 EUR");
  for (const std::string_view text : {"", "eur", "EURO", "E1R", "€"})
    EXPECT_FALSE(parse_money("1", text).has_value()) << text;
}

}  // namespace
}  // namespace exa
