// Money as an exact decimal: millionths of a currency unit in an int64, never a float, so that ten
// hours at 1.8 are 18 and not 18.000000000000004. Semantics §1.
//
// A plain decimal in ("2.5", "0.000001"), the shortest one out ("2.5", "18"). NaN, infinities,
// signs and exponents are refused with a sentence; what does not fit is an error or nullopt, never
// a wrapped number. All functions are pure and safe to call from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/json.h"

namespace exa {

inline constexpr int64_t kMicro = 1'000'000;
inline constexpr std::string_view kDefaultCurrency = "USD";
// The dearest device is some hundred units an hour; a larger price is a slip of the hand.
inline constexpr int64_t kMostMoneyMicros = int64_t{1'000'000'000} * kMicro;

// A plain decimal with at most six decimals and at most `most` (in millionths) as millionths: "2.5"
// is 2'500'000. `what` names the amount in the error ("cost per hour"). Fails with invalid_input.
Result<int64_t> parse_micros(std::string_view text, std::string_view what,
                             int64_t most = kMostMoneyMicros);
std::string format_micros(int64_t micros);  // "2.5", "18", "-0.25"
// 2.5, 18: the shortest JSON number. Exact to nine billion units, the nearest double beyond.
json::value number_from_micros(int64_t micros);

// An amount of one currency. Amounts of different currencies are never added or compared.
struct Money {
  int64_t micros = 0;
  std::string currency{kDefaultCurrency};  // three capital letters, as ISO 4217

  bool operator==(const Money&) const = default;
};

// "2.5" in the currency given. Fails with invalid_input: the amount or the currency is malformed.
Result<Money> parse_money(std::string_view text, std::string_view currency = kDefaultCurrency,
                          std::string_view what = "amount");
std::string format_money(const Money& money);  // "2.5 USD"
bool is_currency(std::string_view text);       // three capital ASCII letters

// a + b; nullopt when the currencies differ or the sum does not fit.
std::optional<Money> sum(const Money& a, const Money& b);

// value × numerator / denominator to the nearest integer, halves away from zero, through 128 bits;
// nullopt when it does not fit or when the denominator is not positive.
std::optional<int64_t> scale(int64_t value, int64_t numerator, int64_t denominator);
std::optional<int64_t> multiply(int64_t a, int64_t b);  // nullopt when it does not fit

}  // namespace exa
