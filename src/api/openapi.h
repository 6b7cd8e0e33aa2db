// The API as an OpenAPI 3.1 document, from the route table alone: what a row takes, answers and
// fails with, its command, and an example that the row itself makes a request of. Pure; the same
// table gives the same bytes.
#pragma once

#include <span>

#include "api/route.h"

namespace exa {

// The cookie of a browser session; over TLS it is __Host-exa_session (server/cookies.h).
inline constexpr std::string_view kSessionCookie = "exa_session";

json::object openapi(std::span<const Route> table);

}  // namespace exa
