// What the routes of long operations answer.
#include "api/schema.h"
#include "service/operations.h"

namespace exa {
namespace {

using namespace schema;

Members operation() {
  return {
      {"id", text()},
      {"route", text()},
      {"target", text()},
      {"state", word(OperationState::interrupted)},
      {"started_by", text()},
      {"created_at", time()},
      {"ended_at", maybe(time())},
      {"cancel_requested", yes_no()},
      {"progress", maybe(object({{"what", text()}, {"done", count()}, {"total", maybe(count())}}))},
      {"status", maybe(count())}};
}

// The answer that the route would have given at once.
json::object answer() {
  return object(
      {{"status", count()}, {"exit_code", count()}, {"notices", list(text())}, {"body", any()}});
}

}  // namespace

std::vector<ReplySchema> operation_schemas() {
  return {{"Operation", object(operation() + Members{{"answer", maybe(answer())}})},
          {"OperationList", page(object(operation()))}};
}

}  // namespace exa
