#include "service/service.h"

#include <fmt/format.h>

#include "audit/digest.h"
#include "base/redact.h"
#include "service/entity_tag.h"
#include "service/stored.h"

namespace exa {
namespace {

constexpr Duration kReplayWindow = hours(24);

AuditEntry entry_for(const Caller& caller, Time now) {
  AuditEntry entry;
  entry.time = now;
  entry.actor_kind = caller.principal.kind;
  entry.actor_name = caller.principal.name;
  entry.actor_id = caller.principal.id;
  entry.origin = caller.origin;
  entry.action = caller.action;
  // which of somebody's tokens it was: the first question when one leaks
  if (!caller.principal.token.empty()) entry.details["token"] = caller.principal.token;
  return entry;
}

std::string digest_of(const std::optional<json::value>& value) {
  return value ? sha256_hex(to_canonical_text(*value)) : std::string();
}

AuditEntry done_entry(const Caller& caller, Time now, const Deed& deed) {
  AuditEntry entry = entry_for(caller, now);
  entry.object_kind = deed.object_kind;
  entry.object_name = deed.object_name;
  entry.project = deed.project;
  entry.object_version = deed.version;
  entry.outcome = "done";
  entry.reason = deed.reason;
  entry.before_digest = digest_of(deed.before);
  entry.after_digest = digest_of(deed.after);
  for (const auto& member : deed.details) entry.details[member.key()] = member.value();
  return entry;
}

// A refused change names what was attempted. The name is what the caller typed, cut to a length
// that a log line bears; a token that was pasted as a name must not stay in the log for good.
AuditEntry refused_entry(const Caller& caller, Time now, const json::object& args,
                         const Error& error) {
  constexpr size_t kMostText = 512;
  const auto cut = [&](std::string_view text) {
    return without_secrets(text.substr(0, kMostText));
  };
  AuditEntry entry = entry_for(caller, now);
  entry.object_kind = caller.action.substr(0, caller.action.find('.'));
  entry.object_name = cut(text_or(args, "name", text_or(args, "id", "")));
  entry.project = cut(text_or(args, "project", ""));
  entry.outcome = "refused";
  entry.error_code = info(error.code).name;
  std::string reason = error.message;
  for (const Problem& problem : error.problems)
    reason += fmt::format("; {} {}", problem.where, problem.message);
  entry.reason = cut(reason);
  return entry;
}

// The change, if what it found is what the caller had read. Its own refusals come first, as RFC
// 9110 §13.2.1 wants it; the transaction dies with the error.
Result<Answer> matched_change(const Caller& caller, const Service::Change& change, Transaction& tx,
                              Deed& deed) {
  EXA_ASSIGN(Answer answer, change(tx, deed));
  EXA_TRY(check_match(caller.if_match, caller.requires_match, deed.before));
  if (caller.takes_match && deed.after) answer.etag = entity_tag_of(*deed.after);
  return answer;
}

// Whatever is not of the registry and of placement may be about who may do what.
bool touches_rights(std::string_view object_kind) {
  constexpr std::string_view kOthers[] = {"hardware_profile",
                                          "consumer",
                                          "decision",
                                          "lease",
                                          "burst_event",
                                          "cluster",
                                          "pool",
                                          "backup",
                                          "launch",
                                          "compute",
                                          "machine",
                                          "machine_source",
                                          "ml_platform",
                                          "provisioner",
                                          "sku",
                                          "sku_version",
                                          "instance",
                                          "environment_template",
                                          "instance_limits"};
  return std::ranges::find(kOthers, object_kind) == std::end(kOthers);
}

bool store_can_record(Code code) {
  switch (code) {
    case Code::store_unreachable:
    case Code::outcome_unknown:  // it may have been done: its own entry then says so
    case Code::store_unwritable:
    case Code::store_full:
    case Code::store_locked:
    case Code::store_newer:
    case Code::store_damaged:
    case Code::unreachable:
    case Code::interrupted:
    case Code::audit_broken:
      return false;
    default:
      return true;
  }
}

void also(Deed& deed, std::string_view kind, const std::string& name, std::string digest) {
  json::value& list = deed.details["also"];
  if (!list.is_array()) list = json::array();
  list.get_array().push_back(
      json::object{{"kind", kind}, {"name", name}, {"digest", std::move(digest)}});
}

}  // namespace

void also_wrote(Deed& deed, std::string_view kind, const std::string& name,
                const json::object& spec) {
  also(deed, kind, name, sha256_hex(to_canonical_text(spec)));
}

void also_removed(Deed& deed, std::string_view kind, const std::string& name) {
  also(deed, kind, name, "");
}

Service::Service(Store& store, AuditTrail& trail, Surroundings around)
    : store_(store), trail_(trail), around_(std::move(around)) {}

Result<Answer> Service::mutate(const Caller& caller, const Change& change) {
  std::optional<Answer> answer;
  Deed deed;
  if (caller.dry_run) {
    EXA_TRY(store_.rehearse([&](Transaction& tx) -> Result<void> {
      deed = {};
      EXA_ASSIGN(answer, matched_change(caller, change, tx, deed));
      return {};
    }));
    return *std::move(answer);
  }
  // The commit may come after this has returned, when others share it (Store::together).
  struct Kept {
    bool new_entry = false;
    bool rights = false;
    Result<void> checkpoint{};
  };
  const auto kept = std::make_shared<Kept>();
  EXA_TRY(store_.write(
      [&](Transaction& tx) -> Result<void> {
        deed = {};
        *kept = {};
        EXA_ASSIGN(answer, replayed(tx, caller));
        if (answer) return {};
        EXA_ASSIGN(answer, matched_change(caller, change, tx, deed));
        kept->new_entry = true;
        kept->rights = touches_rights(deed.object_kind);
        EXA_TRY(trail_.append(tx, done_entry(caller, now(), deed)));
        return keep_for_replay(tx, caller, *answer);
      },
      [this, kept](Transaction& tx) {
        if (kept->rights) ++rights_changes_;
        if (kept->new_entry) kept->checkpoint = trail_.sign_checkpoint(tx, now());
      }));
  if (!kept->checkpoint) {
    answer->notices.push_back(
        fmt::format("the change is stored, but its audit checkpoint could not be written: {}",
                    kept->checkpoint.error().message));
  }
  return *std::move(answer);
}

Result<Answer> Service::recover_audit(const Caller& caller, const std::string& reason) {
  const auto append = [&](Transaction& tx) {
    Deed deed;
    deed.object_kind = "audit";
    deed.object_name = "log";
    deed.reason = reason;
    return trail_.append_recovery(tx, done_entry(caller, now(), deed));
  };
  if (caller.dry_run) {
    EXA_TRY(store_.rehearse(append));
  } else {
    Result<void> checkpoint;
    EXA_TRY(store_.write(append,
                         [&](Transaction& tx) { checkpoint = trail_.sign_checkpoint(tx, now()); }));
    EXA_TRY(std::move(checkpoint));
  }
  Answer answer;
  answer.body = {{"recovered", !caller.dry_run}, {"reason", reason}};
  return answer;
}

Result<void> Service::audit_is_appendable() {
  return store_.rehearse([&](Transaction& tx) {
    AuditEntry entry = entry_for(
        {.principal = {"service-account", "exa", "exa"}, .action = "server.ready"}, now());
    entry.outcome = "done";
    return trail_.append(tx, std::move(entry));
  });
}

void Service::record_refusal(const Caller& caller, const json::object& args, const Error& error) {
  // Whoever is not signed in has no name to record, and must not be able to make the log grow.
  if (caller.dry_run || !caller.principal.signed_in() || !store_can_record(error.code)) return;
  // A refusal that cannot be recorded changes nothing about the refusal; the caller already has the
  // first error, which says more than a second one would.
  const Result<void> recorded = store_.write(
      [&](Transaction& tx) { return trail_.append(tx, refused_entry(caller, now(), args, error)); },
      [this](Transaction& tx) {
        [[maybe_unused]] const auto signed_now = trail_.sign_checkpoint(tx, now());
      });
  static_cast<void>(recorded);
}

Result<std::optional<Answer>> Service::repeated(const Caller& caller) {
  return read_value<std::optional<Answer>>(store_,
                                           [&](Transaction& tx) { return replayed(tx, caller); });
}

Result<std::optional<Answer>> Service::replayed(Transaction& tx, const Caller& caller) const {
  std::optional<Answer> none;
  if (caller.idempotency_key.empty()) return none;
  EXA_ASSIGN(
      const auto rows,
      tx.rows("SELECT request_digest, status, body FROM idempotency WHERE principal = $1 AND key "
              "= $2 AND kept_at >= $3",
              {caller.principal.id, caller.idempotency_key, now().micros - kReplayWindow.micros}));
  if (rows.empty()) return none;
  if (rows[0].text(0) != caller.request_digest) {
    return fail(Code::conflict,
                "this idempotency key was used for a different request; use a new key");
  }
  Answer answer;
  EXA_ASSIGN(answer.body, parse_stored_object(rows[0].text(2), "a kept reply"));
  answer.status = static_cast<int>(rows[0].integer(1));
  answer.notices.emplace_back("this request was done before; its first answer is repeated");
  return std::optional(std::move(answer));
}

Result<void> Service::keep_for_replay(Transaction& tx, const Caller& caller, const Answer& answer) {
  if (caller.idempotency_key.empty()) return {};
  json::object body = answer.body;
  if (!answer.shown_once.empty()) body[answer.shown_once] = nullptr;
  EXA_TRY(tx.change("DELETE FROM idempotency WHERE kept_at < $1",
                    {now().micros - kReplayWindow.micros}));
  EXA_TRY(tx.change("INSERT INTO idempotency VALUES ($1, $2, $3, $4, $5, $6)",
                    {caller.principal.id, caller.idempotency_key, caller.request_digest,
                     int64_t{answer.status}, to_text(body), now().micros}));
  return {};
}

}  // namespace exa
