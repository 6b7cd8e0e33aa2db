#include "oidc/proof.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <sodium.h>

#include "audit/digest.h"
#include "base/encoding.h"
#include "base/error.h"

namespace exa {
namespace {

constexpr size_t kLongestPath = 1024;

}  // namespace

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

std::string form_encoded(const std::vector<std::pair<std::string, std::string>>& fields) {
  std::string out;
  for (const auto& [name, value] : fields) {
    if (!out.empty()) out += '&';
    out += percent_encode(name) + '=' + percent_encode(value);
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
