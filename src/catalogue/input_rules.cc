// The rules that an admin's settings keep.
#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "catalogue/anchored_pattern.h"
#include "catalogue/input_setting.h"
#include "catalogue/input_values.h"

namespace exa {
namespace {

struct Place {
  std::string where;
  std::vector<Problem>& problems;

  void say(std::string_view key, std::string message, std::string suggestion = {}) const {
    problems.push_back({pointer(where, key), std::move(message), std::move(suggestion)});
  }
};

std::string proposed_name(std::string_view text) {
  std::string name;
  for (const char c : lower(text)) {
    const bool will_do = is_input_name(std::string("a") + c);
    if (will_do)
      name += c;
    else if (!name.empty() && name.back() != '_')
      name += '_';
  }
  while (name.ends_with('_')) name.pop_back();
  return is_input_name(name) ? fmt::format("did you mean {}?", name) : "";
}

void check_name(const InputSetting& setting, const Place& place) {
  if (setting.name.empty()) return place.say("name", "is missing");
  if (!is_input_name(setting.name))
    place.say("name",
              fmt::format("\"{}\" is no name of an input: letters, digits and '_', no digit first, "
                          "at most 63",
                          printable(setting.name)),
              proposed_name(setting.name));
}

// What belongs to some types only.
void check_belonging(const InputSetting& setting, const Place& place) {
  const bool is_number = setting.type == InputType::number;
  const bool has_text = setting.type == InputType::text || setting.type == InputType::secret;
  const std::array<std::pair<std::string_view, bool>, 3> bounds = {
      std::pair{"min", setting.min_micros.has_value()},
      std::pair{"max", setting.max_micros.has_value()},
      std::pair{"step", setting.step_micros.has_value()}};
  for (const auto& [key, given] : bounds)
    if (given && !is_number)
      place.say(key, fmt::format("is for numbers; this is of type {}", name(setting.type)));
  if (!setting.pattern.empty() && !has_text)
    place.say("pattern",
              fmt::format("is for text and secret; this is of type {}", name(setting.type)));
  if (!setting.choices.empty() && setting.type != InputType::choice)
    place.say("choices", fmt::format("is for type enum; this is of type {}", name(setting.type)),
              "override restricted and allowed_values list values of any type");
}

void check_bounds(const InputSetting& setting, const Place& place) {
  if (setting.min_micros && setting.max_micros && *setting.min_micros > *setting.max_micros)
    place.say("max", "is less than min");
  if (setting.step_micros && *setting.step_micros <= 0) place.say("step", "must be more than 0");
}

void check_choices(const InputSetting& setting, const Place& place) {
  if (setting.type == InputType::choice && setting.choices.empty())
    place.say("choices", "is missing: what an enum may be");
  const std::set<std::string> different(setting.choices.begin(), setting.choices.end());
  if (different.size() != setting.choices.size()) place.say("choices", "lists a value twice");
}

bool check_pattern(const InputSetting& setting, const Place& place) {
  if (setting.pattern.empty()) return true;
  const auto pattern = compile_pattern(setting.pattern);
  if (!pattern) place.say("pattern", pattern.error().message);
  return pattern.has_value();
}

void check_listed(const InputSetting& setting, const Place& place) {
  InputSetting alone = setting;  // the list itself is not to be listed
  alone.override_ = InputOverride::allowed;
  const Place list{pointer(place.where, "allowed_values"), place.problems};
  for (size_t i = 0; i < setting.allowed_values.size(); ++i)
    if (std::string wrong = wrong_for_type(alone, setting.allowed_values[i]); !wrong.empty())
      list.say(std::to_string(i), std::move(wrong));
  std::set<std::string> labels;
  for (const auto& [label, value] : setting.labelled_values) {
    if (!labels.insert(label).second)
      list.say(label, "stands twice");
    else if (label.empty() || !is_valid_utf8(label) || printable(label) != label)
      list.say(label, "is no label: a line of text");
    else if (std::string wrong = wrong_for_type(alone, value); !wrong.empty())
      list.say(label, std::move(wrong));
  }
}

void check_lists(const InputSetting& setting, const Place& place) {
  const bool wants_list = setting.override_ == InputOverride::restricted;
  const bool wants_labels = setting.override_ == InputOverride::restricted_key_values;
  if (wants_list && setting.allowed_values.empty())
    return place.say("allowed_values", "is missing: what a restricted input may be");
  if (wants_labels && setting.labelled_values.empty())
    return place.say("allowed_values", "is missing: the labels and what they stand for");
  if ((!wants_list && !setting.allowed_values.empty()) ||
      (!wants_labels && !setting.labelled_values.empty()))
    return place.say("allowed_values", fmt::format("is for override restricted and "
                                                   "restricted-key-values; this is {}",
                                                   name(setting.override_)));
  if (std::max(setting.allowed_values.size(), setting.labelled_values.size()) > kMostInputValues)
    return place.say("allowed_values", fmt::format("has more than {} values", kMostInputValues));
  check_listed(setting, place);
}

void check_secret(const InputSetting& setting, const Place& place) {
  if (setting.type != InputType::secret) return;
  if (setting.default_value)
    place.say("default", "a secret has none: everybody who sees the profile would see it");
  if (setting.override_ != InputOverride::allowed)
    place.say("override", "a secret is given by whoever launches: only allowed will do");
}

void check_default(const InputSetting& setting, const Place& place) {
  if (setting.type == InputType::secret) return;
  if (!setting.default_value) {
    if (setting.override_ == InputOverride::not_allowed)
      place.say("default", "is missing: it is the value that nobody may change");
    return;
  }
  if (std::string wrong = wrong_for_setting(setting, *setting.default_value); !wrong.empty())
    place.say("default", std::move(wrong));
}

bool says_problem_at(const std::vector<Problem>& problems, std::string_view where) {
  return std::ranges::any_of(
      problems, [&](const Problem& problem) { return problem.where.starts_with(where); });
}

void check_one(const InputSetting& setting, const Place& place) {
  check_name(setting, place);
  check_belonging(setting, place);
  check_bounds(setting, place);
  check_choices(setting, place);
  const bool can_match = check_pattern(setting, place);
  const bool has_step = !setting.step_micros || *setting.step_micros > 0;
  check_secret(setting, place);
  // values are held against rules that make sense only
  if (!can_match || !has_step || (setting.type == InputType::choice && setting.choices.empty()))
    return;
  check_lists(setting, place);
  if (!says_problem_at(place.problems, pointer(place.where, "allowed_values")))
    check_default(setting, place);
}

// --- between settings

const InputSetting* find_setting(std::span<const InputSetting> settings, std::string_view name) {
  const auto found = std::ranges::find(settings, name, &InputSetting::name);
  return found == settings.end() ? nullptr : &*found;
}

bool can_be(const InputSetting& setting, const json::value& value) {
  if (setting.override_ == InputOverride::restricted_key_values)
    return std::ranges::any_of(setting.labelled_values,
                               [&](const auto& pair) { return pair.second == value; });
  if (setting.override_ == InputOverride::not_allowed) return setting.default_value == value;
  return wrong_for_setting(setting, value).empty();
}

bool leads_to_itself(std::span<const InputSetting> settings, const InputSetting& first) {
  const InputSetting* at = &first;
  for (size_t i = 0; i <= settings.size(); ++i) {
    if (!at->depends_on) return false;
    at = find_setting(settings, at->depends_on->input);
    if (at == nullptr) return false;
    if (at == &first) return true;
  }
  return false;
}

void check_dependency(std::span<const InputSetting> settings, const InputSetting& setting,
                      const Place& place) {
  const InputDependency& depends = *setting.depends_on;
  const Place inside{pointer(place.where, "depends_on"), place.problems};
  if (depends.values.empty()) inside.say("values", "is missing: the values that show this input");
  const InputSetting* other = find_setting(settings, depends.input);
  if (other == nullptr) {
    std::vector<std::string> names;
    for (const InputSetting& each : settings)
      if (&each != &setting) names.push_back(each.name);
    return inside.say("input", fmt::format("there is no input \"{}\"", printable(depends.input)),
                      did_you_mean(depends.input, names));
  }
  if (leads_to_itself(settings, setting))
    return inside.say("input", fmt::format("{} depends on itself", setting.name));
  if (other->type == InputType::secret || other->type == InputType::json)
    return inside.say("input", fmt::format("{} is of type {}: nothing can depend on its value",
                                           other->name, name(other->type)));
  for (size_t i = 0; i < depends.values.size(); ++i)
    if (!can_be(*other, depends.values[i]))
      place.problems.push_back(
          {fmt::format("{}/values/{}", inside.where, i),
           fmt::format("{} is never {}", other->name, in_words(depends.values[i])), ""});
}

}  // namespace

std::vector<Problem> problems_of_inputs(std::span<const InputSetting> settings) {
  std::vector<Problem> problems;
  if (settings.size() > kMostInputs)
    problems.push_back({"/inputs", fmt::format("has more than {} inputs", kMostInputs), ""});
  std::set<std::string> names;
  for (size_t i = 0; i < std::min(settings.size(), kMostInputs); ++i) {
    const Place place{fmt::format("/inputs/{}", i), problems};
    check_one(settings[i], place);
    if (!settings[i].name.empty() && !names.insert(settings[i].name).second)
      place.say("name", fmt::format("there is another input {}", printable(settings[i].name)));
    if (settings[i].depends_on) check_dependency(settings, settings[i], place);
  }
  return problems;
}

}  // namespace exa
