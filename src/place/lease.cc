#include "place/lease.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/json_or_null.h"
#include "base/quantity.h"
#include "place/fields.h"
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

// What the store wrote is all there and as it was written, or the row is damaged.
class StoredLease {
 public:
  explicit StoredLease(const json::object& stored) : stored_(stored), fields_(stored, problems_) {}

  Result<Lease> read() {
    Lease lease;
    for (const auto& [key, may_be_null] : keys()) {
      if (!fields_.has(key))
        fields_.say(key, "is missing");
      else if (!may_be_null && fields_.cleared(key))
        fields_.say(key, "is null");
    }
    names(lease);
    amounts(lease);
    times(lease);
    lease.parts = list<LeasedPart>("parts", [](const FieldReader& fields) {
      LeasedPart part;
      int64_t compute = 0;
      int64_t memory = 0;
      fields.count("device", part.device);
      fields.count("share", part.milli);
      fields.count("compute_slices", compute);
      fields.count("memory_slices", memory);
      fields.count("start", part.start);
      part.slices = {static_cast<int>(compute), static_cast<int>(memory)};
      return part;
    });
    lease.nodes = list<LeasedNode>("nodes", [](const FieldReader& fields) {
      LeasedNode node;
      fields.text("node", node.name);
      fields.count("devices", node.devices);
      fields.count("cpu_milli", node.cpu_milli);
      fields.count("memory_bytes", node.memory_bytes);
      return node;
    });
    if (problems_.empty()) return lease;
    const Problem& first = problems_.front();
    return fail(Code::store_damaged, fmt::format("stored lease {} cannot be read: {} {}", lease.id,
                                                 first.where, first.message));
  }

 private:
  // Every key that is written, and whether an empty lease has null there: then it may be null.
  static const std::vector<std::pair<std::string, bool>>& keys() {
    static const auto list = [] {
      std::vector<std::pair<std::string, bool>> made;
      for (const auto& member : to_stored_json(Lease{}))
        made.emplace_back(member.key(), member.value().is_null());
      return made;
    }();
    return list;
  }

  void names(Lease& lease) {
    const std::pair<std::string_view, std::string*> texts[] = {
        {"id", &lease.id},
        {"project", &lease.project},
        {"workload", &lease.workload},
        {"hardware_profile", &lease.hardware_profile},
        {"decision", &lease.decision},
        {"pool", &lease.pool},
        {"region", &lease.region},
        {"model", &lease.model},
        {"share", &lease.mig_profile},
        {"cluster", &lease.cluster},
        {"permit", &lease.permit},
        {"taken_by", &lease.taken_by}};
    for (const auto& [key, text] : texts) fields_.text(key, *text);
    fields_.choice<Target>("target", lease.target, "a target", {"hpc", "cloud"}, find_target);
    fields_.choice<Family>("device", lease.device, "a family", askable_family_names(), find_family);
  }

  void amounts(Lease& lease) {
    fields_.count("devices", lease.devices);
    fields_.amount("held", lease.held_milli,
                   [](std::string_view text) { return parse_milli(text, "held"); });
    if (!fields_.cleared("cost_per_hour")) {
      Money money;
      fields_.amount("cost_per_hour", money.micros,
                     [](std::string_view text) { return parse_micros(text, "cost"); });
      fields_.text("currency", money.currency);
      lease.price = std::move(money);
    }
    if (!fields_.cleared("carbon_micrograms_per_hour")) {
      CarbonRate rate;
      fields_.count("carbon_micrograms_per_hour", rate.micrograms_per_hour);
      fields_.flag("carbon_estimate", rate.estimate);
      lease.carbon = rate;
    }
  }

  void times(Lease& lease) {
    time("taken_at", lease.taken_at);
    time("expires_at", lease.expires_at);
    if (!fields_.cleared("ended_at")) time("ended_at", lease.ended_at.emplace());
  }

  void time(std::string_view key, Time& value) {
    std::string written;
    fields_.text(key, written);
    if (const auto read = parse_rfc3339(written))
      value = *read;
    else
      fields_.say(key, read.error().message);
  }

  template <typename T>
  std::vector<T> list(std::string_view key, const std::function<T(const FieldReader&)>& read) {
    std::vector<T> values;
    const json::value* given = find(stored_, key);
    if (given == nullptr || !given->is_array()) {
      fields_.say(key, "is not a list");
      return values;
    }
    for (const json::value& element : given->get_array()) {
      if (element.is_object())
        values.push_back(read(FieldReader(element.get_object(), problems_)));
      else
        fields_.say(key, "holds something that is no object");
    }
    return values;
  }

  const json::object& stored_;
  std::vector<Problem> problems_;
  FieldReader fields_;
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

Lease lease_without_promise(const Pool& pool, const Workload& workload, Time now,
                            Duration lifetime) {
  Lease lease;
  lease.workload = workload.name;
  lease.hardware_profile = workload.hardware_profile;
  lease.pool = pool.name;
  lease.target = pool.target;
  lease.region = pool.region;
  lease.device = pool.accelerator;
  lease.model = pool.model;
  lease.devices = workload.devices();
  lease.held_milli = workload.fraction_milli;
  lease.cluster = pool.cluster;
  lease.price = pool.price;
  lease.carbon = carbon_rate(pool);
  lease.taken_at = now;
  lease.expires_at = now + lifetime;
  return lease;
}

Lease lease_of(const Decision& decision, std::span<const Lease> open, Duration lifetime) {
  EXA_ASSERT(decision.chosen);
  const PoolCandidate& chosen = decision.candidates[*decision.chosen];
  const Pool& pool = decision.pools->pools[chosen.pool];
  Lease lease = lease_without_promise(pool, decision.ask.workload, decision.decided_at, lifetime);
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
  return StoredLease(stored).read();
}

}  // namespace exa
