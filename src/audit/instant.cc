#include "audit/instant.h"

namespace exa {

std::optional<Time> exact_time(std::string_view text) {
  constexpr size_t kLength = std::string_view("2026-11-30T06:26:01.000123Z").size();
  if (text.size() != kLength || text.back() != 'Z') return std::nullopt;
  const Result<Time> time = parse_rfc3339(text);
  // a leap second or a small "t" is read but not written this way
  if (!time || format_rfc3339(*time) != text) return std::nullopt;
  return *time;
}

bool has_exact_time(Time time) {
  constexpr int64_t kYear0 = -62'167'219'200'000'000;
  constexpr int64_t kYear10000 = 253'402'300'800'000'000;
  return time.micros >= kYear0 && time.micros < kYear10000;
}

}  // namespace exa
