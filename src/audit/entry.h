// One entry of the audit log: who did or tried what, when, to which object, and how it ended.
// The stored form is the canonical JSON text (the leaf); it is kept verbatim and hashed, never
// written anew. Format: docs/audit-format.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/time.h"

namespace exa {

inline constexpr int64_t kEntryFormat = 1;
inline constexpr size_t kMaxLeafBytes = 65'535;  // what C2SP's tile format can carry

struct AuditEntry {
  int64_t index = 0;  // place in the log, from 0
  Time time;          // never before the entry before it: the writer takes the later of the two
  std::string actor_kind;  // "os-user", "user", "service-account"
  std::string actor_name;
  std::string actor_id;
  std::string origin;  // host and process, or request id
  std::string action;  // "hardware_profile.set"
  std::string object_kind;
  std::string object_name;
  std::string project;
  std::optional<int64_t> object_version;
  std::string outcome;     // "done", "refused"
  std::string error_code;  // as in base/error.h; empty exactly when done
  std::string reason;
  std::string before_digest;  // SHA-256 in hex of the object's canonical JSON, or empty
  std::string after_digest;
  json::object details;

  bool operator==(const AuditEntry&) const = default;
};

json::value to_json(const AuditEntry& entry);

// Refuses unknown, missing and ill-typed fields with invalid_input, all of them at once.
Result<AuditEntry> audit_entry_from_json(const json::value& value);
Result<AuditEntry> audit_entry_from_leaf(std::string_view leaf);  // refuses duplicate keys too

// What is stored and hashed. Bytes that are not UTF-8 (a host name, a refused name) are written as
// printable() does, since JSON cannot hold them. Fails with invalid_input when the entry breaks a
// rule of the format or its text is longer than kMaxLeafBytes.
Result<std::string> leaf_text(const AuditEntry& entry);

}  // namespace exa
