// What each route answers, as JSON Schema 2020-12: the table that rows name in `reply`, the API
// description prints and the contract test holds every reply against. Objects are closed and name
// every member, so a handler that adds or drops one fails that test. Lists of words come from the
// enum's own name function. Pure; the table is built once and thread-safe.
#pragma once

#include <concepts>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace exa {

struct ReplySchema {
  std::string_view name;  // "Pool"; unique
  json::object schema;
  json::value example = nullptr;                       // null: none
  std::string_view content_type = "application/json";  // of a reply of it
};

std::span<const ReplySchema> reply_schemas();                 // sorted by name
const ReplySchema* find_reply_schema(std::string_view name);  // nullptr: none such

// Every error: problem+json as RFC 9457 has it, under "Problem".
inline constexpr std::string_view kProblemSchema = "Problem";

// The rows, by group.
std::vector<ReplySchema> profile_schemas();
std::vector<ReplySchema> cluster_schemas();
std::vector<ReplySchema> pool_schemas();
std::vector<ReplySchema> placement_schemas();
std::vector<ReplySchema> audit_schemas();
std::vector<ReplySchema> usage_schemas();
std::vector<ReplySchema> status_schemas();
std::vector<ReplySchema> operation_schemas();
std::vector<ReplySchema> launch_schemas();
std::vector<ReplySchema> compute_schemas();
std::vector<ReplySchema> instance_schemas();
std::vector<ReplySchema> compute_profile_schemas();
std::vector<ReplySchema> template_schemas();
std::vector<ReplySchema> account_schemas();

// The words that schemas are written in.
namespace schema {

json::object any();
json::object text();
json::object time();     // RFC 3339, UTC
json::object count();    // whole, at least 0
json::object integer();  // whole
json::object number();
json::object yes_no();
json::object null();
json::object word(std::vector<std::string_view> words);  // one of them
json::object ref(std::string_view name);                 // a row of the table
json::object maybe(json::object of);                     // or null
json::object list(json::object of);
json::object map(json::object of);                  // any names
json::object either(std::vector<json::object> of);  // exactly one of them

// Every value of an enum that counts from 0 to `last`, by its own name.
template <typename E>
requires std::is_enum_v<E> json::object word(E last) {
  std::vector<std::string_view> words;
  for (int i = 0; i <= static_cast<int>(last); ++i) words.push_back(name(static_cast<E>(i)));
  return word(std::move(words));
}

struct Member {
  std::string_view name;
  json::object schema;
  bool always = true;  // false: left out where it says nothing
};
inline Member sometimes(std::string_view name, json::object schema) {
  return {name, std::move(schema), false};
}
using Members = std::vector<Member>;
Members operator+(Members some, Members more);

json::object object(const Members& members);  // these and no others
json::object page(json::object of);           // {"items": […], "next_cursor": …}
json::object accelerator();                   // a family that can be asked for
json::object any_family();                    // one that can be met

}  // namespace schema
}  // namespace exa
