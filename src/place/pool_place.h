// Which pool a workload should run on, why there and why not anywhere else: pure, no clock, no I/O.
// Requirement "Heterogeneous Hardware & Hybrid HPC <-> Cloud"; semantics §5.
//
// Every pool is asked every question; what fails is kept with the pool, so the explanation is the
// same data as the decision and costs nothing until it is asked for (pool_explain.h). Residency
// stands among the questions, so it filters before anything is chosen.
//
// Order of what is left: requested accelerator before fallback, other devices before cpu, price
// known before unknown, price for this ask, fewest stranded devices, name. The order in which pools
// were registered plays no part.
//
//   price      of an on-premises pool without one counts as 0 and is marked "no price set"; of a
//              cloud pool without one, or in another currency, it is unknown and ranks last
//   stranded   devices left free on the nodes that the ask takes, where no cpu or no memory is left
//   fraction   held by the smallest share that satisfies it and is free; else, by one that is
//   there;
//              where no share does, by the whole device (fraction_honored = false)
//   stale      a snapshot older than its max age, or from the future, is not a look at the present
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "govern/burst.h"
#include "hardware/catalogue.h"
#include "place/pool_set.h"
#include "place/workload.h"

namespace exa {

// Why a pool is not eligible, in the order in which it is said.
enum class Why : uint8_t {
  not_portable,  // the engine does not run on the accelerator asked for: the ask itself is refused
  drained,
  target,       // other than asked; bursting looks at cloud pools only
  accelerator,  // other than asked, and no fallback is wanted
  engine,       // does not run on the pool's accelerator
  capability,   // some tag is not advertised
  model,        // known to be another
  gpu_memory,   // known to be less
  capacity,     // fewer devices in all than asked
  per_node,     // too few nodes have so many devices
  cpu,          // too few nodes have so much
  memory,
  together,   // each is there, not on one node
  not_seen,   // a backed pool that was never looked at
  stale,      // looked at too long ago
  busy,       // could hold it, not now
  residency,  // policy: see `egress`
};
inline constexpr size_t kWhys = 17;
std::string_view name(Why why);  // "not-portable", …

// What could not be confirmed of an eligible pool.
enum class Unsure : uint8_t { model, gpu_memory, per_node, cpu, memory, free, declared_capacity };
inline constexpr size_t kUnsures = 7;
std::string_view name(Unsure unsure);

template <typename E>
class EnumSet {
 public:
  void add(E value) { bits_ |= bit(value); }
  void remove(E value) { bits_ &= ~bit(value); }
  bool has(E value) const { return (bits_ & bit(value)) != 0; }
  bool only(EnumSet others) const { return (bits_ & ~others.bits_) == 0; }  // nothing else
  bool empty() const { return bits_ == 0; }
  int size() const { return __builtin_popcount(bits_); }
  bool operator==(const EnumSet&) const = default;

 private:
  static uint32_t bit(E value) { return 1U << static_cast<uint8_t>(value); }
  uint32_t bits_ = 0;
};

enum class CandidateOutcome : uint8_t { chosen, eligible, filtered, blocked };
std::string_view name(CandidateOutcome outcome);

struct PoolCandidate {
  uint32_t pool = 0;                                      // in PoolSet::pools
  CandidateOutcome outcome = CandidateOutcome::filtered;  // blocked: residency forbids it
  EnumSet<Why> why;                                       // every reason; empty when eligible
  EnumSet<Unsure> unsure;
  EgressRule egress = EgressRule::allowed;
  uint8_t tier = 0;  // 0 as requested, 1 another device, 2 cpu as fallback
  bool price_known = true;
  bool fraction_honored = true;
  int32_t share = -1;         // in PreparedPool::shares; -1: whole devices
  int64_t held_milli = 1000;  // of each device
  int64_t price_micros = 0;   // per hour for the whole ask; saturates
  int64_t stranded = 0;
  int64_t total = 0;            // units of the kind that is held
  std::optional<int64_t> free;  // of them, now
  int64_t fitting_nodes = 0;    // of a backed pool: that can hold a node's part of the ask
  int64_t fitting_now = 0;

  bool operator==(const PoolCandidate&) const = default;
};

struct PlaceAsk {
  Workload workload;
  std::string project_residency;  // as labelled; empty: not
  std::string dataset_residency;
  bool burst = false;    // cloud pools only
  bool opted_in = true;  // --allow-burst; place without burst needs none
};

// The strictest of what project, dataset and workload say of the data.
EffectiveResidency residency_of(const PlaceAsk& ask, const BurstPolicy& policy);

// no_pool: none is registered. not_portable: the engine cannot run there. busy: at least one pool
// could hold it and has too little free now. not_seen: at least one could, had it been looked at
// lately. blocked: at least one could, and residency or policy forbids it. impossible: none can.
// The first that is true of some pool, in the order busy, not_seen, blocked, impossible.
enum class RefusalKind : uint8_t { no_pool, not_portable, busy, not_seen, blocked, impossible };
std::string_view name(RefusalKind kind);

struct Decision {
  PlaceAsk ask;
  Pools pools;  // as they were, with prices and factors: history never changes when a price does
  Time decided_at;
  EffectiveResidency residency;
  std::vector<PoolCandidate> candidates;  // one a pool, by name
  std::optional<uint32_t> chosen;         // in candidates
  std::optional<RefusalKind> refusal;     // exactly when nothing is chosen
};

// Fails with invalid_input when the workload breaks a rule (problems_of_workload). A refusal is no
// failure: it is a Decision. Thread-safe; `pools` is only read.
Result<Decision> place(const PlaceAsk& ask, const Pools& pools, Time now);

// The first of semantics' order; true: a stands before b. A total order: names are unique.
bool stands_before(const PoolSet& set, const PoolCandidate& a, const PoolCandidate& b);
inline constexpr std::string_view kPlaceOrder =
    "requested accelerator before fallback, other devices before cpu, price known before unknown, "
    "price for this ask, fewest stranded devices, name";

}  // namespace exa
