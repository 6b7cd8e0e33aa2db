// MIG slices of one card: which instances are placed where. A card has 7 compute and 8 memory
// slices; an instance takes a run of memory slices that may start only at some of them. Source:
// NVIDIA Multi-Instance GPU user guide, "Supported MIG profiles" (placements per profile).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "hardware/catalogue.h"
#include "place/device_ask.h"

namespace exa {

inline constexpr int kComputeSlices = 7;
inline constexpr int kMemorySlices = 8;

// How many slices a card of the model is cut into: seven and eight of most, four and four of some.
MigSlices whole_card(const DeviceModel& model);

// An instance as a share of its model's card, in thousandths: 1g.10gb of an A100 is 1/7 and 1/8.
struct MigShare {
  int64_t satisfied = 0;  // the largest share that it satisfies by compute and by memory
  int64_t taken = 0;      // the share of the card that it takes: the larger of both
};
MigShare share_of(const DeviceModel& model, const MigProfile& profile);

// The state of a card as 16 bits: free compute slices above, taken memory slices (a mask) below.
using MigCard = uint16_t;
inline constexpr MigCard kEmptyMigCard = kComputeSlices << 8;

constexpr int free_compute(MigCard card) {
  return card >> 8;
}
constexpr unsigned taken_memory(MigCard card) {
  return card & 0xffU;
}
int free_memory(MigCard card);

// Where an instance may still go: bit i is set when it may start at memory slice i.
unsigned starts_left(MigCard card, MigSlices slices);
// The start that leaves the most room for large instances, then the lowest; nullopt: does not fit.
std::optional<int> best_start(MigCard card, MigSlices slices);
MigCard with_instance(MigCard card, MigSlices slices, int start);     // must fit
MigCard without_instance(MigCard card, MigSlices slices, int start);  // must be there

}  // namespace exa
