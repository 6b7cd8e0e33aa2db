#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "profile/validate.h"

namespace exa {
namespace {

constexpr size_t kLongestName = 63;

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= kLongestName && is_letter_or_digit(text.front()) &&
         is_letter_or_digit(text.back()) &&
         std::ranges::all_of(text, [](char c) { return is_letter_or_digit(c) || c == '-'; });
}

// The nearest name that would be taken: lower case, every run of other characters one '-'.
std::string proposal(std::string_view text) {
  std::string name;
  for (const char c : lower(text)) {
    if (is_letter_or_digit(c))
      name += c;
    else if (!name.empty() && name.back() != '-')
      name += '-';
    if (name.size() == kLongestName) break;
  }
  while (!name.empty() && name.back() == '-') name.pop_back();
  return name;
}

// `why` beside the name of the field; the message says it of the text.
Failure refuse(std::string_view text, std::string message, std::string why) {
  Error error;
  error.code = Code::invalid_input;
  error.message = std::move(message);
  const std::string better = proposal(text);
  Problem problem{"", std::move(why), ""};
  if (is_name(better) && better != text) {
    problem.suggestion = fmt::format("did you mean {}?", better);
    error.alternatives.push_back(better);
  }
  error.problems.push_back(std::move(problem));
  return fail(std::move(error));
}

}  // namespace

Result<std::string> check_name(std::string_view text, std::string_view what) {
  if (is_name(text)) return std::string(text);
  if (text.empty()) return refuse(text, fmt::format("the {} is empty", what), "is empty");
  if (text.size() > kLongestName) {
    const std::string why =
        fmt::format("has {} characters; at most {} are taken", text.size(), kLongestName);
    return refuse(text, fmt::format("the {} {}", what, why), why);
  }
  constexpr std::string_view kRule =
      "it takes a-z, 0-9 and '-' inside, and begins and ends with a letter or digit";
  return refuse(text, fmt::format("\"{}\" is not a {}: {}", printable(text), what, kRule),
                fmt::format("not a {}: {}", what, kRule));
}

Result<std::string> check_label(std::string_view text) {
  EXA_ASSIGN(std::string label, check_name(text, "label"));
  if (std::ranges::all_of(label, [](char c) { return c >= '0' && c <= '9'; })) {
    return fail(Code::invalid_input,
                fmt::format("\"{}\" is not a label: all digits would read as a version", label));
  }
  return label;
}

}  // namespace exa
