// A HardwareProfile of OpenShift AI: what a form offers (identifiers with a least, a default and a
// most), which nodes take it, where it is shown.
#include <algorithm>

#include <fmt/format.h>

#include "base/quantity.h"
#include "base/text.h"
#include "launch/vocabulary_kubernetes_words.h"
#include "launch/vocabulary_table.h"

namespace exa::vocabulary {
namespace {

constexpr std::string_view kVersion = "infrastructure.opendatahub.io/v1";
constexpr std::string_view kDisplayName = "opendatahub.io/display-name";
constexpr std::string_view kDescription = "opendatahub.io/description";
constexpr std::string_view kVisibility = "opendatahub.io/dashboard-feature-visibility";

struct Place {
  std::string_view word;
  Surface use;
};
constexpr Place kPlaces[] = {{"workbench", Surface::workbench},
                             {"model-serving", Surface::serving}};

bool is_profile(const json::value& document) {
  const std::string_view version = text_or(document, "apiVersion", "");
  return text_or(document, "kind", "") == "HardwareProfile" &&
         (version.starts_with("infrastructure.opendatahub.io/") ||
          version.starts_with("dashboard.opendatahub.io/"));
}

// --- reading

bool is_same(const json::value& a, const json::value& b) {
  const auto milli = [](const json::value& value) {
    const auto read = parse_kubernetes_quantity(value.is_string() ? std::string(value.get_string())
                                                                  : exa::to_text(value));
    return read ? read->milli : -1;
  };
  return milli(a) == milli(b);
}

void read_identifier(const Node& identifier, KubernetesReader& reader) {
  const std::string name(identifier.peek("identifier"));
  const Node count = identifier["defaultCount"];
  if (!reader.read_amount_of(name, count)) return;
  for (const char* key : {"identifier", "displayName", "resourceType"}) identifier[key].take();
  for (const char* key : {"minCount", "maxCount"}) {
    const Node end = identifier[key];
    if (!end) continue;
    if (count && is_same(end.value(), count.value()))
      end.take();
    else
      end.note("a profile asks for one amount: the default counts");
  }
  if (!count) identifier.problem("has no defaultCount");
}

void read_visibility(const Node& annotation, Reading& reading) {
  const auto text = annotation.scalar();
  if (!text) return;
  const auto list = parse_json(*text, "the list");
  if (!list || !list->is_array())
    return annotation.note("is no list, so the profile is shown everywhere");
  std::vector<Surface> uses;
  for (const json::value& word : list->get_array()) {
    const auto* known = std::ranges::find_if(kPlaces, [&](const Place& place) {
      return word.is_string() && std::string_view(word.get_string()) == place.word;
    });
    if (known == std::end(kPlaces))
      annotation.note(
          fmt::format("{} is no use that a profile names", printable(exa::to_text(word))));
    else
      uses.push_back(known->use);
  }
  std::ranges::sort(uses);
  if (!uses.empty()) reading.say("applicability", annotation.where()).applicability = uses;
}

// --- writing

void write_annotation(json::value& root, std::string_view key, const std::string& text) {
  put_text_at(root, {"metadata", "annotations", key}, text);
}

// Empty: shown everywhere.
std::string visibility_of(const Writing& writing) {
  json::array words;
  const auto& uses = writing.shape.applicability;
  const bool has_any = std::ranges::find(uses, Surface::any) != uses.end();
  if (has_any && uses.size() > 1)
    writing.note("applicability", "any says it all: shown everywhere");
  if (has_any) return "";
  if (std::ranges::find(uses, Surface::training) != uses.end())
    writing.note("applicability", "profiles are shown for workbenches and model serving only");
  for (const Place& place : kPlaces)
    if (std::ranges::find(uses, place.use) != uses.end()) words.push_back(json::string(place.word));
  return words.empty() ? "" : exa::to_text(words);
}

struct Kind {
  std::string_view display;
  std::string_view type;
};

Kind kind_of(std::string_view name, const Shape& shape) {
  if (name == "cpu") return {"CPU", "CPU"};
  if (name == "memory") return {"Memory", "Memory"};
  return {info(shape.accelerator_family).vendor, "Accelerator"};
}

int64_t milli_of(const json::value* count) {
  if (count == nullptr || count->is_null()) return -1;
  const auto read = parse_kubernetes_quantity(count->is_string() ? std::string(count->get_string())
                                                                 : exa::to_text(*count));
  return read ? read->milli : -1;
}

// The default becomes `amount`; a least above it or a most below it follows.
void set_count(json::object& identifier, const json::value& amount) {
  put(identifier, "defaultCount", amount);
  const int64_t wanted = milli_of(&amount);
  const int64_t least = milli_of(identifier.if_contains("minCount"));
  const int64_t most = milli_of(identifier.if_contains("maxCount"));
  if (least < 0 || least > wanted) put(identifier, "minCount", amount);
  if (most >= 0 && most < wanted) put(identifier, "maxCount", amount);
}

void write_identifier(const Shape& shape, json::array& list, std::string_view name,
                      const json::value& amount) {
  auto* found = std::ranges::find_if(list, [&](const json::value& identifier) {
    return text_or(identifier, "identifier", "") == name;
  });
  if (amount.is_null()) {
    if (found != list.end()) list.erase(found);
    return;
  }
  if (found == list.end()) {
    const Kind kind = kind_of(name, shape);
    list.push_back({{"displayName", kind.display},
                    {"identifier", name},
                    {"minCount", amount},
                    {"defaultCount", amount},
                    {"maxCount", amount},
                    {"resourceType", kind.type}});
    return;
  }
  set_count(as_object(*found), amount);
}

void write_devices(const Shape& shape, json::array& list) {
  const std::string wanted = shape.gpu_count == 0 ? "" : device_resource(shape);
  std::vector<std::string> others;
  for (const json::value& identifier : list)
    if (const std::string_view name = text_or(identifier, "identifier", "");
        is_device_resource(name) && name != wanted)
      others.emplace_back(name);
  for (const std::string& name : others) write_identifier(shape, list, name, nullptr);
  if (!wanted.empty()) write_identifier(shape, list, wanted, shape.gpu_count);
}

// Whole amounts are numbers, as the form writes them.
json::value cpu_count(int64_t milli) {
  if (milli == 0) return nullptr;
  if (milli % 1000 == 0) return milli / 1000;
  return json::string(cpu_quantity(milli));
}

// Where a queue decides on the nodes, nothing else may.
void write_scheduling(const Writing& writing, json::value& root) {
  json::object& spec = object_at(root, {"spec"});
  json::object scheduling;
  if (const json::value* there = find(spec, "scheduling"); there != nullptr && there->is_object())
    scheduling = there->get_object();
  json::object node;
  if (const json::value* there = find(scheduling, "node"); there != nullptr && there->is_object())
    node = there->get_object();
  json::object labels;
  if (const json::value* there = find(node, "nodeSelector"); there != nullptr && there->is_object())
    labels = there->get_object();
  const bool was_there = !labels.empty();
  write_selector(writing, labels);
  if (text_or(scheduling, "type", "Node") != "Node" || (labels.empty() && !was_there)) return;
  if (labels.empty())
    drop(node, "nodeSelector");
  else
    put(node, "nodeSelector", std::move(labels));
  put_if_absent(scheduling, "type", "Node");
  put(scheduling, "node", std::move(node));
  put(spec, "scheduling", std::move(scheduling));
}

}  // namespace

bool recognises_openshift_ai(const Source& source) {
  return source.documents.size() == 1 && is_profile(source.documents[0].value);
}

void read_openshift_ai(const Source& source, Reading& reading) {
  if (!recognises_openshift_ai(source))
    return reading.problem(source.file, fmt::format("is not one HardwareProfile of {}", kVersion));
  const Node root = Node::root(reading, source, 0);
  for (const char* key : {"apiVersion", "kind"}) root[key].take();
  root["metadata"]["name"].take();
  const Node annotations = root["metadata"]["annotations"];
  annotations[kDisplayName].take();
  if (const auto text = annotations[kDescription].scalar())
    reading.say("description", annotations[kDescription].where()).description = *text;
  read_visibility(annotations[kVisibility], reading);
  KubernetesReader reader(reading);
  for (const Node& identifier : root["spec"]["identifiers"].elements())
    read_identifier(identifier, reader);
  const Node scheduling = root["spec"]["scheduling"];
  if (scheduling.peek("type") == "Node") scheduling["type"].take();
  reader.read_selector(scheduling["node"]["nodeSelector"]);
  reader.finish();
}

void write_openshift_ai(const Writing& writing, Source& target) {
  const Shape& shape = writing.shape;
  note_without_words(writing, {kNoNodes, kNoDriver, kNoRuntime});
  if (target.documents.empty()) {
    json::value& root = new_document(target);
    root = {{"apiVersion", kVersion},
            {"kind", "HardwareProfile"},
            {"metadata", {{"name", writing.name}}}};
    put(object_at(root, {"metadata", "annotations"}), kDisplayName, json::string(writing.name));
  }
  json::value& root = target.documents.front().value;
  const std::string visibility = visibility_of(writing);
  if (writing.parts.applicability) write_annotation(root, kVisibility, visibility);
  if (writing.parts.description) write_annotation(root, kDescription, shape.description);
  json::array& list = array_at(root, {"spec", "identifiers"});
  if (writing.parts.cpu) write_identifier(shape, list, "cpu", cpu_count(shape.cpu_milli));
  if (writing.parts.memory)
    write_identifier(shape, list, "memory",
                     shape.memory_bytes == 0
                         ? json::value(nullptr)
                         : json::value(json::string(memory_quantity(shape.memory_bytes))));
  if (writing.parts.devices) write_devices(shape, list);
  write_scheduling(writing, root);
}

}  // namespace exa::vocabulary
