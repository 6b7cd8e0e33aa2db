// Use cases of service accounts and tokens. Nobody grants what they lack: an account's verbs and a
// token's scopes are checked against whoever makes them.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "service/service.h"

namespace exa {

struct CreateServiceAccount {
  std::string name;
  std::set<std::string> verbs;     // actions, at least one
  std::set<std::string> projects;  // where those of projects hold; empty: a platform-admin's
};
Result<Answer> create_service_account(Service& service, const Caller& caller,
                                      const CreateServiceAccount& what);
// Those whose projects the caller administers; every one for a platform-admin.
// Its tokens are refused from now on, or with `undo` accepted again. not_found unless the caller
// manages it.
Result<Answer> disable_service_account(Service& service, const Caller& caller,
                                       const std::string& name, bool undo);
Result<Answer> list_service_accounts(Service& service, const Caller& caller);

struct CreateToken {
  std::string name;
  Duration lifetime = hours(24 * 30);
  std::optional<std::set<std::string>> scopes;    // actions; nullopt: all that the owner may
  std::optional<std::set<std::string>> projects;  // nullopt: all of the owner's
  std::string service_account;                    // whose it is; empty: the caller's own
};
inline constexpr Duration kLongestToken = hours(24 * 90);

// The token is in the answer and nowhere else: the store keeps its SHA-256.
Result<Answer> create_token(Service& service, const Caller& caller, const CreateToken& what);
// One's own, and those of service accounts that one administers; all for a platform-admin.
Result<Answer> list_tokens(Service& service, const Caller& caller);
Result<Answer> revoke_token(Service& service, const Caller& caller, const std::string& id);

}  // namespace exa
