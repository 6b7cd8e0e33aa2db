// Rows and handlers of who belongs to a project, how much it may take, and what it shares.
#include <fmt/format.h>

#include "api/handlers.h"
#include "profile/validate.h"
#include "service/members.h"
#include "service/sharing.h"

namespace exa {
namespace {

const std::vector<std::string_view> kRoles = {"viewer", "member", "admin"};

Member member_of(const Call& call) {
  return {call.text("project"), call.flag("group") ? "group" : "user", call.text("name")};
}

Result<Reply> members(Service& service, const Call& call) {
  return page_of_whole(
      call, "members", list_members(service, call.text("project")), [](const json::value& member) {
        return fmt::format("{} {}", text_or(member, "name", ""), text_or(member, "kind", ""));
      });
}

Result<Reply> add(Service& service, const Call& call) {
  const auto role = find_role(call.text("role"));
  EXA_ASSERT(role);  // checked against the choices
  return reply_of(set_member(service, call.caller, member_of(call), *role));
}

Result<Reply> remove(Service& service, const Call& call) {
  return reply_of(remove_member(service, call.caller, member_of(call)));
}

Result<Reply> limits(Service& service, const Call& call) {
  return reply_of(get_limits(service, call.text("project")));
}

Result<Reply> limit(Service& service, const Call& call) {
  SetLimits what{call.text("project"), call.text("family"), {}, {}, call.flag("lift")};
  if (call.has("at_once")) what.at_once = call.integer("at_once", 0);
  if (call.has("per_request")) what.per_request = call.integer("per_request", 0);
  return reply_of(set_limits(service, call.caller, what));
}

Result<Reply> share(Service& service, const Call& call) {
  ShareProfile what{call.text("project"), call.text("name"), {}};
  for (const json::value& one : call.args.at("with").as_array())
    what.with.emplace_back(one.get_string());
  return reply_of(share_profile(service, call.caller, what));
}

std::vector<Problem> check_share(const json::object& args) {
  const auto checked = check_name(text_or(args, "name", ""), "profile name");
  if (checked) return {};
  const Error& error = checked.error();
  return {{"/name", error.problems.empty() ? error.message : error.problems[0].message, ""}};
}

Param of_project() {
  return {.name = "project",
          .in = In::path,
          .help = "the project",
          .required = true,
          .completes = "project"};
}

Param who_param() {
  return {.name = "name", .in = In::path, .help = "the user or group", .required = true};
}

Param group_param() {
  return {.name = "group", .kind = Kind::flag, .flag = "--group", .help = "the name is a group's"};
}

Param count_param(std::string_view name, std::string_view flag, std::string_view help) {
  return {.name = name,
          .in = In::body,
          .kind = Kind::integer,
          .flag = flag,
          .help = help,
          .most = 1'000'000};
}

}  // namespace

std::vector<Route> member_routes() {
  return {
      {.id = "project_member.list",
       .path = "/api/v1/projects/{project}/members",
       .command = "project members list",
       .action = "project_member:read",
       .summary = "List who belongs to a project, and as what",
       .params = {of_project(), limit_param(), cursor_param()},
       .handler = members,
       .reply = "ProjectMemberList",
       .examples = {"exa project members list default"}},
      {.id = "project_member.add",
       .method = Method::put,
       .path = "/api/v1/projects/{project}/members/{name}",
       .command = "project members add",
       .tier = Tier::mutating,
       .action = "project_member:write",
       .summary = "Give a user or group a role in a project, or another one",
       .detail = "viewer: list, inspect, resolve, plan. member: take devices, use profiles. admin: "
                 "write and share profiles, members, limits.",
       .params = {of_project(),
                  who_param(),
                  {.name = "role",
                   .in = In::body,
                   .kind = Kind::choice,
                   .flag = "--role",
                   .help = "the role",
                   .required = true,
                   .choices = kRoles},
                  group_param(),
                  dry_run_param()},
       .handler = add,
       .reply = "ProjectMember",
       .creates = true,
       .examples = {"exa project members add default grace --role member"}},
      {.id = "project_member.remove",
       .method = Method::del,
       .path = "/api/v1/projects/{project}/members/{name}",
       .command = "project members remove",
       .tier = Tier::mutating,
       .action = "project_member:write",
       .summary = "Take a user's or group's role in a project away",
       .params = {of_project(), who_param(), group_param(), dry_run_param()},
       .handler = remove,
       .reply = "ProjectMember",
       .examples = {"exa project members remove default grace"}},
      {.id = "project_limits.get",
       .path = "/api/v1/projects/{project}/limits",
       .command = "project limits get",
       .action = "project_limits:read",
       .summary = "Show how many devices a project may take, and how many it holds",
       .params = {of_project()},
       .handler = limits,
       .reply = "ProjectLimits",
       .examples = {"exa project limits get default"}},
      {.id = "project_limits.set",
       .method = Method::put,
       .path = "/api/v1/projects/{project}/limits/{family}",
       .command = "project limits set",
       .tier = Tier::mutating,
       .action = "project_limits:write",
       .summary = "Limit how many devices of a family a project may take",
       .detail =
           "What is not given stays as it is; 0 is none at all. Leases that hold more run on.",
       .params = {of_project(),
                  {.name = "family",
                   .in = In::path,
                   .kind = Kind::choice,
                   .flag = "--family",
                   .help = "family of devices",
                   .required = true,
                   .choices = family_choices()},
                  count_param("at_once", "--at-once", "most devices held at once"),
                  count_param("per_request", "--per-request", "most devices in one request"),
                  {.name = "lift",
                   .in = In::body,
                   .kind = Kind::flag,
                   .flag = "--lift",
                   .help = "no limits for this family"},
                  dry_run_param()},
       .handler = limit,
       .reply = "ProjectLimits",
       .examples = {"exa project limits set default --family nvidia --at-once 6"}},
      {.id = "hardware_profile.share",
       .method = Method::put,
       .path = "/api/v1/hardware-profiles/{name}/sharing",
       .command = "hardware profile share",
       .tier = Tier::mutating,
       .action = "hardware_profile:share",
       .summary = "Let other projects use a profile, as PROJECT/NAME; none may change it",
       .params = {{.name = "name",
                   .in = In::path,
                   .help = "name of the profile",
                   .required = true,
                   .completes = "profile"},
                  {.name = "with",
                   .in = In::body,
                   .kind = Kind::csv,
                   .flag = "--with",
                   .help = "none, all, or projects, comma-separated",
                   .required = true},
                  project_param(),
                  dry_run_param()},
       .handler = share,
       .reply = "ProfileSharing",
       .check = check_share,
       .examples = {"exa hardware profile share small --with all"}},
  };
}

}  // namespace exa
