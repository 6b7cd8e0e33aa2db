// The audit log where it meets the store and the data folder: appends in the caller's transaction,
// signs a checkpoint after each commit, and refuses changes once the log contradicts the last
// checkpoint. The pure part (tree, entries, proofs) is audit/.
#pragma once

#include <filesystem>
#include <mutex>
#include <optional>
#include <string>

#include "audit/checkpoint.h"
#include "audit/entry.h"
#include "audit/key.h"
#include "audit/merkle.h"
#include "store/store.h"

namespace exa {

// The files of a log, in the data folder of whoever writes it.
inline constexpr std::string_view kAuditKeyFile = "audit.key";  // 0600
inline constexpr std::string_view kAuditPublicKeyFile = "audit.pub";
inline constexpr std::string_view kAuditCheckpointFile = "checkpoint";

class AuditTrail {
 public:
  // The folder holds audit.key (0600), audit.pub and checkpoint; made at the first append.
  explicit AuditTrail(std::filesystem::path folder);

  // Every call is safe from any thread. That a checkpoint follows from what was appended rests on
  // the store, which has one writer at a time.

  // Gives the entry its index and appends it. audit_broken when the log is shorter than, or differs
  // from, the last signed checkpoint: the database was cut, edited or replaced by an old copy.
  Result<void> append(Transaction& tx, AuditEntry entry);

  // As append, for the entry with which an operator explains why the log and its checkpoint differ.
  // What the checkpoint said goes into the entry.
  Result<void> append_recovery(Transaction& tx, AuditEntry entry);

  // Signs and stores the checkpoint of the log as `tx` sees it, unless the last one covers all that
  // was appended here; to be called after a commit while no other process can write. An error is
  // worth a notice, not a failure: the change is durable and the next checkpoint covers it.
  Result<void> sign_checkpoint(Transaction& tx, Time now);

  const std::filesystem::path& folder() const { return folder_; }

  // The last stored checkpoint note, if there is one; and the public key.
  Result<std::optional<std::string>> stored_checkpoint() const;
  Result<std::optional<PublicKey>> public_key() const;

 private:
  // What tells that a file is the one that was read: replacing it changes its inode or its time.
  struct FileState {
    uint64_t inode = 0;
    int64_t changed_at = 0;  // nanoseconds
    uint64_t bytes = 0;
    bool operator==(const FileState&) const = default;
  };
  std::optional<FileState> checkpoint_file() const;  // nullopt: it cannot be looked at

  // The checkpoint file as it was last found: read once, and its signature verified once.
  struct VerifiedNote {
    std::string text;
    Checkpoint checkpoint;
    FileState file;  // the file that it was read from, or written to
  };
  struct LogState {
    std::string log_id;
    Frontier frontier;
    Time last_time;
  };
  static Result<std::optional<LogState>> load_state(Transaction& tx);
  Result<LogState> state_or_new(Transaction& tx, Time now);
  Result<void> append_to(Transaction& tx, LogState state, AuditEntry entry);
  Result<void> load_key(const std::optional<std::string>& log_id_in_store);
  Result<void> store_checkpoint(const Frontier& frontier, Time now);
  Result<void> agree_with_checkpoint(Transaction& tx, const Frontier& frontier);

  std::filesystem::path folder_;
  std::mutex mutex_;
  std::optional<SigningKey> key_;
  uint64_t appended_ = 0;  // size of the log after the last append, whether or not it was committed
  std::optional<VerifiedNote> verified_;
};

}  // namespace exa
