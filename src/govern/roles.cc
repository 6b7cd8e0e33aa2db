#include "govern/roles.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/error.h"

namespace exa {
namespace {

using enum Needs;
constexpr Scope kPlatform = Scope::platform;
constexpr Scope kProject = Scope::project;

constexpr auto kRules = std::to_array<ActionRule>({
    // what the platform shows to whoever is signed in, and lets its admins change
    {"cluster:read", kPlatform, anyone},
    {"cluster:write", kPlatform, platform_admin},
    {"cluster:delete", kPlatform, platform_admin},
    {"cluster:discover", kPlatform, platform_admin},
    {"pool:read", kPlatform, anyone},
    {"pool:write", kPlatform, platform_admin},
    {"engine:write", kPlatform, platform_admin},
    {"machine:read", kPlatform, anyone},
    {"machine:write", kPlatform, platform_admin},
    {"provisioner:read", kPlatform, platform_admin},  // folders of the machine of exa
    {"provisioner:write", kPlatform, platform_admin},
    {"environment_template:read", kPlatform, anyone},
    {"environment_template:write", kPlatform, platform_admin},  // what exa runs
    {"machine:report", kPlatform, platform_admin},              // agents have it as a verb
    {"manifest:explain", kPlatform, anyone},
    {"burst_policy:read", kPlatform, anyone},
    {"burst_policy:write", kPlatform, platform_admin},
    {"simulation:run", kPlatform, anyone},
    {"project:read", kPlatform, anyone},  // the list; each sees their own in it
    {"project:create", kPlatform, platform_admin},
    {"audit:read", kPlatform, auditor},
    {"backup:write", kPlatform, platform_admin},
    {"audit:recover", kPlatform, platform_admin},
    {"user:read", kPlatform, platform_admin},
    {"user:write", kPlatform, platform_admin},
    {"group:read", kPlatform, platform_admin},
    {"group:write", kPlatform, platform_admin},
    {"event:read", kPlatform, anyone},       // each sees what changed in their projects
    {"status:read", kPlatform, anyone},      // likewise
    {"operation:read", kPlatform, anyone},   // one's own
    {"operation:write", kPlatform, anyone},  // one's own
    {"self:read", kPlatform, anyone},
    {"self:write", kPlatform, anyone},
    {"token:read", kPlatform, anyone},             // one's own
    {"token:write", kPlatform, anyone},            // one's own, and never more than one holds
    {"service_account:read", kPlatform, anyone},   // of projects that one administers
    {"service_account:write", kPlatform, anyone},  // never more than one holds
    {"setup:use", kPlatform, nobody},              // the setup code is the proof
    // in a project
    {"hardware_profile:read", kProject, viewer},
    {"hardware_profile:write", kProject, admin},
    {"hardware_profile:delete", kProject, admin},
    {"hardware_profile:share", kProject, admin},
    {"consumer:write", kProject, member},
    {"placement:read", kProject, viewer},
    {"placement:plan", kProject, viewer},   // advice: it takes nothing
    {"placement:write", kProject, member},  // takes and gives back devices
    {"burst:read", kProject, viewer},
    {"burst:write", kProject, member},
    {"launch:read", kProject, viewer},
    {"launch:write", kProject, member},
    {"manifest:read", kProject, viewer},
    {"manifest:write", kProject, member},        // what its kind asks for comes on top
    {"compute_profile:read", kProject, viewer},  // each sees what is published to them
    {"compute_profile:write", kProject, admin},  // of manifests all kinds but ML platforms
    {"instance:read", kProject, viewer},
    {"instance:write", kProject, member},  // one's own; those of others ask for manage
    {"instance:manage", kProject, admin},
    {"mlplatform:read", kProject, viewer},
    {"mlplatform:write", kProject, member},
    {"usage:read", kProject, viewer},
    {"project_member:read", kProject, viewer},
    {"project_member:write", kProject, admin},
    {"project_limits:read", kProject, viewer},
    {"project_limits:write", kProject, admin},
    // how far data may go is not for a project to loosen
    {"project_residency:write", kProject, platform_admin},
});

bool holds_role(const Rights& rights, Needs needs, std::string_view project) {
  const auto held = rights.by_project.find(std::string(project));
  if (held == rights.by_project.end()) return false;
  switch (needs) {
    case viewer:
      return true;
    case member:
      return held->second >= Role::member;
    case admin:
      return held->second >= Role::admin;
    default:
      return false;
  }
}

// By roles and verbs alone, before a token narrows them.
bool held(const Rights& rights, const ActionRule& rule, std::string_view project) {
  if (rights.platform_admin) return true;
  if (rights.verbs.contains(std::string(rule.action))) {
    return rule.scope == Scope::platform || rights.verb_projects.contains(std::string(project));
  }
  switch (rule.needs) {
    case nobody:
    case anyone:
      // an account of verbs does what its verbs say, and nothing because it is signed in
      return rule.needs == nobody || rights.verbs.empty();
    case auditor:
      return rights.auditor;
    case platform_admin:
      return false;
    default:
      return holds_role(rights, rule.needs, project);
  }
}

}  // namespace

std::string_view name(Role role) {
  switch (role) {
    case Role::viewer:
      return "viewer";
    case Role::member:
      return "member";
    case Role::admin:
      return "admin";
  }
  return "";
}

std::optional<Role> find_role(std::string_view text) {
  for (const Role role : {Role::viewer, Role::member, Role::admin})
    if (name(role) == text) return role;
  return std::nullopt;
}

std::string_view name(PlatformRole role) {
  return role == PlatformRole::auditor ? "auditor" : "platform-admin";
}

std::optional<PlatformRole> find_platform_role(std::string_view text) {
  for (const PlatformRole role : {PlatformRole::auditor, PlatformRole::platform_admin})
    if (name(role) == text) return role;
  return std::nullopt;
}

std::string_view name(Needs needs) {
  switch (needs) {
    case nobody:
      return "nobody";
    case anyone:
      return "anyone";
    case viewer:
      return "viewer";
    case member:
      return "member";
    case admin:
      return "admin";
    case auditor:
      return "auditor";
    case platform_admin:
      return "platform-admin";
  }
  return "";
}

std::span<const ActionRule> action_rules() {
  return kRules;
}

const ActionRule* find_action(std::string_view action) {
  const auto* found = std::ranges::find(kRules, action, &ActionRule::action);
  return found == kRules.end() ? nullptr : found;
}

Rights rights_of_owner() {
  Rights rights;
  rights.platform_admin = true;
  return rights;
}

bool permitted(const Rights& rights, std::string_view action, std::string_view project) {
  const ActionRule* rule = find_action(action);
  if (rule == nullptr) return false;
  if (rights.only_actions && !rights.only_actions->contains(std::string(action))) return false;
  if (rights.only_projects) {
    // narrowed to projects: nothing of the platform but what everybody may
    if (rule->scope == Scope::platform && rule->needs > anyone) return false;
    if (rule->scope == Scope::project && !rights.only_projects->contains(std::string(project)))
      return false;
  }
  return held(rights, *rule, project);
}

bool Projects::contains(std::string_view project) const {
  return all || std::ranges::binary_search(names, project);
}

Projects known_projects(const Rights& rights) {
  std::set<std::string> known = rights.verb_projects;
  for (const auto& [project, role] : rights.by_project) known.insert(project);
  if (!rights.only_projects) {
    return {rights.platform_admin, rights.platform_admin
                                       ? std::vector<std::string>()
                                       : std::vector<std::string>(known.begin(), known.end())};
  }
  Projects narrowed;
  for (const std::string& project : *rights.only_projects)
    if (rights.platform_admin || known.contains(project)) narrowed.names.push_back(project);
  return narrowed;
}

Projects permitting_projects(const Rights& rights, std::string_view action) {
  Projects projects = known_projects(rights);
  if (projects.all) {
    // everywhere or nowhere: only a token's actions can stand against it
    const bool allowed = !rights.only_actions || rights.only_actions->contains(std::string(action));
    return allowed ? projects : Projects{};
  }
  std::erase_if(projects.names,
                [&](const std::string& project) { return !permitted(rights, action, project); });
  return projects;
}

std::vector<std::string> lacking_for_role(const Rights& maker, Role role,
                                          std::string_view project) {
  std::vector<std::string> lacking;
  for (const ActionRule& rule : kRules) {
    if (rule.scope != Scope::project) continue;
    Rights given;
    given.by_project[std::string(project)] = role;
    if (permitted(given, rule.action, project) && !permitted(maker, rule.action, project))
      lacking.push_back(fmt::format("{} in {}", rule.action, project));
  }
  return lacking;
}

std::vector<std::string> lacking_for_verbs(const Rights& maker, const std::set<std::string>& verbs,
                                           const std::set<std::string>& projects) {
  std::vector<std::string> lacking;
  for (const std::string& verb : verbs) {
    const ActionRule* rule = find_action(verb);
    if (rule == nullptr || rule->scope == Scope::platform) {
      if (!permitted(maker, verb, "")) lacking.push_back(verb);
      continue;
    }
    for (const std::string& project : projects) {
      if (!permitted(maker, verb, project))
        lacking.push_back(fmt::format("{} in {}", verb, project));
    }
  }
  return lacking;
}

}  // namespace exa
