// Members of a document that the catalogue keeps, read back. They were checked before they were
// written: what cannot be read is damage of the store.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/json.h"
#include "base/money.h"
#include "base/time.h"

namespace exa {

class StoredMembers {
 public:
  // Both outlive it.
  StoredMembers(const json::object& object, std::string_view what) : object_(object), what_(what) {}

  std::string text(std::string_view key) const { return std::string(text_or(object_, key, "")); }
  std::optional<int64_t> count(std::string_view key) const {
    const json::value* value = object_.if_contains(key);
    return value != nullptr && value->is_int64() ? std::optional(value->get_int64()) : std::nullopt;
  }
  bool flag(std::string_view key) const {
    const json::value* value = object_.if_contains(key);
    return value != nullptr && value->is_bool() && value->get_bool();
  }
  json::object object(std::string_view key) const {
    const json::value* value = object_.if_contains(key);
    return value != nullptr && value->is_object() ? value->get_object() : json::object();
  }
  std::vector<std::string> texts(std::string_view key) const {
    std::vector<std::string> texts;
    const json::value* value = object_.if_contains(key);
    if (value == nullptr || !value->is_array()) return texts;
    for (const json::value& each : value->get_array())
      if (each.is_string()) texts.emplace_back(each.get_string());
    return texts;
  }
  std::vector<std::pair<std::string, std::string>> pairs(std::string_view key) const {
    std::vector<std::pair<std::string, std::string>> pairs;
    for (const auto& member : object(key))
      if (member.value().is_string()) pairs.emplace_back(member.key(), member.value().get_string());
    return pairs;
  }
  Result<Time> time(std::string_view key) const { return read(parse_rfc3339(text(key)), key); }
  Result<std::optional<Time>> maybe_time(std::string_view key) const {
    std::optional<Time> found;
    if (text(key).empty()) return found;
    EXA_ASSIGN(found, time(key));
    return found;
  }
  Result<Duration> duration(std::string_view key) const {
    return read(parse_duration(text(key)), key);
  }
  Result<std::optional<Money>> money(std::string_view key) const {
    std::optional<Money> found;
    const json::object price = object(key);
    if (price.empty()) return found;
    const json::value* amount = price.if_contains("amount");
    EXA_ASSIGN(found, read(parse_money(amount == nullptr ? "" : to_text(*amount),
                                       text_or(price, "currency", kDefaultCurrency)),
                           key));
    return found;
  }

 private:
  template <typename Value>
  Result<Value> read(Result<Value> value, std::string_view key) const {
    if (value) return value;
    return fail(Code::store_damaged,
                fmt::format("{} cannot be read: {}: {}", what_, key, value.error().message),
                "exa audit verify");
  }

  const json::object& object_;
  std::string_view what_;
};

}  // namespace exa
