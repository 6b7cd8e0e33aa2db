// Of one family: the machines that give a number of GPUs. Exact: the fewest machines, then the
// least left over, then the set whose sorted places come first.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "compute/machine.h"

namespace exa {

// Places in the fleet of the machines that have so many GPUs to give, rising in each row.
struct GpuSupply {
  std::array<std::vector<uint32_t>, kMostGpus + 1> by_count;
  int64_t gpus = 0;
  int64_t machines = 0;

  void add(uint32_t place, int64_t count) {
    by_count[static_cast<size_t>(count)].push_back(place);
    gpus += count;
    ++machines;
  }
};

struct GpuChoice {
  std::vector<uint32_t> places;  // rising
  int64_t gpus = 0;              // of all of them together
};

// nullopt: there are fewer than asked for. Nothing asked: nobody.
std::optional<GpuChoice> choose_gpus(const GpuSupply& supply, int64_t asked);

}  // namespace exa
