// How what a server's people look at is shown: status, events, accounts, tokens.
#include <fmt/format.h>

#include "base/plural.h"
#include "cli/view_parts.h"

namespace exa {
namespace {

int64_t number_at(const json::value& body, std::string_view pointer) {
  boost::system::error_code missing;
  const json::value* value = body.find_pointer(pointer, missing);
  return value != nullptr && value->is_int64() ? value->get_int64() : 0;
}

std::string status_headline(const json::value& body) {
  const json::value* ok = find(body, "ok");
  if (ok != nullptr && ok->is_bool() && ok->get_bool())
    return fmt::format("All is as it should be: {} verified.",
                       counted(number_at(body, "/summary/verified"), "answer"));
  return fmt::format(
      "Answers: {} verified, {} degraded, {} unresolvable, {} unchecked; {} failing.",
      number_at(body, "/summary/verified"), number_at(body, "/summary/degraded"),
      number_at(body, "/summary/unresolvable"), number_at(body, "/summary/unchecked"),
      counted(number_at(body, "/summary/clusters_failing"), "cluster"));
}

std::string backup_headline(const json::value& body) {
  const json::value* verified = find(body, "verified");
  const bool good = verified != nullptr && verified->is_bool() && verified->get_bool();
  return fmt::format("{} {}", text_or(body, "folder", ""),
                     good ? "holds everything, and verifies" : "would hold everything");
}

std::string operation_headline(const json::value& body) {
  const std::string_view id = text_or(body, "id", "");
  const std::string_view state = text_or(body, "state", "");
  std::string line = fmt::format("operation {} ({}) is {}", id, text_or(body, "route", ""), state);
  const json::value* cancel = find(body, "cancel_requested");
  const bool goes_on = state == "queued" || state == "running";
  if (goes_on && cancel != nullptr && cancel->is_bool() && cancel->get_bool())
    line += " and is to end";
  return goes_on ? fmt::format("{}; exa operation wait {}", line, id) : line;
}

}  // namespace

std::vector<View> server_views() {
  return {
      {.route = "status.show",
       .headline = status_headline,
       .tables = {{"",
                   "/profiles",
                   {{"PROFILE", "/name"},
                    {"VER", "/version", Show::text, 3},
                    {"PROJECT", "/project", Show::text, 4},
                    {"CLUSTER", "/cluster"},
                    {"STATUS", "/status"},
                    {"USED-BY", "/consumers", Show::list, 2},
                    sentence("REASON", "/reason"),
                    sentence("NEXT", "/next", Show::text, true),
                    {"SINCE", "/since", Show::age, 1}}},
                  {"clusters that could not be seen",
                   "/clusters",
                   {{"NAME", "/name"},
                    {"FAILURES", "/failures", Show::text, 2},
                    sentence("ERROR", "/error"),
                    sentence("NEXT", "/next", Show::text, true),
                    {"SEEN", "/last_seen_at", Show::age}}}}},
      {.route = "event.list",
       .tables = {{"",
                   "/items",
                   {{"REVISION", "/revision"},
                    {"ACTION", "/action"},
                    {"NAME", "/name"},
                    {"VER", "/version", Show::text, 3},
                    {"PROJECT", "/project", Show::text, 2},
                    {"BY", "/actor", Show::text, 4},
                    {"AGE", "/time", Show::age, 1}}}},
       .empty = "Nothing changed since. Where things stand: exa events --json"},
      {.route = "operation.list",
       .tables = {{"",
                   "/items",
                   {{"ID", "/id"},
                    {"COMMAND", "/route"},
                    {"STATE", "/state"},
                    {"DONE", "/progress/done", Show::text, 3},
                    {"OF", "/progress/total", Show::text, 4},
                    {"BY", "/started_by", Show::text, 2},
                    {"AGE", "/created_at", Show::age, 1}}}},
       .empty = "No long work yet; a command with --no-wait leaves some to the server"},
      {.route = "operation.show", .headline = operation_headline},
      {.route = "operation.cancel", .headline = operation_headline},
      {.route = "backup.create",
       .headline = backup_headline,
       .tables = {{"", "/items", {{"TABLE", "/table"}, {"ROWS", "/rows"}}}}},
      {.route = "local.doctor",
       .tables = {{"",
                   "/items",
                   {{"NAME", "/name"},
                    {"RESULT", "/result"},
                    sentence("DETAIL", "/detail"),
                    sentence("NEXT", "/next", Show::text, true)}}}},
      {.route = "user.list",
       .tables = {{"",
                   "/items",
                   {{"NAME", "/name"},
                    {"PLATFORM-ROLE", "/platform_role"},
                    {"SIGNS-IN-WITH", "/signs_in_with", Show::text, 2},
                    {"DISABLED", "/disabled_at", Show::age, 1},
                    {"BY", "/created_by", Show::text, 3},
                    {"AGE", "/created_at", Show::age, 4}}}},
       .empty = "No users yet: exa user create NAME --password-file FILE"},
      {.route = "token.list",
       .tables = {{"",
                   "/items",
                   {{"NAME", "/name"},
                    {"ID", "/id"},
                    {"OWNER", "/owner"},
                    {"SCOPES", "/scopes", Show::list, 4},
                    {"PROJECTS", "/projects", Show::list, 3},
                    {"EXPIRES", "/expires_at", Show::text, 2},
                    {"USED", "/last_used", Show::age, 1},
                    {"REVOKED", "/revoked_at", Show::age, 5, false, false, true},
                    {"AGE", "/created_at", Show::age, 6}}}},
       .empty = "No tokens yet: exa token create NAME"},
      {.route = "project_member.list",
       .tables = {{"",
                   "/items",
                   {{"NAME", "/name"},
                    {"KIND", "/kind", Show::text, 1},
                    {"ROLE", "/role"},
                    {"BY", "/given_by", Show::text, 2},
                    {"AGE", "/given_at", Show::age, 3}}}},
       .empty = "Nobody yet: exa project members add PROJECT NAME --role member"},
  };
}

}  // namespace exa
