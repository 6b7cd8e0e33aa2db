#include "place/cluster_place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace exa {
namespace {

using testing::HasSubstr;

Node gpu_node(std::string name, std::string model, int64_t units, int64_t free) {
  Node node;
  node.name = std::move(name);
  node.health = Health::usable;
  node.cpu_milli = node.cpu_free_milli = 64'000;
  node.memory_bytes = node.memory_free_bytes = int64_t{512} << 30;
  CardSet cards;
  cards.family = Family::nvidia;
  cards.model = std::move(model);
  cards.physical = units;
  cards.offers = {{Sharing::whole, "gpu", "", units, units - free, free}};
  node.cards = {cards};
  return node;
}

Inventory cluster() {
  Inventory inventory;
  inventory.nodes = {gpu_node("a", "A100-SXM4-80GB", 8, 8), gpu_node("b", "A100-SXM4-80GB", 8, 2),
                     gpu_node("h", "H100-SXM5-80GB", 4, 4)};
  inventory.nodes[1].partitions = {"small"};
  return inventory;
}

ClusterDecision placed(const Workload& workload, const ClusterPlaceOptions& options = {}) {
  return place_on_cluster(workload, "hpc", cluster(), options).value();
}

Workload of_gpus(int64_t gpus, int64_t nodes = 1) {
  Workload workload;
  workload.name = "train";
  workload.gpus = gpus;
  workload.nodes = nodes;
  return workload;
}

TEST(ClusterPlace, AGangGetsDistinctNodesOrNothing) {
  EXPECT_EQ(placed(of_gpus(2, 3)).nodes.size(), 3U);
  Workload a100 = of_gpus(2, 2);
  a100.model = "A100";
  EXPECT_EQ(placed(a100).nodes.size(), 2U);
  a100.nodes = 3;
  const ClusterDecision three = placed(a100);
  EXPECT_FALSE(three.placed());
  EXPECT_THAT(three.reason, HasSubstr("2 of 3 fit now"));
}

TEST(ClusterPlace, TheModelWantedDecides) {
  Workload h100 = of_gpus(1);
  h100.model = "H100";
  EXPECT_EQ(placed(h100).nodes.at(0).node, "h");
  h100.model = "L40S";
  const ClusterDecision none = placed(h100);
  EXPECT_TRUE(none.impossible);
  EXPECT_THAT(none.reason, HasSubstr("L40S"));
}

TEST(ClusterPlace, ARequiredGroupIsNeverLeftAPreferredOneMayBe) {
  ClusterPlaceOptions options;
  options.group = "partition/small";
  EXPECT_EQ(placed(of_gpus(2), options).nodes.at(0).node, "b");
  EXPECT_TRUE(placed(of_gpus(4), options).placed());
  options.group_required = true;
  EXPECT_FALSE(placed(of_gpus(4), options).placed());
}

TEST(ClusterPlace, WhatCannotBeJudgedIsLeftOutByName) {
  Inventory inventory = cluster();
  inventory.nodes[0].cards[0].offers[0].free.reset();
  const auto decision = place_on_cluster(of_gpus(8), "hpc", inventory, {});
  ASSERT_TRUE(decision);
  EXPECT_FALSE(decision->placed());
  EXPECT_FALSE(decision->impossible) << "the node left out might hold it";
  ASSERT_EQ(decision->left_out.size(), 1U);
  EXPECT_EQ(decision->left_out[0].name, "a");
}

TEST(ClusterPlace, EveryPolicyAnswersAndAnUnknownOneIsNamed) {
  for (const std::string_view policy : policy_names()) {
    ClusterPlaceOptions options;
    options.policy = policy;
    EXPECT_TRUE(placed(of_gpus(2), options).placed()) << policy;
  }
  ClusterPlaceOptions wrong;
  wrong.policy = "best_fit";
  const auto refused = place_on_cluster(of_gpus(1), "hpc", cluster(), wrong);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("best-fit"));
}

TEST(ClusterPlace, TheOrderOfNodesDoesNotMatter) {
  Inventory turned = cluster();
  std::ranges::reverse(turned.nodes);
  const auto there = place_on_cluster(of_gpus(2), "hpc", turned, {});
  EXPECT_EQ(to_text(*there), to_text(placed(of_gpus(2))));
}

}  // namespace
}  // namespace exa
