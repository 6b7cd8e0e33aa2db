#include "server/cookies.h"

#include <fmt/format.h>

#include "api/openapi.h"
#include "base/text.h"

namespace exa {

std::string cookie_named(std::string_view header, std::string_view name) {
  while (!header.empty()) {
    const size_t end = std::min(header.find(';'), header.size());
    const std::string_view pair = trim(header.substr(0, end));
    header.remove_prefix(std::min(end + 1, header.size()));
    if (pair.size() > name.size() && pair.starts_with(name) && pair[name.size()] == '=')
      return std::string(pair.substr(name.size() + 1));
  }
  return {};
}

std::string cookie_name(std::string_view name, bool secure) {
  return fmt::format("{}{}", secure ? "__Host-" : "", name);
}

std::string set_cookie(std::string_view name, std::string_view value, Duration age, bool secure) {
  return fmt::format("{}={}; Path=/; Max-Age={}; HttpOnly; SameSite=Lax{}",
                     cookie_name(name, secure), value, age.micros / 1'000'000,
                     secure ? "; Secure" : "");
}

std::string drop_cookie(std::string_view name, bool secure) {
  return set_cookie(name, "", seconds(0), secure);
}

std::string session_in(std::string_view cookie_header, bool tls) {
  std::string session = cookie_named(cookie_header, cookie_name(kSessionCookie, true));
  if (session.empty() && !tls) session = cookie_named(cookie_header, kSessionCookie);
  return session;
}

}  // namespace exa
