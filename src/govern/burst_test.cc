#include "govern/burst.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "govern/permit.h"

namespace exa {
namespace {

using testing::HasSubstr;

EffectiveResidency labelled(Residency residency) {
  return {residency, "workload", {}};
}

BurstVerdict burst_to(std::string_view region, Residency residency, bool opted_in = true,
                      const BurstPolicy& policy = {}) {
  return judge_burst({"train", "cloud-a100", std::string(region), labelled(residency), opted_in},
                     policy, {});
}

TEST(Burst, TheRefusalIsTheDocumentsSentence) {
  EXPECT_EQ(message(burst_to("us", Residency::eu_only)),
            "Burst blocked: data-residency eu-only forbids egress to region 'us'");
}

// Every cell of class × place × jurisdiction, written out as the table of burst.h says it.
TEST(Burst, EveryCellOfTheTable) {
  struct Row {
    Residency residency;
    bool eu, uk, unknown;
  };
  constexpr Row kCloud[] = {{Residency::open, true, true, false},
                            {Residency::eu_only, true, false, false},
                            {Residency::no_egress, false, false, false},
                            {Residency::restricted, false, false, false}};
  constexpr Row kSite[] = {{Residency::open, true, true, true},
                           {Residency::eu_only, true, false, false},
                           {Residency::no_egress, true, true, true},
                           {Residency::restricted, true, true, true}};
  const auto allowed = [](Residency residency, bool cloud, std::optional<std::string_view> where) {
    return judge_egress({residency, cloud, where, true}, {}) == EgressRule::allowed;
  };
  for (const bool cloud : {true, false}) {
    for (const Row& row : cloud ? kCloud : kSite) {
      SCOPED_TRACE(name(row.residency));
      EXPECT_EQ(allowed(row.residency, cloud, "eu"), row.eu);
      EXPECT_EQ(allowed(row.residency, cloud, "uk"), row.uk);
      EXPECT_EQ(allowed(row.residency, cloud, std::nullopt), row.unknown);
    }
  }
}

TEST(Burst, IsOptIn) {
  EXPECT_EQ(burst_to("eu", Residency::open, false).rule, EgressRule::not_opted_in);
}

// No region outside the European Union, however it is spelt, receives eu-only data.
TEST(Burst, EuOnlyReachesEuRegionsAndNoOther) {
  for (const ShippedRegion& row : shipped_regions())
    EXPECT_EQ(burst_to(row.region, Residency::eu_only).allowed, row.jurisdiction == "eu")
        << row.region;
  for (const std::string_view outside :
       {"eu-west-2", "eu-central-2", "europe-west2", "europe-west6", "uksouth", "norwayeast",
        "switzerlandnorth", "eu-", "eu-west", "eu-west-99", "eur", "europe", " eu", "EU\n", ""})
    EXPECT_FALSE(burst_to(outside, Residency::eu_only).allowed) << outside;
  for (const std::string_view inside : {"eu", "EU", "eu-west-1", "westeurope", "europe-west4"})
    EXPECT_TRUE(burst_to(inside, Residency::eu_only).allowed) << inside;
}

TEST(Burst, APolicyNarrowsAndNeverWidens) {
  BurstPolicy policy;
  policy.narrowed = {{Residency::open, {"eu", "uk"}}};
  EXPECT_TRUE(burst_to("eu-west-2", Residency::open, true, policy).allowed);
  const BurstVerdict narrowed = burst_to("us-east-1", Residency::open, true, policy);
  EXPECT_EQ(narrowed.rule, EgressRule::narrowed);
  EXPECT_EQ(narrowed.reason,
            "the burst policy lets data-residency open go to eu, uk only, not to region "
            "'us-east-1'");
  // even a policy that was never checked cannot widen
  policy.narrowed = {{Residency::eu_only, {"us"}}, {Residency::restricted, {"us", "eu"}}};
  EXPECT_FALSE(burst_to("us", Residency::eu_only, true, policy).allowed);
  EXPECT_FALSE(burst_to("eu", Residency::restricted, true, policy).allowed);
  EXPECT_EQ(problems_of_policy(policy).size(), 2U);
  policy = {};
  policy.cloud = false;
  EXPECT_EQ(burst_to("eu", Residency::open, true, policy).rule, EgressRule::cloud_off);
}

TEST(Burst, OnlyOpenDataCanBeLetGoToUnknownRegions) {
  BurstPolicy policy;
  policy.open_to_unknown = true;
  EXPECT_TRUE(burst_to("mars-1", Residency::open, true, policy).allowed);
  EXPECT_FALSE(burst_to("mars-1", Residency::eu_only, true, policy).allowed);
  policy.narrowed = {{Residency::open, {"eu"}}};
  EXPECT_FALSE(burst_to("mars-1", Residency::open, true, policy).allowed);
  EXPECT_THAT(message(burst_to("", Residency::open)), HasSubstr("a region that is not named"));
}

TEST(Burst, APolicyIsReadBackFromItsJsonAndEveryProblemIsSaid) {
  BurstPolicy policy;
  policy.narrowed = {{Residency::open, {"eu", "ch"}}, {Residency::eu_only, {"eu"}}};
  policy.unlabelled = Residency::eu_only;
  policy.revision = 7;
  EXPECT_EQ(read_policy(to_json(policy)), policy);
  const auto bad = read_policy(json::object{{"cluod", true},
                                            {"unlabelled", "eu"},
                                            {"narrowed", {{"eu-only", {"us"}}, {"opne", {"eu"}}}}});
  ASSERT_FALSE(bad.has_value());
  EXPECT_EQ(bad.error().problems.size(), 4U);
  EXPECT_EQ(bad.error().problems[1].suggestion, "did you mean open?");
}

TEST(Residency, TheStrictestDecidesAndAnUnknownClassIsRestricted) {
  using Claims = std::vector<ResidencyClaim>;
  EXPECT_EQ(effective_residency(Claims{}), (EffectiveResidency{Residency::open, "default", ""}));
  EXPECT_EQ(effective_residency(
                Claims{{"project", "open"}, {"dataset", "no-egress"}, {"workload", "eu-only"}}),
            (EffectiveResidency{Residency::no_egress, "dataset", ""}));
  EXPECT_EQ(effective_residency(Claims{{"project", ""}, {"workload", "eu_only"}}),
            (EffectiveResidency{Residency::restricted, "workload", "eu_only"}));
  EXPECT_EQ(effective_residency(Claims{{"workload", "EU-ONLY"}}).residency, Residency::restricted);
  // a workload cannot loosen what its project says
  for (const std::string& mine : residency_names())
    for (const std::string& theirs : residency_names())
      EXPECT_GE(effective_residency(Claims{{"workload", mine}, {"project", theirs}}).residency,
                *find_residency(theirs));
}

TEST(Jurisdiction, TheShippedTableIsSortedUniqueAndWellFormed) {
  const auto rows = shipped_regions();
  EXPECT_TRUE(std::ranges::is_sorted(rows, {}, &ShippedRegion::region));
  EXPECT_EQ(std::ranges::adjacent_find(rows, {}, &ShippedRegion::region), rows.end());
  for (const ShippedRegion& row : rows) {
    EXPECT_TRUE(is_jurisdiction_code(row.jurisdiction)) << row.region;
    EXPECT_EQ(jurisdiction_of({}, row.region), row.jurisdiction);
  }
}

TEST(Jurisdiction, AnAdminsRowsComeFirst) {
  auto table = with_region({}, "On-Prem-1", "EU");
  table = with_region(*table, "eu-west-1", "");
  EXPECT_EQ(jurisdiction_of(*table, "on-prem-1"), "eu");
  EXPECT_EQ(jurisdiction_of(*table, "eu-west-1"), std::nullopt);  // declared unknown
  EXPECT_EQ(jurisdiction_of(*without_region(*table, "eu-west-1"), "eu-west-1"), "eu");
  EXPECT_EQ(without_region({}, "eu-west-1").error().code, Code::not_found);
  EXPECT_EQ(with_region({}, "", "e!").error().problems.size(), 2U);
}

TEST(Permit, IsMadeFromAnAllowedVerdictAlone) {
  const Time now{1'800'000'000'000'000};
  EXPECT_EQ(issue_permit(burst_to("us", Residency::eu_only), "p1", now).error().code,
            Code::blocked);
  const auto permit = issue_permit(burst_to("eu", Residency::eu_only), "p1", now);
  ASSERT_TRUE(permit.has_value());
  EXPECT_EQ(permit_from_json(to_json(*permit)), *permit);
  EXPECT_EQ(permit_from_json({}).error().code, Code::store_damaged);
}

TEST(Permit, CoversOneLaunchForAShortTime) {
  const Time now{1'800'000'000'000'000};
  const BurstVerdict verdict = burst_to("eu", Residency::eu_only);
  const BurstPermit permit = *issue_permit(verdict, "p1", now);
  EXPECT_TRUE(check_permit(permit, verdict, now).has_value());
  EXPECT_TRUE(check_permit(permit, verdict, now + minutes(4)).has_value());
  EXPECT_FALSE(check_permit(permit, verdict, now + minutes(5)).has_value());
  EXPECT_FALSE(check_permit(permit, verdict, Time{now.micros - 1}).has_value());
  BurstVerdict other = burst_to("us", Residency::eu_only);
  other.policy_revision = 1;
  other.workload = "another";
  const auto refused = check_permit(permit, other, now);
  EXPECT_EQ(refused.error().code, Code::blocked);
  EXPECT_EQ(refused.error().problems.size(), 4U);  // blocked, workload, region, revision
}

}  // namespace
}  // namespace exa
