#include "cli/remote.h"

#include <charconv>

#include <fmt/format.h>

#include "api/call.h"
#include "api/http_form.h"
#include "api/router.h"
#include "base/redact.h"
#include "cli/operations.h"

namespace exa {
namespace {

// Discovery of a large cluster, a simulation: the server's own limits end them earlier.
constexpr Duration kPatience = seconds(600);

Error unreachable(Error error, const RemoteServer& server) {
  if (error.code == Code::probe_failed) error.code = Code::unreachable;
  if (error.next.empty()) {
    error.next = server.unix_socket.empty() ? fmt::format("curl {}/healthz, or exa … --server URL",
                                                          without_secrets(server.url))
                                            : "the log of the server on this data folder says more";
  }
  return error;
}

}  // namespace

HttpRequest http_request_of(const Request& request, const RemoteServer& server) {
  HttpRequest http;
  http.method = name(request.method);
  http.url = server.url + format_target(request.path, request.query);
  http.body = request.body;
  if (!request.body.empty()) http.headers.emplace_back("Content-Type", "application/json");
  // curl asks before it sends much; this server takes it as it comes
  http.headers.emplace_back("Expect", "");
  if (request.respond_async) http.headers.emplace_back("Prefer", "respond-async");
  if (!request.idempotency_key.empty())
    http.headers.emplace_back(kIdempotencyHeader, request.idempotency_key);
  if (request.if_match.empty())
    http.headers.emplace_back(kAnyStateHeader, "1");
  else
    http.headers.emplace_back("If-Match", request.if_match);
  http.bearer = server.token;
  http.unix_socket = server.unix_socket;
  http.ca = server.ca;
  http.timeout = kPatience;
  return http;
}

Reply reply_of_http(const HttpReply& http) {
  Reply reply;
  reply.status = static_cast<int>(http.status);
  reply.body = http.body;
  reply.content_type = http.header("content-type");
  const std::string_view code = http.header(kExitCodeHeader);
  std::from_chars(code.data(), code.data() + code.size(), reply.exit_code);
  for (const auto& [name, value] : http.headers) {
    if (name != kNoticeHeader) continue;
    if (auto notice = percent_decode(value)) reply.notices.push_back(*std::move(notice));
  }
  return reply;
}

Send send_to(RemoteServer server) {
  auto client = std::make_shared<HttpClient>();
  Send send = [client, server = std::move(server)](const Request& request) {
    const auto reply = client->send(http_request_of(request, server));
    if (!reply) return reply_of(unreachable(reply.error(), server), request.request_id);
    return reply_of_http(*reply);
  };
  return [send = std::move(send)](const Request& request) {
    Reply reply = send(request);
    if (reply.status == 429 && request.respond_async && !request.detached) {
      // no place for work that goes on by itself; whoever waits anyway can have it done at once
      Request at_once = request;
      at_once.respond_async = false;
      return send(at_once);
    }
    if (reply.status != 202 || request.detached) return reply;
    const auto operation = parse_json(reply.body, "reply");
    if (!operation) return reply_of(operation.error(), request.request_id);
    return await_operation(send, std::string(text_or(*operation, "id", "")), *request.progress)
        .reply;
  };
}

}  // namespace exa
