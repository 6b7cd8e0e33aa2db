#include "compute/selection_field.h"

#include <algorithm>

#include "base/error.h"

namespace exa {
namespace {

int16_t group_missing(const ResourceGroups& asked, const ResourceGroups& has) {
  for (size_t i = 0; i < asked.size(); ++i)
    if (!std::ranges::binary_search(has, asked[i])) return static_cast<int16_t>(i);
  return -1;
}

int16_t family_asked(const SelectionAsk& ask, const GpuFamily& family) {
  for (size_t i = 0; i < ask.gpus.size(); ++i)
    if (ask.gpus[i].first == family) return static_cast<int16_t>(i);
  return -1;
}

FailedFilter first_failed(const FleetMachine& row, const SelectionAsk& ask, Candidate& candidate) {
  const Machine& machine = *row.machine;
  if (!machine.unfit.empty() || machine.worker == machine.control_plane) return FailedFilter::unfit;
  if (!row.unavailable.empty()) return FailedFilter::unavailable;
  if (!ask.architecture.empty() && machine.architecture != ask.architecture)
    return FailedFilter::architecture;
  if (machine.control_plane) {
    candidate.group = group_missing(ask.control_plane_groups, machine.groups);
    if (candidate.group >= 0) return FailedFilter::control_plane_groups;
    if (!has_working_control_plane(ask)) return FailedFilter::none;
  }
  candidate.group = group_missing(ask.worker_groups, machine.groups);
  return candidate.group >= 0 ? FailedFilter::worker_groups : FailedFilter::none;
}

GpusFail gpus_failing(const FleetMachine& row, const SelectionAsk& ask,
                      const Candidate& candidate) {
  if (candidate.gpus == 0) return GpusFail::none;
  if (candidate.family < 0) return GpusFail::family;
  const Known<int64_t>& memory = row.machine->gpu_memory_bytes;
  if (ask.gpu_memory_bytes > 0 && !memory.is_known()) return GpusFail::memory_unknown;
  if (ask.gpu_memory_bytes > 0 && memory.value < ask.gpu_memory_bytes) return GpusFail::memory;
  return candidate.gives == 0 ? GpusFail::in_use : GpusFail::not_at_all;
}

Candidate candidate_of(const FleetMachine& row, const SelectionAsk& ask) {
  const Machine& machine = *row.machine;
  Candidate candidate;
  candidate.control_plane = machine.control_plane;
  candidate.failed = first_failed(row, ask, candidate);
  const int64_t gpus = machine.gpus.is_known() ? machine.gpus.value : 0;
  EXA_ASSERT(gpus >= 0 && gpus <= kMostGpus);
  candidate.gpus = static_cast<int16_t>(gpus);
  if (gpus > 0) candidate.family = family_asked(ask, machine.family.value);
  const bool is_shared = ask.mode == AllocationMode::shared;
  candidate.gives =
      static_cast<int16_t>(is_shared ? std::clamp<int64_t>(row.free_gpus, 0, gpus) : gpus);
  candidate.gpus_fail = gpus_failing(row, ask, candidate);
  return candidate;
}

// Machines in rising order of a small key, else in the fleet's.
template <typename Key>
void sort_places(std::vector<uint32_t>& places, const Key& key) {
  std::vector<uint64_t> keyed;
  keyed.reserve(places.size());
  for (const uint32_t place : places)
    keyed.push_back(static_cast<uint64_t>(key(place)) << 32 | place);
  std::ranges::sort(keyed);
  for (size_t i = 0; i < places.size(); ++i) places[i] = static_cast<uint32_t>(keyed[i]);
}

}  // namespace

bool has_working_control_plane(const SelectionAsk& ask) {
  return ask.control_plane_works && ask.control_planes == 1;
}

ChosenAs fill_step(const Machine& machine, const Candidate& candidate) {
  if (machine.worker_tagged) return ChosenAs::worker_tagged;
  return candidate.family >= 0 ? ChosenAs::requested_family : ChosenAs::any_family;
}

SelectionField look_at(std::span<const FleetMachine> fleet, const SelectionAsk& ask) {
  SelectionField field;
  field.candidates.reserve(fleet.size());
  field.supply.resize(ask.gpus.size());
  for (uint32_t place = 0; place < fleet.size(); ++place) {
    EXA_ASSERT(place == 0 || fleet[place - 1].machine->id < fleet[place].machine->id);
    const Candidate candidate = candidate_of(fleet[place], ask);
    field.candidates.push_back(candidate);
    if (candidate.failed != FailedFilter::none) continue;
    if (candidate.control_plane) {
      field.control_planes.push_back(place);
      continue;
    }
    if (candidate.counts())
      field.supply[static_cast<size_t>(candidate.family)].add(place, candidate.gives);
    if (ask.minimum_workers > 0) field.fillers.push_back(place);
  }
  const auto gpus = [&](uint32_t place) { return field.candidates[place].gpus; };
  sort_places(field.control_planes, gpus);
  sort_places(field.fillers, [&](uint32_t place) {
    const auto step = fill_step(*fleet[place].machine, field.candidates[place]);
    return static_cast<int64_t>(step) * (kMostGpus + 1) + gpus(place);
  });
  return field;
}

}  // namespace exa
