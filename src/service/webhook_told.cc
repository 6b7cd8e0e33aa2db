#include "service/webhook_told.h"

#include "audit/digest.h"

namespace exa {

Result<std::optional<int64_t>> told_up_to(Transaction& tx, const std::string& target) {
  EXA_ASSIGN(const auto rows,
             tx.rows("SELECT revision FROM webhook_told WHERE target = $1", {sha256_hex(target)}));
  return rows.empty() ? std::nullopt : std::optional(rows[0].integer(0));
}

Result<void> note_told(Transaction& tx, const std::string& target, int64_t revision) {
  EXA_TRY(
      tx.change("INSERT INTO webhook_told (target, revision) VALUES ($1, $2) "
                "ON CONFLICT (target) DO UPDATE SET revision = $2",
                {sha256_hex(target), revision}));
  return {};
}

}  // namespace exa
