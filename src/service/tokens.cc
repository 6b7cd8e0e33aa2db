#include "service/tokens.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "service/account_rows.h"
#include "service/credentials.h"
#include "service/profile_rows.h"
#include "service/stored.h"
#include "service/visibility.h"

namespace exa {
namespace {

json::value array_or_null(const std::optional<std::set<std::string>>& texts) {
  return texts ? json::value(json::array(texts->begin(), texts->end())) : json::value(nullptr);
}

std::vector<Problem> unknown_actions(const std::set<std::string>& actions, std::string_view where) {
  std::vector<std::string> known;
  for (const ActionRule& rule : action_rules()) known.emplace_back(rule.action);
  std::vector<Problem> problems;
  for (const std::string& action : actions) {
    if (find_action(action) == nullptr) {
      problems.push_back({std::string(where),
                          fmt::format("\"{}\" is no action; they read like hardware_profile:read",
                                      printable(action)),
                          did_you_mean(action, known)});
    }
  }
  return problems;
}

Failure lacks(const Principal& who, const std::vector<std::string>& lacking) {
  return fail(Code::forbidden, fmt::format("nobody gives what they lack: {} may not do {}",
                                           who.name, join(lacking, ", ")));
}

Error no_such_account(const std::string& name) {
  return {Code::not_found,
          fmt::format("there is no service account \"{}\"", printable(name)),
          {},
          "exa service-account list",
          {}};
}

// Whoever administers every project of an account, and holds each of its verbs, manages it.
bool manages(const Rights& rights, const json::object& account) {
  const Rights held = rights_of_service_account(account);
  if (held.verb_projects.empty() && !permitted(rights, "user:write", "")) return false;
  for (const std::string& project : held.verb_projects)
    if (!permitted(rights, "project_member:write", project)) return false;
  return lacking_for_verbs(rights, held.verbs, held.verb_projects).empty();
}

Result<std::vector<json::object>> managed_accounts(Transaction& tx, const Rights& rights) {
  EXA_ASSIGN(const auto rows, tx.rows("SELECT spec FROM service_account ORDER BY name"));
  std::vector<json::object> accounts;
  for (const Row& row : rows) {
    EXA_ASSIGN(json::object spec, parse_stored_object(row.text(0), "stored service account"));
    if (manages(rights, spec)) accounts.push_back(std::move(spec));
  }
  return accounts;
}

// Tokens that the caller may list and revoke, as a condition.
Result<std::string> own_tokens(Transaction& tx, const Caller& caller, std::vector<Value>& values) {
  if (permitted(caller.principal.rights, "user:write", "")) return std::string("1 = 1");
  values.emplace_back(caller.principal.kind);
  values.emplace_back(caller.principal.name);
  std::string condition =
      fmt::format("(owner_kind = ${} AND owner = ${}", values.size() - 1, values.size());
  EXA_ASSIGN(const auto accounts, managed_accounts(tx, caller.principal.rights));
  for (const json::object& account : accounts) {
    values.emplace_back(std::string(text_or(account, "name", "")));
    condition += fmt::format(" OR (owner_kind = 'service-account' AND owner = ${})", values.size());
  }
  return condition + ")";
}

json::object public_token(const json::object& spec, const Value& last_used) {
  json::object token = spec;
  token.erase("sha256");
  const auto* used = std::get_if<int64_t>(&last_used);
  token["last_used"] =
      used == nullptr ? json::value(nullptr) : json::value(format_rfc3339(Time{*used}));
  return token;
}

struct Owner {
  std::string kind;
  std::string name;
  Rights rights;
};

Result<Owner> owner_of(Transaction& tx, const Caller& caller, const CreateToken& what) {
  const Principal& who = caller.principal;
  if (what.service_account.empty() && who.kind == "os-user") {
    return fail(Code::invalid_input,
                "the operating-system user of a data folder has no account that a token could be "
                "for; name a service account",
                "exa token create NAME --for ACCOUNT");
  }
  if (what.service_account.empty()) return Owner{who.kind, who.name, who.rights};
  EXA_ASSIGN(const auto account, service_account_of(tx, what.service_account));
  const bool own = who.kind == "service-account" && who.name == what.service_account;
  if (!account || (!own && !manages(who.rights, *account))) {
    return fail(no_such_account(what.service_account));
  }
  if (!account->at("disabled_at").is_null()) {
    return fail(Code::conflict, fmt::format("{} is disabled", what.service_account),
                fmt::format("exa service-account disable {} --undo", what.service_account));
  }
  return Owner{"service-account", what.service_account, rights_of_service_account(*account)};
}

// What the token would hold, or why its maker may not make it.
Result<void> check_scope(Transaction& tx, const Caller& caller, const Owner& owner,
                         const CreateToken& what) {
  std::vector<std::string> lacking;
  for (const std::string& action : what.scopes.value_or(std::set<std::string>())) {
    const auto holds = [&](const Rights& rights) {
      const ActionRule* rule = find_action(action);
      if (rule->scope == Scope::platform) return permitted(rights, action, "");
      const Projects where = permitting_projects(rights, action);
      return where.all || !where.names.empty();
    };
    if (!holds(caller.principal.rights) || !holds(owner.rights)) lacking.push_back(action);
  }
  if (!lacking.empty()) return lacks(caller.principal, lacking);
  const Projects theirs = known_projects(owner.rights);
  for (const std::string& project : what.projects.value_or(std::set<std::string>())) {
    EXA_TRY(require_known(caller, project));
    EXA_TRY(require_project(tx, project));
    if (!theirs.contains(project)) return fail(no_such_project(project, theirs.names));
  }
  return {};
}

// A token made with a token is no wider than the one it was made with.
std::optional<std::set<std::string>> narrowed(const std::optional<std::set<std::string>>& given,
                                              const std::optional<std::set<std::string>>& maker) {
  return given ? given : maker;
}

}  // namespace

Result<Answer> create_service_account(Service& service, const Caller& caller,
                                      const CreateServiceAccount& what) {
  std::vector<Problem> problems = unknown_actions(what.verbs, "/verbs");
  if (!is_account_name(what.name)) problems.push_back(bad_account_name());
  if (what.verbs.empty()) problems.push_back({"/verbs", "names no action", ""});
  if (!problems.empty()) return fail(invalid("service account", std::move(problems)));
  const Rights& rights = caller.principal.rights;
  for (const std::string& project : what.projects) EXA_TRY(require_known(caller, project));
  std::vector<std::string> lacking = lacking_for_verbs(rights, what.verbs, what.projects);
  for (const std::string& project : what.projects) {
    if (!permitted(rights, "project_member:write", project))
      lacking.push_back(fmt::format("project_member:write in {}", project));
  }
  if (what.projects.empty() && !permitted(rights, "user:write", ""))
    lacking.emplace_back("user:write (name the account's projects)");
  if (!lacking.empty()) return lacks(caller.principal, lacking);
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_ASSIGN(const auto user, find_document(tx, "account_user", "name", what.name));
    EXA_ASSIGN(const auto same, service_account_of(tx, what.name));
    if (user || same) {
      return fail(Code::conflict,
                  fmt::format("the name \"{}\" is taken; names are never given twice", what.name));
    }
    for (const std::string& project : what.projects) {
      EXA_ASSIGN(const auto there, tx.rows("SELECT 1 FROM project WHERE name = $1", {project}));
      if (there.empty()) return fail(no_such_project(project, caller.known.names));
    }
    const json::object spec{{"name", what.name},
                            {"verbs", json::array(what.verbs.begin(), what.verbs.end())},
                            {"projects", json::array(what.projects.begin(), what.projects.end())},
                            {"disabled_at", nullptr},
                            {"created_at", format_rfc3339(service.now())},
                            {"created_by", caller.principal.name}};
    EXA_TRY(tx.change("INSERT INTO service_account (name, spec, disabled_at) VALUES ($1, $2, NULL)",
                      {what.name, to_text(spec)}));
    deed.object_kind = "service_account";
    deed.object_name = what.name;
    deed.after = spec;
    Answer answer;
    answer.status = 201;
    answer.body = spec;
    return answer;
  });
}

Result<Answer> disable_service_account(Service& service, const Caller& caller,
                                       const std::string& name, bool undo) {
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_ASSIGN(auto account, service_account_of(tx, name));
    if (!account || !manages(caller.principal.rights, *account)) return fail(no_such_account(name));
    deed.object_kind = "service_account";
    deed.object_name = name;
    deed.before = *account;
    json::object& spec = *account;
    spec["disabled_at"] = undo ? json::value(nullptr) : time_or_null(service.now());
    EXA_TRY(tx.change("UPDATE service_account SET spec = $2, disabled_at = $3 WHERE name = $1",
                      {name, to_text(spec), time_column(spec, "disabled_at")}));
    deed.after = spec;
    deed.details["undo"] = undo;
    Answer answer;
    answer.body = spec;
    return answer;
  });
}

Result<Answer> list_service_accounts(Service& service, const Caller& caller) {
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    EXA_ASSIGN(auto accounts, managed_accounts(tx, caller.principal.rights));
    json::array items;
    for (json::object& account : accounts) items.emplace_back(std::move(account));
    Answer answer;
    answer.body = {{"items", std::move(items)}, {"next_cursor", nullptr}};
    return answer;
  });
}

Result<Answer> create_token(Service& service, const Caller& caller, const CreateToken& what) {
  std::vector<Problem> problems =
      unknown_actions(what.scopes.value_or(std::set<std::string>()), "/scope");
  if (what.lifetime < minutes(1) || what.lifetime > kLongestToken)
    problems.push_back({"/expires", "is not between 1m and 90d", ""});
  if (!is_account_name(what.name)) problems.push_back(bad_account_name());
  if (!problems.empty()) return fail(invalid("token", std::move(problems)));
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_ASSIGN(const Owner owner, owner_of(tx, caller, what));
    EXA_TRY(check_scope(tx, caller, owner, what));
    const Time now = service.now();
    Time expires{now.micros + what.lifetime.micros};
    Answer answer;
    if (caller.principal.valid_until && *caller.principal.valid_until < expires) {
      expires = *caller.principal.valid_until;
      answer.notices.emplace_back("it ends with the token that it was made with");
    }
    const SecretText secret = new_token();
    const std::string id = service.around().new_id();
    const Rights& maker = caller.principal.rights;
    const json::object spec{
        {"id", id},
        {"name", what.name},
        {"prefix", prefix_of_token(secret.reveal())},
        {"sha256", hash_of_secret(secret.reveal())},
        {"owner_kind", owner.kind},
        {"owner", owner.name},
        {"scopes", array_or_null(narrowed(what.scopes, maker.only_actions))},
        {"projects", array_or_null(narrowed(what.projects, maker.only_projects))},
        {"created_at", format_rfc3339(now)},
        {"created_by", caller.principal.name},
        {"expires_at", format_rfc3339(expires)},
        {"revoked_at", nullptr}};
    EXA_TRY(tx.change(
        "INSERT INTO access_token (id, spec, sha256, owner_kind, owner, expires_at, revoked_at, "
        "last_used) VALUES ($1, $2, $3, $4, $5, $6, NULL, NULL)",
        {id, to_text(spec), std::string(text_or(spec, "sha256", "")), owner.kind, owner.name,
         expires.micros}));
    deed.object_kind = "token";
    deed.object_name = id;
    deed.after = spec;
    deed.details["name"] = what.name;
    deed.details["owner"] = owner.name;
    answer.status = 201;
    answer.body = public_token(spec, nullptr);
    answer.body["token"] = caller.dry_run ? json::value(nullptr) : json::value(secret.reveal());
    answer.shown_once = "token";
    answer.notices.emplace_back("the token is shown this once; keep it where others cannot read");
    return answer;
  });
}

Result<Answer> list_tokens(Service& service, const Caller& caller) {
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    std::vector<Value> values;
    EXA_ASSIGN(const std::string condition, own_tokens(tx, caller, values));
    EXA_ASSIGN(const auto rows,
               tx.rows(fmt::format("SELECT spec, last_used FROM access_token WHERE {} ORDER BY id",
                                   condition),
                       std::span<const Value>(values)));
    json::array items;
    for (const Row& row : rows) {
      EXA_ASSIGN(const json::object spec, parse_stored_object(row.text(0), "stored token"));
      items.emplace_back(
          public_token(spec, row.is_null(1) ? Value(nullptr) : Value(row.integer(1))));
    }
    Answer answer;
    answer.body = {{"items", std::move(items)}, {"next_cursor", nullptr}};
    return answer;
  });
}

Result<Answer> revoke_token(Service& service, const Caller& caller, const std::string& id) {
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    std::vector<Value> values{id};
    EXA_ASSIGN(const std::string condition, own_tokens(tx, caller, values));
    EXA_ASSIGN(const auto rows,
               tx.rows(fmt::format("SELECT spec, last_used FROM access_token WHERE id = $1 AND {}",
                                   condition),
                       std::span<const Value>(values)));
    if (rows.empty()) {
      return fail(Code::not_found, fmt::format("there is no token \"{}\"", printable(id)),
                  "exa token list");
    }
    EXA_ASSIGN(json::object spec, parse_stored_object(rows[0].text(0), "stored token"));
    deed.object_kind = "token";
    deed.object_name = id;
    deed.before = spec;
    Answer answer;
    if (spec.at("revoked_at").is_null()) {
      spec["revoked_at"] = format_rfc3339(service.now());
      EXA_TRY(tx.change("UPDATE access_token SET spec = $2, revoked_at = $3 WHERE id = $1",
                        {id, to_text(spec), time_column(spec, "revoked_at")}));
    } else {
      answer.notices.push_back(
          fmt::format("it was revoked at {} already", text_or(spec, "revoked_at", "")));
    }
    deed.after = spec;
    deed.details["name"] = spec.at("name");
    answer.body =
        public_token(spec, rows[0].is_null(1) ? Value(nullptr) : Value(rows[0].integer(1)));
    return answer;
  });
}

}  // namespace exa
