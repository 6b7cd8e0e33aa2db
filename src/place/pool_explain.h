// A decision in words: every candidate with its outcome and every reason, in the order of the
// decision. Built on demand from the decision alone.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "place/placement.h"
#include "place/pool_place.h"

namespace exa {

struct CandidateReason {
  Why why = Why::capacity;
  std::string text;
  bool operator==(const CandidateReason&) const = default;
};

struct CandidateReport {
  uint32_t candidate = 0;  // in Decision::candidates
  std::string pool;
  CandidateOutcome outcome = CandidateOutcome::filtered;
  std::vector<CandidateReason> reasons;  // all of them; empty when chosen or eligible
  std::string text;  // "first of 2 eligible", "+1.2 USD/h", or the reasons joined

  bool operator==(const CandidateReport&) const = default;
};

// Chosen, eligible, blocked, filtered; within each by the order of semantics §5.
std::vector<CandidateReport> explain(const Decision& decision);

// Every reason against one candidate, in the order of Why.
std::vector<CandidateReason> reasons_of(const Decision& decision, const PoolCandidate& candidate);

// The smallest changes that would let some pool hold the ask; empty when something was chosen or
// nothing helps. Residency is never offered to be loosened. Each was tried: the pool takes
// `instead`.
std::vector<NearMiss> near_misses(const Decision& decision);

// Of a decision that looked at the cloud: the pool whose place decided, chosen or best of those
// blocked. nullopt when no cloud pool was chosen and none is blocked. What an event records.
std::optional<BurstVerdict> burst_verdict(const Decision& decision);

// The whole decision, for the store, the API and `decisions show`: workload, residency, decision
// (placed, fallback, rejected), placement or rejection, the order, every candidate with its
// reasons, capacity, price and carbon as they were, burst verdict, decided_at, advice (nothing is
// reserved by it).
json::object to_json(const Decision& decision);

}  // namespace exa
