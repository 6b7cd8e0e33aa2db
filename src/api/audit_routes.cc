// Rows and handlers of `exa audit …` and `exa project …`.
#include "api/cursor.h"
#include "api/handlers.h"
#include "base/quantity.h"
#include "profile/validate.h"
#include "service/audit_log.h"
#include "service/projects.h"

namespace exa {
namespace {

std::optional<std::string> text_if_given(const Call& call, std::string_view key) {
  if (!call.has(key)) return std::nullopt;
  return call.text(key);
}

Result<Reply> list(Service& service, const Call& call) {
  constexpr std::string_view kList = "audit";
  ListAudit what;
  what.limit = call.integer("limit", 50);
  EXA_ASSIGN(const std::string place, place_before(call, kList));
  if (!place.empty()) {
    EXA_ASSIGN(what.before, parse_count(place, "the cursor"));
  }
  what.actor = call.text("actor");
  what.action = call.text("action");
  what.outcome = call.text("outcome");
  what.name = call.text("object");
  EXA_ASSIGN(Answer page, list_audit(service, what));
  close_cursor(page.body, kList);
  return reply_of(std::move(page));
}

Result<Reply> verify(Service& service, const Call& call) {
  return reply_of(verify_audit(service,
                               {text_if_given(call, "bundle"), text_if_given(call, "public_key"),
                                text_if_given(call, "checkpoint")},
                               *call.caller.progress));
}

Result<Reply> recover(Service& service, const Call& call) {
  return reply_of(recover_log(service, call.caller, call.text("reason")));
}

Result<Reply> export_log(Service& service, const Call&) {
  return reply_of(export_audit(service));
}

Result<Reply> create(Service& service, const Call& call) {
  return reply_of(create_project(service, call.caller, call.text("name")));
}

Result<Reply> projects(Service& service, const Call& call) {
  return reply_of(list_projects(service, call.caller));
}

std::vector<Problem> check_create(const json::object& args) {
  const auto checked = check_name(text_or(args, "name", ""), "project name");
  if (checked) return {};
  const Error& error = checked.error();
  Problem problem = error.problems.empty() ? Problem{"", error.message, ""} : error.problems[0];
  problem.where = "/name";
  return {problem};
}

}  // namespace

std::vector<Route> audit_routes() {
  return {
      {.id = "audit.list",
       .path = "/api/v1/audit",
       .command = "audit list",
       .action = "audit:read",
       .summary = "List who did or tried what, newest first",
       .params = {{.name = "actor", .flag = "--actor", .help = "only by this user"},
                  {.name = "action",
                   .flag = "--action",
                   .help = "only this action, e.g. hardware_profile.set"},
                  {.name = "object", .flag = "--object", .help = "only about this name"},
                  {.name = "outcome",
                   .kind = Kind::choice,
                   .flag = "--outcome",
                   .help = "only with this outcome",
                   .choices = {"done", "refused"}},
                  limit_param(),
                  cursor_param()},
       .handler = list,
       .reply = "AuditEntryList",
       .examples = {"exa audit list", "exa audit list --outcome refused"}},
      {.id = "audit.verify",
       .method = Method::post,
       .path = "/api/v1/audit/verification",
       .command = "audit verify",
       .action = "audit:read",
       .summary = "Verify the audit log against its signed checkpoints",
       .detail = "Reads every entry again. With --bundle it verifies an exported file by itself, "
                 "on any machine. "
                 "Keep audit.pub and now and then a copy of the file checkpoint elsewhere: with "
                 "them, even an old "
                 "copy of the whole data folder is recognised.",
       .params = {{.name = "bundle",
                   .in = In::body,
                   .kind = Kind::file,
                   .flag = "--bundle",
                   .help = "an exported file, verified offline",
                   .most_bytes = kLargestCapture},
                  {.name = "public_key",
                   .in = In::body,
                   .kind = Kind::file,
                   .flag = "--public-key",
                   .help = "the key it must be signed with, known from elsewhere"},
                  {.name = "checkpoint",
                   .in = In::body,
                   .kind = Kind::file,
                   .flag = "--checkpoint",
                   .help = "a checkpoint kept elsewhere, whose history must be contained"}},
       .handler = verify,
       .reply = "AuditVerdict",
       .is_long = true,
       .examples = {"exa audit verify"}},
      {.id = "audit.recover",
       .method = Method::post,
       .path = "/api/v1/audit/recovery",
       .command = "audit recover",
       .tier = Tier::destructive,
       .action = "audit:recover",
       .summary = "Go on with the log as it is found, saying why it and its checkpoint differ",
       .detail =
           "After an old copy was restored, changes are refused until this is said. It becomes an "
           "entry of "
           "the log, with the last checkpoint in it; exports made before still show what was lost.",
       .params = {{.name = "reason",
                   .in = In::body,
                   .flag = "--reason",
                   .help = "what happened",
                   .required = true},
                  dry_run_param()},
       .handler = recover,
       .reply = "AuditRecovery",
       .alone = true,
       .examples = {"exa audit recover --reason \"restored the backup of Monday\" --yes"}},
      {.id = "audit.export",
       .path = "/api/v1/audit/bundle",
       .command = "audit export",
       .action = "audit:read",
       .summary = "Print the whole log as a file that anyone can verify",
       .handler = export_log,
       .reply = "AuditBundle",
       .examples = {"exa audit export"}},
  };
}

std::vector<Route> project_routes() {
  return {
      {.id = "project.create",
       .method = Method::post,
       .path = "/api/v1/projects/{name}",
       .command = "project create",
       .tier = Tier::mutating,
       .action = "project:create",
       .summary = "Create a project",
       .params = {{.name = "name", .in = In::path, .help = "name of the project", .required = true},
                  dry_run_param()},
       .handler = create,
       .reply = "NewProject",
       .creates = true,
       .check = check_create,
       .examples = {"exa project create vision"}},
      {.id = "project.list",
       .path = "/api/v1/projects",
       .command = "project list",
       .action = "project:read",
       .summary = "List projects",
       .handler = projects,
       .reply = "ProjectList",
       .examples = {"exa project list"}},
  };
}

}  // namespace exa
