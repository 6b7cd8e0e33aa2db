#include "cli/local_commands.h"

#include <fmt/format.h>

#include "api/openapi.h"
#include "base/text.h"
#include "base/yaml.h"
#include "cli/admin.h"
#include "cli/agent.h"
#include "cli/complete.h"
#include "cli/doctor.h"
#include "cli/errors.h"
#include "cli/help.h"
#include "cli/login.h"
#include "cli/man.h"
#include "cli/output.h"
#include "cli/serve.h"
#include "cli/serve_settings.h"
#include "cli/watch.h"

namespace exa {
namespace {

bool wants_prose(const LocalCall& call) {
  const Format format = call.invocation.globals.format;
  return format == Format::table || format == Format::wide;
}

Result<LocalText> completion(const LocalCall& call) {
  auto script = completion_script(value_of(call, "shell"));
  if (!script) {
    return fail(invalid("exa completion", {{"SHELL", "is not one of bash, zsh, fish", ""}}));
  }
  return *std::move(script);
}

Result<LocalText> man(const LocalCall& call) {
  return man_page(call.commands);
}

json::object param_json(const Param& param) {
  json::object object{{"name", param.name},
                      {"in", param.in == In::path    ? "path"
                             : param.in == In::query ? "query"
                                                     : "body"},
                      {"kind", name(param.kind)},
                      {"flag", param.flag.empty() ? json::value(nullptr) : json::value(param.flag)},
                      {"required", param.required},
                      {"help", param.help}};
  if (!param.fallback.empty()) object["default"] = param.fallback;
  if (!param.choices.empty()) {
    object["choices"] = json::array(param.choices.begin(), param.choices.end());
  }
  return object;
}

json::object command_json(const Route& route) {
  json::array params;
  for (const Param& param : route.params) params.emplace_back(param_json(param));
  const bool local = route.path.empty();
  return {{"name", fmt::format("exa {}", route.command)},
          {"tier", name(route.tier)},
          {"id", route.id},
          {"action", local ? json::value(nullptr) : json::value(route.action)},
          {"method", local ? json::value(nullptr) : json::value(name(route.method))},
          {"path", local ? json::value(nullptr) : json::value(route.path)},
          {"summary", route.summary},
          {"params", std::move(params)}};
}

Result<LocalText> commands(const LocalCall& call) {
  json::array items;
  for (const Route* route : call.commands) items.emplace_back(command_json(*route));
  return in_format(call, json::object{{"items", std::move(items)}, {"next_cursor", nullptr}});
}

json::object code_json(const CodeInfo& code) {
  return {{"name", code.name},
          {"exit_code", code.exit_code},
          {"http_status", code.http_status},
          {"title", code.title},
          {"explain", code.explain}};
}

Error unknown_code(const std::string& typed) {
  std::vector<std::string> known;
  for (const CodeInfo& code : all_codes()) known.emplace_back(code.name);
  const std::string hint = did_you_mean(typed, known);
  return {Code::not_found,
          fmt::format("there is no error code \"{}\"{}", echoed(typed),
                      hint.empty() ? "" : "; " + hint),
          {},
          "exa help error",
          {}};
}

// `exa help error`, `exa help error CODE`: the codes are an interface, in any case of letters.
Result<LocalText> help_error(const LocalCall& call) {
  const std::string typed = value_of(call, "code");
  if (typed.empty()) {
    json::array items;
    for (const CodeInfo& code : all_codes()) items.emplace_back(code_json(code));
    return in_format(call, json::object{{"items", std::move(items)}, {"next_cursor", nullptr}});
  }
  const CodeInfo* code = find_code(lower(typed));
  if (code == nullptr) return fail(unknown_code(typed));
  if (!wants_prose(call)) return in_format(call, code_json(*code));
  return fmt::format("{}: {} (exit code {}, HTTP status {})\n\n{}\n", code->name, code->title,
                     code->exit_code, code->http_status, code->explain);
}

Result<LocalText> openapi_document(const LocalCall&) {
  return to_pretty_text(openapi(routes()));
}

Result<LocalText> version(const LocalCall& call) {
  if (wants_prose(call)) return fmt::format("exa {}\n", EXA_VERSION);
  return in_format(call, json::object{{"name", "exa"}, {"version", EXA_VERSION}});
}

struct LocalCommand {
  std::string_view id;
  LocalAnswer answer;
};

constexpr LocalCommand kAnswers[] = {{"local.completion", completion},
                                     {"local.man", man},
                                     {"local.commands", commands},
                                     {"local.help_error", help_error},
                                     {"local.openapi", openapi_document},
                                     {"local.serve", serve},
                                     {"local.version", version},
                                     {"local.admin_copy", admin_copy},
                                     {"local.restore", restore},
                                     {"local.doctor", doctor},
                                     {"local.login", login},
                                     {"local.logout", logout},
                                     {"local.watch", watch},
                                     {"local.agent", agent}};

std::vector<Route> rows() {
  return {
      {.id = "local.completion",
       .command = "completion",
       .summary = "Print the completion script of a shell",
       .params = {{.name = "shell",
                   .kind = Kind::choice,
                   .help = "the shell",
                   .required = true,
                   .choices = {"bash", "zsh", "fish"}}},
       .examples = {"exa completion bash"}},
      {.id = "local.man",
       .command = "man",
       .summary = "Print the manual page in roff",
       .examples = {"exa man"}},
      {.id = "local.commands",
       .command = "commands",
       .summary = "List every command with what it does to the store",
       .detail = "For interfaces that are built from the command line: tier, action, method, path "
                 "and parameters of each.",
       .examples = {"exa commands --json"}},
      {.id = "local.help_error",
       .command = "help error",
       .summary = "Explain the error codes, or one of them",
       .params = {{.name = "code", .help = "the code", .completes = "error"}},
       .examples = {"exa help error in_use"}},
      {.id = "local.openapi",
       .command = "openapi",
       .summary = "Print the API as an OpenAPI 3.1 document",
       .detail =
           "What a server gives at /openapi.json: every route with what it takes and answers.",
       .examples = {"exa openapi"}},
      serve_row(),
      {.id = "local.version",
       .command = "version",
       .summary = "Print the version",
       .examples = {"exa version"}},
      admin_copy_row(),
      restore_row(),
      doctor_row(),
      login_row(),
      logout_row(),
      watch_row(),
      agent_row(),
      {.id = kOperationWait,
       .command = "operation wait",
       .summary = "Wait for a piece of long work, and print what its command would have printed",
       .detail = "Ctrl-C leaves it to go on; exa operation cancel ends it.",
       .params = {{.name = "id", .help = "id of the operation", .required = true}}},
  };
}

}  // namespace

std::string value_of(const LocalCall& call, std::string_view name) {
  for (const auto& [param, text] : call.invocation.values)
    if (param->name == name) return text;
  for (const Param& param : call.invocation.route->params)
    if (param.name == name) return std::string(param.fallback);
  return {};
}

Result<std::string> in_format(const LocalCall& call, const json::value& body) {
  Reply reply;
  reply.body = to_pretty_text(body);
  Rendering how;
  how.format = call.invocation.globals.format;
  EXA_ASSIGN(Printed rendered, render(reply, call.invocation.route->id, how));
  return std::move(rendered.out);
}

std::span<const Route> local_routes() {
  static const std::vector<Route> table = rows();
  return table;
}

LocalAnswer find_local(const Route& route) {
  const auto* found = std::ranges::find(kAnswers, route.id, &LocalCommand::id);
  return found == std::end(kAnswers) ? nullptr : found->answer;
}

}  // namespace exa
