// What an ask lacks, by how many, and what would help.
#include <algorithm>

#include <fmt/format.h>

#include "base/plural.h"
#include "base/text.h"
#include "compute/selection_plan.h"

namespace exa {
namespace {

struct LeftOut {
  FailedFilter failed;
  std::string_view where;
};
constexpr LeftOut kLeftOut[] = {
    {FailedFilter::unfit, "on machines that may not be offered"},
    {FailedFilter::unavailable, "on machines that are in use or held back"},
    {FailedFilter::architecture, "on machines of another architecture"},
    {FailedFilter::control_plane_groups, "outside of the resource groups"},
    {FailedFilter::worker_groups, "outside of the resource groups"}};

std::string missing_of(int64_t missing, int64_t all, std::string_view what) {
  return fmt::format("{} of {} {} {} missing", missing, all, what, missing == 1 ? "is" : "are");
}

// "8 are on machines that are in use or held back, 4 have too little memory"
class Elsewhere {
 public:
  void add(int64_t count, std::string_view where) {
    if (count > 0) parts_.push_back(fmt::format("{} {}", count, where));
  }
  std::string text() const { return parts_.empty() ? "" : "; left out: " + join(parts_, ", "); }

 private:
  std::vector<std::string> parts_;
};

std::string gpus_elsewhere(std::span<const FleetMachine> fleet, const SelectionAsk& ask,
                           const SelectionField& field, int16_t family) {
  const auto sum = [&](auto&& which) {
    int64_t gpus = 0;
    for (size_t i = 0; i < fleet.size(); ++i) {
      const Candidate& machine = field.candidates[i];
      if (machine.family == family && which(machine)) gpus += machine.gpus;
    }
    return gpus;
  };
  Elsewhere elsewhere;
  for (const LeftOut& row : kLeftOut)
    elsewhere.add(sum([&](const Candidate& machine) {
                    return !machine.control_plane && machine.failed == row.failed;
                  }),
                  row.where);
  const auto is_kept = [](const Candidate& machine, GpusFail fail) {
    return !machine.control_plane && machine.failed == FailedFilter::none &&
           machine.gpus_fail == fail;
  };
  elsewhere.add(sum([&](const Candidate& m) { return is_kept(m, GpusFail::memory); }),
                "with too little memory");
  elsewhere.add(sum([&](const Candidate& m) { return is_kept(m, GpusFail::memory_unknown); }),
                "of unknown memory");
  elsewhere.add(sum([&](const Candidate& m) { return is_kept(m, GpusFail::in_use); }),
                "in use by other platforms");
  if (!has_working_control_plane(ask))
    elsewhere.add(sum([](const Candidate& m) { return m.control_plane; }),
                  "on machines that may only be control planes");
  return elsewhere.text();
}

std::string gpu_shortage(std::span<const FleetMachine> fleet, const SelectionAsk& ask,
                         const SelectionField& field, const SelectionPlan& plan, size_t i) {
  const auto& [family, count] = ask.gpus[i];
  const GpuSupply& supply = field.supply[i];
  const int64_t had = count - plan.missing_gpus[i];
  const std::string have =
      had == 0 ? "no machine can give any"
               : fmt::format("{} can be had from {}", had,
                             counted(supply.machines + (plan.from_control_plane[i] > 0 ? 1 : 0),
                                     "machine"));
  const std::string help = had == 0 ? "add machines that have them, or ask for another family"
                                    : fmt::format("add machines, or ask for at most {}", had);
  return fmt::format("{}: {}{}; {}", missing_of(plan.missing_gpus[i], count, family.shown), have,
                     gpus_elsewhere(fleet, ask, field, static_cast<int16_t>(i)), help);
}

std::string machines_elsewhere(std::span<const FleetMachine> fleet, const SelectionField& field,
                               bool control_plane) {
  Elsewhere elsewhere;
  const auto count = [&](FailedFilter failed) {
    int64_t machines = 0;
    for (size_t i = 0; i < fleet.size(); ++i)
      if (field.candidates[i].failed == failed &&
          (control_plane ? fleet[i].machine->control_plane : fleet[i].machine->worker))
        ++machines;
    return machines;
  };
  elsewhere.add(count(FailedFilter::unfit), "that may not be offered");
  elsewhere.add(count(FailedFilter::unavailable), "in use or held back");
  elsewhere.add(count(FailedFilter::architecture), "of another architecture");
  elsewhere.add(count(FailedFilter::control_plane_groups) + count(FailedFilter::worker_groups),
                "outside of the resource groups");
  return elsewhere.text();
}

std::string control_plane_shortage(std::span<const FleetMachine> fleet, const SelectionAsk& ask,
                                   const SelectionField& field, const SelectionPlan& plan) {
  const auto can = static_cast<int64_t>(plan.control_planes.size());
  return fmt::format(
      "{}: {} can be one{}; add machines without GPUs, or tag some palette.ai/control-plane: true",
      missing_of(plan.missing_control_planes, ask.control_planes,
                 ask.control_planes == 1 ? "control plane" : "control planes"),
      can == 0 ? "no machine" : counted(can, "machine"), machines_elsewhere(fleet, field, true));
}

std::string worker_shortage(std::span<const FleetMachine> fleet, const SelectionAsk& ask,
                            const SelectionField& field, const SelectionPlan& plan) {
  const int64_t can = plan.workers_chosen();
  return fmt::format(
      "{}: {} can be one{}; tag machines palette.ai/worker: true, or ask for a minimum of {}",
      missing_of(plan.missing_workers, ask.minimum_workers,
                 ask.minimum_workers == 1 ? "worker" : "workers"),
      can == 0 ? "no machine" : counted(can, "machine"), machines_elsewhere(fleet, field, false),
      can);
}

}  // namespace

std::vector<std::string> shortages_of(std::span<const FleetMachine> fleet, const SelectionAsk& ask,
                                      const SelectionField& field, const SelectionPlan& plan) {
  std::vector<std::string> shortages;
  if (plan.asks_for_nothing)
    shortages.emplace_back("asks for no GPUs and no workers: nothing could run on it");
  for (size_t i = 0; i < ask.gpus.size(); ++i)
    if (plan.missing_gpus[i] > 0) shortages.push_back(gpu_shortage(fleet, ask, field, plan, i));
  if (plan.missing_control_planes > 0)
    shortages.push_back(control_plane_shortage(fleet, ask, field, plan));
  if (plan.missing_workers > 0) shortages.push_back(worker_shortage(fleet, ask, field, plan));
  return shortages;
}

}  // namespace exa
