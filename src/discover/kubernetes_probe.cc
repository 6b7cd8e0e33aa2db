// Asking an API server, as a user who may only read: version, nodes, pods, ResourceSlices.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/encoding.h"
#include "base/text.h"
#include "discover/kubeconfig.h"
#include "discover/probe.h"

namespace exa {
namespace {

constexpr int kPageSize = 500;  // what kubectl uses: bounded memory on the server
constexpr int kMaxPages = 10'000;

struct Server {
  HttpClient client;
  KubernetesAccess access;
  Duration timeout;
  Progress* progress;
  int64_t asked = 0;

  Result<HttpReply> get(const std::string& path) {
    EXA_TRY(progress->step("questions", asked++, 0));
    HttpRequest request;
    request.url = access.server + path;
    request.headers = access.headers;
    request.headers.emplace_back("Accept", "application/json");
    request.bearer = access.token;
    request.ca = access.ca;
    request.client_cert = access.client_cert;
    request.client_key = access.client_key;
    request.tls_server_name = access.tls_server_name;
    request.proxy = access.proxy;
    request.timeout = timeout;
    request.unwanted = [this] { return progress->cancelled(); };
    return client.send(request);
  }
};

CapturedOutput captured(std::string name, HttpReply reply) {
  return {std::move(name),
          {},
          reply.status == 200 ? 0 : static_cast<int>(reply.status),
          std::move(reply.body),
          {}};
}

// The API server's own sentence (kind Status), or nothing.
std::string sentence(std::string_view body) {
  const auto status = parse_json(body, "answer");
  if (!status || !status->is_object()) return {};
  return printable(trim(text_or(*status, "message", "")));
}

// The text value that starts at `at` (its opening quote); nullopt where it is none.
std::optional<std::string> json_text_at(std::string_view text, size_t at) {
  if (at >= text.size() || text[at] != '"') return std::nullopt;
  size_t end = at + 1;
  while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
  if (end >= text.size()) return std::nullopt;
  const auto value = parse_json(text.substr(at, end - at + 1), "continue");
  if (!value || !value->is_string()) return std::nullopt;
  return std::string(value->get_string());
}

// The API server prints a list's metadata before its items, so the token stands in the first bytes
// and a page of megabytes need not be parsed twice.
std::string next_page(std::string_view body) {
  const size_t items = std::min(body.find("\"items\""), body.size());
  const size_t key = body.substr(0, items).find("\"continue\"");
  if (key == body.npos) return {};
  const size_t colon = body.find_first_not_of(" \t\r\n:", key + 10);
  return json_text_at(body, colon).value_or("");
}

struct Question {
  std::string name;  // as in CapturedOutput::name
  std::string path;
  std::string query;  // "fieldSelector=…&", or empty
};

// All pages of a list. A refusal is an output too: its first page, with the status as exit code.
Result<std::vector<CapturedOutput>> list(Server& server, const Question& question) {
  std::vector<CapturedOutput> pages;
  std::string token;
  int limit = kPageSize;
  for (int page = 1; page <= kMaxPages; ++page) {
    std::string path = fmt::format("{}?{}limit={}", question.path, question.query, limit);
    if (!token.empty()) path += "&continue=" + percent_encode(token);
    EXA_ASSIGN(HttpReply reply, server.get(path));
    if (reply.status == 410 && page > 1 && limit != 0) {
      // the snapshot behind the token was compacted away: one consistent list, in one piece
      pages.clear();
      token.clear();
      limit = 0;
      page = 0;
      continue;
    }
    const long status = reply.status;
    token = status == 200 ? next_page(reply.body) : std::string();
    const std::string name =
        pages.empty() ? question.name : fmt::format("{} page {}", question.name, pages.size() + 1);
    pages.push_back(captured(name, std::move(reply)));
    if (status != 200 && pages.size() > 1) {  // half a list is no list
      pages.front() = {question.name, {}, static_cast<int>(status), pages.back().out, {}};
      pages.resize(1);
    }
    if (token.empty()) return pages;
  }
  return fail(Code::probe_failed,
              fmt::format("{}{}: the list does not end", server.access.server, question.path));
}

Error refused(const Server& server, const CapturedOutput& output, std::string_view what) {
  const std::string said = sentence(output.out);
  const std::string who =
      fmt::format("{} ({})", printable(server.access.server), server.access.origin);
  Error error;
  error.code = Code::probe_failed;
  if (output.exit_code == 401) {
    const bool anonymous = server.access.token.empty() && server.access.client_cert.empty();
    error.message = fmt::format(
        "{} does not accept {}", who,
        anonymous ? "requests without credentials: give a token or client certificate"
                  : "the credentials: the token or certificate is wrong or has expired");
  } else if (output.exit_code == 403) {
    error.message = fmt::format("{} knows who asks but does not let them list {}: {}", who, what,
                                said.empty() ? "403 Forbidden" : said);
    error.next = fmt::format("kubectl auth can-i list {}", what);
  } else {
    error.message = fmt::format("{} answered {} to {}{}{}", who, output.exit_code, output.name,
                                said.empty() ? "" : ": ", said);
  }
  return error;
}

constexpr std::array<std::string_view, 3> kDraVersions = {"v1", "v1beta2", "v1beta1"};

// The newest version of resource.k8s.io that the server offers and exa reads; empty: none.
Result<std::string> dra_version(Server& server) {
  EXA_ASSIGN(const HttpReply reply, server.get("/apis/resource.k8s.io"));
  if (reply.status != 200) return std::string();  // 404: a server from before DRA
  const auto group = parse_json(reply.body, "GET /apis/resource.k8s.io");
  const json::value* versions = group ? find(*group, "versions") : nullptr;
  if (!versions || !versions->is_array()) return std::string();
  for (const std::string_view wanted : kDraVersions)
    for (const json::value& offered : versions->get_array())
      if (text_or(offered, "version", "") == wanted) return std::string(wanted);
  return std::string();
}

Result<bool> add_dynamic_resources(Server& server, Capture& capture) {
  EXA_ASSIGN(const std::string version, dra_version(server));
  if (version.empty()) return true;
  for (const char* what : {"resourceslices", "resourceclaims"}) {
    EXA_ASSIGN(auto pages,
               list(server, {fmt::format("GET {}", what),
                             fmt::format("/apis/resource.k8s.io/{}/{}", version, what), ""}));
    std::ranges::move(pages, std::back_inserter(capture.outputs));
  }
  return true;
}

}  // namespace

Result<Capture> probe_kubernetes(const ClusterAddress& address, Time now, Progress& progress) {
  Server server;
  EXA_ASSIGN(server.access, kubernetes_access(address, kubernetes_environment()));
  server.timeout = address.timeout;
  server.progress = &progress;
  while (server.access.server.ends_with('/')) server.access.server.pop_back();

  Capture capture;
  capture.kind = ClusterKind::kubernetes;
  capture.taken_at = now;
  capture.transport = server.access.server;
  EXA_ASSIGN(HttpReply version, server.get("/version"));
  const bool unauthorized = version.status == 401;
  capture.outputs.push_back(captured("GET /version", std::move(version)));
  if (unauthorized) return fail(refused(server, capture.outputs.back(), "nodes"));

  EXA_ASSIGN(auto nodes, list(server, {"GET /api/v1/nodes", "/api/v1/nodes", ""}));
  if (nodes.front().exit_code != 0) return fail(refused(server, nodes.front(), "nodes"));
  std::ranges::move(nodes, std::back_inserter(capture.outputs));

  // finished pods hold nothing, and batch clusters keep thousands of them
  EXA_ASSIGN(auto pods, list(server, {"GET /api/v1/pods", "/api/v1/pods",
                                      "fieldSelector=status.phase%21%3DSucceeded%2C"
                                      "status.phase%21%3DFailed&"}));
  std::ranges::move(pods, std::back_inserter(capture.outputs));
  EXA_TRY(add_dynamic_resources(server, capture));
  return capture;
}

}  // namespace exa
