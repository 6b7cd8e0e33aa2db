// Is a log the one that its checkpoints vouch for? Pure: rows come in through a callback, the
// answer is data that names the first thing wrong and where. What this can and cannot find:
// docs/audit-format.md, "What verification proves".
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/digest.h"
#include "audit/key.h"
#include "base/error.h"
#include "base/json.h"

namespace exa {

enum class Finding {
  consistent,
  no_checkpoint,  // nothing signed was given, so nothing is proven
  malformed_checkpoint,
  unknown_key,  // signed by another key, or the key is not the one that was expected
  bad_signature,
  other_log,             // signed by this key for another log
  checkpoints_disagree,  // two signed roots for one size: two histories
  gap,                   // an index is skipped
  out_of_order,          // an index stands again or too late
  leaf_hash_differs,     // the stored hash is not that of the stored text
  malformed_entry,
  time_backwards,
  root_differs,   // entries were changed and hashed anew, or are those of another history
  log_too_short,  // cut, or an old copy was restored
  not_covered,    // a bundle holds entries that its last checkpoint does not cover
  malformed_bundle,
};

std::string_view name(Finding finding);  // "root_differs"

struct Verdict {
  bool ok = false;
  Finding finding = Finding::no_checkpoint;
  std::string
      where;  // "entry 7", "entries 7 to 13", "checkpoint 2", "line 9", "end"; empty when ok
  std::string sentence;                     // for people
  std::optional<int64_t> first_bad_index;   // the trouble lies at or after this entry …
  std::optional<int64_t> last_bad_index;    // … and not after this one
  uint64_t size = 0;                        // entries read before the first trouble
  Hash root{};                              // of those
  std::optional<uint64_t> checkpoint_size;  // of the newest checkpoint that was reached and matched
  uint64_t entries_after_checkpoint = 0;    // not signed yet: a change there cannot be seen
  std::string key;  // text of the public key that the checkpoints were checked with

  bool operator==(const Verdict&) const = default;
};

json::object to_json(const Verdict& verdict);

// One stored row. The views need to live only until the next row is asked for.
struct LogRow {
  int64_t index = 0;
  std::string_view leaf_text;
  std::optional<Hash> leaf_hash;  // as stored; nothing where only the text is kept
};

// Fills `row` and returns true, or returns false at the end. An error of the source (a database
// that cannot be read) ends the verification with that error: it is no verdict about the log.
using NextRow = std::function<Result<bool>(LogRow& row)>;

struct LogView {
  PublicKey key;
  std::vector<std::string> checkpoints;  // full texts, any order: remembered ones, cosigned ones, …
  NextRow next_row;                      // from index 0
};

Result<Verdict> verify_log(const LogView& view);

}  // namespace exa
