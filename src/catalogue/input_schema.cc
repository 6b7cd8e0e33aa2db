// The settings as JSON Schema 2020-12.
#include <algorithm>

#include "base/money.h"
#include "catalogue/input_setting.h"
#include "catalogue/input_values.h"

namespace exa {
namespace {

// as wrong_expression() has it
constexpr std::string_view kExpression = R"(^([^$]|\$\([A-Za-z_][A-Za-z0-9_.\-]*\)\$)*$)";

json::object needs(std::initializer_list<std::string_view> names) {
  json::array list;
  for (const std::string_view name : names) list.push_back(json::string(name));
  json::object schema;
  schema["required"] = std::move(list);
  return schema;
}

json::object none_of(json::object schema) {
  json::object result;
  result["not"] = std::move(schema);
  return result;
}

bool step_counts_from_zero(const InputSetting& setting) {
  return setting.min_micros.value_or(0) % setting.step_micros.value_or(1) == 0;
}

void add_number(const InputSetting& setting, json::object& schema) {
  schema["type"] = "number";
  schema["minimum"] = number_from_micros(setting.min_micros.value_or(-kMostInputNumberMicros));
  schema["maximum"] = number_from_micros(setting.max_micros.value_or(kMostInputNumberMicros));
  if (setting.step_micros && step_counts_from_zero(setting))
    schema["multipleOf"] = number_from_micros(*setting.step_micros);
}

void add_text(const InputSetting& setting, json::object& schema) {
  schema["type"] = "string";
  schema["maxLength"] = static_cast<int64_t>(kLongestInputText);
  if (setting.type == InputType::expression) schema["pattern"] = kExpression;
  if (!setting.pattern.empty()) schema["pattern"] = setting.pattern;
  if (setting.type != InputType::secret) return;
  schema["minLength"] = 1;
  schema["writeOnly"] = true;
}

void add_json(json::object& schema) {
  schema["type"] = json::array{"object", "array", "string", "number", "boolean"};
  json::array ways;
  for (const std::string_view rules : {"options", "override"}) {
    json::object way = needs({"value", rules});
    way["type"] = "object";
    ways.push_back(std::move(way));
  }
  schema["not"] = json::object{{"anyOf", std::move(ways)}};
}

void add_type(const InputSetting& setting, json::object& schema) {
  if (setting.override_ == InputOverride::restricted_key_values) {
    json::array labels;
    for (const auto& [label, _] : setting.labelled_values) labels.push_back(json::string(label));
    schema["type"] = "string";
    schema["enum"] = std::move(labels);
    return;
  }
  switch (setting.type) {
    case InputType::number:
      add_number(setting, schema);
      break;
    case InputType::boolean:
      schema["type"] = "boolean";
      break;
    case InputType::choice:
      schema["type"] = "string";
      schema["enum"] = json::array(setting.choices.begin(), setting.choices.end());
      break;
    case InputType::json:
      add_json(schema);
      break;
    default:
      add_text(setting, schema);
  }
  if (setting.override_ == InputOverride::restricted)
    schema["enum"] = json::array(setting.allowed_values.begin(), setting.allowed_values.end());
}

json::object extension(const InputSetting& setting, size_t order) {
  json::object result = {{"order", static_cast<int64_t>(order)},
                         {"type", name(setting.type)},
                         {"override", name(setting.override_)}};
  if (!setting.group.empty()) result["group"] = setting.group;
  if (setting.step_micros) result["step"] = number_from_micros(*setting.step_micros);
  if (setting.depends_on)
    result["depends_on"] = {{"input", setting.depends_on->input},
                            {"values", json::array(setting.depends_on->values.begin(),
                                                   setting.depends_on->values.end())}};
  return result;
}

json::object property(const InputSetting& setting, size_t order) {
  json::object schema;
  schema["title"] = setting.label.empty() ? setting.name : setting.label;
  if (!setting.description.empty()) schema["description"] = setting.description;
  if (setting.default_value) schema["default"] = *setting.default_value;
  if (setting.override_ == InputOverride::not_allowed) {
    schema["readOnly"] = true;  // shown, and refused when it is given
    schema["not"] = json::object();
  } else {
    add_type(setting, schema);
  }
  schema["x-exa"] = extension(setting, order);
  return schema;
}

const InputSetting* find_setting(std::span<const InputSetting> settings, std::string_view name) {
  const auto found = std::ranges::find(settings, name, &InputSetting::name);
  return found == settings.end() ? nullptr : &*found;
}

bool shows(const InputDependency& depends, const json::value& value) {
  return std::ranges::find(depends.values, value) != depends.values.end();
}

// What may be given of the other input so that this one is there.
json::array values_that_show(const InputDependency& depends, const InputSetting& other) {
  if (other.override_ != InputOverride::restricted_key_values)
    return json::array(depends.values.begin(), depends.values.end());
  json::array labels;
  for (const auto& [label, value] : other.labelled_values)
    if (shows(depends, value)) labels.push_back(json::string(label));
  return labels;
}

// The schema that holds while the input is there. A circle, which is never stored, ends.
json::object is_there(std::span<const InputSetting> settings, const InputSetting& setting,
                      size_t depth) {
  if (!setting.depends_on) return {};
  const InputDependency& depends = *setting.depends_on;
  const InputSetting* other = find_setting(settings, depends.input);
  if (other == nullptr || depth > settings.size()) return none_of({});
  const bool by_default =
      other->default_value && shows(depends, meant(*other, *other->default_value));
  json::array ways;
  if (other->override_ == InputOverride::not_allowed) {
    ways.push_back(by_default ? json::object() : none_of({}));
  } else {
    json::object given = needs({other->name});
    json::object shown;
    shown["enum"] = values_that_show(depends, *other);
    json::object properties;
    properties[other->name] = std::move(shown);
    given["properties"] = std::move(properties);
    ways.push_back(std::move(given));
    if (by_default) ways.push_back(none_of(needs({other->name})));
  }
  json::object one_way;
  one_way["anyOf"] = std::move(ways);
  json::object both;
  both["allOf"] = json::array{std::move(one_way), is_there(settings, *other, depth + 1)};
  return both;
}

bool must_be_given(const InputSetting& setting) {
  return setting.required && !setting.default_value &&
         setting.override_ != InputOverride::not_allowed;
}

}  // namespace

json::object input_schema(std::span<const InputSetting> settings) {
  json::object properties;
  json::array required;
  json::array conditions;
  for (size_t i = 0; i < settings.size(); ++i) {
    const InputSetting& setting = settings[i];
    properties[setting.name] = property(setting, i);
    if (!setting.depends_on) {
      if (must_be_given(setting)) required.push_back(json::string(setting.name));
      continue;
    }
    json::object rule;
    rule["if"] = is_there(settings, setting, 0);
    if (must_be_given(setting)) rule["then"] = needs({setting.name});
    rule["else"] = none_of(needs({setting.name}));
    conditions.push_back(std::move(rule));
  }
  json::object schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                         {"type", "object"},
                         {"properties", std::move(properties)},
                         {"additionalProperties", false}};
  if (!required.empty()) schema["required"] = std::move(required);
  if (!conditions.empty()) schema["allOf"] = std::move(conditions);
  return schema;
}

bool schema_says_all(const InputSetting& setting) {
  return !setting.step_micros || step_counts_from_zero(setting);
}

}  // namespace exa
