#include <algorithm>

#include <fmt/format.h>

#include "base/money.h"
#include "base/text.h"
#include "catalogue/input_values.h"
#include "catalogue/rafay.h"
#include "catalogue/rafay_fields.h"

namespace exa {
namespace {

json::object& object_in(json::object& parent, std::string_view key) {
  json::value& value = parent[key];
  if (!value.is_object()) value = json::object();
  return value.get_object();
}

json::array& list_in(json::object& parent, std::string_view key) {
  json::value& value = parent[key];
  if (!value.is_array()) value = json::array();
  return value.get_array();
}

// In place: erasing by swapping would change the order of what is kept.
void drop(json::object& object, std::string_view key) {
  json::object kept;
  for (auto& member : object)
    if (member.key() != key) kept[member.key()] = std::move(member.value());
  object = std::move(kept);
}

void put_text(json::object& object, std::string_view key, const std::string& text) {
  if (text.empty() && !object.contains(key)) return;
  if (text.empty())
    drop(object, key);
  else
    object[key] = text;
}

void put_at(json::object& root, std::string_view path, const std::string& text) {
  json::object* object = &root;
  for (;;) {
    const size_t slash = path.find('/');
    if (slash == path.npos) return put_text(*object, path, text);
    object = &object_in(*object, path.substr(0, slash));
    path.remove_prefix(slash + 1);
  }
}

std::string field_text(const ComputeSku& sku, std::string_view field) {
  if (field == "name") return sku.name;
  if (field == "display_name") return sku.display_name;
  if (field == "description") return sku.description;
  if (field == "allocation") return std::string(name(sku.allocation));
  if (field == "environment_template/name") return sku.environment_template.name;
  if (field == "environment_template/version") return sku.environment_template.version;
  if (field == "icon_url") return sku.icon_url;
  EXA_ASSERT(field == "readme");
  return sku.readme;
}

std::string value_text(const json::value& value) {
  return value.is_string() ? std::string(value.get_string()) : to_text(value);
}

using Notes = std::vector<RafayNote>;

// --- one input

std::string_view type_word(InputType type) {
  if (type == InputType::json) return "json";
  if (type == InputType::expression) return "expression";
  return "text";
}

void write_override(const InputSetting& input, json::object& options) {
  json::object& override_ = object_in(options, "override");
  for (const std::string_view gone :
       {"restrictedValues", "restricted_values", "restrictedKeyValues", "restricted_key_values",
        "multiSelect", "multi_select"})
    drop(override_, gone);
  const bool is_choice =
      input.type == InputType::choice && input.override_ == InputOverride::allowed;
  override_["type"] = rafay::word_of(is_choice ? InputOverride::restricted : input.override_);
  json::array values;
  for (const json::value& value : input.allowed_values)
    values.push_back(json::string(value_text(value)));
  if (is_choice) values = json::array(input.choices.begin(), input.choices.end());
  if (!values.empty()) override_["restrictedValues"] = std::move(values);
  if (input.override_ != InputOverride::restricted_key_values) return;
  json::object labels;
  for (const auto& [label, value] : input.labelled_values) labels[label] = value_text(value);
  override_["restrictedKeyValues"] = std::move(labels);
}

void write_display(const InputSetting& input, json::object& options) {
  json::object& display = object_in(options, "displayMetadata");
  put_text(display, "alias", input.label);
  put_text(display, "section", input.group);
  // what the form did beyond the override is now said by the override
  for (const std::string_view gone : {"disabled", "radioOptions", "dropdownValues", "type"})
    drop(display, gone);
  const std::pair<std::string_view, std::optional<int64_t>> bounds[] = {
      {"incrementDecrementMin", input.min_micros},
      {"incrementDecrementMax", input.max_micros},
      {"incrementDecrementStep", input.step_micros}};
  if (input.type == InputType::number) display["type"] = "incrementDecrement";
  for (const auto& [key, bound] : bounds)
    put_text(display, key, bound ? format_micros(*bound) : "");
  if (display.empty()) drop(options, "displayMetadata");
}

void put_flag(json::object& object, std::string_view key, bool truth) {
  if (truth || object.contains(key)) object[key] = truth;
}

void write_input(const InputSetting& input, json::object& variable) {
  if (rafay::input_name_of(text_or(variable, "name", "")) != input.name)
    variable["name"] = input.name;
  if (text_or(variable, "valueType", "") != "hcl" || input.type != InputType::text)
    variable["valueType"] = type_word(input.type);
  if (input.default_value)
    variable["value"] = value_text(meant(input, *input.default_value));
  else
    drop(variable, "value");
  json::object& options = object_in(variable, "options");
  put_text(options, "description", input.description);
  put_flag(options, "required", input.required);
  put_flag(options, "sensitive", input.type == InputType::secret);
  write_override(input, options);
  write_display(input, options);
}

void note_input(const InputSetting& input, const std::string& where, Notes& notes) {
  const auto note = [&](std::string_view key, std::string message) {
    notes.push_back({pointer(where, key), std::move(message)});
  };
  if (!input.pattern.empty()) note("pattern", "Rafay has no pattern of a variable");
  if (input.depends_on) note("depends_on", "a variable is asked for whatever the others are");
  if (input.type == InputType::boolean) note("type", "a bool is a text there");
  if (input.type == InputType::choice) note("type", "an enum is a restricted text there");
  if (input.type == InputType::number && (input.min_micros || input.max_micros))
    note("type", "bounds are of the form there: nothing shows that the server checks them");
}

// The one of the document that reads as this input; nullptr: none.
json::object* variable_of(json::array& variables, std::string_view input) {
  for (json::value& variable : variables)
    if (variable.is_object() && rafay::input_name_of(text_or(variable, "name", "")) == input)
      return &variable.get_object();
  return nullptr;
}

const InputSetting* find_input(const std::vector<InputSetting>& inputs, std::string_view name) {
  const auto found = std::ranges::find(inputs, name, &InputSetting::name);
  return found == inputs.end() ? nullptr : &*found;
}

// In the SKU's order, each over what the document has of it.
void write_inputs(const ComputeSku& sku, const ComputeSku& before, json::object& document,
                  Notes& notes) {
  for (size_t i = 0; i < sku.inputs.size(); ++i) {
    const InputSetting* was = find_input(before.inputs, sku.inputs[i].name);
    if (was == nullptr || *was != sku.inputs[i])
      note_input(sku.inputs[i], fmt::format("/inputs/{}", i), notes);
  }
  if (sku.inputs == before.inputs) return;
  json::array& variables = list_in(object_in(document, "spec"), "variables");
  json::array written;
  for (const InputSetting& input : sku.inputs) {
    const json::object* old = variable_of(variables, input.name);
    json::object variable = old == nullptr ? json::object() : *old;
    const InputSetting* was = find_input(before.inputs, input.name);
    if (was == nullptr || *was != input) write_input(input, variable);
    written.push_back(std::move(variable));
  }
  variables = std::move(written);
}

// --- the rest

void write_outputs(const ComputeSku& sku, const ComputeSku& before, json::object& document) {
  if (sku.outputs == before.outputs) return;
  json::array& outputs = list_in(object_in(document, "spec"), "outputs");
  json::array written;
  for (const OutputSetting& output : sku.outputs) {
    const json::object* old = variable_of(outputs, output.name);
    json::object one = old == nullptr ? json::object() : *old;
    if (old == nullptr) one["name"] = output.name;
    put_text(one, "displayName", output.label);
    put_text(one, "description", output.description);
    put_flag(one, "sensitive", output.is_secret);
    written.push_back(std::move(one));
  }
  outputs = std::move(written);
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

void write_pairs(const Pairs& pairs, const Pairs& before, std::string_view key,
                 json::object& document) {
  if (pairs == before) return;
  json::object& map = object_in(object_in(document, "metadata"), key);
  for (const auto& [name, _] : before) drop(map, name);
  for (const auto& [name, value] : pairs) map[name] = value;
}

void note_what_has_no_place(const ComputeSku& sku, const ComputeSku& before, Notes& notes) {
  if (sku.hardware_profile)
    notes.push_back(
        {"/hardware_profile", "Rafay knows no hardware profiles: its template decides"});
  if (sku.shape) notes.push_back({"/shape", "Rafay knows no shapes: its template decides"});
  if (sku.price_per_hour != before.price_per_hour)
    notes.push_back({"/price_per_hour", "prices are set in Rafay's billing, not in the profile"});
}

}  // namespace

RafayDocument to_rafay(const ComputeSku& sku, const json::object* over) {
  RafayDocument result;
  ComputeSku before;
  before.allocation =
      sku.allocation == SkuAllocation::dedicated ? SkuAllocation::shared : SkuAllocation::dedicated;
  if (over != nullptr) {
    result.document = *over;
    if (auto read = rafay_sku_of(*over)) before = std::move(read->sku);
  } else {
    result.document = {{"apiVersion", kRafayVersion}, {"kind", "ComputeProfile"}};
  }
  for (const rafay::TextField& row : rafay::text_fields()) {
    const std::string text = field_text(sku, row.field);
    if (text == field_text(before, row.field)) continue;
    const auto found = std::ranges::find_if(row.places, [&](std::string_view place) {
      return rafay::at_path(result.document, place) != nullptr;
    });
    put_at(result.document, found == row.places.end() ? row.places.front() : *found, text);
  }
  write_pairs(sku.labels, before.labels, "labels", result.document);
  write_pairs(sku.annotations, before.annotations, "annotations", result.document);
  write_inputs(sku, before, result.document, result.notes);
  write_outputs(sku, before, result.document);
  note_what_has_no_place(sku, before, result.notes);
  return result;
}

}  // namespace exa
