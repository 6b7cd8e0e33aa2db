// Rows and handlers of users, groups and the first setup: `exa user …`, `exa group …`.
#include "api/handlers.h"
#include "base/text.h"
#include "service/sign_in.h"
#include "service/users.h"

namespace exa {
namespace {

const std::vector<std::string_view> kPlatformRoles = {"platform-admin", "auditor"};

std::string subject_kind(const Call& call) {
  return call.flag("group") ? "group" : "user";
}

Result<Reply> create(Service& service, const Call& call) {
  CreateUser what{call.text("name"), call.text("display_name"), {}, {}};
  if (call.has("password")) what.password = call.text("password");
  if (call.has("role")) what.platform_role = find_platform_role(call.text("role"));
  return reply_of(create_user(service, call.caller, what));
}

Result<Reply> list(Service& service, const Call& call) {
  return page_of_whole(call, "users", list_users(service), name_of_item);
}

Result<Reply> show(Service& service, const Call& call) {
  return reply_of(show_user(service, call.text("name")));
}

Result<Reply> disable(Service& service, const Call& call) {
  return reply_of(disable_user(service, call.caller, call.text("name"), call.flag("undo")));
}

Result<Reply> password(Service& service, const Call& call) {
  return reply_of(set_password(service, call.caller, call.text("name"), call.text("password"),
                               call.text("current")));
}

Result<Reply> role(Service& service, const Call& call) {
  if (call.has("role") == call.flag("none")) {
    return fail(Code::usage, "give --role, or --none to take it away", "exa user role --help");
  }
  return reply_of(set_platform_role(service, call.caller, subject_kind(call), call.text("name"),
                                    find_platform_role(call.text("role"))));
}

Result<Reply> create_a_group(Service& service, const Call& call) {
  return reply_of(create_group(service, call.caller, call.text("name"), call.text("oidc_group")));
}

Result<Reply> groups(Service& service, const Call& call) {
  return page_of_whole(call, "groups", list_groups(service), name_of_item);
}

Result<Reply> add_to_group(Service& service, const Call& call) {
  return reply_of(change_group(service, call.caller, call.text("name"), call.text("user"), true));
}

Result<Reply> remove_from_group(Service& service, const Call& call) {
  return reply_of(change_group(service, call.caller, call.text("name"), call.text("user"), false));
}

Result<Reply> status(Service&, const Call& call) {
  return reply_of(who_am_i(call.caller));
}

Result<Reply> setup(Service& service, const Call& call) {
  return reply_of(complete_setup(service, call.caller, call.text("code"), call.text("user"),
                                 call.text("password")));
}

Param name_param(std::string_view help) {
  return {.name = "name", .in = In::path, .help = help, .required = true};
}

Param user_param() {
  return {.name = "user", .in = In::path, .help = "the user", .required = true};
}

Param password_param(std::string_view help, bool required) {
  return {.name = "password",
          .in = In::body,
          .kind = Kind::secret,
          .flag = "--password-file",
          .help = help,
          .required = required};
}

Param role_param() {
  return {.name = "role",
          .in = In::body,
          .kind = Kind::choice,
          .flag = "--role",
          .help = "role on the whole platform",
          .choices = kPlatformRoles};
}

std::vector<Route> user_rows() {
  return {
      {.id = "user.create",
       .method = Method::post,
       .path = "/api/v1/users/{name}",
       .command = "user create",
       .tier = Tier::mutating,
       .action = "user:write",
       .summary = "Create a user",
       .detail = "Names are never given twice: an account is disabled, not removed, so that who "
                 "did what stays answerable.",
       .params = {name_param("name to sign in with"),
                  {.name = "display_name",
                   .in = In::body,
                   .flag = "--display-name",
                   .help = "how people call them"},
                  password_param("file with the password (- for standard input); none: no sign-in",
                                 false),
                  role_param(),
                  dry_run_param()},
       .handler = create,
       .reply = "User",
       .alone = true,
       .creates = true,
       .examples = {"exa user create grace", "exa user create alan --role auditor"}},
      {.id = "user.list",
       .path = "/api/v1/users",
       .command = "user list",
       .action = "user:read",
       .summary = "List users",
       .params = {limit_param(), cursor_param()},
       .handler = list,
       .reply = "UserList",
       .examples = {"exa user list"}},
      {.id = "user.show",
       .path = "/api/v1/users/{name}",
       .command = "user show",
       .action = "user:read",
       .summary = "Show a user: groups, and every right they hold",
       .params = {name_param("the user")},
       .handler = show,
       .reply = "UserRights",
       .examples = {"exa user show grace"}},
      {.id = "user.disable",
       .method = Method::put,
       .path = "/api/v1/users/{name}/disabled",
       .command = "user disable",
       .tier = Tier::mutating,
       .action = "user:write",
       .summary = "Keep a user out: sessions end, tokens are refused",
       .params = {name_param("the user"),
                  {.name = "undo",
                   .in = In::body,
                   .kind = Kind::flag,
                   .flag = "--undo",
                   .help = "let them in again"},
                  dry_run_param()},
       .handler = disable,
       .reply = "User",
       .examples = {"exa user disable grace"}},
      {.id = "user.password",
       .method = Method::put,
       .path = "/api/v1/users/{name}/password",
       .command = "user password",
       .tier = Tier::mutating,
       .action = "self:write",
       .summary = "Set a password: one's own, or as a platform-admin anybody's",
       .params = {name_param("the user"),
                  password_param("file with the password (- for standard input)", true),
                  {.name = "current",
                   .in = In::body,
                   .kind = Kind::secret,
                   .flag = "--current-password-file",
                   .help = "file with the present password; needed for one's own"},
                  dry_run_param()},
       .handler = password,
       .reply = "User",
       .alone = true,
       .fails_with = {Code::too_many_requests}},
      {.id = "user.role",
       .method = Method::put,
       .path = "/api/v1/users/{name}/platform-role",
       .command = "user role",
       .tier = Tier::mutating,
       .action = "user:write",
       .summary = "Give a user or group a role on the whole platform, or take it away",
       .params = {name_param("the user or group"),
                  role_param(),
                  {.name = "none",
                   .in = In::body,
                   .kind = Kind::flag,
                   .flag = "--none",
                   .help = "take the role away"},
                  {.name = "group",
                   .in = In::body,
                   .kind = Kind::flag,
                   .flag = "--group",
                   .help = "the name is a group's"},
                  dry_run_param()},
       .handler = role,
       .reply = "PlatformRole",
       .examples = {"exa user role grace --role auditor"}},
  };
}

std::vector<Route> group_rows() {
  return {
      {.id = "group.create",
       .method = Method::post,
       .path = "/api/v1/groups/{name}",
       .command = "group create",
       .tier = Tier::mutating,
       .action = "group:write",
       .summary = "Create a group, to which roles can be given as to a user",
       .params = {name_param("name of the group"),
                  {.name = "oidc_group",
                   .in = In::body,
                   .flag = "--oidc-group",
                   .help = "its members are those of this group of the OIDC provider"},
                  dry_run_param()},
       .handler = create_a_group,
       .reply = "Group",
       .creates = true,
       .examples = {"exa group create researchers"}},
      {.id = "group.list",
       .path = "/api/v1/groups",
       .command = "group list",
       .action = "group:read",
       .summary = "List groups with their members",
       .params = {limit_param(), cursor_param()},
       .handler = groups,
       .reply = "GroupList",
       .examples = {"exa group list"}},
      {.id = "group.add",
       .method = Method::put,
       .path = "/api/v1/groups/{name}/members/{user}",
       .command = "group add",
       .tier = Tier::mutating,
       .action = "group:write",
       .summary = "Put a user into a group",
       .params = {name_param("the group"), user_param(), dry_run_param()},
       .handler = add_to_group,
       .reply = "GroupMember",
       .examples = {"exa group add researchers grace"}},
      {.id = "group.remove",
       .method = Method::del,
       .path = "/api/v1/groups/{name}/members/{user}",
       .command = "group remove",
       .tier = Tier::mutating,
       .action = "group:write",
       .summary = "Take a user out of a group",
       .params = {name_param("the group"), user_param(), dry_run_param()},
       .handler = remove_from_group,
       .reply = "GroupMember",
       .examples = {"exa group remove researchers grace"}},
  };
}

std::vector<Route> door_rows() {
  return {
      {.id = "auth.status",
       .path = "/api/v1/auth/status",
       .command = "auth status",
       .action = "self:read",
       .summary = "Say who you are here, and what you may do",
       .handler = status,
       .reply = "WhoAmI",
       .examples = {"exa auth status"}},
      {.id = "setup.complete",
       .method = Method::post,
       .path = "/api/v1/setup",
       .tier = Tier::mutating,
       .action = "setup:use",
       .summary = "Create the first platform-admin with the code that the server printed",
       .params = {{.name = "code", .in = In::body, .help = "the setup code", .required = true},
                  {.name = "user", .in = In::body, .help = "name of the user", .required = true},
                  password_param("the password", true),
                  dry_run_param()},
       .handler = setup,
       .reply = "User",
       .alone = true,
       .creates = true,
       .fails_with = {Code::too_many_requests}},
  };
}

}  // namespace

std::vector<Route> account_routes() {
  std::vector<Route> rows = user_rows();
  for (auto* more : {group_rows, door_rows})
    for (Route& row : more()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace exa
