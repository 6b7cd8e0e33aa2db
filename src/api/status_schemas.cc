// What the routes of status and events answer.
#include "api/schema.h"
#include "resolve/resolve.h"

namespace exa {
namespace {

using namespace schema;

json::object standing() {
  return object({{"project", text()},
                 {"name", text()},
                 {"version", count()},
                 {"cluster", text()},
                 {"status", word(Status::unresolvable)},
                 {"since", maybe(time())},
                 {"reason", text()},
                 {"consumers", list(text())},
                 {"other_consumers", count()},
                 {"next", text()}});
}

json::object failing_cluster() {
  return object({{"name", text()},
                 {"failures", count()},
                 {"error", text()},
                 {"last_seen_at", maybe(time())},
                 {"next_look_at", time()},
                 {"next", text()}});
}

json::object summary() {
  return object({{"verified", count()},
                 {"degraded", count()},
                 {"unresolvable", count()},
                 {"unchecked", count()},
                 {"clusters_failing", count()}});
}

json::object status_change() {
  return object({{"project", text()},
                 {"name", text()},
                 {"version", count()},
                 {"cluster", text()},
                 {"from_status", word(Status::unresolvable)},
                 {"to_status", word(Status::unresolvable)}});
}

json::object event() {
  return object({{"revision", count()},
                 {"time", time()},
                 {"action", text()},
                 {"kind", text()},
                 {"name", text()},
                 {"project", maybe(text())},
                 {"version", maybe(count())},
                 {"actor", text()},
                 {"status_changes", list(status_change())}});
}

}  // namespace

std::vector<ReplySchema> status_schemas() {
  return {{"Status", object({{"ok", yes_no()},
                             {"at", time()},
                             {"summary", summary()},
                             {"profiles", list(standing())},
                             {"clusters", list(failing_cluster())}})},
          {"Backup", object({{"folder", text()},
                             {"verified", yes_no()},
                             {"items", list(object({{"table", text()}, {"rows", count()}}))}})},
          {"Events", object({{"items", list(event())}, {"revision", integer()}})}};
}

}  // namespace exa
