// Accounting through the router: what ran, at the price and factor of when it was placed.
#include <gtest/gtest.h>

#include "api/testing.h"

namespace exa {
namespace {

json::value only_sum(TestExa& exa, std::string_view route, const json::object& args = {}) {
  const json::array items = exa.ask(route, args).at("items").as_array();
  EXPECT_EQ(items.size(), 1U);
  return items.empty() ? json::value() : items[0];
}

// 1 amd at 1.8 and 250 g/h for 10 h: the document's example.
TEST(Usage, TenHoursOfTheDocumentsExampleCost18AndEmit2500Grams) {
  TestExa exa;
  exa.ask("pool.add", {{"name", "mi300"},
                       {"accelerator", "amd"},
                       {"count", 4},
                       {"region", "eu"},
                       {"cost_per_hour", 1.8},
                       {"carbon_factor", 250}});
  exa.ask("placement.place",
          {{"name", "train"}, {"accelerator", "amd"}, {"reserve", true}, {"ttl", "10h"}});
  // a dearer price later changes nothing about what ran
  exa.ask("pool.add", {{"name", "mi300"}, {"cost_per_hour", 99}});
  exa.now = {exa.now.micros + hours(24).micros};
  const json::value cost = only_sum(exa, "usage.cost");
  EXPECT_EQ(cost.at("workload"), "train");
  EXPECT_EQ(to_text(cost.at("cost")), "18");
  const json::value carbon = only_sum(exa, "usage.carbon");
  EXPECT_EQ(carbon.at("device"), "amd");
  EXPECT_EQ(carbon.at("region"), "eu");
  EXPECT_EQ(to_text(carbon.at("carbon_g")), "2500");
}

TEST(Usage, WhatRunsCountsUntilNowAndWhatIsUnknownStaysUnknown) {
  TestExa exa;
  exa.ask("pool.add", {{"name", "away"},
                       {"target", "cloud"},
                       {"accelerator", "nvidia"},
                       {"count", 4},
                       {"region", "us"}});
  exa.ask("placement.place", {{"name", "train"}, {"reserve", true}, {"ttl", "48h"}});
  exa.now = {exa.now.micros + hours(2).micros};
  const json::value sum = only_sum(exa, "usage.sums", {{"by", "pool"}});
  EXPECT_EQ(sum.at("running"), 1);
  EXPECT_EQ(to_text(sum.at("device_hours")), "2");
  EXPECT_EQ(sum.at("cost"), nullptr);
  EXPECT_EQ(sum.at("carbon_g"), nullptr);
}

TEST(Usage, AnOnPremisesPoolWithoutAPriceCountsAsZeroAndIsMarked) {
  TestExa exa;
  exa.ask("pool.add", {{"name", "here"}, {"accelerator", "nvidia"}, {"count", 4}});
  exa.ask("placement.place", {{"name", "train"}, {"reserve", true}});
  exa.now = {exa.now.micros + hours(2).micros};
  const json::value sum = only_sum(exa, "usage.cost");
  EXPECT_EQ(to_text(sum.at("cost")), "0");
  EXPECT_EQ(sum.at("price_set"), false);
}

// On this machine, or a cluster without pools, there is nothing that could have a price: 0 would
// say that it is free.
TEST(Usage, WhatALaunchOutsideOfEveryPoolCostsIsUnknownAndNever0) {
  TestExa exa;
  exa.ask("workbench.create", {{"name", "bench"},
                               {"folder", (exa.folder() / "bench").string()},
                               {"command", {"sleep", "1"}}});
  exa.now = {exa.now.micros + hours(2).micros};
  const json::value sum = only_sum(exa, "usage.cost", {{"by", "pool"}});
  EXPECT_EQ(sum.at("pool"), "cluster:this-machine");
  EXPECT_EQ(sum.at("cost"), nullptr) << to_text(sum);
  EXPECT_EQ(sum.at("known_cost"), json::object());
  EXPECT_EQ(sum.at("device_hours_without_price"), sum.at("device_hours"));
  EXPECT_EQ(sum.at("price_set"), false);
  const json::value record = exa.ask("usage.records", {}).at("items").at(0);
  EXPECT_EQ(record.at("price_micros"), nullptr);
  EXPECT_EQ(record.at("currency"), nullptr);
}

TEST(Usage, AWindowCutsWhatLiesOutside) {
  TestExa exa;
  exa.ask("pool.add",
          {{"name", "here"}, {"accelerator", "nvidia"}, {"count", 4}, {"cost_per_hour", 1}});
  exa.ask("placement.place", {{"name", "train"}, {"reserve", true}, {"ttl", "24h"}});
  exa.now = {exa.now.micros + hours(48).micros};
  const json::value sum =
      only_sum(exa, "usage.cost", {{"since", "2026-11-30T18:00:00Z"}, {"until", "2026-12-01"}});
  EXPECT_EQ(to_text(sum.at("cost")), "6");
  EXPECT_EQ(exa.call("usage.cost", {{"since", "yesterday"}}).exit_code, 2);
}

}  // namespace
}  // namespace exa
