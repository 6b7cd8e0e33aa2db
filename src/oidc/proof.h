// The random values of one sign-in, and what is derived from them: RFC 7636 (PKCE, S256). Pure but
// for random_text. Thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/encoding.h"

namespace exa {

std::string random_text();  // 43 characters of base64url: 256 bits of the system's random source
std::string code_challenge(std::string_view verifier);  // S256

// application/x-www-form-urlencoded, for a query and for a body.
std::string form_encoded(const std::vector<std::pair<std::string, std::string>>& fields);

// Where a browser may be sent after it signed in: `wanted` when it is a path of this site, else
// `otherwise`. "//host", "/\host", other schemes and anything that is not printable ASCII are not.
std::string path_on_this_site(std::string_view wanted, std::string_view otherwise);

}  // namespace exa
