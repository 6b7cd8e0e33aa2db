#include "server/response_head.h"

#include <boost/beast/http/status.hpp>
#include <fmt/chrono.h>
#include <fmt/format.h>

#include "api/http_form.h"

namespace exa {
namespace {

bool stays_on_its_line(std::string_view text) {
  return std::ranges::none_of(text, [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
  });
}

void put(std::string& head, std::string_view name, std::string_view value) {
  if (!stays_on_its_line(name) || !stays_on_its_line(value)) return;
  head.append(name).append(": ").append(value).append("\r\n");
}

}  // namespace

std::string http_date(int64_t seconds_since_1970) {
  return fmt::format("{:%a, %d %b %Y %H:%M:%S} GMT",
                     fmt::gmtime(static_cast<std::time_t>(seconds_since_1970)));
}

std::string response_head(const Outgoing& answer, const HeadFacts& facts) {
  const auto reason =
      boost::beast::http::obsolete_reason(static_cast<boost::beast::http::status>(answer.status));
  std::string head;
  head.reserve(512);
  fmt::format_to(std::back_inserter(head), "HTTP/1.1 {} {}\r\n", answer.status,
                 std::string_view(reason.data(), reason.size()));
  if (!facts.date.empty()) put(head, "date", facts.date);
  const bool empty = answer.status == 204;  // it has no content, so none of a length or a type
  if (!empty) put(head, "content-type", answer.content_type);
  put(head, "cache-control", "no-store");
  put(head, "x-content-type-options", "nosniff");
  if (!answer.request_id.empty()) put(head, kRequestIdHeader, answer.request_id);
  if (facts.tls) put(head, "strict-transport-security", "max-age=31536000");
  for (const auto& [name, value] : answer.headers) put(head, name, value);
  if (facts.length && !empty)
    fmt::format_to(std::back_inserter(head), "content-length: {}\r\n", *facts.length);
  if (!facts.keep_alive) put(head, "connection", "close");
  // in HTTP/1.1 nothing need be said to keep a connection
  if (facts.keep_alive && facts.old_client) put(head, "connection", "keep-alive");
  head += "\r\n";
  return head;
}

}  // namespace exa
