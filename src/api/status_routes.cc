// Rows and handlers of what an operator looks at first, and of what changed.
#include "api/handlers.h"
#include "service/copy.h"
#include "service/events.h"
#include "service/status.h"

namespace exa {
namespace {

Result<Reply> show_status(Service& service, const Call& call) {
  return reply_of(overall_status(service, call.caller, {texts_arg(call, "fail_on")}));
}

Result<Reply> make_backup(Service& service, const Call& call) {
  return reply_of(back_up(service, call.caller, call.text("folder")));
}

Result<Reply> events(Service& service, const Call& call) {
  ListEvents what;
  if (call.has("since")) what.since = call.integer("since", 0);
  what.limit = call.integer("limit", what.limit);
  return reply_of(list_events(service, call.caller, what));
}

}  // namespace

std::vector<Route> status_routes() {
  Param limit = limit_param();
  return {
      {.id = "status.show",
       .path = "/api/v1/status",
       .command = "status",
       .action = "status:read",
       .summary = "Show what does not stand as it should, since when and whom it touches",
       .detail =
           "Of profiles: a version that somebody runs on must be verified where they run, and an "
           "active one on one cluster at least. Of clusters: the last look must have succeeded. "
           "Each line says what to do next.",
       .params = {{.name = "fail_on",
                   .kind = Kind::csv,
                   .flag = "--fail-on",
                   .help = "end with exit code 10 if anything is one of these",
                   .choices = {"degraded", "unresolvable", "unchecked", "failing"}}},
       .handler = show_status,
       .reply = "Status",
       .examples = {"exa status --fail-on degraded,unresolvable,failing"}},
      {.id = "backup.create",
       .method = Method::post,
       .path = "/api/v1/backups",
       .command = "backup",
       .tier = Tier::mutating,
       .action = "backup:write",
       .summary = "Copy everything into a new folder, while others go on",
       .detail = "One consistent state, with the audit log, its key and its checkpoint, verified "
                 "where it lies. A server writes it on its own machine, under FOLDER.partial-ID "
                 "until it is "
                 "whole. exa restore brings it back.",
       .params = {{.name = "folder",
                   .in = In::body,
                   .kind = Kind::path,
                   .help = "a new folder",
                   .required = true},
                  dry_run_param()},
       .handler = make_backup,
       .reply = "Backup",
       .is_long = true,
       .creates = true,
       .examples = {"exa backup /var/lib/exa-backups/2026-11-30"}},
      {.id = "event.list",
       .path = "/api/v1/events",
       .command = "events",
       .action = "event:read",
       .summary = "List what changed after a revision, the oldest first",
       .detail =
           "Revisions are ordered and never given twice. Without --since the answer only says "
           "where things stand; go on from its revision.",
       .params = {{.name = "since",
                   .kind = Kind::integer,
                   .flag = "--since",
                   .help = "the revision that you have seen already; 0 for none"},
                  std::move(limit)},
       .handler = events,
       .reply = "Events",
       .fails_with = {Code::history_gone},
       .examples = {"exa events --since 0 --limit 20"}},
  };
}

}  // namespace exa
