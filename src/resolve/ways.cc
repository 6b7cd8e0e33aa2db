#include "resolve/ways.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "hardware/catalogue.h"

namespace exa {
namespace {

constexpr int64_t kWhole = 1000;

constexpr std::array<std::string_view, kClaims> kClaimFields = {
    "accelerator_family", "accelerator_model_hint",
    "gpu_count",          "gpu_fraction",
    "mig_profile",        "cpu",
    "memory_gb",          "driver_tag",
    "runtime_tag"};

void set(Way& way, Claim claim, Match match) {
  way.match[static_cast<size_t>(claim)] = match;
  if (match != Match::confirmed) way.confirmed &= static_cast<ClaimSet>(~bit(claim));
}

Way way_of(const FleetGroup& group, const FleetOffer& offer, int64_t units_each = 1) {
  Way way;
  way.group = &group;
  way.offer = &offer;
  way.units_each = units_each;
  way.devices = offer.units / units_each;
  return way;
}

// How much of its card one unit of a MIG profile is, in thousandths: the smaller of its share of
// the compute slices and of the memory slices. nullopt where the model is not known for certain.
std::optional<int64_t> mig_share(const FleetModel& seen, std::string_view profile) {
  const DeviceModel* model = single_model(seen.text, seen.memory_bytes);
  const MigProfile* found = model == nullptr ? nullptr : find_mig_profile(*model, profile);
  if (found == nullptr) return std::nullopt;
  int compute = 1;
  int memory = 1;
  for (const MigProfile& other : model->mig_profiles) {
    compute = std::max(compute, other.compute_slices);
    memory = std::max(memory, other.memory_slices);
  }
  return std::min(kWhole * found->compute_slices / compute, kWhole * found->memory_slices / memory);
}

// No model that the text can mean has the MIG profile.
bool lacks_profile(const FleetModel& seen, std::string_view profile) {
  const auto models = models_meant(seen.text);
  return !models.empty() && std::ranges::none_of(models, [&](const DeviceModel* model) {
    return find_mig_profile(*model, profile) != nullptr;
  });
}

// Units that may be whole devices, for all that was said.
bool may_be_whole(const FleetOffer& offer) {
  return offer.sharing == Sharing::whole || offer.sharing == Sharing::unread;
}

// At most as many devices as there are units; that a unit is a device is not known of all.
Way whole_way(const FleetGroup& group, const FleetOffer& offer) {
  Way way = way_of(group, offer);
  if (offer.sharing == Sharing::unread) set(way, Claim::gpu_count, Match::not_reported);
  return way;
}

// Whole devices: never slices or shares (semantics §4).
void add_whole_ways(const FleetGroup& group, std::vector<Way>& ways) {
  for (const FleetOffer& offer : group.offers)
    if (may_be_whole(offer)) ways.push_back(whole_way(group, offer));
}

// Instances of the profile; else whole devices as the coarse ask. Slices of another profile are
// neither.
void add_mig_ways(const Shape& shape, const Fleet& fleet, const FleetGroup& group,
                  std::vector<Way>& ways) {
  for (const FleetOffer& offer : group.offers) {
    if (offer.sharing == Sharing::mig && offer.mig_profile == shape.mig_profile) {
      ways.push_back(way_of(group, offer));
    } else if (may_be_whole(offer)) {
      ways.push_back(whole_way(group, offer));
      const bool impossible = lacks_profile(fleet.models[group.model], shape.mig_profile);
      set(ways.back(), Claim::mig, impossible ? Match::contradicted : Match::not_reported);
    }
  }
}

// Shares: as many as make up the fraction, where the cards behind them are counted; where they are
// not, the size of a share is unknown. MIG: an instance at least as large. Else whole devices.
void add_fraction_ways(const Shape& shape, const Fleet& fleet, const FleetGroup& group,
                       std::vector<Way>& ways) {
  const int64_t fraction = shape.gpu_fraction_milli;
  for (const FleetOffer& offer : group.offers) {
    if (offer.sharing == Sharing::mig) {
      const auto share = mig_share(fleet.models[group.model], offer.mig_profile);
      if (share && *share < fraction) continue;
      ways.push_back(way_of(group, offer));
      set(ways.back(), Claim::fraction, share ? Match::confirmed : Match::not_reported);
    } else if (may_be_whole(offer)) {
      ways.push_back(whole_way(group, offer));
      set(ways.back(), Claim::fraction, Match::not_reported);
    } else {
      const int64_t cards = group.physical.value_or(0);
      const int64_t per_card = cards > 0 ? offer.units / cards : 0;
      const int64_t each = std::max<int64_t>(
          1, per_card / kWhole * fraction + (per_card % kWhole * fraction + kWhole - 1) / kWhole);
      ways.push_back(way_of(group, offer, each));
      set(ways.back(), Claim::fraction, per_card > 0 ? Match::confirmed : Match::not_reported);
    }
  }
}

Way unread_way(const Shape& shape, const FleetGroup* group, int64_t devices) {
  Way way;
  way.group = group;
  way.unread = true;
  way.devices = devices;
  if (shape.gpu_count > 0) set(way, Claim::gpu_count, Match::not_reported);
  if (!shape.mig_profile.empty()) set(way, Claim::mig, Match::not_reported);
  if (shape.gpu_fraction_milli < kWhole) set(way, Claim::fraction, Match::not_reported);
  return way;
}

// Cards that nobody said how to ask for: whole ones are at most as many as were seen; how many
// instances or shares they are cut into is open.
void add_unread_ways(const Shape& shape, const Fleet& fleet, const FleetGroup& group,
                     std::vector<Way>& ways) {
  const int64_t cards = group.physical.value_or(kNotCounted);
  const bool whole = shape.mig_profile.empty() && shape.gpu_fraction_milli == kWhole;
  for (const Sharing sharing : group.offers_unread) {
    if (sharing == Sharing::whole) {
      ways.push_back(unread_way(shape, &group, cards));
    } else if (!whole) {
      ways.push_back(unread_way(shape, &group, cards == 0 ? 0 : kNotCounted));
    } else {
      continue;
    }
    if (!shape.mig_profile.empty() && lacks_profile(fleet.models[group.model], shape.mig_profile))
      set(ways.back(), Claim::mig, Match::contradicted);
  }
}

void add_device_ways(const Shape& shape, const Fleet& fleet, const FleetGroup& group,
                     std::vector<Way>& ways) {
  if (shape.gpu_count == 0) {
    Way way;
    way.group = &group;
    ways.push_back(way);
  } else if (!shape.mig_profile.empty()) {
    add_mig_ways(shape, fleet, group, ways);
  } else if (shape.gpu_fraction_milli < kWhole) {
    add_fraction_ways(shape, fleet, group, ways);
  } else {
    add_whole_ways(group, ways);
  }
  if (shape.gpu_count > 0) add_unread_ways(shape, fleet, group, ways);
}

void set_claims(const Shape& shape, const FleetClass& nodes, const Comparisons& comparisons,
                Way& way) {
  const bool cpu = shape.accelerator_family == Family::cpu;
  if (!cpu && (way.group == nullptr || way.group->family_unread))
    set(way, Claim::family, Match::not_reported);
  if (!shape.accelerator_model_hint.empty()) {
    set(way, Claim::model_hint,
        way.group == nullptr ? Match::not_reported : comparisons.models[way.group->model]);
  }
  if (!shape.driver_tag.empty())
    set(way, Claim::driver, comparisons.drivers[nodes.provision].match);
  if (!shape.runtime_tag.empty())
    set(way, Claim::runtime, Match::not_reported);  // but for the nodes with that tag
}

void add_tagged(const Fleet& fleet, std::string_view tag, Claim claim,
                std::vector<ClaimSet>& by_node) {
  if (tag.empty()) return;
  const auto found = fleet.tagged.find(lower(tag));
  if (found == fleet.tagged.end()) return;
  by_node.resize(fleet.cpu_milli.size(), 0);
  for (const uint32_t node : found->second) by_node[node] |= bit(claim);
}

}  // namespace

std::string_view field_of(Claim claim) {
  return kClaimFields.at(static_cast<size_t>(claim));
}

ClaimSet claims_of(const Shape& shape) {
  const bool devices = shape.accelerator_family != Family::cpu;
  const std::array<bool, kClaims> made = {
      true,
      !shape.accelerator_model_hint.empty(),
      devices,
      shape.gpu_fraction_milli<kWhole, !shape.mig_profile.empty(), shape.cpu_milli> 0,
      shape.memory_bytes > 0,
      !shape.driver_tag.empty(),
      !shape.runtime_tag.empty()};
  ClaimSet claims = 0;
  for (size_t i = 0; i < kClaims; ++i)
    if (made[i]) claims |= static_cast<ClaimSet>(1U << i);
  return claims;
}

Comparisons compare(const Shape& shape, const Fleet& fleet) {
  Comparisons result;
  result.models.resize(fleet.models.size(), Match::confirmed);
  if (!shape.accelerator_model_hint.empty()) {
    for (size_t i = 0; i < fleet.models.size(); ++i) {
      const FleetModel& model = fleet.models[i];
      if (!model.family_unread && model.family != shape.accelerator_family) continue;
      result.models[i] = match_model(shape.accelerator_model_hint, model.text, model.memory_bytes);
    }
  }
  for (const Provision& provision : fleet.provisions) {
    result.drivers.push_back(shape.driver_tag.empty()
                                 ? TagVerdict{}
                                 : match_driver(shape.driver_tag, provision.software));
  }
  add_tagged(fleet, shape.driver_tag, Claim::driver, result.tagged);
  add_tagged(fleet, shape.runtime_tag, Claim::runtime, result.tagged);
  return result;
}

std::vector<Way> ways_of(const Shape& shape, const Fleet& fleet, const FleetClass& nodes,
                         const Comparisons& comparisons) {
  std::vector<Way> ways;
  if (shape.accelerator_family == Family::cpu) {
    ways.emplace_back();
  } else {
    for (const FleetGroup& group : nodes.groups)
      if (group.may_be(shape.accelerator_family)) add_device_ways(shape, fleet, group, ways);
  }
  if (std::ranges::find(nodes.devices_unread, shape.accelerator_family) !=
      nodes.devices_unread.end())
    ways.push_back(unread_way(shape, nullptr, kNotCounted));
  for (Way& way : ways) set_claims(shape, nodes, comparisons, way);
  return ways;
}

std::string describe(const FleetModel& model) {
  if (!model.text.empty()) return model.text;
  if (model.family_unread) return "device of unknown family";
  return fmt::format("{} device of unknown model", info(model.family).name);
}

std::string describe(const FleetOffer& offer) {
  switch (offer.sharing) {
    case Sharing::whole:
      return "whole devices";
    case Sharing::mig:
      return "MIG " + offer.mig_profile;
    case Sharing::time_slice:
      return "time-slice shares";
    case Sharing::mps:
      return "MPS shares";
    case Sharing::shard:
      return "shards";
    case Sharing::vgpu:
      return "virtual GPUs";
    case Sharing::unread:
      return "units not said to be cards, slices or shares";
  }
  EXA_ASSERT(false && "every way of sharing is named");
}

}  // namespace exa
