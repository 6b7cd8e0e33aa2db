#include "place/device_fleet.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "place/mig.h"

namespace exa {
namespace {

uint64_t mixed(uint64_t hash, uint64_t value) {  // splitmix64's finaliser over a running sum
  uint64_t x = hash + 0x9e3779b97f4a7c15ULL + value;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31U);
}

DeviceKind kind_of_node(const DeviceNode& node) {
  DeviceKind kind{
      node.model, node.model_memory_bytes,          node.capabilities, node.groups,
      node.mig,   static_cast<uint8_t>(node.cards), node.cpu_milli,    node.memory_bytes};
  std::ranges::sort(kind.capabilities);
  std::ranges::sort(kind.groups);
  return kind;
}

auto order_of(const DeviceKind& kind) {
  return std::tie(kind.model, kind.model_memory_bytes, kind.capabilities, kind.groups, kind.mig,
                  kind.cards, kind.cpu_milli, kind.memory_bytes);
}

bool can_be_free(const DeviceNode& node, uint16_t state) {
  if (!node.mig) return state <= kWholeDevice;
  return free_compute(state) <= kComputeSlices;
}

void check_node(const DeviceNode& node, std::vector<Problem>& problems) {
  const auto wrong = [&](std::string message) {
    problems.push_back({fmt::format("node {}", node.name), std::move(message), ""});
  };
  if (node.name.empty()) wrong("a node has no name");
  if (node.cards < 0 || node.cards > static_cast<int64_t>(kMostCards))
    wrong(fmt::format("{} cards: 0 to {} can be placed on", node.cards, kMostCards));
  if (node.cpu_milli < 0 || node.cpu_milli > kMostCpuMilli)
    wrong(fmt::format("{} thousandths of a core", node.cpu_milli));
  if (node.memory_bytes < 0 || node.memory_bytes > kMostMemoryBytes)
    wrong(fmt::format("{} bytes of memory", node.memory_bytes));
  if (node.cpu_free_milli < 0 || node.cpu_free_milli > node.cpu_milli)
    wrong(fmt::format("{} thousandths of a core free of {}", node.cpu_free_milli, node.cpu_milli));
  if (node.memory_free_bytes < 0 || node.memory_free_bytes > node.memory_bytes)
    wrong(fmt::format("{} bytes free of {}", node.memory_free_bytes, node.memory_bytes));
  if (!node.free.empty() && static_cast<int64_t>(node.free.size()) != node.cards)
    wrong(fmt::format("{} free shares for {} cards", node.free.size(), node.cards));
  for (const uint16_t state : node.free)
    if (!can_be_free(node, state)) wrong(fmt::format("a card with {} free", state));
}

}  // namespace

size_t DeviceFleet::KeyHash::operator()(const Key& key) const {
  uint64_t hash = mixed(key.kind, static_cast<uint64_t>(key.cpu));
  hash = mixed(hash, static_cast<uint64_t>(key.memory));
  for (size_t i = 0; i < kMostCards; i += 4)
    hash = mixed(hash, uint64_t{key.cards[i]} | uint64_t{key.cards[i + 1]} << 16U |
                           uint64_t{key.cards[i + 2]} << 32U | uint64_t{key.cards[i + 3]} << 48U);
  return hash;
}

Result<DeviceFleet> DeviceFleet::build(std::vector<DeviceNode> nodes) {
  std::vector<Problem> problems;
  for (const DeviceNode& node : nodes) check_node(node, problems);
  std::ranges::sort(nodes, {}, &DeviceNode::name);
  for (size_t i = 1; i < nodes.size(); ++i)
    if (nodes[i].name == nodes[i - 1].name && (i < 2 || nodes[i].name != nodes[i - 2].name))
      problems.push_back({fmt::format("node {}", nodes[i].name), "is named twice", ""});
  if (!problems.empty()) return fail(invalid("fleet", std::move(problems)));

  const auto before = [](const DeviceKind& a, const DeviceKind& b) {
    return order_of(a) < order_of(b);
  };
  std::map<DeviceKind, uint32_t, decltype(before)> numbers(before);
  for (const DeviceNode& node : nodes) numbers.try_emplace(kind_of_node(node), 0);
  DeviceFleet fleet;
  fleet.first_card_.push_back(0);
  for (auto& [kind, number] : numbers) {
    number = static_cast<uint32_t>(fleet.kinds_.size());
    fleet.kinds_.push_back(kind);
  }
  for (DeviceNode& node : nodes) {
    const auto id = static_cast<uint32_t>(fleet.names_.size());
    for (int64_t card = 0; card < node.cards; ++card) {
      const auto all = node.mig ? kEmptyMigCard : static_cast<uint16_t>(kWholeDevice);
      fleet.cards_.push_back(node.free.empty() ? all : node.free[static_cast<size_t>(card)]);
    }
    fleet.capacity_milli_ += node.cards * kWholeDevice;
    const uint32_t kind = numbers.at(kind_of_node(node));
    fleet.names_.push_back(std::move(node.name));
    fleet.class_of_.push_back(0);
    fleet.first_card_.push_back(static_cast<uint32_t>(fleet.cards_.size()));
    fleet.settle(id, kind, node.cpu_free_milli, node.memory_free_bytes);
  }
  return fleet;
}

std::optional<uint32_t> DeviceFleet::find(std::string_view name) const {
  const auto found = std::ranges::lower_bound(names_, name);
  if (found == names_.end() || *found != name) return std::nullopt;
  return static_cast<uint32_t>(found - names_.begin());
}

std::span<const uint16_t> DeviceFleet::cards(uint32_t node) const {
  return std::span(cards_).subspan(first_card_[node], first_card_[node + 1] - first_card_[node]);
}

uint32_t DeviceFleet::class_for(const Key& key) {
  const auto [found, fresh] = by_key_.try_emplace(key, 0);
  if (!fresh) return found->second;
  uint32_t id = 0;
  if (unused_.empty()) {
    id = static_cast<uint32_t>(classes_.size());
    classes_.emplace_back();
    live_at_.push_back(0);
  } else {
    id = unused_.back();
    unused_.pop_back();
  }
  found->second = id;
  NodeClass& row = classes_[id];
  row.cpu_free = key.cpu;
  row.memory_free = key.memory;
  row.cards = key.cards;
  row.kind = key.kind;
  row.count = kinds_[key.kind].cards;
  row.whole = 0;
  row.largest = 0;
  row.free_milli = 0;
  row.hash = KeyHash()(key);
  ++row.generation;
  row.queue.clear();
  for (size_t i = 0; i < row.count; ++i) {
    const uint16_t state = row.cards[i];
    if (kinds_[key.kind].mig) {
      row.free_milli += static_cast<int32_t>(free_compute(state) * kWholeDevice / kComputeSlices);
      if (state == kEmptyMigCard) ++row.whole;
    } else {
      row.free_milli += state;
      row.largest = std::max(row.largest, state);
      if (state == kWholeDevice) ++row.whole;
    }
  }
  live_at_[id] = static_cast<uint32_t>(live_.size());
  live_.push_back(id);
  log_.push_back({id, row.generation});
  if (log_.size() > 4 * live_.size() + 4096) {
    const auto drop = static_cast<std::ptrdiff_t>(log_.size() / 2);
    log_.erase(log_.begin(), log_.begin() + drop);
    forgotten_ += static_cast<uint64_t>(drop);
  }
  return id;
}

void DeviceFleet::join(uint32_t node, uint32_t id) {
  NodeClass& row = classes_[id];
  ++row.members;
  class_of_[node] = id;
  if (row.queue.size() > 2 * size_t{row.members} + 64)  // mostly nodes that have left
    tidy(row.queue, id, node);
  row.queue.push_back(node);
  std::ranges::push_heap(row.queue, std::greater<>());
  free_milli_ += row.free_milli;
}

void DeviceFleet::tidy(std::vector<uint32_t>& queue, uint32_t id, uint32_t joining) const {
  std::erase_if(queue, [&](uint32_t node) { return class_of_[node] != id || node == joining; });
  std::ranges::sort(queue);
  queue.erase(std::unique(queue.begin(), queue.end()), queue.end());
}

void DeviceFleet::leave(uint32_t id) {
  NodeClass& row = classes_[id];
  free_milli_ -= row.free_milli;
  if (--row.members > 0) return;
  by_key_.erase(Key{row.cpu_free, row.memory_free, row.cards, row.kind});
  const uint32_t last = live_.back();
  live_[live_at_[id]] = last;
  live_at_[last] = live_at_[id];
  live_.pop_back();
  unused_.push_back(id);
}

void DeviceFleet::settle(uint32_t node, uint32_t kind, int64_t cpu, int64_t memory) {
  Key key{cpu, memory, {}, kind};
  const std::span<const uint16_t> states = cards(node);
  std::ranges::copy(states, key.cards.begin());
  std::sort(key.cards.begin(), key.cards.begin() + static_cast<std::ptrdiff_t>(states.size()));
  join(node, class_for(key));
}

void DeviceFleet::first_members(uint32_t id, size_t count, std::vector<uint32_t>& out) {
  NodeClass& row = classes_[id];
  const size_t before = out.size();
  while (out.size() - before < count && !row.queue.empty()) {
    std::ranges::pop_heap(row.queue, std::greater<>());
    const uint32_t node = row.queue.back();
    row.queue.pop_back();
    // a node that left and came back may stand in the queue twice
    if (class_of_[node] == id && (out.size() == before || out.back() != node)) out.push_back(node);
  }
  for (size_t i = before; i < out.size(); ++i) {
    row.queue.push_back(out[i]);
    std::ranges::push_heap(row.queue, std::greater<>());
  }
}

// One node's amounts, checked against what is free (or taken) before anything changes.
struct DeviceFleet::Change {
  int64_t cpu = 0;
  int64_t memory = 0;
  std::array<uint16_t, kMostCards> cards{};
};

namespace {

bool taken(uint16_t& state, const DeviceAssignment& what, size_t start, bool mig) {
  if (mig != what.mig.has_value()) return false;
  if (!mig) {
    if (state < what.share_milli) return false;
    state = static_cast<uint16_t>(state - what.share_milli);
    return true;
  }
  if ((starts_left(state, *what.mig) >> start & 1U) == 0) return false;
  state = with_instance(state, *what.mig, static_cast<int>(start));
  return true;
}

bool given_back(uint16_t& state, const DeviceAssignment& what, size_t start, bool mig) {
  if (mig != what.mig.has_value()) return false;
  if (!mig) {
    if (state + what.share_milli > kWholeDevice) return false;
    state = static_cast<uint16_t>(state + what.share_milli);
    return true;
  }
  const unsigned mask = ((1U << static_cast<unsigned>(what.mig->memory)) - 1) << start;
  if ((taken_memory(state) & mask) != mask ||
      free_compute(state) + what.mig->compute > kComputeSlices)
    return false;
  state = without_instance(state, *what.mig, static_cast<int>(start));
  return true;
}

bool distinct(std::span<const NodeShare> shares) {
  std::vector<uint32_t> nodes;
  for (const NodeShare& share : shares) nodes.push_back(share.node);
  std::ranges::sort(nodes);
  return std::ranges::adjacent_find(nodes) == nodes.end();
}

}  // namespace

bool DeviceFleet::apply(const DeviceAssignment& assignment, bool take) {
  if (assignment.nodes.size() > 1 && !distinct(assignment.nodes)) return false;
  const int64_t sign = take ? -1 : 1;
  std::array<Change, 8> few;
  std::vector<Change> many(assignment.nodes.size() > few.size() ? assignment.nodes.size() : 0);
  const std::span<Change> changes = many.empty() ? std::span<Change>(few) : std::span<Change>(many);
  for (size_t n = 0; n < assignment.nodes.size(); ++n) {
    const NodeShare& share = assignment.nodes[n];
    if (share.node >= size() || share.count > kMostDevicesAsked) return false;
    const NodeClass& row = state(share.node);
    const DeviceKind& kind = kinds_[row.kind];
    Change& change = changes[n];
    change.cpu = row.cpu_free + sign * assignment.cpu_milli;
    change.memory = row.memory_free + sign * assignment.memory_bytes;
    if (change.cpu < 0 || change.cpu > kind.cpu_milli || change.memory < 0 ||
        change.memory > kind.memory_bytes)
      return false;
    const std::span<const uint16_t> states = cards(share.node);
    std::ranges::copy(states, change.cards.begin());
    for (size_t i = 0; i < share.count; ++i) {
      if (share.cards.at(i) >= states.size()) return false;
      uint16_t& card = change.cards.at(share.cards.at(i));
      const size_t start = share.starts.at(i);
      if (!(take ? taken(card, assignment, start, kind.mig)
                 : given_back(card, assignment, start, kind.mig)))
        return false;
    }
  }
  for (size_t n = 0; n < assignment.nodes.size(); ++n) {
    const uint32_t node = assignment.nodes[n].node;
    const uint32_t old = class_of_[node];
    const uint32_t kind = classes_[old].kind;
    std::copy_n(changes[n].cards.begin(), cards(node).size(), cards_.begin() + first_card_[node]);
    leave(old);
    settle(node, kind, changes[n].cpu, changes[n].memory);
  }
  return true;
}

bool DeviceFleet::take(const DeviceAssignment& assignment) {
  return apply(assignment, true);
}

bool DeviceFleet::release(const DeviceAssignment& assignment) {
  return apply(assignment, false);
}

size_t DeviceFleet::bytes() const {
  size_t sum = names_.capacity() * sizeof(std::string) + class_of_.capacity() * 4 +
               first_card_.capacity() * 4 + cards_.capacity() * 2 +
               classes_.capacity() * sizeof(NodeClass) +
               (live_.capacity() + live_at_.capacity()) * 4 + log_.capacity() * sizeof(Birth) +
               by_key_.size() * (sizeof(Key) + 32);
  for (const NodeClass& row : classes_) sum += row.queue.capacity() * 4;
  return sum;
}

}  // namespace exa
