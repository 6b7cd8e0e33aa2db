// The placer against a second answer, found the slow way: every node is looked at on its own, each
// policy's price is written down again, and whatever is chosen must be among the cheapest.
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "place/card_value.h"
#include "place/device_placer.h"
#include "place/place_samples_for_test.h"

namespace exa {
namespace {

using sample::DeviceCases;

// A node as plain as can be.
struct Plain {
  DeviceNode node;
  int64_t cpu = 0;
  int64_t memory = 0;
  std::vector<int64_t> cards;  // free thousandths

  int64_t free() const { return std::accumulate(cards.begin(), cards.end(), int64_t{0}); }
};

bool model_suits(const Plain& at, const DeviceAsk& ask) {
  if (ask.models.empty()) return true;
  if (at.cards.empty()) return false;
  for (const std::string& model : ask.models)
    if (at.node.model == model || (model == "A100" && at.node.model == "A100-SXM4-80GB"))
      return true;
  return false;
}

bool plain_fit(const Plain& at, const DeviceAsk& ask) {
  if (at.cpu < ask.cpu_milli || at.memory < ask.memory_bytes) return false;
  const bool grouped = !at.node.groups.empty() && ask.group == "rack-a";
  if (ask.group_required && !grouped) return false;
  if (ask.devices == 0) return true;
  if (!model_suits(at, ask)) return false;
  if (!ask.capabilities.empty() && at.node.capabilities.size() < 2) return false;
  const auto enough =
      std::ranges::count_if(at.cards, [&](int64_t f) { return f >= ask.share_milli; });
  return enough >= ask.devices;
}

// All ways of putting the ask's shares on the node's cards that the policies consider: a share may
// go to any card that holds it; several shares go to the fullest cards that do.
std::vector<std::vector<int64_t>> ways(const Plain& at, const DeviceAsk& ask) {
  std::vector<std::vector<int64_t>> all;
  std::vector<int64_t> sorted = at.cards;
  std::ranges::sort(sorted);
  if (ask.devices == 1 && ask.share_milli < 1000) {
    for (size_t i = 0; i < sorted.size(); ++i) {
      if (sorted[i] < ask.share_milli) continue;
      std::vector<int64_t> after = sorted;
      after[i] -= ask.share_milli;
      all.push_back(after);
    }
    return all;
  }
  int64_t left = ask.devices;
  for (int64_t& card : sorted)
    if (left > 0 && card >= ask.share_milli) {
      card -= ask.share_milli;
      --left;
    }
  return {sorted};
}

// --- Each policy's price of one way, written again -------------------------------------------

struct Rules {
  AskMix mix;
  std::vector<Plain> fleet;  // as it was when the policy learned
};
using Price = std::pair<int64_t, int64_t>;

int64_t asked_milli(const DeviceAsk& ask) {
  return ask.devices * ask.share_milli;
}

int64_t plain_left_over(const Plain& at, const DeviceAsk& ask) {
  return ((at.cpu - ask.cpu_milli) * 8000 + (at.free() - asked_milli(ask)) * 128'000) / 1024 / 2;
}

double plain_fragmentation(const Rules& rules, const Plain& at, int64_t cpu,
                           const std::vector<int64_t>& cards, int64_t& weight) {
  std::vector<std::pair<int64_t, AskKind>> rows;
  for (const auto& [kind, count] : rules.mix.counts()) rows.emplace_back(count, kind);
  std::ranges::sort(rows, std::greater<>());
  const double all = static_cast<double>(std::accumulate(cards.begin(), cards.end(), int64_t{0}));
  double sum = 0;
  weight = 0;
  for (const auto& [count, kind] : rows) {
    if (static_cast<double>(weight) >= 0.95 * static_cast<double>(rules.mix.total()) - 1e-9) break;
    weight += count;
    double lost = all;
    Plain empty = at;
    empty.cpu = cpu;
    DeviceAsk ask;
    ask.models = kind.models;
    if (kind.devices > 0 && cpu >= kind.cpu_milli && model_suits(empty, ask)) {
      double small = 0;
      int64_t enough = 0;
      for (const int64_t free : cards) {
        if (free >= kind.share_milli)
          ++enough;
        else
          small += static_cast<double>(free);
      }
      if (enough >= kind.devices) lost = small;
    }
    sum += lost * static_cast<double>(count);
  }
  return sum;
}

struct ExaTables {
  CardValue value{};
  double per_device = 0;
  std::map<std::string, double> pressure;
};

ExaTables exa_tables(const Rules& rules) {
  ExaTables tables;
  std::map<int64_t, int64_t> shares;
  double cpu = 0;
  double milli = 0;
  double asked = 0;
  std::map<std::string, double> demand;
  std::map<std::string, double> cards;
  double all = 0;
  for (const Plain& at : rules.fleet) {
    cards[at.node.model] += static_cast<double>(at.cards.size());
    all += static_cast<double>(at.cards.size());
  }
  for (const auto& [kind, count] : rules.mix.counts()) {
    if (kind.devices == 0) continue;
    const double size = static_cast<double>(kind.devices * kind.share_milli * count);
    if (kind.share_milli < 1000) shares[kind.share_milli] += kind.devices * count;
    cpu += static_cast<double>(kind.cpu_milli * count);
    milli += size;
    asked += size;
    for (const std::string& model : kind.models)
      demand[model == "A100" ? "A100-SXM4-80GB" : model] += size;
  }
  std::vector<ShareDemand> list;
  for (const auto& [share, count] : shares) list.push_back({share, count});
  tables.value = card_value(list);
  tables.per_device = std::floor(cpu * 1000 / milli);
  for (const auto& [model, count] : cards)
    if (count > 0) tables.pressure[model] = demand[model] / asked / (count / all);
  return tables;
}

int64_t exa_unfed(const ExaTables& tables, const Plain& at, const std::vector<int64_t>& cards,
                  int64_t cpu) {
  int64_t hungry = 0;
  for (const int64_t free : cards)
    hungry += (9 * int64_t{tables.value.at(static_cast<size_t>(free))} + free * 1000) / 10;
  const auto short_of = [&](int64_t percent) {
    int64_t wanted = static_cast<int64_t>(tables.per_device) * percent;
    if (!cards.empty())
      wanted = std::min(wanted, at.node.cpu_milli / static_cast<int64_t>(cards.size()) * 90);
    const int64_t slope = int64_t{1'000'000} * 1024 * 100 / wanted;
    return std::max<int64_t>(0, hungry - cpu * slope / 1024);
  };
  return short_of(37) / 2 + short_of(92);
}

int64_t exa_loss(const ExaTables& tables, const Plain& at, const DeviceAsk& ask,
                 const std::vector<int64_t>& after) {
  int64_t loss = 0;
  std::vector<int64_t> before = at.cards;
  for (const int64_t free : before) loss += tables.value.at(static_cast<size_t>(free));
  for (const int64_t free : after) loss -= tables.value.at(static_cast<size_t>(free));
  loss +=
      exa_unfed(tables, at, after, at.cpu - ask.cpu_milli) - exa_unfed(tables, at, before, at.cpu);
  if (ask.devices > 0) loss += std::llround(300'000 * tables.pressure.at(at.node.model));
  return loss / 64;
}

Price price_of(const std::string& policy, const Rules& rules, const ExaTables& tables,
               const Plain& at, const DeviceAsk& ask, const std::vector<int64_t>& after) {
  const int64_t left = plain_left_over(at, ask);
  if (policy == "best-fit") return {0, left};
  if (policy == "spread") return {0, -left};
  if (policy == "exa") return {exa_loss(tables, at, ask, after), left};
  if (policy == "fgd") {
    int64_t weight = 0;
    const double before = plain_fragmentation(rules, at, at.cpu, at.cards, weight);
    const double then = plain_fragmentation(rules, at, at.cpu - ask.cpu_milli, after, weight);
    const double fall = (before - then) / static_cast<double>(weight) / 1000;
    return {-static_cast<int64_t>(100 / (1 + std::exp(-fall))),
            ask.devices == 0 ? at.free() / 2 : 0};
  }
  std::vector<int64_t> used;  // free shares of the cards that are taken from
  std::vector<int64_t> before = at.cards;
  std::ranges::sort(before);
  std::ranges::set_difference(before, after, std::back_inserter(used));
  const auto idle = std::ranges::count(before, 1000);
  if (policy == "packing") {
    if (ask.devices == 0) return {0, 0};
    if (idle == std::ssize(before)) return {-std::max<int64_t>(33 - idle, idle), 0};
    if (const auto opened = std::ranges::count(used, 1000))
      return {-std::max<int64_t>(50 - opened, 33), 0};
    int64_t percent = 0;
    for (const int64_t free : used) percent += free / 10;
    return {-std::max<int64_t>(100 - percent / 10, 50), 0};
  }
  if (policy == "dot-product") {
    const auto score = [&](int64_t free) {
      const double gpu =
          static_cast<double>(free) / 8000 * (static_cast<double>(asked_milli(ask)) / 8000);
      const double cpu =
          static_cast<double>(at.cpu) / 128'000 * (static_cast<double>(ask.cpu_milli) / 128'000);
      return -static_cast<int64_t>(100 * (1 - (cpu + gpu) / 2));
    };
    if (ask.devices == 0) {
      int64_t best = score(idle * 1000);
      for (const int64_t free : before)
        if (free < 1000) best = std::min(best, score(free));
      return {best, 0};
    }
    if (idle < ask.devices && ask.devices > 1) return {0, 0};
    return {score(ask.devices == 1 && used.front() < 1000 ? used.front() : idle * 1000), 0};
  }
  return {0, 0};
}

// ---------------------------------------------------------------------------------------------

struct Played {
  std::vector<Plain> plain;
  std::vector<DeviceAssignment> held;
};

void take_plainly(std::vector<Plain>& plain, const DeviceFleet& fleet,
                  const DeviceAssignment& assignment, int64_t sign) {
  for (const NodeShare& share : assignment.nodes) {
    const std::string name(fleet.name(share.node));
    auto at = std::ranges::find_if(plain, [&](const Plain& p) { return p.node.name == name; });
    at->cpu -= sign * assignment.cpu_milli;
    at->memory -= sign * assignment.memory_bytes;
    for (size_t i = 0; i < share.count; ++i)
      at->cards.at(share.cards.at(i)) -= sign * assignment.share_milli;
  }
}

void expect_same_state(const std::vector<Plain>& plain, const DeviceFleet& fleet) {
  int64_t free = 0;
  for (const Plain& at : plain) {
    const uint32_t node = *fleet.find(at.node.name);
    const NodeClass& row = fleet.state(node);
    ASSERT_EQ(row.cpu_free, at.cpu);
    ASSERT_EQ(row.memory_free, at.memory);
    const auto cards = fleet.cards(node);
    ASSERT_TRUE(std::ranges::equal(cards, at.cards));
    ASSERT_EQ(row.free_milli, at.free());
    ASSERT_TRUE(std::is_sorted(row.cards.begin(), row.cards.begin() + row.count));
    free += at.free();
  }
  ASSERT_EQ(fleet.free_milli(), free);
  size_t members = 0;
  for (const uint32_t id : fleet.live_classes()) members += fleet.node_class(id).members;
  ASSERT_EQ(members, fleet.size());
}

// The node chosen is one of the cheapest, at the card that makes it so, and the first by name of
// those that are free alike.
void expect_cheapest(const std::string& policy, const Rules& rules, const ExaTables& tables,
                     const std::vector<Plain>& plain, const DeviceFleet& fleet,
                     const DeviceAsk& ask, const std::optional<DeviceAssignment>& answer) {
  std::vector<const Plain*> fit;
  for (const Plain& at : plain)
    if (plain_fit(at, ask)) fit.push_back(&at);
  ASSERT_EQ(answer.has_value(), fit.size() >= static_cast<size_t>(ask.nodes));
  if (!answer || ask.nodes > 1) return;
  const std::string name(fleet.name(answer->nodes.front().node));
  const auto chosen =
      std::ranges::find_if(fit, [&](const Plain* at) { return at->node.name == name; });
  ASSERT_NE(chosen, fit.end()) << name << " does not hold the ask";
  const auto grouped = [&](const Plain& at) {
    return ask.group.empty() || !at.node.groups.empty();
  };
  const auto best_of = [&](const Plain& at) {
    Price best{INT64_MAX, INT64_MAX};
    for (const std::vector<int64_t>& after : ways(at, ask))
      best = std::min(best, price_of(policy, rules, tables, at, ask, after));
    return std::tuple(!grouped(at), best.first, best.second);
  };
  const auto paid = best_of(**chosen);
  for (const Plain* at : fit) {
    ASSERT_LE(paid, best_of(*at)) << name << " is dearer than " << at->node.name;
    std::vector<int64_t> a = at->cards;
    std::vector<int64_t> b = (*chosen)->cards;
    std::ranges::sort(a);
    std::ranges::sort(b);
    if (a == b && at->cpu == (*chosen)->cpu && at->memory == (*chosen)->memory &&
        at->node.cpu_milli == (*chosen)->node.cpu_milli &&
        at->node.memory_bytes == (*chosen)->node.memory_bytes &&
        at->node.model == (*chosen)->node.model && at->node.groups == (*chosen)->node.groups &&
        policy != "random") {
      ASSERT_LE(name, at->node.name);
    }
  }
  if (policy == "spread" || policy == "best-fit" || policy == "random") return;  // any card
  std::vector<int64_t> after = (*chosen)->cards;
  for (size_t i = 0; i < answer->nodes.front().count; ++i)
    after.at(answer->nodes.front().cards.at(i)) -= ask.share_milli;
  std::ranges::sort(after);
  const Price at_card = price_of(policy, rules, tables, **chosen, ask, after);
  ASSERT_EQ(std::tuple(!grouped(**chosen), at_card.first, at_card.second), paid);
}

void play(const std::string& policy, uint64_t seed) {
  SCOPED_TRACE(testing::Message() << policy << " seed " << seed);
  DeviceCases cases(seed);
  std::vector<DeviceNode> nodes = cases.nodes(12, false);
  Played played;
  for (const DeviceNode& node : nodes)
    played.plain.push_back({node, node.cpu_milli, node.memory_bytes,
                            std::vector<int64_t>(static_cast<size_t>(node.cards), 1000)});
  Rules rules;
  rules.fleet = played.plain;
  std::vector<DeviceAsk> asks;
  for (int i = 0; i < 12; ++i) asks.push_back(cases.ask(false));
  DeviceAsk sure;  // the mix asks for devices at least once
  sure.devices = 1;
  sure.cpu_milli = 8'000;
  asks.push_back(sure);
  for (const DeviceAsk& ask : asks) rules.mix.observe(ask, 1 + cases.below(9));
  const ExaTables tables = exa_tables(rules);
  DeviceFleet fleet = DeviceFleet::build(nodes).value();
  DevicePlacer placer(fleet, make_policy(policy).value(), {rules.mix, false, seed});
  for (const DeviceAsk& ask : asks) ASSERT_TRUE(placer.prepare(ask));
  for (int step = 0; step < 60; ++step) {
    if (!played.held.empty() && cases.one_in(3)) {
      const int64_t which = cases.below(static_cast<int64_t>(played.held.size()));
      const DeviceAssignment back = played.held[static_cast<size_t>(which)];
      played.held.erase(played.held.begin() + which);
      ASSERT_TRUE(fleet.release(back));
      take_plainly(played.plain, fleet, back, -1);
    } else {
      const auto number = static_cast<uint32_t>(cases.below(static_cast<int64_t>(asks.size())));
      const auto answer = placer.choose(number);
      expect_cheapest(policy, rules, tables, played.plain, fleet, asks[number], answer);
      if (testing::Test::HasFatalFailure()) FAIL() << "step " << step;
      if (answer) {
        std::set<uint32_t> distinct;
        for (const NodeShare& share : answer->nodes) distinct.insert(share.node);
        ASSERT_EQ(distinct.size(), static_cast<size_t>(asks[number].nodes));
        ASSERT_TRUE(fleet.take(*answer));
        take_plainly(played.plain, fleet, *answer, 1);
        played.held.push_back(*answer);
      }
    }
    expect_same_state(played.plain, fleet);
    if (testing::Test::HasFatalFailure()) FAIL() << "step " << step;
  }
}

class PolicyOracle : public testing::TestWithParam<const char*> {};

TEST_P(PolicyOracle, WhatIsChosenIsTheCheapestOfAllNodesLookedAtOneByOne) {
  const uint64_t seed = std::random_device{}();
  for (uint64_t i = 0; i < 400; ++i) {
    play(GetParam(), seed + i);
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, PolicyOracle,
                         testing::Values("exa", "fgd", "best-fit", "spread", "random", "packing",
                                         "dot-product"),
                         [](const auto& policy) {
                           std::string name = policy.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace exa
