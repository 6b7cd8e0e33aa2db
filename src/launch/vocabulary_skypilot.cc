// A SkyPilot task: num_nodes and resources.
#include <algorithm>

#include <fmt/format.h>

#include "base/quantity.h"
#include "base/text.h"
#include "launch/vocabulary_table.h"
#include "launch/vocabulary_text.h"

namespace exa::vocabulary {
namespace {

// "8", "8+"; what is asked for exactly is asked for at least.
Result<int64_t> at_least(std::string_view text, const auto& parse) {
  text = trim(text);
  if (text.ends_with('+')) text.remove_suffix(1);
  return parse(text);
}

// GiB, or with a unit, whose factors are 1024 in SkyPilot with or without an "i".
Result<int64_t> memory_of(std::string_view text) {
  const size_t unit_at = text.find_first_not_of("0123456789.");
  if (unit_at == text.npos) return parse_gib(text);
  std::string unit = lower(trim(text.substr(unit_at)));
  if (unit.size() > 1 && unit.back() == 'b') unit.pop_back();
  if (unit.size() == 1) unit += 'i';
  return parse_bytes_with_unit(fmt::format("{}{}", trim(text.substr(0, unit_at)), unit));
}

// --- reading

void read_count(const Node& node, std::string_view text, Reading& reading) {
  const auto milli = parse_milli(text, "a number of accelerators");
  if (!milli) return node.problem(milli.error().message);
  if (*milli == 0) return node.problem("0 accelerators; leave them out");
  if (*milli > 1000 && *milli % 1000 != 0)
    return node.problem(fmt::format("{} accelerators: above 1 they are whole", text));
  reading.say("gpu_count", node.where()).gpu_count = std::max<int64_t>(*milli / 1000, 1);
  if (*milli < 1000) reading.say("gpu_fraction", node.where()).gpu_fraction_milli = *milli;
}

void read_accelerator(const Node& node, std::string_view name, std::string_view count,
                      Reading& reading) {
  if (lower(name).starts_with("tpu-")) {
    node.take();
    reading.say("accelerator_family", node.where()).accelerator_family = Family::tpu;
    reading.leave_open("gpu_count", node.where(),
                       "how many chips a slice of TPUs has, and on how many nodes, is in its name");
    return;
  }
  reading.say("accelerator_model_hint", node.where()).accelerator_model_hint = name;
  read_count(node, count, reading);
  if (const auto family = family_meant(name))
    reading.say("accelerator_family", node.where()).accelerator_family = *family;
  else
    reading.leave_open("accelerator_family", node.where(),
                       fmt::format("{} is no model that is known", printable(name)));
}

// "A100:2", "A100", {A100: 2}
void read_accelerators(const Node& node, Reading& reading) {
  if (node.value().is_object()) {
    const auto choices = node.members();
    if (choices.size() != 1)
      return node.problem("several accelerators to choose from; a profile names one");
    const Node& count = choices.front().second;
    if (const auto text = count.scalar())
      read_accelerator(count, choices.front().first, *text, reading);
    return;
  }
  if (node.value().is_array())
    return node.problem("several accelerators to choose from; a profile names one");
  const auto text = node.scalar();
  if (!text) return;
  const size_t colon = text->rfind(':');
  read_accelerator(node, std::string_view(*text).substr(0, colon),
                   colon == text->npos ? "1" : std::string_view(*text).substr(colon + 1), reading);
}

// --- writing

// What the models of the shape are called; empty: nothing that can be asked for.
std::string accelerator_name(const Writing& writing) {
  const Shape& shape = writing.shape;
  if (shape.accelerator_family == Family::cpu) return "";
  std::string_view why;
  if (shape.gpu_count == 0)
    why = "no device is asked for";
  else if (shape.accelerator_family == Family::tpu)
    why = "SkyPilot names slices of TPUs, whose size is in the name";
  else if (shape.accelerator_model_hint.empty())
    why = "SkyPilot asks for devices by their model, and the profile has no hint";
  else if (shape.accelerator_model_hint.find(':') != std::string::npos)
    why = "a name with a ':' cannot be asked for";
  note_without_words(writing,
                     {{"mig_profile", "SkyPilot counts devices: whole ones are asked for"}});
  if (!why.empty()) {
    writing.note("accelerator_family", std::string(why));
    note_without_words(
        writing, {{"accelerator_model_hint", why}, {"gpu_count", why}, {"gpu_fraction", why}});
    return "";
  }
  std::string name = shape.accelerator_model_hint;
  std::ranges::replace(name, ' ', '-');
  if (family_meant(name) != shape.accelerator_family)
    writing.note("accelerator_family", "no model that is known, so nothing says whose it is");
  if (shape.gpu_fraction_milli != 1000 && shape.gpu_count > 1)
    writing.note("gpu_fraction", "above one device they are whole: whole devices are asked for");
  return name;
}

}  // namespace

bool recognises_skypilot(const Source& source) {
  if (source.documents.size() != 1) return false;
  const json::value& root = source.documents[0].value;
  const json::value* resources = find(root, "resources");
  if (find(root, "type") != nullptr || find(root, "apiVersion") != nullptr) return false;
  if (find(root, "num_nodes") != nullptr) return true;
  if (resources == nullptr || !resources->is_object()) return false;
  if (find(*resources, "cpu") != nullptr || find(*resources, "gpu") != nullptr) return false;
  for (const char* key : {"accelerators", "cpus", "memory", "instance_type", "infra", "cloud"})
    if (find(*resources, key) != nullptr) return true;
  return false;
}

void read_skypilot(const Source& source, Reading& reading) {
  if (source.documents.size() != 1) return reading.problem(source.file, "a task is one document");
  const Node root = Node::root(reading, source, 0);
  const Node resources = root["resources"];
  root["name"].take();
  if (const auto nodes = read_count(root["num_nodes"]))
    reading.say("nodes", root["num_nodes"].where()).nodes = *nodes;
  const Node cpus = resources["cpus"];
  if (const auto milli = read_amount(cpus, [](std::string_view text) {
        return at_least(text, [](std::string_view number) { return parse_milli(number, "cpus"); });
      }))
    reading.say("cpu", cpus.where()).cpu_milli = *milli;
  const Node memory = resources["memory"];
  if (const auto bytes =
          read_amount(memory, [](std::string_view text) { return at_least(text, memory_of); }))
    reading.say("memory_gb", memory.where()).memory_bytes = *bytes;
  for (const char* key : {"any_of", "ordered"})
    if (resources[key]) resources[key].problem("several shapes to choose from; a profile is one");
  if (const Node accelerators = resources["accelerators"])
    return read_accelerators(accelerators, reading);
  if (const Node instance = resources["instance_type"]) {
    instance.take();
    for (const char* field : {"accelerator_family", "gpu_count"})
      reading.leave_open(field, instance.where(), "what such an instance has is not looked up");
    return;
  }
  reading.say_no_devices();
}

void write_skypilot(const Writing& writing, Source& target) {
  const Shape& shape = writing.shape;
  note_without_words(writing, {kNoDriver, kNoRuntime, kNoUse, kNoDescription});
  const std::string accelerator = accelerator_name(writing);
  if (target.documents.empty()) as_object(new_document(target))["name"] = writing.name;
  json::value& root = target.documents.front().value;
  if (writing.parts.nodes) put(as_object(root), "num_nodes", shape.nodes);
  json::object& resources = object_at(root, {"resources"});
  const auto write = [&](std::string_view key, const std::string& amount) {
    if (amount.empty())
      drop(resources, key);
    else
      put_text(resources, key, amount);
  };
  if (writing.parts.cpu)
    write("cpus", shape.cpu_milli == 0 ? "" : format_milli(shape.cpu_milli) + "+");
  if (writing.parts.memory)
    write("memory", shape.memory_bytes == 0 ? "" : format_gib(shape.memory_bytes) + "+");
  if (writing.parts.devices) {
    const std::string count = shape.gpu_count == 1 ? format_milli(shape.gpu_fraction_milli)
                                                   : std::to_string(shape.gpu_count);
    write("accelerators", accelerator.empty() ? "" : fmt::format("{}:{}", accelerator, count));
  }
  if (resources.empty()) drop(as_object(root), "resources");
}

}  // namespace exa::vocabulary
