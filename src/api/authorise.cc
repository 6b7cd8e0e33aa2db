#include "api/authorise.h"

#include <fmt/format.h>

#include "service/service.h"
#include "service/visibility.h"

namespace exa {
namespace {

const Param* find_param(const Route& route, std::string_view name) {
  const auto found = std::ranges::find(route.params, name, &Param::name);
  return found == route.params.end() ? nullptr : &*found;
}

// A flag counts when it is set, any other argument when it is given.
std::string_view action_of(const Route& route, const Call& call) {
  const ActionWith& with = route.action_with;
  const json::value* given = call.args.if_contains(with.argument);
  const bool is_given = given != nullptr && !(given->is_bool() && !given->get_bool());
  return !with.action.empty() && is_given ? with.action : route.action;
}

Failure refused(Service& service, const Call& call, std::string_view action,
                const std::string& project) {
  std::vector<std::string> admins;
  if (!project.empty()) {
    auto found = read_value<std::vector<std::string>>(
        service.store(), [&](Transaction& tx) { return admins_of(tx, project); });
    if (found) admins = *std::move(found);  // else it is refused without their names
  }
  return fail(not_permitted(call.caller.principal, action, project, admins));
}

}  // namespace

Result<void> require_sign_in(const Route& route, const Principal& principal) {
  const ActionRule* rule = find_action(route.action);
  if (principal.signed_in() || (rule != nullptr && rule->needs == Needs::nobody)) return {};
  return fail(Code::unauthenticated, "nobody is signed in; sign in, or give a token",
              "exa auth status");
}

Result<void> authorise(Service& service, Call& call) {
  const Route& route = *call.route;
  Caller& caller = call.caller;
  const Rights& rights = caller.principal.rights;
  const std::string_view action = action_of(route, call);
  const ActionRule* rule = find_action(action);
  EXA_ASSERT(rule != nullptr);  // the table was checked when the program started
  caller.known = known_projects(rights);
  caller.permitted = permitting_projects(rights, action);
  if (rule->scope == Scope::platform) {
    if (permitted(rights, action, "")) return {};
    return refused(service, call, action, "");
  }
  if (route.project_from == kOfObject) return {};  // its query decides
  // of every project that the caller may ask about, if there is one
  if (call.flag("all_projects")) {
    const Projects& all = caller.permitted;
    return all.all || !all.names.empty() ? Result<void>() : refused(service, call, action, "");
  }
  const std::string project = call.text(route.project_from);
  EXA_TRY(require_known(caller, project));
  if (caller.permitted.contains(project)) return {};
  return refused(service, call, action, project);
}

std::string authorisation_gap(const Route& route) {
  const ActionRule* rule = find_action(route.action);
  if (rule == nullptr) return fmt::format("{}: no action {}", route.id, route.action);
  const ActionWith& with = route.action_with;
  if (!with.action.empty()) {
    const ActionRule* stronger = find_action(with.action);
    if (stronger == nullptr || stronger->scope != rule->scope)
      return fmt::format("{}: no action {} of the same scope", route.id, with.action);
    if (find_param(route, with.argument) == nullptr)
      return fmt::format("{}: no argument {}", route.id, with.argument);
  }
  const Param* project = find_param(route, route.project_from);
  if (rule->scope == Scope::platform) {
    // an argument that names a project and that nobody checks
    return project == nullptr ? ""
                              : fmt::format("{}: {} is of the platform, but it takes a project",
                                            route.id, route.action);
  }
  if (route.project_from == kOfObject) return "";
  const bool always = project != nullptr && (project->required || !project->fallback.empty());
  return always ? "" : fmt::format("{}: does not say which project it is about", route.id);
}

}  // namespace exa
