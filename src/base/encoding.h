// Bytes as text that may stand in an address. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace exa {

// RFC 3986 §2.1: everything but letters, digits and -._~ as %XX.
std::string percent_encode(std::string_view text);

// RFC 4648 §5 without padding. Decoding takes what encoding gives and no other spelling of it.
std::string base64url(std::string_view bytes);
std::optional<std::string> decode_base64url(std::string_view text);

}  // namespace exa
