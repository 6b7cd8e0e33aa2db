// A Rafay ComputeProfile: its variables are named by whoever writes the environment template, so a
// shape's fields are written under their own names; a few names that others use are read too.
#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "base/quantity.h"
#include "base/text.h"
#include "catalogue/rafay.h"
#include "launch/vocabulary_table.h"
#include "launch/vocabulary_text.h"

namespace exa::vocabulary {
namespace {

struct Alias {
  std::string_view name;  // lower case, blanks
  std::string_view field;
};
constexpr Alias kAliases[] = {
    {"gpu count", "gpu_count"},
    {"guest gpu count", "gpu_count"},
    {"number of gpus", "gpu_count"},
    {"gpu type", "accelerator_model_hint"},
    {"gpu model", "accelerator_model_hint"},
    {"cpu count", "cpu"},
    {"guest cpu count", "cpu"},
    {"cpus", "cpu"},
    {"node count", "nodes"},
    {"no of nodes", "nodes"},
    {"number of nodes", "nodes"},
    {"memory", "memory"},
    {"memory size", "memory"},
    {"guest memory size", "memory"},
};

std::string plain(std::string_view name) {
  std::string text = lower(trim(name));
  for (char& c : text)
    if (c == '-' || c == '_') c = ' ';
  return text;
}

// The field that a variable is; "memory": of a unit that its value must say; empty: none.
std::string_view field_of(std::string_view variable) {
  const std::string name = plain(variable);
  for (const std::string_view field : shape_fields())
    if (field != "description" && plain(field) == name) return field;
  const auto* alias = std::ranges::find(kAliases, name, &Alias::name);
  return alias == std::end(kAliases) ? std::string_view() : alias->field;
}

// --- one field as text

Result<void> take(Result<int64_t> parsed, int64_t& amount) {
  EXA_ASSIGN(amount, std::move(parsed));
  return {};
}

Failure refuse(std::string_view text, std::string_view what) {
  return fail(Code::invalid_input, fmt::format("\"{}\" is not {}", printable(text), what));
}

Result<void> read_uses(std::string_view text, std::vector<Surface>& uses) {
  uses.clear();
  for (const std::string_view word : split(text, ',')) {
    const auto use = find_surface(trim(word));
    if (!use) return refuse(word, "a use");
    uses.push_back(*use);
  }
  return {};
}

Result<void> set_text(std::string_view text, std::string& field) {
  field = text;
  return {};
}

using Set = Result<void> (*)(std::string_view, Shape&);
struct Setter {
  std::string_view field;
  Set set;
};
constexpr Setter kSetters[] = {
    {"accelerator_family",
     [](std::string_view text, Shape& s) -> Result<void> {
       const auto family = find_family(text);
       if (!family) return refuse(text, "a family");
       s.accelerator_family = *family;
       return {};
     }},
    {"accelerator_model_hint",
     [](std::string_view text, Shape& s) { return set_text(text, s.accelerator_model_hint); }},
    {"gpu_count", [](std::string_view text,
                     Shape& s) { return take(parse_count(text, "gpu_count"), s.gpu_count); }},
    {"gpu_fraction",
     [](std::string_view text, Shape& s) {
       return take(parse_milli(text, "gpu_fraction"), s.gpu_fraction_milli);
     }},
    {"mig_profile", [](std::string_view text, Shape& s) { return set_text(text, s.mig_profile); }},
    {"cpu",
     [](std::string_view text, Shape& s) { return take(parse_milli(text, "cpu"), s.cpu_milli); }},
    {"memory_gb",
     [](std::string_view text, Shape& s) { return take(parse_gib(text), s.memory_bytes); }},
    {"nodes",
     [](std::string_view text, Shape& s) { return take(parse_count(text, "nodes"), s.nodes); }},
    {"driver_tag", [](std::string_view text, Shape& s) { return set_text(text, s.driver_tag); }},
    {"runtime_tag", [](std::string_view text, Shape& s) { return set_text(text, s.runtime_tag); }},
    {"applicability",
     [](std::string_view text, Shape& s) { return read_uses(text, s.applicability); }},
};

std::string field_text(const Shape& shape, std::string_view field) {
  const json::value value = field_to_json(shape, field);
  if (value.is_null()) return "";
  if (value.is_string()) return std::string(value.get_string());
  if (!value.is_array()) return exa::to_text(value);
  std::vector<std::string> words;
  for (const json::value& word : value.get_array()) words.emplace_back(word.get_string());
  return join(words, ",");
}

// --- reading

void read_variable(const Node& variable, Reading& reading) {
  std::string_view field = field_of(variable.peek("name"));
  if (field.empty()) return;
  const Node value = variable["value"];
  variable["name"].take();
  variable["valueType"].take();
  const auto text = value.scalar();
  if (!text || text->empty()) return;
  if (field == "memory") {
    const auto bytes = parse_bytes_with_unit(*text);
    if (!bytes)
      return reading.leave_open("memory_gb", value.where(), "no unit says how much memory that is");
    reading.say("memory_gb", value.where()).memory_bytes = *bytes;
    return;
  }
  const auto* setter = std::ranges::find(kSetters, field, &Setter::field);
  Shape read;
  const Result<void> set = setter->set(*text, read);
  if (!set) return value.problem(set.error().message);
  if (reading.said(field)) return value.problem(fmt::format("a second variable for {}", field));
  // checked above
  const Result<void> said = setter->set(*text, reading.say(field, value.where()));
  EXA_ASSERT(said.has_value());
}

// --- writing

void write_variable(json::array& variables, std::string_view field, const std::string& text,
                    bool is_default) {
  auto* found = std::ranges::find_if(variables, [&](const json::value& variable) {
    return field_of(text_or(variable, "name", "")) == field;
  });
  if (found != variables.end()) return put_text(as_object(*found), "value", text);
  if (is_default) return;
  variables.push_back({{"name", field},
                       {"valueType", "text"},
                       {"value", text},
                       {"options", {{"override", {{"type", "notallowed"}}}}}});
}

bool is_part(const Parts& parts, std::string_view field) {
  if (field == "cpu") return parts.cpu;
  if (field == "memory_gb") return parts.memory;
  if (field == "nodes") return parts.nodes;
  if (field == "applicability") return parts.applicability;
  if (field == "driver_tag" || field == "runtime_tag") return parts.tags;
  return parts.devices;
}

// A variable of memory in another unit gives way to memory_gb.
void drop_other_memory(json::array& variables) {
  for (json::value& variable : variables)
    if (field_of(text_or(variable, "name", "")) == "memory")
      put_text(as_object(variable), "value", "");
}

}  // namespace

bool recognises_rafay(const Source& source) {
  return source.documents.size() == 1 && is_rafay_profile(source.documents[0].value);
}

void read_rafay(const Source& source, Reading& reading) {
  if (!recognises_rafay(source))
    return reading.problem(source.file,
                           fmt::format("is not one ComputeProfile of {}", kRafayVersion));
  const Node root = Node::root(reading, source, 0);
  for (const char* key : {"apiVersion", "kind"}) root[key].take();
  for (const char* key : {"name", "displayName"}) root["metadata"][key].take();
  const Node description = root["metadata"]["description"];
  if (const auto text = description.scalar())
    reading.say("description", description.where()).description = *text;
  for (const Node& variable : root["spec"]["variables"].elements())
    read_variable(variable, reading);
  const std::string hint = reading.shape().accelerator_model_hint;
  if (reading.said("accelerator_family")) return;
  if (const auto family = family_meant(hint))
    reading.say("accelerator_family", reading.places().at("accelerator_model_hint"))
        .accelerator_family = *family;
  else if (reading.shape().gpu_count == 0 && hint.empty())
    reading.say_no_devices();
}

void write_rafay(const Writing& writing, Source& target) {
  static const Shape kNothing;
  const Shape& shape = writing.shape;
  if (target.documents.empty()) {
    new_document(target) = {{"apiVersion", kRafayVersion},
                            {"kind", "ComputeProfile"},
                            {"metadata", {{"name", writing.name}, {"displayName", writing.name}}}};
    if (writing.is_new)
      writing.note("/spec",
                   "an environment template is named there and a profile names none: write it in, "
                   "or render over a ComputeProfile that has one");
  }
  json::value& root = target.documents.front().value;
  if (writing.parts.description) put_text_at(root, {"metadata", "description"}, shape.description);
  json::array& variables = array_at(root, {"spec", "variables"});
  if (writing.parts.memory) drop_other_memory(variables);
  for (const Setter& row : kSetters) {
    if (!is_part(writing.parts, row.field)) continue;
    const bool is_default = row.field != "accelerator_family" &&
                            field_to_json(shape, row.field) == field_to_json(kNothing, row.field);
    write_variable(variables, row.field, field_text(shape, row.field), is_default);
  }
}

}  // namespace exa::vocabulary
