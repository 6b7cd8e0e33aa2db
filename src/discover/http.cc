#include "discover/http.h"

#include <algorithm>

#include <dlfcn.h>

#define CURL_DISABLE_TYPECHECK  // its macros need the real curl_easy_setopt symbol
#include <curl/curl.h>
#include <fmt/format.h>

#include "base/redact.h"
#include "base/text.h"
#include "discover/url.h"

#undef curl_easy_setopt
#undef curl_easy_getinfo

namespace exa {
namespace {

struct Curl {
  decltype(&::curl_global_init) global_init = nullptr;
  decltype(&::curl_easy_init) easy_init = nullptr;
  decltype(&::curl_easy_reset) easy_reset = nullptr;
  decltype(&::curl_easy_setopt) easy_setopt = nullptr;
  decltype(&::curl_easy_getinfo) easy_getinfo = nullptr;
  decltype(&::curl_easy_perform) easy_perform = nullptr;
  decltype(&::curl_easy_strerror) easy_strerror = nullptr;
  decltype(&::curl_easy_cleanup) easy_cleanup = nullptr;
  decltype(&::curl_slist_append) slist_append = nullptr;
  decltype(&::curl_slist_free_all) slist_free_all = nullptr;
  std::string problem;  // why it could not be loaded; empty when it was
};

template <typename F>
void load(void* library, const char* symbol, F& function, std::string& problem) {
  function = reinterpret_cast<F>(dlsym(library, symbol));
  if (!function) problem = fmt::format("libcurl.so.4 has no {}", symbol);
}

Curl load_curl() {
  Curl curl;
  void* library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);  // stays loaded
  if (!library) {
    const char* why = dlerror();
    curl.problem = fmt::format("libcurl could not be loaded: {}", why ? why : "unknown reason");
    return curl;
  }
  load(library, "curl_global_init", curl.global_init, curl.problem);
  load(library, "curl_easy_init", curl.easy_init, curl.problem);
  load(library, "curl_easy_reset", curl.easy_reset, curl.problem);
  load(library, "curl_easy_setopt", curl.easy_setopt, curl.problem);
  load(library, "curl_easy_getinfo", curl.easy_getinfo, curl.problem);
  load(library, "curl_easy_perform", curl.easy_perform, curl.problem);
  load(library, "curl_easy_strerror", curl.easy_strerror, curl.problem);
  load(library, "curl_easy_cleanup", curl.easy_cleanup, curl.problem);
  load(library, "curl_slist_append", curl.slist_append, curl.problem);
  load(library, "curl_slist_free_all", curl.slist_free_all, curl.problem);
  if (curl.problem.empty() && curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
    curl.problem = "libcurl could not be started";
  return curl;
}

const Curl& curl_library() {
  static const Curl curl = load_curl();
  return curl;
}

bool has_control(std::string_view text) {
  return std::ranges::any_of(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

std::string bracketed(const std::string& host) {
  return host.find(':') == host.npos ? host : "[" + host + "]";
}

std::string origin(const Url& url) {
  return fmt::format("{}://{}{}{}", url.scheme, bracketed(url.host), url.port.empty() ? "" : ":",
                     url.port);
}

Result<Url> check(const HttpRequest& request) {
  auto url = split_url(request.url);
  if (!url)
    return fail(Code::invalid_input,
                fmt::format("\"{}\" is no http:// or https:// address (host, port and path; no "
                            "user name, no blanks)",
                            printable(without_secrets(request.url))));
  for (const auto& [name, value] : request.headers)
    if (name.empty() || has_control(name) || has_control(value) || name.find(':') != name.npos)
      return fail(Code::invalid_input,
                  fmt::format("the HTTP header \"{}\" has a line end or control character",
                              printable(name)));
  if (has_control(request.bearer.reveal()))
    return fail(Code::invalid_input, "the bearer token has a line end or control character");
  if (!request.bearer.empty() && request.unix_socket.empty() && !may_carry_secrets(request.url))
    return fail(Code::invalid_input,
                fmt::format("a token is not sent to {} because http:// would carry it unencrypted",
                            origin(*url)));
  return *url;
}

int ask_whether_wanted(void* user, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return (*static_cast<const std::function<bool()>*>(user))() ? 1 : 0;
}

struct Sink {
  HttpReply reply;
  size_t max_body = 0;
  bool too_large = false;
};

size_t take_body(char* data, size_t size, size_t count, void* user) {
  auto& sink = *static_cast<Sink*>(user);
  const size_t bytes = size * count;
  if (bytes > sink.max_body - sink.reply.body.size()) {
    sink.too_large = true;
    return 0;
  }
  sink.reply.body.append(data, bytes);
  return bytes;
}

size_t take_header(char* data, size_t size, size_t count, void* user) {
  auto& sink = *static_cast<Sink*>(user);
  const std::string_view line = trim({data, size * count});
  if (line.starts_with("HTTP/")) sink.reply.headers.clear();  // 100 Continue, proxy's answer
  const size_t colon = line.find(':');
  if (colon != line.npos && sink.reply.headers.size() < 1000)
    sink.reply.headers.emplace_back(lower(trim(line.substr(0, colon))),
                                    trim(line.substr(colon + 1)));
  return size * count;
}

// X509_V_ERR_… of OpenSSL's x509_vfy.h, which this folder does not link.
struct VerifyProblem {
  long code;
  std::string_view sentence;
};
constexpr VerifyProblem kVerifyProblems[] = {
    {9, "its certificate is not valid yet (or this machine's clock is behind)"},
    {10, "its certificate has expired (or this machine's clock is ahead)"},
    {18, "its certificate is self-signed and not among the trusted ones; name its CA file"},
    {19, "its certificate was issued by an unknown CA (self-signed); name its CA file"},
    {20, "its certificate was issued by an unknown CA; name its CA file"},
    {21, "its certificate was issued by an unknown CA; name its CA file"},
    {23, "its certificate was revoked"},
    {26, "its certificate is not meant for servers"},
    {62, "its certificate is for another host name"},
    {64, "its certificate is for another IP address"},
};

std::string certificate_problem(long verify, std::string_view detail) {
  for (const auto& row : kVerifyProblems)
    if (row.code == verify) return std::string(row.sentence);
  // the chain is fine and libcurl compared the names itself; its result code does not tell
  if (detail.find("target host name") != detail.npos)
    return "its certificate is for another host name";
  return fmt::format("its certificate is not trusted ({})", printable(detail));
}

Error explain(CURLcode code, const Sink& sink, const HttpRequest& request, const Url& url,
              long verify, std::string_view detail) {
  const std::string who = request.unix_socket.empty()
                              ? origin(url)
                              : fmt::format("{} (socket {})", origin(url), request.unix_socket);
  const auto because = [&](Code kind, std::string_view why) {
    return Error{kind, fmt::format("{}: {}", who, why), {}, {}, {}};
  };
  if (sink.too_large || code == CURLE_FILESIZE_EXCEEDED)
    return because(Code::probe_failed,
                   fmt::format("the answer is larger than {} bytes", request.max_body));
  switch (code) {
    case CURLE_ABORTED_BY_CALLBACK:
      return because(Code::interrupted, "nobody wants the answer any more");
    case CURLE_COULDNT_RESOLVE_HOST:
      return because(Code::unreachable, fmt::format("no address is known for {}", url.host));
    case CURLE_COULDNT_RESOLVE_PROXY:
      return because(Code::unreachable, "no address is known for the proxy");
    case CURLE_COULDNT_CONNECT:
      return because(Code::unreachable, "nothing accepts connections there");
    case CURLE_OPERATION_TIMEDOUT:
      return because(Code::unreachable,
                     fmt::format("no complete answer within {}", format_duration(request.timeout)));
    case CURLE_PEER_FAILED_VERIFICATION:
      return because(Code::probe_failed, certificate_problem(verify, detail));
    case CURLE_SSL_CACERT_BADFILE:
      return because(Code::probe_failed,
                     request.ca.file.empty()
                         ? std::string("the CA certificate given cannot be read")
                         : fmt::format("the CA file {} cannot be read or holds no certificate",
                                       request.ca.file));
    case CURLE_SSL_CERTPROBLEM:
      return because(Code::probe_failed, "the client certificate or its key cannot be read");
    case CURLE_SSL_CONNECT_ERROR:
      return because(Code::probe_failed,
                     fmt::format("no TLS connection could be made ({})", printable(detail)));
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_WEIRD_SERVER_REPLY:
      return because(Code::probe_failed, "the answer is not HTTP");
    case CURLE_GOT_NOTHING:
      return because(Code::unreachable, "the connection was closed without an answer");
    default:
      return because(Code::unreachable, printable(detail));
  }
}

}  // namespace

struct HttpClient::State {
  CURL* handle = nullptr;
  ~State() {
    if (handle) curl_library().easy_cleanup(handle);
  }
};

HttpClient::HttpClient() : state_(std::make_unique<State>()) {}
HttpClient::~HttpClient() = default;
HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&&) noexcept = default;

namespace {

// A list of header lines that frees itself.
class Lines {
 public:
  explicit Lines(const Curl& curl) : curl_(curl) {}
  ~Lines() { curl_.slist_free_all(head_); }
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;
  void add(const std::string& line) { head_ = curl_.slist_append(head_, line.c_str()); }
  curl_slist* head() const { return head_; }

 private:
  const Curl& curl_;
  curl_slist* head_ = nullptr;
};

void set_pem(const Curl& curl, CURL* handle, const Pem& pem, CURLoption file, CURLoption blob) {
  if (!pem.data.empty()) {
    curl_blob bytes{const_cast<char*>(pem.data.reveal().data()), pem.data.reveal().size(),
                    CURL_BLOB_COPY};
    curl.easy_setopt(handle, blob, &bytes);
  } else if (!pem.file.empty()) {
    curl.easy_setopt(handle, file, pem.file.c_str());
  }
}

void set_tls(const Curl& curl, CURL* handle, const HttpRequest& request) {
  set_pem(curl, handle, request.ca, CURLOPT_CAINFO, CURLOPT_CAINFO_BLOB);
  // a private CA replaces the system's authorities, it is not added to them
  if (!request.ca.empty()) curl.easy_setopt(handle, CURLOPT_CAPATH, nullptr);
  set_pem(curl, handle, request.client_cert, CURLOPT_SSLCERT, CURLOPT_SSLCERT_BLOB);
  set_pem(curl, handle, request.client_key, CURLOPT_SSLKEY, CURLOPT_SSLKEY_BLOB);
  curl.easy_setopt(handle, CURLOPT_SSLVERSION, long{CURL_SSLVERSION_TLSv1_2});
}

void set_limits(const Curl& curl, CURL* handle, const HttpRequest& request) {
  const long milliseconds = std::max<long>(1, static_cast<long>(request.timeout.micros / 1000));
  curl.easy_setopt(handle, CURLOPT_TIMEOUT_MS, milliseconds);
  curl.easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, std::min(milliseconds, 10'000L));
  curl.easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 0L);
  curl.easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  curl.easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl.easy_setopt(handle, CURLOPT_NETRC, long{CURL_NETRC_IGNORED});
  curl.easy_setopt(handle, CURLOPT_MAXFILESIZE_LARGE, static_cast<curl_off_t>(request.max_body));
}

std::string wanted_url(const HttpRequest& request, const Url& url) {
  if (request.tls_server_name.empty()) return request.url;
  return fmt::format("{}://{}{}{}{}", url.scheme, bracketed(request.tls_server_name),
                     url.port.empty() ? "" : ":", url.port, url.rest);
}

void set_route(const Curl& curl, CURL* handle, const HttpRequest& request, const Url& url) {
  if (!request.unix_socket.empty())
    curl.easy_setopt(handle, CURLOPT_UNIX_SOCKET_PATH, request.unix_socket.c_str());
  if (!request.proxy.empty())
    curl.easy_setopt(handle, CURLOPT_PROXY, request.proxy.c_str());
  else if (!request.unix_socket.empty() || is_this_machine(url))
    curl.easy_setopt(handle, CURLOPT_PROXY, "");  // a proxy's own loopback is not ours
  curl.easy_setopt(handle, CURLOPT_URL, wanted_url(request, url).c_str());
}

}  // namespace

Result<HttpReply> HttpClient::send(const HttpRequest& request) {
  EXA_ASSIGN(const Url url, check(request));
  const Curl& curl = curl_library();
  if (!curl.problem.empty()) return fail(Code::probe_failed, curl.problem);
  if (!state_->handle) state_->handle = curl.easy_init();
  CURL* handle = state_->handle;
  if (!handle) return fail(Code::probe_failed, "libcurl could not make a connection handle");

  curl.easy_reset(handle);  // options only: live connections are kept
  set_limits(curl, handle, request);
  set_tls(curl, handle, request);
  set_route(curl, handle, request, url);
  Lines connect_to(curl);
  if (!request.tls_server_name.empty()) {
    // the only way to give OpenSSL another name than the one that is connected to
    connect_to.add(fmt::format("::{}:{}", bracketed(url.host), url.port));
    curl.easy_setopt(handle, CURLOPT_CONNECT_TO, connect_to.head());
  }
  Lines headers(curl);
  for (const auto& [name, value] : request.headers) headers.add(name + ": " + value);
  if (!request.bearer.empty()) headers.add("Authorization: Bearer " + request.bearer.reveal());
  curl.easy_setopt(handle, CURLOPT_HTTPHEADER, headers.head());
  if (request.method != "GET")
    curl.easy_setopt(handle, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  if (!request.body.empty()) {
    curl.easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(request.body.size()));
    curl.easy_setopt(handle, CURLOPT_POSTFIELDS, request.body.data());
  }
  curl.easy_setopt(handle, CURLOPT_USERAGENT, "exa/" EXA_VERSION);

  Sink sink;
  sink.max_body = request.max_body;
  char detail[CURL_ERROR_SIZE] = {};
  curl.easy_setopt(handle, CURLOPT_ERRORBUFFER, detail);
  curl.easy_setopt(handle, CURLOPT_WRITEFUNCTION, take_body);
  curl.easy_setopt(handle, CURLOPT_WRITEDATA, &sink);
  curl.easy_setopt(handle, CURLOPT_HEADERFUNCTION, take_header);
  curl.easy_setopt(handle, CURLOPT_HEADERDATA, &sink);
  if (request.unwanted) {
    curl.easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
    curl.easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, ask_whether_wanted);
    curl.easy_setopt(handle, CURLOPT_XFERINFODATA, &request.unwanted);
  }
  const CURLcode code = curl.easy_perform(handle);
  curl.easy_setopt(handle, CURLOPT_ERRORBUFFER, nullptr);
  if (code != CURLE_OK) {
    long verify = 0;
    curl.easy_getinfo(handle, CURLINFO_SSL_VERIFYRESULT, &verify);
    return fail(explain(code, sink, request, url, verify,
                        detail[0] ? std::string_view(detail) : curl.easy_strerror(code)));
  }
  curl.easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &sink.reply.status);
  return std::move(sink.reply);
}

Result<HttpReply> http_send(const HttpRequest& request) {
  return HttpClient().send(request);
}

std::string_view HttpReply::header(std::string_view lower_case_name) const {
  for (const auto& [name, value] : headers)
    if (name == lower_case_name) return value;
  return {};
}

}  // namespace exa
