// What a compute profile lets its users fill in, and on what terms (semantics §7). Pure.
//
// Every interface asks the same two functions: problems_of_inputs() when an admin writes the
// settings, resolve_inputs() when somebody launches. What a form or a flag checks before comes out
// of input_schema() and is a courtesy.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/secret.h"

namespace exa {

// text        one line
// number      a decimal with at most six decimals
// boolean     true or false
// choice      one of `choices`; "enum" in JSON
// json        any JSON but null; nothing inside it is read here
// expression  a line for the environment template to evaluate: text around $(name)$, where a name
//             is letters, digits, '_', '-' and '.'
// secret      text of any lines; nobody reads it back
enum class InputType { text, number, boolean, choice, json, expression, secret };
// allowed               any value of the type
// not_allowed           the default, for everybody; "notallowed" in JSON
// restricted            one of `allowed_values`
// restricted_key_values a label of `labelled_values`, which stands for its value; "restricted-key-
//                       values" in JSON. Only labels are taken, and the default is one
enum class InputOverride { allowed, not_allowed, restricted, restricted_key_values };

std::string_view name(InputType type);
std::string_view name(InputOverride override_);
std::optional<InputType> find_input_type(std::string_view name);
std::optional<InputOverride> find_input_override(std::string_view name);
std::vector<std::string> input_type_names();
std::vector<std::string> input_override_names();

// The input is there only while the other has one of these values (of labels: what they stand for).
struct InputDependency {
  std::string input;
  std::vector<json::value> values;

  bool operator==(const InputDependency&) const = default;
};

struct InputSetting {
  std::string name;   // an identifier: letters, digits and '_', no digit first
  std::string label;  // for people; empty: the name
  std::string description;
  std::string group;  // inputs of one group stand together
  InputType type = InputType::text;
  bool required = false;
  std::optional<json::value> default_value;  // a secret has none
  InputOverride override_ = InputOverride::allowed;
  std::vector<json::value> allowed_values;
  std::vector<std::pair<std::string, json::value>> labelled_values;
  std::vector<std::string> choices;
  std::optional<int64_t> min_micros;  // of numbers, in millionths
  std::optional<int64_t> max_micros;
  std::optional<int64_t> step_micros;  // counts from min; without one from 0
  std::string pattern;                 // of text and secret; catalogue/anchored_pattern.h
  std::optional<InputDependency> depends_on;

  bool operator==(const InputSetting&) const = default;
};

inline constexpr size_t kMostInputs = 100;
inline constexpr size_t kMostInputValues = 200;      // of a list
inline constexpr size_t kLongestInputText = 4'096;   // code points
inline constexpr size_t kLongestInputJson = 65'536;  // bytes as text
inline constexpr int64_t kMostInputNumberMicros = int64_t{1'000'000'000'000} * 1'000'000;

// Every key, null where nothing is said.
json::object to_json(const InputSetting& setting);
// Types and unknown fields only, problems at pointers below `where`; numbers come out in one form.
InputSetting input_setting_from_json(const json::value& value, std::string_view where,
                                     std::vector<Problem>& problems);

// The rules of the settings: names, what belongs to which type, a default within its own rules,
// lists that are there, dependencies that exist and lead back to nothing. Pointers are
// "/inputs/2/default".
std::vector<Problem> problems_of_inputs(std::span<const InputSetting> settings);

enum class InputSource { given, default_value, fixed };
std::string_view name(InputSource source);  // "given", "default", "fixed"

struct ResolvedInput {
  std::string name;
  InputSource source = InputSource::given;
  std::string label;  // of restricted_key_values: what was chosen
  bool is_secret = false;
  json::value value;  // null of a secret
  Secret secret;      // empty of anything else
};
struct ResolvedInputs {
  std::vector<ResolvedInput> values;  // in the order of the settings; without what has no value
};

// What runs, from the settings that are stored and the values that somebody gave: an object of
// values by name, and nothing else. Every problem at once, at "/inputs/NAME": outside of min, max,
// step, pattern or a list; given where nothing may be given (fixed, or its dependency is not met);
// unknown names; missing; another type. An object that brings rules of its own ({"value": …,
// "options": …}) is refused, also as json. No message holds a secret.
Result<ResolvedInputs> resolve_inputs(std::span<const InputSetting> stored,
                                      const json::object& given);

// {"NAME": {"value", "source", "label"}}; secrets masked. For lists, logs and audit.
json::object masked(const ResolvedInputs& inputs);
// What the run gets: values by name, secrets as they are. Never shown, never stored.
json::object revealed(const ResolvedInputs& inputs);
inline constexpr std::string_view kMaskedSecret = "********";

// A value as a flag or an answer to a prompt writes it, in JSON. Fails where the text is no such
// value; the rules are for resolve_inputs.
Result<json::value> input_from_text(const InputSetting& setting, std::string_view text);

// The JSON Schema (2020-12) of what may be given to resolve_inputs: for prompts, forms and the
// description of the API. What JSON Schema has no word for stands in "x-exa" of each property, with
// group, order and depends_on; see schema_says_all().
json::object input_schema(std::span<const InputSetting> settings);
// Whether the schema and resolve_inputs agree on every value of one line: false where steps do not
// count from a multiple of themselves.
bool schema_says_all(const InputSetting& setting);

}  // namespace exa
