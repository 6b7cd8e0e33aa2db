#include "base/quote.h"

#include <algorithm>

#include <fmt/format.h>

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

namespace {

constexpr std::string_view kOperators = ";&|<>()";
constexpr std::string_view kExpansions = "$`*?[";

// Reads one line from left to right; `at_` is the next character.
class Words {
 public:
  Words(std::string_view text, ShellSyntax syntax) : text_(text), syntax_(syntax) {}

  Result<ShellLine> read() {
    if (text_.find('\0') != std::string_view::npos)
      return fail(Code::invalid_input, "the line holds a NUL byte");
    ShellLine line;
    while (skip_blanks()) {
      ShellWord word;
      word.begin = at_;
      EXA_TRY(read_word(word));
      word.end = at_;
      line.words.push_back(std::move(word));
    }
    line.end = at_;
    return line;
  }

 private:
  bool is_command() const { return syntax_ == ShellSyntax::command; }
  bool is_blank(char c) const {
    return c == ' ' || c == '\t' || (!is_command() && (c == '\n' || c == '\r'));
  }
  bool ends_command(char c) const {
    return is_command() && (c == '\n' || kOperators.find(c) != std::string_view::npos);
  }

  // False where no further word of the command begins.
  bool skip_blanks() {
    while (at_ < text_.size()) {
      if (is_blank(text_[at_])) {
        ++at_;
      } else if (text_.substr(at_).starts_with("\\\n")) {
        at_ += 2;  // the line goes on
      } else {
        break;
      }
    }
    return at_ < text_.size() && text_[at_] != '#' && !ends_command(text_[at_]);
  }

  Result<void> read_word(ShellWord& word) {
    if (is_command() && text_[at_] == '~') word.is_fixed = false;
    while (at_ < text_.size() && !is_blank(text_[at_]) && !ends_command(text_[at_])) {
      const char c = text_[at_++];
      if (c == '\'') {
        EXA_TRY(read_single_quoted(word));
      } else if (c == '"') {
        EXA_TRY(read_double_quoted(word));
      } else if (c == '\\') {
        EXA_TRY(read_escaped(word));
      } else {
        if (is_command() && kExpansions.find(c) != std::string_view::npos) word.is_fixed = false;
        word.text += c;
      }
    }
    return {};
  }

  Failure unclosed(char quote) const {
    return fail(Code::invalid_input, fmt::format("a {} is never closed", quote));
  }

  Result<void> read_single_quoted(ShellWord& word) {
    const size_t close = text_.find('\'', at_);
    if (close == std::string_view::npos) return unclosed('\'');
    word.text += text_.substr(at_, close - at_);
    at_ = close + 1;
    return {};
  }

  Result<void> read_double_quoted(ShellWord& word) {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '"') {
        ++at_;
        return {};
      }
      if (is_command() && (c == '$' || c == '`')) word.is_fixed = false;
      // before any other character the backslash stands for itself
      const char next = c == '\\' && at_ + 1 < text_.size() ? text_[at_ + 1] : 'x';
      if (std::string_view("$`\"\\\n").find(next) == std::string_view::npos) {
        word.text += c;
      } else {
        ++at_;
        if (next != '\n') word.text += next;
      }
    }
    return unclosed('"');
  }

  Result<void> read_escaped(ShellWord& word) {
    if (at_ == text_.size())
      return fail(Code::invalid_input, "the line ends in a backslash: nothing follows it");
    const char c = text_[at_++];
    if (c != '\n') word.text += c;
    return {};
  }

  std::string_view text_;
  ShellSyntax syntax_;
  size_t at_ = 0;
};

}  // namespace

Result<ShellLine> shell_words(std::string_view text, ShellSyntax syntax) {
  return Words(text, syntax).read();
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
