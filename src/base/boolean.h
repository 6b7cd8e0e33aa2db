// What counts as yes and no wherever a boolean is written as text: command line and query alike.
// Two words and no others, so that no `--yes=0` or `?dry_run=off` is ever taken for its opposite.
#pragma once

#include <optional>
#include <string_view>

namespace exa {

inline constexpr std::optional<bool> parse_boolean(std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  return std::nullopt;
}

}  // namespace exa
