// Instants in UTC with microseconds; JSON prints RFC 3339. Nobody but the edges asks for "now".
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace exa {

// Microseconds since 1970-01-01T00:00:00Z.
struct Time {
  int64_t micros = 0;
  auto operator<=>(const Time&) const = default;
};

// A span of time in microseconds.
struct Duration {
  int64_t micros = 0;
  auto operator<=>(const Duration&) const = default;
};

constexpr Duration seconds(int64_t n) {
  return {n * 1'000'000};
}
constexpr Duration minutes(int64_t n) {
  return seconds(n * 60);
}
constexpr Duration hours(int64_t n) {
  return minutes(n * 60);
}
inline Duration operator-(Time a, Time b) {
  return {a.micros - b.micros};
}
inline Time operator+(Time t, Duration d) {
  return {t.micros + d.micros};
}

using Clock = std::function<Time()>;
Clock system_clock();

std::string format_rfc3339(Time time);              // 2026-11-30T06:26:01.000123Z
Result<Time> parse_rfc3339(std::string_view text);  // any offset; up to nanoseconds, cut to micros

std::string format_duration(Duration duration);  // "15m", "1h30m", "45s"; exact to the second
Result<Duration> parse_duration(
    std::string_view text);            // "90s", "15m", "2h", "1d"; a bare number is refused
std::string format_age(Duration age);  // for people: "12s", "4m", "3h", "5d"

}  // namespace exa
