#include "base/time.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>

#include <fmt/format.h>

namespace exa {
namespace {

namespace chr = std::chrono;

// Reads exactly `digits` digits at `at`.
std::optional<int> digits_at(std::string_view text, size_t at, size_t digits) {
  if (at + digits > text.size()) return std::nullopt;
  int value = 0;
  for (size_t i = at; i < at + digits; ++i) {
    if (text[i] < '0' || text[i] > '9') return std::nullopt;
    value = value * 10 + (text[i] - '0');
  }
  return value;
}

// ".123456789" at `at`: microseconds, and where the fraction ends.
struct Fraction {
  int64_t micros = 0;
  size_t end = 0;
};

std::optional<Fraction> fraction_at(std::string_view text, size_t at) {
  if (at >= text.size() || text[at] != '.') return Fraction{0, at};
  Fraction result{0, at + 1};
  int64_t scale = 100'000;
  while (result.end < text.size() && text[result.end] >= '0' && text[result.end] <= '9') {
    result.micros += (text[result.end] - '0') * scale;
    scale /= 10;
    ++result.end;
  }
  const size_t count = result.end - at - 1;
  if (count == 0 || count > 9) return std::nullopt;
  return result;
}

// "Z" or "+hh:mm" that ends the text, in seconds east of UTC.
std::optional<int64_t> offset_at(std::string_view text, size_t at) {
  const std::string_view rest = text.substr(at);
  if (rest == "Z" || rest == "z") return 0;
  if (rest.size() != 6 || (rest[0] != '+' && rest[0] != '-') || rest[3] != ':') return std::nullopt;
  const auto hour = digits_at(rest, 1, 2);
  const auto minute = digits_at(rest, 4, 2);
  if (!hour || !minute || *hour > 23 || *minute > 59) return std::nullopt;
  const int64_t east = *hour * 3600 + *minute * 60;
  return rest[0] == '+' ? east : -east;
}

// 0000-01-01T00:00:00Z and 9999-12-31T23:59:59Z
constexpr int64_t kFirstSecond =
    chr::sys_seconds{chr::sys_days{chr::year{0} / 1 / 1}}.time_since_epoch().count();
constexpr int64_t kLastSecond =
    chr::sys_seconds{chr::sys_days{chr::year{10'000} / 1 / 1}}.time_since_epoch().count() - 1;

struct Unit {
  char letter;
  int64_t seconds;
};
constexpr std::array kUnits = {Unit{'d', 86'400}, Unit{'h', 3'600}, Unit{'m', 60}, Unit{'s', 1}};

}  // namespace

Clock system_clock() {
  return [] {
    const auto since = chr::system_clock::now().time_since_epoch();
    return Time{chr::duration_cast<chr::microseconds>(since).count()};
  };
}

std::string format_rfc3339(Time time) {
  // what RFC 3339 has no year for is shown as the nearest that it has
  constexpr int64_t kFirst = -62'167'219'200'000'000;  // 0000-01-01
  constexpr int64_t kLast = 253'402'300'799'999'999;   // 9999-12-31
  const chr::sys_time<chr::microseconds> point{
      chr::microseconds{std::clamp(time.micros, kFirst, kLast)}};
  const auto day = chr::floor<chr::days>(point);
  const chr::year_month_day date{day};
  const chr::hh_mm_ss clock{point - day};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     clock.subseconds().count());
}

Result<Time> parse_rfc3339(std::string_view text) {
  const auto refuse = [&] {
    return fail(Code::invalid_input,
                fmt::format("\"{}\" is not a time such as 2026-11-30T06:26:01Z", text));
  };
  const auto year = digits_at(text, 0, 4), month = digits_at(text, 5, 2),
             day = digits_at(text, 8, 2);
  const auto hour = digits_at(text, 11, 2), minute = digits_at(text, 14, 2),
             second = digits_at(text, 17, 2);
  if (!year || !month || !day || !hour || !minute || !second) return refuse();
  if (text[4] != '-' || text[7] != '-' || (text[10] != 'T' && text[10] != 't' && text[10] != ' ') ||
      text[13] != ':' || text[16] != ':') {
    return refuse();
  }
  const chr::year_month_day date{chr::year{*year}, chr::month{static_cast<unsigned>(*month)},
                                 chr::day{static_cast<unsigned>(*day)}};
  if (!date.ok() || *hour > 23 || *minute > 59 || *second > 60) return refuse();
  const auto fraction = fraction_at(text, 19);
  if (!fraction) return refuse();
  const auto offset = offset_at(text, fraction->end);
  if (!offset) return refuse();
  const int64_t days = chr::sys_days{date}.time_since_epoch().count();
  const int64_t whole = days * 86'400 + *hour * 3'600 + *minute * 60 + *second - *offset;
  // an offset or a leap second may lead out of the years that four digits can write
  if (whole < kFirstSecond || whole > kLastSecond) return refuse();
  return Time{whole * 1'000'000 + fraction->micros};
}

std::string format_duration(Duration duration) {
  int64_t rest = duration.micros / 1'000'000;
  if (rest == 0) return "0s";
  std::string text = rest < 0 ? "-" : "";
  if (rest < 0) rest = -rest;
  for (const Unit& unit : kUnits) {
    if (rest < unit.seconds) continue;
    text += fmt::format("{}{}", rest / unit.seconds, unit.letter);
    rest %= unit.seconds;
  }
  return text;
}

Result<Duration> parse_duration(std::string_view text) {
  const auto refuse = [&](std::string_view why) {
    return fail(Code::invalid_input,
                fmt::format("\"{}\" is not a duration such as 90s, 15m, 2h or 1d{}", text, why));
  };
  if (text.empty()) return refuse("");
  int64_t total = 0;
  size_t at = 0;
  int64_t last_unit = INT64_MAX;
  while (at < text.size()) {
    int64_t amount = 0;
    const char* begin = text.data() + at;
    const char* end = text.data() + text.size();
    const auto [stop, status] = std::from_chars(begin, end, amount);
    if (status != std::errc{} || stop == begin || *begin == '-') return refuse("");
    if (stop == end) return refuse(": the unit is missing");
    const auto* unit = std::ranges::find(kUnits, *stop, &Unit::letter);
    if (unit == kUnits.end() || unit->seconds >= last_unit) return refuse("");
    // ten years is longer than anything here waits for
    if (amount > 315'360'000 / unit->seconds) return refuse(": too long");
    total += amount * unit->seconds;
    last_unit = unit->seconds;
    at = static_cast<size_t>(stop - text.data()) + 1;
  }
  return seconds(total);
}

std::string format_age(Duration age) {
  const int64_t total = std::max<int64_t>(0, age.micros / 1'000'000);
  for (const Unit& unit : kUnits) {
    if (total >= unit.seconds) return fmt::format("{}{}", total / unit.seconds, unit.letter);
  }
  return "0s";
}

}  // namespace exa
