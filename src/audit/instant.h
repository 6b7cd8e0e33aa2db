// Time as the audit log spells it: always UTC, always six decimals, one text for one instant.
#pragma once

#include <optional>
#include <string_view>

#include "base/time.h"

namespace exa {

// "2026-11-30T06:26:01.000123Z" and no other spelling; nothing when `text` is anything else.
std::optional<Time> exact_time(std::string_view text);
bool has_exact_time(Time time);  // years 0000 to 9999 can be spelled

}  // namespace exa
