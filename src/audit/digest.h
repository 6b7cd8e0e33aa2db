// SHA-256: the one hash of the audit log.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace exa {

using Hash = std::array<uint8_t, 32>;

// All thread-safe.
Hash sha256(std::string_view bytes);
Hash sha256(std::initializer_list<std::string_view> parts);  // of the parts one after the other
std::string sha256_hex(std::string_view text);               // 64 lower-case hex digits

std::string_view bytes_of(const Hash& hash);                  // its 32 bytes, for a BLOB
std::optional<Hash> hash_from_bytes(std::string_view bytes);  // nothing unless exactly 32 bytes
bool is_sha256_hex(std::string_view text);                    // 64 lower-case hex digits

}  // namespace exa
