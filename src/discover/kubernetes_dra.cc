#include "discover/kubernetes_dra.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "base/json.h"
#include "base/quantity.h"
#include "base/text.h"
#include "discover/kubernetes_cards.h"
#include "discover/kubernetes_json.h"
#include "hardware/catalogue.h"

namespace exa::kubernetes {
namespace {

using Counters = std::map<std::string, int64_t>;                      // "set/counter" -> amount
using DeviceKey = std::tuple<std::string, std::string, std::string>;  // driver, pool, device

struct Device {
  std::string name;
  std::map<std::string, std::string> attributes;  // without the driver's domain
  std::optional<int64_t> memory_bytes;
  Counters draws;
  bool tainted = false;
};

struct Slice {
  std::string name, driver, pool, node;
  int64_t generation = 0;
  int64_t slices_in_pool = 1;
  Counters counters;  // sharedCounters
  std::vector<Device> devices;
};

const json::array kNone;

const json::array& list_at(const json::value& object, std::string_view key) {
  const json::value* found = find(object, key);
  if (!found || found->is_null()) return kNone;
  if (!found->is_array()) throw Unreadable(fmt::format("{} is no list", key));
  return found->get_array();
}

template <typename F>
void each_entry(const json::value& object, std::string_view key, F&& take) {
  const json::value* found = find(object, key);
  if (!found || found->is_null()) return;
  if (!found->is_object()) throw Unreadable(fmt::format("{} is no object", key));
  for (const auto& [name, value] : found->get_object()) take(std::string(name), value);
}

int64_t number_at(const json::value& object, std::string_view key, int64_t otherwise) {
  const json::value* found = find(object, key);
  if (!found || found->is_null()) return otherwise;
  if (!found->is_int64()) throw Unreadable(fmt::format("{} is no whole number", key));
  return found->get_int64();
}

// "80Gi", or {"value": "80Gi"} as every version since v1alpha3 writes it.
int64_t amount_of(const json::value& value, std::string_view what) {
  const std::string_view text =
      value.is_string() ? std::string_view(value.get_string()) : text_or(value, "value", "");
  const auto quantity = parse_kubernetes_quantity(text);
  if (!quantity) throw Unreadable(fmt::format("{}: {}", what, quantity.error().message));
  return quantity->whole;
}

// {"string": "gpu"}, {"version": "12.4.0"}, {"bool": true}, {"int": 8}
std::string attribute_text(const json::value& value) {
  if (!value.is_object() || value.get_object().empty()) return {};
  const json::value& typed = value.get_object().begin()->value();
  return typed.is_string() ? std::string(typed.get_string()) : to_text(typed);
}

std::string without_domain(const std::string& name) {
  const size_t slash = name.find('/');
  return slash == name.npos ? name : name.substr(slash + 1);
}

void read_counters(const json::value& holder, Counters& out) {
  const std::string set(text_or(holder, "counterSet", text_or(holder, "name", "")));
  each_entry(holder, "counters", [&](const std::string& counter, const json::value& value) {
    int64_t& sum = out[set + "/" + counter];
    sum = std::min(sum + std::min(amount_of(value, "counter " + counter), kMostUnits), kMostUnits);
  });
}

Device read_device(const json::value& value) {
  Device device;
  device.name = text_or(value, "name", "");
  if (device.name.empty()) throw Unreadable("a device without a name");
  // v1beta1 nests under "basic" what v1beta2 and v1 hold directly
  const json::value* basic = find(value, "basic");
  const json::value& body = basic && basic->is_object() ? *basic : value;
  each_entry(body, "attributes", [&](const std::string& name, const json::value& attribute) {
    device.attributes[without_domain(name)] = attribute_text(attribute);
  });
  each_entry(body, "capacity", [&](const std::string& name, const json::value& amount) {
    if (without_domain(name) == "memory")
      device.memory_bytes = amount_of(amount, fmt::format("device {}: memory", device.name));
  });
  for (const json::value& draw : list_at(body, "consumesCounters"))
    read_counters(draw, device.draws);
  for (const json::value& taint : list_at(body, "taints"))
    if (text_or(taint, "effect", "") != "None") device.tainted = true;
  return device;
}

Slice read_slice(const json::value& item) {
  Slice slice;
  if (const json::value* metadata = find(item, "metadata"))
    slice.name = text_or(*metadata, "name", "");
  try {
    const json::value* spec = find(item, "spec");
    if (!spec || !spec->is_object()) throw Unreadable("no spec");
    slice.driver = text_or(*spec, "driver", "");
    if (slice.driver.empty()) throw Unreadable("no spec.driver");
    slice.node = text_or(*spec, "nodeName", "");
    if (const json::value* pool = find(*spec, "pool")) {
      slice.pool = text_or(*pool, "name", "");
      slice.generation = number_at(*pool, "generation", 0);
      slice.slices_in_pool = number_at(*pool, "resourceSliceCount", 1);
    }
    for (const json::value& set : list_at(*spec, "sharedCounters"))
      read_counters(set, slice.counters);
    for (const json::value& device : list_at(*spec, "devices"))
      slice.devices.push_back(read_device(device));
  } catch (const Unreadable& problem) {
    throw Unreadable(fmt::format("ResourceSlice {}: {}", printable(slice.name), problem.what()));
  }
  return slice;
}

json::value parsed(const CapturedOutput& output) {
  auto value = parse_json(output.out, output.name, tool_output_limits());
  if (!value) throw Unreadable(fmt::format("{}: {}", output.name, value.error().message));
  return std::move(*value);
}

// All pages of a question, or nullptr with a reason when it was refused.
std::vector<const CapturedOutput*> answers(const Capture& capture, std::string_view question) {
  std::vector<const CapturedOutput*> found;
  for (const CapturedOutput& output : capture.outputs)
    if (output.name == question || output.name.starts_with(fmt::format("{} page ", question)))
      found.push_back(&output);
  return found;
}

// Devices held by claims; nullopt where the claims could not be read.
std::optional<std::set<DeviceKey>> read_claims(const Capture& capture) {
  const auto outputs = answers(capture, kClaims);
  if (outputs.empty()) return std::nullopt;
  std::set<DeviceKey> held;
  for (const CapturedOutput* output : outputs) {
    if (output->exit_code != 0) return std::nullopt;
    const json::value list = parsed(*output);
    for (const json::value& claim : list_at(list, "items")) {
      const json::value* at = &claim;
      for (const char* step : {"status", "allocation", "devices"})
        if (at) at = find(*at, step);
      if (!at) continue;
      for (const json::value& result : list_at(*at, "results")) {
        const json::value* admin = find(result, "adminAccess");  // looks on, holds nothing
        if (admin && admin->is_bool() && admin->get_bool()) continue;
        held.emplace(text_or(result, "driver", ""), text_or(result, "pool", ""),
                     text_or(result, "device", ""));
      }
    }
  }
  return held;
}

// One way to ask within a pool: devices of one driver that are alike.
struct Kind {
  Sharing sharing = Sharing::whole;
  std::string mig_profile;
  std::string resource;
  auto operator<=>(const Kind&) const = default;
};

struct Driver {
  std::string_view name;
  Family family;
};
constexpr Driver kDrivers[] = {
    {"gpu.nvidia.com", Family::nvidia},       {"gpu.amd.com", Family::amd},
    {"gaudi.intel.com", Family::intel_gaudi}, {"gpu.intel.com", Family::other},
    {"tpu.google.com", Family::tpu},
};

std::optional<Family> family_of(std::string_view driver) {
  for (const Driver& known : kDrivers)
    if (known.name == driver) return known.family;
  return std::nullopt;  // network cards, NVLink domains and what else is published
}

std::string attribute(const Device& device, const char* name) {
  const auto found = device.attributes.find(name);
  return found == device.attributes.end() ? std::string() : found->second;
}

Kind kind_of(const Slice& slice, const Device& device) {
  Kind kind;
  const std::string type = attribute(device, "type");
  if (type == "mig" || is_mig_profile_name(attribute(device, "profile"))) {
    kind.sharing = Sharing::mig;
    kind.mig_profile = attribute(device, "profile");
    kind.resource = slice.driver + "/mig.nvidia.com";
  } else {
    kind.resource = slice.driver + "/" + slice.driver;
  }
  return kind;
}

// What a device is cut from: its parent's uuid, its counters, or itself.
std::string card_of(const Device& device) {
  if (!device.draws.empty()) {
    const std::string& counter = device.draws.begin()->first;
    return counter.substr(0, counter.rfind('/'));
  }
  const std::string parent = attribute(device, "parentUUID");
  if (!parent.empty()) return parent;
  const std::string own = attribute(device, "uuid");
  return own.empty() ? device.name : own;
}

bool take_from(Counters& left, const Counters& draws) {
  for (const auto& [counter, amount] : draws) {
    const auto present = left.find(counter);
    if (present == left.end() || present->second < amount) return false;
  }
  for (const auto& [counter, amount] : draws) left[counter] -= amount;
  return true;
}

// How many of `devices` fit at once on what is left of the counters.
int64_t fitting(const std::vector<const Device*>& devices, Counters left) {
  return std::ranges::count_if(
      devices, [&](const Device* device) { return take_from(left, device->draws); });
}

struct Held {
  std::set<std::string> devices;
  Counters left;
};

Held held_in(const Slice& pool, const std::set<DeviceKey>& claimed) {
  Held held;
  held.left = pool.counters;
  for (const Device& device : pool.devices) {
    if (!claimed.contains({pool.driver, pool.pool, device.name})) continue;
    held.devices.insert(device.name);
    for (const auto& [counter, amount] : device.draws)
      held.left[counter] = std::max<int64_t>(0, held.left[counter] - amount);
  }
  return held;
}

Offer offer_of_kind(const Slice& pool, const Kind& kind, const std::vector<const Device*>& devices,
                    const std::optional<Held>& held) {
  Offer offer;
  offer.sharing = kind.sharing;
  offer.mig_profile = kind.mig_profile;
  offer.resource = kind.resource;
  std::vector<const Device*> sound;
  std::ranges::copy_if(devices, std::back_inserter(sound),
                       [](const Device* device) { return !device->tainted; });
  offer.units = fitting(sound, pool.counters);
  if (!held) return offer;
  const auto is_held = [&](const Device* d) { return held->devices.contains(d->name); };
  offer.used = std::ranges::count_if(devices, is_held);
  std::erase_if(sound, is_held);
  offer.free = fitting(sound, held->left);
  return offer;
}

// Devices of one pool by model: one card set each.
std::vector<CardSet> cards_in(const Slice& pool, Family family, const std::optional<Held>& held) {
  std::map<std::string, std::vector<const Device*>> by_model;
  for (const Device& device : pool.devices)
    by_model[attribute(device, "productName")].push_back(&device);
  std::vector<CardSet> sets;
  for (const auto& [model, devices] : by_model) {
    CardSet cards;
    cards.family = family;
    cards.reported = model;
    std::map<Kind, std::vector<const Device*>> by_kind;
    std::set<std::string> parents;
    int64_t tainted = 0;
    for (const Device* device : devices) {
      const Kind kind = kind_of(pool, *device);
      by_kind[kind].push_back(device);
      parents.insert(card_of(*device));
      if (kind.sharing == Sharing::whole && device->memory_bytes)
        cards.memory_bytes = device->memory_bytes;
      tainted += device->tainted ? 1 : 0;
    }
    cards.physical = static_cast<int64_t>(parents.size());
    if (const DeviceModel* known = single_model(model, cards.memory_bytes))
      cards.model = known->name;
    for (const auto& [kind, alike] : by_kind)
      cards.offers.push_back(offer_of_kind(pool, kind, alike, held));
    if (tainted > 0)
      cards.remark = fmt::format("{} of {} devices tainted by the driver", tainted, devices.size());
    sets.push_back(std::move(cards));
  }
  return sets;
}

void add_to_node(std::vector<CardSet> sets, Node& node) {
  for (CardSet& cards : sets) {
    const auto same = std::ranges::find_if(node.cards, [&](const CardSet& known) {
      return known.family == cards.family && !known.offers.empty();
    });
    if (same == node.cards.end()) {
      // labels without a plugin described the very cards that the driver publishes
      std::erase_if(node.cards, [&](const CardSet& known) {
        return known.family == cards.family && known.offers.empty();
      });
      node.cards.push_back(std::move(cards));
      continue;
    }
    std::ranges::move(cards.offers, std::back_inserter(same->offers));
    for (Offer& offer : same->offers) offer.free.reset();
    if (!same->remark.empty()) same->remark += "; ";
    same->remark +=
        "offered by a device plugin and by a DRA driver, which may hold the same cards: what is "
        "free "
        "is unknown";
  }
}

void add_software(const Slice& pool, Node& node) {
  if (pool.driver != "gpu.nvidia.com" || pool.devices.empty()) return;
  const auto add = [&](const char* product, const std::string& version) {
    if (version.empty()) return;
    if (std::ranges::find(node.software, product, &Software::product) == node.software.end())
      node.software.push_back({product, version});
  };
  add("nvidia-driver", attribute(pool.devices.front(), "driverVersion"));
  add("cuda", attribute(pool.devices.front(), "cudaDriverVersion"));
}

using PoolKey = std::pair<std::string, std::string>;  // driver, pool

std::map<PoolKey, std::vector<Slice>> read_slices(
    const std::vector<const CapturedOutput*>& outputs) {
  std::map<PoolKey, std::vector<Slice>> pools;
  for (const CapturedOutput* output : outputs) {
    const json::value list = parsed(*output);
    for (const json::value& item : list_at(list, "items")) {
      Slice slice = read_slice(item);
      auto& same = pools[{slice.driver, slice.pool}];
      if (!same.empty() && same.front().generation < slice.generation) same.clear();
      if (same.empty() || same.front().generation == slice.generation)
        same.push_back(std::move(slice));
    }
  }
  return pools;
}

void add_pool(const std::vector<Slice>& slices, const std::optional<std::set<DeviceKey>>& claimed,
              Inventory& inventory) {
  Slice pool = slices.front();
  const auto family = family_of(pool.driver);
  if (!family) return;
  const std::string what =
      fmt::format("pool {} of {}", printable(pool.pool), printable(pool.driver));
  if (static_cast<int64_t>(slices.size()) < pool.slices_in_pool) {
    inventory.unread.push_back({what, fmt::format("{} of {} slices are published: being changed",
                                                  slices.size(), pool.slices_in_pool)});
    return;
  }
  for (size_t i = 1; i < slices.size(); ++i) {
    if (pool.node.empty()) pool.node = slices[i].node;
    std::ranges::copy(slices[i].devices, std::back_inserter(pool.devices));
    pool.counters.insert(slices[i].counters.begin(), slices[i].counters.end());
  }
  const auto node = std::ranges::lower_bound(inventory.nodes, pool.node, {}, &Node::name);
  if (pool.node.empty() || node == inventory.nodes.end() || node->name != pool.node) {
    if (!pool.devices.empty())
      inventory.unread.push_back(
          {what, pool.node.empty() ? "its devices belong to no single node"
                                   : "its node " + printable(pool.node) + " is not listed"});
    return;
  }
  std::optional<Held> held;
  if (claimed) held = held_in(pool, *claimed);
  add_to_node(cards_in(pool, *family, held), *node);
  add_software(pool, *node);
}

}  // namespace

void add_dynamic_resources(const Capture& capture, Inventory& inventory) {
  const auto outputs = answers(capture, kSlices);
  if (outputs.empty()) return;
  for (const CapturedOutput* output : outputs) {
    if (output->exit_code == 404) return;  // a server without resource.k8s.io
    if (output->exit_code != 0) {
      inventory.unread.push_back({"resourceslices", fmt::format("status {}", output->exit_code)});
      return;
    }
  }
  const auto pools = read_slices(outputs);
  if (pools.empty()) return;
  const auto claimed = read_claims(capture);
  if (!claimed)
    inventory.unread.push_back(
        {"resourceclaims", "not readable: which DRA devices are in use is unknown"});
  for (const auto& [key, slices] : pools) add_pool(slices, claimed, inventory);
}

}  // namespace exa::kubernetes
