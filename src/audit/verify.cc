#include "audit/verify.h"

#include <fmt/format.h>

#include "audit/replay.h"
#include "base/json_or_null.h"
#include "base/text.h"

namespace exa {
namespace {

constexpr std::array<std::string_view, 16> kNames = {
    "consistent",    "no_checkpoint",     "malformed_checkpoint", "unknown_key",
    "bad_signature", "other_log",         "checkpoints_disagree", "gap",
    "out_of_order",  "leaf_hash_differs", "malformed_entry",      "time_backwards",
    "root_differs",  "log_too_short",     "not_covered",          "malformed_bundle",
};
static_assert(kNames.size() == static_cast<size_t>(Finding::malformed_bundle) + 1);

}  // namespace

std::string_view name(Finding finding) {
  return kNames[static_cast<size_t>(finding)];
}

json::object to_json(const Verdict& verdict) {
  json::object object;
  object["ok"] = verdict.ok;
  object["finding"] = name(verdict.finding);
  object["where"] = verdict.where;
  object["sentence"] = verdict.sentence;
  object["first_bad_index"] = number_or_null(verdict.first_bad_index);
  object["last_bad_index"] = number_or_null(verdict.last_bad_index);
  object["size"] = verdict.size;
  object["root"] = hex(verdict.root);
  object["checkpoint_size"] =
      verdict.checkpoint_size ? json::value(*verdict.checkpoint_size) : nullptr;
  object["entries_after_checkpoint"] = verdict.entries_after_checkpoint;
  object["key"] = verdict.key;
  return object;
}

Result<Verdict> verify_log(const LogView& view) {
  LogReplay replay(view.key);
  bool good = true;
  for (size_t i = 0; good && i < view.checkpoints.size(); ++i) {
    good = replay.expect(view.checkpoints[i], fmt::format("checkpoint {}", i + 1));
  }
  good = good && replay.start();
  LogRow row;
  while (good) {
    EXA_ASSIGN(const bool more, view.next_row(row));
    if (!more) break;
    good = replay.row(row);
  }
  return replay.verdict();
}

}  // namespace exa
