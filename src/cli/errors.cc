#include "cli/errors.h"

#include <fmt/format.h>

#include "api/router.h"
#include "base/text.h"

namespace exa {
namespace {

// "/applicability/0" is the first word of --applicability.
std::string place_of(const std::string& where, const Route* route) {
  if (route == nullptr || !where.starts_with('/')) return where;
  const std::string name = where.substr(1, where.find('/', 1) - 1);
  const Param* param = find_param_named(*route, name);
  return param == nullptr ? where : shown(*param);
}

std::string problem_line(const Problem& problem, const Route* route) {
  const std::string place = printable(place_of(problem.where, route));
  std::string line = "  ";
  if (!place.empty()) line += place + ": ";
  line += printable(problem.message);
  if (!problem.suggestion.empty()) line += "; " + printable(problem.suggestion);
  return line + "\n";
}

}  // namespace

std::string error_text(const Error& error, const Route* route) {
  std::string text = fmt::format("error {}: {}\n", info(error.code).name, printable(error.message));
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

}  // namespace exa
