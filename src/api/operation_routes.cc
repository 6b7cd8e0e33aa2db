// Rows and handlers of long operations: what goes on at the server after it answered 202.
#include "api/cursor.h"
#include "api/handlers.h"
#include "service/operations.h"

namespace exa {
namespace {

constexpr std::string_view kList = "operations";

Result<Reply> list(Service& service, const Call& call) {
  EXA_ASSIGN(const std::string after, place_before(call, kList));
  EXA_ASSIGN(Answer page, list_operations(service, call.caller, call.integer("limit", 50), after));
  close_cursor(page.body, kList);
  return reply_of(std::move(page));
}

Result<Reply> show(Service& service, const Call& call) {
  return reply_of(show_operation(service, call.caller, call.text("id")));
}

Result<Reply> cancel(Service& service, const Call& call) {
  return reply_of(cancel_operation(service, call.caller, call.text("id")));
}

Param id_param() {
  return {.name = "id", .in = In::path, .help = "id of the operation", .required = true};
}

}  // namespace

std::vector<Route> operation_routes() {
  return {
      {.id = "operation.list",
       .path = "/api/v1/operations",
       .command = "operation list",
       .action = "operation:read",
       .summary = "List long work that a server does or did for you, the newest first",
       .detail = "Kept for 30 days. Platform admins see everybody's.",
       .params = {limit_param(), cursor_param()},
       .handler = list,
       .reply = "OperationList",
       .examples = {"exa operation list"}},
      {.id = "operation.show",
       .path = "/api/v1/operations/{id}",
       .command = "operation show",
       .action = "operation:read",
       .summary = "Show how far a piece of long work has come, and its answer once it has ended",
       .params = {id_param()},
       .handler = show,
       .reply = "Operation"},
      {.id = "operation.cancel",
       .method = Method::post,
       .path = "/api/v1/operations/{id}/cancel",
       .command = "operation cancel",
       .tier = Tier::mutating,
       .action = "operation:write",
       .summary = "End a piece of long work before it is done; it changes nothing then",
       .detail = "It hears of it at its next step. What was done before that is told by its state.",
       .params = {id_param(), dry_run_param()},
       .handler = cancel,
       .reply = "Operation"},
  };
}

}  // namespace exa
