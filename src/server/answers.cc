#include "server/answers.h"

#include "api/http_form.h"
#include "api/router.h"
#include "base/encoding.h"
#include "base/text.h"
#include "service/attempt_limiter.h"

namespace exa {

Outgoing outgoing_of(Reply reply) {
  Outgoing outgoing;
  outgoing.status = reply.status;
  outgoing.content_type = std::move(reply.content_type);
  outgoing.body = std::make_shared<const std::string>(std::move(reply.body));
  if (reply.exit_code != 0)
    outgoing.headers.emplace_back(kExitCodeHeader, std::to_string(reply.exit_code));
  for (const std::string& notice : reply.notices)
    outgoing.headers.emplace_back(kNoticeHeader, percent_encode(notice));
  if (!reply.etag.empty()) outgoing.headers.emplace_back("etag", reply.etag);
  if (!reply.location.empty()) {
    outgoing.headers.emplace_back("location", reply.location);
    outgoing.headers.emplace_back("preference-applied", "respond-async");
  }
  if (outgoing.status == 401) outgoing.headers.emplace_back("www-authenticate", "Bearer");
  // the whole window: never too early
  if (outgoing.status == 429) {
    outgoing.headers.emplace_back("retry-after",
                                  std::to_string(AttemptLimiter::kWindow.micros / 1'000'000));
  }
  return outgoing;
}

Outgoing problem(int status, Code code, std::string_view detail, const std::string& request_id) {
  Reply reply = reply_of({code, std::string(detail), {}, "", {}}, request_id);
  json::value body = parse_json(reply.body, "problem").value();
  body.as_object()["status"] = status;
  reply.body = to_pretty_text(body);
  reply.status = status;
  return outgoing_of(std::move(reply));
}

void make_page(Outgoing& outgoing, std::shared_ptr<const std::string> html) {
  outgoing.content_type = "text/html; charset=utf-8";
  outgoing.headers.emplace_back("content-security-policy",
                                "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; "
                                "form-action 'none'; frame-ancestors 'none'");
  outgoing.body = std::move(html);
}

std::string_view path_of(std::string_view target) {
  return target.substr(0, target.find('?'));
}

bool is_json(std::string_view content_type) {
  return lower(trim(content_type.substr(0, content_type.find(';')))) == "application/json";
}

}  // namespace exa
