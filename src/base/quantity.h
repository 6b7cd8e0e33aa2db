// Amounts as integers: memory in bytes, cpu in thousandths of a core, shares in thousandths of a
// device. Rules: a bare number where a unit is expected is refused; nothing is rounded to zero;
// negative, NaN and infinite values do not exist.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace exa {

inline constexpr int64_t kKiB = 1024;
inline constexpr int64_t kMiB = 1024 * kKiB;
inline constexpr int64_t kGiB = 1024 * kMiB;

// "8", "0.5", "1.25" (no sign, no exponent, at most three decimals) as thousandths: 8000, 500,
// 1250. `what` names the amount in the error.
Result<int64_t> parse_milli(std::string_view text, std::string_view what);
std::string format_milli(int64_t milli);  // "8", "0.5"

// GiB as a plain decimal ("32", "0.1") to bytes, nearest byte, and back to the shortest decimal
// that gives the same bytes.
Result<int64_t> parse_gib(std::string_view text);
std::string format_gib(int64_t bytes);

// Memory with a unit: K/KB, M/MB, G/GB, T/TB decimal; Ki/KiB, … binary; any case. "80" is refused.
Result<int64_t> parse_bytes_with_unit(std::string_view text);
std::string format_bytes(int64_t bytes);  // for people: "80 GiB", "512 MiB", "1.5 GiB"

// Kubernetes resource quantity: "127870m", "1072693248Ki", "4", "1e3", "100M". Result in
// thousandths of the unit (cpu) or, by whole(), in units (bytes, devices), rounded up as Kubernetes
// does.
struct KubernetesQuantity {
  int64_t milli = 0;  // saturates at the largest int64
  int64_t whole = 0;  // rounded up
};
Result<KubernetesQuantity> parse_kubernetes_quantity(std::string_view text);

// A plain whole number >= 0; anything else (sign, blank, decimals, overflow) is an error.
Result<int64_t> parse_count(std::string_view text, std::string_view what);

}  // namespace exa
