// HTTP requests over libcurl: of probes, and of the command line to a server. The library and its
// thirty dependencies are loaded at the first request, so that a command which asks no server does
// not pay for them.
//
// No redirects are followed, only http and https are spoken, certificates are always checked.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/secret.h"
#include "base/time.h"

namespace exa {

// A certificate or key in PEM form: in a file, or held in memory. Both empty: none.
struct Pem {
  std::string file;
  Secret data;
  bool empty() const { return file.empty() && data.empty(); }
};

struct HttpRequest {
  std::string method = "GET";
  std::string body;
  std::string url;                                           // http://… or https://…
  std::vector<std::pair<std::string, std::string>> headers;  // names and values without line ends
  Secret bearer;            // Authorization: Bearer …; refused over plain http to another machine
  std::string unix_socket;  // connect here; the host in `url` is only a name then
  Pem ca;                   // trusted instead of the system's authorities
  Pem client_cert;
  Pem client_key;
  std::string tls_server_name;  // the name the certificate must have, when it is not the url's host
  std::string proxy;            // empty: http_proxy, https_proxy and no_proxy decide
  Duration timeout = seconds(30);
  size_t max_body = size_t{1} << 30;  // more is an error, not a cut
  std::function<bool()> unwanted{};  // asked while it waits, about once a second; true: interrupted
};

struct HttpReply {
  long status = 0;
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  std::string body;

  std::string_view header(std::string_view lower_case_name) const;  // empty when absent
};

// One connection that is kept between requests. Not for two threads at a time.
class HttpClient {
 public:
  HttpClient();
  ~HttpClient();
  HttpClient(HttpClient&&) noexcept;
  HttpClient& operator=(HttpClient&&) noexcept;

  // Any status is a reply. Fails with
  //   invalid_input  the request breaks a rule above
  //   unreachable    no answer: name, connection, time
  //   probe_failed   an answer that cannot be trusted or used: TLS, size, no HTTP; libcurl missing
  // in one sentence that names what was asked and never a secret.
  Result<HttpReply> send(const HttpRequest& request);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

Result<HttpReply> http_send(const HttpRequest& request);  // with a client of its own

}  // namespace exa
