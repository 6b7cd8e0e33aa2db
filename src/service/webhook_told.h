// How far a webhook was told of the log, so that whoever tells next goes on there. Not vouched for
// by the log: the same event may be told twice, and a target that is new hears of what follows.
#pragma once

#include <optional>
#include <string>

#include "store/store.h"

namespace exa {

// `target` is the address. nullopt: it was never told.
Result<std::optional<int64_t>> told_up_to(Transaction& tx, const std::string& target);
Result<void> note_told(Transaction& tx, const std::string& target, int64_t revision);

}  // namespace exa
