#include "base/object_reader.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace exa {
namespace {

constexpr size_t kLongestQuote = 100;

std::string quoted(const json::value& value) {
  const std::string text = to_text(value);
  return text.size() <= kLongestQuote ? text : printable(text.substr(0, kLongestQuote)) + "…";
}

}  // namespace

ObjectReader::ObjectReader(const json::value& value, std::string_view where,
                           std::vector<Problem>& problems)
    : object_(value.if_object()), where_(where), problems_(problems) {
  if (object_ == nullptr)
    problems_.push_back({where_, fmt::format("must be an object, not {}", quoted(value)), ""});
}

const json::value* ObjectReader::given(std::string_view key) const {
  const json::value* value = object_ == nullptr ? nullptr : find(*object_, key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

std::string ObjectReader::at(std::string_view key) const {
  return pointer(where_, key);
}

void ObjectReader::say(std::string_view key, std::string message, std::string suggestion) const {
  problems_.push_back({at(key), std::move(message), std::move(suggestion)});
}

bool ObjectReader::text(std::string_view key, size_t longest, std::string& value) const {
  const json::value* found = given(key);
  if (found == nullptr) return false;
  std::string wrong = wrong_text(*found, longest);
  if (!wrong.empty()) {
    say(key, std::move(wrong));
    return false;
  }
  value = found->get_string();
  return true;
}

bool ObjectReader::flag(std::string_view key, bool& value) const {
  const json::value* found = given(key);
  if (found == nullptr) return false;
  if (!found->is_bool()) {
    say(key, fmt::format("must be true or false, not {}", quoted(*found)));
    return false;
  }
  value = found->get_bool();
  return true;
}

bool ObjectReader::count(std::string_view key, int64_t& value) const {
  const json::value* found = given(key);
  if (found == nullptr) return false;
  boost::system::error_code failed;
  const auto number = found->to_number<int64_t>(failed);
  if (!found->is_number() || found->is_double() || failed || number < 0) {
    say(key, fmt::format("must be a whole number from 0 on, not {}", quoted(*found)));
    return false;
  }
  value = number;
  return true;
}

bool ObjectReader::count(std::string_view key, std::optional<int64_t>& value) const {
  int64_t number = 0;
  if (!count(key, number)) return false;
  value = number;
  return true;
}

bool ObjectReader::time(std::string_view key, Time& value) const {
  std::string written;
  if (!text(key, 64, written)) return false;
  const auto parsed = parse_rfc3339(written);
  if (!parsed) {
    say(key, parsed.error().message);
    return false;
  }
  value = *parsed;
  return true;
}

const json::array* ObjectReader::list(std::string_view key, size_t most) const {
  const json::value* found = given(key);
  if (found == nullptr) return nullptr;
  if (!found->is_array()) {
    say(key, fmt::format("must be a list, not {}", quoted(*found)));
    return nullptr;
  }
  if (found->get_array().size() <= most) return &found->get_array();
  say(key, fmt::format("has {} elements; at most {} are read", found->get_array().size(), most));
  return nullptr;
}

void ObjectReader::require(std::initializer_list<std::string_view> keys) const {
  if (object_ == nullptr) return;
  for (const std::string_view key : keys)
    if (given(key) == nullptr) say(key, "is missing");
}

void ObjectReader::refuse_others(std::initializer_list<std::string_view> known,
                                 std::string_view what) const {
  if (object_ == nullptr) return;
  const std::vector<std::string> names(known.begin(), known.end());
  for (const auto& member : *object_)
    if (std::ranges::find(names, std::string_view(member.key())) == names.end())
      say(member.key(), fmt::format("is not a field of {}", what),
          did_you_mean(member.key(), names));
}

std::string wrong_text(const json::value& value, size_t longest) {
  if (!value.is_string()) return fmt::format("must be a text, not {}", quoted(value));
  const std::string_view text = value.get_string();
  if (!is_valid_utf8(text)) return "is not valid UTF-8";
  if (text.size() > longest) return fmt::format("is longer than {} bytes", longest);
  if (printable(text) != text)
    return fmt::format("holds control characters: \"{}\"", printable(text));
  return {};
}

}  // namespace exa
