// resolve() against a second answer, found the slow way: every choice of nodes and of what to ask
// each of them for is tried, straight on the inventory, without classes, columns or bit sets.
#include <functional>
#include <random>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "resolve/samples_for_test.h"

namespace exa {
namespace {

using namespace sample;

const std::vector<std::string> kFieldOrder = {"accelerator_family", "accelerator_model_hint",
                                              "gpu_count",          "gpu_fraction",
                                              "mig_profile",        "cpu",
                                              "memory_gb",          "driver_tag",
                                              "runtime_tag"};

enum class Free { no, unknown, yes };

// One way of using one node: what it leaves open, what it contradicts, whether it could be had now.
struct Option {
  size_t node = 0;
  std::set<std::string> open;
  std::set<std::string> contradicted;
  Free now = Free::yes;
};

// Facts of the few models that the cases use, written down here rather than looked up.
std::optional<int64_t> share_of_card(const std::string& model, const std::string& profile) {
  if (model == "A100-SXM4-80GB" && profile == "1g.10gb") return 125;  // 1 of 8 memory slices
  if (model == "A100-SXM4-80GB" && profile == "3g.40gb") return 428;  // 3 of 7 compute slices
  if (model == "A100-PCIE-40GB" && profile == "1g.10gb") return 142;  // 1 of 7; 2 of 8 memory
  return std::nullopt;
}
bool lacks(const std::string& model, const std::string& profile) {
  return model == "V100-SXM2-16GB" || (model == "A100-PCIE-40GB" && profile == "3g.40gb");
}

Free has_free(std::optional<int64_t> free, int64_t needed) {
  if (needed == 0) return Free::yes;
  if (!free) return Free::unknown;
  return *free >= needed ? Free::yes : Free::no;
}

struct Pile {  // offers of one sharing and profile over the card sets of one model
  int64_t units = 0;
  std::optional<int64_t> free = 0;
};

struct Group {
  bool family_unread = false;
  std::set<Sharing> unread;
  std::string model;
  std::optional<int64_t> physical = 0;
  std::map<std::pair<Sharing, std::string>, Pile> piles;
};

std::vector<Group> groups_of(const Node& node, Family family) {
  std::vector<Group> groups;
  for (const CardSet& set : node.cards) {
    if (set.family != family && !set.family_unread) continue;
    Group* group = nullptr;
    for (Group& other : groups)
      if (!set.reported.empty() && other.model == set.reported &&
          other.family_unread == set.family_unread)
        group = &other;
    if (group == nullptr)
      group = &groups.emplace_back(Group{set.family_unread, {}, set.reported, 0, {}});
    group->unread.insert(set.offers_unread.begin(), set.offers_unread.end());
    if (group->physical && set.physical)
      *group->physical += *set.physical;
    else
      group->physical.reset();
    for (const Offer& o : set.offers) {
      Pile& pile = group->piles[{o.sharing, o.mig_profile}];
      pile.units += o.units;
      if (pile.free && o.free)
        *pile.free += *o.free;
      else
        pile.free.reset();
    }
  }
  return groups;
}

void add_group_options(const Shape& shape, const Group& group, const Option& base,
                       std::vector<Option>& options) {
  Option common = base;
  if (group.family_unread) common.open.insert("accelerator_family");
  if (!shape.accelerator_model_hint.empty()) {
    const Match match = match_model(shape.accelerator_model_hint, group.model);
    if (match != Match::confirmed) common.open.insert("accelerator_model_hint");
    if (match == Match::contradicted) common.contradicted.insert("accelerator_model_hint");
  }
  if (shape.gpu_count == 0) {
    options.push_back(common);
    return;
  }
  const bool fractional = shape.gpu_fraction_milli < 1000;
  const bool sliced = !shape.mig_profile.empty();
  for (const Sharing sharing : group.unread) {
    if (sharing != Sharing::whole && !fractional && !sliced) continue;
    const int64_t most = sharing == Sharing::whole || group.physical == 0 ? 0 : 1'000'000;
    if (std::max(most, group.physical.value_or(1'000'000)) < shape.gpu_count) continue;
    Option option = common;
    option.open.insert("gpu_count");
    if (fractional) option.open.insert("gpu_fraction");
    if (sliced) option.open.insert("mig_profile");
    if (sliced && lacks(group.model, shape.mig_profile)) option.contradicted.insert("mig_profile");
    option.now = std::min(option.now, Free::unknown);
    options.push_back(option);
  }
  for (const auto& [kind, pile] : group.piles) {
    const auto& [sharing, profile] = kind;
    Option option = common;
    int64_t each = 1;
    if (sharing == Sharing::whole || sharing == Sharing::unread) {
      if (sharing == Sharing::unread) option.open.insert("gpu_count");
      if (fractional) option.open.insert("gpu_fraction");
      if (!shape.mig_profile.empty()) {
        option.open.insert("mig_profile");
        if (lacks(group.model, shape.mig_profile)) option.contradicted.insert("mig_profile");
      }
    } else if (sharing == Sharing::mig) {
      if (fractional) {
        const auto share = share_of_card(group.model, profile);
        if (share && *share < shape.gpu_fraction_milli) continue;
        if (!share) option.open.insert("gpu_fraction");
      } else if (shape.mig_profile != profile) {
        continue;
      }
    } else {
      if (!fractional) continue;
      if (group.physical && *group.physical > 0 && pile.units >= *group.physical) {
        const int64_t per_card = pile.units / *group.physical;
        while (each * 1000 < shape.gpu_fraction_milli * per_card) ++each;
      } else {
        option.open.insert("gpu_fraction");
      }
    }
    if (pile.units < each * shape.gpu_count) {
      // several devices may not share what is left of two cards' shares
      continue;
    }
    option.now = std::min(option.now, has_free(pile.free, each * shape.gpu_count));
    options.push_back(option);
  }
}

std::vector<Option> options_of(const Shape& shape, const Node& node, size_t index) {
  if (node.health != Health::usable) return {};
  if (node.cpu_milli && *node.cpu_milli < shape.cpu_milli) return {};
  if (node.memory_bytes && *node.memory_bytes < shape.memory_bytes) return {};
  Option base;
  base.node = index;
  if (shape.cpu_milli > 0 && !node.cpu_milli) base.open.insert("cpu");
  if (shape.memory_bytes > 0 && !node.memory_bytes) base.open.insert("memory_gb");
  base.now = std::min(has_free(node.cpu_free_milli, shape.cpu_milli),
                      has_free(node.memory_free_bytes, shape.memory_bytes));
  if (!shape.driver_tag.empty()) {  // always cuda-12.4 here
    const std::string seen = node.software.empty() ? "" : node.software.front().version;
    if (seen != "12.4" && seen != "12.6") base.open.insert("driver_tag");
    if (seen == "12.2") base.contradicted.insert("driver_tag");
  }
  if (!shape.runtime_tag.empty() &&
      std::ranges::find(node.features, shape.runtime_tag) == node.features.end())
    base.open.insert("runtime_tag");
  if (shape.accelerator_family == Family::cpu) return {base};
  std::vector<Option> options;
  for (const Group& group : groups_of(node, shape.accelerator_family))
    add_group_options(shape, group, base, options);
  if (std::ranges::find(node.devices_unread, shape.accelerator_family) !=
      node.devices_unread.end()) {
    Option option = base;
    option.open.insert("accelerator_family");
    if (!shape.accelerator_model_hint.empty()) option.open.insert("accelerator_model_hint");
    if (shape.gpu_count > 0) option.open.insert("gpu_count");
    if (shape.gpu_fraction_milli < 1000) option.open.insert("gpu_fraction");
    if (!shape.mig_profile.empty()) option.open.insert("mig_profile");
    option.now = std::min(option.now, Free::unknown);
    options.push_back(option);
  }
  return options;
}

// Fewer open claims first; of equals, the one whose earliest open field stands later.
bool better(const std::set<std::string>& a, const std::set<std::string>& b) {
  if (a.size() != b.size()) return a.size() < b.size();
  for (const std::string& field : kFieldOrder)
    if (a.contains(field) != b.contains(field)) return b.contains(field);
  return false;
}

struct Expected {
  std::optional<std::set<std::string>> open;  // nullopt: no choice of nodes holds the ask
  std::set<std::string> contradicted;
  int64_t now = 0;
  int64_t unknown = 0;
};

// Tries every choice of `left` more nodes from `from` on.
void choose(const std::vector<std::vector<Option>>& by_node, size_t from, int64_t left,
            const std::set<std::string>& open, Expected& best) {
  if (left == 0) {
    if (!best.open || better(open, *best.open)) best.open = open;
    return;
  }
  for (size_t node = from; node < by_node.size(); ++node) {
    for (const Option& option : by_node[node]) {
      std::set<std::string> joined = open;
      joined.insert(option.open.begin(), option.open.end());
      choose(by_node, node + 1, left - 1, joined, best);
    }
  }
}

bool within(const std::set<std::string>& part, const std::set<std::string>& whole) {
  return std::ranges::includes(whole, part);
}

Expected expect(const Shape& shape, const Inventory& seen) {
  std::vector<std::vector<Option>> by_node;
  for (size_t i = 0; i < seen.nodes.size(); ++i)
    by_node.push_back(options_of(shape, seen.nodes[i], i));
  Expected best;
  choose(by_node, 0, shape.nodes, {}, best);
  if (!best.open) return best;
  for (const std::string& field : *best.open) {
    int64_t possible = 0;
    for (const auto& options : by_node)
      possible += std::ranges::any_of(options, [&](const Option& option) {
        return within(option.open, *best.open) && !option.contradicted.contains(field);
      });
    if (possible < shape.nodes) best.contradicted.insert(field);
  }
  for (const auto& options : by_node) {
    Free now = Free::no;
    for (const Option& option : options)
      if (within(option.open, *best.open)) now = std::max(now, option.now);
    best.now += now == Free::yes;
    best.unknown += now == Free::unknown;
  }
  return best;
}

// --- random cases

class Cases {
 public:
  explicit Cases(unsigned seed) : random_(seed) {}

  bool one_in(int n) { return below(n) == 0; }
  int64_t below(int64_t n) { return std::uniform_int_distribution<int64_t>(0, n - 1)(random_); }
  template <typename T>
  T any(std::initializer_list<T> values) {
    return *(values.begin() + below(static_cast<int64_t>(values.size())));
  }

  Shape shape() {
    Shape shape;
    shape.accelerator_family =
        any({Family::nvidia, Family::nvidia, Family::nvidia, Family::amd, Family::cpu});
    shape.nodes = 1 + below(3);
    if (one_in(2)) shape.cpu_milli = any<int64_t>({500, 8'000, 16'000});
    if (one_in(2)) shape.memory_bytes = any<int64_t>({1, 32, 64}) * kGiB;
    if (one_in(3)) shape.driver_tag = "cuda-12.4";
    if (one_in(4)) shape.runtime_tag = "pt-2";
    if (shape.accelerator_family == Family::cpu) return shape;
    shape.gpu_count = any<int64_t>({0, 1, 1, 2, 4, 8});
    if (one_in(2))
      shape.accelerator_model_hint = any<std::string>({"A100", "A100-80GB", "V100", "H100"});
    if (shape.gpu_count == 0 || shape.accelerator_family != Family::nvidia) return shape;
    if (one_in(4))
      shape.mig_profile = any<std::string>({"1g.10gb", "3g.40gb"});
    else if (one_in(3))
      shape.gpu_fraction_milli = any<int64_t>({100, 125, 250, 400, 500, 999});
    return shape;
  }

  Inventory inventory() {
    std::vector<Node> nodes(static_cast<size_t>(below(7)));
    for (size_t i = 0; i < nodes.size(); ++i) {
      // repeated nodes make classes with several members
      if (i > 0 && one_in(3))
        nodes[i] = nodes[i - 1];
      else
        nodes[i] = node();
      nodes[i].name = "n" + std::to_string(i);
      if (one_in(2)) nodes[i].cpu_free_milli = any<int64_t>({0, 8'000});
    }
    return sample::inventory(std::move(nodes));
  }

 private:
  Node node() {
    Node n = sample::node("");
    n.health = any({Health::usable, Health::usable, Health::usable, Health::drained, Health::down});
    n.cpu_milli = maybe(any<int64_t>({4'000, 8'000, 64'000}));
    n.memory_bytes = maybe(any<int64_t>({16, 32, 128}) * kGiB);
    n.cpu_free_milli = maybe(any<int64_t>({0, 4'000, 64'000}));
    n.memory_free_bytes = maybe(any<int64_t>({0, 16, 128}) * kGiB);
    if (one_in(2)) n.software = {{"cuda", any<std::string>({"12", "12.2", "12.4", "12.6"})}};
    if (one_in(3)) n.features = {"pt-2"};
    for (int64_t sets = below(3); sets > 0; --sets) n.cards.push_back(card_set());
    if (one_in(8)) n.devices_unread = {Family::nvidia};
    if (one_in(16)) n.devices_unread.push_back(Family::amd);
    return n;
  }

  CardSet card_set() {
    CardSet set;
    set.family = any({Family::nvidia, Family::nvidia, Family::nvidia, Family::amd});
    if (one_in(6)) {
      set.family = Family::other;
      set.family_unread = true;
    }
    if (one_in(6)) set.offers_unread = {any({Sharing::whole, Sharing::mig})};
    set.reported =
        any<std::string>({"", "a100", "A100-SXM4-80GB", "A100-PCIE-40GB", "V100-SXM2-16GB"});
    set.physical = maybe(any<int64_t>({1, 2, 4}));
    if (one_in(2)) add(set, Sharing::whole, {}, any<int64_t>({1, 2, 4, 8}));
    if (one_in(3)) add(set, Sharing::mig, "1g.10gb", any<int64_t>({1, 2, 7, 14}));
    if (one_in(4)) add(set, Sharing::mig, "3g.40gb", any<int64_t>({1, 2, 4}));
    if (one_in(4)) add(set, Sharing::time_slice, {}, any<int64_t>({1, 4, 6, 16}));
    if (one_in(6)) add(set, Sharing::mps, {}, any<int64_t>({2, 10}));
    if (one_in(6)) add(set, Sharing::unread, {}, any<int64_t>({1, 2, 4, 8}));
    return set;
  }

  void add(CardSet& set, Sharing sharing, std::string profile, int64_t units) {
    set.offers.push_back(offer(sharing, units, below(units + 1), std::move(profile)));
    if (one_in(4)) set.offers.back().free.reset();
  }

  std::optional<int64_t> maybe(int64_t value) {
    if (one_in(5)) return std::nullopt;
    return value;
  }

  std::mt19937 random_;
};

std::vector<std::string> expected_unconfirmed(const std::set<std::string>& open, const Look& look) {
  std::vector<std::string> names;
  for (const std::string& field : kFieldOrder)
    if (open.contains(field)) names.push_back(field);
  if (look.age > minutes(15)) names.emplace_back("snapshot_age");
  if (look.declared) names.emplace_back("declared_capacity");
  return names;
}

void compare_with_oracle(const Expected& expected, const Look& look, const Resolution& answer) {
  if (!expected.open) {
    ASSERT_EQ(answer.status, Status::unresolvable);
    ASSERT_FALSE(answer.missing.empty());
    ASSERT_EQ(answer.seen->fitting_nodes, 0);
    return;
  }
  const auto unconfirmed = expected_unconfirmed(*expected.open, look);
  ASSERT_EQ(answer.unconfirmed, unconfirmed);
  ASSERT_EQ(answer.status, unconfirmed.empty() ? Status::verified : Status::degraded);
  std::set<std::string> contradicted;
  for (const FieldVerdict& verdict : answer.verdicts)
    if (verdict.verdict == Match::contradicted) contradicted.insert(verdict.field);
  ASSERT_EQ(contradicted, expected.contradicted);
  ASSERT_EQ(answer.fits_now->nodes, expected.now);
  ASSERT_EQ(answer.fits_now->nodes_unknown, expected.unknown);
}

TEST(Oracle, EveryAnswerIsTheOneFoundByTryingEveryChoiceOfNodes) {
  const unsigned seed = std::random_device{}();
  Cases cases(seed);
  std::map<Status, int> statuses;
  for (int i = 0; i < 20'000; ++i) {
    const Shape shape = cases.shape();
    const Inventory seen = cases.inventory();
    const Look look{minutes(cases.one_in(4) ? 16 : 5), cases.one_in(8)};
    const Resolution answer = resolve_on(shape, seen, look);
    ++statuses[answer.status];
    compare_with_oracle(expect(shape, seen), look, answer);
    if (testing::Test::HasFatalFailure())
      FAIL() << "seed " << seed << " case " << i << "\n" << to_pretty_text(to_json(answer));
    ASSERT_EQ(answer.unconfirmed.empty(), answer.status == Status::verified);
  }
  EXPECT_GT(statuses[Status::verified], 200);
  EXPECT_GT(statuses[Status::degraded], 2'000);
  EXPECT_GT(statuses[Status::unresolvable], 2'000);
}

// The order in which a tool lists its nodes says nothing about the cluster.
TEST(Oracle, TheOrderOfNodesDoesNotMatter) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  Cases cases(seed);
  for (int i = 0; i < 2'000; ++i) {
    const Shape shape = cases.shape();
    Inventory seen = cases.inventory();
    const Resolution answer = resolve_on(shape, seen);
    std::ranges::reverse(seen.nodes);
    ASSERT_EQ(to_text(to_json(answer)), to_text(to_json(resolve_on(shape, seen))));
  }
}

}  // namespace
}  // namespace exa
