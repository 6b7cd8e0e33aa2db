#include "launch/command_line.h"

#include <algorithm>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "base/text.h"

namespace exa {
namespace {

bool is_identifier(std::string_view key) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !key.empty() && is_letter(key.front()) &&
         std::ranges::all_of(key, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

constexpr const char* kLineBreak = "holds a line break or a NUL byte, which cannot be passed on";

}  // namespace

bool breaks_a_line(std::string_view text) {
  return text.find_first_of(std::string_view("\0\n\r", 3)) != std::string_view::npos;
}

bool mentions(const CommandLine& command, RunTime what) {
  return std::ranges::any_of(command, [&](const Word& word) {
    return std::ranges::any_of(word.parts, [&](const auto& part) {
      const auto* known_later = std::get_if<RunTime>(&part);
      return known_later != nullptr && *known_later == what;
    });
  });
}

std::optional<std::string> literal(const Word& word) {
  std::string text;
  for (const auto& part : word.parts) {
    const auto* known_now = std::get_if<std::string>(&part);
    if (known_now == nullptr) return std::nullopt;
    text += *known_now;
  }
  return text;
}

std::vector<Problem> problems_of(const CommandLine& command, const Variables& environment) {
  std::vector<Problem> problems;
  for (size_t i = 0; i < command.size(); ++i) {
    for (const auto& part : command[i].parts) {
      const auto* literal = std::get_if<std::string>(&part);
      if (literal != nullptr && breaks_a_line(*literal))
        problems.push_back({fmt::format("/argv/{}", i), kLineBreak, ""});
    }
  }
  const auto* program = command.empty() || command[0].parts.empty()
                            ? nullptr
                            : std::get_if<std::string>(&command[0].parts[0]);
  if (program == nullptr || program->empty())
    problems.push_back({"/argv/0", "is empty: there is no program to run", ""});
  else if (program->front() == '-')
    problems.push_back({"/argv/0", "begins with '-': that is an option, not a program", ""});
  std::set<std::string_view> keys;
  for (const auto& [key, value] : environment) {
    const std::string where = fmt::format("/environment/{}", printable(key));
    if (!is_identifier(key))
      problems.push_back({where, "is no name of a variable: letters, digits and '_'", ""});
    if (!keys.insert(key).second) problems.push_back({where, "stands there twice", ""});
    if (breaks_a_line(value)) problems.push_back({where, kLineBreak, ""});
  }
  return problems;
}

}  // namespace exa
