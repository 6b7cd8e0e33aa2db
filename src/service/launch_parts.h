// Steps of the launch path, each inside its caller's transaction.
#pragma once

#include "launch/driver.h"
#include "service/clusters.h"
#include "service/launch.h"

namespace exa {

// The shape that a request comes to.
Result<ShapeOfLaunch> shape_of_launch(Transaction& tx, const LaunchRequest& what);

// Keeps the decision and takes the devices: on the pools of the launch's cluster, or on any pool
// that a cluster backs when it is to be chosen (`any_cluster`; the answer then must be `cluster`).
// Where nothing was seen of the cluster nothing is placed, and the lease counts only for limits and
// cost. Rows and ids go into `launch` and `deed`; the decision's document is the answer.
struct Placed {
  json::object decision;  // its document; empty: nothing was placed
  std::vector<std::string> notices;
};
Result<Placed> take_devices(Service& service, const Caller& caller, Transaction& tx, Deed& deed,
                            const LaunchRequest& what, const ShapeOfLaunch& shape, Launch& launch);
// The cluster that placement chooses for a request. Nothing is kept.
Result<std::string> choose_cluster(Service& service, const Caller& caller,
                                   const LaunchRequest& what);

// The lease of a launch follows it: used from its start, over at its end.
Result<void> follow_with_lease(Transaction& tx, Deed& deed, const Launch& launch, Time now);
// The lease goes on as if it had not ended.
Result<void> take_again(Transaction& tx, Deed& deed, const Launch& launch);
// A consumer of its profile as long as it is kept.
Result<void> keep_consumer(Transaction& tx, Deed& deed, const Launch& launch);
Result<void> release_consumer(Transaction& tx, Deed& deed, const Launch& launch);

// A driver for where it runs. Empty cluster: this machine.
struct Aim {
  std::unique_ptr<Driver> driver;
  ClusterKind kind = ClusterKind::host;
  bool in_containers = false;  // of Compose, on a machine without a scheduler
};
// `backend` is what a request says; where a scheduler is, any is refused.
Result<Aim> aim_at(Service& service, const Caller& caller, const std::string& cluster,
                   const std::string& backend);
Result<Aim> aim_of(Service& service, const Caller& caller, const Launch& launch);
// "local", "compose", "slurm": as Launch::backend has it.
std::string backend_of(const Aim& aim);
// The word of a request that comes to the same again.
std::string backend_word(const Launch& launch);

// Stores how a launch stands, with everything that follows from it, and fills in the deed.
Result<void> keep_launch(Transaction& tx, Deed& deed, const Launch& before, const Launch& launch,
                         Time now);
// exa itself, noting what it saw.
Caller observer(const std::string& action, Progress& progress);

// The command that shows it.
std::string show_command(const Launch& launch);
Answer answer_of(const Launch& launch, json::value plan = nullptr);
// Exactly one process at a time submits a launch, or decides that it never was. conflict: somebody
// does.
Result<std::unique_ptr<Ownership>> own_launch(Service& service, const Launch& launch);
// Whether start_over would be refused; nothing is changed.
Result<void> rehearse_over(Service& service, const Caller& caller, const LaunchRequest& what,
                           const Launch& over);
// A launch in the place of one that is there, which has ended or is changed where it runs.
Result<Answer> start_over(Service& service, const Caller& caller, const LaunchRequest& what,
                          const Launch& over);

}  // namespace exa
