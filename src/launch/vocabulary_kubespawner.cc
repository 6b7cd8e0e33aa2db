// An entry of KubeSpawner's profile_list: alone, in a list, or in the values of a JupyterHub chart.
#include <algorithm>

#include <fmt/format.h>

#include "base/quantity.h"
#include "base/text.h"
#include "launch/vocabulary_kubernetes_words.h"
#include "launch/vocabulary_table.h"

namespace exa::vocabulary {
namespace {

constexpr std::string_view kOverride = "kubespawner_override";

// JupyterHub's K, M, G and T are factors of 1024; a bare number counts bytes.
Result<int64_t> hub_memory(std::string_view text) {
  const std::string_view amount = trim(text);
  if (!amount.empty() && std::string_view("KMGT").find(amount.back()) != amount.npos)
    return parse_bytes_with_unit(fmt::format("{}i", amount));
  return parse_count(amount, "memory, which is bytes, or has a unit K, M, G or T");
}

json::value hub_memory_words(int64_t bytes) {
  constexpr std::pair<int64_t, char> kUnits[] = {{kGiB, 'G'}, {kMiB, 'M'}, {kKiB, 'K'}};
  for (const auto& [unit, letter] : kUnits)
    if (bytes % unit == 0) return json::string(fmt::format("{}{}", bytes / unit, letter));
  return bytes;
}

// --- reading

bool is_entry(const json::value& value) {
  return find(value, kOverride) != nullptr;
}

const Path& list_path(const json::value& root) {
  static const Path kPaths[] = {{"profile_list"}, {"profileList"}, {"singleuser", "profileList"}};
  static const Path kNone;
  for (const Path& path : kPaths) {
    const json::value* value = &root;
    for (const std::string_view key : path)
      if (value != nullptr) value = find(*value, key);
    if (value != nullptr && value->is_array()) return path;
  }
  return kNone;
}

std::vector<Node> entries_of(const Node& root) {
  if (root && root.value().is_array()) return root.elements();
  if (root && is_entry(root.value())) return {root};
  const Path& path = root ? list_path(root.value()) : Path();
  return path.empty() ? std::vector<Node>() : root.at(path).elements();
}

// What is guaranteed counts; without one, Kubernetes guarantees the limit.
void read_share(const Node& guarantee, const Node& limit, std::string_view field,
                Reading& reading) {
  const bool is_cpu = field == "cpu";
  const auto read = [&](const Node& node) {
    return read_amount(node, [&](std::string_view text) {
      return is_cpu ? parse_milli(text, "cpu") : hub_memory(text);
    });
  };
  const auto least = read(guarantee);
  const auto most = read(limit);
  if (least && most && *least != *most)
    limit.note("is another amount than is guaranteed, which is what counts");
  if (!least && !most) return;
  Shape& shape = reading.say(field, (least ? guarantee : limit).where());
  (is_cpu ? shape.cpu_milli : shape.memory_bytes) = least ? *least : *most;
}

void read_entry(const Node& entry, Reading& reading) {
  for (const char* key : {"display_name", "slug"}) entry[key].take();
  if (const auto text = entry["description"].scalar())
    reading.say("description", entry["description"].where()).description = *text;
  const Node settings = entry[kOverride];
  read_share(settings["cpu_guarantee"], settings["cpu_limit"], "cpu", reading);
  read_share(settings["mem_guarantee"], settings["mem_limit"], "memory_gb", reading);
  KubernetesReader reader(reading);
  for (const char* list : {"extra_resource_guarantees", "extra_resource_limits"})
    for (const auto& [name, amount] : settings[list].members()) reader.read_amount_of(name, amount);
  reader.read_selector(settings["node_selector"]);
  reader.finish();
}

// --- writing

json::value& entry_of(const Writing& writing, Source& target) {
  if (target.documents.empty()) new_document(target) = json::array();
  json::value& root = target.documents.front().value;
  if (is_entry(root)) return root;
  const Path path = list_path(root);
  json::array& list = root.is_array() ? root.get_array() : array_at(root, path);
  if (list.empty()) list.push_back({{"display_name", writing.name}, {"slug", writing.name}});
  return list[0];
}

void write_settings(json::object& settings, std::initializer_list<std::string_view> keys,
                    const json::value& amount) {
  for (const std::string_view key : keys) {
    if (amount.is_null())
      drop(settings, key);
    else
      put(settings, key, amount);
  }
}

json::object copy_of(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  return value != nullptr && value->is_object() ? value->get_object() : json::object();
}

void put_unless_empty(json::object& object, std::string_view key, json::object value) {
  if (value.empty())
    drop(object, key);
  else
    put(object, key, std::move(value));
}

void write_devices(const Shape& shape, json::object& settings) {
  for (const std::string_view list : {"extra_resource_guarantees", "extra_resource_limits"}) {
    json::object amounts = copy_of(settings, list);
    std::vector<std::string> names;
    for (const auto& member : amounts)
      if (is_device_resource(member.key())) names.emplace_back(member.key());
    for (const std::string& name : names) drop(amounts, name);
    if (list == "extra_resource_limits" && shape.gpu_count > 0)
      put_text(amounts, device_resource(shape), std::to_string(shape.gpu_count));
    put_unless_empty(settings, list, std::move(amounts));
  }
}

}  // namespace

bool recognises_kubespawner(const Source& source) {
  if (source.documents.size() != 1) return false;
  const json::value& root = source.documents[0].value;
  if (is_entry(root) || !list_path(root).empty()) return true;
  return root.is_array() && !root.get_array().empty() && is_entry(root.get_array()[0]);
}

void read_kubespawner(const Source& source, Reading& reading) {
  if (source.documents.size() != 1) return reading.problem(source.file, "one document is read");
  const Node root = Node::root(reading, source, 0);
  const std::vector<Node> entries = entries_of(root);
  if (entries.size() == 1) return read_entry(entries.front(), reading);
  reading.problem(root.where(), entries.empty()
                                    ? "there is no list of profiles in it"
                                    : fmt::format("{} entries; a profile is one of them: keep that",
                                                  entries.size()));
}

void write_kubespawner(const Writing& writing, Source& target) {
  const Shape& shape = writing.shape;
  note_without_words(writing, {kNoNodes, kNoDriver, kNoRuntime, kNoUse});
  json::value& entry = entry_of(writing, target);
  if (writing.parts.description) put_text_at(entry, {"description"}, shape.description);
  json::object& settings = object_at(entry, {kOverride});
  if (writing.parts.cpu)
    write_settings(
        settings, {"cpu_guarantee", "cpu_limit"},
        shape.cpu_milli == 0 ? json::value(nullptr) : number_from_milli(shape.cpu_milli));
  if (writing.parts.memory)
    write_settings(
        settings, {"mem_guarantee", "mem_limit"},
        shape.memory_bytes == 0 ? json::value(nullptr) : hub_memory_words(shape.memory_bytes));
  if (writing.parts.devices) write_devices(shape, settings);
  json::object selector = copy_of(settings, "node_selector");
  write_selector(writing, selector);
  put_unless_empty(settings, "node_selector", std::move(selector));
}

}  // namespace exa::vocabulary
