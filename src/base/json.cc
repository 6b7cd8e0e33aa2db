#include "base/json.h"

#include <charconv>
#include <cmath>
#include <set>

#include <boost/json/basic_parser_impl.hpp>
#include <fmt/format.h>

#include "base/text.h"

namespace exa {
namespace {

// Builds the value from the parser's events. Boost.JSON's own builder keeps the last of duplicate
// keys without a word; this one lists every duplicate.
class StrictBuilder {
 public:
  constexpr static std::size_t max_object_size = std::size_t(-1);
  constexpr static std::size_t max_array_size = std::size_t(-1);
  constexpr static std::size_t max_key_size = std::size_t(-1);
  constexpr static std::size_t max_string_size = std::size_t(-1);

  using error_code = boost::system::error_code;

  void limit_nodes(size_t most) { nodes_left_ = most; }

  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }
  bool on_object_begin(error_code& ec) { return open(json::object(), ec); }
  bool on_array_begin(error_code& ec) { return open(json::array(), ec); }
  bool on_object_end(size_t, error_code&) { return close(); }
  bool on_array_end(size_t, error_code&) { return close(); }
  bool on_key_part(std::string_view part, size_t, error_code&) {
    key_ += part;
    return true;
  }
  bool on_key(std::string_view part, size_t, error_code&) {
    key_ += part;
    open_.back().key = std::exchange(key_, {});
    return true;
  }
  bool on_string_part(std::string_view part, size_t, error_code&) {
    text_ += part;
    return true;
  }
  bool on_string(std::string_view part, size_t, error_code& ec) {
    text_ += part;
    return add(json::string(std::exchange(text_, {})), ec);
  }
  bool on_number_part(std::string_view part, error_code&) {
    number_ += part;
    return true;
  }
  bool on_int64(int64_t number, std::string_view, error_code& ec) {
    number_.clear();
    return add(number, ec);
  }
  bool on_uint64(uint64_t number, std::string_view, error_code& ec) {
    number_.clear();
    return add(number, ec);
  }
  bool on_double(double number, std::string_view part, error_code& ec) {
    // Boost.JSON 1.81 reads some long decimals one unit in the last place off; from_chars is exact
    const std::string text = std::exchange(number_, {}) + std::string(part);
    double exact = 0;
    const auto [stop, status] = std::from_chars(text.data(), text.data() + text.size(), exact);
    if (status == std::errc{} && stop == text.data() + text.size()) number = exact;
    if (!std::isfinite(number)) {
      problems_.push_back({here(), "the number is too large", ""});
      number = 0;
    }
    return add(number, ec);
  }
  bool on_bool(bool truth, error_code& ec) { return add(truth, ec); }
  bool on_null(error_code& ec) { return add(nullptr, ec); }
  bool on_comment_part(std::string_view, error_code&) { return true; }
  bool on_comment(std::string_view, error_code&) { return true; }

  json::value take() { return std::move(root_); }
  std::vector<Problem> take_problems() { return std::move(problems_); }
  bool ran_out_of_nodes() const { return nodes_left_ == 0; }

 private:
  struct Open {
    json::value value;
    std::string key;
  };

  std::string here() const {
    std::string path;
    for (const Open& open : open_) {
      path = open.value.is_object() ? pointer(path, open.key)
                                    : path + "/" + std::to_string(open.value.get_array().size());
    }
    return path;
  }

  bool open(json::value container, error_code& ec) {
    if (!count(ec)) return false;
    open_.push_back({std::move(container), {}});
    return true;
  }

  bool close() {
    json::value done = std::move(open_.back().value);
    open_.pop_back();
    return attach(std::move(done));
  }

  bool add(json::value value, error_code& ec) { return count(ec) && attach(std::move(value)); }

  bool count(error_code& ec) {
    if (nodes_left_ == 0 || --nodes_left_ == 0) {
      ec = json::error::object_too_large;
      return false;
    }
    return true;
  }

  bool attach(json::value value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return true;
    }
    Open& parent = open_.back();
    if (parent.value.is_array()) {
      parent.value.get_array().push_back(std::move(value));
      return true;
    }
    const auto [at, added] = parent.value.get_object().emplace(parent.key, std::move(value));
    if (!added) problems_.push_back({here(), "this key stands twice", ""});
    return true;
  }

  std::vector<Open> open_;
  std::string key_;
  std::string text_;
  std::string number_;
  json::value root_;
  std::vector<Problem> problems_;
  size_t nodes_left_ = 0;
};

std::string place_of(std::string_view text, size_t offset, std::string_view what) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const auto line = 1 + std::ranges::count(before, '\n');
  const size_t line_start = before.rfind('\n');
  const size_t column =
      before.size() - (line_start == std::string_view::npos ? 0 : line_start + 1) + 1;
  return fmt::format("{}:{}:{}", what, line, column);
}

void append_escaped(std::string& out, char c) {
  constexpr std::string_view kHex = "0123456789abcdef";
  constexpr std::string_view kShort = "\"\"\\\\\nn\rr\tt\bb\ff";  // pairs: character, its letter
  for (size_t i = 0; i < kShort.size(); i += 2) {
    if (kShort[i] != c) continue;
    out += '\\';
    out += kShort[i + 1];
    return;
  }
  const auto byte = static_cast<unsigned char>(c);
  out += "\\u00";
  out += kHex[byte >> 4];
  out += kHex[byte & 15];
}

// Runs of characters that stand for themselves are copied at once: most strings are one run.
void append_string(std::string& out, std::string_view text) {
  out += '"';
  size_t run = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\') continue;
    out.append(text, run, i - run);
    append_escaped(out, c);
    run = i + 1;
  }
  out.append(text, run, text.size() - run);
  out += '"';
}

void append_integer(std::string& out, auto number) {
  std::array<char, 24> digits{};
  const auto [end, status] = std::to_chars(digits.begin(), digits.end(), number);
  out.append(digits.begin(), end);
}

void append_double(std::string& out, double number) {
  EXA_ASSERT(std::isfinite(number));
  // integral values without an exponent or a point, as a person and every other JSON writer would
  if (number == std::floor(number) && std::abs(number) < 9007199254740992.0) {
    append_integer(out, static_cast<int64_t>(number));
  } else {
    // the shortest digits that read back the same; without an exponent where a person reads them
    std::array<char, 64> digits{};
    const bool plain = std::abs(number) >= 1e-9 && std::abs(number) < 1e15;
    const auto [end, status] =
        plain ? std::to_chars(digits.begin(), digits.end(), number, std::chars_format::fixed)
              : std::to_chars(digits.begin(), digits.end(), number);
    EXA_ASSERT(status == std::errc{});
    out.append(digits.begin(), end);
  }
}

struct Style {
  bool pretty = false;
  bool sorted = false;
};

void append(std::string& out, const json::value& value, Style style, size_t depth);

void append_break(std::string& out, Style style, size_t depth) {
  if (!style.pretty) return;
  out += '\n';
  out.append(depth * 2, ' ');
}

void append_object(std::string& out, const json::object& object, Style style, size_t depth) {
  if (object.empty()) {
    out += "{}";
    return;
  }
  out += '{';
  bool first = true;
  const auto append_member = [&](const json::key_value_pair& member) {
    if (!std::exchange(first, false)) out += ',';
    append_break(out, style, depth + 1);
    append_string(out, member.key());
    out += style.pretty ? ": " : ":";
    append(out, member.value(), style, depth + 1);
  };
  if (style.sorted) {
    std::vector<const json::key_value_pair*> members;
    members.reserve(object.size());
    for (const auto& member : object) members.push_back(&member);
    std::ranges::sort(members, {}, [](const auto* m) { return std::string_view(m->key()); });
    for (const auto* member : members) append_member(*member);
  } else {
    for (const auto& member : object) append_member(member);
  }
  append_break(out, style, depth);
  out += '}';
}

void append_array(std::string& out, const json::array& array, Style style, size_t depth) {
  if (array.empty()) {
    out += "[]";
    return;
  }
  out += '[';
  bool first = true;
  for (const json::value& element : array) {
    if (!std::exchange(first, false)) out += ',';
    append_break(out, style, depth + 1);
    append(out, element, style, depth + 1);
  }
  append_break(out, style, depth);
  out += ']';
}

void append(std::string& out, const json::value& value, Style style, size_t depth) {
  switch (value.kind()) {
    case json::kind::null:
      out += "null";
      break;
    case json::kind::bool_:
      out += value.get_bool() ? "true" : "false";
      break;
    case json::kind::int64:
      append_integer(out, value.get_int64());
      break;
    case json::kind::uint64:
      append_integer(out, value.get_uint64());
      break;
    case json::kind::double_:
      append_double(out, value.get_double());
      break;
    case json::kind::string:
      append_string(out, value.get_string());
      break;
    case json::kind::array:
      append_array(out, value.get_array(), style, depth);
      break;
    case json::kind::object:
      append_object(out, value.get_object(), style, depth);
      break;
  }
}

}  // namespace

ReadLimits tool_output_limits() {
  return {size_t{1} << 30, 64, 100'000'000};
}

Result<json::value> parse_json(std::string_view text, std::string_view what, ReadLimits limits) {
  if (text.size() > limits.max_bytes) {
    return fail(Code::invalid_input, fmt::format("{} is {} bytes long; at most {} are read", what,
                                                 text.size(), limits.max_bytes));
  }
  json::parse_options options;
  options.max_depth = limits.max_depth;
  json::basic_parser<StrictBuilder> parser(options);
  parser.handler().limit_nodes(limits.max_nodes);
  boost::system::error_code ec;
  const size_t read = parser.write_some(false, text.data(), text.size(), ec);
  if (!ec && trim(text.substr(read)).size() > 0) ec = json::error::extra_data;
  if (ec) {
    std::string why = ec.message();
    if (ec == json::error::too_deep) why = fmt::format("nested deeper than {}", limits.max_depth);
    if (parser.handler().ran_out_of_nodes()) {
      why = fmt::format("more than {} values", limits.max_nodes);
    }
    return fail(invalid(what, {{place_of(text, read, what), "not valid JSON: " + why, ""}}));
  }
  std::vector<Problem> problems = parser.handler().take_problems();
  if (!problems.empty()) return fail(invalid(what, std::move(problems)));
  return parser.handler().take();
}

std::string to_text(const json::value& value) {
  std::string out;
  append(out, value, {}, 0);
  return out;
}

std::string to_pretty_text(const json::value& value) {
  std::string out;
  append(out, value, {.pretty = true, .sorted = false}, 0);
  out += '\n';
  return out;
}

std::string to_canonical_text(const json::value& value) {
  std::string out;
  append(out, value, {.pretty = false, .sorted = true}, 0);
  return out;
}

json::value number_from_milli(int64_t milli) {
  if (milli % 1000 == 0) return milli / 1000;
  return static_cast<double>(milli) / 1000.0;
}

json::value number_from_text(std::string_view decimal) {
  int64_t whole = 0;
  const char* end = decimal.data() + decimal.size();
  if (const auto [stop, status] = std::from_chars(decimal.data(), end, whole);
      status == std::errc{} && stop == end) {
    return whole;
  }
  double number = 0;
  const auto [stop, status] = std::from_chars(decimal.data(), end, number);
  EXA_ASSERT(status == std::errc{} && stop == end);
  return number;
}

const json::value* find(const json::object& object, std::string_view key) {
  return object.if_contains(key);
}

const json::value* find(const json::value& object, std::string_view key) {
  const auto* members = object.if_object();
  return members == nullptr ? nullptr : find(*members, key);
}

std::string_view text_or(const json::object& object, std::string_view key,
                         std::string_view otherwise) {
  const json::value* value = find(object, key);
  if (value == nullptr || !value->is_string()) return otherwise;
  return value->get_string();
}

std::string_view text_or(const json::value& object, std::string_view key,
                         std::string_view otherwise) {
  const auto* members = object.if_object();
  return members == nullptr ? otherwise : text_or(*members, key, otherwise);
}

std::string pointer(std::string_view base, std::string_view key) {
  std::string path(base);
  path += '/';
  for (const char c : key) {
    if (c == '~')
      path += "~0";
    else if (c == '/')
      path += "~1";
    else
      path += c;
  }
  return path;
}

}  // namespace exa
