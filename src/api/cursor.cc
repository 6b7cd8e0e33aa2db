#include "api/cursor.h"

#include <fmt/format.h>

#include "base/encoding.h"

namespace exa {

std::string cursor_of(std::string_view list, std::string_view place) {
  return base64url(fmt::format("v1:{}:{}", list, place));
}

Result<std::string> place_of_cursor(std::string_view list, std::string_view cursor) {
  const std::string text = decode_base64url(cursor).value_or("");
  const std::string prefix = fmt::format("v1:{}:", list);
  if (text.starts_with(prefix) && text.size() > prefix.size()) return text.substr(prefix.size());
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
