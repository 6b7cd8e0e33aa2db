#include "cli/connect.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/login.h"
#include "cli/secret_file.h"

namespace exa {
namespace {

std::string set_or_empty(const Environment& environment, const char* name) {
  return environment.variable(name).value_or("");
}

}  // namespace

EnvironmentLookup lookup_in(const Environment& environment) {
  return [&environment](const std::string& name) { return environment.variable(name.c_str()); };
}

std::filesystem::path socket_in(const std::filesystem::path& folder) {
  return folder / "exa.sock";
}

bool listens_on(const std::filesystem::path& socket) {
  std::error_code unknown;
  const std::string path = socket.string();
  sockaddr_un address{};
  if (!std::filesystem::is_socket(socket, unknown) || path.size() >= sizeof address.sun_path)
    return false;
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, path.size());
  const int descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return false;
  const bool connected =
      ::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  ::close(descriptor);
  return connected;
}

Result<RemoteServer> Connector::remote(const std::string& url) const {
  RemoteServer server;
  server.url = url.ends_with('/') ? url.substr(0, url.size() - 1) : url;
  server.ca.file = set_or_empty(environment_, "EXA_CA_FILE");
  EXA_ASSIGN(auto login, saved_login(environment_));
  if (login && login->url == server.url) server = *std::move(login);
  if (const std::string file = set_or_empty(environment_, "EXA_TOKEN_FILE"); !file.empty()) {
    EXA_ASSIGN(server.token, secret_in_file(environment_, file));
  }
  return server;
}

// Who names a place means it, whoever they are signed in to.
bool Connector::nowhere_named(const Where& where) const {
  return where.data_folder.empty() && where.store.empty() &&
         set_or_empty(environment_, "EXA_HOME").empty() &&
         set_or_empty(environment_, "EXA_STORE").empty();
}

Result<Send> Connector::operator()(const Where& where) {
  std::string url = where.server;
  if (url.empty() && where.data_folder.empty() && where.store.empty())
    url = set_or_empty(environment_, "EXA_SERVER");
  if (!url.empty()) {
    EXA_ASSIGN(RemoteServer server, remote(url));
    return send_to(std::move(server));
  }
  if (nowhere_named(where)) {
    EXA_ASSIGN(auto login, saved_login(environment_));
    if (login) return send_to(*std::move(login));
  }
  auto home = home_of(where, lookup_in(environment_));
  // whoever names a database server means it, whatever the server on this folder works on
  if (home && home->server.empty() && listens_on(socket_in(home->folder))) {
    RemoteServer server;
    server.url = "http://localhost";
    server.unix_socket = socket_in(home->folder).string();
    return send_to(std::move(server));
  }
  local_ = std::make_unique<LocalServer>(std::move(home), environment_.clock);
  return Send([this](const Request& request) { return local_->handle(request); });
}

}  // namespace exa
