#include "service/sign_in.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "service/account_rows.h"
#include "service/credentials.h"
#include "service/stored.h"
#include "service/users.h"

namespace exa {
namespace {

constexpr Duration kUsedEvery = minutes(1);

Failure nobody() {
  return fail(Code::unauthenticated, "who you are could not be confirmed; sign in again",
              "exa auth status");
}

// Before anybody is known, the change is done by whom it makes known.
Caller caller_for(const Principal& who, const std::string& origin, std::string action) {
  Caller caller;
  caller.principal = who;
  caller.origin = origin;
  caller.action = std::move(action);
  return caller;
}

Principal user_principal(const std::string& name, Rights rights) {
  return {"user", name, "user:" + name, std::move(rights), "", {}};
}

// nullopt: there is none, or it may not sign in.
Result<std::optional<Principal>> active_user(Transaction& tx, const std::string& name) {
  std::optional<Principal> none;
  EXA_ASSIGN(const auto rows,
             tx.rows("SELECT disabled_at FROM account_user WHERE name = $1", {name}));
  if (rows.empty() || !rows[0].is_null(0)) return none;
  EXA_ASSIGN(Rights rights, rights_of_user(tx, name));
  return std::optional(user_principal(name, std::move(rights)));
}

Result<std::optional<Principal>> active_owner(Transaction& tx, const std::string& kind,
                                              const std::string& name) {
  if (kind == "user") return active_user(tx, name);
  std::optional<Principal> none;
  EXA_ASSIGN(const auto account, service_account_of(tx, name));
  if (!account || !account->at("disabled_at").is_null()) return none;
  return std::optional(Principal{"service-account",
                                 name,
                                 "service-account:" + name,
                                 rights_of_service_account(*account),
                                 "",
                                 {}});
}

std::optional<std::set<std::string>> set_or_none(const json::object& spec, std::string_view key) {
  const json::value* list = spec.if_contains(key);
  if (list == nullptr || list->is_null()) return std::nullopt;
  const auto texts = texts_of(spec, key);
  return std::set<std::string>(texts.begin(), texts.end());
}

struct FoundToken {
  Principal principal;
  std::optional<Time> last_used;
};

Result<std::optional<FoundToken>> find_token(Transaction& tx, const std::string& hash, Time now) {
  std::optional<FoundToken> none;
  EXA_ASSIGN(const auto rows,
             tx.rows("SELECT spec, sha256, revoked_at, expires_at, last_used FROM access_token "
                     "WHERE sha256 = $1",
                     {hash}));
  if (rows.empty()) return none;
  const Row& row = rows[0];
  if (!row.is_null(2) || row.integer(3) <= now.micros) return none;
  EXA_ASSIGN(const json::object spec, parse_stored_object(row.text(0), "stored token"));
  EXA_ASSIGN(auto owner, active_owner(tx, std::string(text_or(spec, "owner_kind", "")),
                                      std::string(text_or(spec, "owner", ""))));
  if (!owner) return none;
  owner->rights.only_actions = set_or_none(spec, "scopes");
  owner->rights.only_projects = set_or_none(spec, "projects");
  owner->token = text_or(spec, "id", "");
  owner->valid_until = Time{row.integer(3)};
  FoundToken found{*std::move(owner), {}};
  if (!row.is_null(4)) found.last_used = Time{row.integer(4)};
  return std::optional(std::move(found));
}

// Sessions that are over are dropped when the next one begins, a few at a time.
Result<void> drop_ended(Transaction& tx, Deed& deed, Time now) {
  EXA_ASSIGN(const auto rows,
             tx.rows("SELECT id FROM sign_in_session WHERE expires_at <= $1 OR last_seen <= $2 "
                     "ORDER BY id LIMIT 100",
                     {now.micros, now.micros - kSessionIdle.micros}));
  for (const Row& row : rows) {
    EXA_TRY(tx.change("DELETE FROM sign_in_session WHERE id = $1", {row.text(0)}));
    also_removed(deed, "session", row.text(0));
  }
  return {};
}

Result<void> end_session(Transaction& tx, Deed& deed, std::string_view session_id) {
  if (session_id.empty()) return {};
  const std::string hash = hash_of_secret(session_id);
  EXA_ASSIGN(const auto rows, tx.rows("SELECT id FROM sign_in_session WHERE sha256 = $1", {hash}));
  for (const Row& row : rows) also_removed(deed, "session", row.text(0));
  EXA_TRY(tx.change("DELETE FROM sign_in_session WHERE sha256 = $1", {hash}));
  return {};
}

// The name that an identity gets: what the provider says, as far as a name of ours can be made of
// it.
std::string account_name_of(const OidcIdentity& who) {
  std::string name;
  for (const char c : lower(who.name)) {
    const bool fine = is_account_name(std::string("a") + c);
    if (fine && (!name.empty() || is_account_name(std::string(1, c)))) name += c;
  }
  if (name.size() > 100) name.resize(100);
  return name.empty() ? "user" : name;
}

Result<std::string> free_name(Transaction& tx, const std::string& wanted) {
  std::string name = wanted;
  for (int number = 2;; ++number) {
    EXA_ASSIGN(const auto user, find_document(tx, "account_user", "name", name));
    EXA_ASSIGN(const auto account, service_account_of(tx, name));
    if (!user && !account) return name;
    name = fmt::format("{}-{}", wanted, number);
  }
}

// Membership of every group that follows the provider, as the provider says now.
Result<void> follow_groups(Transaction& tx, Deed& deed, const std::string& user,
                           const std::vector<std::string>& groups, Time now) {
  EXA_ASSIGN(const auto rows, tx.rows("SELECT g.name, g.oidc_group, m.name FROM account_group g "
                                      "LEFT JOIN group_member m ON m.group_name = g.name AND "
                                      "m.user_name = $1 WHERE g.oidc_group IS NOT NULL ORDER BY "
                                      "g.name",
                                      {user}));
  for (const Row& row : rows) {
    const bool wanted = std::ranges::find(groups, row.text(1)) != groups.end();
    const bool member = !row.is_null(2);
    if (wanted == member) continue;
    if (wanted) {
      EXA_TRY(put_group_member(tx, deed, row.text(0), user,
                               {{"name", member_key(row.text(0), user)},
                                {"group", row.text(0)},
                                {"user", user},
                                {"from", "oidc"},
                                {"added_at", format_rfc3339(now)},
                                {"added_by", user}}));
    } else {
      EXA_TRY(drop_group_member(tx, deed, row.text(0), user));
    }
  }
  return {};
}

}  // namespace

Result<void> write_uses(Service& service, const std::vector<Use>& uses) {
  if (uses.empty()) return {};
  return service.store().write([&](Transaction& tx) -> Result<void> {
    for (const Use& use : uses) {
      EXA_TRY(tx.change(use.of_session ? "UPDATE sign_in_session SET last_seen = $2 WHERE id = $1"
                                       : "UPDATE access_token SET last_used = $2 WHERE id = $1",
                        {use.id, use.at.micros}));
    }
    return {};
  });
}

namespace {

// For people, and for the end of idle sessions: that it could not be written is no reason to turn
// anybody away.
NoteUse at_once(Service& service) {
  return [&service](Use use) { static_cast<void>(write_uses(service, {std::move(use)})); };
}

}  // namespace

Result<Principal> authenticate_token(Service& service, std::string_view token, Time now) {
  return authenticate_token(service, token, now, at_once(service));
}

Result<Principal> authenticate_session(Service& service, std::string_view session_id, Time now) {
  return authenticate_session(service, session_id, now, at_once(service));
}

Result<Principal> authenticate_token(Service& service, std::string_view token, Time now,
                                     const NoteUse& note) {
  if (!is_token(token)) return nobody();
  const std::string hash = hash_of_secret(token);
  EXA_ASSIGN(auto found,
             read_value<std::optional<FoundToken>>(
                 service.store(), [&](Transaction& tx) { return find_token(tx, hash, now); }));
  if (!found) return nobody();
  if (!found->last_used || now - *found->last_used >= kUsedEvery)
    note({false, found->principal.token, now});
  return std::move(found->principal);
}

Result<Session> open_session(Service& service, const Principal& user, const std::string& origin,
                             const std::string& old_session) {
  Session session;
  session.user = user.name;
  const Caller caller = caller_for(user, origin, "session.sign_in");
  EXA_TRY(service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    const Time now = service.now();
    session.id = new_session_id();
    session.expires_at = Time{now.micros + kSessionLongest.micros};
    EXA_TRY(end_session(tx, deed, old_session));
    EXA_TRY(drop_ended(tx, deed, now));
    const std::string id = service.around().new_id();
    const std::string hash = hash_of_secret(session.id.reveal());
    const json::object spec{{"id", id},
                            {"user", user.name},
                            {"sha256", hash},
                            {"created_at", format_rfc3339(now)},
                            {"expires_at", format_rfc3339(session.expires_at)}};
    EXA_TRY(
        tx.change("INSERT INTO sign_in_session (id, spec, sha256, user_name, expires_at, "
                  "last_seen) VALUES ($1, $2, $3, $4, $5, $6)",
                  {id, to_text(spec), hash, user.name, session.expires_at.micros, now.micros}));
    deed.object_kind = "session";
    deed.object_name = id;
    deed.after = spec;
    return Answer{};
  }));
  return session;
}

Result<Session> sign_in(Service& service, const SignIn& what) {
  const Time now = service.now();
  AttemptLimiter& attempts = service.sign_in_attempts();
  EXA_TRY(attempts.admit(what.user, what.origin, now));
  struct Known {
    std::optional<Principal> user;
    std::string hash;
  };
  EXA_ASSIGN(const Known known,
             read_value<Known>(service.store(), [&](Transaction& tx) -> Result<Known> {
               Known read;
               EXA_ASSIGN(read.user, active_user(tx, what.user));
               EXA_ASSIGN(const auto rows,
                          tx.rows("SELECT hash FROM user_password WHERE name = $1", {what.user}));
               if (!rows.empty()) read.hash = rows[0].text(0);
               return read;
             }));
  // compared whoever it is: an unknown name takes as long as a wrong password
  const bool same = is_password(what.password, known.hash);
  if (!same || !known.user) {
    // the name is what was typed, which now and then is a password: it stays out of the log unless
    // it is a name there is
    const bool there = !known.hash.empty();
    const Caller caller = caller_for(user_principal(there ? what.user : "(unknown)", {}),
                                     what.origin, "session.sign_in");
    service.record_refusal(caller, {}, nobody().value());
    return nobody();
  }
  attempts.succeeded(what.user, what.origin);
  return open_session(service, *known.user, what.origin, what.old_session);
}

Result<Principal> authenticate_session(Service& service, std::string_view session_id, Time now,
                                       const NoteUse& note) {
  if (session_id.empty()) return nobody();
  const std::string hash = hash_of_secret(session_id);
  struct Seen {
    std::optional<Principal> user;
    std::string id;
    Time last_seen;
  };
  EXA_ASSIGN(
      const Seen seen, read_value<Seen>(service.store(), [&](Transaction& tx) -> Result<Seen> {
        Seen read;
        EXA_ASSIGN(const auto rows,
                   tx.rows("SELECT id, user_name, sha256, last_seen FROM sign_in_session WHERE "
                           "sha256 = $1 AND expires_at > $2 AND last_seen > $3",
                           {hash, now.micros, now.micros - kSessionIdle.micros}));
        if (rows.empty()) return read;
        read.id = rows[0].text(0);
        read.last_seen = Time{rows[0].integer(3)};
        EXA_ASSIGN(read.user, active_user(tx, rows[0].text(1)));
        return read;
      }));
  if (!seen.user) return nobody();
  if (now - seen.last_seen >= kUsedEvery) note({true, seen.id, now});
  return *seen.user;
}

Result<Principal> principal_now(Service& service, const Principal& before) {
  if (before.kind == "os-user") return before;
  return read_value<Principal>(service.store(), [&](Transaction& tx) -> Result<Principal> {
    if (before.token.empty()) {
      EXA_ASSIGN(auto owner, active_owner(tx, before.kind, before.name));
      if (!owner) return nobody();
      return *std::move(owner);
    }
    EXA_ASSIGN(const auto rows,
               tx.rows("SELECT sha256 FROM access_token WHERE id = $1", {before.token}));
    if (rows.empty()) return nobody();
    EXA_ASSIGN(auto found, find_token(tx, rows[0].text(0), service.now()));
    if (!found) return nobody();
    return std::move(found->principal);
  });
}

Result<void> sign_out(Service& service, std::string_view session_id, const std::string& origin) {
  const auto who = authenticate_session(service, session_id, service.now());
  if (!who) return {};
  const Caller caller = caller_for(*who, origin, "session.sign_out");
  EXA_TRY(service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_TRY(end_session(tx, deed, session_id));
    deed.object_kind = "sign_out";  // what ended is beside it
    deed.object_name = who->name;
    return Answer{};
  }));
  return {};
}

Result<SecretText> make_setup_code(Service& service, const Caller& caller) {
  SecretText code;
  EXA_TRY(service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_ASSIGN(const auto users, tx.rows("SELECT 1 FROM account_user LIMIT 1"));
    if (!users.empty()) return fail(Code::conflict, "there are users already: setup is done");
    code = new_setup_code();
    const std::string hash = hash_of_secret(code.reveal());
    const json::object spec{{"name", "setup"},
                            {"sha256", hash},
                            {"made_at", format_rfc3339(service.now())},
                            {"used_at", nullptr}};
    EXA_TRY(
        tx.change("INSERT INTO setup_code (name, spec, sha256, used_at) VALUES ('setup', $1, "
                  "$2, NULL) ON CONFLICT (name) DO UPDATE SET spec = $1, sha256 = $2",
                  {to_text(spec), hash}));
    deed.object_kind = "setup_code";
    deed.object_name = "setup";
    deed.after = spec;
    return Answer{};
  }));
  return code;
}

Result<Answer> complete_setup(Service& service, const Caller& caller, std::string_view code,
                              const std::string& user, const std::string& password) {
  AttemptLimiter& attempts = service.sign_in_attempts();
  EXA_TRY(attempts.admit("", caller.origin, service.now()));
  if (!is_account_name(user)) {
    Problem problem = bad_account_name();
    problem.where = "/user";
    return fail(invalid("setup", {problem}));
  }
  const SecretText secret(password);
  EXA_TRY(check_password(secret));
  EXA_ASSIGN(const std::string hash, hash_password(secret));
  const std::string code_hash = hash_of_secret(code);
  Caller first = caller;
  first.principal = user_principal(user, {});
  auto answer = service.mutate(first, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_ASSIGN(const auto stored, find_document(tx, "setup_code", "name", "setup"));
    EXA_ASSIGN(const auto users, tx.rows("SELECT 1 FROM account_user LIMIT 1"));
    const bool holds = stored && stored->at("used_at").is_null() && users.empty() &&
                       same_text(text_or(*stored, "sha256", ""), code_hash);
    if (!holds) return nobody();
    const Time now = service.now();
    const json::object spec = new_user_spec(user, "", {}, now, user);
    EXA_TRY(put_user(tx, spec));
    deed.object_kind = "user";
    deed.object_name = user;
    deed.after = spec;
    EXA_TRY(put_password(tx, deed, user, hash, now));
    const Binding binding{"", "user", user, std::string(name(PlatformRole::platform_admin))};
    const json::object bound = binding_spec(binding, now, user);
    EXA_TRY(put_binding(tx, bound, binding));
    also_wrote(deed, "role_binding", key_of(binding), bound);
    json::object used = *stored;
    used["used_at"] = format_rfc3339(now);
    EXA_TRY(tx.change("UPDATE setup_code SET spec = $1, used_at = $2 WHERE name = 'setup'",
                      {to_text(used), time_column(used, "used_at")}));
    also_wrote(deed, "setup_code", "setup", used);
    Answer done;
    done.status = 201;
    done.body = public_user(spec);
    return done;
  });
  if (answer) attempts.succeeded("", caller.origin);
  return answer;
}

Result<Principal> upsert_oidc_user(Service& service, const OidcIdentity& who,
                                   const std::string& origin) {
  const std::string oidc = fmt::format("{} {}", who.issuer, who.subject);
  std::optional<Principal> principal;
  const auto name_now = [&](Transaction& tx) -> Result<std::string> {
    EXA_ASSIGN(const auto known, find_document(tx, "account_user", "oidc", oidc));
    if (known) return std::string(text_or(*known, "name", ""));
    return free_name(tx, account_name_of(who));
  };
  EXA_ASSIGN(const std::string name, read_value<std::string>(service.store(), name_now));
  const Caller caller = caller_for(user_principal(name, {}), origin, "session.oidc");
  EXA_TRY(service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    const Time now = service.now();
    EXA_ASSIGN(const std::string still, name_now(tx));
    if (still != name)
      return fail(Code::conflict, "another account was made meanwhile; sign in again");
    EXA_ASSIGN(const auto known, find_document(tx, "account_user", "oidc", oidc));
    json::object spec = known.value_or(json::object());
    if (known) {
      if (!spec.at("disabled_at").is_null()) return nobody();
      deed.before = spec;
      if (!who.display_name.empty()) spec["display_name"] = who.display_name;
    } else {
      spec = new_user_spec(name, who.display_name, oidc, now, "oidc");
    }
    EXA_TRY(put_user(tx, spec));
    deed.object_kind = "user";
    deed.object_name = name;
    deed.after = spec;
    EXA_TRY(follow_groups(tx, deed, name, who.groups, now));
    EXA_ASSIGN(principal, active_user(tx, name));
    return Answer{};
  }));
  if (!principal) return nobody();
  return *std::move(principal);
}

}  // namespace exa
