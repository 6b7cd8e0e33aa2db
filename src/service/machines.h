// Machines that may become nodes of ML platforms, and the sources that report them. Requirement
// "Discovery"; semantics §6. What is believed of a machine is in compute/machine_watch.h; here it
// is kept.
//
// Reports are observations: they are stored and not audited. What people decide (sources, accepting
// changed hardware, forgetting a machine) is.
#pragma once

#include <map>

#include "compute/machine_watch.h"
#include "discover/palette.h"
#include "service/service.h"

namespace exa {

struct StoredMachine {
  WatchedMachine watched;
  Machine machine;  // as it is read, with the tags of its source
};

// What came of the last look at a source; of agents, of the last report.
struct MachineLook {
  Time looked_at;
  std::optional<Time> succeeded_at;
  std::string error;  // of the last look; empty: it succeeded
};

struct StoredSource {
  MachineSource source;
  Time created_at;
  std::string created_by;
  std::optional<MachineLook> look;
  std::optional<Duration> max_age;  // of a cluster's snapshots; nullopt: three intervals
  int64_t machines = 0;             // that it ever reported and that were not forgotten
};

// How long what a source says holds.
WatchRules rules_of(const StoredSource& source);

Result<std::vector<StoredSource>> load_machine_sources(Transaction& tx);  // by name
// All machines by id, or those of the sources that are named.
Result<std::vector<StoredMachine>> load_machines(Transaction& tx,
                                                 const std::vector<StoredSource>& sources);
// Why each machine may not be relied upon now, beside what it is itself.
std::vector<std::string> why_not_reliable(const StoredMachine& machine,
                                          const std::vector<StoredSource>& sources, Time now);

Result<Answer> add_machine_source(Service& service, const Caller& caller,
                                  const MachineSource& source);
Result<Answer> list_machine_sources(Service& service);
// in_use while platforms hold machines of it. What it reported is forgotten with it.
Result<Answer> remove_machine_source(Service& service, const Caller& caller,
                                     const std::string& name);

struct ListMachines {
  std::string after;  // id
  int64_t limit = 50;
};
Result<Answer> list_machines(Service& service, const Caller& caller, const ListMachines& what);
Result<Answer> show_machine(Service& service, const Caller& caller, const std::string& id);

// What an agent says. Refused as machine_watch.h has it; kept as refused, so that it is seen.
Result<Answer> report_machine(Service& service, const Caller& caller, const std::string& source,
                              const MachineReport& report);
// What a machine says of its hardware now counts from here on.
Result<Answer> accept_machine(Service& service, const Caller& caller, const std::string& id);
// in_use while a platform holds it. It comes back with its next report.
Result<Answer> forget_machine(Service& service, const Caller& caller, const std::string& id);

// Looks at a source now, and keeps what it says; a failed look changes no machine.
Result<Answer> look_at_source(Service& service, const Caller& caller, const std::string& name);
// Every source whose interval has passed; answers with how many failed.
Result<int64_t> look_at_due_sources(Service& service, Progress& progress);

}  // namespace exa
