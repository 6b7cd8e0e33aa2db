#include "place/pool_seen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "place/pool_set.h"

namespace exa {
namespace {

Node gpu_node(std::string name, std::string model, int64_t units, std::optional<int64_t> free) {
  Node node;
  node.name = std::move(name);
  node.health = Health::usable;
  node.cpu_milli = 64'000;
  node.partitions = {"gpu"};
  CardSet cards;
  cards.family = Family::nvidia;
  cards.model = std::move(model);
  cards.physical = units;
  cards.offers = {{Sharing::whole, "gpu", "", units, {}, free}};
  node.cards = {cards};
  return node;
}

Inventory cluster() {
  Inventory inventory;
  inventory.nodes = {gpu_node("a", "A100-SXM4-80GB", 8, 3), gpu_node("b", "A100-SXM4-80GB", 8, 3),
                     gpu_node("c", "H100-SXM5-80GB", 4, {}), gpu_node("d", "A100-SXM4-80GB", 8, 8)};
  inventory.nodes[1].labels = {{"zone", "east"}};
  inventory.nodes[2].labels = {{"zone", "west"}};
  inventory.nodes[2].partitions = {"hopper"};
  inventory.nodes[2].features = {"ssd"};
  inventory.nodes[3].health = Health::drained;
  return inventory;
}

Pool backed() {
  Pool pool;
  pool.name = "p";
  pool.cluster = "hpc";
  return pool;
}

TEST(PoolSeen, CountsUsableNodesAndKeepsUnknownFree) {
  const PoolSnapshot seen = seen_by(backed(), cluster(), {});
  EXPECT_EQ(devices_of(seen), 20);   // the drained node is no capacity
  ASSERT_EQ(seen.nodes.size(), 2U);  // a and b are alike
  for (const PoolNodes& row : seen.nodes) {
    if (row.devices == 4)
      EXPECT_EQ(row.free, std::nullopt);
    else
      EXPECT_EQ(row.nodes, 2);
  }
}

TEST(PoolSeen, TakesInOnlyItsPartitionModelAndLabels) {
  Pool pool = backed();
  pool.partition = "hopper";
  EXPECT_EQ(devices_of(seen_by(pool, cluster(), {})), 4);
  pool = backed();
  pool.model = "A100";
  EXPECT_EQ(devices_of(seen_by(pool, cluster(), {})), 16);
  pool = backed();
  pool.accelerator = Family::amd;
  EXPECT_EQ(devices_of(seen_by(pool, cluster(), {})), 0);
}

struct SelectorCase {
  const char* selector;
  int64_t devices;
};

class Selectors : public testing::TestWithParam<SelectorCase> {};

TEST_P(Selectors, TakeInWhatKubernetesWould) {
  Pool pool = backed();
  pool.selector = GetParam().selector;
  EXPECT_EQ(devices_of(seen_by(pool, cluster(), {})), GetParam().devices) << GetParam().selector;
}

INSTANTIATE_TEST_SUITE_P(
    Table, Selectors,
    testing::Values(SelectorCase{"", 20}, SelectorCase{"zone=east", 8},
                    SelectorCase{"zone==west", 4}, SelectorCase{"zone!=east", 12},
                    SelectorCase{"zone in (east, west)", 12}, SelectorCase{"zone notin (east)", 12},
                    SelectorCase{"zone", 12}, SelectorCase{"!zone", 8}, SelectorCase{"ssd", 4},
                    SelectorCase{"zone=west,ssd", 4}, SelectorCase{"zone=east,ssd", 0}));

TEST(PoolSeen, ASelectorThatCannotBeReadIsRefused) {
  for (const char* wrong :
       {"zone=a b", "in (a)", "zone in a", "zone within (a)", "=x", "!", "a=;rm"})
    EXPECT_FALSE(NodeSelector::parse(wrong)) << wrong;
}

// Two pools may take in the same node: what one gave away is gone for the other.
TEST(PoolSeen, DevicesUnderLeasesAreGoneForEveryPoolOfTheNode) {
  Workload ask;
  ask.name = "w";
  ask.gpus = 3;
  const std::vector<LeasedNode> nodes = nodes_for(backed(), cluster(), {}, ask);
  ASSERT_EQ(nodes.size(), 1U);
  EXPECT_EQ(nodes[0].name, "a");
  Lease lease;
  lease.cluster = "hpc";
  lease.nodes = nodes;
  const std::vector<Lease> open = {lease};
  Pool other = backed();
  other.partition = "gpu";
  const PoolSnapshot seen = seen_by(other, cluster(), open);
  int64_t free = 0;
  for (const PoolNodes& row : seen.nodes) free += row.nodes * row.free.value_or(0);
  EXPECT_EQ(free, 3);
  EXPECT_EQ(nodes_for(other, cluster(), open, ask).at(0).name, "b");
  ask.nodes = 2;
  EXPECT_TRUE(nodes_for(other, cluster(), open, ask).empty());
}

TEST(PoolSeen, NothingIsPromisedWhereFreeIsNotKnown) {
  Pool hopper = backed();
  hopper.partition = "hopper";
  Workload ask;
  ask.name = "w";
  EXPECT_TRUE(nodes_for(hopper, cluster(), {}, ask).empty());
}

TEST(PoolSeen, SharesUnderLeasesAreNoLongerFree) {
  Inventory inventory = cluster();
  inventory.nodes.resize(1);
  inventory.nodes[0].cards[0].offers = {{Sharing::mig, "mig", "1g.10gb", 7, {}, 7}};
  const PoolSnapshot all = seen_by(backed(), inventory, {});
  ASSERT_EQ(all.shares.size(), 1U);
  EXPECT_EQ(all.shares[0].free, 7);
  EXPECT_EQ(all.shares[0].share_milli, 125);
  Lease lease;
  lease.mig_profile = "1g.10gb";
  lease.held_milli = 125;
  lease.devices = 2;
  const std::vector<Lease> open = {lease};
  EXPECT_EQ(seen_by(backed(), inventory, open).shares[0].free, 5);
}

}  // namespace
}  // namespace exa
