// What can go wrong in use, as values: a code from one table, one sentence, every problem with its
// place, and what to do next. Rules: docs/decisions/0003-errors-are-values.md.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace exa {

// Order is free; the text, exit code and HTTP status of each stand in the table of error.cc.
enum class Code {
  unexpected,
  usage,
  invalid_input,
  not_found,
  unauthenticated,
  forbidden,
  conflict,
  in_use,
  stale,
  unresolvable,
  blocked,
  confirmation_needed,
  inapplicable,
  unreadable_output,
  probe_failed,
  store_unwritable,
  store_full,
  store_locked,
  store_newer,
  store_damaged,
  audit_broken,
  unreachable,
  fail_on,
  interrupted,
  match_needed,
  method_not_allowed,
  too_many_requests,
  history_gone,
  store_unreachable,
  outcome_unknown,
};

struct CodeInfo {
  Code code;
  std::string_view name;  // as printed: `error invalid_input: …`, and as `code` in problem+json
  int exit_code;          // contract: one table for every output format
  int http_status;
  std::string_view title;    // a few words
  std::string_view explain;  // what `exa help error NAME` prints
};

std::span<const CodeInfo> all_codes();
const CodeInfo& info(Code code);
const CodeInfo* find_code(std::string_view name);  // nullptr when there is no such code

// One thing wrong with an input. `where` is a JSON pointer ("/gpu_count"), "file:line:column", a
// line of tool output ("line 12"), or empty.
struct Problem {
  std::string where;
  std::string message;
  std::string suggestion;  // "did you mean nvidia?"; empty when nothing is close

  bool operator==(const Problem&) const = default;
};

struct Error {
  Code code = Code::unexpected;
  std::string message;                    // one sentence, no trailing period needed
  std::vector<Problem> problems;          // all problems of the input at once
  std::string next;                       // the command that helps, e.g. "exa cluster list"
  std::vector<std::string> alternatives;  // names that exist and are close, consumers, …

  bool operator==(const Error&) const = default;
};

template <typename T>
using Result = tl::expected<T, Error>;

using Failure = tl::unexpected<Error>;

inline Failure fail(Code code, std::string message, std::string next = {}) {
  return Failure(Error{code, std::move(message), {}, std::move(next), {}});
}

inline Failure fail(Error error) {
  return Failure(std::move(error));
}

// An input with one or more problems; the message counts them when there are several.
Error invalid(std::string_view what, std::vector<Problem> problems);

}  // namespace exa

#define EXA_CONCAT_(a, b) a##b
#define EXA_CONCAT(a, b) EXA_CONCAT_(a, b)

// Returns the error of `expression` to the caller when it has one. The counter keeps the names of
// nested uses apart (a lambda inside the expression may use it again).
#define EXA_TRY(expression) EXA_TRY_(EXA_CONCAT(exa_try_, __COUNTER__), expression)
#define EXA_TRY_(result, expression)                           \
  do {                                                         \
    if (auto result = (expression); !result)                   \
      return ::tl::make_unexpected(std::move(result).error()); \
  } while (false)

// EXA_ASSIGN(auto x, f()): x gets the value, or the caller returns the error.
#define EXA_ASSIGN(declaration, expression) \
  EXA_ASSIGN_(EXA_CONCAT(exa_result_, __COUNTER__), declaration, expression)
#define EXA_ASSIGN_(result, declaration, expression)                    \
  auto result = (expression);                                           \
  if (!result) return ::tl::make_unexpected(std::move(result).error()); \
  declaration = std::move(*result)

// What cannot go wrong: stays on in release, because a wrong answer costs more than a stop.
#define EXA_ASSERT(condition)                                                  \
  do {                                                                         \
    if (!(condition)) ::exa::assertion_failed(#condition, __FILE__, __LINE__); \
  } while (false)

namespace exa {
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);
}
