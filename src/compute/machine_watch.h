// What is believed of a machine from one report to the next. An agent may vanish, flap, lie or send
// an old report again: then the machine is not offered, and the reason is shown. Pure: the time is
// passed in.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compute/machine.h"

namespace exa {

struct WatchRules {
  Duration max_age = seconds(90);          // three reports missed: it has vanished
  Duration max_skew = minutes(5);          // how far a machine's clock may be ahead
  Duration flapping_window = minutes(10);  // changes of health within it are counted
  int flapping_changes = 4;                // so many make it flapping
};

struct WatchedMachine {
  std::string source;    // whose it is; another source's report of the same id is refused
  MachineReport report;  // the last that was believed; before the first one it has an id alone
  // When a report last came that was believed or held, by the clock of exa; nullopt: none did.
  std::optional<Time> heard_at;
  std::vector<Time> health_changes;  // the newest last; those outside of the window are dropped
  // A report whose hardware differs from what was believed: it counts only once somebody accepts
  // it. The machine is not offered meanwhile.
  std::optional<MachineReport> differs;
  std::vector<std::string> differences;  // "gpus: 8 before, 7 now"
  // Why the last report that was refused was refused, and when; empty after one that was believed.
  std::string refused;
  Time refused_at;

  bool operator==(const WatchedMachine&) const = default;
};

// The machine after a report. A report that is older than the last, or the same once more, is
// refused (stale) and kept as `refused`; likewise one from the future (invalid_input), one that was
// written too long ago (stale), or one from another source (conflict). The refusal is in the value,
// never an error of this function. Where both count, sequences say which report is older; else the
// machine's clock does.
//
// Hardware differs when something that was detected is another now, or is not detected any more.
// Amounts of memory within 3 % are the same: kernels and drivers keep some for themselves.
struct Heard {
  WatchedMachine machine;
  std::optional<Error> refused;
  // Something that people see has changed: not only the time.
  bool changed = false;
};
Heard hear(const std::optional<WatchedMachine>& before, const std::string& source,
           const MachineReport& report, Time now, const WatchRules& rules);

// What differs is believed from now on. conflict: nothing differs.
Result<WatchedMachine> accept_difference(WatchedMachine machine);

// Why its last report may not be relied upon: unhealthy, silent for too long, flapping, differing.
// Empty: it may.
std::vector<std::string> why_not_believed(const WatchedMachine& machine, Time now,
                                          const WatchRules& rules);

json::object to_json(const WatchedMachine& machine);
Result<WatchedMachine> watched_machine_from_json(const json::value& stored);

}  // namespace exa
