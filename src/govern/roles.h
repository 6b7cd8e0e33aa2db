// Who may do what: roles, the table of actions, and the one function that decides. Pure. Semantics
// §9: default deny; what is not in the table is permitted to nobody.
//
// Every route of the API names an action of the table; where the action's scope is a project, the
// row of the route says which. Thread-safe: values and constants.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace exa {

// In one project. Each may do what the one before it may.
enum class Role { viewer, member, admin };
std::string_view name(Role role);
std::optional<Role> find_role(std::string_view name);

enum class PlatformRole { auditor, platform_admin };
std::string_view name(PlatformRole role);  // "auditor", "platform-admin"
std::optional<PlatformRole> find_platform_role(std::string_view name);

enum class Scope { platform, project };

// The least that an action asks for. `anyone` still has to be signed in; `nobody` need not be.
enum class Needs { nobody, anyone, viewer, member, admin, auditor, platform_admin };
std::string_view name(Needs needs);

struct ActionRule {
  std::string_view action;  // "hardware_profile:write"
  Scope scope = Scope::platform;
  Needs needs = Needs::platform_admin;
};
std::span<const ActionRule> action_rules();
const ActionRule* find_action(std::string_view action);  // nullptr: no such action

// What somebody holds. Empty: signed in, and no more.
struct Rights {
  bool platform_admin = false;  // everything, in every project
  bool auditor = false;         // reads the audit log, and no project
  std::map<std::string, Role> by_project;

  // A service account holds verbs instead of roles: these actions, in these projects.
  std::set<std::string> verbs;
  std::set<std::string> verb_projects;

  // What a token was narrowed to, whatever its owner holds; nullopt: not narrowed.
  std::optional<std::set<std::string>> only_actions;
  std::optional<std::set<std::string>> only_projects;

  bool operator==(const Rights&) const = default;
};

// The whole platform, as the owner of a data folder holds it.
Rights rights_of_owner();

// `project` counts for actions whose scope is a project, and is "" for the others.
bool permitted(const Rights& rights, std::string_view action, std::string_view project);

// A set of projects: all there are, or those that are named.
struct Projects {
  bool all = false;
  std::vector<std::string> names;  // sorted

  bool contains(std::string_view project) const;
  bool operator==(const Projects&) const = default;
};
Projects known_projects(const Rights& rights);
Projects permitting_projects(const Rights& rights, std::string_view action);

// Nobody grants what they lack. Each answers with what is lacking, one phrase an item; empty: none.
std::vector<std::string> lacking_for_role(const Rights& maker, Role role, std::string_view project);
std::vector<std::string> lacking_for_verbs(const Rights& maker, const std::set<std::string>& verbs,
                                           const std::set<std::string>& projects);

}  // namespace exa
