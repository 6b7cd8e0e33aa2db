#include "place/lease.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/quantity.h"
#include "place/mig.h"

namespace exa {
namespace {

constexpr int64_t kWhole = 1000;

// Thousandths held of each device that is held in part, by its number.
std::map<int64_t, int64_t> parts_held(std::span<const Lease> leases) {
  std::map<int64_t, int64_t> held;
  for (const Lease& lease : leases) {
    for (const LeasedPart& part : lease.parts)
      if (part.slices.compute == 0) held[part.device] += part.milli;
  }
  return held;
}

// The fullest device with room, the lowest number among equals; else the lowest unused number.
// Devices of this lease itself are passed over: an ask of several devices means distinct ones.
int64_t device_for(int64_t milli, const std::map<int64_t, int64_t>& held,
                   const std::set<int64_t>& taken) {
  std::optional<int64_t> best;
  int64_t unused = 0;
  for (const auto& [device, used] : held) {
    if (taken.contains(device) || used + milli > kWhole) continue;
    if (!best || used > held.at(*best)) best = device;
  }
  if (best) return *best;
  while (held.contains(unused) || taken.contains(unused)) ++unused;
  return unused;
}

// The cards that are cut into instances, by number.
std::map<int64_t, MigCard> cards_cut(std::span<const Lease> leases) {
  std::map<int64_t, MigCard> cards;
  for (const Lease& lease : leases) {
    for (const LeasedPart& part : lease.parts) {
      if (part.slices.compute == 0) continue;
      MigCard& card = cards.try_emplace(part.device, kEmptyMigCard).first->second;
      card = with_instance(card, part.slices, static_cast<int>(part.start));
    }
  }
  return cards;
}

// Each instance on the fullest card where it may begin, the lowest number among equals; else on the
// lowest unused one.
std::vector<LeasedPart> packed_instances(int64_t devices, int64_t milli, MigSlices slices,
                                         std::span<const Lease> open) {
  std::map<int64_t, MigCard> cards = cards_cut(open);
  std::set<int64_t> taken;
  std::vector<LeasedPart> parts;
  for (int64_t i = 0; i < devices; ++i) {
    std::optional<int64_t> best;
    for (const auto& [device, card] : cards) {
      if (taken.contains(device) || starts_left(card, slices) == 0) continue;
      if (!best || free_compute(card) < free_compute(cards.at(*best))) best = device;
    }
    int64_t unused = 0;
    while (cards.contains(unused)) ++unused;
    const int64_t device = best.value_or(unused);
    MigCard& card = cards.try_emplace(device, kEmptyMigCard).first->second;
    const int start = *best_start(card, slices);
    card = with_instance(card, slices, start);
    taken.insert(device);
    parts.push_back({device, milli, slices, start});
  }
  return parts;
}

std::vector<LeasedPart> packed(int64_t devices, int64_t milli, std::span<const Lease> open) {
  const std::map<int64_t, int64_t> held = parts_held(open);
  std::set<int64_t> taken;
  std::vector<LeasedPart> parts;
  for (int64_t i = 0; i < devices; ++i) {
    const int64_t device = device_for(milli, held, taken);
    taken.insert(device);
    parts.push_back({device, milli, {}, 0});
  }
  return parts;
}

json::value time_or_null(const std::optional<Time>& time) {
  return time ? json::value(format_rfc3339(*time)) : json::value(nullptr);
}

json::value text_or_null(const std::string& text) {
  return text.empty() ? json::value(nullptr) : json::value(text);
}

json::array parts_json(const std::vector<LeasedPart>& parts) {
  json::array list;
  for (const LeasedPart& part : parts) {
    list.emplace_back(json::object{{"device", part.device},
                                   {"share", part.milli},
                                   {"compute_slices", part.slices.compute},
                                   {"memory_slices", part.slices.memory},
                                   {"start", part.start}});
  }
  return list;
}

json::array nodes_json(const std::vector<LeasedNode>& nodes) {
  json::array list;
  for (const LeasedNode& node : nodes) {
    list.emplace_back(json::object{{"node", node.name},
                                   {"devices", node.devices},
                                   {"cpu_milli", node.cpu_milli},
                                   {"memory_bytes", node.memory_bytes}});
  }
  return list;
}

// Reads members of a stored lease; remembers whether any was not what was written.
class Stored {
 public:
  explicit Stored(const json::object& object) : object_(object) {}

  std::string text(std::string_view key) {
    const json::value* value = object_.if_contains(key);
    if (value != nullptr && value->is_string()) return std::string(value->get_string());
    if (value == nullptr || !value->is_null()) damaged_ = true;
    return {};
  }
  int64_t number(std::string_view key) {
    const auto found = number_if_any(key);
    if (!found) damaged_ = true;
    return found.value_or(0);
  }
  std::optional<int64_t> number_if_any(std::string_view key) {
    const json::value* value = object_.if_contains(key);
    if (value != nullptr && value->is_int64()) return value->get_int64();
    if (value == nullptr || !value->is_null()) damaged_ = true;
    return std::nullopt;
  }
  std::optional<Time> time_if_any(std::string_view key) {
    const std::string written = text(key);
    if (written.empty()) return std::nullopt;
    const auto time = parse_rfc3339(written);
    if (!time) damaged_ = true;
    return time ? std::optional(*time) : std::nullopt;
  }
  Time time(std::string_view key) {
    const auto found = time_if_any(key);
    if (!found) damaged_ = true;
    return found.value_or(Time{});
  }
  bool flag(std::string_view key) {
    const json::value* value = object_.if_contains(key);
    if (value == nullptr || !value->is_bool()) damaged_ = true;
    return value != nullptr && value->is_bool() && value->get_bool();
  }
  std::vector<LeasedPart> parts(std::string_view key) {
    std::vector<LeasedPart> parts;
    const json::value* list = object_.if_contains(key);
    if (list == nullptr || !list->is_array()) {
      damaged_ = true;
      return parts;
    }
    for (const json::value& element : list->get_array()) {
      if (!element.is_object()) {
        damaged_ = true;
        continue;
      }
      Stored part(element.get_object());
      parts.push_back({part.number("device"),
                       part.number("share"),
                       {static_cast<int>(part.number("compute_slices")),
                        static_cast<int>(part.number("memory_slices"))},
                       part.number("start")});
      damaged_ = damaged_ || part.damaged();
    }
    return parts;
  }
  std::vector<LeasedNode> nodes(std::string_view key) {
    std::vector<LeasedNode> nodes;
    const json::value* list = object_.if_contains(key);
    if (list == nullptr || !list->is_array()) {
      damaged_ = true;
      return nodes;
    }
    for (const json::value& element : list->get_array()) {
      if (!element.is_object()) {
        damaged_ = true;
        continue;
      }
      Stored node(element.get_object());
      nodes.push_back({node.text("node"), node.number("devices"), node.number("cpu_milli"),
                       node.number("memory_bytes")});
      damaged_ = damaged_ || node.damaged();
    }
    return nodes;
  }
  bool damaged() const { return damaged_; }

 private:
  const json::object& object_;
  bool damaged_ = false;
};

}  // namespace

std::optional<Time> Lease::end(Time now) const {
  if (ended_at) return std::min(*ended_at, expires_at);
  if (now >= expires_at) return expires_at;
  return std::nullopt;
}

PoolLeases held(std::span<const Lease> leases, Time now) {
  PoolLeases sum;
  std::map<int64_t, int64_t> parts;
  std::vector<Lease> open;
  for (const Lease& lease : leases) {
    if (lease.open(now) && !lease.parts.empty()) open.push_back(lease);
    if (!lease.open(now) || !lease.mig_profile.empty() || !lease.cluster.empty()) continue;
    if (lease.parts.empty()) sum.devices += lease.devices;
    for (const LeasedPart& part : lease.parts)
      if (part.slices.compute == 0) parts[part.device] += part.milli;
  }
  sum.devices += static_cast<int64_t>(parts.size());
  for (const auto& [device, milli] : parts) {
    if (milli < kWhole) sum.rests.push_back(kWhole - milli);
  }
  std::ranges::sort(sum.rests);
  for (const auto& [device, card] : cards_cut(open)) {
    ++sum.devices;
    sum.mig_cards.push_back(card);
  }
  return sum;
}

Lease lease_of(const Decision& decision, std::span<const Lease> open, Duration lifetime) {
  EXA_ASSERT(decision.chosen);
  const PoolCandidate& chosen = decision.candidates[*decision.chosen];
  const Pool& pool = decision.pools->pools[chosen.pool];
  const Workload& workload = decision.ask.workload;
  Lease lease;
  lease.workload = workload.name;
  lease.hardware_profile = workload.hardware_profile;
  lease.pool = pool.name;
  lease.target = pool.target;
  lease.region = pool.region;
  lease.device = pool.accelerator;
  lease.model = pool.model;
  lease.devices = workload.devices();
  lease.held_milli = chosen.held_milli;
  if (chosen.share >= 0) {
    const ShareOption& share =
        decision.pools->prepared[chosen.pool].shares[static_cast<size_t>(chosen.share)];
    if (share.from_devices)
      lease.parts = share.slices.compute > 0
                        ? packed_instances(lease.devices, chosen.held_milli, share.slices, open)
                        : packed(lease.devices, chosen.held_milli, open);
    else
      lease.mig_profile = share.mig_profile.empty() ? name(share.sharing) : share.mig_profile;
  }
  lease.cluster = pool.cluster;
  lease.price = pool.price;
  lease.carbon = carbon_rate(pool);
  lease.taken_at = decision.decided_at;
  lease.expires_at = {decision.decided_at.micros + lifetime.micros};
  return lease;
}

json::object to_stored_json(const Lease& lease) {
  return {{"id", lease.id},
          {"project", lease.project},
          {"workload", lease.workload},
          {"hardware_profile", text_or_null(lease.hardware_profile)},
          {"decision", lease.decision},
          {"pool", lease.pool},
          {"target", name(lease.target)},
          {"region", text_or_null(lease.region)},
          {"device", info(lease.device).name},
          {"model", text_or_null(lease.model)},
          {"devices", lease.devices},
          {"held", number_from_milli(lease.held_milli)},
          {"share", text_or_null(lease.mig_profile)},
          {"parts", parts_json(lease.parts)},
          {"cluster", text_or_null(lease.cluster)},
          {"nodes", nodes_json(lease.nodes)},
          {"cost_per_hour", lease.price ? number_from_micros(lease.price->micros) : nullptr},
          {"currency", lease.price ? json::value(lease.price->currency) : json::value(nullptr)},
          {"carbon_micrograms_per_hour",
           lease.carbon ? json::value(lease.carbon->micrograms_per_hour) : json::value(nullptr)},
          {"carbon_estimate", lease.carbon && lease.carbon->estimate},
          {"permit", text_or_null(lease.permit)},
          {"taken_at", format_rfc3339(lease.taken_at)},
          {"taken_by", lease.taken_by},
          {"expires_at", format_rfc3339(lease.expires_at)},
          {"ended_at", time_or_null(lease.ended_at)}};
}

json::object to_json(const Lease& lease, Time now) {
  json::object object = to_stored_json(lease);
  object["state"] = lease.open(now) ? "held" : lease.ended_at ? "released" : "expired";
  return object;
}

Result<Lease> lease_from_json(const json::object& stored) {
  Stored read(stored);
  Lease lease;
  lease.id = read.text("id");
  lease.project = read.text("project");
  lease.workload = read.text("workload");
  lease.hardware_profile = read.text("hardware_profile");
  lease.decision = read.text("decision");
  lease.pool = read.text("pool");
  const auto target = find_target(read.text("target"));
  lease.region = read.text("region");
  const auto device = find_family(read.text("device"));
  lease.model = read.text("model");
  lease.devices = read.number("devices");
  const json::value* share = stored.if_contains("held");
  const auto held_share =
      share == nullptr ? Result<int64_t>(0) : parse_milli(to_text(*share), "held");
  lease.mig_profile = read.text("share");
  lease.parts = read.parts("parts");
  lease.cluster = read.text("cluster");
  lease.nodes = read.nodes("nodes");
  const json::value* price = stored.if_contains("cost_per_hour");
  if (price != nullptr && price->is_number()) {
    const auto money = parse_money(to_text(*price), read.text("currency"));
    if (!money) return fail(Code::store_damaged, "a stored lease has no readable price");
    lease.price = *money;
  }
  if (const auto micrograms = read.number_if_any("carbon_micrograms_per_hour")) {
    lease.carbon = CarbonRate{*micrograms, read.flag("carbon_estimate")};
  }
  lease.permit = read.text("permit");
  lease.taken_at = read.time("taken_at");
  lease.taken_by = read.text("taken_by");
  lease.expires_at = read.time("expires_at");
  lease.ended_at = read.time_if_any("ended_at");
  if (read.damaged() || !target || !device || !held_share) {
    return fail(Code::store_damaged, fmt::format("stored lease {} cannot be read", lease.id));
  }
  lease.target = *target;
  lease.device = *device;
  lease.held_milli = *held_share;
  return lease;
}

}  // namespace exa
