#include "oidc/proof.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <sodium.h>

#include "audit/digest.h"
#include "base/error.h"

namespace exa {
namespace {

constexpr int kVariant = sodium_base64_VARIANT_URLSAFE_NO_PADDING;
constexpr size_t kLongestPath = 1024;

const unsigned char* bytes_in(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

std::string base64url(std::string_view bytes) {
  std::string text(sodium_base64_encoded_len(bytes.size(), kVariant), '\0');
  sodium_bin2base64(text.data(), text.size(), bytes_in(bytes), bytes.size(), kVariant);
  text.pop_back();  // its NUL
  return text;
}

std::optional<std::string> decode_base64url(std::string_view text) {
  std::string bytes(text.size(), '\0');
  size_t size = 0;
  const char* end = nullptr;
  if (sodium_base642bin(reinterpret_cast<unsigned char*>(bytes.data()), bytes.size(), text.data(),
                        text.size(), nullptr, &size, &end, kVariant) != 0 ||
      end != text.data() + text.size())
    return std::nullopt;
  bytes.resize(size);
  return bytes;
}

std::string random_text() {
  static const bool ready = sodium_init() >= 0;
  EXA_ASSERT(ready);
  std::array<char, 32> bytes{};
  randombytes_buf(bytes.data(), bytes.size());
  return base64url({bytes.data(), bytes.size()});
}

std::string code_challenge(std::string_view verifier) {
  return base64url(bytes_of(sha256(verifier)));
}

std::string form_encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~").find(c) != std::string_view::npos;
    if (plain)
      out += c;
    else
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

std::string form_encoded(const std::vector<std::pair<std::string, std::string>>& fields) {
  std::string out;
  for (const auto& [name, value] : fields) {
    if (!out.empty()) out += '&';
    out += form_encoded(name) + '=' + form_encoded(value);
  }
  return out;
}

std::string path_on_this_site(std::string_view wanted, std::string_view otherwise) {
  // browsers take \ for /, and drop tabs and line ends before they look
  const bool fine =
      wanted.starts_with('/') && !wanted.starts_with("//") && wanted.size() <= kLongestPath &&
      std::ranges::all_of(wanted, [](char c) { return c > ' ' && c < 0x7f && c != '\\'; });
  return std::string(fine ? wanted : otherwise);
}

}  // namespace exa
