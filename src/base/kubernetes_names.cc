#include "base/kubernetes_names.h"

#include <algorithm>

#include "base/text.h"

namespace exa {
namespace {

constexpr size_t kLongestLabel = 63;
constexpr size_t kLongestSubdomain = 253;

bool is_lower_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool is_alphanumeric(char c) {
  return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z');
}

// Kubernetes bounds the length of the whole, not of a part.
bool is_domain_part(std::string_view text) {
  return !text.empty() && is_lower_or_digit(text.front()) && is_lower_or_digit(text.back()) &&
         std::ranges::all_of(text, [](char c) { return is_lower_or_digit(c) || c == '-'; });
}

}  // namespace

bool is_dns_label(std::string_view text) {
  return text.size() <= kLongestLabel && is_domain_part(text);
}

bool is_dns_subdomain(std::string_view text) {
  return text.size() <= kLongestSubdomain &&
         std::ranges::all_of(split(text, '.'), [](auto part) { return is_domain_part(part); });
}

bool is_label_key(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash != std::string_view::npos) {
    if (!is_dns_subdomain(text.substr(0, slash))) return false;
    text.remove_prefix(slash + 1);
  }
  return !text.empty() && is_label_value(text);
}

bool is_label_value(std::string_view text) {
  return text.empty() || (text.size() <= kLongestLabel && is_alphanumeric(text.front()) &&
                          is_alphanumeric(text.back()) && std::ranges::all_of(text, [](char c) {
                            return is_alphanumeric(c) || c == '-' || c == '_' || c == '.';
                          }));
}

}  // namespace exa
