// Completion: the shells' scripts call `exa __complete -- WORDS…`, which answers from the rows and,
// for names, from the list routes.
#pragma once

#include "cli/command_tree.h"
#include "cli/environment.h"

namespace exa {

inline constexpr std::string_view kCompleteCommand = "__complete";

// nullopt: no such shell.
std::optional<std::string> completion_script(std::string_view shell);

// The candidates for the last of `words` (which may be empty), one a line. Where files are wanted
// the answer is the one line ":files". Whatever goes wrong: fewer candidates, never a message.
std::string complete(CommandTable commands, std::span<const Route> routes,
                     std::span<const std::string> words, const Connect& connect);

}  // namespace exa
