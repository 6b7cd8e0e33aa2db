#include "api/schema.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "hardware/family.h"

namespace exa {
namespace {

ReplySchema problem_schema() {
  using namespace schema;
  std::vector<std::string_view> codes;
  for (const CodeInfo& code : all_codes()) codes.push_back(code.name);
  const json::object one =
      object({{"pointer", text()}, {"detail", text()}, sometimes("suggestion", text())});
  return {kProblemSchema,
          object({{"type", text()},
                  {"title", text()},
                  {"status", count()},
                  {"code", word(std::move(codes))},
                  {"detail", text()},
                  sometimes("request_id", text()),
                  sometimes("errors", list(one)),
                  sometimes("alternatives", list(text())),
                  sometimes("next", text())}),
          json::object{{"type", "urn:exa:error:not_found"},
                       {"title", info(Code::not_found).title},
                       {"status", info(Code::not_found).http_status},
                       {"code", info(Code::not_found).name},
                       {"detail", "there is no profile \"smal\" in this project"},
                       {"alternatives", json::array{"small"}},
                       {"next", "exa hardware profile list"}},
          "application/problem+json"};
}

std::vector<ReplySchema> all_schemas() {
  std::vector<ReplySchema> table{problem_schema()};
  for (auto* group :
       {profile_schemas, cluster_schemas, pool_schemas, placement_schemas, audit_schemas,
        usage_schemas, status_schemas, operation_schemas, launch_schemas, compute_schemas,
        compute_profile_schemas, instance_schemas, template_schemas, account_schemas}) {
    for (ReplySchema& row : group()) table.push_back(std::move(row));
  }
  std::ranges::sort(table, {}, &ReplySchema::name);
  EXA_ASSERT(std::ranges::adjacent_find(table, {}, &ReplySchema::name) == table.end());
  return table;
}

}  // namespace

std::span<const ReplySchema> reply_schemas() {
  static const std::vector<ReplySchema> table = all_schemas();
  return table;
}

const ReplySchema* find_reply_schema(std::string_view name) {
  const auto table = reply_schemas();
  const auto found = std::ranges::find(table, name, &ReplySchema::name);
  return found == table.end() ? nullptr : &*found;
}

namespace schema {

json::object any() {
  return {};
}

json::object text() {
  return {{"type", "string"}};
}

json::object time() {
  return {{"type", "string"}, {"format", "date-time"}, {"pattern", "^\\d{4}-\\d\\d-\\d\\dT.*Z$"}};
}

json::object count() {
  return {{"type", "integer"}, {"minimum", 0}};
}

json::object integer() {
  return {{"type", "integer"}};
}

json::object number() {
  return {{"type", "number"}};
}

json::object yes_no() {
  return {{"type", "boolean"}};
}

json::object null() {
  return {{"type", "null"}};
}

json::object word(std::vector<std::string_view> words) {
  return {{"type", "string"}, {"enum", json::array(words.begin(), words.end())}};
}

json::object ref(std::string_view name) {
  return {{"$ref", fmt::format("#/components/schemas/{}", name)}};
}

json::object maybe(json::object of) {
  json::value* type = of.if_contains("type");
  // a format is of texts alone, which not every validator knows
  if (type == nullptr || !type->is_string() || of.contains("format"))
    return either({std::move(of), null()});
  *type = json::array{*type, "null"};
  if (json::value* words = of.if_contains("enum")) words->as_array().emplace_back(nullptr);
  return of;
}

json::object list(json::object of) {
  return {{"type", "array"}, {"items", std::move(of)}};
}

json::object map(json::object of) {
  return {{"type", "object"}, {"additionalProperties", std::move(of)}};
}

json::object either(std::vector<json::object> of) {
  json::array branches;
  for (json::object& branch : of) branches.emplace_back(std::move(branch));
  return {{"oneOf", std::move(branches)}};
}

Members operator+(Members some, Members more) {
  for (Member& member : more) some.push_back(std::move(member));
  return some;
}

json::object object(const Members& members) {
  json::object properties;
  json::array required;
  for (const Member& member : members) {
    properties[member.name] = member.schema;
    if (member.always) required.emplace_back(member.name);
  }
  json::object schema{{"type", "object"}, {"properties", std::move(properties)}};
  if (!required.empty()) schema["required"] = std::move(required);
  schema["additionalProperties"] = false;
  return schema;
}

json::object page(json::object of) {
  return object({{"items", list(std::move(of))}, {"next_cursor", maybe(text())}});
}

json::object accelerator() {
  std::vector<std::string_view> names;
  for (const FamilyInfo& row : families())
    if (row.askable) names.push_back(row.name);
  return word(std::move(names));
}

json::object any_family() {
  std::vector<std::string_view> names;
  for (const FamilyInfo& row : families()) names.push_back(row.name);
  return word(std::move(names));
}

}  // namespace schema
}  // namespace exa
