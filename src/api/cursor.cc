#include "api/cursor.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "base/text.h"

namespace exa {
namespace {

// The alphabets differ in two letters, and padding can be told from the length.
std::string to_url(std::string text) {
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  while (text.ends_with('=')) text.pop_back();
  return text;
}

std::string from_url(std::string_view cursor) {
  std::string text(cursor);
  std::ranges::replace(text, '-', '+');
  std::ranges::replace(text, '_', '/');
  text.append((4 - text.size() % 4) % 4, '=');
  return text;
}

std::string opened(std::string_view cursor) {
  std::vector<uint8_t> bytes;
  if (!decode_base64(from_url(cursor), bytes)) return {};
  return {bytes.begin(), bytes.end()};
}

}  // namespace

std::string cursor_of(std::string_view list, std::string_view place) {
  const std::string text = fmt::format("v1:{}:{}", list, place);
  return to_url(base64({reinterpret_cast<const uint8_t*>(text.data()), text.size()}));
}

Result<std::string> place_of_cursor(std::string_view list, std::string_view cursor) {
  const std::string text = opened(cursor);
  const std::string prefix = fmt::format("v1:{}:", list);
  // spelled again, it must be the same: one place has one cursor
  if (text.starts_with(prefix) && text.size() > prefix.size()) {
    std::string place = text.substr(prefix.size());
    if (cursor_of(list, place) == cursor) return place;
  }
  return fail(invalid("list", {{"/cursor",
                                "is not one that this list answered with; begin without --cursor, "
                                "then give its next_cursor",
                                ""}}));
}

void close_cursor(json::object& page, std::string_view list) {
  json::value* next = page.if_contains("next_cursor");
  if (next != nullptr && next->is_string()) *next = cursor_of(list, next->get_string());
}

}  // namespace exa
