// The listener and its threads: one event loop a core, each with its share of the connections, and
// a pool for answers that wait for the disk.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "server/connection.h"
#include "server/listen_address.h"
#include "server/tls.h"

namespace exa {

struct ServerOptions {
  std::optional<ListenAddress> listen;  // none: only the unix socket
  std::filesystem::path unix_socket;    // empty: none; made for its owner only
  TlsFiles* tls = nullptr;              // none: plain HTTP
  size_t threads = 0;                   // event loops; 0: as many as cores
  size_t workers = 64;                  // answers that may wait at the same time
  std::chrono::milliseconds drain_time{30'000};
  Limits limits;
};

class Server {
 public:
  Server(Application& application, ServerOptions options);
  ~Server();

  // Binds and accepts. Errors say which address or socket and why.
  Result<void> start();
  std::string address() const;  // with the port that was picked

  // Stops to accept, lets requests end, closes what waits; returns when all have ended, or when
  // drain_time is over. Any thread but one of its own.
  void stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace exa
