#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "discover/slurm_gres.h"

namespace exa {

namespace {

struct Kind {
  std::string_view name;
  std::string_view type;
  int64_t count = 0;
  bool unset = false;  // how many is unknown
};

using Kinds = std::vector<Kind>;

std::string resource_of(const Kind& kind) {
  return kind.type.empty() ? std::string(kind.name) : fmt::format("{}:{}", kind.name, kind.type);
}

Kinds merged(const std::vector<Gres>& entries) {
  Kinds kinds;
  for (const Gres& gres : entries) {
    if (gres.count == 0 && !gres.unset)
      continue;  // "gpu:0" stands for "none", also on nodes without devices
    Kind* same = nullptr;
    for (Kind& kind : kinds)
      if (kind.name == gres.name && kind.type == gres.type) same = &kind;
    if (same != nullptr) {
      same->count += gres.count;
      same->unset = same->unset || gres.unset;
    } else {
      kinds.push_back({gres.name, gres.type, gres.count, gres.unset});
    }
  }
  return kinds;
}

std::optional<Sharing> sharing_of(std::string_view name) {
  if (name == "shard") return Sharing::shard;
  if (name == "mps") return Sharing::mps;
  return std::nullopt;
}

struct NameMeaning {
  bool is_device = false;
  std::optional<Family> family;  // when only one family uses the name: "hpu", not "gpu"
};

NameMeaning meaning_of(std::string_view gres_name) {
  NameMeaning meaning;
  int families_found = 0;
  for (const FamilyInfo& family : families()) {
    for (const std::string_view name : family.slurm_gres) {
      if (name != gres_name) continue;
      meaning.is_device = true;
      meaning.family = family.family;
      ++families_found;
    }
  }
  if (families_found != 1) meaning.family.reset();
  return meaning;
}

bool only_one_of_its_name(const Kinds& kinds, const Kind& kind) {
  int count = 0;
  for (const Kind& other : kinds) count += other.name == kind.name ? 1 : 0;
  return count == 1;
}

bool any_unset(const std::vector<Gres>& entries, std::string_view name) {
  return std::ranges::any_of(entries,
                             [&](const Gres& gres) { return gres.name == name && gres.unset; });
}

std::optional<int64_t> find_amount(const std::vector<Gres>& entries, std::string_view name,
                                   std::string_view type) {
  std::optional<int64_t> sum;
  for (const Gres& gres : entries) {
    if (gres.name == name && same_word(gres.type, type)) sum = sum.value_or(0) + gres.count;
  }
  return sum;
}

// The amount of a kind in a TRES list; a name without a model is the kind's only when the node has
// no other kind of that name: gres/gpu counts whole cards and MIG slices in one number.
std::optional<std::string_view> tres_type(const Kinds& kinds, const Kind& kind,
                                          const TresGres& configured) {
  if (!configured.known || any_unset(configured.entries, kind.name)) return std::nullopt;
  if (find_amount(configured.entries, kind.name, kind.type)) return kind.type;
  if (only_one_of_its_name(kinds, kind) && find_amount(configured.entries, kind.name, "")) {
    return "";
  }
  return std::nullopt;
}

// Only what AccountingStorageTRES lists is in CfgTRES; of that, AllocTRES leaves out what is 0.
std::optional<int64_t> used_by_tres(const SlurmDevices& devices, const Kinds& kinds,
                                    const Kind& kind) {
  const auto type = tres_type(kinds, kind, devices.configured);
  if (!type || !devices.allocated.known) return std::nullopt;
  if (any_unset(devices.allocated.entries, kind.name)) return std::nullopt;
  return find_amount(devices.allocated.entries, kind.name, *type).value_or(0);
}

std::optional<int64_t> used_devices(const SlurmDevices& devices, const Kinds& kinds,
                                    const Kind& kind) {
  if (!devices.used) return used_by_tres(devices, kinds, kind);
  if (any_unset(*devices.used, kind.name)) return std::nullopt;
  if (const auto exact = find_amount(*devices.used, kind.name, kind.type)) return exact;
  const auto untyped = find_amount(*devices.used, kind.name, "");
  if (untyped && (*untyped == 0 || only_one_of_its_name(kinds, kind))) return untyped;
  if (kind.type.empty() && only_one_of_its_name(kinds, kind)) {
    std::optional<int64_t> sum;
    for (const Gres& gres : *devices.used)
      if (gres.name == kind.name) sum = sum.value_or(0) + gres.count;
    return sum;
  }
  return std::nullopt;
}

// "0,2-3" -> 3; "N/A" -> 0.
std::optional<int64_t> count_indices(std::string_view text) {
  if (says_nothing(text)) return 0;
  int64_t count = 0;
  for (const std::string_view part : split(text, ',')) {
    const size_t dash = part.find('-');
    const auto low = parse_gres_amount(part.substr(0, dash));
    const auto high =
        dash == std::string_view::npos ? low : parse_gres_amount(part.substr(dash + 1));
    if (!low || !high || *high < *low) return std::nullopt;
    count += *high - *low + 1;
  }
  return count;
}

// What a used list tells about shares. 22.05 prints the number of cards touched where the number of
// shares is meant: "shard:l40s:1(IDX:0)" with four shards in use. Later releases print the shares
// of every card: "shard:l40s:4(4/8,0/8)".
struct SharesUsed {
  std::optional<int64_t> units;
  std::optional<int64_t> cards;
};

SharesUsed per_card_shares(std::string_view detail) {
  SharesUsed used{0, 0};
  for (const std::string_view part : split(detail, ',')) {
    const auto held = parse_gres_amount(part.substr(0, part.find('/')));
    if (!held) return {};
    *used.units += *held;
    *used.cards += *held > 0 ? 1 : 0;
  }
  return used;
}

SharesUsed shares_by_list(const SlurmDevices& devices, const Kinds& kinds, const Kind& kind) {
  if (!devices.used || any_unset(*devices.used, kind.name)) return {};
  const Gres* entry = nullptr;
  for (const Gres& gres : *devices.used) {
    if (gres.name != kind.name) continue;
    const bool theirs = same_word(gres.type, kind.type) || only_one_of_its_name(kinds, kind);
    if (!theirs) continue;
    if (entry != nullptr) return {};
    entry = &gres;
  }
  if (entry == nullptr) return {};
  if (entry->detail.find('/') != std::string_view::npos && entry->detail != "IDX:N/A") {
    return per_card_shares(entry->detail);
  }
  if (entry->count == 0) return {0, 0};
  if (!entry->detail.starts_with("IDX:")) return {};
  SharesUsed used{std::nullopt, count_indices(entry->detail.substr(4))};
  if (used.cards && entry->count > *used.cards) used.units = entry->count;
  return used;
}

SharesUsed shares_used(const SlurmDevices& devices, const Kinds& kinds, const Kind& kind) {
  SharesUsed used = shares_by_list(devices, kinds, kind);
  if (!used.units) used.units = used_by_tres(devices, kinds, kind);
  if (!used.units && used.cards && devices.shares_held != nullptr &&
      only_one_of_its_name(kinds, kind)) {
    // a job listing can hide other people's jobs; the cards touched must agree
    const auto held = devices.shares_held->find(kind.name);
    if (held != devices.shares_held->end() && held->second.cards == *used.cards) {
      used.units = held->second.units;
    }
  }
  if (!used.cards && used.units == 0) used.cards = 0;
  return used;
}

// On a node that Slurm refused, Gres says what was found; the configured count is in CfgTRES, or in
// the reason that Slurm writes: "gres/gpu count reported lower than configured (3 < 4)".
int64_t configured_count(const SlurmDevices& devices, const Kinds& kinds, const Kind& kind) {
  if (!devices.refused) return kind.count;
  if (const auto type = tres_type(kinds, kind, devices.configured)) {
    return std::max(kind.count, *find_amount(devices.configured.entries, kind.name, *type));
  }
  const std::string prefix =
      fmt::format("gres/{} count reported lower than configured ({} < ", kind.name, kind.count);
  if (!devices.reason.starts_with(prefix) || !only_one_of_its_name(kinds, kind)) return kind.count;
  const std::string_view rest = devices.reason.substr(prefix.size());
  return std::max(kind.count,
                  parse_gres_amount(rest.substr(0, rest.find(')'))).value_or(kind.count));
}

struct FamilyFound {
  Family family = Family::other;
  std::string remark;
  bool unread = false;
};

// The type decides, then a GRES name that only one family uses, then, for devices without a type,
// the features of the node. A type that the catalogue does not know is of a family that nobody saw:
// a feature ("cuda-12.4") may mean other software on the node, and a bare "gpu" may be of any
// vendor.
FamilyFound family_of(const Kind& kind, const SlurmNames::Device& device,
                      const std::vector<std::string>& features, SlurmNames& names) {
  if (device.family) return {*device.family, "", false};
  const NameMeaning meaning = meaning_of(kind.name);
  if (meaning.family) return {*meaning.family, "", false};
  const std::string why = kind.type.empty()
                              ? std::string("type not reported")
                              : fmt::format("type {} is not in the catalogue", kind.type);
  if (!kind.type.empty()) return {Family::other, why, true};
  std::optional<Family> found;
  std::string from;
  for (const std::string& text : features) {
    const auto& feature = names.feature(text);
    if (!feature.family) continue;
    if (found && *found != *feature.family) {
      return {Family::other, why + "; the features name several families", true};
    }
    if (!found) from = text;
    found = feature.family;
  }
  if (!found) return {Family::other, why, true};
  return {*found, fmt::format("{}; family from feature {}", why, from), false};
}

void add_remark(CardSet& set, std::string_view remark) {
  if (remark.empty()) return;
  if (!set.remark.empty()) set.remark += "; ";
  set.remark += remark;
}

// Builds the card sets of one node, kind by kind.
class CardBuilder {
 public:
  CardBuilder(const SlurmDevices& devices, const std::vector<std::string>& features,
              SlurmNames& names)
      : devices_(devices), features_(features), names_(names), kinds_(merged(devices.total)) {}

  std::vector<CardSet> build(std::vector<std::string>& ignored) {
    for (const Kind& kind : kinds_) {
      if (sharing_of(kind.name)) continue;
      if (meaning_of(kind.name).is_device) {
        add_devices(kind);
      } else {
        ignored.emplace_back(kind.name);
      }
    }
    for (const Kind& kind : kinds_)
      if (const auto sharing = sharing_of(kind.name)) add_shares(kind, *sharing);
    return std::move(sets_);
  }

 private:
  void add_devices(const Kind& kind) {
    const auto& device = names_.device(kind.type);
    const FamilyFound found = family_of(kind, device, features_, names_);
    if (kind.unset) {
      add_uncounted(device, found, kind.name);
      return;
    }
    Offer offer;
    offer.resource = resource_of(kind);
    offer.units = configured_count(devices_, kinds_, kind);
    offer.used = used_devices(devices_, kinds_, kind);
    if (offer.used) offer.free = std::max<int64_t>(0, kind.count - *offer.used);
    std::string remark = found.remark;
    if (offer.units > kind.count) {
      remark = fmt::format("{} of {} configured found", kind.count, offer.units);
    }
    if (!says_nothing(devices_.drained)) {
      offer.free.reset();
      remark = fmt::format("drained: {}", devices_.drained);
    }
    if (!device.mig_profile.empty()) {
      offer.sharing = Sharing::mig;
      offer.mig_profile = device.mig_profile;
    }
    CardSet& set = set_for(device, found, offer);
    if (offer.sharing == Sharing::whole) set.physical = offer.units;
    if (set.remark.empty()) add_remark(set, remark);
    set.offers.push_back(std::move(offer));
  }

  // They are there, and nobody said how many.
  void add_uncounted(const SlurmNames::Device& device, const FamilyFound& found,
                     std::string_view gres) {
    CardSet set;
    set.family = found.family;
    set.family_unread = found.unread;
    set.reported = device.reported;
    set.model = device.model;
    set.offers_unread = {device.mig_profile.empty() ? Sharing::whole : Sharing::mig};
    set.remark = fmt::format("the number of gres/{} is not set", gres);
    sets_.push_back(std::move(set));
  }

  // The slices of one model share a set, because they are cut from the same cards; whole cards are
  // others, for a card in MIG mode is not listed whole.
  CardSet& set_for(const SlurmNames::Device& device, const FamilyFound& found, const Offer& offer) {
    if (offer.sharing == Sharing::mig) {
      for (CardSet& set : sets_) {
        if (!set.physical && set.reported == device.reported && set.family == found.family)
          return set;
      }
    }
    CardSet set;
    set.family = found.family;
    set.family_unread = found.unread;
    set.reported = device.reported;
    set.model = device.model;
    sets_.push_back(std::move(set));
    return sets_.back();
  }

  void add_shares(const Kind& kind, Sharing sharing) {
    if (kind.unset) {
      add_uncounted_shares(kind, sharing);
      return;
    }
    Offer offer;
    offer.sharing = sharing;
    offer.resource = resource_of(kind);
    offer.units = kind.count;
    const SharesUsed used = shares_used(devices_, kinds_, kind);
    offer.used = used.units;
    CardSet* cards = cards_under(kind);
    if (cards == nullptr) {
      add_shares_of_unknown_cards(kind, std::move(offer));
      return;
    }
    Offer& whole = cards->offers.front();
    if (offer.used && whole.used && cards->physical && *cards->physical > 0) {
      // the shares of a card that is held whole cannot be had
      const int64_t per_card = (kind.count + *cards->physical - 1) / *cards->physical;
      offer.free = std::max<int64_t>(
          0, kind.count - *offer.used - std::min(*whole.used, *cards->physical) * per_card);
    }
    if (!used.cards) {
      whole.free.reset();
    } else if (whole.free) {
      whole.free = std::max<int64_t>(0, *whole.free - *used.cards);
      if (*used.cards > 0) add_remark(*cards, fmt::format("{} shared", *used.cards));
    }
    cards->offers.push_back(std::move(offer));
  }

  // Any of the cards may carry some of them.
  void add_uncounted_shares(const Kind& kind, Sharing sharing) {
    const std::string remark = fmt::format("the number of gres/{} is not set", kind.name);
    for (CardSet& set : sets_) {
      if (!set.physical) continue;
      set.offers.front().free.reset();
      set.offers_unread.push_back(sharing);
      add_remark(set, remark);
    }
  }

  // The whole cards that shares are cut from: those of the same type, or the only ones there are.
  CardSet* cards_under(const Kind& kind) {
    CardSet* found = nullptr;
    for (CardSet& set : sets_) {
      if (!set.physical) continue;
      if (!kind.type.empty() && same_word(set.reported, kind.type)) return &set;
      if (found != nullptr) return nullptr;
      found = &set;
    }
    const bool fits = found != nullptr && (kind.type.empty() || found->reported.empty());
    return fits ? found : nullptr;
  }

  void add_shares_of_unknown_cards(const Kind& kind, Offer offer) {
    const auto& device = names_.device(kind.type);
    const FamilyFound found =
        family_of({"gpu", kind.type, kind.count, false}, device, features_, names_);
    for (CardSet& set : sets_)
      if (set.physical) set.offers.front().free.reset();  // any of them may carry shares
    CardSet set;
    set.family = found.family;
    set.family_unread = found.unread;
    set.reported = device.reported;
    set.model = device.model;
    set.remark = "the cards behind these shares are not told";
    set.offers.push_back(std::move(offer));
    sets_.push_back(std::move(set));
  }

  const SlurmDevices& devices_;
  const std::vector<std::string>& features_;
  SlurmNames& names_;
  Kinds kinds_;
  std::vector<CardSet> sets_;
};

}  // namespace

std::vector<CardSet> cards_of(const SlurmDevices& devices, const std::vector<std::string>& features,
                              SlurmNames& names, std::vector<std::string>& ignored) {
  return CardBuilder(devices, features, names).build(ignored);
}

}  // namespace exa
