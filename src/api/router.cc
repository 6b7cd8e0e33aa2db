#include "api/router.h"

#include <exception>

#include <fmt/format.h>

#include "api/authorise.h"
#include "api/call.h"
#include "base/boolean.h"
#include "service/service.h"

namespace exa {
namespace {

json::object problem_json(const Problem& problem) {
  json::object object{{"pointer", problem.where}, {"detail", problem.message}};
  if (!problem.suggestion.empty()) object["suggestion"] = problem.suggestion;
  return object;
}

std::string text_at(const json::value& value, std::string_view key) {
  return std::string(text_or(value, key, ""));
}

// What was asked for, for the record of a refusal, even where it could not be read as a call.
json::object known_args(const Matched& matched, const Request& request) {
  json::object args;
  for (const auto& [key, text] : request.query) args[key] = text;
  for (const auto& [key, text] : matched.path_args) args[key] = text;
  return args;
}

bool asks_for_dry_run(const Request& request) {
  return std::ranges::any_of(request.query, [](const auto& pair) {
    return pair.first == "dry_run" && parse_boolean(pair.second).value_or(false);
  });
}

Result<Reply> run(Service& service, const Matched& matched, const Request& request,
                  const Router::Take& take) {
  EXA_TRY(require_sign_in(*matched.route, request.principal));
  EXA_ASSIGN(Call call, make_call(matched, request));
  EXA_TRY(authorise(service, call));
  return take ? take(call) : matched.route->handler(service, call);
}

}  // namespace

Reply reply_of(const Error& error, std::string_view request_id) {
  const CodeInfo& code = info(error.code);
  json::object body{{"type", fmt::format("urn:exa:error:{}", code.name)},
                    {"title", code.title},
                    {"status", code.http_status},
                    {"code", code.name},
                    {"detail", error.message}};
  if (!request_id.empty()) body["request_id"] = request_id;
  if (!error.problems.empty()) {
    json::array problems;
    for (const Problem& problem : error.problems) problems.emplace_back(problem_json(problem));
    body["errors"] = std::move(problems);
  }
  if (!error.alternatives.empty()) {
    body["alternatives"] = json::array(error.alternatives.begin(), error.alternatives.end());
  }
  if (!error.next.empty()) body["next"] = error.next;
  Reply reply;
  reply.status = code.http_status;
  reply.content_type = "application/problem+json";
  reply.body = to_pretty_text(body);
  reply.exit_code = code.exit_code;
  return reply;
}

Error error_of(const Reply& reply) {
  Error error;
  const auto body = parse_json(reply.body, "reply");
  if (!body) {
    error.message =
        fmt::format("the server answered with status {} and no explanation", reply.status);
    return error;
  }
  if (const CodeInfo* code = find_code(text_or(*body, "code", "")); code != nullptr)
    error.code = code->code;
  error.message = text_at(*body, "detail");
  error.next = text_at(*body, "next");
  if (const json::value* problems = find(*body, "errors");
      problems != nullptr && problems->is_array()) {
    for (const json::value& problem : problems->get_array()) {
      error.problems.push_back({text_at(problem, "pointer"), text_at(problem, "detail"),
                                text_at(problem, "suggestion")});
    }
  }
  if (const json::value* others = find(*body, "alternatives");
      others != nullptr && others->is_array()) {
    for (const json::value& other : others->get_array()) {
      if (other.is_string()) error.alternatives.emplace_back(other.get_string());
    }
  }
  return error;
}

Reply Router::handle(const Request& request) {
  return handle(request, {});
}

Reply Router::handle(const Request& request, const Take& take) {
  try {
    const auto matched = match_route(table_, request.method, request.path);
    if (!matched) return reply_of(matched.error(), request.request_id);
    Result<Reply> reply = run(service_, *matched, request, take);
    if (reply) return *std::move(reply);
    const Route& route = *matched->route;
    if (route.tier != Tier::read_only && !asks_for_dry_run(request)) {
      const Caller caller{request.principal,
                          request.origin,
                          request.request_id,
                          std::string(route.id),
                          "",
                          "",
                          false};
      service_.record_refusal(caller, known_args(*matched, request), reply.error());
    }
    return reply_of(reply.error(), request.request_id);
  } catch (const std::exception& exception) {
    // Nothing of ours throws on purpose; out of memory and library surprises end here, with nothing
    // half done: the store's transaction died with its scope.
    return reply_of({Code::unexpected, exception.what(), {}, "exa version", {}},
                    request.request_id);
  }
}

}  // namespace exa
