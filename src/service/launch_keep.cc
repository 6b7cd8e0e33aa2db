// What follows a launch when it changes: its row, its lease, its consumer.
#include <fmt/format.h>

#include "service/consumers.h"
#include "service/launch_parts.h"
#include "service/leases.h"

namespace exa {
namespace {

constexpr Duration kLifetime = hours(7 * 24);  // as at its start
constexpr std::string_view kOrigin = "exa";    // no transport gives it
constexpr std::string_view kCompose = "compose";
constexpr Duration kRenewBelow = hours(4 * 24);

// What the cluster's newest snapshot saw running is counted there.
Result<bool> is_seen_running(Transaction& tx, const Launch& launch) {
  if (launch.cluster.empty() || !launch.started_at) return false;
  const auto cluster = find_cluster(tx, launch.cluster);
  if (!cluster)
    return cluster.error().code == Code::not_found ? Result<bool>(false) : fail(cluster.error());
  EXA_ASSIGN(const auto head, newest_snapshot(tx, *cluster));
  return head && head->taken_at >= *launch.started_at;
}

Consumer consumer_of(const Launch& launch) {
  Consumer consumer;
  consumer.project = launch.spec.project;
  consumer.kind = launch_kind(launch.spec.kind);
  consumer.ref = launch.spec.name;
  const size_t at = launch.hardware_profile.rfind('@');
  consumer.profile = launch.hardware_profile.substr(0, at);
  consumer.version = std::stoll(launch.hardware_profile.substr(at + 1));
  consumer.shape = launch.shape;
  consumer.cluster = launch.cluster;
  consumer.since = launch.created_at;
  consumer.recorded_by = launch.created_by;
  return consumer;
}

}  // namespace

Result<void> follow_with_lease(Transaction& tx, Deed& deed, const Launch& launch, Time now) {
  if (launch.lease.empty()) return {};
  EXA_ASSIGN(auto lease, load_lease(tx, launch.lease));
  if (!lease || lease->ended_at) return {};
  Lease next = *lease;
  // a wait in the queue is no use of devices
  if (launch.started_at && *launch.started_at > next.taken_at) next.taken_at = *launch.started_at;
  if (is_open(launch.state)) {
    EXA_ASSIGN(const bool seen, is_seen_running(tx, launch));
    if (seen) next.nodes.clear();
    if (next.expires_at - now < kRenewBelow) next.expires_at = now + kLifetime;
  } else {
    const Time end = launch.started_at ? launch.ended_at.value_or(now) : next.taken_at;
    next.ended_at = std::max(end, next.taken_at);
  }
  if (next == *lease) return {};
  EXA_TRY(update_lease(tx, next));
  also_wrote(deed, "lease", next.id, to_stored_json(next));
  return {};
}

Result<void> take_again(Transaction& tx, Deed& deed, const Launch& launch) {
  if (launch.lease.empty()) return {};
  EXA_ASSIGN(auto lease, load_lease(tx, launch.lease));
  if (!lease || !lease->ended_at) return {};
  lease->ended_at.reset();
  EXA_TRY(update_lease(tx, *lease));
  also_wrote(deed, "lease", lease->id, to_stored_json(*lease));
  return {};
}

Result<void> keep_consumer(Transaction& tx, Deed& deed, const Launch& launch) {
  if (launch.hardware_profile.empty()) return {};
  const Consumer consumer = consumer_of(launch);
  EXA_TRY(insert_consumer(tx, consumer));
  also_wrote(deed, "consumer", launch.key(), to_json(consumer));
  return {};
}

Result<void> release_consumer(Transaction& tx, Deed& deed, const Launch& launch) {
  if (launch.hardware_profile.empty()) return {};
  const auto there = load_consumer(tx, launch.spec.project,
                                   std::string(launch_kind(launch.spec.kind)), launch.spec.name);
  if (!there) return there.error().code == Code::not_found ? Result<void>() : fail(there.error());
  EXA_TRY(remove_consumer(tx, *there));
  also_removed(deed, "consumer", launch.key());
  return {};
}

Result<void> keep_launch(Transaction& tx, Deed& deed, const Launch& before, const Launch& launch,
                         Time now) {
  EXA_TRY(put_launch(tx, launch));
  EXA_TRY(follow_with_lease(tx, deed, launch, now));
  // a run that is over needs its profile no more; what can be started again does
  if (launch.spec.kind == Surface::training && !is_open(launch.state))
    EXA_TRY(release_consumer(tx, deed, launch));
  deed.object_kind = "launch";
  deed.object_name = launch.key();
  deed.project = launch.spec.project;
  deed.before = to_stored_json(before);
  deed.after = to_stored_json(launch);
  deed.details["state"] = name(launch.state);
  if (!launch.job.empty()) deed.details["job"] = launch.job;
  if (!launch.reason.empty()) deed.details["reason"] = launch.reason;
  return {};
}

Caller observer(const std::string& action, Progress& progress) {
  Caller caller;
  caller.principal = {"service-account", "exa-launches", "exa:launches", rights_of_owner(), "", {}};
  caller.origin = "exa";
  caller.action = action;
  caller.known = caller.permitted = {.all = true, .names = {}};
  caller.progress = &progress;
  return caller;
}

Result<Aim> aim_at(Service& service, const Caller& caller, const std::string& cluster,
                   const std::string& backend) {
  Aim aim;
  ClusterAddress address;
  if (!cluster.empty()) {
    EXA_ASSIGN(const Cluster found, read_value<Cluster>(service.store(), [&](Transaction& tx) {
                 return find_cluster(tx, cluster);
               }));
    address = found.address;
  }
  aim.kind = address.kind;
  if (aim.kind != ClusterKind::host && !backend.empty()) {
    return fail(invalid(
        "launch", {{"/backend",
                    fmt::format("is for machines without a scheduler, and {} is of kind {}",
                                cluster, name(aim.kind)),
                    "leave --backend out, or leave --cluster out to run it on this machine"}}));
  }
  EXA_ASSIGN(aim.driver, service.around().driver(address, *caller.progress));
  aim.in_containers = backend == kCompose;
  if (aim.in_containers) aim.driver = aim.driver->in_containers();
  EXA_ASSERT(aim.driver);
  return aim;
}

Result<Aim> aim_of(Service& service, const Caller& caller, const Launch& launch) {
  return aim_at(service, caller, launch.cluster, backend_word(launch));
}

std::string backend_of(const Aim& aim) {
  if (aim.kind != ClusterKind::host) return std::string(name(aim.kind));
  return std::string(aim.in_containers ? kCompose : "local");
}

std::string backend_word(const Launch& launch) {
  return launch.backend == kCompose ? launch.backend : "";
}

}  // namespace exa
