// The one quoting function: ssh joins its words into a line for the remote shell, so they are
// quoted for it. And its reverse: the words of a line that somebody wrote.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace exa {

std::string shell_quote(std::string_view word);  // safe in any POSIX shell; plain words stay plain
std::string shell_line(std::span<const std::string> argv);

// One word of a line, as a POSIX shell reads it.
struct ShellWord {
  std::string text;  // without its quotes
  size_t begin = 0;  // where it stands in the line, quotes included
  size_t end = 0;
  bool is_fixed = true;  // false: an unquoted $, `, *, ? or [, or a ~ in front: only the shell that
                         // runs the line knows what the word becomes

  bool operator==(const ShellWord&) const = default;
};

struct ShellLine {
  std::vector<ShellWord> words;
  size_t end = 0;  // of the command: its text's end, or where an operator, a comment or the next
                   // line begins
};

// How a text is read. `command`: as a shell reads a command. `words`: as the head of a batch script
// is read, where only quotes, backslashes, blanks and comments count and the rest is plain text.
enum class ShellSyntax { command, words };

// The words of the first command. invalid_input: a quote that is not closed, a backslash at the
// end, a NUL byte.
Result<ShellLine> shell_words(std::string_view text, ShellSyntax syntax = ShellSyntax::command);

}  // namespace exa
