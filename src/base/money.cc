#include "base/money.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "base/text.h"

namespace exa {
namespace {

__extension__ typedef __int128 Wide;  // NOLINT(modernize-use-using): g++ takes no alias here
constexpr int kDecimals = 6;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool fits(Wide value) {
  return value <= std::numeric_limits<int64_t>::max() &&
         value >= std::numeric_limits<int64_t>::min();
}

// Why a text that is no plain decimal is none, in the words of whoever wrote it.
std::string complaint(std::string_view text, std::string_view what) {
  const std::string lowered = lower(text);
  const std::string shown = printable(text);
  if (text.empty()) return fmt::format("{} is empty; write a decimal such as 2.5", what);
  if (text.front() == '-') return fmt::format("{} must not be negative, as {} is", what, shown);
  if (lowered == "nan" || lowered == "inf" || lowered == "infinity")
    return fmt::format("{} must be a finite number such as 2.5, not {}", what, shown);
  const size_t exponent = lowered.find('e');
  if (exponent != std::string::npos && exponent > 0 && is_digit(lowered[exponent - 1]))
    return fmt::format("{} takes no exponent, as {} has; write it in full", what, shown);
  if (text.find(',') != std::string_view::npos)
    return fmt::format("{} takes a point for decimals and no separators, not \"{}\"", what, shown);
  return fmt::format("{} must be a plain decimal such as 2.5, not \"{}\"", what, shown);
}

}  // namespace

Result<int64_t> parse_micros(std::string_view text, std::string_view what, int64_t most) {
  const size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  std::string_view part = point == std::string_view::npos ? "" : text.substr(point + 1);
  const bool plain = std::ranges::all_of(whole, is_digit) && std::ranges::all_of(part, is_digit) &&
                     !whole.empty() && (point == std::string_view::npos || !part.empty());
  if (!plain) return fail(Code::invalid_input, complaint(text, what));
  while (part.ends_with('0')) part.remove_suffix(1);
  if (part.size() > kDecimals) {
    return fail(Code::invalid_input,
                fmt::format("{} has more than {} decimals: {}", what, kDecimals, printable(text)));
  }
  Wide value = 0;
  const Wide limit = Wide{most} * 10;  // beyond it the digits left cannot matter
  for (const char c : whole) value = std::min<Wide>(value * 10 + (c - '0'), limit);
  for (int i = 0; i < kDecimals; ++i)
    value =
        value * 10 + (i < static_cast<int>(part.size()) ? part[static_cast<size_t>(i)] - '0' : 0);
  if (value > most) {
    return fail(Code::invalid_input, fmt::format("{} is {}; at most {} is taken", what,
                                                 printable(text), format_micros(most)));
  }
  return static_cast<int64_t>(value);
}

std::string format_micros(int64_t micros) {
  // the magnitude as unsigned: the least int64 has no positive counterpart
  const uint64_t magnitude =
      micros < 0 ? ~static_cast<uint64_t>(micros) + 1 : static_cast<uint64_t>(micros);
  std::string text = fmt::format("{}{}", micros < 0 ? "-" : "", magnitude / kMicro);
  if (const uint64_t rest = magnitude % kMicro; rest != 0) {
    text += fmt::format(".{:06}", rest);
    while (text.ends_with('0')) text.pop_back();
  }
  return text;
}

json::value number_from_micros(int64_t micros) {
  return number_from_text(format_micros(micros));
}

bool is_currency(std::string_view text) {
  return text.size() == 3 && std::ranges::all_of(text, [](char c) { return c >= 'A' && c <= 'Z'; });
}

Result<Money> parse_money(std::string_view text, std::string_view currency, std::string_view what) {
  if (!is_currency(currency)) {
    return fail(Code::invalid_input,
                fmt::format("\"{}\" is not a currency; write three capital letters such as EUR",
                            printable(currency)));
  }
  EXA_ASSIGN(const int64_t micros, parse_micros(text, what));
  return Money{micros, std::string(currency)};
}

std::string format_money(const Money& money) {
  return fmt::format("{} {}", format_micros(money.micros), money.currency);
}

std::optional<Money> sum(const Money& a, const Money& b) {
  const Wide total = Wide{a.micros} + b.micros;
  if (a.currency != b.currency || !fits(total)) return std::nullopt;
  return Money{static_cast<int64_t>(total), a.currency};
}

std::optional<int64_t> scale(int64_t value, int64_t numerator, int64_t denominator) {
  if (denominator <= 0) return std::nullopt;
  const Wide product = Wide{value} * numerator;
  const Wide half = denominator / 2;
  // an odd denominator has no ties, so adding half of it, cut, is exact for both
  const Wide rounded =
      product < 0 ? -((-product + half) / denominator) : (product + half) / denominator;
  if (!fits(rounded)) return std::nullopt;
  return static_cast<int64_t>(rounded);
}

std::optional<int64_t> multiply(int64_t a, int64_t b) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

}  // namespace exa
