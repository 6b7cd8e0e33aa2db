#include "resolve/suggest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profile/validate.h"
#include "resolve/samples_for_test.h"

namespace exa {
namespace {

using namespace sample;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> names_of(const std::vector<Suggestion>& list) {
  std::vector<std::string> names;
  for (const Suggestion& suggestion : list) names.push_back(suggestion.name);
  return names;
}

TEST(Suggest, ProposesWholeHalfAndSingleLessOverhead) {
  const auto list = suggest(inventory({node("n1", {cards("A100-SXM4-80GB", 8)})}));
  EXPECT_THAT(names_of(list),
              ElementsAre("a100-sxm4-80gb-x8", "a100-sxm4-80gb-x4", "a100-sxm4-80gb-x1"));
  EXPECT_EQ(list[0].shape.cpu_milli, 63'000);
  EXPECT_EQ(list[0].shape.memory_bytes, 243 * kGiB);  // 256 less 5 %
  EXPECT_EQ(list[1].shape.gpu_count, 4);
  EXPECT_EQ(list[1].shape.cpu_milli, 31'000);
  EXPECT_EQ(list[2].shape.cpu_milli, 7'000);
  EXPECT_EQ(list[2].shape.memory_bytes, 30 * kGiB);
  EXPECT_THAT(list[0].why, HasSubstr("1 usable node has 8 × A100-SXM4-80GB, at least 64 cores"));
}

TEST(Suggest, EveryNodeOfAKindCanHoldWhatIsProposed) {
  Node small = node("n2", {cards("A100", 8)});
  small.cpu_milli = 32'000;
  const auto list = suggest(inventory({node("n1", {cards("A100", 8)}), small}));
  EXPECT_EQ(list[0].shape.cpu_milli, 31'000);
}

TEST(Suggest, WhatANodeDoesNotSayIsNotAskedFor) {
  Node silent = node("n1", {cards("", 2)});
  silent.cpu_milli.reset();
  const auto list = suggest(inventory({silent}));
  ASSERT_THAT(names_of(list), ElementsAre("nvidia-x2", "nvidia-x1"));
  EXPECT_EQ(list[0].shape.cpu_milli, 0);
  EXPECT_EQ(list[0].shape.accelerator_model_hint, "");
}

TEST(Suggest, MigInstancesAreProposedOneByOne) {
  CardSet set = cards("A100-SXM4-80GB", 2);
  set.offers = {offer(Sharing::mig, 7, 7, "1g.10gb"), offer(Sharing::whole, 1, 1)};
  EXPECT_THAT(names_of(suggest(inventory({node("n1", {set})}))),
              ElementsAre("a100-sxm4-80gb-x1", "a100-sxm4-80gb-1g-10gb"));
}

TEST(Suggest, UnusableNodesAndSharesProposeNothing) {
  CardSet set = cards("A10G", 1);
  set.offers = {offer(Sharing::time_slice, 4, 4)};
  EXPECT_THAT(suggest(inventory(
                  {with_health(node("n1", {cards("A100", 8)}), Health::down), node("n2", {set})})),
              IsEmpty());
}

TEST(Suggest, CpuNodesAreProposedWholeAndHalf) {
  EXPECT_THAT(names_of(suggest(inventory({node("n1")}))), ElementsAre("cpu-63c", "cpu-31c"));
}

TEST(Suggest, EverySuggestionIsAProfileThatResolvesAsItStands) {
  CardSet strange = cards("evil\x1b[2J model", 3);
  CardSet sliced = cards("H100-SXM5-80GB", 8);
  sliced.offers = {offer(Sharing::mig, 56, 3, "1g.10gb"), offer(Sharing::mig, 4, 4, "9g.99gb")};
  Node tiny = node("n7");
  tiny.cpu_milli = 2'000;
  tiny.memory_bytes = kGiB / 2;
  const Inventory seen = inventory(
      {node("n1", {cards("A100-SXM4-80GB", 8)}), node("n2", {cards("MI300X", 7, Family::amd)}),
       node("n3", {strange}), node("n4", {sliced}),
       node("n5", {cards("gaudi2", 8, Family::intel_gaudi)}), node("n6"), tiny});
  const auto list = suggest(seen);
  EXPECT_GT(list.size(), 8U);
  std::vector<std::string> names = names_of(list);
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::unique(names).begin(), names.end());
  for (const Suggestion& suggestion : list) {
    EXPECT_TRUE(check_name(suggestion.name, "profile name")) << suggestion.name;
    EXPECT_EQ(read_shape(shape_to_json(suggestion.shape)), suggestion.shape) << suggestion.name;
    const Resolution answer = resolve_on(suggestion.shape, seen);
    EXPECT_TRUE(answer.status == Status::verified ||
                suggestion.shape.accelerator_model_hint.empty())
        << suggestion.name << ": " << answer.reason;
    EXPECT_NE(answer.status, Status::unresolvable) << suggestion.name << ": " << answer.reason;
  }
}

TEST(NeverFits, NamesProfilesThatNoNodeCanEverHold) {
  HardwareProfile fits;
  fits.name = "fits";
  fits.shape = gpus(8);
  HardwareProfile large;
  large.name = "large";
  large.version = 4;
  large.shape = gpus(16);
  const Fleet fleet = build_fleet(inventory({node("n1", {cards("A100", 8)})}));
  const std::vector<HardwareProfile> profiles = {fits, large};
  const auto never = never_fits(profiles, {&fleet, "snap-1", kNow, false}, "hpc", kNow);
  ASSERT_EQ(never.size(), 1U);
  EXPECT_EQ(never[0].name, "large");
  EXPECT_EQ(never[0].version, 4);
  EXPECT_THAT(never[0].reason, HasSubstr("gpu_count: 16 asked"));
}

}  // namespace
}  // namespace exa
