// How requests and replies look on the wire, for both ends of it: the server reads what the command
// line's client writes. Pure.
#pragma once

#include "api/route.h"

namespace exa {

// Headers that carry what JSON bodies do not. A command ends with the exit code of its reply, and
// its notices are for people: both travel beside the body, which stays the same bytes as
// in-process.
inline constexpr std::string_view kExitCodeHeader = "exa-exit-code";
inline constexpr std::string_view kNoticeHeader = "exa-notice";  // percent-encoded, one a header
inline constexpr std::string_view kIdempotencyHeader = "idempotency-key";
// From the command line: it means whatever is there, or nothing, as it does in-process. If-Match: *
// would ask for something to be there.
inline constexpr std::string_view kAnyStateHeader = "exa-any-state";
inline constexpr std::string_view kRequestIdHeader = "x-request-id";

struct RequestTarget {
  std::string path;                                        // encoded, as sent
  std::vector<std::pair<std::string, std::string>> query;  // decoded
};

// "/api/v1/x?limit=5" as a request line has it. invalid_input for anything else, such as an
// absolute URL or a broken %-sequence.
Result<RequestTarget> parse_target(std::string_view text);
std::string format_target(std::string_view path,
                          std::span<const std::pair<std::string, std::string>> query);

std::optional<Method> find_method(std::string_view name);

}  // namespace exa
