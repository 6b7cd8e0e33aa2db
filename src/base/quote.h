// The one quoting function: ssh joins its words into a line for the remote shell, so they are
// quoted for it.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace exa {

std::string shell_quote(std::string_view word);  // safe in any POSIX shell; plain words stay plain
std::string shell_line(std::span<const std::string> argv);

}  // namespace exa
