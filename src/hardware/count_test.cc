#include "hardware/count.h"

#include <random>

#include <gmock/gmock.h>

#include "base/quantity.h"

namespace exa {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

Offer whole(int64_t units, std::optional<int64_t> used) {
  Offer offer;
  offer.resource = "gpu";
  offer.units = units;
  offer.used = used;
  if (used) offer.free = units - *used;
  return offer;
}

Offer slices(const char* profile, int64_t units, int64_t used) {
  Offer offer = whole(units, used);
  offer.sharing = Sharing::mig;
  offer.mig_profile = profile;
  offer.resource = std::string("nvidia.com/mig-") + profile;
  return offer;
}

CardSet cards(const char* model, std::optional<int64_t> physical, std::vector<Offer> offers) {
  CardSet set;
  set.family = Family::nvidia;
  set.model = model;
  set.physical = physical;
  set.offers = std::move(offers);
  return set;
}

Node node(Health health, std::vector<CardSet> sets) {
  Node node;
  node.health = health;
  node.cpu_milli = 64'000;
  node.cpu_free_milli = 32'000;
  node.memory_bytes = 512 * kGiB;
  node.memory_free_bytes = 256 * kGiB;
  node.cards = std::move(sets);
  return node;
}

CapacityCount count(std::vector<Node> nodes) {
  Inventory inventory;
  inventory.nodes = std::move(nodes);
  for (size_t i = 0; i < inventory.nodes.size(); ++i)
    inventory.nodes[i].name = "n" + std::to_string(i);
  return count_capacity(inventory);
}

TEST(Count, NothingIsZeroAndNotUnknown) {
  const CapacityCount none = count({});
  EXPECT_EQ(none.nodes, 0);
  EXPECT_EQ(none.cpu_milli, 0);
  EXPECT_THAT(none.devices, IsEmpty());
}

TEST(Count, DevicesOfOneModelAddUpOverNodes) {
  const CapacityCount total =
      count({node(Health::usable, {cards("A100-SXM4-80GB", 8, {whole(8, 3)})}),
             node(Health::usable, {cards("A100-SXM4-80GB", 4, {whole(4, 0)})})});
  ASSERT_THAT(total.devices, SizeIs(1));
  const DeviceCount& a100 = total.devices[0];
  EXPECT_EQ(a100.physical, 12);
  EXPECT_EQ(a100.units, 12);
  EXPECT_EQ(a100.usable, 12);
  EXPECT_EQ(a100.used, 3);
  EXPECT_EQ(a100.free, 9);
  EXPECT_EQ(a100.stranded, 0);
  EXPECT_EQ(a100.nodes, 2);
  EXPECT_EQ(a100.resource, "gpu");
}

TEST(Count, UnusableNodesAreCountedButAreNoCapacity) {
  for (Health health :
       {Health::draining, Health::drained, Health::down, Health::not_responding, Health::reserved,
        Health::powered_down, Health::cordoned, Health::not_ready, Health::unknown}) {
    SCOPED_TRACE(name(health));
    const CapacityCount total =
        count({node(health, {cards("H100-SXM5-80GB", 8, {whole(8, 2)})}),
               node(Health::usable, {cards("H100-SXM5-80GB", 8, {whole(8, 3)})})});
    EXPECT_EQ(total.nodes, 2);
    EXPECT_EQ(total.usable_nodes, 1);
    EXPECT_THAT(total.unusable, ElementsAre(Pair(health, 1)));
    EXPECT_EQ(total.cpu_milli, 64'000);
    EXPECT_EQ(total.memory_free_bytes, 256 * kGiB);
    const DeviceCount& h100 = total.devices[0];
    EXPECT_EQ(h100.physical, 16);
    EXPECT_EQ(h100.units, 16);
    EXPECT_EQ(h100.usable, 8);
    EXPECT_EQ(h100.used, 5);
    EXPECT_EQ(h100.free, 5);
  }
}

TEST(Count, AlternativesOfTheSameCardsAreNotAddedUp) {
  // Four cards: two whole, two cut into slices, as a Kubernetes node with strategy `mixed` shows
  // them.
  const CapacityCount total = count({node(
      Health::usable, {cards("A100-SXM4-80GB", 4,
                             {whole(2, 0), slices("1g.10gb", 7, 3), slices("3g.40gb", 2, 0)})})});
  ASSERT_THAT(total.devices, SizeIs(3));
  EXPECT_EQ(total.devices[0].sharing, Sharing::whole);
  EXPECT_EQ(total.devices[0].physical, 4);
  EXPECT_EQ(total.devices[0].units, 2);
  EXPECT_EQ(total.devices[1].mig_profile, "1g.10gb");
  EXPECT_EQ(total.devices[1].physical, std::nullopt);
  EXPECT_EQ(total.devices[1].free, 4);
  EXPECT_EQ(total.devices[2].mig_profile, "3g.40gb");
  EXPECT_EQ(total.devices[2].physical, std::nullopt);
  EXPECT_EQ(total.devices[2].free, 2);
}

// Whoever adds up a column must get the number of cards.
TEST(Count, CardsStandInOneRowAndRowsCanBeAddedUp) {
  const CapacityCount total = count(
      {node(Health::usable, {cards("H100", 1, {slices("1g.10gb", 7, 0), slices("3g.40gb", 2, 0)})}),
       node(Health::usable, {cards("H100", 2, {whole(1, 0), slices("1g.10gb", 7, 0)})}),
       node(Health::usable, {cards("H100", 4, {slices("1g.10gb", 28, 0)})})});
  int64_t sum = 0;
  for (const DeviceCount& row : total.devices) sum += row.physical.value_or(0);
  EXPECT_EQ(sum, 7);
  ASSERT_THAT(total.devices, SizeIs(3));
  EXPECT_EQ(total.devices[0].physical, 2);             // whole
  EXPECT_EQ(total.devices[1].physical, 5);             // 1g.10gb where nothing is whole
  EXPECT_EQ(total.devices[2].physical, std::nullopt);  // counted beside the 1g.10gb
}

TEST(Count, ACardWhoseSharesAreInUseIsNotFreeWhole) {
  Offer l40s = whole(2, 0);
  l40s.free = 1;
  Offer shard = whole(16, 4);
  shard.sharing = Sharing::time_slice;
  const CapacityCount total = count({node(Health::usable, {cards("L40S", 2, {l40s, shard})})});
  ASSERT_THAT(total.devices, SizeIs(2));
  EXPECT_EQ(total.devices[0].free, 1);
  EXPECT_EQ(total.devices[0].physical, 2);
  EXPECT_EQ(total.devices[0].stranded, 1) << "nobody holds the card, and nobody can have it whole";
  EXPECT_EQ(total.devices[1].free, 12);
  EXPECT_EQ(total.devices[1].stranded, 0);
  EXPECT_EQ(total.devices[1].physical, std::nullopt);
}

TEST(Count, UnknownStaysUnknown) {
  const CapacityCount total =
      count({node(Health::usable, {cards("L4", 4, {whole(4, std::nullopt)})}),
             node(Health::usable, {cards("L4", std::nullopt, {whole(4, 1)})})});
  const DeviceCount& l4 = total.devices[0];
  EXPECT_EQ(l4.physical, std::nullopt);
  EXPECT_EQ(l4.units, 8);
  EXPECT_EQ(l4.usable, 8);
  EXPECT_EQ(l4.used, std::nullopt);
  EXPECT_EQ(l4.free, std::nullopt);
}

TEST(Count, WhereFreeIsUnknownStrandedIsToo) {
  const CapacityCount total =
      count({node(Health::usable, {cards("L4", 4, {whole(4, std::nullopt)})})});
  EXPECT_EQ(total.devices[0].stranded, std::nullopt);
}

TEST(Count, CardsWhoseOffersWereNotReadAreNotZeroUnits) {
  CardSet on_the_bus = cards("L4", 2, {});
  on_the_bus.offers_unread = {Sharing::whole, Sharing::mig};
  CardSet in_mig_mode = cards("A100-SXM4-80GB", 1, {});
  in_mig_mode.offers_unread = {Sharing::mig};
  const CapacityCount total = count({node(Health::usable, {on_the_bus, in_mig_mode})});
  ASSERT_THAT(total.devices, SizeIs(2));
  for (const DeviceCount& device : total.devices) {
    EXPECT_EQ(device.units, std::nullopt) << device.model;
    EXPECT_EQ(device.usable, std::nullopt) << device.model;
    EXPECT_EQ(device.free, std::nullopt) << device.model;
    EXPECT_EQ(device.sharing, device.model == "L4" ? Sharing::whole : Sharing::mig);
  }
}

TEST(Count, WhatAnUnusableNodeDoesNotSayLeavesFreeKnown) {
  const CapacityCount total = count({node(Health::down, {cards("L4", 4, {whole(4, std::nullopt)})}),
                                     node(Health::usable, {cards("L4", 4, {whole(4, 1)})})});
  EXPECT_EQ(total.devices[0].used, std::nullopt);
  EXPECT_EQ(total.devices[0].free, 3);
}

TEST(Count, UnknownMemoryOfOneUsableNodeMakesTheSumUnknown) {
  std::vector<Node> nodes = {node(Health::usable, {}), node(Health::usable, {})};
  nodes[1].memory_bytes.reset();
  nodes[1].cpu_free_milli.reset();
  const CapacityCount total = count(nodes);
  EXPECT_EQ(total.cpu_milli, 128'000);
  EXPECT_EQ(total.cpu_free_milli, std::nullopt);
  EXPECT_EQ(total.memory_bytes, std::nullopt);
  EXPECT_EQ(total.memory_free_bytes, 512 * kGiB);
}

struct Stranding {
  std::optional<int64_t> cpu_free;
  std::optional<int64_t> memory_free;
  std::optional<int64_t> used;
  std::optional<int64_t> stranded;
};

TEST(Count, FreeDevicesWithoutCpuOrMemoryAreStranded) {
  const Stranding cases[] = {
      {1'000, kGiB, 3, 0},
      {0, kGiB, 3, 5},
      {1'000, 0, 3, 5},
      {0, std::nullopt, 3, 5},
      {std::nullopt, kGiB, 3, std::nullopt},
      {std::nullopt, std::nullopt, 8, 0},         // none is free, so none is stranded
      {1'000, kGiB, std::nullopt, std::nullopt},  // how many are free is not known either
      {0, kGiB, std::nullopt, std::nullopt},
  };
  for (const Stranding& c : cases) {
    Node full = node(Health::usable, {cards("B200", 8, {whole(8, c.used)})});
    full.cpu_free_milli = c.cpu_free;
    full.memory_free_bytes = c.memory_free;
    EXPECT_EQ(count({full}).devices[0].stranded, c.stranded);
  }
}

TEST(Count, CardsThatNobodyOffersArePresentButCannotBeAskedFor) {
  const CapacityCount total = count({node(Health::usable, {cards("L4", 1, {})})});
  ASSERT_THAT(total.devices, SizeIs(1));
  EXPECT_EQ(total.devices[0].physical, 1);
  EXPECT_EQ(total.devices[0].units, 0);
  EXPECT_EQ(total.devices[0].free, 0);
}

TEST(Count, WithoutACanonicalNameTheReportedOneIsShown) {
  CardSet odd = cards("", 1, {whole(1, 0)});
  odd.reported = "RTX 5090";
  const CapacityCount total =
      count({node(Health::usable, {odd}), node(Health::usable, {cards("", 2, {whole(2, 0)})})});
  ASSERT_THAT(total.devices, SizeIs(2));
  EXPECT_EQ(total.devices[0].model, "");
  EXPECT_EQ(total.devices[0].units, 2);
  EXPECT_EQ(total.devices[1].model, "RTX 5090");
}

TEST(Count, AResourceSpelledDifferentlyFromNodeToNodeIsNotNamed) {
  Offer typed = whole(4, 0);
  typed.resource = "gpu:l4";
  for (int rounds : {0, 1}) {
    std::vector<Node> nodes = {node(Health::usable, {cards("L4", 4, {typed})}),
                               node(Health::usable, {cards("L4", 4, {whole(4, 0)})})};
    if (rounds == 1) nodes.push_back(nodes[0]);
    EXPECT_EQ(count(nodes).devices[0].resource, "");
  }
}

TEST(Count, ANodeWithTwoCardSetsOfOneModelIsOneNode) {
  const CapacityCount total =
      count({node(Health::usable, {cards("L4", 1, {whole(1, 0)}), cards("L4", 2, {whole(2, 2)})})});
  EXPECT_EQ(total.devices[0].nodes, 1);
  EXPECT_EQ(total.devices[0].physical, 3);
  EXPECT_EQ(total.devices[0].free, 1);
}

TEST(Count, TheOrderOfNodesDoesNotMatter) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  const char* models[] = {"L4", "L40S", "H20", ""};
  std::vector<Node> nodes;
  for (int i = 0; i < 60; ++i) {
    std::optional<int64_t> used = static_cast<int64_t>(random() % 5);
    if (random() % 20 == 0) used.reset();
    Node one = node(static_cast<Health>(random() % 10),
                    {cards(models[random() % 4], 4, {whole(4, used)})});
    if (random() % 4 == 0) one.cpu_free_milli = 0;
    nodes.push_back(one);
  }
  const CapacityCount before = count(nodes);
  std::shuffle(nodes.begin(), nodes.end(), random);
  const CapacityCount after = count(nodes);
  EXPECT_EQ(before.devices, after.devices);
  EXPECT_EQ(before.unusable, after.unusable);
  EXPECT_EQ(before.cpu_free_milli, after.cpu_free_milli);
  for (const DeviceCount& row : before.devices) {
    EXPECT_LE(row.usable, row.units);
    if (row.free && row.stranded) {
      EXPECT_LE(*row.stranded, *row.free);
    }
  }
}

}  // namespace
}  // namespace exa
