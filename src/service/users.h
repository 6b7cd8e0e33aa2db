// Use cases of users and groups. Names are never given twice: an account is disabled, not removed,
// so "who did that" stays answerable.
#pragma once

#include <optional>
#include <string>

#include "audit/key.h"
#include "service/service.h"

namespace exa {

struct CreateUser {
  std::string name;
  std::string display_name;
  std::optional<std::string> password;        // nullopt: signs in through OIDC, or not yet
  std::optional<PlatformRole> platform_role;  // nullopt: none
};
Result<Answer> create_user(Service& service, const Caller& caller, const CreateUser& what);
Result<Answer> list_users(Service& service);
Result<Answer> show_user(Service& service, const std::string& name);
// Ends sessions at once, and tokens with them: both are refused while the account is disabled.
Result<Answer> disable_user(Service& service, const Caller& caller, const std::string& name,
                            bool undo);
// One's own, with the current one (a stolen session takes no account over), or anybody else's with
// user:write. Ends every session of the user.
Result<Answer> set_password(Service& service, const Caller& caller, const std::string& name,
                            const std::string& password, const std::string& current);
// nullopt takes the role away. `subject_kind` is "user" or "group".
Result<Answer> set_platform_role(Service& service, const Caller& caller,
                                 const std::string& subject_kind, const std::string& name,
                                 std::optional<PlatformRole> role);

// With `oidc_group`, membership follows what the provider says at each sign-in.
Result<Answer> create_group(Service& service, const Caller& caller, const std::string& name,
                            const std::string& oidc_group);
Result<Answer> list_groups(Service& service);
Result<Answer> change_group(Service& service, const Caller& caller, const std::string& group,
                            const std::string& user, bool add);

// Who the caller is and what they hold.
Result<Answer> who_am_i(const Caller& caller);

// The user's document as everybody may see it.
json::object public_user(const json::object& spec);
json::object new_user_spec(const std::string& name, const std::string& display_name,
                           std::optional<std::string> oidc, Time now, const std::string& by);

}  // namespace exa
