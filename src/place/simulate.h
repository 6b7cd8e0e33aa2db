// Replays a workload against a fleet, one arrival after the other, nothing ever leaving: the
// protocol of Weng et al. (USENIX ATC 2023). What an operator learns from it: how much of the fleet
// a policy can give away before it says no, and how broken the rest is. Pure: the same input and
// seed give the same result anywhere.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/progress.h"
#include "place/ask_mix.h"
#include "place/trace.h"

namespace exa {

enum class ArrivalOrder {
  drawn,     // every arrival is drawn from the pods, with replacement
  shuffled,  // every pod once in a random order, then drawn ones: as the paper's simulator does
};

// Arrivals until their device requests reach `inflate_milli` thousandths of the capacity (the next
// one would pass it). With `shuffled`, pods are left out at random when there are too many.
// Errors: invalid_input when nothing asks for devices, the fleet has none, or the factor is not in
// 1 to 100,000.
Result<std::vector<TracePod>> draw_arrivals(std::span<const TracePod> pods, int64_t capacity_milli,
                                            int64_t inflate_milli, uint64_t seed,
                                            ArrivalOrder order = ArrivalOrder::drawn);

struct SimulationMark {
  int64_t arrived_percent = 0;  // of the capacity, 10, 20, …
  double allocated_gpu_percent = 0;
  double fragmented_gpu_percent = 0;  // of all devices: free, but not for a typical task
  int64_t unplaced = 0;               // tasks that have found no room so far
};

struct Simulation {
  std::string policy;
  uint64_t seed = 0;
  int64_t nodes = 0;
  int64_t capacity_milli = 0;
  int64_t arrivals = 0;
  int64_t placed = 0;
  int64_t unplaced = 0;        // they queue: nothing leaves
  int64_t unplaced_milli = 0;  // devices that they ask for
  int64_t allocated_milli = 0;
  std::vector<SimulationMark> marks;

  double allocated_percent() const {
    return capacity_milli == 0
               ? 0
               : 100.0 * static_cast<double>(allocated_milli) / static_cast<double>(capacity_milli);
  }
};

struct SimulationInput {
  std::vector<DeviceNode> nodes;
  std::vector<TracePod> arrivals;
  std::string policy;
  AskMix mix;           // what the policy prepares for; empty: nothing
  bool learns = false;  // from the arrivals as they come
  uint64_t seed = 0;    // for policies that draw
};

// Errors: of the nodes, of the policy's name, invalid_input naming each arrival that is no ask;
// interrupted when `progress` is cancelled.
Result<Simulation> simulate(const SimulationInput& input, Progress& progress = unwatched());

AskMix mix_of(std::span<const TracePod> pods);
json::object to_json(const Simulation& simulation);

}  // namespace exa
