// HMAC-SHA256 (RFC 2104), for what another system is to believe.
#pragma once

#include <string>
#include <string_view>

namespace exa {

std::string hmac_sha256_hex(std::string_view key, std::string_view text);  // 64 lower-case digits

}  // namespace exa
