#include "api/openapi.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "api/describe.h"
#include "api/schema.h"
#include "base/text.h"

namespace exa {
namespace {

json::object ref_to(std::string_view kind, std::string_view name) {
  return {{"$ref", fmt::format("#/components/{}/{}", kind, name)}};
}

// One example of the row as the request that its command becomes.
struct Example {
  json::object args;
  bool there = false;

  const json::value* of(const Param& param) const {
    return there ? args.if_contains(param.name) : nullptr;
  }
};

Example example_of(const Route& route) {
  if (route.examples.empty()) return {};
  auto args = example_args(route, route.examples.front());
  EXA_ASSERT(args);  // a test holds every example against its row
  return {*std::move(args), true};
}

json::object parameter(const Param& param, const Example& example) {
  json::object out{{"name", param.name},
                   {"in", param.in == In::path ? "path" : "query"},
                   {"description", param.help},
                   {"required", param.required}};
  if (param.kind == Kind::csv) {  // comma-separated
    out["style"] = "form";
    out["explode"] = false;
  }
  out["schema"] = schema_of(param);
  if (const json::value* value = example.of(param)) out["example"] = *value;
  return out;
}

json::array parameters(const Route& route, const Example& example) {
  json::array list;
  for (const Param& param : route.params) {
    if (param.in != In::body) list.emplace_back(parameter(param, example));
  }
  if (takes_idempotency_key(route)) list.emplace_back(ref_to("parameters", "IdempotencyKey"));
  if (route.if_match) list.emplace_back(ref_to("parameters", "IfMatch"));
  if (route.is_long) list.emplace_back(ref_to("parameters", "Prefer"));
  return list;
}

// The JSON body; empty when the row takes none.
json::object request_body(const Route& route, const Example& example) {
  json::object properties;
  json::array required;
  json::object shown;
  for (const Param& param : route.params) {
    if (param.in != In::body) continue;
    json::object schema = schema_of(param);
    schema["description"] = param.help;
    properties[param.name] = std::move(schema);
    if (param.required) required.emplace_back(param.name);
    if (const json::value* value = example.of(param)) shown[param.name] = *value;
  }
  if (properties.empty()) return {};
  const bool needed = !required.empty();
  json::object schema{{"type", "object"}, {"properties", std::move(properties)}};
  if (needed) schema["required"] = std::move(required);
  schema["additionalProperties"] = false;
  json::object media{{"schema", std::move(schema)}};
  if (needed || !shown.empty()) media["example"] = std::move(shown);
  return {{"required", needed}, {"content", {{"application/json", std::move(media)}}}};
}

json::object success(const Route& route, bool with_etag) {
  const ReplySchema* reply = find_reply_schema(route.reply);
  EXA_ASSERT(reply != nullptr);
  json::object out{{"description", route.summary}};
  if (with_etag) out["headers"] = json::object{{"ETag", ref_to("headers", "ETag")}};
  json::object media{{"schema", ref_to("schemas", reply->name)}};
  if (!reply->example.is_null()) media["example"] = reply->example;
  out["content"] = json::object{{reply->content_type, std::move(media)}};
  return out;
}

std::string problem_name(int status) {
  return fmt::format("Problem{}", status);
}

// What a long route answers to whoever does not want to wait.
json::object accepted() {
  return {{"description", "It goes on; see the operation."},
          {"headers", {{"Location", ref_to("headers", "Location")}}},
          {"content", {{"application/json", {{"schema", ref_to("schemas", "Operation")}}}}}};
}

json::object responses(std::span<const Route> table, const Route& route) {
  json::object out;
  if (route.is_long) out["202"] = accepted();
  for (const int status : success_statuses(route))
    out[std::to_string(status)] = success(route, carries_etag(table, route));
  std::map<int, std::vector<std::string_view>> codes;
  for (const Code code : error_codes_of(route))
    codes[info(code).http_status].push_back(info(code).name);
  for (const auto& [status, names] : codes) {
    json::object problem = ref_to("responses", problem_name(status));
    problem["description"] = fmt::format("{}", fmt::join(names, ", "));
    out[std::to_string(status)] = std::move(problem);
  }
  return out;
}

json::object operation(std::span<const Route> table, const Route& route) {
  const Example example = example_of(route);
  json::object out{{"operationId", route.id},
                   {"tags", json::array{group_of(route)}},
                   {"summary", route.summary}};
  if (!route.detail.empty()) out["description"] = route.detail;
  if (json::array list = parameters(route, example); !list.empty())
    out["parameters"] = std::move(list);
  if (json::object body = request_body(route, example); !body.empty())
    out["requestBody"] = std::move(body);
  out["responses"] = responses(table, route);
  if (!route.command.empty()) out["x-exa-command"] = fmt::format("exa {}", route.command);
  out["x-exa-tier"] = name(route.tier);
  out["x-exa-action"] = route.action;
  if (!route.examples.empty()) {
    out["x-exa-examples"] = json::array(route.examples.begin(), route.examples.end());
  }
  return out;
}

json::object paths(std::span<const Route> table) {
  json::object out;
  for (const Route& route : table) {
    json::value& path = out[route.path];
    if (!path.is_object()) path.emplace_object();
    path.as_object()[lower(name(route.method))] = operation(table, route);
  }
  return out;
}

json::array tags(std::span<const Route> table) {
  std::vector<std::string> groups;
  for (const Route& route : table) {
    std::string group = group_of(route);
    if (std::ranges::find(groups, group) == groups.end()) groups.push_back(std::move(group));
  }
  json::array list;
  for (const std::string& group : groups) list.emplace_back(json::object{{"name", group}});
  return list;
}

json::object problems() {
  std::map<int, std::vector<const CodeInfo*>> by_status;
  for (const CodeInfo& code : all_codes()) by_status[code.http_status].push_back(&code);
  const ReplySchema* problem = find_reply_schema(kProblemSchema);
  json::object out;
  for (const auto& [status, codes] : by_status) {
    if (status < 400) continue;
    std::vector<std::string> sentences;
    for (const CodeInfo* code : codes)
      sentences.push_back(fmt::format("{}: {}", code->name, code->title));
    const json::object media{{"schema", ref_to("schemas", kProblemSchema)}};
    out[problem_name(status)] = {{"description", join(sentences, "; ")},
                                 {"content", {{problem->content_type, media}}}};
  }
  return out;
}

json::object components() {
  json::object schemas;
  for (const ReplySchema& row : reply_schemas()) schemas[row.name] = row.schema;
  const json::object text{{"type", "string"}};
  return {
      {"schemas", std::move(schemas)},
      {"responses", problems()},
      {"parameters",
       {{"IdempotencyKey",
         {{"name", "Idempotency-Key"},
          {"in", "header"},
          {"description",
           "Any text of your own for this one change. Sent again within 24 hours with the same "
           "request, it is answered as it was the first time and nothing is done twice."},
          {"required", false},
          {"schema", text}}},
        {"IfMatch",
         {{"name", "If-Match"},
          {"in", "header"},
          {"description",
           "The ETag that the thing was read with, or * for any state. Without it a change to "
           "what exists is refused (428), with an old one too (412)."},
          {"required", false},
          {"schema", text}}},
        {"Prefer",
         {{"name", "Prefer"},
          {"in", "header"},
          {"description",
           "respond-async (RFC 7240): answer 202 with an operation at once and go on. Without it "
           "the answer comes when the work is done."},
          {"required", false},
          {"schema", text}}}}},
      {"headers",
       {{"ETag",
         {{"description",
           "Tag of the thing itself, for If-Match: it changes when somebody changes the thing, not "
           "when what is worked out around it does. Absent where nothing is stored."},
          {"schema", text}}},
        {"Location",
         {{"description", "Path of the operation, to be asked until its state is an end."},
          {"schema", text}}}}},
      {"securitySchemes",
       {{"token", {{"type", "http"}, {"scheme", "bearer"}}},
        {"session",
         {{"type", "apiKey"},
          {"in", "cookie"},
          {"name", kSessionCookie},
          {"description",
           "Of a browser, made by POST /api/v1/sessions or /auth/oidc/login. Over TLS its name is "
           "__Host-exa_session."}}}}}};
}

}  // namespace

json::object openapi(std::span<const Route> table) {
  return {
      {"openapi", "3.1.0"},
      {"info",
       {{"title", "exa"},
        {"version", EXA_VERSION},
        {"summary", "Named compute shapes, and which real clusters can hold them"},
        {"description",
         "Every command of exa is a route. JSON, snake_case; unknown and repeated members are "
         "refused, all problems at once. Lists come in pages: `next_cursor` goes on where one "
         "stopped. Errors are RFC 9457 problem+json with a `code` that `exa help error` "
         "explains. Left out are what browsers and scrapers need and what never ends: signing in "
         "(/api/v1/sessions, /auth/oidc), the stream of events (/api/v1/watch), and the pages "
         "/healthz, /readyz and /metrics."}}},
      {"servers", json::array{json::object{{"url", "/"}}}},
      {"security", json::array{json::object{{"token", json::array()}},
                               json::object{{"session", json::array()}}}},
      {"tags", tags(table)},
      {"paths", paths(table)},
      {"components", components()}};
}

}  // namespace exa
