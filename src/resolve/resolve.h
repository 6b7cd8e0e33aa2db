// Whether a target can hold a shape, from what was seen of it: pure, no clock, no I/O. Semantics
// §4.
//
// The order of the answer: no target -> unchecked; never discovered -> unchecked; the usable nodes
// cannot hold the ask -> unresolvable; some claim not seen -> degraded; else verified.
//
// A device of a family that was not told may be of the one asked for, and a node whose devices were
// not read may have them: such an ask is degraded, with accelerator_family or gpu_count open.
//
// The ask is per node: `nodes` distinct usable nodes, each with gpu_count devices of one model, cpu
// and memory. All confirmed claims are borne out by one and the same set of nodes: the set with the
// fewest claims left open; of equals, the one that confirms the earlier claim in the document's
// order. Nodes of a job may carry different models; the answer says so when they must.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/time.h"
#include "hardware/catalogue.h"
#include "profile/hardware_profile.h"
#include "resolve/fleet.h"

namespace exa {

enum class Status { unchecked, verified, degraded, unresolvable };

enum class Cause {
  no_target,          // unchecked
  no_snapshot,        // unchecked: the target was never discovered
  no_such_family,     // unresolvable: every device of every node was read and is of another family
  capacity,           // unresolvable
  unconfirmed,        // degraded: some field of the shape was not seen
  stale_snapshot,     // degraded: every field was seen, too long ago
  declared_capacity,  // degraded: every field was typed in by an operator
  confirmed,          // verified
};

std::string_view name(Status status);  // "unchecked", …
std::string_view name(Cause cause);    // "no-target", "stale-snapshot", …
std::string_view name(Match match);    // "confirmed", "contradicted", "not-reported"

// The newest look at the target, where it saw nothing: what is known is from an earlier one.
struct FailedLook {
  Time at;
  std::string why;
};

// What was seen of the target. The fleet is only looked at during the call.
struct Observation {
  const Fleet* fleet = nullptr;  // nullptr: never discovered
  std::string snapshot_id;
  Time taken_at;
  bool declared = false;  // typed in by an operator rather than discovered
  std::optional<FailedLook> failed = std::nullopt;
};

struct ResolveInput {
  Shape shape;
  std::string target;  // cluster, pool or snapshot file, for the sentences; empty: none given
  Observation seen;
  Duration max_age = minutes(15);
  Time now;
  // Asked of the time at which the snapshot was taken: its age costs nothing, and nothing is said
  // of now.
  bool as_of_snapshot = false;
};

// The ask in the platform's neutral terms, per node and in total.
struct Ask {
  Family accelerator_family = Family::cpu;
  int64_t nodes = 1;
  int64_t gpus_per_node = 0;
  int64_t gpus = 0;
  int64_t gpu_fraction_milli = 1000;
  std::string mig_profile;
  int64_t cpu_milli_per_node = 0;
  int64_t cpu_milli = 0;
  int64_t memory_bytes_per_node = 0;
  int64_t memory_bytes = 0;

  bool operator==(const Ask&) const = default;
};
Ask ask_of(const Shape& shape);

// One claimed field. contradicted: too few nodes are left that could bear it out.
struct FieldVerdict {
  std::string field;
  json::value claimed;
  Match verdict = Match::not_reported;
  std::string observed;  // "A100-PCIE-40GB (4 nodes)"; empty: nothing was seen

  bool operator==(const FieldVerdict&) const = default;
};

// One dimension of an ask that the usable nodes cannot hold. Amounts in devices, millicores, bytes
// or nodes; nullopt: some node does not say.
struct Dimension {
  std::string name;                // gpu_count, cpu, memory_gb, nodes
  int64_t asked = 0;               // per node; for nodes: in total
  std::optional<int64_t> largest;  // on one usable node
  int64_t asked_total = 0;
  std::optional<int64_t> total;  // of usable nodes
  int64_t nodes_asked = 0;
  int64_t nodes_that_have = 0;
  std::string note;  // "usable nodes offer 14 of MIG 1g.10gb, which are no whole devices"

  bool operator==(const Dimension&) const = default;
};

// Free capacity, apart from total: nodes that could take the ask now, in the way that the answer
// rests on. Of an old or declared snapshot, and after a failed look, nothing is known about now.
struct FitsNow {
  std::optional<bool> fits;  // nullopt: unknown
  int64_t nodes = 0;         // as of the snapshot
  int64_t nodes_unknown = 0;

  bool operator==(const FitsNow&) const = default;
};

struct Resolution {
  Status status = Status::unchecked;
  Cause cause = Cause::no_target;
  std::string reason;  // one sentence
  std::string target;
  Ask resources;
  std::vector<FieldVerdict> verdicts;  // one per claimed field, in the document's order
  // The fields whose verdict is not `confirmed`, then snapshot_age and declared_capacity as they
  // apply. Empty exactly when the status is verified.
  std::vector<std::string> unconfirmed;
  std::vector<Dimension> missing;    // of an unresolvable ask
  std::optional<FitsNow> fits_now;   // of a verified or degraded one that was asked of now
  std::vector<std::string> remarks;  // taints, differing models, parts of the target not read

  // about the snapshot; absent when there is none
  struct Seen {
    std::string snapshot_id;
    Time taken_at;
    Duration age;  // negative when the snapshot is from the future
    Duration max_age;
    bool declared = false;
    bool is_as_of = false;  // the answer is one of taken_at
    int64_t nodes = 0;
    int64_t usable_nodes = 0;
    int64_t fitting_nodes = 0;  // that bear out what the answer confirms
    std::vector<std::pair<Health, int64_t>> unusable;
    bool operator==(const Seen&) const = default;
  };
  std::optional<Seen> seen;

  bool operator==(const Resolution&) const = default;
};

Resolution resolve(const ResolveInput& input);

// The one JSON form, for command line, REST and console.
json::object to_json(const Resolution& resolution);

// `--for SURFACE`: refused with `inapplicable`, naming the list, unless the profile lists the
// surface or `any`. Comes before anything else that resolve does.
Result<void> check_applicable(const HardwareProfile& profile, Surface surface);

}  // namespace exa
