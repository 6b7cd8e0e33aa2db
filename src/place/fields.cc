#include "place/fields.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/quantity.h"
#include "base/text.h"
#include "profile/validate.h"

namespace exa {
namespace {

constexpr size_t kLongestCapability = 64;

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

}  // namespace

bool is_capability(std::string_view text) {
  return !text.empty() && text.size() <= kLongestCapability && is_plain(text.front()) &&
         is_plain(text.back()) && std::ranges::all_of(text, [](char c) {
           return is_plain(c) || c == '.' || c == '_' || c == '+' || c == '-';
         });
}

void FieldReader::say(std::string_view key, std::string message, std::string suggestion) const {
  problems_.push_back({pointer("", key), std::move(message), std::move(suggestion)});
}

void FieldReader::say_unknown(std::string_view key, std::string_view what, const std::string& given,
                              const std::vector<std::string>& known) const {
  say(key, fmt::format("\"{}\" is not {}; there are {}", printable(given), what, join(known, ", ")),
      did_you_mean(given, known));
}

bool FieldReader::has(std::string_view key) const {
  return find(input_, key) != nullptr;
}

bool FieldReader::cleared(std::string_view key) const {
  const json::value* value = find(input_, key);
  return value != nullptr && value->is_null();
}

bool FieldReader::get_text(std::string_view key, std::string& value) const {
  const json::value* given = find(input_, key);
  if (given == nullptr || given->is_null()) return false;
  if (!given->is_string()) {
    say(key, fmt::format("must be a text, not {}", to_text(*given)));
    return false;
  }
  std::string text(given->get_string());
  if (!is_valid_utf8(text)) {
    say(key, "is not valid UTF-8");
    return false;
  }
  if (printable(text) != text) {
    say(key, fmt::format("holds control characters: \"{}\"", printable(text)));
    return false;
  }
  value = std::move(text);
  return true;
}

void FieldReader::text(std::string_view key, std::string& value) const {
  get_text(key, value);
}

void FieldReader::name(std::string_view key, std::string& value, std::string_view what) const {
  std::string given;
  if (!get_text(key, given)) return;
  if (auto checked = check_name(given, what))
    value = std::move(*checked);
  else
    say(key, checked.error().message);
}

void FieldReader::tags(std::string_view key, std::vector<std::string>& value) const {
  const json::value* given = find(input_, key);
  if (given == nullptr || given->is_null()) return;
  std::vector<std::string> tags;
  if (given->is_string()) {
    for (const std::string_view part : split(given->get_string(), ','))
      if (!trim(part).empty()) tags.push_back(lower(trim(part)));
  } else if (given->is_array()) {
    for (const json::value& element : given->get_array()) {
      if (element.is_string())
        tags.push_back(lower(trim(element.get_string())));
      else
        say(key, fmt::format("must hold texts, not {}", to_text(element)));
    }
  } else {
    return say(key, fmt::format("must be a list of texts, not {}", to_text(*given)));
  }
  for (const std::string& tag : tags)
    if (!is_capability(tag))
      say(key, fmt::format("\"{}\" is not a capability tag such as fp8", printable(tag)));
  std::ranges::sort(tags);
  tags.erase(std::unique(tags.begin(), tags.end()), tags.end());
  value = std::move(tags);
}

void FieldReader::flag(std::string_view key, bool& value) const {
  const json::value* given = find(input_, key);
  if (given == nullptr || given->is_null()) return;
  if (!given->is_bool())
    return say(key, fmt::format("must be true or false, not {}", to_text(*given)));
  value = given->get_bool();
}

bool FieldReader::get_decimal(std::string_view key, std::string& value) const {
  const json::value* given = find(input_, key);
  if (given == nullptr || given->is_null()) return false;
  if (given->is_string()) {
    value = std::string(given->get_string());
  } else if (given->is_number()) {
    value = to_text(*given);
    // 1e+300 comes out of a JSON number; nobody wrote an exponent
    if (value.find('e') != std::string::npos) {
      say(key, fmt::format("{} is out of range", value));
      return false;
    }
  } else {
    say(key, fmt::format("must be a number, not {}", to_text(*given)));
    return false;
  }
  if (value.starts_with('-')) {
    say(key, fmt::format("must not be negative, as {} is", printable(value)));
    return false;
  }
  return true;
}

void FieldReader::amount(std::string_view key, int64_t& value,
                         const std::function<Result<int64_t>(std::string_view)>& parse) const {
  std::string text;
  if (!get_decimal(key, text)) return;
  if (const auto amount = parse(text))
    value = *amount;
  else
    say(key, amount.error().message);
}

void FieldReader::count(std::string_view key, int64_t& value) const {
  amount(key, value, [&](std::string_view text) { return parse_count(text, key); });
}

void FieldReader::bytes_with_unit(std::string_view key, int64_t& value) const {
  const json::value* given = find(input_, key);
  if (given != nullptr && given->is_number())
    return say(key, fmt::format("needs a unit: write \"{}GB\" or \"{}GiB\"", to_text(*given),
                                to_text(*given)));
  std::string text;
  if (!get_text(key, text)) return;
  if (const auto bytes = parse_bytes_with_unit(text))
    value = *bytes;
  else
    say(key, bytes.error().message);
}

void FieldReader::refuse_unknown_keys(std::span<const std::string_view> known,
                                      std::string_view what) const {
  for (const auto& member : input_) {
    const std::string_view key = member.key();
    if (std::ranges::find(known, key) != known.end()) continue;
    const std::vector<std::string> names(known.begin(), known.end());
    say(key, fmt::format("is not a field of {}", what), did_you_mean(key, names));
  }
}

}  // namespace exa
