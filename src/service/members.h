// Who belongs to a project, and how much it may take at once.
#pragma once

#include <optional>
#include <string>

#include "place/lease.h"
#include "service/service.h"

namespace exa {

Result<Answer> list_members(Service& service, const std::string& project);

struct Member {
  std::string project;
  std::string kind;  // "user", "group"
  std::string name;
};
// Adds a member or changes their role. Nobody gives a role that does more than they may.
Result<Answer> set_member(Service& service, const Caller& caller, const Member& who, Role role);
Result<Answer> remove_member(Service& service, const Caller& caller, const Member& who);

// Devices of one family: at once in the whole project, and in one request. nullopt: no limit.
struct SetLimits {
  std::string project;
  std::string family;
  std::optional<int64_t> at_once;
  std::optional<int64_t> per_request;
  bool lift = false;  // the family's limits go
};
Result<Answer> get_limits(Service& service, const std::string& project);
Result<Answer> set_limits(Service& service, const Caller& caller, const SetLimits& what);

// Blocked when the project would hold more than it may with this lease: names limit, held and
// asked. Counted over open leases in the transaction that takes it; the project's row is locked, so
// that two replicas count one after the other.
Result<void> within_limits(Transaction& tx, const Lease& lease, Time now);

}  // namespace exa
