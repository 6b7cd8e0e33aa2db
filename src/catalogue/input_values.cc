#include "catalogue/input_values.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/money.h"
#include "base/text.h"
#include "catalogue/anchored_pattern.h"

namespace exa {
namespace {

constexpr size_t kLongestQuote = 80;

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_expression_name(std::string_view text) {
  return !text.empty() && is_letter(text.front()) && std::ranges::all_of(text, [](char c) {
    return is_letter(c) || is_digit(c) || c == '.' || c == '-';
  });
}

std::string wrong_expression(std::string_view text) {
  for (size_t at = text.find('$'); at != text.npos; at = text.find('$', at)) {
    const size_t end = text.find(")$", at);
    if (text.substr(at, 2) != "$(" || end == text.npos ||
        !is_expression_name(text.substr(at + 2, end - at - 2)))
      return "takes $ only as $(name)$, a name being letters, digits, '_', '-' and '.'";
    at = end + 2;
  }
  return {};
}

std::string wrong_text_value(const InputSetting& setting, std::string_view text) {
  const bool is_secret = setting.type == InputType::secret;
  if (!is_valid_utf8(text)) return "is not valid UTF-8";
  if (is_secret ? text.find('\0') != text.npos : printable(text) != text)
    return "holds control characters";
  if (is_secret && text.empty()) return "is empty";
  if (code_points(text) > kLongestInputText)
    return fmt::format("has more than {} characters", kLongestInputText);
  if (setting.type == InputType::expression) return wrong_expression(text);
  if (setting.pattern.empty()) return {};
  const auto pattern = compile_pattern(setting.pattern);
  if (!pattern) return "cannot be checked: the pattern of the setting is not valid";
  return matches(*pattern, text) ? "" : fmt::format("does not match {}", setting.pattern);
}

std::string wrong_number(const InputSetting& setting, const json::value& value) {
  const Result<int64_t> read = input_number(to_text(value));
  if (!read) return read.error().message;
  if (setting.min_micros && *read < *setting.min_micros)
    return fmt::format("must be at least {}, not {}", format_micros(*setting.min_micros),
                       format_micros(*read));
  if (setting.max_micros && *read > *setting.max_micros)
    return fmt::format("must be at most {}, not {}", format_micros(*setting.max_micros),
                       format_micros(*read));
  const int64_t from = setting.min_micros.value_or(0);
  if (setting.step_micros && (*read - from) % *setting.step_micros != 0)
    return fmt::format("must be {} and steps of {}, not {}", format_micros(from),
                       format_micros(*setting.step_micros), format_micros(*read));
  return {};
}

bool brings_rules(const json::value& value, bool is_json) {
  const auto* object = value.if_object();
  if (object == nullptr) return false;
  const auto has = [&](std::string_view key) { return object->contains(key); };
  if (is_json) return has("value") && (has("options") || has("override"));
  return has("value") || has("options") || has("override") || has("min") || has("max") ||
         has("step") || has("allowed_values") || has("choices");
}

std::string_view wanted(InputType type) {
  switch (type) {
    case InputType::number:
      return "a number";
    case InputType::boolean:
      return "true or false";
    case InputType::json:
      return "a value";
    default:
      return "a text";
  }
}

bool has_type(InputType type, const json::value& value) {
  switch (type) {
    case InputType::number:
      return value.is_number();
    case InputType::boolean:
      return value.is_bool();
    case InputType::json:
      return true;
    default:
      return value.is_string();
  }
}

std::string wrong_type(const InputSetting& setting, const json::value& value) {
  if (value.is_null()) return "is null; leave the input out to take its default";
  if (brings_rules(value, setting.type == InputType::json))
    return "brings rules of its own; give the value alone, the rules are those of the profile";
  if (has_type(setting.type, value)) return {};
  if (setting.type == InputType::secret) return "must be a text";
  return fmt::format("must be {}, not {}", wanted(setting.type), in_words(value));
}

std::string one_of(const std::vector<std::string>& words, const json::value& value) {
  return fmt::format("must be one of {}, not {}", join(words, ", "), in_words(value));
}

std::string wrong_label(const InputSetting& setting, const json::value& value) {
  std::vector<std::string> labels;
  for (const auto& [label, _] : setting.labelled_values) labels.push_back(label);
  const bool is_known =
      value.is_string() &&
      std::ranges::find(labels, std::string_view(value.get_string())) != labels.end();
  return is_known ? "" : one_of(labels, value);
}

}  // namespace

Result<int64_t> input_number(std::string_view text) {
  const bool negative = text.starts_with('-');
  auto read = parse_micros(negative ? text.substr(1) : text, "it", kMostInputNumberMicros);
  if (read) return negative ? -*read : *read;
  return fail(Code::invalid_input,
              fmt::format("must be a plain decimal with at most six decimals and within 10^12, not "
                          "{}",
                          printable(text.substr(0, kLongestQuote))));
}

std::optional<int64_t> micros_of(const json::value& number) {
  if (!number.is_number()) return std::nullopt;
  const auto read = input_number(to_text(number));
  return read ? std::optional(*read) : std::nullopt;
}

bool is_input_name(std::string_view text) {
  return !text.empty() && text.size() <= 63 && is_letter(text.front()) &&
         std::ranges::all_of(text, [](char c) { return is_letter(c) || is_digit(c); });
}

size_t code_points(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string wrong_for_type(const InputSetting& setting, const json::value& value) {
  if (std::string wrong = wrong_type(setting, value); !wrong.empty()) return wrong;
  switch (setting.type) {
    case InputType::number:
      return wrong_number(setting, value);
    case InputType::boolean:
      return {};
    case InputType::choice:
      if (std::ranges::find(setting.choices, std::string_view(value.get_string())) ==
          setting.choices.end())
        return one_of(setting.choices, value);
      return {};
    case InputType::json:
      if (to_text(value).size() > kLongestInputJson)
        return fmt::format("is longer than {} bytes", kLongestInputJson);
      return {};
    default:
      return wrong_text_value(setting, value.get_string());
  }
}

std::string wrong_for_setting(const InputSetting& setting, const json::value& value) {
  if (setting.override_ == InputOverride::restricted_key_values) {
    if (value.is_null() || brings_rules(value, false)) return wrong_type(setting, value);
    return wrong_label(setting, value);
  }
  if (std::string wrong = wrong_for_type(setting, value); !wrong.empty()) return wrong;
  if (setting.override_ != InputOverride::restricted) return {};
  const bool is_listed = std::ranges::any_of(setting.allowed_values, [&](const json::value& one) {
    if (setting.type == InputType::number) return micros_of(one) == micros_of(value);
    return to_canonical_text(one) == to_canonical_text(value);
  });
  if (is_listed) return {};
  std::vector<std::string> words;
  for (const json::value& one : setting.allowed_values) words.push_back(in_words(one));
  return one_of(words, value);
}

const json::value& meant(const InputSetting& setting, const json::value& given) {
  if (setting.override_ != InputOverride::restricted_key_values || !given.is_string()) return given;
  const auto found =
      std::ranges::find(setting.labelled_values, std::string_view(given.get_string()),
                        [](const auto& pair) { return std::string_view(pair.first); });
  return found == setting.labelled_values.end() ? given : found->second;
}

std::string in_words(const json::value& value) {
  std::string text = value.is_string() ? printable(value.get_string()) : to_text(value);
  if (code_points(text) <= kLongestQuote) return text.empty() ? "\"\"" : text;
  size_t end = kLongestQuote;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end) + "…";
}

}  // namespace exa
