// What the routes of users, groups, tokens, members and limits answer.
#include "api/schema.h"
#include "govern/roles.h"

namespace exa {
namespace {

using namespace schema;

json::object role() {
  return word(Role::admin);
}

json::object platform_role() {
  return maybe(word(PlatformRole::platform_admin));
}

json::object rights() {
  return object({{"platform_admin", yes_no()},
                 {"auditor", yes_no()},
                 {"roles", map(role())},
                 {"verbs", list(text())},
                 {"verb_projects", list(text())},
                 {"only_actions", maybe(list(text()))},
                 {"only_projects", maybe(list(text()))}});
}

Members user() {
  return {{"name", text()},
          {"display_name", text()},
          {"disabled_at", maybe(time())},
          {"created_at", time()},
          {"created_by", text()},
          {"signs_in_with", word({"password", "oidc"})}};
}

json::object group() {
  return object({{"name", text()},
                 {"oidc_group", maybe(text())},
                 {"created_at", time()},
                 {"created_by", text()},
                 {"members", list(text())}});
}

json::object service_account() {
  return object({{"name", text()},
                 {"verbs", list(text())},
                 {"projects", list(text())},
                 {"disabled_at", maybe(time())},
                 {"created_at", time()},
                 {"created_by", text()}});
}

Members token() {
  return {{"id", text()},
          {"name", text()},
          {"prefix", text()},
          {"owner_kind", word({"user", "service-account", "os-user"})},
          {"owner", text()},
          {"scopes", maybe(list(text()))},
          {"projects", maybe(list(text()))},
          {"created_at", time()},
          {"created_by", text()},
          {"expires_at", time()},
          {"revoked_at", maybe(time())},
          {"last_used", maybe(time())}};
}

Members member() {
  return {{"name", text()},     {"kind", word({"user", "group"})},
          {"role", role()},     {"project", text()},
          {"given_at", time()}, {"given_by", text()}};
}

json::object limit() {
  return object({{"family", accelerator()},
                 {"at_once", maybe(count())},
                 {"per_request", maybe(count())},
                 {"held", count()}});
}

json::object paged_in_project(json::object of) {
  return object(
      {{"project", text()}, {"items", list(std::move(of))}, {"next_cursor", maybe(text())}});
}

json::object who() {
  return object({{"kind", word({"os-user", "user", "service-account"})},
                 {"name", text()},
                 {"token", maybe(text())},
                 {"valid_until", maybe(time())},
                 {"rights", rights()}});
}

json::object role_of() {
  return object(
      {{"name", text()}, {"kind", word({"user", "group"})}, {"platform_role", platform_role()}});
}

json::object sharing() {
  return object({{"name", text()},
                 {"project", text()},
                 {"shared_with", either({word({"none", "all"}), list(text())})}});
}

}  // namespace

std::vector<ReplySchema> account_schemas() {
  return {
      {"User", object(user())},
      {"UserList", page(object(user() + Members{{"platform_role", platform_role()}}))},
      {"UserRights", object(user() + Members{{"groups", list(text())}, {"rights", rights()}})},
      {"PlatformRole", role_of()},
      {"Group", group()},
      {"GroupList", page(ref("Group"))},
      {"GroupMember", object({{"name", text()}, {"user", text()}, {"member", yes_no()}})},
      {"WhoAmI", who()},
      {"ServiceAccount", service_account()},
      {"ServiceAccountList", page(ref("ServiceAccount"))},
      {"Token", object(token())},
      {"NewToken", object(token() + Members{{"token", maybe(text())}})},
      {"TokenList", page(ref("Token"))},
      {"ProjectMember", object(member() + Members{sometimes("removed", yes_no())})},
      {"ProjectMemberList", paged_in_project(object(member()))},
      {"ProjectLimits", paged_in_project(limit())},
      {"ProfileSharing", sharing()},
  };
}

}  // namespace exa
