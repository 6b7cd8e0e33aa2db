#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/money.h"
#include "base/text.h"
#include "catalogue/input_setting.h"
#include "catalogue/input_values.h"

namespace exa {
namespace {

// Whether an input is there: as its dependency says, or `open` where that has a problem itself.
enum class Shown { yes, no, open, asking };

class Resolving {
 public:
  Resolving(std::span<const InputSetting> settings, const json::object& given)
      : settings_(settings), given_(given), shown_(settings.size()) {}

  Result<ResolvedInputs> all() {
    ResolvedInputs resolved;
    for (size_t i = 0; i < settings_.size(); ++i)
      if (auto value = one(i)) resolved.values.push_back(std::move(*value));
    refuse_unknown();
    if (!problems_.empty()) return fail(invalid("what is given", std::move(problems_)));
    return resolved;
  }

 private:
  void say(std::string_view input, std::string message, std::string suggestion = {}) {
    problems_.push_back(
        {pointer("/inputs", printable(input)), std::move(message), std::move(suggestion)});
  }

  const json::value* given(const InputSetting& setting) const { return find(given_, setting.name); }

  // The value that would run if the input is there; nullptr: none. `broken`: it has a problem.
  const json::value* value_of(const InputSetting& setting, bool& broken) const {
    const json::value* value = given(setting);
    if (setting.override_ == InputOverride::not_allowed) {
      broken = false;
      value = nullptr;
    } else {
      broken = value != nullptr && !wrong_for_setting(setting, *value).empty();
    }
    if (value == nullptr && setting.default_value) value = &*setting.default_value;
    return value;
  }

  Shown shown(size_t i) {
    const InputSetting& setting = settings_[i];
    if (!setting.depends_on) return Shown::yes;
    if (shown_[i]) return *shown_[i] == Shown::asking ? Shown::no : *shown_[i];
    shown_[i] = Shown::asking;  // a circle, which is never stored, shows nothing
    shown_[i] = shown_by(*setting.depends_on);
    return *shown_[i];
  }

  Shown shown_by(const InputDependency& depends) {
    const auto other = std::ranges::find(settings_, depends.input, &InputSetting::name);
    if (other == settings_.end()) return Shown::no;
    const Shown around = shown(static_cast<size_t>(other - settings_.begin()));
    if (around != Shown::yes) return around;
    bool broken = false;
    const json::value* value = value_of(*other, broken);
    if (broken) return Shown::open;
    if (value == nullptr) return Shown::no;
    const json::value& stands_for = meant(*other, *value);
    const bool is_one = std::ranges::any_of(depends.values, [&](const json::value& each) {
      if (each.is_number()) return micros_of(each) == micros_of(stands_for);
      return each == stands_for;
    });
    return is_one ? Shown::yes : Shown::no;
  }

  std::string why_hidden(const InputSetting& setting) const {
    std::vector<std::string> values;
    for (const json::value& value : setting.depends_on->values) values.push_back(in_words(value));
    return fmt::format("is there only while {} is {}", setting.depends_on->input,
                       join(values, " or "));
  }

  std::optional<ResolvedInput> one(size_t i) {
    const InputSetting& setting = settings_[i];
    const Shown is_shown = shown(i);
    const json::value* value = given(setting);
    if (is_shown == Shown::no) {
      if (value != nullptr) say(setting.name, why_hidden(setting));
      return std::nullopt;
    }
    if (setting.override_ == InputOverride::not_allowed) return fixed(setting, value);
    if (value != nullptr) return taken(setting, *value, InputSource::given);
    if (setting.default_value)
      return taken(setting, *setting.default_value, InputSource::default_value);
    if (setting.required && is_shown == Shown::yes) say(setting.name, "is required");
    return std::nullopt;
  }

  std::optional<ResolvedInput> fixed(const InputSetting& setting, const json::value* value) {
    if (value != nullptr)
      say(setting.name, setting.default_value ? fmt::format("may not be changed: it is {}",
                                                            in_words(*setting.default_value))
                                              : "may not be given");
    if (!setting.default_value) return std::nullopt;
    return taken(setting, *setting.default_value, InputSource::fixed);
  }

  std::optional<ResolvedInput> taken(const InputSetting& setting, const json::value& value,
                                     InputSource source) {
    // what is stored was checked when it was written
    if (source == InputSource::given) {
      std::string wrong = wrong_for_setting(setting, value);
      if (!wrong.empty()) {
        say(setting.name, std::move(wrong), nearest(setting, value));
        return std::nullopt;
      }
    }
    ResolvedInput input;
    input.name = setting.name;
    input.source = source;
    if (setting.type == InputType::secret) {
      input.is_secret = true;
      if (value.is_string()) input.secret = Secret(std::string(value.get_string()));
      return input;
    }
    if (setting.override_ == InputOverride::restricted_key_values && value.is_string())
      input.label = value.get_string();
    input.value = meant(setting, value);
    if (setting.type == InputType::number)
      if (const auto micros = micros_of(input.value)) input.value = number_from_micros(*micros);
    return input;
  }

  static std::string nearest(const InputSetting& setting, const json::value& value) {
    if (!value.is_string() || setting.type == InputType::secret) return {};
    std::vector<std::string> words = setting.choices;
    if (setting.override_ == InputOverride::restricted_key_values) {
      words.clear();
      for (const auto& [label, _] : setting.labelled_values) words.push_back(label);
    } else if (setting.override_ == InputOverride::restricted) {
      words.clear();
      for (const json::value& one : setting.allowed_values)
        if (one.is_string()) words.emplace_back(one.get_string());
    }
    return did_you_mean(value.get_string(), words);
  }

  void refuse_unknown() {
    std::vector<std::string> names;
    for (const InputSetting& setting : settings_) names.push_back(setting.name);
    for (const auto& member : given_)
      if (std::ranges::find(names, std::string_view(member.key())) == names.end())
        say(member.key(), "is not an input of this profile", did_you_mean(member.key(), names));
  }

  std::span<const InputSetting> settings_;
  const json::object& given_;
  std::vector<std::optional<Shown>> shown_;
  std::vector<Problem> problems_;
};

}  // namespace

Result<ResolvedInputs> resolve_inputs(std::span<const InputSetting> stored,
                                      const json::object& given) {
  return Resolving(stored, given).all();
}

json::object masked(const ResolvedInputs& inputs) {
  json::object result;
  for (const ResolvedInput& input : inputs.values) {
    json::object one = {{"value", input.is_secret ? json::value(kMaskedSecret) : input.value},
                        {"source", name(input.source)}};
    if (!input.label.empty()) one["label"] = input.label;
    result[input.name] = std::move(one);
  }
  return result;
}

json::object revealed(const ResolvedInputs& inputs) {
  json::object result;
  for (const ResolvedInput& input : inputs.values)
    result[input.name] = input.is_secret ? json::value(input.secret.reveal()) : input.value;
  return result;
}

}  // namespace exa
