#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "account/usage.h"
#include "base/quantity.h"

namespace exa {
namespace {

constexpr Time kNow{1'800'000'000'000'000};

Placement document_placement() {
  Placement placement;
  placement.workload = "train";
  placement.pool = "hpc-mi300";
  placement.accelerator = Family::amd;
  placement.region = "eu";
  placement.cost_per_hour = Money{1'800'000, "USD"};
  placement.carbon = CarbonRate{250 * kMicro, false};
  return placement;
}

UsageRecord record_of(std::string project, Family device, std::string_view price, Duration ran) {
  UsageRecord record;
  record.id = "u1";
  record.project = std::move(project);
  record.device = device;
  record.region = "eu";
  record.started = Time{kNow.micros - ran.micros};
  record.ended = kNow;
  if (!price.empty()) record.price = *parse_money(price);
  record.carbon = CarbonRate{100 * kMicro, false};
  return record;
}

TEST(Accounting, TheDocumentsExampleIsExact) {
  const auto accounting = device_accounting(document_placement(), hours(10));
  ASSERT_TRUE(accounting.has_value());
  json::object out = to_json(*accounting);
  EXPECT_EQ(to_text(out), R"({"device":"amd","region":"eu","hours":10,"cost":18,"carbon_g":2500,)"
                          R"("currency":"USD","price_set":true,"carbon_estimate":false})");
  EXPECT_EQ(accounting->cost, (Money{18 * kMicro, "USD"}));
  EXPECT_EQ(accounting->carbon_micrograms, 2500 * kMicro);
}

TEST(Accounting, CostCountsTheFractionHeldAndCarbonWholeDevices) {
  Placement placement = document_placement();
  placement.gpus = 2;
  placement.nodes = 3;
  placement.fraction_milli = 400;
  placement.held_milli = 500;
  const auto accounting = device_accounting(placement, minutes(30));
  EXPECT_EQ(accounting->cost->micros, 2'700'000);          // 1.8 × 6 × 0.5 × 0.5
  EXPECT_EQ(accounting->carbon_micrograms, 750 * kMicro);  // 250 × 6 × 0.5
}

TEST(Accounting, UnknownStaysUnknown) {
  Placement placement = document_placement();
  placement.cost_per_hour.reset();
  placement.carbon.reset();
  const auto accounting = device_accounting(placement, hours(10));
  EXPECT_EQ(accounting->cost, std::nullopt);
  EXPECT_EQ(accounting->carbon_micrograms, std::nullopt);
  const json::object out = to_json(*accounting);
  EXPECT_TRUE(find(out, "cost")->is_null());
  EXPECT_TRUE(find(out, "carbon_g")->is_null());
}

TEST(Accounting, CarbonFromPowerIsMarkedAnEstimate) {
  Pool pool;
  // 700 W × PUE 1.2 at 300 g/kWh: 252 g an hour
  pool.power = DevicePower{700'000, 1'200, 300'000};
  EXPECT_EQ(carbon_rate(pool), (CarbonRate{252 * kMicro, true}));
  pool.carbon_micrograms = 250 * kMicro;  // a factor that is given wins
  EXPECT_EQ(carbon_rate(pool), (CarbonRate{250 * kMicro, false}));
  Placement placement = document_placement();
  placement.carbon = CarbonRate{252 * kMicro, true};
  EXPECT_TRUE(device_accounting(placement, hours(1))->carbon_estimate);
}

TEST(Accounting, NegativeTimesAndImpossibleAmountsAreRefused) {
  EXPECT_FALSE(device_accounting(document_placement(), Duration{-1}).has_value());
  Placement placement = document_placement();
  placement.cost_per_hour->micros = kMostMoneyMicros;
  placement.gpus = 1'000;
  placement.nodes = 100'000;
  EXPECT_EQ(device_accounting(placement, hours(1'000'000)).error().code, Code::invalid_input);
}

TEST(Accounting, HoursAreReadExactly) {
  EXPECT_EQ(parse_hours("10"), hours(10));
  EXPECT_EQ(parse_hours("0.5"), minutes(30));
  EXPECT_EQ(parse_hours("0.000001"), Duration{3'600});
  for (const std::string_view text : {"-1", "nan", "inf", "1e3", "", "1h", "1000001"})
    EXPECT_FALSE(parse_hours(text).has_value()) << text;
}

// Against long division by hand: whole and rest, digit by digit.
TEST(Accounting, EveryCostIsTheNearestMillionth) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 20'000; ++i) {
    const auto price = static_cast<int64_t>(random() % 100'000'000);
    const auto devices = static_cast<int64_t>(random() % 100 + 1);
    const auto held = static_cast<int64_t>(random() % 1000 + 1);
    const Duration time{static_cast<int64_t>(random() % (100ULL * kMicrosPerHour))};
    const long double exact = static_cast<long double>(price) * static_cast<long double>(devices) *
                              static_cast<long double>(held) / 1000 *
                              (static_cast<long double>(time.micros) / kMicrosPerHour);
    const auto cost = cost_micros(price, devices, held, time);
    ASSERT_TRUE(cost.has_value());
    ASSERT_NEAR(static_cast<double>(static_cast<long double>(*cost) - exact), 0, 0.51);
  }
}

TEST(Usage, IsSummedByTheKeysAskedFor) {
  const std::vector<UsageRecord> records = {record_of("nlp", Family::amd, "2", hours(1)),
                                            record_of("nlp", Family::nvidia, "3", hours(2)),
                                            record_of("vision", Family::nvidia, "3", hours(4))};
  const std::vector<UsageKey> by_project = {UsageKey::project};
  const auto sums = sum_usage(records, by_project, {{}, {}, kNow});
  ASSERT_EQ(sums.size(), 2U);
  EXPECT_EQ(sums[0].values, std::vector<std::string>{"nlp"});
  EXPECT_EQ(sums[0].runs, 2);
  EXPECT_EQ(sums[0].device_hours_micros, 3 * kMicro);
  EXPECT_EQ(sums[0].cost, *parse_money("8"));
  EXPECT_EQ(sums[0].carbon_micrograms, 300 * kMicro);
  const std::vector<UsageKey> both = {UsageKey::device, UsageKey::project};
  EXPECT_EQ(sum_usage(records, both, {{}, {}, kNow}).size(), 3U);
  EXPECT_EQ(sum_usage(records, {}, {{}, {}, kNow}).front().cost, *parse_money("20"));
}

TEST(Usage, OneUnknownPartMakesTheSumUnknownAndTheKnownPartStays) {
  std::vector<UsageRecord> records = {record_of("nlp", Family::amd, "2", hours(1)),
                                      record_of("nlp", Family::amd, "", hours(3))};
  records[1].carbon.reset();
  const UsageSum sum = sum_usage(records, {}, {{}, {}, kNow}).front();
  EXPECT_EQ(sum.cost, std::nullopt);
  EXPECT_EQ(sum.known_cost, std::vector<Money>{*parse_money("2")});
  EXPECT_EQ(sum.hours_without_price, 3 * kMicro);
  EXPECT_EQ(sum.carbon_micrograms, std::nullopt);
  EXPECT_EQ(sum.known_carbon_micrograms, 100 * kMicro);
  EXPECT_EQ(sum.hours_without_carbon, 3 * kMicro);
}

TEST(Usage, CurrenciesAreNeverAdded) {
  std::vector<UsageRecord> records = {record_of("nlp", Family::amd, "2", hours(1)),
                                      record_of("nlp", Family::amd, "3", hours(1))};
  records[1].price->currency = "EUR";
  const UsageSum sum = sum_usage(records, {}, {{}, {}, kNow}).front();
  EXPECT_EQ(sum.cost, std::nullopt);
  EXPECT_EQ(sum.known_cost, (std::vector<Money>{{3 * kMicro, "EUR"}, {2 * kMicro, "USD"}}));
}

TEST(Usage, OnlyTheWindowCountsAndWhatRunsCountsToNow) {
  UsageRecord record = record_of("nlp", Family::amd, "1", hours(10));
  record.ended.reset();
  const std::vector<UsageRecord> records = {record};
  const auto hours_in = [&](std::optional<Time> from, std::optional<Time> to) {
    const auto sums = sum_usage(records, {}, {from, to, kNow});
    return sums.empty() ? 0 : sums.front().device_hours_micros / kMicro;
  };
  EXPECT_EQ(hours_in({}, {}), 10);
  EXPECT_EQ(hours_in(kNow + hours(-4), {}), 4);
  EXPECT_EQ(hours_in(kNow + hours(-4), kNow + hours(-1)), 3);
  EXPECT_EQ(hours_in(kNow, {}), 0);
  EXPECT_EQ(sum_usage(records, {}, {{}, {}, kNow}).front().running, 1);
}

// Windows that follow each other lose and count nothing twice.
TEST(Usage, WindowsAddUpToTheWhole) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  std::vector<UsageRecord> records;
  for (int i = 0; i < 50; ++i)
    records.push_back(
        record_of("p", Family::amd, "3.6", seconds(static_cast<int64_t>(random() % 10'000) + 1)));
  const int64_t whole = sum_usage(records, {}, {{}, {}, kNow}).front().cost->micros;
  for (int i = 0; i < 200; ++i) {
    const Time cut{kNow.micros - seconds(static_cast<int64_t>(random() % 10'000)).micros};
    int64_t parts = 0;
    for (const auto& sums :
         {sum_usage(records, {}, {{}, cut, kNow}), sum_usage(records, {}, {cut, {}, kNow})})
      if (!sums.empty()) parts += sums.front().cost->micros;
    ASSERT_EQ(parts, whole);  // 3.6 an hour is a thousandth a second: nothing is rounded
  }
}

}  // namespace
}  // namespace exa
