// The command line over HTTP: the same requests, to a server instead of to this process.
#pragma once

#include "api/route.h"
#include "cli/environment.h"
#include "discover/http.h"

namespace exa {

struct RemoteServer {
  std::string url;          // "https://exa.example.org", without a path
  std::string unix_socket;  // of a server on this machine; `url` is only a name then
  Secret token;             // empty over the unix socket: the kernel says who asks
  Pem ca;                   // empty: the system's authorities
};

// One connection, kept between requests. A server that cannot be reached is an answer, with the
// error in it. Long work is waited for, unless the request is `detached`.
Send send_to(RemoteServer server);

// The request and the reply as they travel. Pure.
HttpRequest http_request_of(const Request& request, const RemoteServer& server);
Reply reply_of_http(const HttpReply& reply);

}  // namespace exa
