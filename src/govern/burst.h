// Whether data may go where a pool stands: the one decision function behind place, burst, fallback,
// retry, restart and resume. Requirement "Governed cloud bursting"; semantics §5.
//
//   class        cloud                                          on premises
//   open         any region whose jurisdiction is known         anywhere
//   eu-only      a region of jurisdiction eu                    a region of jurisdiction eu
//   no-egress    never                                          anywhere
//   restricted   never                                          anywhere
//
// A policy can narrow this table and not widen it, but for one switch: open data may be let go to
// regions of unknown jurisdiction. Pure: no clock, no store; every attempt is the caller's to
// record.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "govern/jurisdiction.h"
#include "govern/residency.h"

namespace exa {

// Jurisdictions to which data of one class may go, of those that the table above lets it.
struct BurstNarrowing {
  Residency residency = Residency::open;
  std::vector<std::string> jurisdictions;
  bool operator==(const BurstNarrowing&) const = default;
};

struct BurstPolicy {
  bool cloud = true;                       // false: nothing goes to the cloud
  bool open_to_unknown = false;            // open data to regions of unknown jurisdiction
  Residency unlabelled = Residency::open;  // class of data that nobody labelled
  std::vector<BurstNarrowing> narrowed;    // at most one row a class
  int64_t revision = 0;                    // counts changes; a permit names the one it rests on
  bool operator==(const BurstPolicy&) const = default;
};

// All problems: a class twice, codes malformed or repeated, a class narrowed to what the table
// forbids anyway (eu-only to us; anything for no-egress and restricted).
std::vector<Problem> problems_of_policy(const BurstPolicy& policy);
json::object to_json(const BurstPolicy& policy);
// Reads what to_json wrote or an admin sends; absent keys keep the default, unknown ones are
// problems. Fails with invalid_input, all problems at once.
Result<BurstPolicy> read_policy(const json::object& input);

enum class EgressRule {
  allowed,
  not_opted_in,    // bursting is opt-in
  cloud_off,       // the policy lets nothing go to the cloud
  class_forbids,   // no-egress, restricted
  outside,         // eu-only, and the region lies elsewhere
  unknown_region,  // the region has no name or stands in no table
  narrowed,        // the policy does not list the jurisdiction
  nothing_judged,  // no pool could hold the ask, so nowhere was looked at
};
std::string_view name(EgressRule rule);  // "allowed", "not-opted-in", …

struct EgressQuestion {
  Residency residency = Residency::restricted;
  bool cloud = true;                             // the pool stands in a cloud
  std::optional<std::string_view> jurisdiction;  // nullopt: unknown
  bool opted_in = true;
};

EgressRule judge_egress(const EgressQuestion& question, const BurstPolicy& policy);

// One sentence without its period: "data-residency eu-only forbids egress to region 'us'". Empty
// when allowed.
std::string why_blocked(EgressRule rule, const EffectiveResidency& residency, bool cloud,
                        std::string_view region, const BurstPolicy& policy);

struct BurstAttempt {
  std::string workload;
  std::string pool;
  std::string region;  // empty: not named
  EffectiveResidency residency;
  bool opted_in = false;  // --allow-burst
  bool cloud = true;      // false: the place is on premises, which residency governs as well
};

// What became of an attempt; what an event and an audit entry hold.
struct BurstVerdict {
  bool allowed = false;
  EgressRule rule = EgressRule::class_forbids;
  std::string reason;  // empty when allowed
  std::string workload;
  std::string pool;
  std::string region;
  std::string jurisdiction;  // empty: unknown
  EffectiveResidency residency;
  int64_t policy_revision = 0;

  bool operator==(const BurstVerdict&) const = default;
};

BurstVerdict judge_burst(const BurstAttempt& attempt, const BurstPolicy& policy,
                         const JurisdictionTable& jurisdictions);

// "Burst blocked: data-residency eu-only forbids egress to region 'us'", as the document prints it,
// or "Burst allowed: data-residency eu-only permits region 'eu-west-1' (eu)".
std::string message(const BurstVerdict& verdict);
json::object to_json(const BurstVerdict& verdict);

}  // namespace exa
