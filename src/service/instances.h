// Instances by self service: launched from a compute profile, stopped and started, given more time,
// deleted (requirement "Compute Profile"; semantics §7). A launch pins the version of its profile;
// values are checked against that version and nothing that a client says about it.
//
// Templates of script, ansible and opentofu run here, in a work folder of the instance; those of
// slurm and kubernetes are launches (service/launch.h), of the kind "instance" and the same name.
// As with launches, an entry is kept before anything happens and after it did; whoever acts on an
// instance owns its name meanwhile, over all replicas.
//
// An instance is its owner's; whoever may do instance:manage acts on those of others as well.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "catalogue/instance.h"
#include "service/given_inputs.h"
#include "service/pages.h"
#include "service/service.h"

namespace exa {

struct LaunchInstance {
  std::string project;
  std::string name;
  std::string compute_profile;  // NAME, or PROJECT/NAME of one that is shared
  GivenInputs inputs;
  std::string owner;  // for whom; empty: whoever asks
  std::optional<Duration> time_to_live;
  AtEnd at_end = AtEnd::remove;
  InstanceSchedule schedule;
  std::string reason;  // why it is wanted, where a limit asks for an admin
};
// With caller.dry_run the answer is the instance as it would be, placement and all. Above a limit:
// blocked, or it waits for an admin.
Result<Answer> launch_instance(Service& service, const Caller& caller, const LaunchInstance& what);
// Lets one that waits go on, or not.
struct DecideInstance {
  std::string project;
  std::string name;
  bool approve = false;
  std::string reason;
};
Result<Answer> decide_instance(Service& service, const Caller& caller, const DecideInstance& what);

// What the caller may launch in a project: whether it would fit now and what it would cost.
Result<Answer> list_offers(Service& service, const Caller& caller, const std::string& project);

Result<Answer> list_instances(Service& service, const Page& page);
// As it stands now, and whether its profile has a newer version: what that would change, in words.
Result<Answer> show_instance(Service& service, const Caller& caller, const std::string& project,
                             const std::string& name);
// What its profile shows of what its template put out; secret values are masked.
Result<Answer> instance_outputs(Service& service, const Caller& caller, const std::string& project,
                                const std::string& name);
// With them: for its owner and whoever manages, and the log keeps who asked.
Result<Answer> reveal_outputs(Service& service, const Caller& caller, const std::string& project,
                              const std::string& name);
Result<Answer> instance_logs(Service& service, const Caller& caller, const std::string& project,
                             const std::string& name, int64_t lines);

Result<Answer> stop_instance(Service& service, const Caller& caller, const std::string& project,
                             const std::string& name);
// On the version that it has, whatever its profile is by now.
Result<Answer> start_instance(Service& service, const Caller& caller, const std::string& project,
                              const std::string& name);
// Takes down what its template made, and forgets it. `abandon`: forgets it as it is, for a reason.
Result<Answer> delete_instance(Service& service, const Caller& caller, const std::string& project,
                               const std::string& name, bool abandon, const std::string& reason);

// More time from its end on, or from now where it has none or is past it. Within the limits.
Result<Answer> extend_instance(Service& service, const Caller& caller, const std::string& project,
                               const std::string& name, Duration by);
Result<Answer> schedule_instance(Service& service, const Caller& caller, const std::string& project,
                                 const std::string& name, const InstanceSchedule& schedule);

Result<Answer> show_instance_limits(Service& service, const std::string& project);
Result<Answer> set_instance_limits(Service& service, const Caller& caller,
                                   const std::string& project,
                                   const std::function<void(InstanceLimits&)>& change);

// For the loop of a server: looks at everything, and says what time asks of whom.
struct TendedInstances {
  int64_t changed = 0;
  std::vector<ComputeInstance> due;
};
Result<TendedInstances> tend_instances(Service& service, Progress& progress);
// Does it, as exa itself; may take as long as a template does.
Result<void> do_what_is_due(Service& service, const ComputeInstance& instance, Progress& progress);

}  // namespace exa
