#include "place/pool_seen.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "base/text.h"
#include "place/mig.h"

namespace exa {
namespace {

// Commas outside parentheses.
std::vector<std::string_view> terms_of(std::string_view text) {
  std::vector<std::string_view> terms;
  size_t start = 0;
  int depth = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '(') ++depth;
    if (i < text.size() && text[i] == ')') --depth;
    if (i < text.size() && (text[i] != ',' || depth > 0)) continue;
    terms.push_back(trim(text.substr(start, i - start)));
    start = i + 1;
  }
  return terms;
}

bool is_label_text(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-_./").find(c) != std::string_view::npos;
  });
}

Failure not_a_term(std::string_view term) {
  return fail(invalid("selector", {{"/selector",
                                    fmt::format("\"{}\" is none of KEY=VALUE, KEY!=VALUE, KEY in "
                                                "(A, B), KEY notin (A, B), KEY, !KEY",
                                                printable(term)),
                                    ""}}));
}

const std::string* label_of(const Node& node, std::string_view key) {
  const auto found =
      std::ranges::find_if(node.labels, [&](const auto& l) { return l.first == key; });
  return found == node.labels.end() ? nullptr : &found->second;
}

bool is_of_pool(const CardSet& cards, const Pool& pool) {
  if (cards.family != pool.accelerator) return false;
  if (pool.model.empty()) return true;
  return match_model(pool.model, cards.model.empty() ? cards.reported : cards.model,
                     cards.memory_bytes) != Match::contradicted;
}

// Thousandths of a device in one unit of an offer; 0: unknown.
int64_t share_of(const CardSet& cards, const Offer& offer) {
  if (offer.sharing == Sharing::mig) {
    const DeviceModel* model = single_model(cards.model);
    if (model == nullptr) return 0;
    for (const MigProfile& profile : model->mig_profiles) {
      if (profile.name == offer.mig_profile) return share_satisfied(profile);
    }
    return 0;
  }
  const int64_t cards_there = cards.physical.value_or(0);
  return offer.units > 0 && cards_there > 0 ? cards_there * 1000 / offer.units : 0;
}

using ShareKey = std::tuple<Sharing, std::string, int64_t>;

void add_shares(const CardSet& cards, std::map<ShareKey, PoolShares>& shares) {
  for (const Offer& offer : cards.offers) {
    if (offer.sharing == Sharing::whole || offer.units == 0) continue;
    const int64_t milli = share_of(cards, offer);
    const auto [at, fresh] = shares.try_emplace({offer.sharing, offer.mig_profile, milli});
    PoolShares& row = at->second;
    if (fresh) {
      row = {offer.sharing, offer.mig_profile, milli, offer.units, offer.free, offer.units};
      continue;
    }
    row.units += offer.units;
    row.free = row.free && offer.free ? std::optional(*row.free + *offer.free) : std::nullopt;
    row.largest_on_node = std::max(row.largest_on_node.value_or(0), offer.units);
  }
}

// A pool of the cpu family has as many units as its nodes have whole cores.
PoolNodes node_of(const Node& node, const Pool& pool) {
  PoolNodes row{.nodes = 1,
                .cpu_milli = node.cpu_milli,
                .cpu_free_milli = node.cpu_free_milli,
                .memory_bytes = node.memory_bytes,
                .memory_free_bytes = node.memory_free_bytes};
  if (pool.accelerator == Family::cpu) {
    row.devices = node.cpu_milli.value_or(0) / 1000;
    if (node.cpu_free_milli) row.free = *node.cpu_free_milli / 1000;
    return row;
  }
  row.free = 0;
  for (const CardSet& cards : node.cards) {
    if (!is_of_pool(cards, pool)) continue;
    for (const Offer& offer : cards.offers) {
      if (offer.sharing != Sharing::whole) continue;
      row.devices += offer.units;
      row.free = row.free && offer.free ? std::optional(*row.free + *offer.free) : std::nullopt;
    }
  }
  return row;
}

auto likeness(const PoolNodes& row) {
  return std::tuple(row.devices, row.free, row.cpu_milli, row.cpu_free_milli, row.memory_bytes,
                    row.memory_free_bytes);
}

void take_held(std::vector<PoolShares>& shares, std::span<const Lease> open) {
  for (const Lease& lease : open) {
    if (lease.mig_profile.empty()) continue;
    for (PoolShares& row : shares) {
      const std::string_view asked = row.mig_profile.empty() ? name(row.sharing) : row.mig_profile;
      if (asked != lease.mig_profile || row.share_milli != lease.held_milli || !row.free) continue;
      row.free = std::max<int64_t>(0, *row.free - lease.devices);
      break;
    }
  }
}

}  // namespace

Result<NodeSelector> NodeSelector::parse(std::string_view text) {
  NodeSelector selector;
  if (trim(text).empty()) return selector;
  for (const std::string_view term : terms_of(text)) {
    Requirement row;
    std::string_view values;
    if (const size_t open = term.find('('); open != std::string_view::npos) {
      const std::string_view before = trim(term.substr(0, open));
      const size_t blank = before.find_last_of(" \t");
      if (blank == std::string_view::npos || !term.ends_with(')')) return not_a_term(term);
      const std::string_view verb = before.substr(blank + 1);
      if (verb != "in" && verb != "notin") return not_a_term(term);
      row.key = trim(before.substr(0, blank));
      row.op = verb == "in" ? Op::in : Op::not_in;
      values = term.substr(open + 1, term.size() - open - 2);
    } else if (const size_t differs = term.find("!="); differs != std::string_view::npos) {
      row.key = trim(term.substr(0, differs));
      row.op = Op::not_in;
      values = term.substr(differs + 2);
    } else if (const size_t equals = term.find('='); equals != std::string_view::npos) {
      row.key = trim(term.substr(0, equals));
      row.op = Op::in;
      values = term.substr(equals + 1);
      if (values.starts_with('=')) values.remove_prefix(1);
    } else {
      row.op = term.starts_with('!') ? Op::absent : Op::exists;
      row.key = trim(row.op == Op::absent ? term.substr(1) : term);
    }
    if (!is_label_text(row.key)) return not_a_term(term);
    if (row.op == Op::in || row.op == Op::not_in) {
      for (const std::string_view value : split(values, ',')) {
        if (!trim(value).empty() && !is_label_text(trim(value))) return not_a_term(term);
        row.values.emplace_back(trim(value));
      }
    }
    selector.requirements_.push_back(std::move(row));
  }
  return selector;
}

bool NodeSelector::matches(const Node& node) const {
  return std::ranges::all_of(requirements_, [&](const Requirement& row) {
    const std::string* value = label_of(node, row.key);
    const bool featured = std::ranges::find(node.features, row.key) != node.features.end();
    const bool there = value != nullptr || featured;
    const std::string_view written = value == nullptr ? std::string_view() : *value;
    const bool listed = std::ranges::find(row.values, written) != row.values.end();
    switch (row.op) {
      case Op::in:
        return there && listed;
      case Op::not_in:
        return !there || !listed;
      case Op::exists:
        return there;
      case Op::absent:
        return !there;
    }
    return false;
  });
}

PoolSnapshot seen_by(const Pool& pool, const Inventory& inventory,
                     std::span<const Lease> open_leases) {
  PoolSnapshot seen;
  std::map<ShareKey, PoolShares> shares;
  std::map<decltype(likeness({})), PoolNodes> alike;
  // checked when the pool was set; a selector that cannot be read takes in nothing
  const auto selector = NodeSelector::parse(pool.selector);
  for (const Node& node : inventory.nodes) {
    const bool in_partition =
        pool.partition.empty() ||
        std::ranges::find(node.partitions, pool.partition) != node.partitions.end();
    if (!node.usable() || !in_partition || !selector || !selector->matches(node)) continue;
    for (const CardSet& cards : node.cards) {
      if (is_of_pool(cards, pool)) add_shares(cards, shares);
    }
    PoolNodes row = node_of(node, pool);
    if (row.devices == 0) continue;
    const auto [at, fresh] = alike.try_emplace(likeness(row), row);
    if (!fresh) ++at->second.nodes;
  }
  for (const auto& [key, row] : alike) seen.nodes.push_back(row);
  for (auto& [key, row] : shares) seen.shares.push_back(std::move(row));
  take_held(seen.shares, open_leases);
  return seen;
}

}  // namespace exa
