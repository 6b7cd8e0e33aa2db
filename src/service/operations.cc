#include "service/operations.h"

#include <fmt/format.h>

#include "base/json_or_null.h"
#include "service/stored.h"

namespace exa {
namespace {

constexpr Duration kKept = hours(24 * 30);
constexpr Duration kKeyKept = hours(24);  // as long as other answers are kept for their key
constexpr std::string_view kColumns =
    "id, route, target, started_by, worker, state, cancel_requested, progress, status, answer, "
    "created_at, ended_at";

enum Column {
  kId,
  kRoute,
  kTarget,
  kStartedBy,
  kWorker,
  kState,
  kCancelRequested,
  kProgress,
  kStatus,
  kAnswer,
  kCreatedAt,
  kEndedAt
};

bool goes_on(std::string_view state) {
  return state == name(OperationState::queued) || state == name(OperationState::running);
}

bool sees_all(const Caller& caller) {
  return permitted(caller.principal.rights, "user:read", "");
}

std::string progress_text(const LiveOperation::Seen& seen) {
  if (seen.what.empty()) return {};
  return to_text(
      json::object{{"what", seen.what},
                   {"done", seen.done},
                   {"total", seen.total == 0 ? json::value(nullptr) : json::value(seen.total)}});
}

// Whether the process that does it lives: it holds the name as long as it does.
Result<bool> worker_lives(Service& service, const std::string& worker) {
  EXA_ASSIGN(const auto owned, service.store().try_own(worker));
  return owned == nullptr;
}

// Without its id: somebody else's is answered like one that never was.
Failure not_there() {
  return fail(Code::not_found, "there is no such operation", "exa operation list");
}

// As it stands now: what this process does is asked, what another one does is as it wrote down.
Result<json::object> document(Service& service, const Row& row) {
  std::string state = row.text(kState);
  std::string progress = row.text(kProgress);
  if (goes_on(state)) {
    if (const auto live = service.live_operations().find(row.text(kId))) {
      progress = progress_text(live->seen());
    } else {
      EXA_ASSIGN(const bool lives, worker_lives(service, row.text(kWorker)));
      if (!lives) state = name(OperationState::interrupted);
    }
  }
  json::value so_far = nullptr;
  if (!progress.empty()) {
    EXA_ASSIGN(so_far, parse_stored(progress, "a stored progress"));
  }
  return json::object{
      {"id", row.text(kId)},
      {"route", row.text(kRoute)},
      {"target", row.text(kTarget)},
      {"state", state},
      {"started_by", row.text(kStartedBy)},
      {"created_at", format_rfc3339(Time{row.integer(kCreatedAt)})},
      {"ended_at", row.is_null(kEndedAt)
                       ? json::value(nullptr)
                       : json::value(format_rfc3339(Time{row.integer(kEndedAt)}))},
      {"cancel_requested", row.integer(kCancelRequested) != 0},
      {"progress", std::move(so_far)},
      {"status", row.is_null(kStatus) ? json::value(nullptr) : json::value(row.integer(kStatus))}};
}

// With what the caller would have got at once.
Result<json::object> whole_document(Service& service, const Row& row) {
  EXA_ASSIGN(json::object operation, document(service, row));
  operation["answer"] = nullptr;
  if (!row.is_null(kAnswer)) {
    EXA_ASSIGN(operation["answer"],
               parse_stored(row.text(kAnswer), "a stored answer", tool_output_limits()));
  }
  return operation;
}

// `action`: "ACTION" or "ACTION PROJECT". Of work on an object whose project the row does not tell,
// whoever may do it in some project.
bool may_ask(const Caller& caller, const std::string& action) {
  const Rights& rights = caller.principal.rights;
  const size_t space = action.find(' ');
  const std::string_view name = std::string_view(action).substr(0, space);
  if (space != std::string::npos) return permitted(rights, name, action.substr(space + 1));
  return permitted(rights, name, "") ||
         std::ranges::any_of(caller.known.names, [&](const std::string& project) {
           return permitted(rights, name, project);
         });
}

// Those that the caller may see, as a condition: their own or everybody's, and of them what they
// may still ask for. An answer is not for who could not get it now.
Result<std::string> visible(Transaction& tx, const Caller& caller, std::vector<Value>& values) {
  values.emplace_back(caller.principal.id);
  values.emplace_back(int64_t{sees_all(caller)});
  std::string condition = fmt::format("(principal = ${} OR ${} = 1) AND action IN (''",
                                      values.size() - 1, values.size());
  EXA_ASSIGN(const auto actions, tx.rows("SELECT DISTINCT action FROM operation"));
  for (const Row& row : actions) {
    if (!may_ask(caller, row.text(0))) continue;
    values.emplace_back(row.text(0));
    condition += fmt::format(", ${}", values.size());
  }
  return condition + ")";
}

Result<Row> visible_row(Transaction& tx, const Caller& caller, const std::string& id) {
  std::vector<Value> values{id};
  EXA_ASSIGN(const std::string condition, visible(tx, caller, values));
  EXA_ASSIGN(const auto rows, tx.rows(fmt::format("SELECT {} FROM operation WHERE id = $1 AND {}",
                                                  kColumns, condition),
                                      std::span<const Value>(values)));
  if (rows.empty()) return not_there();
  return rows[0];
}

// The operation that this very request began before, with its key.
// One that was interrupted lets its key go: whoever asks again wants the work, not its ruin.
Result<std::optional<Row>> begun_before(Service& service, Transaction& tx, const Caller& caller,
                                        Time now) {
  std::optional<Row> none;
  if (caller.idempotency_key.empty()) return none;
  EXA_ASSIGN(const auto rows,
             tx.rows(fmt::format("SELECT {}, request_digest FROM operation WHERE principal = $1 "
                                 "AND idempotency_key = $2 AND created_at >= $3",
                                 kColumns),
                     {caller.principal.id, caller.idempotency_key, now.micros - kKeyKept.micros}));
  if (rows.empty()) return none;
  if (rows[0].text(kEndedAt + 1) != caller.request_digest) {
    return fail(Code::conflict,
                "this idempotency key was used for a different request; use a new key");
  }
  EXA_ASSIGN(const json::object seen, document(service, rows[0]));
  if (text_or(seen, "state", "") != name(OperationState::interrupted))
    return std::optional(rows[0]);
  EXA_TRY(
      tx.change("UPDATE operation SET idempotency_key = NULL WHERE id = $1", {rows[0].text(kId)}));
  return none;
}

Result<void> require_a_place(Transaction& tx, const Caller& caller, bool full) {
  EXA_ASSIGN(const auto rows,
             tx.rows("SELECT COUNT(*) FROM operation WHERE principal = $1 AND ended_at IS NULL",
                     {caller.principal.id}));
  const int64_t own = rows.at(0).integer(0);
  if (!full && own < kMostOperationsOfOne) return {};
  return fail(Code::too_many_requests,
              full ? "too much long work waits here already; ask again later"
                   : fmt::format("{} pieces of long work of yours go on already", own),
              "exa operation list");
}

Result<void> require_alone(Service& service, Transaction& tx, const NewOperation& what) {
  EXA_ASSIGN(const auto rows,
             tx.rows("SELECT id, worker, started_by FROM operation WHERE route = $1 AND target = "
                     "$2 AND changes = 1 AND state IN ('queued', 'running')",
                     {what.route, what.target}));
  for (const Row& row : rows) {
    if (!service.live_operations().find(row.text(0))) {
      EXA_ASSIGN(const bool lives, worker_lives(service, row.text(1)));
      if (!lives) continue;
    }
    return fail(
        Code::conflict,
        fmt::format("{} is being done there already, asked for by {}", what.route, row.text(2)),
        fmt::format("exa operation show {}", row.text(0)));
  }
  return {};
}

Result<Answer> accepted(Service& service, const Row& row) {
  Answer answer;
  answer.status = 202;
  EXA_ASSIGN(answer.body, whole_document(service, row));
  return answer;
}

}  // namespace

std::string_view name(OperationState state) {
  switch (state) {
    case OperationState::queued:
      return "queued";
    case OperationState::running:
      return "running";
    case OperationState::done:
      return "done";
    case OperationState::failed:
      return "failed";
    case OperationState::cancelled:
      return "cancelled";
    case OperationState::interrupted:
      return "interrupted";
  }
  return "";
}

Result<BegunOperation> begin_operation(Service& service, const Caller& caller,
                                       const NewOperation& what, bool full) {
  const std::string id = service.around().new_id();
  service.live_operations().begin(id);  // before anybody can find its row
  BegunOperation begun;
  const Result<void> stored = service.store().write([&](Transaction& tx) -> Result<void> {
    begun = {id, false, {}};
    const Time now = service.now();
    EXA_ASSIGN(const auto before, begun_before(service, tx, caller, now));
    if (before) {
      begun.id = before->text(kId);
      EXA_ASSIGN(begun.answer, accepted(service, *before));
      return {};
    }
    EXA_TRY(require_a_place(tx, caller, full));
    if (what.changes) EXA_TRY(require_alone(service, tx, what));
    EXA_TRY(tx.change("DELETE FROM operation WHERE created_at < $1 AND ended_at IS NOT NULL",
                      {now.micros - kKept.micros}));
    const Value key =
        caller.idempotency_key.empty() ? Value(nullptr) : Value(caller.idempotency_key);
    EXA_TRY(tx.change(
        "INSERT INTO operation VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 0, '', NULL, "
        "NULL, $12, NULL)",
        {id, what.route, what.target, what.action, caller.principal.id, caller.principal.name, key,
         caller.request_digest, int64_t{what.changes}, what.worker,
         std::string(name(OperationState::queued)), now.micros}));
    begun.fresh = true;
    EXA_ASSIGN(const auto rows,
               tx.rows(fmt::format("SELECT {} FROM operation WHERE id = $1", kColumns), {id}));
    EXA_ASSIGN(begun.answer, accepted(service, rows.at(0)));
    return {};
  });
  if (!stored || !begun.fresh) service.live_operations().end(id);
  EXA_TRY(stored);
  return begun;
}

Result<void> operation_runs(Service& service, const std::string& id) {
  return service.store().write([&](Transaction& tx) -> Result<void> {
    EXA_TRY(tx.change("UPDATE operation SET state = $2 WHERE id = $1",
                      {id, std::string(name(OperationState::running))}));
    return {};
  });
}

Result<void> end_operation(Service& service, const std::string& id, const OperationEnd& end) {
  EXA_ASSIGN(json::value body, parse_json(end.body, "answer", tool_output_limits()));
  json::object answer{{"status", end.status},
                      {"exit_code", end.exit_code},
                      {"notices", json::array(end.notices.begin(), end.notices.end())},
                      {"body", std::move(body)}};
  const auto live = service.live_operations().find(id);
  const std::string progress = live ? progress_text(live->seen()) : std::string();
  const Result<void> stored = service.store().write([&](Transaction& tx) -> Result<void> {
    EXA_TRY(
        tx.change("UPDATE operation SET state = $2, status = $3, answer = $4, progress = $5, "
                  "ended_at = $6 WHERE id = $1",
                  {id, std::string(name(end.state)), int64_t{end.status}, to_text(answer), progress,
                   service.now().micros}));
    return {};
  });
  // until it is on record it is going on: its worker tries again
  if (stored) service.live_operations().end(id);
  return stored;
}

Result<void> note_progress(Service& service) {
  const auto live = service.live_operations().all();
  if (live.empty()) return {};
  EXA_TRY(service.store().read([&](Transaction& tx) -> Result<void> {
    EXA_ASSIGN(const auto rows,
               tx.rows("SELECT id FROM operation WHERE cancel_requested = 1 AND ended_at IS NULL"));
    for (const Row& row : rows)
      if (const auto unwanted = service.live_operations().find(row.text(0))) unwanted->cancel();
    return {};
  }));
  // this process answers for them itself where nobody else reads the store
  if (service.store().only_writer()) return {};
  return service.store().write([&](Transaction& tx) -> Result<void> {
    for (const auto& [id, operation] : live) {
      EXA_TRY(tx.change("UPDATE operation SET progress = $2 WHERE id = $1 AND ended_at IS NULL",
                        {id, progress_text(operation->seen())}));
    }
    return {};
  });
}

Result<void> sweep_operations(Service& service) {
  std::vector<std::string> left;
  EXA_TRY(service.store().read([&](Transaction& tx) -> Result<void> {
    EXA_ASSIGN(const auto rows,
               tx.rows("SELECT id, worker FROM operation WHERE ended_at IS NULL ORDER BY id"));
    for (const Row& row : rows) {
      if (service.live_operations().find(row.text(0))) continue;
      EXA_ASSIGN(const bool lives, worker_lives(service, row.text(1)));
      if (!lives) left.push_back(row.text(0));
    }
    return {};
  }));
  if (left.empty()) return {};
  return service.store().write([&](Transaction& tx) -> Result<void> {
    for (const std::string& id : left) {
      EXA_TRY(tx.change(
          "UPDATE operation SET state = $2, ended_at = $3 WHERE id = $1 AND ended_at IS NULL",
          {id, std::string(name(OperationState::interrupted)), service.now().micros}));
    }
    return {};
  });
}

Result<Answer> list_operations(Service& service, const Caller& caller, int64_t limit,
                               const std::string& after) {
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    // ids grow with time: the newest comes first
    std::vector<Value> values{after, limit + 1};
    EXA_ASSIGN(const std::string condition, visible(tx, caller, values));
    EXA_ASSIGN(const auto rows,
               tx.rows(fmt::format("SELECT {} FROM operation WHERE ($1 = '' OR id < $1) AND {} "
                                   "ORDER BY id DESC LIMIT $2",
                                   kColumns, condition),
                       std::span<const Value>(values)));
    json::array items;
    json::value next = nullptr;
    for (const Row& row : rows) {
      if (static_cast<int64_t>(items.size()) == limit) {
        next = rows[items.size() - 1].text(kId);
        break;
      }
      EXA_ASSIGN(json::object operation, document(service, row));
      items.emplace_back(std::move(operation));
    }
    Answer answer;
    answer.body = {{"items", std::move(items)}, {"next_cursor", std::move(next)}};
    return answer;
  });
}

Result<Answer> show_operation(Service& service, const Caller& caller, const std::string& id) {
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    EXA_ASSIGN(const Row row, visible_row(tx, caller, id));
    Answer answer;
    EXA_ASSIGN(answer.body, whole_document(service, row));
    return answer;
  });
}

Result<Answer> cancel_operation(Service& service, const Caller& caller, const std::string& id) {
  // The work may hold the writer's turn (a backup): it hears of it before this waits for that.
  EXA_TRY(service.store().read([&](Transaction& tx) -> Result<void> {
    EXA_TRY(visible_row(tx, caller, id));
    return {};
  }));
  if (const auto live = service.live_operations().find(id); live && !caller.dry_run) live->cancel();
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_ASSIGN(const Row row, visible_row(tx, caller, id));
    EXA_ASSIGN(const json::object before, document(service, row));
    const std::string state(text_or(before, "state", ""));
    const bool just_cancelled =
        state == name(OperationState::cancelled) && row.integer(kCancelRequested) == 0;
    if (!goes_on(state) && !just_cancelled) {
      return fail(Code::conflict, fmt::format("operation {} has ended already: {}", id, state),
                  fmt::format("exa operation show {}", id));
    }
    EXA_TRY(tx.change("UPDATE operation SET cancel_requested = 1 WHERE id = $1", {id}));
    deed.object_kind = "operation";
    deed.object_name = id;
    deed.details = {{"route", row.text(kRoute)}, {"target", row.text(kTarget)}};
    EXA_ASSIGN(const Row after, visible_row(tx, caller, id));
    Answer answer;
    EXA_ASSIGN(answer.body, whole_document(service, after));
    return answer;
  });
}

}  // namespace exa
