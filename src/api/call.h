// Request -> call: the path is matched, arguments are collected from path, query and body, and
// checked against the row. Pure.
#pragma once

#include "api/route.h"

namespace exa {

struct Matched {
  const Route* route = nullptr;
  std::vector<std::pair<std::string, std::string>> path_args;  // decoded
};

// not_found for an unknown path; method_not_allowed for another method, with those that it takes as
// alternatives.
Result<Matched> match_route(std::span<const Route> table, Method method, std::string_view path);

// All problems at once: unknown and missing arguments, wrong types, choices, and the row's own
// check.
Result<Call> make_call(const Matched& matched, const Request& request);

// A text (from a path, a query or a command line) as the JSON value of the argument's kind; a
// number that is none stays a text, for make_call to name.
json::value value_of_text(const Param& param, const std::string& text);
// The default, typed. `param.fallback` is not empty.
json::value fallback_of(const Param& param);

Result<std::string> percent_decode(std::string_view text);

}  // namespace exa
