#include "compute/machine_selection.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "compute/selection_plan.h"

namespace exa {
namespace {

struct WordOfMode {
  AllocationMode mode;
  std::string_view name;
};
constexpr WordOfMode kModes[] = {{AllocationMode::dedicated, "dedicated"},
                                 {AllocationMode::shared, "shared"}};

struct WordOfChoice {
  ChosenAs as;
  std::string_view name;
};
constexpr WordOfChoice kChoices[] = {
    {ChosenAs::not_chosen, "not-chosen"},
    {ChosenAs::control_plane, "control-plane"},
    {ChosenAs::control_plane_and_worker, "control-plane-and-worker"},
    {ChosenAs::gpu_worker, "gpu-worker"},
    {ChosenAs::worker_tagged, "worker-tagged"},
    {ChosenAs::requested_family, "requested-family"},
    {ChosenAs::any_family, "any-family"}};

// --- one plan

void choose_gpu_workers(const SelectionAsk& ask, const SelectionField& field, SelectionPlan& plan) {
  for (size_t i = 0; i < ask.gpus.size(); ++i) {
    const int64_t asked = std::max<int64_t>(ask.gpus[i].second - plan.from_control_plane[i], 0);
    auto choice = choose_gpus(field.supply[i], asked);
    if (!choice) {
      plan.missing_gpus[i] = asked - field.supply[i].gpus;
      choice = choose_gpus(field.supply[i], field.supply[i].gpus);
    }
    plan.workers.push_back(std::move(*choice));
  }
}

void fill_to_minimum(const SelectionAsk& ask, const SelectionField& field, SelectionPlan& plan) {
  const int64_t wanted = ask.minimum_workers - plan.workers_chosen();
  if (wanted <= 0) return;
  std::vector<bool> is_taken(field.candidates.size());
  for (const GpuChoice& choice : plan.workers)
    for (const uint32_t place : choice.places) is_taken[place] = true;
  for (const uint32_t place : field.fillers) {
    if (static_cast<int64_t>(plan.fillers.size()) == wanted) return;
    if (!is_taken[place]) plan.fillers.push_back(place);
  }
  plan.missing_workers = wanted - static_cast<int64_t>(plan.fillers.size());
}

// In dedicated mode every machine is held whole.
int64_t gpus_beyond(const SelectionAsk& ask, const SelectionField& field,
                    const SelectionPlan& plan) {
  if (ask.mode == AllocationMode::shared) return 0;
  int64_t gpus = 0;
  for (const uint32_t place : plan.control_planes) gpus += field.candidates[place].gpus;
  for (const uint32_t place : plan.fillers) gpus += field.candidates[place].gpus;
  for (const GpuChoice& choice : plan.workers) gpus += choice.gpus;
  for (const auto& [family, count] : ask.gpus) gpus -= count;
  return gpus;
}

SelectionPlan plan_with(const SelectionAsk& ask, const SelectionField& field,
                        std::vector<uint32_t> control_planes) {
  SelectionPlan plan;
  plan.control_planes = std::move(control_planes);
  plan.control_plane_works = has_working_control_plane(ask) && !plan.control_planes.empty();
  plan.missing_control_planes =
      std::max<int64_t>(ask.control_planes - static_cast<int64_t>(plan.control_planes.size()), 0);
  plan.from_control_plane.resize(ask.gpus.size());
  plan.missing_gpus.resize(ask.gpus.size());
  if (plan.control_plane_works) {
    const Candidate& machine = field.candidates[plan.control_planes.front()];
    if (machine.counts())
      plan.from_control_plane[static_cast<size_t>(machine.family)] = machine.gives;
  }
  choose_gpu_workers(ask, field, plan);
  fill_to_minimum(ask, field, plan);
  plan.asks_for_nothing =
      ask.gpus.empty() && ask.minimum_workers <= 0 && !has_working_control_plane(ask);
  plan.beyond = gpus_beyond(ask, field, plan);
  return plan;
}

// --- the best plan

// Control planes that give and hold the same are one class: the first of each stands for it.
std::vector<uint32_t> control_plane_classes(const SelectionField& field) {
  std::vector<std::tuple<bool, int16_t, int16_t, int16_t>> known;
  std::vector<uint32_t> first;
  for (const uint32_t place : field.control_planes) {
    const Candidate& machine = field.candidates[place];
    const std::tuple key{machine.counts(), machine.family, machine.gives, machine.gpus};
    if (std::ranges::find(known, key) != known.end()) continue;
    known.push_back(key);
    first.push_back(place);
  }
  return first;
}

SelectionPlan best_plan(const SelectionAsk& ask, const SelectionField& field) {
  if (!has_working_control_plane(ask) || field.control_planes.empty()) {
    const auto count = std::clamp<int64_t>(ask.control_planes, 0,
                                           static_cast<int64_t>(field.control_planes.size()));
    return plan_with(ask, field,
                     {field.control_planes.begin(), field.control_planes.begin() + count});
  }
  std::optional<SelectionPlan> best;
  const auto rank = [](const SelectionPlan& plan) {
    return std::tuple{plan.missing(), plan.machines(), plan.beyond, plan.control_planes.front()};
  };
  for (const uint32_t place : control_plane_classes(field)) {
    SelectionPlan plan = plan_with(ask, field, {place});
    if (!best || rank(plan) < rank(*best)) best = std::move(plan);
  }
  return std::move(*best);
}

std::vector<std::string> ids_of(std::span<const FleetMachine> fleet, std::vector<uint32_t> places) {
  std::ranges::sort(places);
  std::vector<std::string> ids;
  ids.reserve(places.size());
  for (const uint32_t place : places) ids.push_back(fleet[place].machine->id);
  return ids;
}

void list_chosen(std::span<const FleetMachine> fleet, const SelectionPlan& plan,
                 Selection& selection) {
  std::vector<uint32_t> workers = plan.fillers;
  if (plan.control_plane_works) workers.push_back(plan.control_planes.front());
  for (const GpuChoice& choice : plan.workers)
    workers.insert(workers.end(), choice.places.begin(), choice.places.end());
  selection.control_plane = ids_of(fleet, plan.control_planes);
  selection.workers = ids_of(fleet, std::move(workers));
}

}  // namespace

int64_t SelectionPlan::workers_chosen() const {
  auto count = static_cast<int64_t>(fillers.size()) + (control_plane_works ? 1 : 0);
  for (const GpuChoice& choice : workers) count += static_cast<int64_t>(choice.places.size());
  return count;
}

int64_t SelectionPlan::machines() const {
  const auto control = static_cast<int64_t>(control_planes.size());
  return control + workers_chosen() - (control_plane_works ? 1 : 0);
}

int64_t SelectionPlan::missing() const {
  return std::accumulate(missing_gpus.begin(), missing_gpus.end(),
                         missing_control_planes + missing_workers);
}

std::string_view name(AllocationMode mode) {
  return std::ranges::find(kModes, mode, &WordOfMode::mode)->name;
}

std::optional<AllocationMode> find_allocation_mode(std::string_view name) {
  const auto* found = std::ranges::find(kModes, name, &WordOfMode::name);
  if (found == std::end(kModes)) return std::nullopt;
  return found->mode;
}

std::string_view name(ChosenAs as) {
  return std::ranges::find(kChoices, as, &WordOfChoice::as)->name;
}

Selection select_machines(std::span<const FleetMachine> fleet, const SelectionAsk& ask) {
  for (const auto& [family, count] : ask.gpus) EXA_ASSERT(count > 0);
  const SelectionField field = look_at(fleet, ask);
  const SelectionPlan plan = best_plan(ask, field);
  Selection selection;
  selection.met = plan.is_met();
  if (selection.met)
    list_chosen(fleet, plan, selection);
  else
    selection.shortages = shortages_of(fleet, ask, field, plan);
  explain_selection(fleet, ask, field, plan, selection);
  return selection;
}

}  // namespace exa
