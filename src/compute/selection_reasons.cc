// Why each machine was taken or left, in words.
#include <algorithm>

#include <fmt/format.h>

#include "base/plural.h"
#include "base/text.h"
#include "compute/gpu_memory.h"
#include "compute/selection_plan.h"

namespace exa {
namespace {

std::string families_of(const SelectionAsk& ask) {
  std::vector<std::string> names;
  for (const auto& [family, count] : ask.gpus) names.push_back(family.shown);
  return join(names, " and ");
}

// Fleets are large and reasons few: what is the same for many machines is written once.
class Reasons {
 public:
  Reasons(std::span<const FleetMachine> fleet, const SelectionAsk& ask, const SelectionPlan& plan)
      : fleet_(fleet), ask_(ask), plan_(plan), families_(families_of(ask)) {
    if (!plan.is_met()) after_ = "; nobody is taken as long as something is missing";
    write_enough();
    write_fill();
    write_control_plane();
    for (const auto& group : ask.control_plane_groups)
      control_plane_groups_.push_back(outside_of(group, "control planes"));
    for (const auto& group : ask.worker_groups)
      worker_groups_.push_back(outside_of(group, "workers"));
  }

  std::string left(uint32_t place, const Candidate& machine) const {
    const FleetMachine& row = fleet_[place];
    switch (machine.failed) {
      case FailedFilter::unfit:
        return row.machine->unfit.empty() ? "it has no role" : row.machine->unfit.front();
      case FailedFilter::unavailable:
        return row.unavailable;
      case FailedFilter::architecture:
        return wrong_architecture(*row.machine);
      case FailedFilter::control_plane_groups:
        return control_plane_groups_[static_cast<size_t>(machine.group)];
      case FailedFilter::worker_groups:
        return worker_groups_[static_cast<size_t>(machine.group)];
      case FailedFilter::none:
        break;
    }
    if (machine.control_plane) return control_plane_left_;
    if (machine.counts() && plan_.is_met()) return enough_[static_cast<size_t>(machine.family)];
    if (machine.counts())
      return fmt::format("could give {} {}{}", machine.gives, row.machine->family.value.shown,
                         after_);
    return no_gpus_of_use(*row.machine, machine) + fill_left_;
  }

  std::string chosen(ChosenAs as, const Machine& machine, int64_t gives) const {
    switch (as) {
      case ChosenAs::control_plane:
        return control_plane_chosen_;
      case ChosenAs::control_plane_and_worker:
        return gives > 0
                   ? fmt::format("control plane and worker: gives {} {}, which were asked for",
                                 gives, machine.family.value.shown)
                   : "control plane that is a worker, too";
      case ChosenAs::gpu_worker:
        return fmt::format("gives {} {}, which were asked for", gives, machine.family.value.shown);
      case ChosenAs::worker_tagged:
        return by_tag_;
      case ChosenAs::requested_family:
        return by_family_;
      case ChosenAs::any_family:
        return by_any_;
      case ChosenAs::not_chosen:
        break;
    }
    EXA_ASSERT(false && "somebody is chosen as something");
  }

 private:
  void write_enough() {
    for (size_t i = 0; i < ask_.gpus.size(); ++i) {
      const auto& [family, count] = ask_.gpus[i];
      const auto machines = static_cast<int64_t>(plan_.workers[i].places.size());
      const std::string_view verb = machines == 1 ? "was" : "were";
      const std::string with =
          plan_.from_control_plane[i] > 0 ? " with what the control plane has" : "";
      enough_.push_back(
          machines == 0
              ? fmt::format("not needed: the control plane has the {} {}", count, family.shown)
              : fmt::format("not needed: {} {} enough for {} {}{}", counted(machines, "machine"),
                            verb, count, family.shown, with));
    }
  }

  void write_fill() {
    const std::string filled =
        fmt::format("fills the minimum of {}", counted(ask_.minimum_workers, "worker"));
    by_tag_ = filled + ": it is tagged palette.ai/worker: true";
    by_family_ = filled +
                 ": no machine tagged palette.ai/worker: true is left, and its GPUs are of a "
                 "family that was asked for";
    by_any_ = filled + ": no machine tagged palette.ai/worker: true" +
              (ask_.gpus.empty() ? "" : " or with GPUs of a family that was asked for") +
              " is left";
    if (ask_.minimum_workers <= 0)
      fill_left_ = "; no minimum of workers needs it";
    else if (plan_.is_met())
      fill_left_ = fmt::format("; the minimum of {} is reached without it",
                               counted(ask_.minimum_workers, "worker"));
    else
      fill_left_ = fmt::format("; it could fill the minimum of {}{}",
                               counted(ask_.minimum_workers, "worker"), after_);
  }

  void write_control_plane() {
    control_plane_chosen_ =
        "control plane: of those that may be one, fewest GPUs first, then by id";
    if (!plan_.is_met())
      control_plane_left_ = "could be a control plane" + after_;
    else if (plan_.control_plane_works)
      control_plane_left_ =
          "may only be a control plane, and another needs fewer machines, leaves fewer GPUs over, "
          "or comes first by id";
    else
      control_plane_left_ = fmt::format(
          "may only be a control plane, and {} before it {} enough: fewest GPUs first, then by id",
          ask_.control_planes, ask_.control_planes == 1 ? "was" : "were");
  }

  static std::string outside_of(const ResourceGroups::value_type& group, std::string_view whom) {
    return fmt::format("it is not in the resource group {}: {}, which is asked of {}",
                       printable(group.first), printable(group.second), whom);
  }

  std::string wrong_architecture(const Machine& machine) const {
    if (machine.architecture.empty())
      return fmt::format("its architecture is not known; {} is asked for",
                         printable(ask_.architecture));
    return fmt::format("it is {}; {} is asked for", printable(machine.architecture),
                       printable(ask_.architecture));
  }

  std::string no_gpus_of_use(const Machine& machine, const Candidate& candidate) const {
    switch (candidate.gpus_fail) {
      case GpusFail::none:
        return "it has no GPUs";
      case GpusFail::family:
        return ask_.gpus.empty() ? "no GPUs are asked for"
                                 : fmt::format("its GPUs are {}; {} is asked for",
                                               machine.family.value.shown, families_);
      case GpusFail::memory_unknown:
        return fmt::format("the memory of its GPUs is not known; {} of each are asked for",
                           shown_gpu_memory(ask_.gpu_memory_bytes));
      case GpusFail::memory:
        return fmt::format("its GPUs have {} each; {} are asked for",
                           shown_gpu_memory(machine.gpu_memory_bytes.value),
                           shown_gpu_memory(ask_.gpu_memory_bytes));
      case GpusFail::in_use:
        return "all its GPUs are in use by others";
      case GpusFail::not_at_all:
        break;
    }
    EXA_ASSERT(false && "its GPUs fail somehow");
  }

  std::span<const FleetMachine> fleet_;
  const SelectionAsk& ask_;
  const SelectionPlan& plan_;
  std::string families_;
  std::string after_;
  std::vector<std::string> enough_;  // by family asked for
  std::string by_tag_, by_family_, by_any_, fill_left_;
  std::string control_plane_chosen_, control_plane_left_;
  std::vector<std::string> control_plane_groups_, worker_groups_;
};

// What the platform gets of each machine that it takes.
class Takings {
 public:
  Takings(std::span<const FleetMachine> fleet, const SelectionAsk& ask, const SelectionField& field,
          Selection& selection)
      : fleet_(fleet), ask_(ask), field_(field), selection_(selection) {}

  void take(const SelectionPlan& plan, const Reasons& reasons) {
    const bool is_shared = ask_.mode == AllocationMode::shared;
    std::vector<int64_t> wanted;
    for (const auto& [family, count] : ask_.gpus) wanted.push_back(count);
    // of a family asked for; in shared mode no more than is still wanted
    const auto given = [&](uint32_t place) {
      const Candidate& machine = field_.candidates[place];
      if (!machine.counts()) return int64_t{0};
      int64_t& rest = wanted[static_cast<size_t>(machine.family)];
      const int64_t gpus = is_shared ? std::min<int64_t>(machine.gives, rest) : machine.gives;
      rest -= gpus;
      return gpus;
    };
    const auto held = [&](uint32_t place, int64_t gpus) {
      return is_shared ? gpus : field_.candidates[place].gpus;
    };
    for (const uint32_t place : plan.control_planes) {
      const int64_t gpus = plan.control_plane_works ? given(place) : 0;
      put(place,
          plan.control_plane_works ? ChosenAs::control_plane_and_worker : ChosenAs::control_plane,
          gpus, held(place, gpus), reasons);
    }
    for (const GpuChoice& choice : plan.workers)
      for (const uint32_t place : choice.places) {
        const int64_t gpus = given(place);
        put(place, ChosenAs::gpu_worker, gpus, gpus, reasons);
      }
    for (const int64_t rest : wanted) selection_.leftover_gpus -= rest;
    for (const uint32_t place : plan.fillers) {
      const ChosenAs step = fill_step(*fleet_[place].machine, field_.candidates[place]);
      put(place, step, 0, held(place, 0), reasons);
      selection_.filler_gpus += held(place, 0);
    }
  }

 private:
  void put(uint32_t place, ChosenAs as, int64_t gives, int64_t gpus, const Reasons& reasons) {
    MachineVerdict& verdict = selection_.machines[place];
    verdict.as = as;
    verdict.gpus = gpus;
    verdict.why = reasons.chosen(as, *fleet_[place].machine, gives);
  }

  std::span<const FleetMachine> fleet_;
  const SelectionAsk& ask_;
  const SelectionField& field_;
  Selection& selection_;
};

}  // namespace

void explain_selection(std::span<const FleetMachine> fleet, const SelectionAsk& ask,
                       const SelectionField& field, const SelectionPlan& plan,
                       Selection& selection) {
  const Reasons reasons(fleet, ask, plan);
  selection.machines.resize(fleet.size());
  for (uint32_t place = 0; place < fleet.size(); ++place)
    selection.machines[place].id = fleet[place].machine->id;
  if (plan.is_met()) Takings(fleet, ask, field, selection).take(plan, reasons);
  for (uint32_t place = 0; place < fleet.size(); ++place)
    if (MachineVerdict& verdict = selection.machines[place]; verdict.as == ChosenAs::not_chosen)
      verdict.why = reasons.left(place, field.candidates[place]);
}

}  // namespace exa
