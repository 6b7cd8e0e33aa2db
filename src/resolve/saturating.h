// Sums and products that stop at the largest int64: 100,000 nodes of 1 PiB are more bytes than fit,
// and a snapshot may claim anything. Inside resolve/ only; both operands >= 0.
#pragma once

#include <cstdint>
#include <limits>

namespace exa {

inline int64_t saturating_sum(int64_t a, int64_t b) {
  int64_t result = 0;
  return __builtin_add_overflow(a, b, &result) ? std::numeric_limits<int64_t>::max() : result;
}

inline int64_t saturating_product(int64_t a, int64_t b) {
  int64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? std::numeric_limits<int64_t>::max() : result;
}

}  // namespace exa
