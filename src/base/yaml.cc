#include "base/yaml.h"

#include <charconv>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <yaml.h>

#include "base/text.h"

namespace exa {
namespace {

// More than these help nobody, and a hostile file could make millions.
constexpr size_t kMostProblems = 100;

bool one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, text) != words.end();
}

bool all_in(std::string_view text, std::string_view characters) {
  return !text.empty() && text.find_first_not_of(characters) == std::string_view::npos;
}

// --- the core schema of YAML 1.2, section 10.3 ---------------------------------------------------

constexpr std::string_view kDigits = "0123456789";

bool is_null(std::string_view text) {
  return one_of(text, {"", "~", "null", "Null", "NULL"});
}

std::string_view without_sign(std::string_view text) {
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  return text;
}

// [-+]? ( \.[0-9]+ | [0-9]+ ( \.[0-9]* )? ) ( [eE] [-+]? [0-9]+ )?
bool is_float(std::string_view text) {
  text = without_sign(text);
  const auto take_digits = [&] {
    const size_t count = std::min(text.find_first_not_of(kDigits), text.size());
    text.remove_prefix(count);
    return count > 0;
  };
  const bool whole = take_digits();
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    if (!take_digits() && !whole) return false;
  } else if (!whole) {
    return false;
  }
  if (text.empty()) return true;
  if (text[0] != 'e' && text[0] != 'E') return false;
  return all_in(without_sign(text.substr(1)), kDigits);
}

struct Plain {
  json::value value;
  std::string_view wrong;  // why it cannot be a value
};

Plain whole_number(std::string_view text, int base, bool negative) {
  constexpr std::string_view kTooLarge =
      "the whole number does not fit into 64 bits; put it in quotes if it is text";
  uint64_t magnitude = 0;
  const char* end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(text.data(), end, magnitude, base);
  if (status != std::errc{} || stop != end) return {nullptr, kTooLarge};
  if (!negative) {
    if (magnitude <= INT64_MAX) return {static_cast<int64_t>(magnitude), {}};
    return {magnitude, {}};
  }
  if (magnitude > static_cast<uint64_t>(INT64_MAX) + 1) return {nullptr, kTooLarge};
  return {static_cast<int64_t>(0 - magnitude), {}};
}

Plain floating_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(text.data(), end, number);
  // a result too small for a double becomes 0 in most readers; here it is refused as well
  if (status != std::errc{} || stop != end || !std::isfinite(number)) {
    return {nullptr, "the number is out of range"};
  }
  return {number, {}};
}

Plain read_plain(std::string_view text) {
  if (is_null(text)) return {nullptr, {}};
  if (one_of(text, {"true", "True", "TRUE"})) return {true, {}};
  if (one_of(text, {"false", "False", "FALSE"})) return {false, {}};
  const std::string_view unsigned_text = without_sign(text);
  if (all_in(unsigned_text, kDigits)) {
    return whole_number(unsigned_text, 10, text.starts_with('-'));
  }
  if (text.starts_with("0o") && all_in(text.substr(2), "01234567")) {
    return whole_number(text.substr(2), 8, false);
  }
  if (text.starts_with("0x") && all_in(text.substr(2), "0123456789abcdefABCDEF")) {
    return whole_number(text.substr(2), 16, false);
  }
  if (is_float(text)) return floating_number(text);
  if (one_of(unsigned_text, {".inf", ".Inf", ".INF"})) return {nullptr, "infinity is no amount"};
  if (one_of(text, {".nan", ".NaN", ".NAN"})) return {nullptr, "NaN is no amount"};
  return {json::string(text), {}};
}

// --- events to values ----------------------------------------------------------------------------

std::string_view text_of(const yaml_char_t* text) {
  return text == nullptr ? std::string_view() : reinterpret_cast<const char*>(text);
}

class Builder {
 public:
  Builder(std::string_view file, const YamlLimits& limits) : file_(file), limits_(limits) {}

  // False when nothing after this event is worth reading.
  bool take(const yaml_event_t& event) {
    at_ = event.start_mark;
    switch (event.type) {
      case YAML_DOCUMENT_START_EVENT:
        return start_document(event);
      case YAML_DOCUMENT_END_EVENT:
        documents_.back().value = std::move(root_);
        return true;
      case YAML_MAPPING_START_EVENT:
        refuse_properties(event.data.mapping_start.anchor, event.data.mapping_start.tag);
        return open(json::object());
      case YAML_SEQUENCE_START_EVENT:
        refuse_properties(event.data.sequence_start.anchor, event.data.sequence_start.tag);
        return open(json::array());
      case YAML_MAPPING_END_EVENT:
      case YAML_SEQUENCE_END_EVENT:
        return close();
      case YAML_SCALAR_EVENT:
        refuse_properties(event.data.scalar.anchor, event.data.scalar.tag);
        return scalar(event);
      case YAML_ALIAS_EVENT:
        problem(fmt::format("aliases are not read: *{}", text_of(event.data.alias.anchor)),
                "write the value out");
        return count() && attach_unusable();
      default:
        return true;
    }
  }

  void problem(std::string message, std::string suggestion = {}) {
    problem_at(at_, std::move(message), std::move(suggestion));
  }

  void problem_at(yaml_mark_t mark, std::string message, std::string suggestion = {}) {
    if (problems_.size() >= kMostProblems) return;
    problems_.push_back({fmt::format("{}:{}:{}", file_, mark.line + 1, mark.column + 1),
                         std::move(message), std::move(suggestion)});
  }

  bool too_many_problems() const { return problems_.size() >= kMostProblems; }

  Result<std::vector<YamlDocument>> finish() {
    if (!problems_.empty()) return fail(invalid(file_, std::move(problems_)));
    return std::move(documents_);
  }

 private:
  struct Open {
    json::value value;
    bool is_key = false;  // a map or list where a key should stand
    bool has_key = false;
    bool discard = false;  // the value of a key that could not be read
    std::string key;
    yaml_mark_t key_at{};
    std::map<std::string, size_t, std::less<>> lines;  // where each key stood first
  };

  bool start_document(const yaml_event_t& event) {
    if (documents_.size() == limits_.max_documents) {
      problem(fmt::format("more than {} documents", limits_.max_documents));
      return false;
    }
    const yaml_version_directive_t* version = event.data.document_start.version_directive;
    if (version != nullptr && version->minor != 2) {
      problem(fmt::format("YAML {}.{} is not read", version->major, version->minor),
              "YAML 1.2 is; remove the %YAML line");
    }
    documents_.push_back({nullptr, static_cast<int>(at_.line) + 1, {}});
    root_ = nullptr;
    nodes_ = 0;
    return true;
  }

  void refuse_properties(const yaml_char_t* anchor, const yaml_char_t* tag) {
    if (anchor != nullptr) {
      problem(fmt::format("anchors are not read: &{}", text_of(anchor)), "write the value out");
    }
    if (tag != nullptr) {
      problem(fmt::format("tags are not read: {}", text_of(tag)),
              "quotes make text, plain words and digits the rest");
    }
  }

  bool count() {
    if (++nodes_ <= limits_.each.max_nodes) return true;
    problem(fmt::format("more than {} values", limits_.each.max_nodes));
    return false;
  }

  bool expects_key() const {
    return !open_.empty() && open_.back().value.is_object() && !open_.back().has_key;
  }

  bool open(json::value container) {
    if (!count()) return false;
    if (open_.size() == limits_.each.max_depth) {
      problem(fmt::format("nested deeper than {}", limits_.each.max_depth));
      return false;
    }
    const bool is_key = expects_key();
    if (is_key) problem("a key must be text", "put quotes around braces and brackets");
    if (!is_key) note_place();
    open_.push_back({std::move(container), is_key, false, false, {}, {}, {}});
    return true;
  }

  bool close() {
    Open done = std::move(open_.back());
    open_.pop_back();
    return done.is_key ? attach_unusable() : attach(std::move(done.value));
  }

  bool scalar(const yaml_event_t& event) {
    const auto& data = event.data.scalar;
    const std::string_view text(reinterpret_cast<const char*>(data.value), data.length);
    const bool plain = data.style == YAML_PLAIN_SCALAR_STYLE;
    if (text.size() > limits_.max_scalar_bytes) {
      problem(fmt::format("a text of {} bytes; at most {} are read", text.size(),
                          limits_.max_scalar_bytes));
      return expects_key() ? attach_unusable() : attach(nullptr);
    }
    if (expects_key()) return key(text, plain);
    if (!count()) return false;
    note_place();
    if (!plain) return attach(json::string(text));
    Plain read = read_plain(text);
    if (!read.wrong.empty()) problem(fmt::format("{}: {}", text, read.wrong));
    return attach(std::move(read.value));
  }

  // Keys are their text: `no: 1` and `8080: x` have the keys "no" and "8080".
  bool key(std::string_view text, bool plain) {
    if (plain && is_null(text)) {
      problem("a key must be text", "put it in quotes if it is meant");
      return attach_unusable();
    }
    if (plain && text == "<<") {
      problem("merge keys are not read", "write the fields out");
      return attach_unusable();
    }
    Open& map = open_.back();
    map.has_key = true;
    map.key = text;
    map.key_at = at_;
    const auto [known, first] = map.lines.emplace(map.key, at_.line + 1);
    if (!first) {
      problem(fmt::format("the key {} stands twice (first on line {})", text, known->second));
      map.discard = true;
    }
    return true;
  }

  // In the place of a key: a key whose value is dropped; in the place of a value: null.
  bool attach_unusable() {
    if (!expects_key()) return attach(nullptr);
    open_.back().has_key = true;
    open_.back().discard = true;
    return true;
  }

  // Of the value that begins here.
  void note_place() {
    if (!limits_.with_places) return;
    std::string where;
    for (const Open& open : open_) {
      where = pointer(
          where, open.value.is_array() ? std::to_string(open.value.get_array().size()) : open.key);
    }
    const bool is_member = !open_.empty() && open_.back().value.is_object();
    const yaml_mark_t& mark = is_member ? open_.back().key_at : at_;
    documents_.back().places.emplace(
        std::move(where),
        YamlPlace{static_cast<int>(mark.line) + 1, static_cast<int>(mark.column) + 1});
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
    if (!parent.discard) parent.value.get_object().emplace(parent.key, std::move(value));
    parent.has_key = parent.discard = false;
    return true;
  }

  std::string_view file_;
  const YamlLimits& limits_;
  yaml_mark_t at_{};
  std::vector<Open> open_;
  json::value root_;
  size_t nodes_ = 0;
  std::vector<YamlDocument> documents_;
  std::vector<Problem> problems_;
};

// libyaml's state, released on every way out.
class Parser {
 public:
  explicit Parser(std::string_view text) {
    EXA_ASSERT(yaml_parser_initialize(&parser_) == 1);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                 text.size());
    // or libyaml would guess UTF-16 from a byte order mark
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
  }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;
  ~Parser() { yaml_parser_delete(&parser_); }

  yaml_parser_t* get() { return &parser_; }

 private:
  yaml_parser_t parser_{};
};

yaml_mark_t mark_of_byte(std::string_view text, size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  return {offset, static_cast<size_t>(std::ranges::count(before, '\n')),
          before.size() - line_start};
}

void report_syntax(const yaml_parser_t& parser, std::string_view text, Builder& builder) {
  const std::string_view why = parser.problem == nullptr ? "unreadable" : parser.problem;
  if (parser.error == YAML_READER_ERROR) {
    builder.problem_at(mark_of_byte(text, parser.problem_offset),
                       fmt::format("not valid YAML: {}", why));
    return;
  }
  const size_t at = parser.problem_mark.index;
  const bool tab = at < text.size() && text[at] == '\t';
  builder.problem_at(parser.problem_mark, fmt::format("not valid YAML: {}", why),
                     tab ? "indent with blanks, not with tabs" : "");
}

}  // namespace

Result<std::vector<YamlDocument>> parse_yaml(std::string_view text, std::string_view file,
                                             YamlLimits limits) {
  if (text.size() > limits.each.max_bytes) {
    return fail(Code::invalid_input, fmt::format("{} is {} bytes long; at most {} are read", file,
                                                 text.size(), limits.each.max_bytes));
  }
  Parser parser(text);
  Builder builder(file, limits);
  for (bool more = true; more && !builder.too_many_problems();) {
    yaml_event_t event;
    if (yaml_parser_parse(parser.get(), &event) == 0) {
      report_syntax(*parser.get(), text, builder);
      break;
    }
    more = event.type != YAML_STREAM_END_EVENT && builder.take(event);
    yaml_event_delete(&event);
  }
  return builder.finish();
}

std::string place_of(const YamlDocument& document, std::string_view pointer,
                     std::string_view file) {
  for (;; pointer = pointer.substr(0, pointer.rfind('/'))) {
    if (const auto found = document.places.find(pointer); found != document.places.end())
      return fmt::format("{}:{}:{}", file, found->second.line, found->second.column);
    if (pointer.empty()) return fmt::format("{}:{}:1", file, document.line);
  }
}

// --- values to text ------------------------------------------------------------------------------

namespace {

// Beyond 1024 characters libyaml takes no plain `key:`.
constexpr size_t kLongestSimpleKey = 1000;

// Readers of YAML 1.1 are many: what they take for a truth value, a number in base 60 or a date is
// quoted too.
bool other_readers_differ(std::string_view text) {
  if (one_of(lower(text), {"y", "n", "yes", "no", "on", "off"})) return true;
  return std::string_view("0123456789+-.").find(text[0]) != std::string_view::npos &&
         all_in(text, "0123456789abcdefABCDEF_:.+-TZtzxXoO ");
}

bool stays_plain(std::string_view text) {
  constexpr std::string_view kSafe =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./@+()=%;<>?$^~:, ";
  constexpr std::string_view kUnsafeFirst = "-@%?~:,=<>; ";
  if (!all_in(text, kSafe) || kUnsafeFirst.find(text[0]) != std::string_view::npos) return false;
  if (text.back() == ' ' || text.back() == ':' || text.find(": ") != std::string_view::npos) {
    return false;
  }
  if (text.starts_with("...") || other_readers_differ(text)) return false;
  const Plain read = read_plain(text);
  return read.wrong.empty() && read.value.is_string();
}

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    const uint32_t c = point.value;
    if (point.length == 0) {
      out += "\\uFFFD";
      ++at;
      continue;
    }
    if (c == '"' || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c < 0x20 || (c >= 0x7F && c < 0xA0)) {
      out += fmt::format("\\x{:02X}", c);
    } else if (c == 0x2028 || c == 0x2029 || c == 0xFEFF || c == 0xFFFE || c == 0xFFFF) {
      // line breaks and marks that a YAML reader folds, skips or refuses
      out += fmt::format("\\u{:04X}", c);
    } else {
      out += text.substr(at, point.length);
    }
    at += point.length;
  }
  out += '"';
}

void append_scalar(std::string& out, std::string_view text) {
  if (!text.empty() && stays_plain(text)) {
    out += text;
  } else {
    append_quoted(out, text);
  }
}

// Prose of several lines reads best as a literal block; anything that block would bend is quoted.
bool fits_a_block(std::string_view text) {
  const size_t breaks = static_cast<size_t>(std::ranges::count(text, '\n'));
  if (breaks == 0 || text[0] == ' ' || text[0] == '\n' || text.ends_with("\n\n")) return false;
  return std::ranges::all_of(text, [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); });
}

void append_block(std::string& out, std::string_view text, size_t indent) {
  const bool final_break = text.ends_with('\n');
  out += final_break ? "|\n" : "|-\n";
  if (final_break) text.remove_suffix(1);
  for (const std::string_view line : split(text, '\n')) {
    if (!line.empty()) out.append(indent, ' ');
    out += line;
    out += '\n';
  }
}

void append_members(std::string& out, const json::object& object, size_t indent, bool first_inline);
void append_elements(std::string& out, const json::array& array, size_t indent, bool first_inline);

// What follows "key:" or "-": on the same line for scalars, below it for the rest.
void append_value(std::string& out, const json::value& value, size_t indent, bool in_list) {
  if (value.is_object() && !value.get_object().empty()) {
    out += in_list ? " " : "\n";
    append_members(out, value.get_object(), indent, in_list);
  } else if (value.is_array() && !value.get_array().empty()) {
    out += in_list ? " " : "\n";
    append_elements(out, value.get_array(), indent, in_list);
  } else if (value.is_string() && fits_a_block(value.get_string())) {
    out += ' ';
    append_block(out, value.get_string(), indent);
  } else {
    out += ' ';
    if (value.is_string()) {
      append_scalar(out, value.get_string());
    } else {
      out += to_text(value);
    }
    out += '\n';
  }
}

void append_key(std::string& out, std::string_view key, size_t indent) {
  if (key.size() <= kLongestSimpleKey) {
    append_scalar(out, key);
  } else {
    out += "? ";
    append_quoted(out, key);
    out += '\n';
    out.append(indent, ' ');
  }
  out += ':';
}

void append_members(std::string& out, const json::object& object, size_t indent,
                    bool first_inline) {
  for (const auto& member : object) {
    if (!std::exchange(first_inline, false)) out.append(indent, ' ');
    append_key(out, member.key(), indent);
    append_value(out, member.value(), indent + 2, false);
  }
}

void append_elements(std::string& out, const json::array& array, size_t indent, bool first_inline) {
  for (const json::value& element : array) {
    if (!std::exchange(first_inline, false)) out.append(indent, ' ');
    out += '-';
    append_value(out, element, indent + 2, true);
  }
}

}  // namespace

std::string to_yaml(const json::value& value) {
  std::string out;
  if (value.is_object() && !value.get_object().empty()) {
    append_members(out, value.get_object(), 0, false);
  } else if (value.is_array() && !value.get_array().empty()) {
    append_elements(out, value.get_array(), 0, false);
  } else if (value.is_string()) {
    append_quoted(out, value.get_string());  // a lone plain word could be taken for a marker
    out += '\n';
  } else {
    out = to_text(value) + "\n";
  }
  return out;
}

}  // namespace exa
