#include "service/users.h"

#include <map>

#include <fmt/format.h>

#include "service/account_rows.h"
#include "service/credentials.h"
#include "service/stored.h"
#include "service/visibility.h"

namespace exa {
namespace {

Result<void> name_is_free(Transaction& tx, const std::string& name) {
  EXA_ASSIGN(const auto user, find_document(tx, "account_user", "name", name));
  EXA_ASSIGN(const auto account, service_account_of(tx, name));
  if (!user && !account) return {};
  return fail(Code::conflict,
              fmt::format("there is a {} \"{}\" already; names are never given twice",
                          user ? "user" : "service account", name));
}

Result<void> is_current_password(Service& service, const Caller& caller,
                                 const std::string& current) {
  const std::string& user = caller.principal.name;
  AttemptLimiter& attempts = service.sign_in_attempts();
  EXA_TRY(attempts.admit(user, caller.origin, service.now()));
  EXA_ASSIGN(const std::string hash,
             read_value<std::string>(service.store(), [&](Transaction& tx) -> Result<std::string> {
               EXA_ASSIGN(const auto rows,
                          tx.rows("SELECT hash FROM user_password WHERE name = $1", {user}));
               return rows.empty() ? std::string() : rows[0].text(0);
             }));
  if (is_password(SecretText(current), hash)) {
    attempts.succeeded(user, caller.origin);
    return {};
  }
  return fail(Code::forbidden, "the current password is another one",
              "exa user password NAME --current-password-file FILE --password-file FILE");
}

json::object rights_json(const Rights& rights) {
  json::object projects;
  for (const auto& [project, role] : rights.by_project) projects[project] = name(role);
  json::value actions = nullptr;
  if (rights.only_actions)
    actions = json::array(rights.only_actions->begin(), rights.only_actions->end());
  json::value only_projects = nullptr;
  if (rights.only_projects)
    only_projects = json::array(rights.only_projects->begin(), rights.only_projects->end());
  return {{"platform_admin", rights.platform_admin},
          {"auditor", rights.auditor},
          {"roles", std::move(projects)},
          {"verbs", json::array(rights.verbs.begin(), rights.verbs.end())},
          {"verb_projects", json::array(rights.verb_projects.begin(), rights.verb_projects.end())},
          {"only_actions", std::move(actions)},
          {"only_projects", std::move(only_projects)}};
}

}  // namespace

json::object new_user_spec(const std::string& name, const std::string& display_name,
                           std::optional<std::string> oidc, Time now, const std::string& by) {
  return {{"name", name},
          {"display_name", display_name},
          {"oidc", oidc ? json::value(*oidc) : json::value(nullptr)},
          {"disabled_at", nullptr},
          {"created_at", format_rfc3339(now)},
          {"created_by", by}};
}

json::object public_user(const json::object& spec) {
  json::object user = spec;
  user.erase("oidc");
  user["signs_in_with"] = spec.at("oidc").is_null() ? "password" : "oidc";
  return user;
}

Result<Answer> create_user(Service& service, const Caller& caller, const CreateUser& what) {
  if (!is_account_name(what.name)) return fail(invalid("user", {bad_account_name()}));
  std::string hash;
  if (what.password) {
    const SecretText password(*what.password);
    EXA_TRY(check_password(password));
    EXA_ASSIGN(hash, hash_password(password));  // slow on purpose: not while others wait to write
  }
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_TRY(name_is_free(tx, what.name));
    const Time now = service.now();
    const json::object spec =
        new_user_spec(what.name, what.display_name, {}, now, caller.principal.name);
    EXA_TRY(put_user(tx, spec));
    deed.object_kind = "user";
    deed.object_name = what.name;
    deed.after = spec;
    if (!hash.empty()) EXA_TRY(put_password(tx, deed, what.name, hash, now));
    if (what.platform_role) {
      const Binding binding{"", "user", what.name, std::string(name(*what.platform_role))};
      const json::object bound = binding_spec(binding, now, caller.principal.name);
      EXA_TRY(put_binding(tx, bound, binding));
      also_wrote(deed, "role_binding", key_of(binding), bound);
      deed.details["role"] = binding.role;
    }
    Answer answer;
    answer.status = 201;
    answer.body = public_user(spec);
    return answer;
  });
}

Result<Answer> list_users(Service& service) {
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    EXA_ASSIGN(const auto rows,
               tx.rows("SELECT u.spec, b.role FROM account_user u LEFT JOIN role_binding b ON "
                       "b.subject = u.name AND b.subject_kind = 'user' AND b.project IS NULL ORDER "
                       "BY u.name"));
    json::array items;
    for (const Row& row : rows) {
      EXA_ASSIGN(const json::object spec, parse_stored_object(row.text(0), "stored user"));
      json::object user = public_user(spec);
      user["platform_role"] = row.is_null(1) ? json::value(nullptr) : json::value(row.text(1));
      items.emplace_back(std::move(user));
    }
    Answer answer;
    answer.body = {{"items", std::move(items)}, {"next_cursor", nullptr}};
    return answer;
  });
}

Result<Answer> show_user(Service& service, const std::string& name) {
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    EXA_ASSIGN(const json::object spec, find_user(tx, name));
    EXA_ASSIGN(const Rights rights, rights_of_user(tx, name));
    EXA_ASSIGN(const auto groups,
               tx.rows("SELECT group_name FROM group_member WHERE user_name = $1 ORDER BY "
                       "group_name",
                       {name}));
    json::array names;
    for (const Row& row : groups) names.emplace_back(row.text(0));
    Answer answer;
    answer.body = public_user(spec);
    answer.body["groups"] = std::move(names);
    answer.body["rights"] = rights_json(rights);
    return answer;
  });
}

Result<Answer> disable_user(Service& service, const Caller& caller, const std::string& name,
                            bool undo) {
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_ASSIGN(json::object spec, find_user(tx, name));
    if (!undo && caller.principal.kind == "user" && caller.principal.name == name) {
      return fail(Code::conflict, "you would disable yourself; another platform-admin can do it");
    }
    deed.object_kind = "user";
    deed.object_name = name;
    deed.before = spec;
    spec["disabled_at"] = undo ? json::value(nullptr) : time_or_null(service.now());
    EXA_TRY(put_user(tx, spec));
    if (!undo) EXA_TRY(end_sessions(tx, deed, name));
    deed.after = spec;
    deed.details["undo"] = undo;
    Answer answer;
    answer.body = public_user(spec);
    return answer;
  });
}

Result<Answer> set_password(Service& service, const Caller& caller, const std::string& name,
                            const std::string& password, const std::string& current) {
  const bool own = caller.principal.kind == "user" && caller.principal.name == name;
  if (!own && !permitted(caller.principal.rights, "user:write", ""))
    return fail(not_permitted(caller.principal, "user:write", "", {}));
  const SecretText secret(password);
  EXA_TRY(check_password(secret));
  if (own) EXA_TRY(is_current_password(service, caller, current));
  EXA_ASSIGN(const std::string hash, hash_password(secret));
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_ASSIGN(const json::object spec, find_user(tx, name));
    if (!spec.at("oidc").is_null())
      return fail(Code::conflict, fmt::format("{} signs in through OIDC", name));
    deed.object_kind = "user";
    deed.object_name = name;
    deed.before = spec;
    deed.after = spec;
    EXA_TRY(put_password(tx, deed, name, hash, service.now()));
    EXA_TRY(end_sessions(tx, deed, name));
    Answer answer;
    answer.body = public_user(spec);
    answer.notices.push_back(fmt::format("every session of {} has ended", name));
    return answer;
  });
}

Result<Answer> set_platform_role(Service& service, const Caller& caller,
                                 const std::string& subject_kind, const std::string& name,
                                 std::optional<PlatformRole> role) {
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_TRY(subject_kind == "group" ? find_group(tx, name) : find_user(tx, name));
    const Binding binding{"", subject_kind, name, role ? std::string(exa::name(*role)) : ""};
    EXA_ASSIGN(const auto before, find_binding(tx, binding));
    deed.object_kind = "role_binding";
    deed.object_name = key_of(binding);
    if (before) deed.before = *before;
    if (role) {
      const json::object spec = binding_spec(binding, service.now(), caller.principal.name);
      EXA_TRY(put_binding(tx, spec, binding));
      deed.after = spec;
    } else {
      EXA_TRY(drop_binding(tx, binding));
    }
    Answer answer;
    answer.body = {{"name", name},
                   {"kind", subject_kind},
                   {"platform_role", role ? json::value(exa::name(*role)) : json::value(nullptr)}};
    return answer;
  });
}

Result<Answer> create_group(Service& service, const Caller& caller, const std::string& name,
                            const std::string& oidc_group) {
  if (!is_account_name(name)) return fail(invalid("group", {bad_account_name()}));
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_ASSIGN(const auto same, find_document(tx, "account_group", "name", name));
    if (same) {
      return fail(Code::conflict, fmt::format("there is a group \"{}\" already", name),
                  "exa group list");
    }
    const json::object spec{
        {"name", name},
        {"oidc_group", oidc_group.empty() ? json::value(nullptr) : json::value(oidc_group)},
        {"created_at", format_rfc3339(service.now())},
        {"created_by", caller.principal.name}};
    EXA_TRY(tx.change("INSERT INTO account_group (name, spec, oidc_group) VALUES ($1, $2, $3)",
                      {name, to_text(spec), text_column(spec, "oidc_group")}));
    deed.object_kind = "group";
    deed.object_name = name;
    deed.after = spec;
    Answer answer;
    answer.status = 201;
    answer.body = spec;
    answer.body["members"] = json::array();
    return answer;
  });
}

Result<Answer> list_groups(Service& service) {
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    EXA_ASSIGN(const auto rows, tx.rows("SELECT spec FROM account_group ORDER BY name"));
    EXA_ASSIGN(const auto members, tx.rows("SELECT group_name, user_name FROM group_member ORDER "
                                           "BY group_name, user_name"));
    std::map<std::string, json::array> by_group;
    for (const Row& row : members) by_group[row.text(0)].emplace_back(row.text(1));
    json::array items;
    for (const Row& row : rows) {
      EXA_ASSIGN(json::object spec, parse_stored_object(row.text(0), "stored group"));
      spec["members"] = std::move(by_group[std::string(text_or(spec, "name", ""))]);
      items.emplace_back(std::move(spec));
    }
    Answer answer;
    answer.body = {{"items", std::move(items)}, {"next_cursor", nullptr}};
    return answer;
  });
}

Result<Answer> change_group(Service& service, const Caller& caller, const std::string& group,
                            const std::string& user, bool add) {
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_ASSIGN(const json::object spec, find_group(tx, group));
    EXA_TRY(find_user(tx, user));
    EXA_ASSIGN(const auto member,
               find_document(tx, "group_member", "name", member_key(group, user)));
    deed.object_kind = "group";
    deed.object_name = group;
    deed.after = spec;  // it is as it was; its member is beside it
    deed.details["user"] = user;
    Answer answer;
    answer.body = {{"name", group}, {"user", user}, {"member", add}};
    if (member.has_value() == add) {
      answer.notices.push_back(
          fmt::format("{} {} in {}", user, add ? "is already" : "is not", group));
      return answer;
    }
    if (add) {
      EXA_TRY(put_group_member(tx, deed, group, user,
                               {{"name", member_key(group, user)},
                                {"group", group},
                                {"user", user},
                                {"from", "admin"},
                                {"added_at", format_rfc3339(service.now())},
                                {"added_by", caller.principal.name}}));
    } else {
      EXA_TRY(drop_group_member(tx, deed, group, user));
    }
    if (!spec.at("oidc_group").is_null()) {
      answer.notices.push_back(
          fmt::format("{} follows the provider's group {}: the next sign-in decides again", group,
                      text_or(spec, "oidc_group", "")));
    }
    return answer;
  });
}

Result<Answer> who_am_i(const Caller& caller) {
  const Principal& who = caller.principal;
  Answer answer;
  answer.body = {{"kind", who.kind},
                 {"name", who.name},
                 {"token", who.token.empty() ? json::value(nullptr) : json::value(who.token)},
                 {"valid_until", time_or_null(who.valid_until)},
                 {"rights", rights_json(who.rights)}};
  return answer;
}

}  // namespace exa
