#include "service/account_rows.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/json_or_null.h"
#include "base/text.h"
#include "service/stored.h"

namespace exa {
namespace {

Result<std::vector<std::string>> names_in(Transaction& tx, std::string_view table) {
  EXA_ASSIGN(const auto rows, tx.rows(fmt::format("SELECT name FROM {} ORDER BY name", table)));
  std::vector<std::string> names;
  for (const Row& row : rows) names.push_back(row.text(0));
  return names;
}

Result<json::object> find_account(Transaction& tx, std::string_view table, std::string_view what,
                                  const std::string& name) {
  EXA_ASSIGN(auto found, find_document(tx, table, "name", name));
  if (found) return *std::move(found);
  EXA_ASSIGN(const auto names, names_in(tx, table));
  Error error;
  error.code = Code::not_found;
  error.message = fmt::format("there is no {} \"{}\"", what, printable(name));
  error.alternatives = close_matches(name, names);
  error.next = fmt::format("exa {} list", what);
  return fail(std::move(error));
}

}  // namespace

bool is_account_name(std::string_view text) {
  const auto alphanumeric = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !text.empty() && text.size() <= 128 && alphanumeric(text.front()) &&
         std::ranges::all_of(text, [&](char c) {
           return alphanumeric(c) || std::string_view("._@-").find(c) != std::string_view::npos;
         });
}

Problem bad_account_name() {
  return {"/name", "is not 1 to 128 of a-z, 0-9, '.', '_', '@' and '-', a letter or digit first",
          ""};
}

Result<std::optional<json::object>> find_document(Transaction& tx, std::string_view table,
                                                  std::string_view key, const std::string& name) {
  std::optional<json::object> none;
  EXA_ASSIGN(const auto rows,
             tx.rows(fmt::format("SELECT spec FROM {} WHERE {} = $1", table, key), {name}));
  if (rows.empty()) return none;
  EXA_ASSIGN(json::object spec, parse_stored_object(rows[0].text(0), table));
  return std::optional(std::move(spec));
}

Value time_column(const json::object& spec, std::string_view key) {
  const auto time = parse_rfc3339(text_or(spec, key, ""));
  return time ? Value(time->micros) : Value(nullptr);
}

Value text_column(const json::object& spec, std::string_view key) {
  const json::value* value = spec.if_contains(key);
  if (value == nullptr || !value->is_string()) return nullptr;
  return std::string(value->get_string());
}

std::vector<std::string> texts_of(const json::object& spec, std::string_view key) {
  std::vector<std::string> texts;
  const json::value* list = spec.if_contains(key);
  if (list == nullptr || !list->is_array()) return texts;
  for (const json::value& one : list->get_array())
    if (one.is_string()) texts.emplace_back(one.get_string());
  return texts;
}

Result<json::object> find_user(Transaction& tx, const std::string& name) {
  return find_account(tx, "account_user", "user", name);
}

Result<json::object> find_group(Transaction& tx, const std::string& name) {
  return find_account(tx, "account_group", "group", name);
}

Result<std::optional<json::object>> service_account_of(Transaction& tx, const std::string& name) {
  return find_document(tx, "service_account", "name", name);
}

Result<void> put_user(Transaction& tx, const json::object& spec) {
  EXA_TRY(tx.change(
      "INSERT INTO account_user (name, spec, oidc, disabled_at) VALUES ($1, $2, $3, $4) ON "
      "CONFLICT (name) DO UPDATE SET spec = $2, oidc = $3, disabled_at = $4",
      {std::string(text_or(spec, "name", "")), to_text(spec), text_column(spec, "oidc"),
       time_column(spec, "disabled_at")}));
  return {};
}

Result<void> put_password(Transaction& tx, Deed& deed, const std::string& user,
                          const std::string& hash, Time now) {
  const json::object spec{{"name", user}, {"hash", hash}, {"set_at", format_rfc3339(now)}};
  EXA_TRY(
      tx.change("INSERT INTO user_password (name, spec, hash) VALUES ($1, $2, $3) ON CONFLICT "
                "(name) DO UPDATE SET spec = $2, hash = $3",
                {user, to_text(spec), hash}));
  also_wrote(deed, "user_password", user, spec);
  return {};
}

std::string key_of(const Binding& binding) {
  return fmt::format("{}/{}/{}", binding.project.empty() ? "*" : binding.project,
                     binding.subject_kind, binding.subject);
}

json::object binding_spec(const Binding& binding, Time now, const std::string& by) {
  return {
      {"name", key_of(binding)},
      {"project", binding.project.empty() ? json::value(nullptr) : json::value(binding.project)},
      {"subject_kind", binding.subject_kind},
      {"subject", binding.subject},
      {"role", binding.role},
      {"given_at", format_rfc3339(now)},
      {"given_by", by}};
}

Result<void> put_binding(Transaction& tx, const json::object& spec, const Binding& binding) {
  EXA_TRY(
      tx.change("INSERT INTO role_binding (name, spec, project, subject_kind, subject, role) "
                "VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (name) DO UPDATE SET spec = $2, "
                "role = $6",
                {key_of(binding), to_text(spec), text_column(spec, "project"), binding.subject_kind,
                 binding.subject, binding.role}));
  return {};
}

Result<std::optional<json::object>> find_binding(Transaction& tx, const Binding& binding) {
  return find_document(tx, "role_binding", "name", key_of(binding));
}

Result<void> drop_binding(Transaction& tx, const Binding& binding) {
  EXA_TRY(tx.change("DELETE FROM role_binding WHERE name = $1", {key_of(binding)}));
  return {};
}

std::string member_key(const std::string& group, const std::string& user) {
  return group + "/" + user;
}

Result<void> put_group_member(Transaction& tx, Deed& deed, const std::string& group,
                              const std::string& user, const json::object& spec) {
  EXA_TRY(
      tx.change("INSERT INTO group_member (name, spec, group_name, user_name) VALUES ($1, $2, "
                "$3, $4)",
                {member_key(group, user), to_text(spec), group, user}));
  also_wrote(deed, "group_member", member_key(group, user), spec);
  return {};
}

Result<void> drop_group_member(Transaction& tx, Deed& deed, const std::string& group,
                               const std::string& user) {
  EXA_TRY(tx.change("DELETE FROM group_member WHERE name = $1", {member_key(group, user)}));
  also_removed(deed, "group_member", member_key(group, user));
  return {};
}

Result<Rights> rights_of_user(Transaction& tx, const std::string& name) {
  EXA_ASSIGN(const auto rows,
             tx.rows("SELECT project, role FROM role_binding WHERE (subject_kind = 'user' AND "
                     "subject = $1) OR (subject_kind = 'group' AND subject IN (SELECT group_name "
                     "FROM group_member WHERE user_name = $1))",
                     {name}));
  Rights rights;
  for (const Row& row : rows) {
    if (row.is_null(0)) {
      const auto role = find_platform_role(row.text(1));
      if (role == PlatformRole::platform_admin) rights.platform_admin = true;
      if (role == PlatformRole::auditor) rights.auditor = true;
      continue;
    }
    const auto role = find_role(row.text(1));
    if (!role) continue;  // from a newer exa: a role that is not known gives nothing
    const auto [held, first] = rights.by_project.emplace(row.text(0), *role);
    if (!first) held->second = std::max(held->second, *role);
  }
  return rights;
}

Rights rights_of_service_account(const json::object& spec) {
  Rights rights;
  for (std::string& verb : texts_of(spec, "verbs")) rights.verbs.insert(std::move(verb));
  for (std::string& project : texts_of(spec, "projects"))
    rights.verb_projects.insert(std::move(project));
  return rights;
}

Result<void> end_sessions(Transaction& tx, Deed& deed, const std::string& user) {
  EXA_ASSIGN(const auto rows,
             tx.rows("SELECT id FROM sign_in_session WHERE user_name = $1", {user}));
  for (const Row& row : rows) also_removed(deed, "session", row.text(0));
  EXA_TRY(tx.change("DELETE FROM sign_in_session WHERE user_name = $1", {user}));
  return {};
}

}  // namespace exa
