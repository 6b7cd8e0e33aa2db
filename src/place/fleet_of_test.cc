// Which nodes of an inventory can be placed on, and what is said of the others.
#include "place/fleet_of.h"

#include <gmock/gmock.h>

#include "base/quantity.h"
#include "place/device_placer.h"

namespace exa {
namespace {

Node a_usable_node(std::string name) {
  Node node;
  node.name = std::move(name);
  node.health = Health::usable;
  node.cpu_milli = 64'000;
  node.cpu_free_milli = 32'000;
  node.memory_bytes = 256 * kGiB;
  node.memory_free_bytes = 100 * kGiB;
  return node;
}

CardSet whole_cards(std::string model, int64_t units, std::optional<int64_t> free) {
  CardSet cards;
  cards.family = Family::nvidia;
  cards.reported = cards.model = std::move(model);
  cards.physical = units;
  Offer offer;
  offer.units = units;
  offer.free = free;
  cards.offers = {offer};
  return cards;
}

TEST(FleetOf, TakesWhatIsFreeAndWhatTheCatalogueKnows) {
  Node node = a_usable_node("a");
  node.cards = {whole_cards("H100-SXM5-80GB", 8, 3)};
  node.labels = {{"other", "x"}, {"palette.ai.rg/region/us-west", "zone-a"}};
  node.partitions = {"gpu"};
  const auto reading = fleet_of({.nodes = {node}});
  ASSERT_TRUE(reading);
  EXPECT_TRUE(reading->left_out.empty());
  EXPECT_EQ(reading->fleet.capacity_milli(), 8000);
  EXPECT_EQ(reading->fleet.free_milli(), 3000);
  EXPECT_EQ(reading->fleet.state(0).cpu_free, 32'000);
  const DeviceKind& kind = reading->fleet.kind_of(0);
  EXPECT_THAT(kind.capabilities, testing::Contains("fp8"));
  EXPECT_THAT(kind.groups,
              testing::ElementsAre("partition/gpu", "region/us-west", "region/us-west=zone-a"));
}

TEST(FleetOf, NoNodeIsPlacedOnByGuess) {
  std::vector<Node> nodes(8, a_usable_node("x"));
  const std::vector<std::string> names = {"cpu", "drained", "free",  "memory",
                                          "mig", "mixed",   "taint", "unread"};
  for (size_t i = 0; i < nodes.size(); ++i) nodes[i].name = names[i];
  nodes[0].cpu_free_milli.reset();
  nodes[1].health = Health::drained;
  nodes[1].reason = "fan";
  nodes[2].cards = {whole_cards("T4", 4, std::nullopt)};
  nodes[3].memory_bytes.reset();
  nodes[4].cards = {whole_cards("A100-SXM4-80GB", 7, 7)};
  nodes[4].cards[0].offers[0].sharing = Sharing::mig;
  nodes[4].cards[0].offers[0].mig_profile = "1g.10gb";
  nodes[5].cards = {whole_cards("T4", 2, 2), whole_cards("A10", 2, 2)};
  nodes[6].taints = {{"gpu", "", "NoSchedule"}};
  nodes[7].devices_unread = {Family::amd};
  const auto reading = fleet_of({.nodes = nodes});
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->fleet.size(), 0U);
  EXPECT_THAT(
      reading->left_out,
      testing::ElementsAre(LeftOutNode{"cpu", "how much cpu is free is not reported"},
                           LeftOutNode{"drained", "it is drained: fan"},
                           LeftOutNode{"free", "how many of its devices are free is not reported"},
                           LeftOutNode{"memory", "how much memory is free is not reported"},
                           LeftOutNode{"mig", "its cards are offered as mig only"},
                           LeftOutNode{"mixed", "it has cards of several models: T4 and A10"},
                           LeftOutNode{"taint", "it is tainted gpu:NoSchedule"},
                           LeftOutNode{"unread", "it may have devices that were not read"}));
}

TEST(FleetOf, AnAskIsPlacedOnADiscoveredCluster) {
  Node small = a_usable_node("small");
  small.cards = {whole_cards("A100-SXM4-80GB", 2, 1)};
  Node large = a_usable_node("large");
  large.cards = {whole_cards("A100-SXM4-80GB", 8, 8)};
  auto reading = fleet_of({.nodes = {small, large}});
  ASSERT_TRUE(reading);
  DevicePlacer placer(reading->fleet, make_policy(kDefaultPolicy).value());
  DeviceAsk ask;
  ask.devices = 1;
  ask.cpu_milli = 8000;
  ask.models = {"A100"};
  const auto placed = placer.place(placer.prepare(ask).value());
  ASSERT_TRUE(placed);
  EXPECT_EQ(reading->fleet.name(placed->nodes[0].node), "small");
}

}  // namespace
}  // namespace exa
