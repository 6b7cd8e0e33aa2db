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
};
Result<Aim> aim_at(Service& service, const Caller& caller, const std::string& cluster);

// Stores how a launch stands, with everything that follows from it, and fills in the deed.
Result<void> keep_launch(Transaction& tx, Deed& deed, const Launch& before, const Launch& launch,
                         Time now);
// exa itself, noting what it saw.
Caller observer(const std::string& action, Progress& progress);

}  // namespace exa
