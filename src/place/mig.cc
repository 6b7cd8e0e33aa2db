#include "place/mig.h"

#include <bit>

namespace exa {
namespace {

// Starts that the hardware allows, by size. Seven compute slices make slice 7 of the memory
// reachable only as a part of a larger instance.
unsigned allowed_starts(MigSlices slices) {
  if (slices.memory >= 8 || slices.compute >= 4) return 0b0000'0001;
  if (slices.memory >= 3) return 0b0001'0001;
  if (slices.compute >= 2) return 0b0001'0101;
  if (slices.memory == 2) return 0b0101'0101;
  return 0b0111'1111;
}

unsigned mask_of(MigSlices slices, int start) {
  return (((1U << static_cast<unsigned>(slices.memory)) - 1) << static_cast<unsigned>(start)) &
         0xffU;
}

// How much room for large instances a card still has: halves weigh more than quarters, and these
// more than single slices.
int room(MigCard card) {
  return 64 * std::popcount(starts_left(card, {3, 4})) +
         8 * std::popcount(starts_left(card, {2, 2})) + std::popcount(starts_left(card, {1, 1}));
}

}  // namespace

MigSlices whole_card(const DeviceModel& model) {
  MigSlices whole;
  for (const MigProfile& profile : model.mig_profiles) {
    whole.compute = std::max(whole.compute, profile.compute_slices);
    whole.memory = std::max(whole.memory, profile.memory_slices);
  }
  return whole;
}

MigShare share_of(const DeviceModel& model, const MigProfile& profile) {
  const MigSlices whole = whole_card(model);
  const int64_t compute = profile.compute_slices * kWholeDevice / std::max(1, whole.compute);
  const int64_t memory = profile.memory_slices * kWholeDevice / std::max(1, whole.memory);
  return {std::min(compute, memory), std::max(compute, memory)};
}

int free_memory(MigCard card) {
  return kMemorySlices - std::popcount(taken_memory(card));
}

unsigned starts_left(MigCard card, MigSlices slices) {
  if (free_compute(card) < slices.compute) return 0;
  unsigned left = 0;
  const unsigned allowed = allowed_starts(slices);
  for (int start = 0; start + slices.memory <= kMemorySlices; ++start)
    if ((allowed >> static_cast<unsigned>(start) & 1U) != 0 &&
        (taken_memory(card) & mask_of(slices, start)) == 0)
      left |= 1U << static_cast<unsigned>(start);
  return left;
}

std::optional<int> best_start(MigCard card, MigSlices slices) {
  std::optional<int> best;
  int most = -1;
  const unsigned left = starts_left(card, slices);
  for (int start = 0; start < kMemorySlices; ++start) {
    if ((left >> static_cast<unsigned>(start) & 1U) == 0) continue;
    const int after = room(with_instance(card, slices, start));
    if (after > most) {
      most = after;
      best = start;
    }
  }
  return best;
}

MigCard with_instance(MigCard card, MigSlices slices, int start) {
  EXA_ASSERT((starts_left(card, slices) >> static_cast<unsigned>(start) & 1U) != 0);
  return static_cast<MigCard>((free_compute(card) - slices.compute) << 8 | taken_memory(card) |
                              mask_of(slices, start));
}

MigCard without_instance(MigCard card, MigSlices slices, int start) {
  const unsigned mask = mask_of(slices, start);
  EXA_ASSERT((taken_memory(card) & mask) == mask);
  EXA_ASSERT(free_compute(card) + slices.compute <= kComputeSlices);
  return static_cast<MigCard>((free_compute(card) + slices.compute) << 8 |
                              (taken_memory(card) & ~mask));
}

}  // namespace exa
