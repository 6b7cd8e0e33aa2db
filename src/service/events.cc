#include "service/events.h"

#include <fmt/format.h>

#include "audit/entry.h"
#include "base/json_or_null.h"
#include "service/stored.h"

namespace exa {
namespace {

// What nobody watches for: who signed in, who used a token.
bool is_event(const AuditEntry& entry) {
  return entry.outcome == "done" && !entry.action.starts_with("session.");
}

// Of the platform, everybody hears of what they can look at. Who signed in, got a token or a role
// is for those who may do everything.
bool is_for_everybody(const Event& event) {
  constexpr std::string_view kShown[] = {"cluster", "pool",   "engine",
                                         "region",  "policy", "burst_policy"};
  return std::ranges::find(kShown, event.kind) != std::end(kShown);
}

Event event_of(AuditEntry entry) {
  Event event;
  event.revision = entry.index + 1;
  event.time = entry.time;
  event.action = std::move(entry.action);
  event.kind = std::move(entry.object_kind);
  event.name = std::move(entry.object_name);
  event.project = std::move(entry.project);
  event.version = entry.object_version;
  event.actor = std::move(entry.actor_name);
  if (const json::value* changes = find(entry.details, "status_changes");
      changes != nullptr && changes->is_array()) {
    event.changes = changes->get_array();
  }
  return event;
}

}  // namespace

json::object to_json(const Event& event) {
  return {{"revision", event.revision},
          {"time", format_rfc3339(event.time)},
          {"action", event.action},
          {"kind", event.kind},
          {"name", event.name},
          {"project", text_or_null(event.project)},
          {"version", number_or_null(event.version)},
          {"actor", event.actor},
          {"status_changes", event.changes}};
}

Result<int64_t> newest_revision(Transaction& tx) {
  EXA_ASSIGN(const auto rows, tx.rows("SELECT COALESCE(MAX(idx), -1) + 1 FROM audit_entry"));
  return rows.at(0).integer(0);
}

Result<EventBatch> events_after(Transaction& tx, int64_t since, int64_t limit) {
  EXA_ASSIGN(const int64_t newest, newest_revision(tx));
  if (since > newest || since < 0) {
    return fail(Code::history_gone,
                fmt::format("there is no revision {} here; the newest is {}: the log was restored "
                            "from an earlier copy, or it is another one",
                            since, newest),
                "read the lists again, then watch from their revision");
  }
  EXA_ASSIGN(const auto rows,
             tx.rows("SELECT leaf FROM audit_entry WHERE idx >= $1 ORDER BY idx LIMIT $2",
                     {since, limit}));
  EventBatch batch;
  batch.seen = since + static_cast<int64_t>(rows.size());
  for (const Row& row : rows) {
    EXA_ASSIGN(AuditEntry entry, audit_entry_from_leaf(row.text(0)));
    if (is_event(entry)) batch.events.push_back(event_of(std::move(entry)));
  }
  return batch;
}

Listener listener_of(const Rights& rights) {
  return {known_projects(rights), permitting_projects(rights, "compute_profile:write")};
}

std::optional<Event> seen_by(const Listener& listener, const Event& event) {
  const Projects& known = listener.known;
  if (event.kind.starts_with("sku") && !listener.writes_skus.contains(event.project))
    return std::nullopt;
  if (!event.project.empty() && !known.contains(event.project)) return std::nullopt;
  if (event.project.empty() && !known.all && !is_for_everybody(event)) return std::nullopt;
  Event seen = event;
  seen.changes = {};
  for (const json::value& change : event.changes) {
    if (known.contains(text_or(change, "project", ""))) seen.changes.push_back(change);
  }
  return seen;
}

Result<Answer> list_events(Service& service, const Caller& caller, const ListEvents& what) {
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    json::array items;
    EXA_ASSIGN(int64_t seen, newest_revision(tx));
    const Listener listener = listener_of(caller.principal.rights);
    if (what.since) {
      EXA_ASSIGN(const EventBatch batch, events_after(tx, *what.since, what.limit));
      seen = batch.seen;
      for (const Event& event : batch.events)
        if (const auto visible = seen_by(listener, event)) items.emplace_back(to_json(*visible));
    }
    Answer answer;
    answer.body = {{"items", std::move(items)}, {"revision", seen}};
    return answer;
  });
}

}  // namespace exa
