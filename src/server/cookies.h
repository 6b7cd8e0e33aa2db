// The cookies of browser sessions: names, attributes, which one counts. Pure.
//
// Where browsers come over TLS they carry the __Host- prefix, which a browser accepts only with
// Secure, Path=/ and no Domain: nobody next door can plant one. On plain loopback, where Secure
// would keep them from coming back, they have plain names.
#pragma once

#include <string>
#include <string_view>

#include "base/time.h"

namespace exa {

// The value of a cookie; empty when it was not sent.
std::string cookie_named(std::string_view header, std::string_view name);

// A cookie's name as the browser knows it.
std::string cookie_name(std::string_view name, bool secure);
// Of a Set-Cookie header: HttpOnly, SameSite=Lax (a link from a chat must find its reader signed
// in; changes are guarded by cross_site), Path=/.
std::string set_cookie(std::string_view name, std::string_view value, Duration age, bool secure);
std::string drop_cookie(std::string_view name, bool secure);

// The session that a request carries; empty: none. One under the plain name counts only where the
// connection is plain.
std::string session_in(std::string_view cookie_header, bool tls);

}  // namespace exa
