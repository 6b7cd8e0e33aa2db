// What the routes of the audit log answer. The format of entries and bundles: docs/audit-format.md.
#include "api/schema.h"
#include "audit/verify.h"

namespace exa {
namespace {

using namespace schema;

json::object entry() {
  return object({{"format", count()},
                 {"index", count()},
                 {"time", time()},
                 {"actor_kind", word({"os-user", "user", "service-account"})},
                 {"actor_name", text()},
                 {"actor_id", text()},
                 {"origin", text()},
                 {"action", text()},
                 {"object_kind", text()},
                 {"object_name", text()},
                 {"project", text()},
                 {"outcome", word({"done", "refused"})},
                 {"error_code", text()},
                 {"reason", text()},
                 {"before_digest", text()},
                 {"after_digest", text()},
                 {"object_version", maybe(count())},
                 {"details", map(any())}});
}

// What the verifier finds in the log; the service adds tables that do not follow from it.
json::object finding() {
  json::object words = word(Finding::malformed_bundle);
  words.at("enum").as_array().emplace_back("state_differs");
  return words;
}

json::object verdict() {
  return object({{"ok", yes_no()},
                 {"finding", finding()},
                 {"size", count()},
                 {"sentence", text()},
                 // an empty log has none of these
                 sometimes("where", text()),
                 sometimes("first_bad_index", maybe(count())),
                 sometimes("last_bad_index", maybe(count())),
                 sometimes("root", text()),
                 sometimes("checkpoint_size", maybe(count())),
                 sometimes("entries_after_checkpoint", count()),
                 sometimes("key", text()),
                 sometimes("unaccounted", list(text()))});
}

}  // namespace

std::vector<ReplySchema> audit_schemas() {
  return {
      {"AuditEntryList", page(entry())},
      {"AuditVerdict", verdict()},
      {"AuditRecovery", object({{"recovered", yes_no()}, {"reason", text()}}),
       json::object{{"recovered", true}, {"reason", "restored the backup of Monday"}}},
      {"AuditBundle", text(), nullptr, "application/jsonl"},
  };
}

}  // namespace exa
