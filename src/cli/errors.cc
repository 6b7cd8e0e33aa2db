#include "cli/errors.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/router.h"
#include "base/text.h"

namespace exa {
namespace {

constexpr size_t kLongestEcho = 80;

// "/applicability/0" is the first word of --applicability.
std::string place_of(const std::string& where, const Route* route) {
  if (route == nullptr || !where.starts_with('/')) return where;
  const size_t end = std::min(where.find('/', 1), where.size());
  const Param* param = find_param_named(*route, where.substr(1, end - 1));
  if (param == nullptr) return where;
  // "--inputs gpu_count": which of the things in it; of a list the message says it
  const std::string within = where.substr(std::min(end + 1, where.size()));
  const bool names_one = !within.empty() && within.find_first_not_of("0123456789") != within.npos;
  return names_one ? fmt::format("{} {}", shown(*param), within) : shown(*param);
}

// Messages quote what was typed; a quote of kilobytes would push the message off the screen.
std::string with_short_quotes(std::string_view text) {
  std::string out;
  const std::vector<std::string_view> parts = split(text, '"');
  for (size_t i = 0; i < parts.size(); ++i) {
    const bool quoted = i % 2 == 1 && i + 1 < parts.size();
    if (i != 0) out += '"';
    out += quoted ? echoed(parts[i]) : printable(parts[i]);
  }
  return out;
}

std::string problem_line(const Problem& problem, const Route* route) {
  const std::string place = echoed(place_of(problem.where, route));
  std::string line = "  ";
  if (!place.empty()) line += place + ": ";
  line += with_short_quotes(problem.message);
  if (!problem.suggestion.empty()) line += "; " + printable(problem.suggestion);
  return line + "\n";
}

}  // namespace

std::string echoed(std::string_view value) {
  size_t end = 0;
  for (size_t count = 0; end < value.size() && count < kLongestEcho; ++count) {
    end += std::max<size_t>(1, code_point_at(value, end).length);
  }
  return end >= value.size() ? printable(value) : printable(value.substr(0, end)) + "…";
}

std::string error_text(const Error& error, const Route* route) {
  std::string text =
      fmt::format("error {}: {}\n", info(error.code).name, with_short_quotes(error.message));
  for (const Problem& problem : error.problems) text += problem_line(problem, route);
  if (!error.alternatives.empty()) {
    text += fmt::format("  there is: {}\n", printable(join(error.alternatives, ", ")));
  }
  if (!error.next.empty()) text += fmt::format("next: {}\n", printable(error.next));
  return text;
}

std::string error_document(const Error& error) {
  return reply_of(error, "").body;
}

Error unwritten() {
  return {Code::unexpected, "the answer cannot be written to standard output", {}, "", {}};
}

}  // namespace exa
