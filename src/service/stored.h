// Documents that the store keeps, read back. They were checked before they were written, so what
// cannot be read is damage of the store (store_damaged), never a mistake of whoever asked.
#pragma once

#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/json.h"

namespace exa {

// What is wrong with a document, in one line.
inline std::string why_unread(const Error& error) {
  if (error.problems.empty()) return error.message;
  const Problem& problem = error.problems.front();
  return problem.where.empty() ? problem.message
                               : fmt::format("{}: {}", problem.where, problem.message);
}

template <typename Value>
Result<Value> from_stored(Result<Value> read, std::string_view what) {
  if (read || read.error().code == Code::store_damaged) return read;
  Error error = std::move(read).error();
  error.code = Code::store_damaged;
  error.message = fmt::format("{} cannot be read: {}", what, why_unread(error));
  error.problems.clear();
  error.next = "exa audit verify";
  return fail(std::move(error));
}

inline Result<json::value> parse_stored(std::string_view text, std::string_view what,
                                        const ReadLimits& limits = {}) {
  return from_stored(parse_json(text, what, limits), what);
}

inline Result<json::object> parse_stored_object(std::string_view text, std::string_view what,
                                                const ReadLimits& limits = {}) {
  EXA_ASSIGN(json::value value, parse_stored(text, what, limits));
  if (value.is_object()) return std::move(value.get_object());
  return fail(Code::store_damaged, fmt::format("{} is not an object", what), "exa audit verify");
}

}  // namespace exa
