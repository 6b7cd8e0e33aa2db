#include "server/trace_context.h"

#include <random>

#include <fmt/format.h>

namespace exa {
namespace {

bool is_lower_hex(std::string_view text) {
  return std::ranges::all_of(
      text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool all_zero(std::string_view text) {
  return text.find_first_not_of('0') == text.npos;
}

}  // namespace

std::optional<TraceContext> parse_traceparent(std::string_view header) {
  // version "-" trace-id "-" parent-id "-" flags; later versions may append "-…"
  constexpr size_t kLength = 2 + 1 + 32 + 1 + 16 + 1 + 2;
  if (header.size() < kLength) return std::nullopt;
  const std::string_view version = header.substr(0, 2);
  const std::string_view trace = header.substr(3, 32);
  const std::string_view parent = header.substr(36, 16);
  const std::string_view flags = header.substr(53, 2);
  if (header[2] != '-' || header[35] != '-' || header[52] != '-') return std::nullopt;
  if (!is_lower_hex(version) || version == "ff") return std::nullopt;
  if (version == "00" && header.size() != kLength) return std::nullopt;
  if (header.size() > kLength && header[kLength] != '-') return std::nullopt;
  if (!is_lower_hex(trace) || all_zero(trace)) return std::nullopt;
  if (!is_lower_hex(parent) || all_zero(parent)) return std::nullopt;
  if (!is_lower_hex(flags)) return std::nullopt;
  return TraceContext{std::string(trace)};
}

RequestIds::RequestIds() {
  std::random_device source;
  process_ = fmt::format("{:08x}{:08x}", source(), source());
}

std::string RequestIds::next() {
  return fmt::format("{}-{:08x}", process_, count_.fetch_add(1, std::memory_order_relaxed));
}

}  // namespace exa
