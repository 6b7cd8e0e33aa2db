// Accounts in the store: users, groups, service accounts, role bindings. Every function is one step
// inside the caller's transaction. Rows are whole documents, as in audit_replay's table.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json_or_null.h"
#include "service/service.h"

namespace exa {

// 1 to 128 of a-z, 0-9, '.', '_', '@' and '-', beginning with a letter or digit.
bool is_account_name(std::string_view text);
Problem bad_account_name();

// The document of a row, if there is one.
Result<std::optional<json::object>> find_document(Transaction& tx, std::string_view table,
                                                  std::string_view key, const std::string& name);
// Members of a document that are times or null.
Value time_column(const json::object& spec, std::string_view key);  // micros or NULL
Value text_column(const json::object& spec, std::string_view key);  // text or NULL
std::vector<std::string> texts_of(const json::object& spec, std::string_view key);

// not_found names close spellings.
Result<json::object> find_user(Transaction& tx, const std::string& name);
Result<json::object> find_group(Transaction& tx, const std::string& name);
Result<std::optional<json::object>> service_account_of(Transaction& tx, const std::string& name);

// Insert or replace.
Result<void> put_user(Transaction& tx, const json::object& spec);
Result<void> put_password(Transaction& tx, Deed& deed, const std::string& user,
                          const std::string& hash, Time now);

// A role of a user or group, in a project or (empty) on the platform; one at most of each.
struct Binding {
  std::string project;
  std::string subject_kind;  // "user", "group"
  std::string subject;
  std::string role;
};
std::string key_of(const Binding& binding);
json::object binding_spec(const Binding& binding, Time now, const std::string& by);
Result<void> put_binding(Transaction& tx, const json::object& spec, const Binding& binding);
Result<std::optional<json::object>> find_binding(Transaction& tx, const Binding& binding);
Result<void> drop_binding(Transaction& tx, const Binding& binding);

Result<void> put_group_member(Transaction& tx, Deed& deed, const std::string& group,
                              const std::string& user, const json::object& spec);
Result<void> drop_group_member(Transaction& tx, Deed& deed, const std::string& group,
                               const std::string& user);
std::string member_key(const std::string& group, const std::string& user);

// What somebody holds now, directly and through groups.
Result<Rights> rights_of_user(Transaction& tx, const std::string& name);
Rights rights_of_service_account(const json::object& spec);

// Ends every session of a user; each goes into the deed.
Result<void> end_sessions(Transaction& tx, Deed& deed, const std::string& user);

}  // namespace exa
