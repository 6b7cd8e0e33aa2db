#include "resolve/fleet.h"

#include <algorithm>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "resolve/saturating.h"

namespace exa {
namespace {

// Gives equal values the same small number.
template <typename Value>
class Numbers {
 public:
  uint32_t of(const Value& value) {
    return numbers_.emplace(value, static_cast<uint32_t>(numbers_.size())).first->second;
  }
  std::vector<Value> take() {
    std::vector<Value> values(numbers_.size());
    for (const auto& [value, number] : numbers_) values[number] = value;
    return values;
  }

 private:
  std::map<Value, uint32_t> numbers_;
};

using ModelKey = std::tuple<Family, bool, std::string, std::optional<int64_t>>;
using ProvisionKey = std::vector<std::pair<std::string, std::string>>;

struct NodeOffer {
  Sharing sharing = Sharing::whole;
  std::string mig_profile;
  int64_t units = 0;
  int64_t free = 0;  // or kNotSaid
};

struct NodeGroup {
  Family family = Family::other;
  bool family_unread = false;
  uint32_t model = 0;
  bool named = false;
  std::optional<int64_t> physical;
  std::vector<NodeOffer> offers;
  std::vector<Sharing> offers_unread;
};

// Everything about a node that must be equal within a class, as numbers; and its own free units.
struct NodeReading {
  std::vector<int64_t> key;
  std::vector<NodeGroup> groups;
  uint32_t provision = 0;
  uint32_t taints = 0;
};

// Kubernetes resource names hold no '+': mig-1g.10gb.me is the profile 1g.10gb+me.
std::string mig_name(std::string_view text) {
  std::string name = lower(text);
  if (const size_t at = name.find("gb."); at != std::string::npos) name[at + 2] = '+';
  return name;
}

int64_t sum_or_not_said(int64_t a, int64_t b) {
  return a == kNotSaid || b == kNotSaid ? kNotSaid : saturating_sum(a, b);
}

NodeOffer* find_offer(std::vector<NodeOffer>& offers, const NodeOffer& like) {
  const auto found = std::ranges::find_if(offers, [&](const NodeOffer& offer) {
    return offer.sharing == like.sharing && offer.mig_profile == like.mig_profile;
  });
  return found == offers.end() ? nullptr : &*found;
}

// The offers of one card set are choices: two resource names for the same whole cards count once.
std::vector<NodeOffer> offers_of(const CardSet& cards) {
  std::vector<NodeOffer> offers;
  for (const Offer& offer : cards.offers) {
    NodeOffer read{offer.sharing,
                   offer.sharing == Sharing::mig ? mig_name(offer.mig_profile) : std::string(),
                   offer.units, offer.free.value_or(kNotSaid)};
    if (NodeOffer* same = find_offer(offers, read)) {
      if (read.units > same->units) *same = std::move(read);
    } else {
      offers.push_back(std::move(read));
    }
  }
  return offers;
}

void merge(NodeGroup& group, NodeGroup other) {
  if (group.physical && other.physical)
    group.physical = saturating_sum(*group.physical, *other.physical);
  else
    group.physical.reset();
  for (const Sharing way : other.offers_unread)
    if (std::ranges::find(group.offers_unread, way) == group.offers_unread.end())
      group.offers_unread.push_back(way);
  for (NodeOffer& offer : other.offers) {
    if (NodeOffer* same = find_offer(group.offers, offer)) {
      same->units = saturating_sum(same->units, offer.units);
      same->free = sum_or_not_said(same->free, offer.free);
    } else {
      group.offers.push_back(std::move(offer));
    }
  }
}

bool keeps_work_away(const Taint& taint) {
  return taint.effect == "NoSchedule" || taint.effect == "NoExecute";
}

std::string taints_of(const Node& node) {
  std::vector<std::string> texts;
  for (const Taint& taint : node.taints) {
    if (!keeps_work_away(taint)) continue;
    texts.push_back(taint.value.empty()
                        ? fmt::format("{}:{}", taint.key, taint.effect)
                        : fmt::format("{}={}:{}", taint.key, taint.value, taint.effect));
  }
  std::ranges::sort(texts);
  return join(texts, ", ");
}

// Features, and labels whose key ends in /runtime or /runtime-tag: the only places where a cluster
// says which runtime image its nodes carry. Other labels differ from node to node.
std::vector<std::string> tags_of(const Node& node) {
  std::vector<std::string> tags = node.features;
  for (const auto& [key, value] : node.labels) {
    const std::string_view name = std::string_view(key).substr(key.rfind('/') + 1);
    if (name == "runtime" || name == "runtime-tag") tags.push_back(value);
  }
  for (std::string& tag : tags) tag = lower(tag);
  std::ranges::sort(tags);
  tags.erase(std::unique(tags.begin(), tags.end()), tags.end());
  return tags;
}

class Builder {
 public:
  explicit Builder(const Inventory& inventory) : inventory_(inventory) {}

  Fleet build() {
    std::map<std::vector<int64_t>, std::vector<size_t>> classes;
    std::vector<NodeReading> readings;
    readings.reserve(inventory_.nodes.size());
    for (size_t i = 0; i < inventory_.nodes.size(); ++i) {
      readings.push_back(read(inventory_.nodes[i]));
      classes[readings.back().key].push_back(i);
    }
    reserve(inventory_.nodes.size());
    for (const auto& [key, members] : classes) add_class(members, readings);
    finish();
    return std::move(fleet_);
  }

 private:
  NodeReading read(const Node& node) {
    NodeReading reading;
    for (const CardSet& cards : node.cards) add_cards(cards, reading.groups);
    ProvisionKey provision;
    for (const Software& row : node.software) provision.emplace_back(row.product, row.version);
    reading.provision = provisions_.of(provision);
    reading.taints = taints_.of(taints_of(node));
    reading.key = key_of(node, reading);
    return reading;
  }

  void add_cards(const CardSet& cards, std::vector<NodeGroup>& groups) {
    const std::string& text = cards.model.empty() ? cards.reported : cards.model;
    NodeGroup group{cards.family,
                    cards.family_unread,
                    models_.of({cards.family, cards.family_unread, text, cards.memory_bytes}),
                    !text.empty(),
                    cards.physical,
                    offers_of(cards),
                    cards.offers_unread};
    const auto same = std::ranges::find_if(
        groups, [&](const NodeGroup& other) { return other.named && other.model == group.model; });
    if (same == groups.end())
      groups.push_back(std::move(group));
    else
      merge(*same, std::move(group));
  }

  std::vector<int64_t> key_of(const Node& node, const NodeReading& reading) {
    std::vector<int64_t> key = {static_cast<int64_t>(node.health), reading.provision,
                                reading.taints};
    key.push_back(static_cast<int64_t>(node.devices_unread.size()));
    for (const Family family : node.devices_unread) key.push_back(static_cast<int64_t>(family));
    for (const NodeGroup& group : reading.groups) {
      key.push_back(group.model);
      key.push_back(static_cast<int64_t>(group.offers_unread.size()));
      for (const Sharing way : group.offers_unread) key.push_back(static_cast<int64_t>(way));
      key.push_back(group.physical.value_or(kNotSaid));
      key.push_back(static_cast<int64_t>(group.offers.size()));
      for (const NodeOffer& offer : group.offers) {
        key.push_back(static_cast<int64_t>(offer.sharing));
        key.push_back(profiles_.of(offer.mig_profile));
        key.push_back(offer.units);
      }
    }
    return key;
  }

  void reserve(size_t nodes) {
    for (auto* column : {&fleet_.cpu_milli, &fleet_.cpu_free_milli, &fleet_.memory_bytes,
                         &fleet_.memory_free_bytes})
      column->reserve(nodes);
  }

  void add_class(const std::vector<size_t>& members, const std::vector<NodeReading>& readings) {
    const NodeReading& reading = readings[members.front()];
    FleetClass row;
    row.health = inventory_.nodes[members.front()].health;
    row.devices_unread = inventory_.nodes[members.front()].devices_unread;
    row.provision = reading.provision;
    row.taints = reading.taints;
    row.first = fleet_.cpu_milli.size();
    row.count = members.size();
    for (size_t g = 0; g < reading.groups.size(); ++g)
      row.groups.push_back(add_group(g, members, readings));
    for (const size_t member : members) add_node(inventory_.nodes[member], row);
    fleet_.classes.push_back(std::move(row));
  }

  FleetGroup add_group(size_t g, const std::vector<size_t>& members,
                       const std::vector<NodeReading>& readings) {
    const NodeGroup& like = readings[members.front()].groups[g];
    FleetGroup group{like.family, like.family_unread, like.model, like.physical,
                     {},          like.offers_unread};
    for (size_t o = 0; o < like.offers.size(); ++o) {
      const NodeOffer& offer = like.offers[o];
      group.offers.push_back({offer.sharing, offer.mig_profile, offer.units, fleet_.free.size()});
      for (const size_t member : members) {
        const int64_t free = readings[member].groups[g].offers[o].free;
        const int64_t most = std::numeric_limits<int32_t>::max();
        fleet_.free.push_back(static_cast<int32_t>(std::clamp(free, kNotSaid, most)));
      }
    }
    return group;
  }

  void add_node(const Node& node, FleetClass& row) {
    const int64_t cpu = node.cpu_milli.value_or(kNotSaid);
    const int64_t memory = node.memory_bytes.value_or(kNotSaid);
    for (std::string& tag : tags_of(node))
      fleet_.tagged[std::move(tag)].push_back(static_cast<uint32_t>(fleet_.cpu_milli.size()));
    fleet_.cpu_milli.push_back(cpu);
    fleet_.memory_bytes.push_back(memory);
    fleet_.cpu_free_milli.push_back(node.cpu_free_milli.value_or(kNotSaid));
    fleet_.memory_free_bytes.push_back(node.memory_free_bytes.value_or(kNotSaid));
    row.most_cpu_milli = std::max(row.most_cpu_milli, cpu);
    row.most_memory_bytes = std::max(row.most_memory_bytes, memory);
    row.says_cpu = row.says_cpu && cpu != kNotSaid;
    row.says_memory = row.says_memory && memory != kNotSaid;
  }

  void finish() {
    for (const auto& [family, family_unread, text, memory] : models_.take())
      fleet_.models.push_back({family, family_unread, text, memory});
    for (const ProvisionKey& software : provisions_.take()) {
      Provision& provision = fleet_.provisions.emplace_back();
      for (const auto& [product, version] : software)
        provision.software.push_back({product, version});
    }
    fleet_.taints = taints_.take();
    fleet_.unread = inventory_.unread;
    std::map<Health, int64_t> healths;
    for (const Node& node : inventory_.nodes) ++healths[node.health];
    for (const auto& [health, count] : healths) {
      fleet_.nodes += count;
      if (health == Health::usable)
        fleet_.usable_nodes = count;
      else
        fleet_.unusable.emplace_back(health, count);
    }
  }

  const Inventory& inventory_;
  Fleet fleet_;
  Numbers<ModelKey> models_;
  Numbers<ProvisionKey> provisions_;
  Numbers<std::string> taints_;
  Numbers<std::string> profiles_;
};

}  // namespace

bool Fleet::has_family(Family family) const {
  return std::ranges::any_of(
      models, [&](const FleetModel& m) { return m.family == family && !m.family_unread; });
}

bool Fleet::may_have_family(Family family) const {
  const auto leaves_open = [&](const FleetClass& row) {
    return std::ranges::find(row.devices_unread, family) != row.devices_unread.end();
  };
  return has_family(family) || std::ranges::any_of(models, &FleetModel::family_unread) ||
         std::ranges::any_of(classes, leaves_open);
}

Fleet build_fleet(const Inventory& inventory) {
  return Builder(inventory).build();
}

}  // namespace exa
