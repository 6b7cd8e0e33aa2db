// Who is at the door: tokens, passwords, sessions, OIDC identities, and the code with which the
// first admin gets in. For whatever transport asks; the router takes the Principal that comes out.
//
// Unknown names, wrong passwords, disabled accounts, unknown and expired tokens all get one answer
// (unauthenticated), in the time that the right one takes. too_many_requests after ten failures in
// a minute by a name or an address. Thread-safe as the service is.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/key.h"
#include "service/service.h"

namespace exa {

// That a token or a session was used, worth writing down at most once a minute. Who signs in must
// not wait for those who write, so a server collects these and writes them later.
struct Use {
  bool of_session = false;  // else of a token
  std::string id;
  Time at;
};
using NoteUse = std::function<void(Use)>;
Result<void> write_uses(Service& service, const std::vector<Use>& uses);

// Rights are read at each call, so what was revoked or taken away holds from then on.
Result<Principal> authenticate_token(Service& service, std::string_view token, Time now,
                                     const NoteUse& note);
Result<Principal> authenticate_token(Service& service, std::string_view token,
                                     Time now);  // writes the use at once

inline constexpr Duration kSessionIdle = minutes(30);
inline constexpr Duration kSessionLongest = hours(12);

struct Session {
  SecretText id;  // 256 random bits; the store keeps its SHA-256
  std::string user;
  Time expires_at;
};

struct SignIn {
  std::string user;
  SecretText password;
  std::string origin;       // address: for the audit log and the limiter
  std::string old_session;  // what the browser had: it ends, so that no id outlives a sign-in
};
Result<Session> sign_in(Service& service, const SignIn& what);

// A session for a user whom a provider has vouched for (upsert_oidc_user).
Result<Session> open_session(Service& service, const Principal& user, const std::string& origin,
                             const std::string& old_session);

Result<Principal> authenticate_session(Service& service, std::string_view session_id, Time now,
                                       const NoteUse& note);
Result<Principal> authenticate_session(Service& service, std::string_view session_id, Time now);
// Who somebody is now that was let in before: rights are read anew. unauthenticated when what they
// were let in with holds no more: a revoked token, a disabled account. The owner of the data folder
// stays who they are.
Result<Principal> principal_now(Service& service, const Principal& before);
// Ending what has ended is no error.
Result<void> sign_out(Service& service, std::string_view session_id, const std::string& origin);

// A new code, which replaces an unused one; conflict once any user exists. To be shown once, to
// whoever starts the server.
Result<SecretText> make_setup_code(Service& service, const Caller& caller);
// Makes the first platform-admin with it. The code holds once.
Result<Answer> complete_setup(Service& service, const Caller& caller, std::string_view code,
                              const std::string& user, const std::string& password);

// The user of an identity, made at the first sign-in, and put into the groups whose `oidc_group`
// is among `groups` (and out of those whose is not). Roles of groups are role bindings, like any.
struct OidcIdentity {
  std::string issuer;
  std::string subject;
  std::string name;  // preferred; a number is added where it is taken
  std::string display_name;
  std::vector<std::string> groups;
};
Result<Principal> upsert_oidc_user(Service& service, const OidcIdentity& who,
                                   const std::string& origin);

}  // namespace exa
