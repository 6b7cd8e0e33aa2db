#include <fmt/format.h>

#include "api/authorise.h"
#include "api/call.h"
#include "api/handlers.h"
#include "api/route.h"
#include "base/encoding.h"
#include "hardware/family.h"

namespace exa {
namespace {

std::vector<Route> all_routes() {
  std::vector<Route> table;
  for (auto* group : {profile_routes,
                      vocabulary_routes,
                      consumer_routes,
                      pool_routes,
                      placement_routes,
                      burst_routes,
                      usage_routes,
                      simulation_routes,
                      status_routes,
                      operation_routes,
                      workbench_routes,
                      pipeline_routes,
                      serving_routes,
                      manifest_routes,
                      machine_routes,
                      ml_platform_routes,
                      environment_template_routes,
                      compute_profile_routes,
                      instance_routes,
                      cluster_routes,
                      project_routes,
                      audit_routes,
                      account_routes,
                      token_routes,
                      member_routes}) {
    for (Route& route : group()) table.push_back(std::move(route));
  }
  for (const Route& route : table) {
    // a route nobody answers, or that authorisation knows nothing of, must not exist
    if (const std::string gap = authorisation_gap(route); !gap.empty())
      assertion_failed(gap.c_str(), __FILE__, __LINE__);
    EXA_ASSERT(route.handler != nullptr);
  }
  return table;
}

std::string as_query_text(const json::value& value) {
  if (value.is_string()) return std::string(value.get_string());
  if (!value.is_array()) return to_text(value);
  std::vector<std::string> parts;
  for (const json::value& element : value.get_array()) parts.push_back(as_query_text(element));
  return fmt::format("{}", fmt::join(parts, ","));
}

}  // namespace

std::span<const Route> routes() {
  static const std::vector<Route> table = all_routes();
  return table;
}

const Route* find_route(std::string_view id) {
  const auto table = routes();
  const auto found = std::ranges::find(table, id, &Route::id);
  return found == table.end() ? nullptr : &*found;
}

const Route* find_command(std::string_view command) {
  const auto table = routes();
  const auto found = std::ranges::find(table, command, &Route::command);
  return found == table.end() ? nullptr : &*found;
}

std::string_view name(Method method) {
  switch (method) {
    case Method::get:
      return "GET";
    case Method::put:
      return "PUT";
    case Method::post:
      return "POST";
    case Method::del:
      return "DELETE";
  }
  return "";
}

std::string_view name(Tier tier) {
  switch (tier) {
    case Tier::read_only:
      return "read-only";
    case Tier::mutating:
      return "mutating";
    case Tier::destructive:
      return "destructive";
  }
  return "";
}

std::string_view name(Kind kind) {
  switch (kind) {
    case Kind::text:
      return "text";
    case Kind::integer:
      return "integer";
    case Kind::decimal:
      return "decimal";
    case Kind::flag:
      return "flag";
    case Kind::csv:
      return "csv";
    case Kind::words:
      return "words";
    case Kind::choice:
      return "choice";
    case Kind::duration:
      return "duration";
    case Kind::path:
      return "path";
    case Kind::secret:
      return "secret";
    case Kind::document:
      return "document";
    case Kind::file:
      return "file";
    case Kind::saved:
      return "saved";
  }
  return "";
}

Reply reply_of(Answer answer) {
  Reply reply;
  reply.status = answer.status;
  reply.exit_code = answer.exit_code;
  reply.notices = std::move(answer.notices);
  reply.etag = std::move(answer.etag);
  if (answer.text) {
    reply.content_type = "application/jsonl";
    reply.body = *std::move(answer.text);
  } else {
    reply.body = to_pretty_text(std::move(answer.body));  // moved: the conversion would copy
  }
  return reply;
}

Request build_request(const Route& route, const json::object& args) {
  Request request;
  request.method = route.method;
  request.respond_async = route.is_long;
  std::string path(route.path);
  json::object body;
  for (const Param& param : route.params) {
    const json::value* value = args.if_contains(param.name);
    if (value == nullptr) continue;
    switch (param.in) {
      case In::path: {
        const std::string slot = fmt::format("{{{}}}", param.name);
        path.replace(path.find(slot), slot.size(), percent_encode(as_query_text(*value)));
        break;
      }
      case In::query:
        request.query.emplace_back(param.name, as_query_text(*value));
        break;
      case In::body:
        body[param.name] = *value;
        break;
    }
  }
  request.path = std::move(path);
  if (!body.empty()) request.body = to_text(body);
  return request;
}

std::vector<std::string> texts_arg(const Call& call, std::string_view key) {
  std::vector<std::string> texts;
  if (const json::value* list = call.args.if_contains(key); list != nullptr && list->is_array()) {
    for (const json::value& element : list->get_array()) texts.emplace_back(element.get_string());
  }
  return texts;
}

Param project_param() {
  return {.name = "project",
          .flag = "--project",
          .help = "the project it belongs to",
          .fallback = "default",
          .completes = "project"};
}

Param dry_run_param() {
  return {.name = "dry_run",
          .kind = Kind::flag,
          .flag = "--dry-run",
          .help = "check everything, change nothing"};
}

Param limit_param() {
  return {.name = "limit",
          .kind = Kind::integer,
          .flag = "--limit",
          .help = "at most this many (1 to 1000)",
          .fallback = "50",
          .least = 1,
          .most = 1000};
}

std::vector<std::string_view> family_choices() {
  std::vector<std::string_view> names;
  for (const FamilyInfo& row : families())
    if (row.askable) names.push_back(row.name);
  return names;
}

Param cursor_param() {
  return {
      .name = "cursor", .flag = "--cursor", .help = "go on after an earlier page: its next_cursor"};
}

}  // namespace exa
