// One client's connection: reads requests one after the other, has each answered, writes the
// answer. HTTP/1.1 with keep-alive; a pipelined request waits for the answer to the one before.
// Everything runs on the connection's own thread but Application::answer, which may wait.
#pragma once

#include <memory>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/thread_pool.hpp>

#include "server/application.h"
#include "server/change_lane.h"
#include "server/limits.h"

namespace exa {

// What connections share.
struct Serving {
  Application& application;
  boost::asio::thread_pool& workers;  // where answers are made that may wait
  ChangeLane& changes;                // where small changes share their commits
  Limits limits;
};

class Connection {
 public:
  virtual ~Connection() = default;
  // On the connection's thread: closes it now if it waits for a request, else after its answer.
  virtual void stop() = 0;
};

// Called when the connection has ended; on its thread.
using Ended = std::function<void(Connection*)>;

std::shared_ptr<Connection> serve_tcp(boost::asio::ip::tcp::socket socket, const Serving& serving,
                                      Ended ended);
std::shared_ptr<Connection> serve_tls(boost::asio::ip::tcp::socket socket,
                                      std::shared_ptr<boost::asio::ssl::context> tls,
                                      const Serving& serving, Ended ended);
std::shared_ptr<Connection> serve_unix(boost::asio::local::stream_protocol::socket socket,
                                       const Serving& serving, Ended ended);

}  // namespace exa
