#include "hardware/inventory_json.h"

#include <gmock/gmock.h>

namespace exa {
namespace {

TEST(InventoryJson, WhatWasNotReadIsKept) {
  Inventory inventory;
  Node node;
  node.name = "n1";
  node.devices_unread = {Family::amd, Family::tpu};
  CardSet cards;
  cards.family_unread = true;
  cards.reported = "w7900";
  cards.offers_unread = {Sharing::whole, Sharing::mig};
  node.cards = {cards};
  inventory.nodes = {node};
  EXPECT_EQ(inventory_from_json(to_json(inventory)), inventory);
}

TEST(InventoryJson, ASnapshotThatKnowsNoUnreadFactsHasNone) {
  const auto read = inventory_from_json(json::parse(
      R"({"kind":"host","nodes":[{"name":"n1","health":"usable","cards":[{"family":"other","offers":[]}]}]})"));
  ASSERT_TRUE(read);
  EXPECT_FALSE(read->nodes[0].cards[0].family_unread);
  EXPECT_TRUE(read->nodes[0].cards[0].offers_unread.empty());
  EXPECT_TRUE(read->nodes[0].devices_unread.empty());
}

TEST(InventoryJson, AWordThatIsNotKnownIsNamed) {
  const auto read = inventory_from_json(json::parse(
      R"({"kind":"host","nodes":[{"name":"n1","health":"usable","devices_unread":["gpus"]}]})"));
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, testing::HasSubstr("devices_unread"));
}

}  // namespace
}  // namespace exa
