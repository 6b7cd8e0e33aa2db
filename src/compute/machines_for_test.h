// Reports and machines that tests speak of.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "compute/machine_selection.h"

namespace exa {

inline constexpr Time kTestNow{1'800'000'000'000'000};

// A report without anything detected, tagged palette.ai: true and with what is given besides.
inline MachineReport tagged_report(std::string id, Tags tags = {}) {
  MachineReport report;
  report.id = std::move(id);
  report.reported_at = kTestNow;
  report.architecture = "AMD64";
  report.tags = std::move(tags);
  report.tags.emplace_back("palette.ai", "true");
  std::ranges::sort(report.tags);
  return report;
}

inline MachineReport cpu_report(std::string id, int64_t cpus, Tags tags = {}) {
  MachineReport report = tagged_report(std::move(id), std::move(tags));
  report.cpus = cpus;
  report.gpus.emplace();
  return report;
}

inline MachineReport gpu_report(std::string id, std::string family, int64_t gpus, Tags tags = {}) {
  MachineReport report = tagged_report(std::move(id), std::move(tags));
  report.cpus = 64;
  report.gpus = {{std::move(family), gpus, {}}};
  return report;
}

// Machines and the fleet of them, which points into it; sorted by id.
struct TestFleet {
  std::vector<Machine> machines;
  std::vector<FleetMachine> rows;

  explicit TestFleet(const std::vector<MachineReport>& reports) {
    for (const MachineReport& report : reports) machines.push_back(read_machine(report));
    std::ranges::sort(machines, {}, &Machine::id);
    for (const Machine& machine : machines) rows.push_back({&machine, machine.gpus.value, ""});
  }
  TestFleet(const TestFleet&) = delete;
  TestFleet& operator=(const TestFleet&) = delete;

  FleetMachine& at(std::string_view id) {
    return *std::ranges::find_if(rows,
                                 [&](const FleetMachine& row) { return row.machine->id == id; });
  }
};

inline const MachineVerdict& verdict_of(const Selection& selection, std::string_view id) {
  return *std::ranges::find(selection.machines, id, &MachineVerdict::id);
}

}  // namespace exa
