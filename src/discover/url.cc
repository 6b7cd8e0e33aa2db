#include "discover/url.h"

#include <algorithm>

#include <arpa/inet.h>

#include "base/text.h"

namespace exa {
std::optional<Url> split_url(std::string_view text) {
  const auto breaks = [](char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f; };
  if (std::ranges::any_of(text, breaks)) return std::nullopt;
  const size_t colon = text.find("://");
  if (colon == text.npos) return std::nullopt;
  Url url;
  url.scheme = lower(text.substr(0, colon));
  if (url.scheme != "http" && url.scheme != "https") return std::nullopt;
  text.remove_prefix(colon + 3);
  const size_t slash = std::min(text.find_first_of("/?#"), text.size());
  std::string_view authority = text.substr(0, slash);
  url.rest = text.substr(slash);
  if (authority.find('@') != authority.npos) return std::nullopt;  // no passwords in addresses
  if (authority.starts_with('[')) {
    const size_t end = authority.find(']');
    if (end == authority.npos) return std::nullopt;
    url.host = authority.substr(1, end - 1);
    authority.remove_prefix(end + 1);
  } else {
    const size_t end = std::min(authority.find(':'), authority.size());
    url.host = authority.substr(0, end);
    authority.remove_prefix(end);
  }
  if (url.host.empty()) return std::nullopt;
  if (authority.empty()) return url;
  if (authority.front() != ':') return std::nullopt;
  url.port = authority.substr(1);
  if (url.port.empty() || url.port.size() > 5 ||
      !std::ranges::all_of(url.port, [](char c) { return c >= '0' && c <= '9'; }))
    return std::nullopt;
  return url;
}

bool is_this_machine(const Url& url) {
  in_addr v4{};
  if (::inet_pton(AF_INET, url.host.c_str(), &v4) == 1) return ntohl(v4.s_addr) >> 24 == 127;
  return url.host == "::1" || lower(url.host) == "localhost";
}

bool may_carry_secrets(std::string_view text) {
  const auto url = split_url(text);
  return url && (url->scheme == "https" || is_this_machine(*url));
}

}  // namespace exa
