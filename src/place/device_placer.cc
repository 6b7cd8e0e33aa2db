#include "place/device_placer.h"

#include <algorithm>

#include "place/accepts.h"
#include "place/mig.h"

namespace exa {
namespace {

enum Suits : uint8_t { suits_not, suits, suits_but_group };

constexpr int64_t kFirstLearning = 64;  // asks; then each time the mix has grown by half
constexpr uint64_t kNotPreferred = uint64_t{1} << 63U;

bool in_group(const DeviceKind& kind, std::string_view group) {
  return std::ranges::binary_search(kind.groups, group);
}

uint8_t how_it_suits(const DeviceKind& kind, const DeviceAsk& ask) {
  if (ask.devices > 0 && kind.mig != ask.mig.has_value()) return suits_not;
  if (ask.devices > 0 && !accepts_model(kind, ask.models)) return suits_not;
  if (ask.devices > 0 && !has_capabilities(kind, ask.capabilities)) return suits_not;
  if (ask.group.empty() || in_group(kind, ask.group)) return suits;
  return ask.group_required ? suits_not : suits_but_group;
}

AskShape shape_of(const DeviceAsk& ask) {
  AskShape shape;
  shape.cpu_milli = ask.cpu_milli;
  shape.memory_bytes = ask.memory_bytes;
  shape.devices = static_cast<int32_t>(ask.devices);
  shape.share_milli = ask.devices == 0 ? 0 : static_cast<int32_t>(ask.share_milli);
  shape.total_milli = static_cast<int32_t>(ask.milli_per_node());
  shape.mig = ask.mig;
  return shape;
}

// Instances go to the fullest cards that take them, one after the other.
bool put_instances(std::span<uint16_t> cards, const AskShape& ask, NodeShare* share) {
  for (int32_t n = 0; n < ask.devices; ++n) {
    std::optional<size_t> best;
    for (size_t i = 0; i < cards.size(); ++i)
      if (starts_left(cards[i], *ask.mig) != 0 && (!best || cards[i] < cards[*best])) best = i;
    if (!best) return false;
    const int start = *best_start(cards[*best], *ask.mig);
    cards[*best] = with_instance(cards[*best], *ask.mig, start);
    if (share == nullptr) continue;
    share->cards.at(static_cast<size_t>(n)) = static_cast<uint8_t>(*best);
    share->starts.at(static_cast<size_t>(n)) = static_cast<uint8_t>(start);
  }
  return true;
}

bool devices_fit(const AskShape& ask, const NodeClass& node) {
  if (ask.devices == 0) return true;
  if (ask.mig) {
    CardStates cards = node.cards;
    return put_instances(std::span(cards).first(node.count), ask, nullptr);
  }
  // ascending: enough cards hold the share when the one that many places from the end does
  return node.count >= ask.devices &&
         node.cards[static_cast<size_t>(node.count - ask.devices)] >= ask.share_milli;
}

uint64_t price_of(const Offered& offered, bool preferred) {
  const auto cost = static_cast<uint32_t>(offered.cost) ^ 0x8000'0000U;  // keeps the order
  return (preferred ? 0 : kNotPreferred) | uint64_t{cost} << 31U | offered.tie >> 1U;
}

uint64_t drawn(uint64_t seed, uint64_t number) {  // splitmix64
  uint64_t x = seed + (number + 1) * 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31U);
}

}  // namespace

DevicePlacer::DevicePlacer(DeviceFleet& fleet, std::unique_ptr<DevicePolicy> policy,
                           PlacerOptions options)
    : fleet_(fleet), policy_(std::move(policy)), options_(std::move(options)) {
  learn_now();
}

void DevicePlacer::learn_now() {
  policy_->learn(fleet_, options_.mix);
  ++epoch_;
  const int64_t total = options_.mix.total();
  learn_at_ = std::max(kFirstLearning, total + total / 2);
}

Result<uint32_t> DevicePlacer::prepare(const DeviceAsk& ask) {
  if (std::vector<Problem> problems = problems_of(ask); !problems.empty())
    return fail(invalid("ask", std::move(problems)));
  Prepared prepared;
  prepared.ask = ask;
  prepared.shape = shape_of(ask);
  for (const DeviceKind& kind : fleet_.kinds()) prepared.kinds.push_back(how_it_suits(kind, ask));
  asks_.push_back(std::move(prepared));
  return static_cast<uint32_t>(asks_.size() - 1);
}

bool DevicePlacer::holds(const Prepared& prepared, const NodeClass& node) const {
  return prepared.kinds[node.kind] != suits_not && node.cpu_free >= prepared.shape.cpu_milli &&
         node.memory_free >= prepared.shape.memory_bytes && devices_fit(prepared.shape, node);
}

// Of two entries, the one to take later: dearer, or of a later free vector.
auto DevicePlacer::after() const {
  return [this](const Entry& a, const Entry& b) {
    if (a.price != b.price) return a.price > b.price;
    if (a.id == b.id) return a.generation > b.generation;
    return fleet_.node_class(a.id).hash > fleet_.node_class(b.id).hash;
  };
}

// Prices the classes in batch_ids_ and adds them to the heap.
void DevicePlacer::price(Prepared& prepared, bool whole_heap) {
  batch_.clear();
  for (const uint32_t id : batch_ids_) batch_.push_back(&fleet_.node_class(id));
  offers_.resize(batch_.size());
  policy_->price(prepared.shape, batch_, offers_);
  for (size_t i = 0; i < batch_.size(); ++i) {
    const bool preferred = prepared.kinds[batch_[i]->kind] == suits;
    prepared.heap.push_back(
        {price_of(offers_[i], preferred), batch_ids_[i], batch_[i]->generation});
    if (!whole_heap) std::ranges::push_heap(prepared.heap, after());
  }
  if (whole_heap) std::ranges::make_heap(prepared.heap, after());
}

// Brings what is kept for an ask up to date with the fleet and with what was learned.
void DevicePlacer::refresh(Prepared& prepared) {
  const size_t live = fleet_.live_classes().size();
  const uint64_t missed = fleet_.births() - prepared.seen;
  batch_ids_.clear();
  const bool rebuild = prepared.epoch != epoch_ || prepared.seen < fleet_.forgotten() ||
                       missed > live || prepared.heap.size() > 2 * live + 64;
  if (rebuild) {
    prepared.heap.clear();
    for (const uint32_t id : fleet_.live_classes())
      if (holds(prepared, fleet_.node_class(id))) batch_ids_.push_back(id);
  } else {
    for (const DeviceFleet::Birth& birth : fleet_.births_since(prepared.seen))
      if (fleet_.alive(birth) && holds(prepared, fleet_.node_class(birth.id)))
        batch_ids_.push_back(birth.id);
  }
  if (!batch_ids_.empty()) price(prepared, rebuild);
  prepared.seen = fleet_.births();
  prepared.epoch = epoch_;
}

void DevicePlacer::drop_stale(Prepared& prepared) {
  while (!prepared.heap.empty() &&
         !fleet_.alive({prepared.heap.front().id, prepared.heap.front().generation})) {
    std::ranges::pop_heap(prepared.heap, after());
    prepared.heap.pop_back();
  }
}

bool DevicePlacer::take_cheapest(Prepared& prepared, Entry& out) {
  drop_stale(prepared);
  if (prepared.heap.empty()) return false;
  std::ranges::pop_heap(prepared.heap, after());
  out = prepared.heap.back();
  prepared.heap.pop_back();
  popped_.push_back(out);
  return true;
}

// As many distinct nodes as the ask wants, cheapest first; fewer when there are no more.
void DevicePlacer::gather(Prepared& prepared, std::vector<uint32_t>& nodes) {
  const auto wanted = static_cast<size_t>(prepared.ask.nodes);
  drop_stale(prepared);
  if (wanted == 1 && policy_->ties() == Ties::by_state) {
    if (!prepared.heap.empty()) fleet_.first_members(prepared.heap.front().id, 1, nodes);
    return;
  }
  popped_.clear();
  Entry entry;
  while (nodes.size() < wanted && take_cheapest(prepared, entry)) {
    const size_t before = nodes.size();
    fleet_.first_members(entry.id, wanted - before, nodes);
    if (policy_->ties() != Ties::by_name) continue;
    const uint64_t price = entry.price;
    while (!prepared.heap.empty()) {  // the others that cost the same
      drop_stale(prepared);
      if (prepared.heap.empty() || prepared.heap.front().price != price) break;
      take_cheapest(prepared, entry);
      fleet_.first_members(entry.id, wanted - before, nodes);
    }
    std::sort(nodes.begin() + static_cast<std::ptrdiff_t>(before), nodes.end());
    nodes.resize(std::min(nodes.size(), wanted));
  }
  for (const Entry& back : popped_) {
    prepared.heap.push_back(back);
    std::ranges::push_heap(prepared.heap, after());
  }
}

void DevicePlacer::gather_by_lot(Prepared& prepared, std::vector<uint32_t>& nodes) {
  const auto wanted = static_cast<size_t>(prepared.ask.nodes);
  for (const Suits how : {suits, suits_but_group}) {
    std::vector<uint32_t> all;
    for (const uint32_t id : fleet_.live_classes()) {
      const NodeClass& row = fleet_.node_class(id);
      if (prepared.kinds[row.kind] == how && holds(prepared, row))
        fleet_.first_members(id, row.members, all);
    }
    std::ranges::sort(all);
    while (nodes.size() < wanted && !all.empty()) {
      const auto pick = static_cast<std::ptrdiff_t>(drawn(options_.seed, draws_++) % all.size());
      nodes.push_back(all[static_cast<size_t>(pick)]);
      all.erase(all.begin() + pick);
    }
  }
}

// The devices of a chosen node: cards of its class in ascending order are found on the node.
NodeShare DevicePlacer::share_on(const Prepared& prepared, uint32_t node) const {
  NodeShare share;
  share.node = node;
  const AskShape& ask = prepared.shape;
  share.count = static_cast<uint8_t>(ask.devices);
  if (ask.devices == 0) return share;
  CardStates left{};
  const std::span<const uint16_t> states = fleet_.cards(node);
  std::ranges::copy(states, left.begin());
  const std::span<uint16_t> cards = std::span(left).first(states.size());
  if (ask.mig) {
    EXA_ASSERT(put_instances(cards, ask, &share));
    return share;
  }
  const NodeClass& row = fleet_.state(node);
  const NodeClass* const one = &row;
  Offered offered;
  policy_->price(ask, std::span(&one, 1), std::span(&offered, 1));
  for (int32_t n = 0; n < ask.devices; ++n) {
    const uint16_t state = row.cards.at(offered.card + static_cast<size_t>(n));
    const auto found = std::ranges::find(cards, state);
    EXA_ASSERT(found != cards.end());
    share.cards.at(static_cast<size_t>(n)) = static_cast<uint8_t>(found - cards.begin());
    *found = UINT16_MAX;  // not twice
  }
  return share;
}

std::optional<DeviceAssignment> DevicePlacer::choose(uint32_t number) {
  Prepared& prepared = asks_.at(number);
  if (options_.learns) {
    options_.mix.observe(prepared.ask);
    if (options_.mix.total() >= learn_at_) learn_now();
  }
  std::vector<uint32_t> nodes;
  if (policy_->ties() == Ties::by_lot) {
    gather_by_lot(prepared, nodes);
  } else {
    refresh(prepared);
    gather(prepared, nodes);
  }
  if (nodes.size() < static_cast<size_t>(prepared.ask.nodes)) return std::nullopt;
  DeviceAssignment assignment;
  assignment.cpu_milli = prepared.ask.cpu_milli;
  assignment.memory_bytes = prepared.ask.memory_bytes;
  assignment.share_milli = prepared.shape.share_milli;
  assignment.mig = prepared.ask.mig;
  assignment.nodes.reserve(nodes.size());
  for (const uint32_t node : nodes) assignment.nodes.push_back(share_on(prepared, node));
  return assignment;
}

std::optional<DeviceAssignment> DevicePlacer::place(uint32_t ask) {
  std::optional<DeviceAssignment> assignment = choose(ask);
  if (assignment) EXA_ASSERT(fleet_.take(*assignment));
  return assignment;
}

NodeRefusals DevicePlacer::refusals(uint32_t number) const {
  const Prepared& prepared = asks_.at(number);
  const DeviceAsk& ask = prepared.ask;
  NodeRefusals why;
  for (const uint32_t id : fleet_.live_classes()) {
    const NodeClass& node = fleet_.node_class(id);
    const DeviceKind& kind = fleet_.kinds()[node.kind];
    const int64_t members = node.members;
    const auto count = [&](int64_t& row, bool applies) { row += applies ? members : 0; };
    why.nodes += members;
    count(why.fit, holds(prepared, node));
    const bool cards = ask.devices > 0;
    const bool mode = cards && kind.cards > 0 && kind.mig != ask.mig.has_value();
    count(why.model, cards && !accepts_model(kind, ask.models));
    count(why.capability, cards && !has_capabilities(kind, ask.capabilities));
    count(why.group, ask.group_required && !in_group(kind, ask.group));
    count(why.mode, mode);
    count(why.devices, cards && (kind.cards == 0 || (!mode && !devices_fit(prepared.shape, node))));
    count(why.cpu, node.cpu_free < ask.cpu_milli);
    count(why.memory, node.memory_free < ask.memory_bytes);
    NodeClass empty = node;
    std::fill_n(empty.cards.begin(), kind.cards,
                kind.mig ? kEmptyMigCard : static_cast<uint16_t>(kWholeDevice));
    count(why.never, kind.cpu_milli < ask.cpu_milli || kind.memory_bytes < ask.memory_bytes ||
                         (!mode && !devices_fit(prepared.shape, empty)));
  }
  return why;
}

size_t DevicePlacer::bytes() const {
  size_t sum = asks_.capacity() * sizeof(Prepared);
  for (const Prepared& prepared : asks_) sum += prepared.heap.capacity() * sizeof(Entry);
  return sum;
}

}  // namespace exa
