// Gangs, groups, MIG instances, order of nodes, learning: what a placer promises beside price.
#include "place/device_placer.h"

#include <random>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "place/place_samples_for_test.h"

namespace exa {
namespace {

using sample::DeviceCases;
using testing::ElementsAre;
using testing::HasSubstr;

DeviceNode a_node(std::string name, int64_t cards, int64_t cores = 96) {
  DeviceNode node;
  node.name = std::move(name);
  node.model = cards > 0 ? "A100-SXM4-80GB" : "";
  node.cards = cards;
  node.cpu_milli = node.cpu_free_milli = cores * 1000;
  node.memory_bytes = node.memory_free_bytes = 256 * kGiB;
  return node;
}

DeviceAsk an_ask(int64_t devices, int64_t share = 1000, int64_t cores = 4) {
  DeviceAsk ask;
  ask.devices = devices;
  ask.share_milli = share;
  ask.cpu_milli = cores * 1000;
  return ask;
}

struct Stage {
  explicit Stage(std::vector<DeviceNode> nodes, std::string_view policy = "exa")
      : fleet(DeviceFleet::build(std::move(nodes)).value()),
        placer(fleet, make_policy(policy).value(), {}) {}

  std::optional<DeviceAssignment> place(const DeviceAsk& ask) {
    return placer.place(placer.prepare(ask).value());
  }
  NodeRefusals refusals(const DeviceAsk& ask) {
    return placer.refusals(placer.prepare(ask).value());
  }
  std::vector<std::string> names(const DeviceAssignment& assignment) const {
    std::vector<std::string> names;
    for (const NodeShare& share : assignment.nodes) names.emplace_back(fleet.name(share.node));
    return names;
  }

  DeviceFleet fleet;
  DevicePlacer placer;
};

class EveryPolicy : public testing::TestWithParam<std::string_view> {};
INSTANTIATE_TEST_SUITE_P(Policies, EveryPolicy, testing::ValuesIn(policy_names()),
                         [](const auto& policy) {
                           std::string name(policy.param);
                           std::erase(name, '-');
                           return name;
                         });

TEST_P(EveryPolicy, AGangGetsAllItsNodesOrNone) {
  Stage stage({a_node("a", 4), a_node("b", 4), a_node("c", 2)}, GetParam());
  DeviceAsk gang = an_ask(4);
  gang.nodes = 3;
  EXPECT_FALSE(stage.place(gang));
  EXPECT_EQ(stage.fleet.free_milli(), 10'000);
  gang.nodes = 2;
  const auto placed = stage.place(gang);
  ASSERT_TRUE(placed);
  EXPECT_THAT(stage.names(*placed), testing::UnorderedElementsAre("a", "b"));
  EXPECT_EQ(stage.fleet.free_milli(), 2'000);
  EXPECT_FALSE(stage.place(gang));
  ASSERT_TRUE(stage.fleet.release(*placed));
  EXPECT_EQ(stage.fleet.free_milli(), 10'000);
  EXPECT_TRUE(stage.place(gang));
}

TEST_P(EveryPolicy, AGangUsesDistinctNodesEvenWhereOneCouldHoldIt) {
  Stage stage({a_node("a", 8), a_node("b", 8)}, GetParam());
  DeviceAsk gang = an_ask(1, 500);
  gang.nodes = 2;
  for (int i = 0; i < 8; ++i) {
    const auto placed = stage.place(gang);
    ASSERT_TRUE(placed);
    EXPECT_NE(placed->nodes[0].node, placed->nodes[1].node);
  }
}

TEST_P(EveryPolicy, AShareIsNeverSplitOverCards) {
  Stage stage({a_node("a", 2)}, GetParam());
  ASSERT_TRUE(stage.place(an_ask(1, 600)));
  ASSERT_TRUE(stage.place(an_ask(1, 600)));
  EXPECT_EQ(stage.fleet.free_milli(), 800);
  EXPECT_FALSE(stage.place(an_ask(1, 401)));
  EXPECT_TRUE(stage.place(an_ask(1, 400)));
  EXPECT_FALSE(stage.place(an_ask(1, 1000)));
}

TEST_P(EveryPolicy, ARequiredGroupIsKeptAndAPreferredOneIsTriedFirst) {
  std::vector<DeviceNode> nodes = {a_node("a", 1), a_node("b", 1), a_node("c", 1)};
  nodes[2].groups = {"rack/7", "site/x"};
  Stage stage(nodes, GetParam());
  DeviceAsk ask = an_ask(1);
  ask.group = "rack/7";
  const auto placed = stage.place(ask);
  ASSERT_TRUE(placed);
  EXPECT_THAT(stage.names(*placed), ElementsAre("c"));
  EXPECT_TRUE(stage.place(ask)) << "only preferred: another node will do";
  ask.group_required = true;
  EXPECT_FALSE(stage.place(ask));
  EXPECT_EQ(stage.refusals(ask).group, 2);
}

// The same nodes in any order, and the same calls: the same names.
TEST_P(EveryPolicy, TheOrderOfNodesAndARestartDoNotChangeAnyAnswer) {
  const uint64_t seed = std::random_device{}();
  for (uint64_t i = 0; i < 60; ++i) {
    SCOPED_TRACE(testing::Message() << "seed " << seed + i);
    DeviceCases cases(seed + i);
    std::vector<DeviceNode> nodes = cases.nodes(20, true);
    std::vector<DeviceAsk> asks;
    for (int n = 0; n < 40; ++n) asks.push_back(cases.ask(true));
    Stage one(nodes, GetParam());
    std::shuffle(nodes.begin(), nodes.end(), std::mt19937_64(seed));
    Stage two(nodes, GetParam());
    for (const DeviceAsk& ask : asks) {
      const auto a = one.place(ask);
      const auto b = two.place(ask);
      ASSERT_EQ(a.has_value(), b.has_value());
      if (!a) continue;
      ASSERT_EQ(one.names(*a), two.names(*b));
      for (size_t n = 0; n < a->nodes.size(); ++n) {
        ASSERT_EQ(a->nodes[n].cards, b->nodes[n].cards);
        ASSERT_EQ(a->nodes[n].starts, b->nodes[n].starts);
      }
    }
    if (GetParam() == "random") continue;  // its next draw is part of its state
    // restart: what is free is read back, the mix is kept
    std::vector<DeviceNode> kept;
    for (uint32_t n = 0; n < one.fleet.size(); ++n) {
      auto node = *std::ranges::find(nodes, one.fleet.name(n), &DeviceNode::name);
      node.cpu_free_milli = one.fleet.state(n).cpu_free;
      node.memory_free_bytes = one.fleet.state(n).memory_free;
      node.free.assign(one.fleet.cards(n).begin(), one.fleet.cards(n).end());
      kept.push_back(std::move(node));
    }
    DeviceFleet fleet = DeviceFleet::build(kept).value();
    DevicePlacer again(fleet, make_policy(GetParam()).value(), {one.placer.mix(), false, 0});
    DevicePlacer before(one.fleet, make_policy(GetParam()).value(), {one.placer.mix(), false, 0});
    for (const DeviceAsk& ask : asks) {
      const auto a = before.place(before.prepare(ask).value());
      const auto b = again.place(again.prepare(ask).value());
      ASSERT_EQ(a.has_value(), b.has_value());
      if (!a) continue;
      ASSERT_EQ(a->nodes[0].node, b->nodes[0].node);
    }
  }
}

TEST(DevicePlacer, MigInstancesArePackedBySlicesOfComputeAndMemory) {
  DeviceNode node = a_node("a", 1);
  node.mig = true;
  Stage stage({node});
  DeviceAsk half = an_ask(1);
  half.mig = MigSlices{3, 4};
  ASSERT_TRUE(stage.place(half));
  ASSERT_TRUE(stage.place(half));
  // one compute slice is left, but no memory for it
  DeviceAsk small = an_ask(1);
  small.mig = MigSlices{1, 1};
  EXPECT_FALSE(stage.place(small));
  EXPECT_EQ(stage.refusals(small).devices, 1);
  EXPECT_FALSE(stage.place(an_ask(1, 500))) << "no fraction of a card in MIG mode";
  EXPECT_EQ(stage.refusals(an_ask(1, 500)).mode, 1);
}

TEST(DevicePlacer, SevenSmallInstancesFillACardAndTwoCardsTakeFourteen) {
  DeviceNode node = a_node("a", 2);
  node.mig = true;
  Stage stage({node});
  DeviceAsk seven = an_ask(7, 1000, 1);
  seven.mig = MigSlices{1, 1};
  const auto first = stage.place(seven);
  ASSERT_TRUE(first);
  EXPECT_EQ(std::set<uint8_t>(first->nodes[0].cards.begin(), first->nodes[0].cards.begin() + 7),
            std::set<uint8_t>({0}))
      << "one card is filled before the next is opened";
  const auto second = stage.place(seven);
  ASSERT_TRUE(second);
  seven.devices = 1;
  EXPECT_FALSE(stage.place(seven));
  ASSERT_TRUE(stage.fleet.release(*first));
  EXPECT_TRUE(stage.place(seven));
}

TEST(DevicePlacer, RefusalsTellNeverFromNotNow) {
  Stage stage({a_node("a", 2), a_node("b", 1), a_node("c", 0)});
  ASSERT_TRUE(stage.place(an_ask(2)));
  ASSERT_TRUE(stage.place(an_ask(1)));
  const NodeRefusals why = stage.refusals(an_ask(2));
  EXPECT_EQ(why.nodes, 3);
  EXPECT_EQ(why.fit, 0);
  EXPECT_EQ(why.devices, 3);
  EXPECT_EQ(why.never, 2);
  DeviceAsk other = an_ask(1);
  other.models = {"H100"};
  EXPECT_EQ(stage.refusals(other).model, 3);
}

TEST(DevicePlacer, AHintNamesEveryModelThatBearsItOut) {
  Stage stage({a_node("a", 1)});
  DeviceAsk ask = an_ask(1);
  ask.models = {"A10"};
  EXPECT_FALSE(stage.place(ask)) << "A10 is not A100";
  ask.models = {"A10", "A100"};
  EXPECT_TRUE(stage.place(ask));
}

TEST(DevicePlacer, EverythingWrongWithAnAskIsSaidAtOnce) {
  Stage stage({a_node("a", 1)});
  DeviceAsk ask;
  ask.nodes = 0;
  ask.devices = -1;
  ask.share_milli = 1001;
  ask.cpu_milli = -5;
  ask.group_required = true;
  const auto refused = stage.placer.prepare(ask);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().problems.size(), 5U);
}

TEST(DevicePlacer, AnUnknownPolicyIsRefusedWithASuggestion) {
  const auto refused = make_policy("best-fitt");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().problems.front().suggestion, HasSubstr("best-fit"));
}

TEST(DeviceFleet, EveryBadNodeIsNamed) {
  DeviceNode many = a_node("many", 17);
  DeviceNode negative = a_node("negative", 1);
  negative.cpu_milli = -1;
  DeviceNode more = a_node("more", 1);
  more.cpu_free_milli = more.cpu_milli + 1;
  const auto refused =
      DeviceFleet::build({many, negative, more, a_node("twice", 1), a_node("twice", 2)});
  ASSERT_FALSE(refused);
  std::set<std::string> named;
  for (const Problem& problem : refused.error().problems) named.insert(problem.where);
  EXPECT_THAT(named, ElementsAre("node many", "node more", "node negative", "node twice"));
}

TEST(DeviceFleet, TakesAllOfAnAssignmentOrNothing) {
  DeviceFleet fleet = DeviceFleet::build({a_node("a", 1), a_node("b", 1)}).value();
  DeviceAssignment both;
  both.cpu_milli = 1000;
  both.share_milli = 600;
  both.nodes = {{.node = 0, .count = 1}, {.node = 1, .count = 1}};
  EXPECT_TRUE(fleet.take(both));
  EXPECT_FALSE(fleet.take(both));
  EXPECT_EQ(fleet.free_milli(), 800);
  DeviceAssignment twice = both;
  twice.share_milli = 100;
  twice.nodes[1].node = 0;
  EXPECT_FALSE(fleet.take(twice)) << "one node twice";
  EXPECT_TRUE(fleet.release(both));
  EXPECT_FALSE(fleet.release(both)) << "there is not that much to give back";
  EXPECT_EQ(fleet.free_milli(), 2000);
}

// A class that lives long and sees many nodes come and go does not grow.
TEST(DeviceFleet, MemoryDoesNotGrowWithTakingAndGivingBack) {
  std::vector<DeviceNode> nodes;
  for (int i = 0; i < 50; ++i) nodes.push_back(a_node("n" + std::to_string(i), 4));
  Stage stage(nodes, "spread");
  const uint32_t ask = stage.placer.prepare(an_ask(1)).value();
  size_t bytes = 0;
  for (int i = 0; i < 20'000; ++i) {
    ASSERT_TRUE(stage.fleet.release(*stage.placer.place(ask)));
    if (i == 10'000) bytes = stage.fleet.bytes() + stage.placer.bytes();
  }
  EXPECT_LE(stage.fleet.bytes() + stage.placer.bytes(), bytes + bytes / 4);
}

}  // namespace
}  // namespace exa
