// Slurm's way of writing many host names in few characters: "a[01-03,7],b-[1-2]-ib".
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace exa {

inline constexpr size_t kMostHosts = 1'000'000;

// The names in the order written, duplicates kept. Several brackets in one name multiply, the last
// one fastest. invalid_input for open or backward ranges, unbalanced brackets, empty names, and
// lists of more than `most` names (refused before anything is built).
Result<std::vector<std::string>> expand_hostlist(std::string_view text, size_t most = kMostHosts);

// The shortest bracket form over the last number of each name; sorted, each name once. Names must
// not hold ',', '[' or ']'. expand_hostlist() of the result gives the same set.
std::string compress_hostlist(std::span<const std::string> names);

}  // namespace exa
