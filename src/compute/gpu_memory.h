// The memory of a GPU as people write and read it, and sizes that no such card has.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "compute/gpu_family.h"

namespace exa {

// More memory than any one GPU has.
inline constexpr int64_t kMostGpuMemory = int64_t{16} << 40;

// "80 GB" where the bytes are whole thousands of millions, "79.6 GiB" otherwise.
std::string shown_gpu_memory(int64_t bytes);

// Both are the size of one card: labels, drivers and units differ by up to a tenth.
bool same_gpu_memory(int64_t a, int64_t b);

// "NVIDIA H100 with 16 GB is not a card that exists: …"; empty where it may exist. `text` is how
// the family was written. Certain only below the smallest and above the largest card meant: makers
// build sizes in between for single customers.
std::string impossible_card(std::string_view text, const GpuFamily& family, int64_t bytes);

}  // namespace exa
