#include "govern/permit.h"

#include <fmt/format.h>

namespace exa {

Result<BurstPermit> issue_permit(const BurstVerdict& verdict, std::string id, Time now,
                                 Duration lifetime) {
  if (!verdict.allowed) return fail(Code::blocked, message(verdict));
  BurstPermit permit;
  permit.id_ = std::move(id);
  permit.workload_ = verdict.workload;
  permit.pool_ = verdict.pool;
  permit.region_ = verdict.region;
  permit.residency_ = verdict.residency.residency;
  permit.policy_revision_ = verdict.policy_revision;
  permit.issued_at_ = now;
  permit.expires_at_ = now + lifetime;
  return permit;
}

Result<void> check_permit(const BurstPermit& permit, const BurstVerdict& now_judged, Time now) {
  std::vector<Problem> problems;
  const auto differs = [&](std::string_view what, std::string_view was, std::string_view is) {
    if (was != is)
      problems.push_back({pointer("", what),
                          fmt::format("the permit is for {} '{}', not '{}'", what, was, is), ""});
  };
  if (!now_judged.allowed) problems.push_back({"", message(now_judged), ""});
  differs("workload", permit.workload(), now_judged.workload);
  differs("pool", permit.pool(), now_judged.pool);
  differs("region", permit.region(), now_judged.region);
  differs("residency", name(permit.residency()), name(now_judged.residency.residency));
  if (permit.policy_revision() != now_judged.policy_revision)
    problems.push_back({"/policy_revision",
                        fmt::format("the burst policy changed since (revision {}, now {})",
                                    permit.policy_revision(), now_judged.policy_revision),
                        ""});
  if (now >= permit.expires_at())
    problems.push_back(
        {"/expires_at",
         fmt::format("the permit expired at {}", format_rfc3339(permit.expires_at())), ""});
  if (now < permit.issued_at())
    problems.push_back({"/issued_at", "the permit is from the future: a clock went back", ""});
  if (problems.empty()) return {};
  Error error = invalid("burst permit", std::move(problems));
  error.code = Code::blocked;
  error.message = fmt::format("permit {} does not cover this launch", permit.id());
  return fail(std::move(error));
}

json::object to_json(const BurstPermit& permit) {
  return {{"id", permit.id()},
          {"workload", permit.workload()},
          {"pool", permit.pool()},
          {"region", permit.region()},
          {"residency", name(permit.residency())},
          {"policy_revision", permit.policy_revision()},
          {"issued_at", format_rfc3339(permit.issued_at())},
          {"expires_at", format_rfc3339(permit.expires_at())}};
}

Result<BurstPermit> permit_from_json(const json::object& stored) {
  BurstPermit permit;
  permit.id_ = text_or(stored, "id", "");
  permit.workload_ = text_or(stored, "workload", "");
  permit.pool_ = text_or(stored, "pool", "");
  permit.region_ = text_or(stored, "region", "");
  const auto residency = find_residency(text_or(stored, "residency", ""));
  const json::value* revision = find(stored, "policy_revision");
  const auto issued = parse_rfc3339(text_or(stored, "issued_at", ""));
  const auto expires = parse_rfc3339(text_or(stored, "expires_at", ""));
  if (permit.id_.empty() || !residency || revision == nullptr || !revision->is_int64() || !issued ||
      !expires)
    return fail(Code::store_damaged, "a stored burst permit cannot be read");
  permit.residency_ = *residency;
  permit.policy_revision_ = revision->get_int64();
  permit.issued_at_ = *issued;
  permit.expires_at_ = *expires;
  return permit;
}

}  // namespace exa
