// Unknown as JSON has it: null for what is empty or not told.
#pragma once

#include <optional>
#include <string>

#include "base/json.h"
#include "base/money.h"
#include "base/time.h"

namespace exa {

inline json::value text_or_null(const std::string& text) {
  return text.empty() ? json::value(nullptr) : json::value(json::string(text));
}

template <typename Number>
json::value number_or_null(const std::optional<Number>& number) {
  return number ? json::value(*number) : json::value(nullptr);
}

inline json::value time_or_null(const std::optional<Time>& time) {
  return time ? json::value(format_rfc3339(*time)) : json::value(nullptr);
}

inline json::value price_or_null(const std::optional<Money>& money) {
  if (!money) return nullptr;
  return json::object{{"amount", number_from_micros(money->micros)}, {"currency", money->currency}};
}

}  // namespace exa
