#include "cli/login.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/router.h"
#include "base/private_file.h"
#include "base/private_folder.h"
#include "base/redact.h"
#include "base/text.h"
#include "cli/errors.h"
#include "cli/secret_file.h"
#include "discover/url.h"

namespace exa {
namespace {

constexpr size_t kMostBytes = size_t{64} << 10;

// A token must not travel in the clear; curl's side refuses it as well (discover/http.h).
Result<void> check_address(const std::string& url) {
  if (may_carry_secrets(url)) return {};
  const bool has_user = url.find('@') != std::string::npos;
  return fail(Code::usage,
              fmt::format("{} {}", printable(without_secrets(url)),
                          has_user ? "holds a user or password, which an address is no place for"
                                   : "is no https:// address (http:// is for this machine alone)"),
              "exa login https://SERVER --token-file FILE");
}

}  // namespace

std::optional<std::filesystem::path> login_file(const Environment& environment) {
  const auto set = [&](const char* name) { return environment.variable(name).value_or(""); };
  if (const std::string xdg = set("XDG_CONFIG_HOME"); !xdg.empty())
    return std::filesystem::path(xdg) / "exa/login.json";
  if (const std::string home = set("HOME"); !home.empty())
    return std::filesystem::path(home) / ".config/exa/login.json";
  return std::nullopt;
}

Result<std::optional<RemoteServer>> saved_login(const Environment& environment) {
  std::optional<RemoteServer> none;
  const auto file = login_file(environment);
  struct stat status {};
  if (!file || ::stat(file->c_str(), &status) != 0) return none;
  if ((status.st_mode & 077) != 0) {
    return fail(Code::invalid_input,
                fmt::format("{} holds a token and may be read by others (mode {:04o})",
                            file->string(), status.st_mode & 07777),
                fmt::format("chmod 600 {}, or exa logout", file->string()));
  }
  EXA_ASSIGN(const std::string text, environment.read_file(file->string(), kMostBytes));
  EXA_ASSIGN(const json::value login, parse_json(text, file->string()));
  RemoteServer server;
  server.url = text_or(login, "server", "");
  server.token = Secret(std::string(text_or(login, "token", "")));
  server.ca.file = text_or(login, "ca_file", "");
  if (server.url.empty())
    return fail(Code::invalid_input, fmt::format("{} is no login", file->string()), "exa logout");
  return std::optional(std::move(server));
}

Result<std::optional<std::string>> owner_of_token(const Reply& who_am_i) {
  std::optional<std::string> name;
  if (who_am_i.status >= 400) {
    Error error = error_of(who_am_i);
    // rights are looked at after the token was recognised: a token that is not good is
    // unauthenticated
    if (error.code == Code::forbidden) return name;
    return fail(std::move(error));
  }
  EXA_ASSIGN(const json::value who, parse_json(who_am_i.body, "reply"));
  name = text_or(who, "name", "?");
  return name;
}

Route login_row() {
  return {.id = "local.login",
          .command = "login",
          .tier = Tier::mutating,
          .summary = "Use a server and a token from now on",
          .detail =
              "Commands then ask that server, unless --data, --store or --server say "
              "otherwise. The token is read from a file or from standard input, tried, and "
              "kept where only you can read it.",
          .params = {{.name = "server", .help = "address: https://SERVER", .required = true},
                     {.name = "token_file",
                      .kind = Kind::file,
                      .flag = "--token-file",
                      .help = "file with a token of exa token create; - for standard input",
                      .required = true},
                     {.name = "ca_file",
                      .kind = Kind::path,
                      .flag = "--ca-file",
                      .help = "certificate authority of the server, if it is your own"}},
          .examples = {"exa login https://exa.example.org --token-file -"},
          .changes = "Writes one file of your own; changes nothing at the server."};
}

Route logout_row() {
  return {.id = "local.logout",
          .command = "logout",
          .tier = Tier::mutating,
          .summary = "Forget the server and the token of exa login",
          .detail = "The token itself stays good until it expires: exa token revoke ends it.",
          .examples = {"exa logout"},
          .changes = "Removes the file of exa login; changes nothing at the server."};
}

Result<LocalText> login(const LocalCall& call) {
  const auto file = login_file(call.environment);
  if (!file) return fail(Code::usage, "there is no place for a login: HOME is not set");
  RemoteServer server;
  server.url = value_of(call, "server");
  while (server.url.ends_with('/')) server.url.pop_back();
  EXA_TRY(check_address(server.url));
  EXA_ASSIGN(server.token, secret_in_file(call.environment, value_of(call, "token_file")));
  if (const std::string ca = value_of(call, "ca_file"); !ca.empty())
    server.ca.file = (std::filesystem::path(call.environment.working_folder()) / ca).string();
  const Reply reply = send_to(server)(build_request(*find_route("auth.status"), {}));
  EXA_ASSIGN(const std::optional<std::string> name, owner_of_token(reply));
  const json::object kept{
      {"server", server.url}, {"token", server.token.reveal()}, {"ca_file", server.ca.file}};
  EXA_TRY(make_private_folder(file->parent_path()));
  EXA_TRY(replace_file(file->string(), to_pretty_text(kept), 0600));
  if (name) return LocalText(fmt::format("Signed in to {} as {}.\n", server.url, *name));
  return LocalText(
      fmt::format("Signed in to {}. The token is good, but was not given self:read, so that the "
                  "server does not "
                  "say whose it is.\n",
                  server.url));
}

Result<LocalText> logout(const LocalCall& call) {
  const auto file = login_file(call.environment);
  if (!file || ::unlink(file->c_str()) != 0) return LocalText("Nobody was signed in.\n");
  return LocalText("Signed out.\n");
}

}  // namespace exa
