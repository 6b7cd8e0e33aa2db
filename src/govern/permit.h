// A permit: the one value without which nothing is launched in a cloud. It is made from an allowed
// verdict only, bound to one workload, pool, region and policy revision, and expires. That it is
// used once is the store's to see to (the row is marked used in the transaction of the launch).
// Semantics §5; fallback, retry, restart and resume each need one of their own.
#pragma once

#include <string>

#include "base/error.h"
#include "base/json.h"
#include "base/time.h"
#include "govern/burst.h"

namespace exa {

inline constexpr Duration kPermitLifetime = minutes(5);

class BurstPermit {
 public:
  const std::string& id() const { return id_; }
  const std::string& workload() const { return workload_; }
  const std::string& pool() const { return pool_; }
  const std::string& region() const { return region_; }
  Residency residency() const { return residency_; }
  int64_t policy_revision() const { return policy_revision_; }
  Time issued_at() const { return issued_at_; }
  Time expires_at() const { return expires_at_; }

  bool operator==(const BurstPermit&) const = default;

 private:
  friend Result<BurstPermit> issue_permit(const BurstVerdict&, std::string, Time, Duration);
  friend Result<BurstPermit> permit_from_json(const json::object&);
  BurstPermit() = default;

  std::string id_;
  std::string workload_;
  std::string pool_;
  std::string region_;
  Residency residency_ = Residency::restricted;
  int64_t policy_revision_ = 0;
  Time issued_at_;
  Time expires_at_;
};

// `id` is the caller's, unique. Fails with blocked (the verdict's own message) when the verdict
// does not allow it.
Result<BurstPermit> issue_permit(const BurstVerdict& verdict, std::string id, Time now,
                                 Duration lifetime = kPermitLifetime);

// Whether the permit still covers a launch that was judged anew just now: same workload, pool,
// region, class and policy revision, not expired, not from the future, and the new verdict allows
// it. Fails with blocked, all differences at once.
Result<void> check_permit(const BurstPermit& permit, const BurstVerdict& now_judged, Time now);

json::object to_json(const BurstPermit& permit);
// Reads what to_json wrote, out of the store only. Fails with store_damaged.
Result<BurstPermit> permit_from_json(const json::object& stored);

}  // namespace exa
