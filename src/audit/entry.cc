#include "audit/entry.h"

#include <fmt/format.h>

#include "audit/digest.h"
#include "audit/instant.h"
#include "base/text.h"

namespace exa {
namespace {

struct TextField {
  std::string_view key;
  std::string AuditEntry::*member;
};

constexpr std::array kTextFields = {
    TextField{"actor_kind", &AuditEntry::actor_kind},
    TextField{"actor_name", &AuditEntry::actor_name},
    TextField{"actor_id", &AuditEntry::actor_id},
    TextField{"origin", &AuditEntry::origin},
    TextField{"action", &AuditEntry::action},
    TextField{"object_kind", &AuditEntry::object_kind},
    TextField{"object_name", &AuditEntry::object_name},
    TextField{"project", &AuditEntry::project},
    TextField{"outcome", &AuditEntry::outcome},
    TextField{"error_code", &AuditEntry::error_code},
    TextField{"reason", &AuditEntry::reason},
    TextField{"before_digest", &AuditEntry::before_digest},
    TextField{"after_digest", &AuditEntry::after_digest},
};

constexpr std::array<std::string_view, 5> kOtherFields = {"format", "index", "time",
                                                          "object_version", "details"};

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

// The rules of the format that the types do not express.
std::vector<Problem> problems_of(const AuditEntry& entry) {
  std::vector<Problem> problems;
  const auto require = [&](bool holds, std::string_view where, std::string_view message) {
    if (!holds) problems.push_back({std::string(where), std::string(message), ""});
  };
  const auto is_digest = [](std::string_view text) { return text.empty() || is_sha256_hex(text); };
  require(entry.index >= 0, "/index", "an index counts from 0");
  require(has_exact_time(entry.time), "/time", "a time lies between the years 0000 and 9999");
  require(is_one_of(entry.actor_kind, {"os-user", "user", "service-account"}), "/actor_kind",
          "an actor is an os-user, a user or a service-account");
  require(!entry.action.empty(), "/action", "an entry names its action");
  require(is_one_of(entry.outcome, {"done", "refused"}), "/outcome",
          "an action is done or refused");
  require(entry.outcome != "done" || entry.error_code.empty(), "/error_code",
          "what was done has no error code");
  require(entry.outcome != "refused" || !entry.error_code.empty(), "/error_code",
          "what was refused has an error code");
  require(is_digest(entry.before_digest), "/before_digest",
          "a digest has 64 lower-case hex digits");
  require(is_digest(entry.after_digest), "/after_digest", "a digest has 64 lower-case hex digits");
  return problems;
}

// Reads the fields of one object and collects every problem.
class FieldReader {
 public:
  explicit FieldReader(const json::object& object) : object_(object) {}

  const json::value* required(std::string_view key) {
    const json::value* value = object_.if_contains(key);
    if (value == nullptr) refuse(key, "is missing");
    return value;
  }

  void read_text(std::string_view key, std::string& out) {
    const json::value* value = required(key);
    if (value == nullptr) return;
    if (const json::string* text = value->if_string())
      out.assign(text->data(), text->size());
    else
      refuse(key, "must be a text");
  }

  void read_whole(std::string_view key, int64_t& out) {
    const json::value* value = required(key);
    if (value == nullptr) return;
    if (const int64_t* number = value->if_int64())
      out = *number;
    else
      refuse(key, "must be a whole number");
  }

  void read_time(std::string_view key, Time& out) {
    const json::value* value = required(key);
    if (value == nullptr) return;
    const json::string* text = value->if_string();
    const auto exact = text == nullptr ? std::nullopt : exact_time(*text);
    if (exact)
      out = *exact;
    else
      refuse(key, "must be a time like 2026-11-30T06:26:01.000000Z");
  }

  void refuse(std::string_view key, std::string_view message) {
    problems.push_back({pointer("", key), std::string(message), ""});
  }

  std::vector<Problem> problems;

 private:
  const json::object& object_;
};

void refuse_unknown_keys(const json::object& object, FieldReader& reader) {
  // when every field was found, the count leaves no room for another
  if (reader.problems.empty() && object.size() == kTextFields.size() + kOtherFields.size()) return;
  for (const auto& member : object) {
    const std::string_view key = member.key();
    const bool known = std::ranges::find(kTextFields, key, &TextField::key) != kTextFields.end() ||
                       std::ranges::find(kOtherFields, key) != kOtherFields.end();
    if (!known) reader.refuse(key, "is not a field of an audit entry");
  }
}

std::string as_utf8(std::string_view text) {
  return is_valid_utf8(text) ? std::string(text) : printable(text);
}

json::value as_utf8(const json::value& value) {
  if (const json::string* text = value.if_string())
    return json::string(as_utf8(std::string_view(*text)));
  if (const json::array* elements = value.if_array()) {
    json::array clean;
    for (const json::value& element : *elements) clean.push_back(as_utf8(element));
    return clean;
  }
  if (const json::object* members = value.if_object()) {
    json::object clean;
    for (const auto& member : *members) {
      clean.emplace(as_utf8(std::string_view(member.key())), as_utf8(member.value()));
    }
    return clean;
  }
  return value;
}

}  // namespace

json::value to_json(const AuditEntry& entry) {
  json::object object;
  object["format"] = kEntryFormat;
  object["index"] = entry.index;
  object["time"] = format_rfc3339(entry.time);
  for (const TextField& field : kTextFields) object[field.key] = entry.*field.member;
  if (entry.object_version)
    object["object_version"] = *entry.object_version;
  else
    object["object_version"] = nullptr;
  object["details"] = entry.details;
  return object;
}

Result<AuditEntry> audit_entry_from_json(const json::value& value) {
  const json::object* object = value.if_object();
  if (object == nullptr) {
    return fail(invalid("audit entry", {{"", "must be an object", ""}}));
  }
  AuditEntry entry;
  FieldReader reader(*object);
  int64_t format = kEntryFormat;
  reader.read_whole("format", format);
  if (format != kEntryFormat) reader.refuse("format", "is not a format that this version reads");
  reader.read_whole("index", entry.index);
  reader.read_time("time", entry.time);
  for (const TextField& field : kTextFields) reader.read_text(field.key, entry.*field.member);
  const json::value* version = reader.required("object_version");
  if (version != nullptr && !version->is_null()) {
    reader.read_whole("object_version", entry.object_version.emplace());
  }
  if (const json::value* details = reader.required("details")) {
    if (details->is_object())
      entry.details = details->get_object();
    else
      reader.refuse("details", "must be an object");
  }
  refuse_unknown_keys(*object, reader);
  if (reader.problems.empty()) reader.problems = problems_of(entry);
  if (!reader.problems.empty()) return fail(invalid("audit entry", std::move(reader.problems)));
  return entry;
}

Result<AuditEntry> audit_entry_from_leaf(std::string_view leaf) {
  EXA_ASSIGN(const json::value value,
             parse_json(leaf, "audit entry", {.max_bytes = kMaxLeafBytes}));
  return audit_entry_from_json(value);
}

Result<std::string> leaf_text(const AuditEntry& entry) {
  if (!has_exact_time(entry.time)) return fail(invalid("audit entry", problems_of(entry)));
  std::string text = to_canonical_text(as_utf8(to_json(entry)));
  if (text.size() > kMaxLeafBytes) {
    return fail(Code::invalid_input,
                fmt::format("the audit entry would be {} bytes long; at most {} are kept",
                            text.size(), kMaxLeafBytes));
  }
  // an entry that no verifier could read (too deep, too many values) must never reach the log
  EXA_TRY(audit_entry_from_leaf(text));
  return text;
}

}  // namespace exa
