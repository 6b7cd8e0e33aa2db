// The use cases' common ground: one transaction = state + audit entry + idempotency record.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/time.h"
#include "discover/probe.h"
#include "service/attempt_limiter.h"
#include "service/audit_trail.h"
#include "service/caller.h"
#include "service/live_operations.h"
#include "store/store.h"

namespace exa {

class Driver;

// The edges, passed in so that tests decide the time and what a cluster answers.
struct Surroundings {
  Clock clock;
  std::function<std::string()> new_id;  // unique, sortable by time
  std::function<Result<Capture>(const ClusterAddress&, Progress&)> probe;
  std::function<Result<std::unique_ptr<Driver>>(const ClusterAddress&, Progress&)> driver;
  std::function<void(Duration)> sleep;  // between two looks at what is waited for
};

// What a use case answers, before it becomes a reply.
struct Answer {
  json::object body;
  int status = 200;
  int exit_code = 0;
  std::vector<std::string> notices;
  std::optional<std::string> text;  // instead of `body`: JSON lines
  std::string etag;                 // of the document that it shows; empty: it has none
  std::string_view shown_once;      // a secret member of `body`: null when the answer is repeated
};

// What a change was about, for its audit entry. The use case fills it in as it learns it.
struct Deed {
  std::string object_kind;
  std::string object_name;
  std::string project;
  std::optional<int64_t> version;
  std::optional<json::value> before;  // digested, not stored
  std::optional<json::value> after;
  std::string reason;    // why, in the caller's words (--reason)
  json::object details;  // small facts worth reading later; never a secret
};

// Rows that a change wrote beside its own object; the log digests them all, so that none can be
// altered unseen. Each is a document of audit_replay's table.
void also_wrote(Deed& deed, std::string_view kind, const std::string& name,
                const json::object& spec);
void also_removed(Deed& deed, std::string_view kind, const std::string& name);

class Service {
 public:
  Service(Store& store, AuditTrail& trail, Surroundings around);

  Store& store() { return store_; }
  AuditTrail& trail() { return trail_; }
  Time now() const { return around_.clock(); }
  const Surroundings& around() const { return around_; }
  AttemptLimiter& sign_in_attempts() { return sign_in_attempts_; }
  LiveOperations& live_operations() { return live_operations_; }

  using Change = std::function<Result<Answer>(Transaction&, Deed&)>;

  // Runs `change` in one transaction with its audit entry and idempotency record; with
  // caller.dry_run nothing is kept. caller.if_match is held against what the change found
  // (deed.before) in that transaction: stale, or match_needed where it must be given and is not.
  // Refusals are recorded by record_refusal, in the router.
  Result<Answer> mutate(const Caller& caller, const Change& change);

  // What a request with this idempotency key got before, if it was done: for changes whose work is
  // outside of the store and comes before their entry.
  Result<std::optional<Answer>> repeated(const Caller& caller);

  // Takes the log as it is found for the log from now on, and says so in an entry: the only change
  // that is made although the log and its checkpoint disagree.
  Result<Answer> recover_audit(const Caller& caller, const std::string& reason);

  // Grows with every change made here to who may do what; what was found out about a caller while
  // it stood still holds as far as this process knows.
  uint64_t rights_changes() const { return rights_changes_.load(std::memory_order_acquire); }

  // Whether a change could be made now: an entry is appended and taken back.
  Result<void> audit_is_appendable();

  // A mutation that was refused is an entry of its own. Errors of the store itself cannot be
  // recorded and are not.
  void record_refusal(const Caller& caller, const json::object& args, const Error& error);

 private:
  Result<std::optional<Answer>> replayed(Transaction& tx, const Caller& caller) const;
  Result<void> keep_for_replay(Transaction& tx, const Caller& caller, const Answer& answer);

  Store& store_;
  AuditTrail& trail_;
  Surroundings around_;
  std::atomic<uint64_t> rights_changes_ = 0;
  AttemptLimiter sign_in_attempts_;
  LiveOperations live_operations_;
};

}  // namespace exa
