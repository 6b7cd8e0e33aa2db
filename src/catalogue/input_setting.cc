#include "catalogue/input_setting.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/boolean.h"
#include "base/json_or_null.h"
#include "base/money.h"
#include "base/object_reader.h"
#include "base/text.h"
#include "catalogue/input_values.h"

namespace exa {
namespace {

constexpr size_t kLongestLabel = 128;
constexpr size_t kLongestNote = 1'024;

struct TypeWord {
  InputType type;
  std::string_view name;
};
constexpr TypeWord kTypes[] = {
    {InputType::text, "text"},     {InputType::number, "number"},
    {InputType::boolean, "bool"},  {InputType::choice, "enum"},
    {InputType::json, "json"},     {InputType::expression, "expression"},
    {InputType::secret, "secret"},
};
struct OverrideWord {
  InputOverride override_;
  std::string_view name;
};
constexpr OverrideWord kOverrides[] = {
    {InputOverride::allowed, "allowed"},
    {InputOverride::not_allowed, "notallowed"},
    {InputOverride::restricted, "restricted"},
    {InputOverride::restricted_key_values, "restricted-key-values"},
};

// One form of a number, so that 3 and 3.0 are no difference.
json::value normal(const json::value& value) {
  const auto micros = micros_of(value);
  return micros ? number_from_micros(*micros) : value;
}

json::value in_form(const InputSetting& setting, const json::value& value) {
  return setting.type == InputType::number ? normal(value) : value;
}

json::value micros_or_null(const std::optional<int64_t>& micros) {
  return micros ? number_from_micros(*micros) : json::value(nullptr);
}

json::value list_or_null(const std::vector<std::string>& words) {
  return words.empty() ? json::value(nullptr)
                       : json::value(json::array(words.begin(), words.end()));
}

json::value values_to_json(const InputSetting& setting) {
  if (setting.override_ == InputOverride::restricted_key_values) {
    json::object labels;
    for (const auto& [label, value] : setting.labelled_values) labels[label] = value;
    return labels;
  }
  if (setting.allowed_values.empty()) return nullptr;
  return json::array(setting.allowed_values.begin(), setting.allowed_values.end());
}

json::value dependency_to_json(const InputSetting& setting) {
  if (!setting.depends_on) return nullptr;
  return {{"input", setting.depends_on->input},
          {"values",
           json::array(setting.depends_on->values.begin(), setting.depends_on->values.end())}};
}

void read_bound(const ObjectReader& reader, std::string_view key, std::optional<int64_t>& bound) {
  const json::value* value = reader.given(key);
  if (value == nullptr) return;
  bound = micros_of(*value);
  if (!bound)
    reader.say(key,
               fmt::format("must be a number with at most six decimals, not {}", in_words(*value)));
}

template <typename Word, typename Find>
void read_word(const ObjectReader& reader, std::string_view key, Find find_word,
               const std::vector<std::string>& known, Word& word) {
  std::string text;
  if (!reader.text(key, kLongestLabel, text)) return;
  if (const auto found = find_word(text)) {
    word = *found;
    return;
  }
  reader.say(key, fmt::format("\"{}\" is not one of {}", text, join(known, ", ")),
             did_you_mean(text, known));
}

void read_choices(const ObjectReader& reader, std::vector<std::string>& choices) {
  const json::array* list = reader.list("choices", kMostInputValues);
  if (list == nullptr) return;
  for (size_t i = 0; i < list->size(); ++i) {
    const json::value& value = (*list)[i];
    if (std::string wrong = wrong_text(value, kLongestInputText); !wrong.empty())
      reader.say("choices", fmt::format("element {} {}", i, wrong));
    else
      choices.emplace_back(value.get_string());
  }
}

void read_values(const ObjectReader& reader, InputSetting& setting) {
  const json::value* values = reader.given("allowed_values");
  if (values == nullptr) return;
  if (const auto* labels = values->if_object();
      labels != nullptr && setting.override_ == InputOverride::restricted_key_values) {
    for (const auto& [label, value] : *labels)
      setting.labelled_values.emplace_back(label, in_form(setting, value));
  } else if (setting.override_ == InputOverride::restricted_key_values) {
    reader.say("allowed_values", "must be an object of labels and their values");
  } else if (const json::array* list = reader.list("allowed_values", kMostInputValues)) {
    for (const json::value& value : *list)
      setting.allowed_values.push_back(in_form(setting, value));
  }
}

void read_dependency(const ObjectReader& reader, std::vector<Problem>& problems,
                     std::optional<InputDependency>& depends_on) {
  const json::value* value = reader.given("depends_on");
  if (value == nullptr) return;
  const ObjectReader inner(*value, reader.at("depends_on"), problems);
  depends_on.emplace();
  inner.text("input", kLongestLabel, depends_on->input);
  if (const json::array* list = inner.list("values", kMostInputValues))
    for (const json::value& each : *list)
      depends_on->values.push_back(each.is_number() ? normal(each) : each);
  inner.refuse_others({"input", "values"}, "a dependency");
}

template <typename Table, typename Row, typename Key>
std::string_view word_of(const Table& table, Key Row::*key, Key wanted) {
  const auto* found = std::ranges::find(table, wanted, key);
  EXA_ASSERT(found != std::end(table));
  return found->name;
}

template <typename Table>
std::vector<std::string> words_of(const Table& table) {
  std::vector<std::string> words;
  for (const auto& row : table) words.emplace_back(row.name);
  return words;
}

}  // namespace

std::string_view name(InputType type) {
  return word_of(kTypes, &TypeWord::type, type);
}

std::string_view name(InputOverride override_) {
  return word_of(kOverrides, &OverrideWord::override_, override_);
}

std::string_view name(InputSource source) {
  switch (source) {
    case InputSource::given:
      return "given";
    case InputSource::default_value:
      return "default";
    case InputSource::fixed:
      return "fixed";
  }
  return {};
}

std::optional<InputType> find_input_type(std::string_view name) {
  const auto* found = std::ranges::find(kTypes, name, &TypeWord::name);
  return found == std::end(kTypes) ? std::nullopt : std::optional(found->type);
}

std::optional<InputOverride> find_input_override(std::string_view name) {
  const auto* found = std::ranges::find(kOverrides, name, &OverrideWord::name);
  return found == std::end(kOverrides) ? std::nullopt : std::optional(found->override_);
}

std::vector<std::string> input_type_names() {
  return words_of(kTypes);
}

std::vector<std::string> input_override_names() {
  return words_of(kOverrides);
}

json::object to_json(const InputSetting& setting) {
  return {{"name", setting.name},
          {"label", text_or_null(setting.label)},
          {"description", text_or_null(setting.description)},
          {"group", text_or_null(setting.group)},
          {"type", name(setting.type)},
          {"required", setting.required},
          {"default", setting.default_value.value_or(nullptr)},
          {"override", name(setting.override_)},
          {"allowed_values", values_to_json(setting)},
          {"choices", list_or_null(setting.choices)},
          {"min", micros_or_null(setting.min_micros)},
          {"max", micros_or_null(setting.max_micros)},
          {"step", micros_or_null(setting.step_micros)},
          {"pattern", text_or_null(setting.pattern)},
          {"depends_on", dependency_to_json(setting)}};
}

InputSetting input_setting_from_json(const json::value& value, std::string_view where,
                                     std::vector<Problem>& problems) {
  const ObjectReader reader(value, where, problems);
  InputSetting setting;
  reader.text("name", kLongestLabel, setting.name);
  reader.text("label", kLongestLabel, setting.label);
  reader.text("description", kLongestNote, setting.description);
  reader.text("group", kLongestLabel, setting.group);
  read_word(reader, "type", find_input_type, input_type_names(), setting.type);
  reader.flag("required", setting.required);
  read_word(reader, "override", find_input_override, input_override_names(), setting.override_);
  if (const json::value* given = reader.given("default"))
    setting.default_value = setting.override_ == InputOverride::restricted_key_values
                                ? *given
                                : in_form(setting, *given);
  read_values(reader, setting);
  read_choices(reader, setting.choices);
  read_bound(reader, "min", setting.min_micros);
  read_bound(reader, "max", setting.max_micros);
  read_bound(reader, "step", setting.step_micros);
  reader.text("pattern", kLongestNote, setting.pattern);
  read_dependency(reader, problems, setting.depends_on);
  reader.refuse_others(
      {"name", "label", "description", "group", "type", "required", "default", "override",
       "allowed_values", "choices", "min", "max", "step", "pattern", "depends_on"},
      "an input");
  return setting;
}

Result<json::value> input_from_text(const InputSetting& setting, std::string_view text) {
  if (setting.override_ == InputOverride::restricted_key_values) return json::value(text);
  switch (setting.type) {
    case InputType::number: {
      EXA_ASSIGN(const int64_t micros, input_number(text));
      return number_from_micros(micros);
    }
    case InputType::boolean:
      if (const auto truth = parse_boolean(text)) return json::value(*truth);
      return fail(Code::invalid_input,
                  fmt::format("must be true or false, not {}", printable(text)));
    case InputType::json:
      return parse_json(text, setting.name);
    default:
      return json::value(text);
  }
}

}  // namespace exa
