#include "base/quote.h"

#include <algorithm>

namespace exa {
namespace {

// Unquoted in first place these would steer the shell instead of naming a program.
constexpr std::string_view kReserved[] = {"case",   "coproc", "do",   "done",     "elif", "else",
                                          "esac",   "fi",     "for",  "function", "if",   "in",
                                          "select", "then",   "time", "until",    "while"};

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_@%+:,./-").find(c) != std::string_view::npos;
}

bool stays_plain(std::string_view word) {
  if (word.empty() ||
      std::find(std::begin(kReserved), std::end(kReserved), word) != std::end(kReserved))
    return false;
  // "NAME=value" before the program would be an assignment; an option's '=' is harmless.
  const bool option = word.starts_with('-');
  return std::all_of(word.begin(), word.end(),
                     [&](char c) { return is_plain(c) || (option && c == '='); });
}

}  // namespace

std::string shell_quote(std::string_view word) {
  if (stays_plain(word)) return std::string(word);
  std::string quoted = "'";
  for (char c : word) {
    if (c == '\'')
      quoted += "'\\''";
    else
      quoted += c;
  }
  return quoted + "'";
}

std::string shell_line(std::span<const std::string> argv) {
  std::string line;
  for (const std::string& word : argv) {
    if (!line.empty()) line += ' ';
    line += shell_quote(word);
  }
  return line;
}

}  // namespace exa
