#include "base/redact.h"

#include <algorithm>

namespace exa {
namespace {

constexpr std::string_view kTokenPrefix = "exa_pat_";
constexpr std::string_view kAuthority = "://";
constexpr std::string_view kHidden = "…";

bool is_digit_of_token(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

// Length of the token's digits at the beginning of `rest`.
size_t token_length(std::string_view rest) {
  return static_cast<size_t>(std::ranges::find_if_not(rest, is_digit_of_token) - rest.begin());
}

// Length of what stands before the last @ of the authority; a password may hold an @ itself.
size_t userinfo_length(std::string_view rest) {
  const size_t at = rest.substr(0, rest.find_first_of("/?# \t\n\"")).rfind('@');
  return at == rest.npos ? 0 : at;
}

}  // namespace

std::string without_secrets(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const size_t token = text.find(kTokenPrefix);
    const size_t authority = text.find(kAuthority);
    const bool is_token = token < authority;
    const size_t at = std::min(token, authority);
    if (at == text.npos) break;
    const size_t from = at + (is_token ? kTokenPrefix : kAuthority).size();
    shown += text.substr(0, from);
    text.remove_prefix(from);
    if (const size_t hidden = is_token ? token_length(text) : userinfo_length(text); hidden > 0) {
      shown += kHidden;
      text.remove_prefix(hidden);
    }
  }
  return shown += text;
}

}  // namespace exa
