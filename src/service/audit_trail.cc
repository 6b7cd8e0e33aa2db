#include "service/audit_trail.h"

#include <random>
#include <system_error>

#include <fmt/format.h>
#include <sys/stat.h>

#include "audit/key_file.h"
#include "base/private_folder.h"

namespace exa {
namespace {

std::string new_log_id() {
  std::random_device source;
  return fmt::format("{:08x}{:08x}", source(), source());
}

Result<void> store_state(Transaction& tx, const std::string& log_id, const Frontier& frontier,
                         Time last_time) {
  EXA_TRY(
      tx.change("INSERT INTO audit_state (one, log_id, frontier, last_time) VALUES (1, $1, $2, $3) "
                "ON CONFLICT (one) DO UPDATE SET frontier = $2, last_time = $3",
                {log_id, Bytes{to_bytes(frontier)}, last_time.micros}));
  return {};
}

template <typename T>
Result<std::optional<T>> unless_missing(Result<T> value) {
  if (value) return std::optional<T>(std::move(*value));
  if (value.error().code == Code::not_found) return std::optional<T>();
  return fail(std::move(value).error());
}

}  // namespace

AuditTrail::AuditTrail(std::filesystem::path folder) : folder_(std::move(folder)) {}

Result<std::optional<std::string>> AuditTrail::stored_checkpoint() const {
  return unless_missing(read_checkpoint_file(folder_ / kAuditCheckpointFile));
}

Result<std::optional<PublicKey>> AuditTrail::public_key() const {
  return unless_missing(read_public_key_file(folder_ / kAuditPublicKeyFile));
}

std::optional<AuditTrail::FileState> AuditTrail::checkpoint_file() const {
  struct stat status {};
  if (::stat((folder_ / kAuditCheckpointFile).c_str(), &status) != 0) return std::nullopt;
  return FileState{status.st_ino, status.st_ctim.tv_sec * 1'000'000'000 + status.st_ctim.tv_nsec,
                   static_cast<uint64_t>(status.st_size)};
}

// The key is made before the first entry is: a crash between the two leaves a key without a log,
// which the next start takes up. A log without its key was robbed of it.
Result<void> AuditTrail::load_key(const std::optional<std::string>& log_id_in_store) {
  if (key_) return {};
  EXA_ASSIGN(auto stored, unless_missing(load_key_file(folder_ / kAuditKeyFile)));
  if (!stored) {
    if (log_id_in_store) {
      return fail(Code::audit_broken,
                  fmt::format("{} is missing: the log {} cannot be continued without its key",
                              (folder_ / kAuditKeyFile).string(), *log_id_in_store),
                  "exa audit verify");
    }
    EXA_TRY(make_private_folder(folder_));  // a store on a server has not made it
    EXA_TRY(create_key_file(folder_ / kAuditKeyFile, SigningKey::generate(new_log_id())));
    EXA_ASSIGN(SigningKey fresh, load_key_file(folder_ / kAuditKeyFile));
    stored = std::move(fresh);
  }
  if (log_id_in_store && stored->public_key().name != origin_of(*log_id_in_store)) {
    return fail(Code::audit_broken,
                fmt::format("{} is the key of {}, but the database holds the log {}",
                            (folder_ / kAuditKeyFile).string(), stored->public_key().name,
                            *log_id_in_store),
                "exa audit verify");
  }
  EXA_ASSIGN(const auto published, public_key());
  if (!published)
    EXA_TRY(write_public_key_file(folder_ / kAuditPublicKeyFile, stored->public_key()));
  key_ = std::move(stored);
  return {};
}

Result<std::optional<AuditTrail::LogState>> AuditTrail::load_state(Transaction& tx) {
  EXA_ASSIGN(const auto rows,
             tx.rows("SELECT log_id, frontier, last_time FROM audit_state WHERE one = 1"));
  std::optional<LogState> state;
  if (rows.empty()) return state;
  EXA_ASSIGN(Frontier frontier, frontier_from_bytes(rows[0].bytes(1)));
  state = LogState{rows[0].text(0), std::move(frontier), Time{rows[0].integer(2)}};
  return state;
}

// The checkpoint may be older than the log (the process died between commit and signature), never
// newer, and never missing: one of size 0 was there before the first entry. Whether its beginning
// is the same history is for `exa audit verify`, which reads it all.
Result<void> AuditTrail::agree_with_checkpoint(Transaction& tx, const Frontier& frontier) {
  const auto broken = [](std::string message) {
    return fail(Code::audit_broken, std::move(message),
                "exa audit verify, then exa audit recover --reason \"…\" once it is explained");
  };
  const auto file = checkpoint_file();
  if (!verified_ || !file || verified_->file != *file) {
    EXA_ASSIGN(const auto text, stored_checkpoint());
    if (!text) return broken("the file checkpoint is missing from the data folder");
    if (!verified_ || verified_->text != *text) {
      EXA_ASSIGN(Checkpoint verified, verify_checkpoint(*text, key_->public_key()));
      verified_ = {*text, std::move(verified), {}};
    }
    verified_->file = file.value_or(FileState{});
  }
  const Checkpoint& checkpoint = verified_->checkpoint;
  if (frontier.size < checkpoint.size) {
    return broken(fmt::format(
        "the audit log holds {} entries, but {} were signed: it was cut, or an old copy "
        "of the database was restored",
        frontier.size, checkpoint.size));
  }
  if (frontier.size == checkpoint.size && root(frontier) != checkpoint.root) {
    return broken("the audit log differs from what its last checkpoint signed");
  }
  EXA_ASSIGN(const auto last, tx.rows("SELECT COALESCE(MAX(idx), -1) + 1 FROM audit_entry"));
  if (static_cast<uint64_t>(last.at(0).integer(0)) != frontier.size) {
    return broken(fmt::format("the audit log should hold {} entries, but ends after {}",
                              frontier.size, last.at(0).integer(0)));
  }
  return {};
}

Result<AuditTrail::LogState> AuditTrail::state_or_new(Transaction& tx, Time now) {
  EXA_ASSIGN(auto state, load_state(tx));
  EXA_TRY(load_key(state ? std::optional(state->log_id) : std::nullopt));
  if (state) return *std::move(state);
  constexpr std::string_view kOriginPrefix = "exa/audit/";
  LogState fresh{key_->public_key().name.substr(kOriginPrefix.size()), {}, {}};
  // Signed before the first entry exists, so that even a crash right after it leaves a log with a
  // checkpoint to be held against.
  EXA_ASSIGN(const auto stored, stored_checkpoint());
  if (!stored) EXA_TRY(store_checkpoint(fresh.frontier, now));
  return fresh;
}

Result<void> AuditTrail::append(Transaction& tx, AuditEntry entry) {
  const std::lock_guard lock(mutex_);
  EXA_ASSIGN(LogState state, state_or_new(tx, entry.time));
  EXA_TRY(agree_with_checkpoint(tx, state.frontier));
  return append_to(tx, std::move(state), std::move(entry));
}

Result<void> AuditTrail::append_recovery(Transaction& tx, AuditEntry entry) {
  const std::lock_guard lock(mutex_);
  EXA_ASSIGN(LogState state, state_or_new(tx, entry.time));
  // The tree is built again from the rows that are there: from now on they are the log.
  EXA_ASSIGN(const auto rows, tx.rows("SELECT idx, leaf FROM audit_entry ORDER BY idx"));
  Frontier rebuilt;
  for (const Row& row : rows) {
    if (row.integer(0) != static_cast<int64_t>(rebuilt.size)) {
      return fail(Code::audit_broken,
                  fmt::format("entry {} is missing: only a backup can mend that", rebuilt.size));
    }
    const Hash hash = leaf_hash(row.text(1));
    EXA_TRY(tx.change("UPDATE audit_entry SET leaf_hash = $2 WHERE idx = $1",
                      {row.integer(0), Bytes{std::string(bytes_of(hash))}}));
    exa::append(rebuilt, hash);
  }
  EXA_ASSIGN(const auto checkpoint, stored_checkpoint());
  entry.details["entries_found"] = static_cast<int64_t>(rebuilt.size);
  entry.details["checkpoint_before"] = checkpoint ? json::value(*checkpoint) : json::value(nullptr);
  // What the last checkpoint covers is of the log that this entry ends: it may be the longer one.
  verified_.reset();
  state.frontier = std::move(rebuilt);
  return append_to(tx, std::move(state), std::move(entry));
}

Result<void> AuditTrail::append_to(Transaction& tx, LogState state, AuditEntry entry) {
  entry.index = static_cast<int64_t>(state.frontier.size);
  entry.time = std::max(entry.time, state.last_time);  // a clock set back must not reorder the log
  EXA_ASSIGN(const std::string leaf, leaf_text(entry));
  const Hash hash = leaf_hash(leaf);
  EXA_TRY(tx.change("INSERT INTO audit_entry (idx, leaf, leaf_hash) VALUES ($1, $2, $3)",
                    {entry.index, leaf, Bytes{std::string(bytes_of(hash))}}));
  exa::append(state.frontier, hash);
  EXA_TRY(store_state(tx, state.log_id, state.frontier, entry.time));
  appended_ = state.frontier.size;
  return {};
}

Result<void> AuditTrail::sign_checkpoint(Transaction& tx, Time now) {
  const std::lock_guard lock(mutex_);
  if (verified_ && verified_->checkpoint.size >= appended_) return {};
  EXA_ASSIGN(const auto state, load_state(tx));
  if (!state || !key_) return {};
  return store_checkpoint(state->frontier, now);
}

Result<void> AuditTrail::store_checkpoint(const Frontier& frontier, Time now) {
  Checkpoint checkpoint{key_->public_key().name, frontier.size, root(frontier), now};
  std::string note = exa::sign_checkpoint(checkpoint, *key_);
  EXA_TRY(write_checkpoint_file(folder_ / kAuditCheckpointFile, note));
  verified_ = {std::move(note), std::move(checkpoint), checkpoint_file().value_or(FileState{})};
  return {};
}

}  // namespace exa
