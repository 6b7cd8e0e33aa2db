#include "base/quantity.h"

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/text.h"

namespace exa {
namespace {

__extension__ typedef __int128 Wide;  // NOLINT(modernize-use-using): g++ takes no alias here
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

// A plain decimal: digits, at most one point, no sign and no exponent. value = units / 10^decimals.
struct Decimal {
  int64_t units = 0;
  int decimals = 0;
};

std::optional<Decimal> plain_decimal(std::string_view text) {
  Decimal result;
  bool point = false;
  bool digit = false;
  for (const char c : text) {
    if (c == '.' && !point) {
      point = true;
      continue;
    }
    if (c < '0' || c > '9') return std::nullopt;
    digit = true;
    if (result.units > (kMost - 9) / 10) return std::nullopt;
    result.units = result.units * 10 + (c - '0');
    if (point) ++result.decimals;
  }
  if (!digit) return std::nullopt;
  return result;
}

Wide power_of_ten(int exponent) {
  Wide value = 1;
  for (int i = 0; i < exponent; ++i) value *= 10;
  return value;
}

// amount * factor / 10^decimals to the nearest integer; nullopt when it does not fit.
std::optional<int64_t> scaled(const Decimal& amount, int64_t factor) {
  const Wide divisor = power_of_ten(amount.decimals);
  const Wide value = (Wide{amount.units} * factor * 2 + divisor) / (divisor * 2);
  if (value > kMost) return std::nullopt;
  return static_cast<int64_t>(value);
}

struct ByteUnit {
  std::string_view name;  // lower case
  int64_t bytes;
};
constexpr std::array kByteUnits = {
    ByteUnit{"k", 1'000},
    ByteUnit{"kb", 1'000},
    ByteUnit{"m", 1'000'000},
    ByteUnit{"mb", 1'000'000},
    ByteUnit{"g", 1'000'000'000},
    ByteUnit{"gb", 1'000'000'000},
    ByteUnit{"t", 1'000'000'000'000},
    ByteUnit{"tb", 1'000'000'000'000},
    ByteUnit{"ki", kKiB},
    ByteUnit{"kib", kKiB},
    ByteUnit{"mi", kMiB},
    ByteUnit{"mib", kMiB},
    ByteUnit{"gi", kGiB},
    ByteUnit{"gib", kGiB},
    ByteUnit{"ti", 1024 * kGiB},
    ByteUnit{"tib", 1024 * kGiB},
};

struct KubernetesSuffix {
  std::string_view name;
  int64_t numerator;
  int64_t denominator;
};
constexpr std::array kKubernetesSuffixes = {
    KubernetesSuffix{"", 1, 1},
    KubernetesSuffix{"n", 1, 1'000'000'000},
    KubernetesSuffix{"u", 1, 1'000'000},
    KubernetesSuffix{"m", 1, 1'000},
    KubernetesSuffix{"k", 1'000, 1},
    KubernetesSuffix{"M", 1'000'000, 1},
    KubernetesSuffix{"G", 1'000'000'000, 1},
    KubernetesSuffix{"T", 1'000'000'000'000, 1},
    KubernetesSuffix{"P", 1'000'000'000'000'000, 1},
    KubernetesSuffix{"E", 1'000'000'000'000'000'000, 1},
    KubernetesSuffix{"Ki", kKiB, 1},
    KubernetesSuffix{"Mi", kMiB, 1},
    KubernetesSuffix{"Gi", kGiB, 1},
    KubernetesSuffix{"Ti", 1024 * kGiB, 1},
    KubernetesSuffix{"Pi", 1024 * 1024 * kGiB, 1},
    KubernetesSuffix{"Ei", 1024 * 1024 * 1024 * kGiB, 1},
};

int64_t saturated(Wide value) {
  return value > kMost ? kMost : static_cast<int64_t>(value);
}

Wide divided_up(Wide value, Wide divisor) {
  return (value + divisor - 1) / divisor;
}

}  // namespace

Result<int64_t> parse_milli(std::string_view text, std::string_view what) {
  const auto decimal = plain_decimal(text);
  if (!decimal) {
    return fail(Code::invalid_input,
                fmt::format("\"{}\" is not a number for {} (digits and at most one point)",
                            printable(text), what));
  }
  Decimal amount = *decimal;
  while (amount.decimals > 3 && amount.units % 10 == 0) {
    amount.units /= 10;
    --amount.decimals;
  }
  if (amount.decimals > 3) {
    return fail(Code::invalid_input,
                fmt::format("{} takes at most three decimals, not \"{}\"", what, text));
  }
  const auto milli = scaled(amount, 1000);
  if (!milli)
    return fail(Code::invalid_input, fmt::format("\"{}\" is too large for {}", text, what));
  return *milli;
}

std::string format_milli(int64_t milli) {
  if (milli % 1000 == 0) return std::to_string(milli / 1000);
  std::string text = fmt::format("{}.{:03}", milli / 1000, milli % 1000);
  while (text.back() == '0') text.pop_back();
  return text;
}

Result<int64_t> parse_gib(std::string_view text) {
  const auto decimal = plain_decimal(text);
  if (!decimal || decimal->decimals > 10) {
    return fail(Code::invalid_input,
                fmt::format("\"{}\" is not an amount of GiB (digits and at most one point)",
                            printable(text)));
  }
  const auto bytes = scaled(*decimal, kGiB);
  if (!bytes) return fail(Code::invalid_input, fmt::format("\"{}\" GiB is too large", text));
  return *bytes;
}

std::string format_gib(int64_t bytes) {
  // The fewest decimals that read back as the same bytes: 107374182 is 0.1, not 0.0999999996.
  for (int decimals = 0; decimals <= 10; ++decimals) {
    const Wide power = power_of_ten(decimals);
    const Wide units = (Wide{bytes} * power * 2 + kGiB) / (Wide{kGiB} * 2);
    if (scaled(Decimal{static_cast<int64_t>(units), decimals}, kGiB) == bytes) {
      const auto whole = static_cast<int64_t>(units / power);
      if (decimals == 0) return std::to_string(whole);
      return fmt::format("{}.{:0{}}", whole, static_cast<int64_t>(units % power), decimals);
    }
  }
  return fmt::format("{}", static_cast<double>(bytes) / static_cast<double>(kGiB));
}

Result<int64_t> parse_bytes_with_unit(std::string_view text) {
  const std::string_view trimmed = trim(text);
  const size_t unit_at = trimmed.find_first_not_of("0123456789.");
  if (unit_at == std::string_view::npos && plain_decimal(trimmed)) {
    return fail(
        Code::invalid_input,
        fmt::format("\"{}\" has no unit; write for example {}Gi or {}G", text, trimmed, trimmed));
  }
  const auto refuse = [&] {
    return fail(Code::invalid_input,
                fmt::format("\"{}\" is not an amount of memory such as 80Gi, 512Mi or 40G",
                            printable(text)));
  };
  if (unit_at == std::string_view::npos) return refuse();
  const auto amount = plain_decimal(trimmed.substr(0, unit_at));
  const std::string unit = lower(trim(trimmed.substr(unit_at)));
  const auto* known = std::ranges::find(kByteUnits, unit, &ByteUnit::name);
  if (!amount || amount->decimals > 9 || known == kByteUnits.end()) return refuse();
  const auto bytes = scaled(*amount, known->bytes);
  if (!bytes) return fail(Code::invalid_input, fmt::format("\"{}\" is too large", text));
  return *bytes;
}

std::string format_bytes(int64_t bytes) {
  constexpr std::array<std::pair<int64_t, std::string_view>, 4> kSteps = {
      {{1024 * kGiB, "TiB"}, {kGiB, "GiB"}, {kMiB, "MiB"}, {kKiB, "KiB"}}};
  for (const auto& [size, unit] : kSteps) {
    if (bytes < size) continue;
    // one decimal, rounded down so that no more is promised than there is
    const int64_t tenths = static_cast<int64_t>(Wide{bytes} * 10 / size);
    if (tenths % 10 == 0) return fmt::format("{} {}", tenths / 10, unit);
    return fmt::format("{}.{} {}", tenths / 10, tenths % 10, unit);
  }
  return fmt::format("{} B", bytes);
}

Result<KubernetesQuantity> parse_kubernetes_quantity(std::string_view text) {
  const auto refuse = [&] {
    return fail(Code::unreadable_output,
                fmt::format("\"{}\" is not a Kubernetes quantity", printable(text)));
  };
  const size_t number_end = std::min(text.find_first_not_of("0123456789."), text.size());
  const auto amount = plain_decimal(text.substr(0, number_end));
  if (!amount || amount->decimals > 9) return refuse();
  std::string_view suffix = text.substr(number_end);
  Wide numerator = amount->units;
  Wide denominator = power_of_ten(amount->decimals);
  if (suffix.size() > 1 && (suffix[0] == 'e' || suffix[0] == 'E') && suffix != "Ei") {
    std::string_view digits = suffix.substr(1);
    if (digits.front() == '+') digits.remove_prefix(1);
    int exponent = 0;
    const auto [stop, status] =
        std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
    if (status != std::errc{} || stop != digits.data() + digits.size()) return refuse();
    if (exponent < -9 || exponent > 18) return refuse();
    (exponent < 0 ? denominator : numerator) *= power_of_ten(std::abs(exponent));
  } else {
    const auto* known = std::ranges::find(kKubernetesSuffixes, suffix, &KubernetesSuffix::name);
    if (known == kKubernetesSuffixes.end()) return refuse();
    // at most 2^63 * 2^60: fits in 127 bits
    numerator *= known->numerator;
    denominator *= known->denominator;
  }
  KubernetesQuantity result;
  result.whole = saturated(divided_up(numerator, denominator));
  // the product with 1000 fits in 128 bits only below the limit that saturates anyway
  result.milli = numerator / denominator > kMost / 1000
                     ? kMost
                     : saturated(divided_up(numerator * 1000, denominator));
  return result;
}

Result<int64_t> parse_count(std::string_view text, std::string_view what) {
  int64_t value = 0;
  const auto [stop, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || status != std::errc{} || stop != text.data() + text.size() ||
      text.front() == '-') {
    return fail(Code::invalid_input,
                fmt::format("\"{}\" is not a whole number for {}", printable(text), what));
  }
  return value;
}

}  // namespace exa
