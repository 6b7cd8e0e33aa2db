#include "api/http_form.h"

#include <fmt/format.h>

#include "api/call.h"
#include "base/encoding.h"

namespace exa {
namespace {

Failure bad_target(std::string_view why) {
  return fail(Code::invalid_input, fmt::format("the request's target {}", why));
}

struct Halves {
  std::string_view before;
  std::string_view after;  // empty where there is no separator
};

Halves cut(std::string_view text, char separator) {
  const auto at = static_cast<size_t>(std::ranges::find(text, separator) - text.begin());
  return {text.substr(0, at), text.substr(std::min(at + 1, text.size()))};
}

}  // namespace

Result<RequestTarget> parse_target(std::string_view text) {
  if (!text.starts_with('/')) return bad_target("must be a path that starts with /");
  // a fragment is for browsers and never sent
  const bool sendable =
      std::ranges::all_of(text, [](char c) { return c > 0x20 && c < 0x7f && c != '#'; });
  if (!sendable) return bad_target("holds a character that must be percent-encoded");
  RequestTarget target;
  auto [path, rest] = cut(text, '?');
  target.path = path;
  while (!rest.empty()) {
    const auto [pair, others] = cut(rest, '&');
    rest = others;
    if (pair.empty()) continue;
    const auto [name, text_value] = cut(pair, '=');
    // forms write blanks as +
    std::string value(text_value);
    std::ranges::replace(value, '+', ' ');
    EXA_ASSIGN(std::string key, percent_decode(name));
    EXA_ASSIGN(std::string decoded, percent_decode(value));
    target.query.emplace_back(std::move(key), std::move(decoded));
  }
  return target;
}

std::string format_target(std::string_view path,
                          std::span<const std::pair<std::string, std::string>> query) {
  std::string text(path);
  char separator = '?';
  for (const auto& [key, value] : query) {
    text += fmt::format("{}{}={}", separator, percent_encode(key), percent_encode(value));
    separator = '&';
  }
  return text;
}

std::optional<Method> find_method(std::string_view wanted) {
  for (const Method method : {Method::get, Method::put, Method::post, Method::del})
    if (name(method) == wanted) return method;
  return std::nullopt;
}

}  // namespace exa
