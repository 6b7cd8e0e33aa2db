// Rows and handlers of service accounts and tokens.
#include "api/handlers.h"
#include "service/tokens.h"

namespace exa {
namespace {

std::optional<std::set<std::string>> set_arg(const Call& call, std::string_view key) {
  const json::value* list = call.args.if_contains(key);
  if (list == nullptr || !list->is_array()) return std::nullopt;
  std::set<std::string> texts;
  for (const json::value& one : list->get_array()) texts.emplace(one.get_string());
  return texts;
}

Result<Reply> create_account(Service& service, const Call& call) {
  return reply_of(create_service_account(
      service, call.caller,
      {call.text("name"), set_arg(call, "verbs").value_or(std::set<std::string>()),
       set_arg(call, "projects").value_or(std::set<std::string>())}));
}

Result<Reply> accounts(Service& service, const Call& call) {
  return page_of_whole(call, "service-accounts", list_service_accounts(service, call.caller),
                       name_of_item);
}

Result<Reply> disable(Service& service, const Call& call) {
  return reply_of(
      disable_service_account(service, call.caller, call.text("name"), call.flag("undo")));
}

Result<Reply> create(Service& service, const Call& call) {
  EXA_ASSIGN(const Duration lifetime, parse_duration(call.text("expires")));
  return reply_of(create_token(service, call.caller,
                               {call.text("name"), lifetime, set_arg(call, "scope"),
                                set_arg(call, "projects"), call.text("for")}));
}

Result<Reply> list(Service& service, const Call& call) {
  return page_of_whole(
      call, "tokens", list_tokens(service, call.caller),
      [](const json::value& token) { return std::string(text_or(token, "id", "")); });
}

Result<Reply> revoke(Service& service, const Call& call) {
  return reply_of(revoke_token(service, call.caller, call.text("id")));
}

Param name_param(std::string_view help, In in) {
  return {.name = "name", .in = in, .help = help, .required = true};
}

}  // namespace

std::vector<Route> token_routes() {
  return {
      {.id = "service_account.create",
       .method = Method::post,
       .path = "/api/v1/service-accounts/{name}",
       .command = "service-account create",
       .tier = Tier::mutating,
       .action = "service_account:write",
       .summary = "Create an account for a program, which may do what is listed and nothing else",
       .detail = "Nobody gives what they lack: you hold each of the verbs in each of the projects, "
                 "and administer those. It signs in with tokens: exa token create --for NAME.",
       .params = {name_param("name of the account", In::path),
                  {.name = "verbs",
                   .in = In::body,
                   .kind = Kind::csv,
                   .flag = "--verb",
                   .help = "actions, comma-separated, e.g. placement:plan,placement:write",
                   .required = true},
                  {.name = "projects",
                   .in = In::body,
                   .kind = Kind::csv,
                   .flag = "--project",
                   .help = "projects where it may, comma-separated"},
                  dry_run_param()},
       .handler = create_account,
       .reply = "ServiceAccount",
       .creates = true,
       .examples = {"exa service-account create nightly --verb hardware_profile:read,usage:read "
                    "--project default"}},
      {.id = "service_account.list",
       .path = "/api/v1/service-accounts",
       .command = "service-account list",
       .action = "service_account:read",
       .summary = "List service accounts of projects that you administer",
       .params = {limit_param(), cursor_param()},
       .handler = accounts,
       .reply = "ServiceAccountList",
       .examples = {"exa service-account list"}},
      {.id = "service_account.disable",
       .method = Method::put,
       .path = "/api/v1/service-accounts/{name}/disabled",
       .command = "service-account disable",
       .tier = Tier::mutating,
       .action = "service_account:write",
       .summary = "Keep a program out: every token of its account is refused",
       .params = {name_param("name of the account", In::path),
                  {.name = "undo",
                   .in = In::body,
                   .kind = Kind::flag,
                   .flag = "--undo",
                   .help = "let it in again"},
                  dry_run_param()},
       .handler = disable,
       .reply = "ServiceAccount",
       .examples = {"exa service-account disable nightly"}},
      {.id = "token.create",
       .method = Method::post,
       .path = "/api/v1/tokens",
       .command = "token create",
       .tier = Tier::mutating,
       .action = "token:write",
       .summary = "Create a token and print it, this once",
       .detail =
           "It may do what its owner may, narrowed by --scope and --project, until it expires "
           "or is revoked. The store keeps its SHA-256 only.",
       .params = {name_param("name to recognise it by", In::body),
                  {.name = "expires",
                   .in = In::body,
                   .kind = Kind::duration,
                   .flag = "--expires",
                   .help = "how long it holds, at most 90d",
                   .fallback = "30d"},
                  {.name = "scope",
                   .in = In::body,
                   .kind = Kind::csv,
                   .flag = "--scope",
                   .help = "only these actions, comma-separated, e.g. hardware_profile:read"},
                  {.name = "projects",
                   .in = In::body,
                   .kind = Kind::csv,
                   .flag = "--project",
                   .help = "only these projects, comma-separated"},
                  {.name = "for",
                   .in = In::body,
                   .flag = "--for",
                   .help = "the service account that it is for; else yours"},
                  dry_run_param()},
       .handler = create,
       .reply = "NewToken",
       .creates = true,
       .examples = {"exa token create ci --for nightly --expires 7d"}},
      {.id = "token.list",
       .path = "/api/v1/tokens",
       .command = "token list",
       .action = "token:read",
       .summary = "List your tokens, and those of service accounts that you manage",
       .params = {limit_param(), cursor_param()},
       .handler = list,
       .reply = "TokenList",
       .examples = {"exa token list"}},
      {.id = "token.revoke",
       .method = Method::del,
       .path = "/api/v1/tokens/{id}",
       .command = "token revoke",
       .tier = Tier::mutating,
       .action = "token:write",
       .summary = "Make a token useless from now on",
       .params = {{.name = "id", .in = In::path, .help = "id of the token", .required = true},
                  dry_run_param()},
       .handler = revoke,
       .reply = "Token"},
  };
}

}  // namespace exa
