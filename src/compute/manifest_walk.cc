#include "compute/manifest_walk.h"

#include <fmt/format.h>

#include "base/text.h"
#include "compute/manifest_checks.h"

namespace exa {
namespace {

// More help nobody, and looking for slips takes its time.
constexpr size_t kMostWarnings = 100;

struct TypeRow {
  FieldType type;
  std::string_view name;
  bool (*fits)(const json::value&);
};

bool is_whole_number(const json::value& value) {
  return value.is_int64() || value.is_uint64();
}

constexpr TypeRow kTypes[] = {
    {FieldType::text, "text", [](const json::value& v) { return v.is_string(); }},
    {FieldType::boolean, "true or false", [](const json::value& v) { return v.is_bool(); }},
    {FieldType::whole_number, "whole number", is_whole_number},
    {FieldType::object, "object", [](const json::value& v) { return v.is_object(); }},
    {FieldType::list_of_text, "list of text", [](const json::value& v) { return v.is_array(); }},
    {FieldType::list_of_objects, "list of objects",
     [](const json::value& v) { return v.is_array(); }},
    {FieldType::map_of_text, "map of text", [](const json::value& v) { return v.is_object(); }},
    {FieldType::map_of_whole_numbers, "map of whole numbers",
     [](const json::value& v) { return v.is_object(); }},
    {FieldType::anything, "anything", [](const json::value&) { return true; }},
};

const TypeRow& row_of(FieldType type) {
  const auto* const found = std::ranges::find(kTypes, type, &TypeRow::type);
  EXA_ASSERT(found != std::end(kTypes));
  return *found;
}

FieldType type_inside(FieldType type) {
  switch (type) {
    case FieldType::list_of_text:
    case FieldType::map_of_text:
      return FieldType::text;
    case FieldType::map_of_whole_numbers:
      return FieldType::whole_number;
    case FieldType::list_of_objects:
      return FieldType::object;
    default:
      return FieldType::anything;
  }
}

std::string_view kind_of(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null:
      return "nothing";
    case json::kind::bool_:
      return "true or false";
    case json::kind::int64:
    case json::kind::uint64:
    case json::kind::double_:
      return "a number";
    case json::kind::string:
      return "text";
    case json::kind::array:
      return "a list";
    case json::kind::object:
      return "an object";
  }
  return {};
}

std::string better(const json::value& value, FieldType wanted) {
  if (wanted == FieldType::text && value.is_null()) return R"(write "" for no text)";
  if (wanted == FieldType::text && !value.is_structured())
    return fmt::format("in quotes: \"{}\"", to_text(value));
  if (!value.is_string()) return {};
  const std::string_view text = value.get_string();
  const bool is_word = text == "true" || text == "false";
  const bool is_number =
      !text.empty() && text.size() < 10 && text.find_first_not_of("0123456789") == text.npos;
  if ((wanted == FieldType::whole_number && is_number) || (wanted == FieldType::boolean && is_word))
    return fmt::format("without quotes: {}", text);
  return {};
}

bool has_type(const json::value& value, FieldType type, std::string_view path,
              std::string_view where, Findings& findings) {
  const TypeRow& row = row_of(type);
  if (row.fits(value)) return true;
  add_problem(findings, where,
              fmt::format("{} is {}; wanted: {}", printable(path), kind_of(value), row.name),
              better(value, type));
  return false;
}

// "spec.edge" and "vip"; "metadata.labels" and "palette.ai/min-nodes"; "" and "spec".
std::pair<std::string_view, std::string_view> parted(std::string_view path) {
  if (path.ends_with(']')) {
    const size_t bracket = path.rfind('[');
    return {path.substr(0, bracket), path.substr(bracket + 1, path.size() - bracket - 2)};
  }
  const size_t dot = path.rfind('.');
  if (dot == std::string_view::npos) return {{}, path};
  return {path.substr(0, dot), path.substr(dot + 1)};
}

std::vector<const ManifestField*> inside(std::span<const ManifestField> fields,
                                         std::string_view path) {
  std::vector<const ManifestField*> result;
  for (const ManifestField& field : fields)
    if (parted(field.path).first == path) result.push_back(&field);
  return result;
}

void check_value(const json::value& value, const ManifestField& field,
                 std::span<const ManifestField> fields, std::string_view where, Findings& findings);

void check_elements(const json::array& list, const ManifestField& field,
                    std::span<const ManifestField> fields, std::string_view where,
                    Findings& findings) {
  const std::string path = field.path + "[]";
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string at = pointer(where, std::to_string(i));
    const FieldType wanted = type_inside(field.type);
    if (has_type(list[i], wanted, path, at, findings) && list[i].is_object())
      check_fields(list[i].get_object(), fields, path, at, findings);
  }
}

void check_members(const json::object& map, const ManifestField& field, std::string_view where,
                   Findings& findings) {
  for (const auto& member : map)
    has_type(member.value(), type_inside(field.type),
             fmt::format("{}[{}]", field.path, std::string_view(member.key())),
             pointer(where, member.key()), findings);
}

void check_value(const json::value& value, const ManifestField& field,
                 std::span<const ManifestField> fields, std::string_view where,
                 Findings& findings) {
  if (!has_type(value, field.type, field.path, where, findings)) return;
  if (field.type == FieldType::list_of_text || field.type == FieldType::list_of_objects) {
    check_elements(value.get_array(), field, fields, where, findings);
  } else if (field.type == FieldType::object) {
    check_fields(value.get_object(), fields, field.path, where, findings);
  } else if (value.is_object() && field.type != FieldType::anything) {
    check_members(value.get_object(), field, where, findings);
    for (const ManifestField* known : inside(fields, field.path)) {
      const json::value* const member = find(value, parted(known->path).second);
      if (member != nullptr && member->is_string() && known->check != nullptr)
        known->check(*member, pointer(where, parted(known->path).second), findings);
    }
  }
  if (field.check != nullptr) field.check(value, where, findings);
}

void warn_of_a_slip(std::string_view key, std::string_view path, std::string_view where,
                    std::span<const ManifestField* const> known, Findings& findings) {
  if (findings.warnings.size() >= kMostWarnings) return;
  std::vector<std::string> names;
  for (const ManifestField* field : known) names.emplace_back(parted(field->path).second);
  const std::string suggestion = did_you_mean(key, names);
  if (suggestion.empty()) return;
  findings.warnings.push_back(
      {pointer(where, key),
       fmt::format("{} is no field that is known{}; it is kept and does nothing", in_quotes(key),
                   path.empty() ? "" : fmt::format(" of {}", path)),
       suggestion});
}

// What is required of an object that is not there is what is required inside it.
void tell_missing(const ManifestField& field, std::span<const ManifestField> fields,
                  std::string_view where, Findings& findings) {
  bool told = false;
  for (const ManifestField* child : inside(fields, field.path)) {
    if (!child->required) continue;
    tell_missing(*child, fields, where, findings);
    told = true;
  }
  if (!told)
    add_problem(findings, where, fmt::format("{} is missing and required", field.path), field.help);
}

}  // namespace

std::string_view name(FieldType type) {
  return row_of(type).name;
}

void check_fields(const json::object& object, std::span<const ManifestField> fields,
                  std::string_view path, std::string_view where, Findings& findings) {
  const std::vector<const ManifestField*> known = inside(fields, path);
  for (const auto& member : object) {
    const std::string_view key = member.key();
    const auto found = std::ranges::find_if(
        known, [&](const ManifestField* field) { return parted(field->path).second == key; });
    if (found == known.end()) {
      warn_of_a_slip(key, path, where, known, findings);
    } else if (!member.value().is_null()) {
      check_value(member.value(), **found, fields, pointer(where, key), findings);
    }
  }
  for (const ManifestField* field : known) {
    const json::value* const value = find(object, parted(field->path).second);
    if (field->required && (value == nullptr || value->is_null()))
      tell_missing(*field, fields, where, findings);
  }
}

}  // namespace exa
