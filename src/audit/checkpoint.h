// A signed statement of the log's size and root: a C2SP checkpoint (tlog-checkpoint inside
// signed-note), so that any witness of that ecosystem can cosign it. Format: docs/audit-format.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "audit/digest.h"
#include "audit/key.h"
#include "base/error.h"
#include "base/time.h"

namespace exa {

struct Checkpoint {
  std::string origin;  // origin_of(log id)
  uint64_t size = 0;   // how many entries it covers
  Hash root{};
  std::optional<Time> time;  // when it was signed

  bool operator==(const Checkpoint&) const = default;
};

std::string note_text(const Checkpoint& checkpoint);  // the bytes that are signed

// The whole note. The key's name must be the checkpoint's origin (asserted).
std::string sign_checkpoint(const Checkpoint& checkpoint, const SigningKey& key);

// Reads without looking at the signatures: for showing and sorting, never for trusting.
Result<Checkpoint> parse_checkpoint(std::string_view text);

enum class CheckpointFault { malformed, unknown_key, bad_signature, other_log };

struct CheckpointRefusal {
  CheckpointFault fault;
  std::string message;
};

// Well-formed, of the log that `key` belongs to, and signed by it. Signatures of other keys
// (witnesses) are ignored; every signature under `key`'s name and id must be good.
tl::expected<Checkpoint, CheckpointRefusal> check_checkpoint(std::string_view text,
                                                             const PublicKey& key);
Result<Checkpoint> verify_checkpoint(std::string_view text, const PublicKey& key);  // audit_broken

}  // namespace exa
