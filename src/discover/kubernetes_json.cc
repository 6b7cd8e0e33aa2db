#include "discover/kubernetes_json.h"

#include <fmt/format.h>

#include "base/text.h"

namespace exa::kubernetes {

Padded::Padded(const std::string& text) {
  if (text.capacity() >= text.size() + simdjson::SIMDJSON_PADDING) {
    view_ = simdjson::padded_string_view(text.data(), text.size(), text.capacity());
  } else {
    copy_ = simdjson::padded_string(text);
    view_ = copy_;
  }
}

namespace {

// At most this much of a tool's text is repeated in a message.
std::string excerpt(std::string_view text) {
  return printable(trim(text.substr(0, 60)));
}

std::string place(const CapturedOutput& output, int64_t item) {
  return item < 0 ? output.name : fmt::format("{}, item {}", output.name, item);
}

void walk(od::document& document, const std::function<void(od::object)>& take, bool& more,
          int64_t& item) {
  std::string kind, message;
  bool items = false;
  each_field(od::object(document.get_object()), [&](std::string_view key, od::value value) {
    if (key == "kind") {
      kind = text_of(value);
    } else if (key == "message") {
      message = text_of(value);
    } else if (key == "items") {
      items = true;
      each_element(value, [&](od::value element) {
        ++item;
        take(element.get_object());
      });
      item = -1;
    } else if (key == "metadata") {
      each_field(value, [&](std::string_view name, od::value text) {
        if (name == "continue" && !text_of(text).empty()) more = true;
      });
    }
  });
  if (document.current_location().error() == simdjson::SUCCESS)
    throw Unreadable("text follows the JSON document");
  if (items) return;
  if (kind == "Status")
    throw Unreadable(fmt::format("the server refused (a Status): {}",
                                 message.empty() ? "no reason given" : printable(message)));
  if (kind != "Node" && kind != "Pod")
    throw Unreadable(fmt::format("a list was expected, but this is {}",
                                 kind.empty() ? "an object without a kind" : "a " + excerpt(kind)));
  document.rewind();
  take(document.get_object());
}

}  // namespace

void walk_list(od::parser& parser, const CapturedOutput& output,
               const std::function<void(od::object)>& take, bool& more) {
  int64_t item = -1;
  try {
    const Padded padded(output.out);
    od::document document = parser.iterate(padded.view());
    walk(document, take, more, item);
  } catch (const simdjson::simdjson_error& error) {
    throw Unreadable(fmt::format("{}: not the JSON that was expected: {}", place(output, item),
                                 simdjson::error_message(error.error())));
  } catch (const Unreadable& error) {
    throw Unreadable(fmt::format("{}: {}", place(output, item), error.what()));
  }
}

std::optional<ListShape> shape_of(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == text.npos || text[first] != '{') return std::nullopt;
  try {
    const Padded padded{std::string(text)};
    od::parser parser;
    od::document document = parser.iterate(padded.view());
    ListShape shape;
    each_field(od::object(document.get_object()), [&](std::string_view key, od::value value) {
      if (key == "kind") shape.kind = text_of(value);
      if (key == "apiVersion") shape.api_version = text_of(value);
      if (key == "items") shape.has_items = true;
    });
    return shape;
  } catch (const simdjson::simdjson_error&) {
    return std::nullopt;
  }
}

std::set<std::string, std::less<>> item_kinds(std::string_view text) {
  std::set<std::string, std::less<>> kinds;
  try {
    od::parser parser;
    bool more = false;
    walk_list(
        parser, CapturedOutput{"list", {}, 0, std::string(text), {}},
        [&](od::object item) {
          std::string_view kind;
          each_field(item, [&](std::string_view key, od::value value) {
            if (key == "kind") kind = text_of(value);
          });
          if (!kinds.contains(kind)) kinds.emplace(kind);
        },
        more);
  } catch (const Unreadable&) {
    return {};
  }
  return kinds;
}

}  // namespace exa::kubernetes
