#include "store/store.h"

namespace exa {

Result<void> check_text(std::string_view text) {
  if (text.find('\0') == std::string_view::npos) return {};
  return fail(Code::invalid_input, "text that is to be stored holds a NUL character");
}

bool Row::is_null(size_t column) const {
  return std::holds_alternative<std::nullptr_t>(values_.at(column));
}

int64_t Row::integer(size_t column) const {
  const auto* value = std::get_if<int64_t>(&values_.at(column));
  EXA_ASSERT(value != nullptr);
  return *value;
}

const std::string& Row::text(size_t column) const {
  const auto* value = std::get_if<std::string>(&values_.at(column));
  EXA_ASSERT(value != nullptr);
  return *value;
}

std::string Row::text_or_empty(size_t column) const {
  return is_null(column) ? std::string() : text(column);
}

const std::string& Row::bytes(size_t column) const {
  const auto* value = std::get_if<Bytes>(&values_.at(column));
  EXA_ASSERT(value != nullptr);
  return value->data;
}

}  // namespace exa
