// The two answers of the document: a Placement or a Rejection, as values that copy everything they
// say (price, carbon factor and their source), so that history never changes when a price does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/money.h"
#include "place/pool.h"
#include "place/pool_place.h"

namespace exa {

struct Placement {
  std::string workload;
  std::string pool;
  Family accelerator = Family::nvidia;
  std::string model;  // empty: not told
  Target target = Target::hpc;
  std::string region;  // empty: not told
  std::string engine;
  int64_t gpus = 1;  // devices on each node
  int64_t nodes = 1;
  int64_t fraction_milli = 1000;  // asked of each device
  int64_t held_milli = 1000;      // taken of each device: at least what is asked
  bool fraction_honored = true;   // false: a fraction was asked and whole devices are taken
  std::string held_as;            // "whole", "mig 3g.40gb", "time-slice"
  bool fallback = false;
  std::string note;  // "requested tpu unavailable — fell back to amd"; empty: nothing to say

  std::optional<Money>
      cost_per_hour;                 // per device; nullopt: unknown (a cloud pool without a price)
  bool price_set = true;             // false: "no price set"
  std::optional<Money> cost_of_ask;  // per hour for all devices, as held
  std::optional<CarbonRate> carbon;  // per device; nullopt: unknown, which is never 0

  bool declared = false;                 // capacity typed in by an operator
  std::string snapshot_id;               // of a backed pool
  std::optional<Duration> snapshot_age;  // of a backed pool
  std::vector<std::string> unconfirmed;  // what could not be seen of it
  std::vector<std::string> remarks;      // waste, price, declared capacity, for people

  int64_t devices() const { return gpus * nodes; }
  bool operator==(const Placement&) const = default;
};

// What would have to change for one pool to hold the ask.
struct NearMiss {
  std::string pool;
  std::vector<std::string> changes;  // "--gpus 4", "wait: 2 of 8 are free now"
  // The ask with every change made that is the asker's to make; the others (waiting, looking again,
  // taking a pool out of drain) stay with the pool.
  Workload instead;
  bool only_the_ask = true;  // no other change is needed: placed again, `instead` gets the pool

  bool operator==(const NearMiss&) const = default;
};

struct Rejection {
  std::string workload;
  RefusalKind kind = RefusalKind::impossible;
  std::string reason;                 // one sentence without its period
  std::vector<NearMiss> near_misses;  // the smallest change first; at most three

  bool operator==(const Rejection&) const = default;
};

using PlaceAnswer = std::variant<Placement, Rejection>;

PlaceAnswer answer_of(const Decision& decision);

// As the document prints it, without final newline:
//   ✓ train → pool hpc-mi300 · amd on hpc (fallback)
//     requested tpu unavailable — fell back to amd
//   ✗ Rejected: engine 'sglang' cannot run on amd (needs backend rocm; supports ('cuda',))
std::string to_text(const Placement& placement);
std::string to_text(const Rejection& rejection);
// The same for a decision; of a burst that residency stops: "⚠ Burst blocked: data-residency …".
std::string to_text(const Decision& decision);

// The one JSON form. Keys of the document: workload, pool, accelerator, target, region,
// cost_per_hour, carbon_factor, fallback, fraction_honored, note; workload, reason.
json::object to_json(const Placement& placement);
json::object to_json(const Rejection& rejection);
json::object to_json(const NearMiss& miss);

}  // namespace exa
