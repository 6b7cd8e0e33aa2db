#include "catalogue/instance.h"

#include <gmock/gmock.h>

namespace exa {
namespace {

Time at(std::string_view text) {
  return parse_rfc3339(text).value();
}

ComputeInstance running(std::string_view since) {
  ComputeInstance instance;
  instance.project = "vision";
  instance.name = "nb";
  instance.id = "01J";
  instance.owner = "ada";
  instance.sku_project = "platform";
  instance.sku = "small";
  instance.sku_version = 3;
  instance.environment_template = {"vm", "v1"};
  instance.driver = "script";
  instance.state = InstanceState::running;
  instance.price_per_hour = Money{2'500'000, "USD"};
  instance.created_at = instance.schedule_seen = at(since);
  starts_running(instance, at(since));
  return instance;
}

InstanceSchedule office_hours() {
  return {parse_cron("0 8 * * 1-5").value(), parse_cron("0 19 * * 1-5").value(), "Europe/Berlin"};
}

TEST(Instance, WhatIsStoredIsReadBack) {
  ComputeInstance instance = running("2026-12-01T08:00:00Z");
  instance.inputs = {{"gpu_count", json::object{{"value", 2}, {"source", "given"}}}};
  instance.labels = {{"team", "vision"}, {"cost", "42"}};
  instance.annotations = {{"owner", "two\nlines"}};
  instance.approval =
      InstanceApproval{{"too many"}, "a deadline", "bob", at("2026-12-01T09:00:00Z"), true, "fine"};
  instance.last_run = InstanceRun{
      "apply", at("2026-12-01T08:00:00Z"), at("2026-12-01T08:01:00Z"), "succeeded", "", 12, 1};
  instance.outputs = {{"url", "http://127.0.0.1"}};
  instance.secret_outputs = {"token"};
  instance.hardware_profile = "platform/small@2";
  instance.shape = Shape{};
  instance.lease = "L1";
  instance.pool = "p";
  instance.expires_at = at("2026-12-02T08:00:00Z");
  instance.at_end = AtEnd::stop;
  instance.schedule = office_hours();
  const auto read = instance_from_json(to_json(instance));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, instance);
}

TEST(Instance, CostsWhatItRanAndNothingWhileItIsStopped) {
  ComputeInstance instance = running("2026-12-01T08:00:00Z");
  EXPECT_EQ(cost_of(instance, at("2026-12-01T10:00:00Z")), (Money{5'000'000, "USD"}));
  ends_running(instance, at("2026-12-01T10:00:00Z"));
  ends_running(instance, at("2026-12-01T11:00:00Z"));  // nothing is counted twice
  EXPECT_EQ(cost_of(instance, at("2026-12-03T10:00:00Z")), (Money{5'000'000, "USD"}));
  starts_running(instance, at("2026-12-04T08:00:00Z"));
  EXPECT_EQ(cost_of(instance, at("2026-12-04T08:30:00Z")), (Money{6'250'000, "USD"}));
}

TEST(Instance, WithoutAKnownPriceItsCostIsUnknownAndNeverZero) {
  ComputeInstance instance = running("2026-12-01T08:00:00Z");
  instance.price_per_hour.reset();
  EXPECT_EQ(cost_of(instance, at("2026-12-01T10:00:00Z")), std::nullopt);
  EXPECT_TRUE(shown(instance, at("2026-12-01T10:00:00Z")).at("cost").is_null());
}

TEST(Instance, ItsTimeToLiveEndsItAsItWasAskedTo) {
  ComputeInstance instance = running("2026-12-01T08:00:00Z");
  instance.expires_at = at("2026-12-01T16:00:00Z");
  EXPECT_FALSE(due(instance, at("2026-12-01T15:59:59Z")));
  const auto end = due(instance, at("2026-12-01T16:00:00Z"));
  ASSERT_TRUE(end);
  EXPECT_EQ(end->action, DueAction::remove);
  instance.at_end = AtEnd::stop;
  EXPECT_EQ(due(instance, at("2026-12-01T16:00:00Z"))->action, DueAction::stop);
  instance.state = InstanceState::stopped;  // and once it is stopped nothing is left to do
  EXPECT_FALSE(due(instance, at("2026-12-02T16:00:00Z")));
}

TEST(Instance, ATakingDownThatFailedIsTriedAgainAfterAWhile) {
  ComputeInstance instance = running("2026-12-01T08:00:00Z");
  instance.expires_at = at("2026-12-01T16:00:00Z");
  instance.state = InstanceState::failed;
  instance.last_run = InstanceRun{"destroy",
                                  at("2026-12-01T16:00:00Z"),
                                  at("2026-12-01T16:01:00Z"),
                                  "failed",
                                  "no such host",
                                  0,
                                  0};
  EXPECT_FALSE(due(instance, at("2026-12-01T16:10:59Z")));
  EXPECT_TRUE(due(instance, at("2026-12-01T16:11:00Z")));
}

TEST(Instance, ItsScheduleStopsItInTheEveningAndStartsItInTheMorning) {
  ComputeInstance instance = running("2026-12-01T09:00:00Z");  // a Tuesday; Berlin is an hour ahead
  instance.schedule = office_hours();
  EXPECT_FALSE(due(instance, at("2026-12-01T17:59:00Z")));
  EXPECT_EQ(due(instance, at("2026-12-01T18:00:00Z"))->action, DueAction::stop);
  instance.state = InstanceState::stopped;
  instance.schedule_seen = at("2026-12-01T18:00:10Z");
  EXPECT_FALSE(due(instance, at("2026-12-02T06:59:00Z")));
  EXPECT_EQ(due(instance, at("2026-12-02T07:00:00Z"))->action, DueAction::start);
}

TEST(Instance, OfAScheduleThatNobodyWatchedOnlyTheLastWordCounts) {
  ComputeInstance instance = running("2026-12-01T09:00:00Z");
  instance.schedule = office_hours();
  // over a weekend: Friday's stop, not Friday's start
  EXPECT_EQ(due(instance, at("2026-12-06T12:00:00Z"))->action, DueAction::stop);
  // until Monday: it should run, and does
  EXPECT_FALSE(due(instance, at("2026-12-07T07:30:00Z")));
}

TEST(Instance, WhoeverStartsItInTheEveningIsNotStoppedByThePastEvening) {
  ComputeInstance instance = running("2026-12-01T09:00:00Z");
  instance.schedule = office_hours();
  instance.schedule_seen = at("2026-12-01T20:00:00Z");  // started by hand then
  EXPECT_FALSE(due(instance, at("2026-12-01T21:00:00Z")));
  EXPECT_EQ(due(instance, at("2026-12-02T18:00:00Z"))->action, DueAction::stop);
}

TEST(Instance, NothingIsDueWhileItsTemplateIsAtWork) {
  ComputeInstance instance = running("2026-12-01T08:00:00Z");
  instance.expires_at = at("2026-12-01T09:00:00Z");
  for (const InstanceState state : {InstanceState::launching, InstanceState::stopping,
                                    InstanceState::starting, InstanceState::deleting}) {
    instance.state = state;
    EXPECT_FALSE(due(instance, at("2026-12-03T00:00:00Z"))) << name(state);
  }
}

TEST(InstanceLimits, EveryLimitThatItIsAboveIsTold) {
  InstanceLimits limits;
  limits.instances = 10;
  limits.instances_per_user = 2;
  limits.price_per_hour_per_user = Money{4'000'000, "USD"};
  limits.time_to_live = hours(24);
  InstancesHeld held;
  held.instances = 10;
  held.instances_of_owner = 1;
  held.prices_of_owner = {Money{3'000'000, "USD"}};
  const auto above = beyond(limits, held, {"ada", Money{2'000'000, "USD"}, std::nullopt});
  EXPECT_THAT(above,
              testing::ElementsAre("the project may have 10 instances, and has 10",
                                   "ada may spend 4 USD an hour; with this it would be 5 USD",
                                   "an instance may live 1d, and this one has no end"));
}

TEST(InstanceLimits, AtALimitIsWithinIt) {
  InstanceLimits limits;
  limits.instances_per_user = 2;
  limits.price_per_hour = Money{5'000'000, "USD"};
  limits.time_to_live = hours(8);
  InstancesHeld held;
  held.instances_of_owner = 1;
  held.prices = {Money{3'000'000, "USD"}};
  EXPECT_TRUE(beyond(limits, held, {"ada", Money{2'000'000, "USD"}, hours(8)}).empty());
  EXPECT_EQ(beyond(limits, held, {"ada", Money{2'000'001, "USD"}, hours(8)}).size(), 1U);
}

TEST(InstanceLimits, WhatIsNotKnownIsAboveALimitOnPrices) {
  InstanceLimits limits;
  limits.price_per_hour = Money{5'000'000, "USD"};
  EXPECT_EQ(beyond(limits, {}, {"ada", std::nullopt, hours(1)}).size(), 1U);
  InstancesHeld held;
  held.prices = {std::nullopt};
  EXPECT_EQ(beyond(limits, held, {"ada", Money{1, "USD"}, hours(1)}).size(), 1U);
  held.prices = {Money{1, "EUR"}};
  EXPECT_EQ(beyond(limits, held, {"ada", Money{1, "USD"}, hours(1)}).size(), 1U);
}

TEST(InstanceLimits, WithoutLimitsNothingIsAbove) {
  EXPECT_TRUE(
      beyond({}, {1000, 1000, {std::nullopt}, {}}, {"ada", std::nullopt, std::nullopt}).empty());
}

TEST(InstanceLimits, WhatIsStoredIsReadBack) {
  InstanceLimits limits{3, 1, Money{5'500'000, "EUR"}, std::nullopt, hours(72), true};
  const auto read = instance_limits_from_json(to_json(limits));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, limits);
  EXPECT_EQ(*instance_limits_from_json(to_json(InstanceLimits{})), InstanceLimits{});
}

}  // namespace
}  // namespace exa
