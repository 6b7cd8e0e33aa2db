// A lease: devices of a pool that somebody holds until it is released or expires, with the price
// and carbon factor of when they were taken. Two callers can never hold the same device: the store
// places and takes in one transaction, and these functions say what is left. Pure. Semantics §5.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/money.h"
#include "base/time.h"
#include "place/pool.h"
#include "place/pool_place.h"

namespace exa {

// Part of one device. Devices held in part are numbered from 0 in their pool, the lowest free
// number first: no driver knows these numbers, they only keep shares of one device together.
struct LeasedPart {
  int64_t device = 0;
  int64_t milli = 0;  // held of it
  MigSlices slices;   // of a MIG instance; 0: none
  int64_t start = 0;  // the memory slice where it begins

  bool operator==(const LeasedPart&) const = default;
};

// What a lease holds of one node of a cluster.
struct LeasedNode {
  std::string name;
  int64_t devices = 0;
  int64_t cpu_milli = 0;
  int64_t memory_bytes = 0;

  bool operator==(const LeasedNode&) const = default;
};

struct Lease {
  std::string id;
  std::string project;
  std::string workload;
  std::string hardware_profile;  // NAME@V; empty: none
  std::string decision;          // id of the decision that took it
  std::string pool;
  Target target = Target::hpc;
  std::string region;
  Family device = Family::nvidia;
  std::string model;
  int64_t devices = 1;            // held wholly or in part, on all nodes
  int64_t held_milli = 1000;      // of each
  std::string mig_profile;        // of a seen share; empty: none
  std::vector<LeasedPart> parts;  // where parts are packed by exa: one a device
  std::string cluster;            // that backs the pool; empty: a declared pool
  std::vector<LeasedNode> nodes;  // of it, that stand good for whole devices
  std::optional<Money> price;     // per device and hour; nullopt: unknown, or none set on premises
  std::optional<CarbonRate> carbon;  // per device and hour; nullopt: unknown
  std::string permit;                // that it was taken under; empty: on premises
  Time taken_at;
  std::string taken_by;
  Time expires_at;
  std::optional<Time> ended_at;

  // Holds devices at `now`.
  bool open(Time now) const { return !ended_at && now < expires_at; }
  // When it stopped holding; nullopt while it holds.
  std::optional<Time> end(Time now) const;

  bool operator==(const Lease&) const = default;
};

// What the leases that are open at `now` take of a declared pool's devices. `leases` are of that
// pool; those on nodes of a cluster are counted on their nodes instead.
PoolLeases held(std::span<const Lease> leases, Time now);

// The lease that a decision takes: on the fullest device with room for each part, so that whole
// devices stay whole. `open` are the pool's open leases. The decision has chosen a pool.
Lease lease_of(const Decision& decision, std::span<const Lease> open, Duration lifetime);

// The lease of work that waits in its scheduler's queue, or runs where nothing was seen: it counts
// for limits and cost, and promises nothing on the pool's nodes.
Lease lease_without_promise(const Pool& pool, const Workload& workload, Time now,
                            Duration lifetime);

// Keys as above; `state` is "held", "released" or "expired" at `now`.
json::object to_json(const Lease& lease, Time now);
// What the store keeps and the audit log digests: nothing in it depends on the time of reading.
json::object to_stored_json(const Lease& lease);
Result<Lease> lease_from_json(const json::object& stored);  // fails with store_damaged

}  // namespace exa
