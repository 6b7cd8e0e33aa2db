#include "cli/agent.h"

#include <gtest/gtest.h>

namespace exa {
namespace {

Inventory one_node(Node node) {
  node.health = Health::usable;
  Inventory inventory;
  inventory.nodes.push_back(std::move(node));
  return inventory;
}

TEST(Agent, ReportsWhatTheProbeCounted) {
  Node node;
  node.name = "box";
  node.cpu_milli = 64'000;
  CardSet cards;
  cards.family = Family::nvidia;
  cards.model = "A100-SXM4-80GB";
  cards.physical = 8;
  cards.memory_bytes = int64_t{80} << 30;
  node.cards.push_back(cards);
  const MachineReport report = report_of_host(one_node(node), "x86_64");
  EXPECT_TRUE(report.healthy);
  EXPECT_EQ(report.architecture, "AMD64");
  EXPECT_EQ(report.cpus, 64);
  ASSERT_TRUE(report.gpus);
  EXPECT_EQ(report.gpus->at(0).count, 8);
}

TEST(Agent, DevicesThatNothingListsAreNotDetectedRatherThanNone) {
  Node node;
  node.devices_unread = {Family::nvidia};
  EXPECT_FALSE(report_of_host(one_node(node), "x86_64").gpus);
  EXPECT_TRUE(report_of_host(one_node(Node{}), "x86_64").gpus);
}

TEST(Agent, ACardThatIsNotAsItSeemsMakesTheMachineUnhealthy) {
  Node node;
  CardSet cards;
  cards.family = Family::nvidia;
  cards.reported = "NVIDIA H100";
  cards.physical = 8;
  cards.remark = "1 of 8 unhealthy";
  node.cards.push_back(cards);
  const MachineReport report = report_of_host(one_node(node), "x86_64");
  EXPECT_FALSE(report.healthy);
  EXPECT_EQ(report.reason, "NVIDIA H100: 1 of 8 unhealthy");
}

TEST(Agent, ItsIdTellsNobodyTheMachineId) {
  const std::string id = machine_id_of("4c0f5d1b9e8a4f0c9d3e2b1a00112233");
  EXPECT_EQ(id.size(), 37U);
  EXPECT_TRUE(id.starts_with("edge-"));
  EXPECT_EQ(id.find("4c0f5d1b"), std::string::npos);
  EXPECT_EQ(id, machine_id_of("4c0f5d1b9e8a4f0c9d3e2b1a00112233"));
}

}  // namespace
}  // namespace exa
