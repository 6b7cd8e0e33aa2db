#include "service/visibility.h"

#include <fmt/format.h>

#include "base/text.h"

namespace exa {

Error no_such_project(const std::string& project, const std::vector<std::string>& known) {
  Error error;
  error.code = Code::not_found;
  error.message = fmt::format("there is no project \"{}\"", printable(project));
  error.alternatives = close_matches(project, known);
  error.next = "exa project list";
  return error;
}

Result<void> require_known(const Caller& caller, const std::string& project) {
  if (caller.known.contains(project)) return {};
  return fail(no_such_project(project, caller.known.names));
}

Error not_permitted(const Principal& who, std::string_view action, const std::string& project,
                    const std::vector<std::string>& admins) {
  const ActionRule* rule = find_action(action);
  Error error;
  error.code = Code::forbidden;
  const bool narrowed =
      who.rights.only_actions && !who.rights.only_actions->contains(std::string(action));
  if (narrowed) {
    error.message = fmt::format("this token was not made for {}", action);
    error.next = fmt::format("exa token create NAME --scope {}", action);
    return error;
  }
  const bool of_project = !project.empty() && rule != nullptr && rule->scope == Scope::project &&
                          rule->needs != Needs::platform_admin;
  if (!of_project) {
    error.message = fmt::format(
        "{} may not do {}: it needs the role {}, which a platform-admin gives", who.name, action,
        rule == nullptr || rule->needs == Needs::anyone ? "platform-admin" : name(rule->needs));
    return error;
  }
  const std::string whom = admins.empty() ? std::string("a platform-admin gives")
                                          : fmt::format("{} can give", join(admins, ", "));
  if (!who.rights.verbs.empty()) {
    error.message = fmt::format("the service account {} was not given {} in project {}; {} it",
                                who.name, action, project, whom);
  } else {
    error.message = fmt::format("{} may not do {} in project {}: it needs the role {}, which {}",
                                who.name, action, project, name(rule->needs), whom);
  }
  error.next = fmt::format("exa project members list {}", project);
  return error;
}

Result<void> require_permitted(Transaction& tx, const Caller& caller, std::string_view action,
                               const std::string& project) {
  if (caller.permitted.contains(project)) return {};
  EXA_ASSIGN(const auto admins, admins_of(tx, project));
  return fail(not_permitted(caller.principal, action, project, admins));
}

std::string in_projects(const Projects& projects, std::string_view column,
                        std::vector<Value>& values) {
  if (projects.all) return "1 = 1";
  if (projects.names.empty()) return "1 = 0";
  std::string list;
  for (const std::string& project : projects.names) {
    values.emplace_back(project);
    list += fmt::format("{}${}", list.empty() ? "" : ", ", values.size());
  }
  return fmt::format("{} IN ({})", column, list);
}

Result<std::vector<std::string>> admins_of(Transaction& tx, const std::string& project) {
  EXA_ASSIGN(
      const auto rows,
      tx.rows("SELECT b.subject AS who FROM role_binding b WHERE b.project = $1 AND b.role = "
              "'admin' AND b.subject_kind = 'user' UNION SELECT m.user_name AS who FROM "
              "role_binding b JOIN group_member m ON m.group_name = b.subject WHERE b.project = $1 "
              "AND b.role = 'admin' AND b.subject_kind = 'group' ORDER BY who",
              {project}));
  std::vector<std::string> names;
  for (const Row& row : rows) names.push_back(row.text(0));
  return names;
}

}  // namespace exa
