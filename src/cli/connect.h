// What answers a command: the server that is named, else the server that runs on the data folder,
// else this process on the folder itself.
#pragma once

#include <memory>

#include "cli/environment.h"
#include "cli/local.h"
#include "cli/remote.h"

namespace exa {

class Connector {
 public:
  explicit Connector(const Environment& environment) : environment_(environment) {}
  Result<Send> operator()(const Where& where);

 private:
  bool nowhere_named(const Where& where) const;
  Result<RemoteServer> remote(const std::string& url) const;

  const Environment& environment_;
  std::unique_ptr<LocalServer> local_;
};

EnvironmentLookup lookup_in(const Environment& environment);

// The socket on which a server of this folder listens.
std::filesystem::path socket_in(const std::filesystem::path& folder);
// Whether somebody does. A file that a killed server left refuses the connection.
bool listens_on(const std::filesystem::path& socket);

}  // namespace exa
