// Walking large JSON answers of an API server once, on demand, without building a tree. Inside
// these files problems are thrown as Unreadable or simdjson_error; read_kubernetes turns them into
// values.
#pragma once

#include <exception>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <simdjson.h>

#include "discover/capture.h"

namespace exa::kubernetes {

namespace od = simdjson::ondemand;

class Unreadable : public std::exception {
 public:
  explicit Unreadable(std::string message) : message_(std::move(message)) {}
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

// A key as it stands between its quotes. The keys of this API have no escapes; one that has is kept
// raw and so matches nothing.
inline std::string_view between_quotes(od::raw_json_string key) {
  const char* start = key.raw();
  const char* end = start;
  while (*end != '"') end += *end == '\\' ? 2 : 1;
  return {start, static_cast<size_t>(end - start)};
}

template <typename F>
void each_field(od::object object, F&& take) {
  for (auto field : object) {
    const std::string_view key = between_quotes(field.key());
    take(key, field.value());
  }
}

// Go prints an absent map or list as null.
template <typename F>
void each_field(od::value value, F&& take) {
  if (value.is_null()) return;
  each_field(od::object(value.get_object()), std::forward<F>(take));
}

template <typename F>
void each_element(od::value value, F&& take) {
  if (value.is_null()) return;
  for (auto element : value.get_array()) take(element.value());
}

inline std::string_view text_of(od::value value) {
  if (value.is_null()) return {};
  return value.get_string();
}

// A quantity: a string, or a number in hand-written files.
inline std::string_view quantity_text(od::value value) {
  if (value.type() == od::json_type::number) {
    std::string_view token = value.raw_json_token();
    while (!token.empty() && (token.back() == ' ' || token.back() == '\n' || token.back() == '\r' ||
                              token.back() == '\t'))
      token.remove_suffix(1);
    // raw_json_token does not consume, and an unconsumed value is skipped by the iterator
    return token;
  }
  return value.get_string();
}

// The text with the padding simdjson reads past the end of; copies only if the text has no room.
class Padded {
 public:
  explicit Padded(const std::string& text);
  simdjson::padded_string_view view() const { return view_; }

 private:
  simdjson::padded_string copy_;
  simdjson::padded_string_view view_;
};

// Calls `take` for every item of a list answer, or once for a document that is a single object.
// `more` becomes true when the list says that it goes on (a page was left out). Throws Unreadable
// naming the output and the item.
void walk_list(od::parser& parser, const CapturedOutput& output,
               const std::function<void(od::object)>& take, bool& more);

// What a list document is, seen at its first level.
struct ListShape {
  std::string kind;  // "NodeList", "List", "Node", …; empty when absent
  std::string api_version;
  bool has_items = false;
};

// The kinds of a document without reading its items; nullopt when it is no JSON object.
std::optional<ListShape> shape_of(std::string_view text);

// The kinds that the items of a kubectl List have; empty when one has none, or it is no such list.
std::set<std::string, std::less<>> item_kinds(std::string_view text);

}  // namespace exa::kubernetes
