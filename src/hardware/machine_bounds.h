// Numbers that no one machine has, whichever reader or report says so. The largest machines of
// today hold some dozens of accelerators and some thousands of cores.
#pragma once

#include <cstdint>

namespace exa {

inline constexpr int64_t kMostDevices = 4096;
inline constexpr int64_t kMostSlices = 8 * kMostDevices;
inline constexpr int64_t kMostCores = int64_t{1} << 20;

}  // namespace exa
