#include "hardware/inventory_json.h"

#include <fmt/format.h>

#include "base/json_or_null.h"

namespace exa {
namespace {

void put(json::object& object, std::string_view key, const std::string& text) {
  if (!text.empty()) object[key] = text;
}

void put(json::object& object, std::string_view key, const std::optional<int64_t>& number) {
  if (number) object[key] = *number;
}

void put(json::object& object, std::string_view key, const std::vector<std::string>& texts) {
  if (!texts.empty()) object[key] = json::array(texts.begin(), texts.end());
}

void put(json::object& object, std::string_view key, const std::vector<Sharing>& ways) {
  if (ways.empty()) return;
  json::array names;
  for (const Sharing way : ways) names.emplace_back(name(way));
  object[key] = std::move(names);
}

void put(json::object& object, std::string_view key, const std::vector<Family>& families) {
  if (families.empty()) return;
  json::array names;
  for (const Family family : families) names.emplace_back(info(family).name);
  object[key] = std::move(names);
}

template <typename T>
json::array array_of(const std::vector<T>& values, json::object (*make)(const T&)) {
  json::array array;
  array.reserve(values.size());
  for (const T& value : values) array.emplace_back(make(value));
  return array;
}

json::object offer_json(const Offer& offer) {
  json::object object;
  object["sharing"] = name(offer.sharing);
  put(object, "resource", offer.resource);
  put(object, "mig_profile", offer.mig_profile);
  object["units"] = offer.units;
  put(object, "used", offer.used);
  put(object, "free", offer.free);
  return object;
}

json::object cards_json(const CardSet& cards) {
  json::object object;
  object["family"] = info(cards.family).name;
  if (cards.family_unread) object["family_unread"] = true;
  put(object, "reported", cards.reported);
  put(object, "model", cards.model);
  put(object, "physical", cards.physical);
  put(object, "memory_bytes", cards.memory_bytes);
  put(object, "remark", cards.remark);
  object["offers"] = array_of(cards.offers, offer_json);
  put(object, "offers_unread", cards.offers_unread);
  return object;
}

json::object taint_json(const Taint& taint) {
  return {{"key", taint.key}, {"value", taint.value}, {"effect", taint.effect}};
}

json::object software_json(const Software& software) {
  return {{"product", software.product}, {"version", software.version}};
}

json::object unread_json(const Unread& unread) {
  return {{"what", unread.what}, {"why", unread.why}};
}

// Reads the members of one object; the first thing that is not as written becomes the error.
class Reader {
 public:
  Reader(const json::value& value, std::string_view what) : what_(what) {
    object_ = value.if_object();
    if (object_ == nullptr) problem("is not an object");
  }

  std::string text(std::string_view key) {
    const json::value* value = member(key);
    if (value == nullptr) return {};
    if (!value->is_string()) return problem(key, "is not a text"), std::string();
    return std::string(value->get_string());
  }
  bool flag(std::string_view key) {
    const json::value* value = member(key);
    if (value == nullptr) return false;
    if (!value->is_bool()) return problem(key, "is neither true nor false"), false;
    return value->get_bool();
  }
  std::optional<int64_t> number(std::string_view key) {
    const json::value* value = member(key);
    if (value == nullptr) return std::nullopt;
    if (!value->is_int64() || value->get_int64() < 0)
      return problem(key, "is not a count"), std::nullopt;
    return value->get_int64();
  }
  int64_t required_number(std::string_view key) {
    const auto value = number(key);
    if (!value) problem(key, "is missing");
    return value.value_or(0);
  }
  std::vector<std::string> texts(std::string_view key) {
    return list<std::string>(key, [](const json::value& value) -> Result<std::string> {
      if (!value.is_string()) return fail(Code::unreadable_output, "not a text");
      return std::string(value.get_string());
    });
  }
  template <typename T, typename F>
  std::vector<T> list(std::string_view key, F read) {
    std::vector<T> result;
    const json::value* value = member(key);
    if (value == nullptr) return result;
    if (!value->is_array()) return problem(key, "is not a list"), result;
    result.reserve(value->get_array().size());
    for (const json::value& element : value->get_array()) {
      auto one = read(element);
      if (!one) {
        problem(key, one.error().message);
        break;
      }
      result.push_back(std::move(*one));
    }
    return result;
  }
  template <typename T, typename F>
  std::vector<T> all_named(std::string_view key, F find) {
    return list<T>(key, [&](const json::value& value) -> Result<T> {
      const auto found = value.is_string() ? find(value.get_string()) : std::nullopt;
      if (!found) return fail(Code::unreadable_output, "is not one of the known words");
      return *found;
    });
  }
  template <typename T, typename F>
  T named(std::string_view key, F find, T otherwise) {
    const auto found = find(text(key));
    if (!found) problem(key, "is not one of the known words");
    return found.value_or(otherwise);
  }

  void problem(std::string_view key, std::string_view why) {
    problem(fmt::format("{} {}", key, why));
  }

  template <typename T>
  Result<T> done(T value) {
    if (problem_) return fail(Code::unreadable_output, *problem_);
    return value;
  }

 private:
  void problem(std::string_view why) {
    if (!problem_) problem_ = fmt::format("{}: {}", what_, why);
  }
  const json::value* member(std::string_view key) {
    return object_ == nullptr ? nullptr : object_->if_contains(key);
  }

  std::string_view what_;
  const json::object* object_ = nullptr;
  std::optional<std::string> problem_;
};

Result<Offer> read_offer(const json::value& value) {
  Reader reader(value, "offer");
  Offer offer;
  offer.sharing = reader.named("sharing", find_sharing, Sharing::whole);
  offer.resource = reader.text("resource");
  offer.mig_profile = reader.text("mig_profile");
  offer.units = reader.required_number("units");
  offer.used = reader.number("used");
  offer.free = reader.number("free");
  return reader.done(std::move(offer));
}

Result<CardSet> read_cards(const json::value& value) {
  Reader reader(value, "cards");
  CardSet cards;
  cards.family = reader.named("family", find_family, Family::other);
  cards.family_unread = reader.flag("family_unread");
  cards.reported = reader.text("reported");
  cards.model = reader.text("model");
  cards.physical = reader.number("physical");
  cards.memory_bytes = reader.number("memory_bytes");
  cards.remark = reader.text("remark");
  cards.offers = reader.list<Offer>("offers", read_offer);
  cards.offers_unread = reader.all_named<Sharing>("offers_unread", find_sharing);
  return reader.done(std::move(cards));
}

Result<Taint> read_taint(const json::value& value) {
  Reader reader(value, "taint");
  Taint taint{reader.text("key"), reader.text("value"), reader.text("effect")};
  return reader.done(std::move(taint));
}

Result<Software> read_software(const json::value& value) {
  Reader reader(value, "software");
  Software software{reader.text("product"), reader.text("version")};
  return reader.done(std::move(software));
}

Result<Unread> read_unread(const json::value& value) {
  Reader reader(value, "unread");
  Unread unread{reader.text("what"), reader.text("why")};
  return reader.done(std::move(unread));
}

std::vector<std::pair<std::string, std::string>> read_labels(Reader& reader,
                                                             const json::value& node) {
  std::vector<std::pair<std::string, std::string>> labels;
  const json::value* value = find(node, "labels");
  if (value == nullptr) return labels;
  if (!value->is_object()) {
    reader.problem("labels", "is not an object");
    return labels;
  }
  for (const auto& [key, text] : value->get_object()) {
    if (!text.is_string())
      reader.problem("labels", "holds something else than texts");
    else
      labels.emplace_back(key, std::string(text.get_string()));
  }
  return labels;
}

Result<Node> read_node(const json::value& value) {
  Reader reader(value, "node");
  Node node;
  node.name = reader.text("name");
  node.partitions = reader.texts("partitions");
  node.features = reader.texts("features");
  node.labels = read_labels(reader, value);
  node.taints = reader.list<Taint>("taints", read_taint);
  node.health = reader.named("health", find_health, Health::unknown);
  node.state = reader.text("state");
  node.reason = reader.text("reason");
  node.cpu_milli = reader.number("cpu_milli");
  node.cpu_free_milli = reader.number("cpu_free_milli");
  node.memory_bytes = reader.number("memory_bytes");
  node.memory_free_bytes = reader.number("memory_free_bytes");
  node.cards = reader.list<CardSet>("cards", read_cards);
  node.devices_unread = reader.all_named<Family>("devices_unread", find_family);
  node.software = reader.list<Software>("software", read_software);
  node.zone = reader.text("zone");
  node.region = reader.text("region");
  return reader.done(std::move(node));
}

}  // namespace

json::object to_json(const Node& node) {
  json::object object;
  object["name"] = node.name;
  put(object, "partitions", node.partitions);
  put(object, "features", node.features);
  if (!node.labels.empty()) {
    json::object labels;
    for (const auto& [key, text] : node.labels) labels[key] = text;
    object["labels"] = std::move(labels);
  }
  if (!node.taints.empty()) object["taints"] = array_of(node.taints, taint_json);
  object["health"] = name(node.health);
  put(object, "state", node.state);
  put(object, "reason", node.reason);
  put(object, "cpu_milli", node.cpu_milli);
  put(object, "cpu_free_milli", node.cpu_free_milli);
  put(object, "memory_bytes", node.memory_bytes);
  put(object, "memory_free_bytes", node.memory_free_bytes);
  if (!node.cards.empty()) object["cards"] = array_of(node.cards, cards_json);
  put(object, "devices_unread", node.devices_unread);
  if (!node.software.empty()) object["software"] = array_of(node.software, software_json);
  put(object, "zone", node.zone);
  put(object, "region", node.region);
  return object;
}

json::object to_json(const Inventory& inventory) {
  json::object object;
  object["kind"] = name(inventory.kind);
  put(object, "tool", inventory.tool);
  put(object, "tool_version", inventory.tool_version);
  put(object, "cluster_name", inventory.cluster_name);
  if (!inventory.unread.empty()) object["unread"] = array_of(inventory.unread, unread_json);
  json::array nodes;
  nodes.reserve(inventory.nodes.size());
  for (const Node& node : inventory.nodes) nodes.emplace_back(to_json(node));
  object["nodes"] = std::move(nodes);
  return object;
}

Result<Inventory> inventory_from_json(const json::value& value) {
  Reader reader(value, "inventory");
  Inventory inventory;
  inventory.kind = reader.named("kind", find_cluster_kind, ClusterKind::host);
  inventory.tool = reader.text("tool");
  inventory.tool_version = reader.text("tool_version");
  inventory.cluster_name = reader.text("cluster_name");
  inventory.unread = reader.list<Unread>("unread", read_unread);
  inventory.nodes = reader.list<Node>("nodes", read_node);
  return reader.done(std::move(inventory));
}

json::object to_json(const DeviceCount& count) {
  json::object object;
  object["family"] = info(count.family).name;
  object["model"] = count.model.empty() ? json::value(nullptr) : json::value(count.model);
  object["sharing"] = name(count.sharing);
  object["mig_profile"] =
      count.mig_profile.empty() ? json::value(nullptr) : json::value(count.mig_profile);
  object["resource"] = count.resource.empty() ? json::value(nullptr) : json::value(count.resource);
  object["physical"] = number_or_null(count.physical);
  object["units"] = number_or_null(count.units);
  object["usable"] = number_or_null(count.usable);
  object["used"] = number_or_null(count.used);
  object["free"] = number_or_null(count.free);
  object["stranded"] = number_or_null(count.stranded);
  object["nodes"] = count.nodes;
  return object;
}

json::object to_json(const CapacityCount& count) {
  json::object object;
  object["nodes"] = count.nodes;
  object["usable_nodes"] = count.usable_nodes;
  json::object unusable;
  for (const auto& [health, nodes] : count.unusable) unusable[name(health)] = nodes;
  object["unusable_nodes"] = std::move(unusable);
  object["usable_cpu"] =
      count.cpu_milli ? number_from_milli(*count.cpu_milli) : json::value(nullptr);
  object["free_cpu"] =
      count.cpu_free_milli ? number_from_milli(*count.cpu_free_milli) : json::value(nullptr);
  object["usable_memory_bytes"] = number_or_null(count.memory_bytes);
  object["free_memory_bytes"] = number_or_null(count.memory_free_bytes);
  object["devices"] = array_of(
      count.devices, +[](const DeviceCount& device) { return to_json(device); });
  return object;
}

}  // namespace exa
