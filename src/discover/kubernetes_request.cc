#include "discover/kubernetes_request.h"

#include "base/json.h"
#include "base/text.h"

namespace exa {

HttpRequest request_to(const KubernetesAccess& access, std::string_view path) {
  HttpRequest request;
  request.url = access.server;
  while (request.url.ends_with('/')) request.url.pop_back();
  request.url += path;
  request.headers = access.headers;
  request.headers.emplace_back("Accept", "application/json");
  request.bearer = access.token;
  request.ca = access.ca;
  request.client_cert = access.client_cert;
  request.client_key = access.client_key;
  request.tls_server_name = access.tls_server_name;
  request.proxy = access.proxy;
  return request;
}

std::string status_sentence(std::string_view body) {
  const auto status = parse_json(body, "answer");
  if (!status || !status->is_object()) return {};
  return printable(trim(text_or(*status, "message", "")));
}

}  // namespace exa
