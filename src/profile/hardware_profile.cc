#include "profile/hardware_profile.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/json_or_null.h"
#include "base/quantity.h"

namespace exa {
namespace {

constexpr std::array<std::string_view, 4> kSurfaces = {"workbench", "training", "serving", "any"};

json::value applicability_to_json(const Shape& shape) {
  json::array list;
  for (const Surface surface : shape.applicability) list.emplace_back(name(surface));
  return list;
}

// One row per field of the document, in its order.
struct Field {
  std::string_view name;
  json::value (*write)(const Shape&);
  bool (*read)(const json::value&, Shape&);  // false: wrong type or not a value of the field
};

bool read_text(const json::value& value, std::string& text) {
  if (value.is_null()) {
    text.clear();
    return true;
  }
  if (!value.is_string()) return false;
  text = value.get_string();
  return true;
}

bool read_whole(const json::value& value, int64_t& whole) {
  if (!value.is_int64()) return false;
  whole = value.get_int64();
  return whole >= 0;
}

bool take(const Result<int64_t>& parsed, int64_t& amount) {
  if (parsed) amount = *parsed;
  return parsed.has_value();
}

bool read_applicability(const json::value& value, Shape& shape) {
  if (!value.is_array()) return false;
  shape.applicability.clear();
  for (const json::value& element : value.get_array()) {
    if (!element.is_string()) return false;
    const auto surface = find_surface(element.get_string());
    if (!surface) return false;
    shape.applicability.push_back(*surface);
  }
  return true;
}

constexpr std::array kFields = {
    Field{
        "accelerator_family",
        [](const Shape& s) -> json::value { return json::string(info(s.accelerator_family).name); },
        [](const json::value& v, Shape& s) {
          if (!v.is_string()) return false;
          const auto family = find_family(v.get_string());
          if (family) s.accelerator_family = *family;
          return family.has_value();
        }},
    Field{"accelerator_model_hint",
          [](const Shape& s) { return text_or_null(s.accelerator_model_hint); },
          [](const json::value& v, Shape& s) { return read_text(v, s.accelerator_model_hint); }},
    Field{"gpu_count", [](const Shape& s) -> json::value { return s.gpu_count; },
          [](const json::value& v, Shape& s) { return read_whole(v, s.gpu_count); }},
    Field{"gpu_fraction", [](const Shape& s) { return number_from_milli(s.gpu_fraction_milli); },
          [](const json::value& v, Shape& s) {
            return v.is_number() &&
                   take(parse_milli(to_text(v), "gpu_fraction"), s.gpu_fraction_milli);
          }},
    Field{"mig_profile", [](const Shape& s) { return text_or_null(s.mig_profile); },
          [](const json::value& v, Shape& s) { return read_text(v, s.mig_profile); }},
    Field{"cpu", [](const Shape& s) { return number_from_milli(s.cpu_milli); },
          [](const json::value& v, Shape& s) {
            return v.is_number() && take(parse_milli(to_text(v), "cpu"), s.cpu_milli);
          }},
    Field{"memory_gb", [](const Shape& s) { return number_from_text(format_gib(s.memory_bytes)); },
          [](const json::value& v, Shape& s) {
            return v.is_number() && take(parse_gib(to_text(v)), s.memory_bytes);
          }},
    Field{"nodes", [](const Shape& s) -> json::value { return s.nodes; },
          [](const json::value& v, Shape& s) { return read_whole(v, s.nodes); }},
    Field{"driver_tag", [](const Shape& s) { return text_or_null(s.driver_tag); },
          [](const json::value& v, Shape& s) { return read_text(v, s.driver_tag); }},
    Field{"runtime_tag", [](const Shape& s) { return text_or_null(s.runtime_tag); },
          [](const json::value& v, Shape& s) { return read_text(v, s.runtime_tag); }},
    Field{"applicability", applicability_to_json, read_applicability},
    Field{"description", [](const Shape& s) -> json::value { return json::string(s.description); },
          [](const json::value& v, Shape& s) { return read_text(v, s.description); }},
};

constexpr auto kFieldNames = [] {
  std::array<std::string_view, kFields.size()> names;
  for (size_t i = 0; i < names.size(); ++i) names[i] = kFields[i].name;
  return names;
}();

void append_fields(json::object& object, const Shape& shape) {
  for (const Field& field : kFields) object.emplace(field.name, field.write(shape));
}

}  // namespace

std::string_view name(Surface surface) {
  return kSurfaces.at(static_cast<size_t>(surface));
}

std::optional<Surface> find_surface(std::string_view name) {
  const auto* found = std::ranges::find(kSurfaces, name);
  if (found == kSurfaces.end()) return std::nullopt;
  return static_cast<Surface>(found - kSurfaces.begin());
}

std::vector<std::string> surface_names() {
  return {kSurfaces.begin(), kSurfaces.end()};
}

std::span<const std::string_view> shape_fields() {
  return kFieldNames;
}

json::value field_to_json(const Shape& shape, std::string_view field) {
  const auto* row = std::ranges::find(kFields, field, &Field::name);
  EXA_ASSERT(row != kFields.end());
  return row->write(shape);
}

json::object shape_to_json(const Shape& shape) {
  json::object object;
  append_fields(object, shape);
  return object;
}

json::object to_json(const HardwareProfile& profile) {
  json::object object;
  object.reserve(kFields.size() + 8);  // with what the store adds
  object.emplace("name", profile.name);
  object.emplace("version", profile.version);
  append_fields(object, profile.shape);
  object.emplace("project", profile.project);
  object.emplace("created_at", format_rfc3339(profile.created_at));
  object.emplace("created_by", profile.created_by);
  return object;
}

Result<Shape> shape_from_json(const json::object& stored) {
  Shape shape;
  std::vector<Problem> problems;
  for (const Field& field : kFields) {
    const json::value* value = stored.if_contains(field.name);
    if (value == nullptr) {
      problems.push_back({pointer("", field.name), "is missing", ""});
    } else if (!field.read(*value, shape)) {
      problems.push_back(
          {pointer("", field.name), fmt::format("cannot be {}", to_text(*value)), ""});
    }
  }
  if (problems.empty()) return shape;
  Error error = invalid("the stored shape", std::move(problems));
  error.code = Code::store_damaged;
  return fail(std::move(error));
}

}  // namespace exa
