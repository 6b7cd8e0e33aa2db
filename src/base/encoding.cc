#include "base/encoding.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"

namespace exa {
namespace {

bool is_unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-._~").find(c) != std::string_view::npos;
}

}  // namespace

std::string percent_encode(std::string_view text) {
  std::string encoded;
  encoded.reserve(text.size());
  for (const char c : text) {
    if (is_unreserved(c))
      encoded += c;
    else
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return encoded;
}

// The alphabets differ in two letters, and padding can be told from the length.
std::string base64url(std::string_view bytes) {
  std::string text = base64({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  while (text.ends_with('=')) text.pop_back();
  return text;
}

std::optional<std::string> decode_base64url(std::string_view text) {
  std::string padded(text);
  std::ranges::replace(padded, '-', '+');
  std::ranges::replace(padded, '_', '/');
  padded.append((4 - padded.size() % 4) % 4, '=');
  std::vector<uint8_t> bytes;
  if (!decode_base64(padded, bytes)) return std::nullopt;
  std::string decoded(bytes.begin(), bytes.end());
  if (base64url(decoded) != text) return std::nullopt;
  return decoded;
}

}  // namespace exa
