#include "server/server.h"

#include <condition_variable>
#include <thread>
#include <unordered_map>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/un.h>

namespace exa {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using local = asio::local::stream_protocol;

// One thread, one loop, its connections: nothing in it is shared.
struct Loop {
  asio::io_context context{1};
  asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
  std::unordered_map<Connection*, std::shared_ptr<Connection>> connections;
  std::thread thread;
};

Failure cannot_listen(const std::string& where, const boost::system::error_code& error) {
  const bool taken = error == boost::asio::error::address_in_use;
  return fail(taken ? Code::conflict : Code::usage,
              fmt::format("cannot listen on {}: {}", where, error.message()),
              taken ? "ss -ltnp says who does; exa serve --listen 127.0.0.1:0 picks a free port"
                    : "exa serve --listen 127.0.0.1:8480");
}

}  // namespace

struct Server::State {
  State(Application& application, ServerOptions given)
      : options(std::move(given)),
        workers(options.workers),
        changes(application),
        serving{application, workers, changes, options.limits} {
    const size_t cores = std::max(1U, std::thread::hardware_concurrency());
    for (size_t i = 0; i < (options.threads == 0 ? cores : options.threads); ++i)
      loops.push_back(std::make_unique<Loop>());
  }

  Result<void> bind_tcp();
  Result<void> bind_unix();
  void accept_tcp();
  void accept_unix();
  template <typename Socket>
  void take(Loop& loop, Socket socket);
  // Out of descriptors: to look again at once would do nothing else.
  void pause(std::optional<asio::steady_timer>& timer, std::function<void()> then) {
    timer.emplace(loops[0]->context, std::chrono::milliseconds(100));
    timer->async_wait([then = std::move(then)](boost::system::error_code) { then(); });
  }
  Loop& next_loop() { return *loops[turn++ % loops.size()]; }
  void stop();

  ServerOptions options;
  asio::thread_pool workers;
  ChangeLane changes;
  Serving serving;
  std::vector<std::unique_ptr<Loop>> loops;
  size_t turn = 0;
  std::optional<tcp::acceptor> tcp_acceptor;     // on the first loop
  std::optional<local::acceptor> unix_acceptor;  // likewise
  bool socket_is_ours = false;
  std::optional<asio::steady_timer> tcp_pause;
  std::optional<asio::steady_timer> unix_pause;
  std::atomic<size_t> open = 0;
  std::atomic<bool> stopping = false;
  std::mutex mutex;
  std::condition_variable ended;
};

Result<void> Server::State::bind_tcp() {
  const tcp::endpoint& endpoint = options.listen->endpoint;
  boost::system::error_code error;
  tcp_acceptor.emplace(loops[0]->context);
  tcp_acceptor->open(endpoint.protocol(), error);
  if (!error) tcp_acceptor->set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) tcp_acceptor->bind(endpoint, error);
  if (!error) tcp_acceptor->listen(asio::socket_base::max_listen_connections, error);
  if (error) return cannot_listen(format_endpoint(endpoint), error);
  return {};
}

// The folder is its owner's alone, and so is the socket from its first moment on. A socket file
// that nobody listens on any more was left by a server that was killed; the caller holds the lock
// that says so.
Result<void> Server::State::bind_unix() {
  const std::string path = options.unix_socket.string();
  if (path.size() >= sizeof(sockaddr_un::sun_path)) {
    return fail(Code::usage,
                fmt::format("the path of the socket {} is too long ({} characters at most)", path,
                            sizeof(sockaddr_un::sun_path) - 1));
  }
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
  const mode_t before = ::umask(0177);
  boost::system::error_code error;
  unix_acceptor.emplace(loops[0]->context);
  unix_acceptor->open(local(), error);
  if (!error) unix_acceptor->bind(local::endpoint(path), error);
  if (!error) unix_acceptor->listen(asio::socket_base::max_listen_connections, error);
  ::umask(before);
  if (error) return cannot_listen(path, error);
  socket_is_ours = true;
  return {};
}

template <typename Socket>
void Server::State::take(Loop& loop, Socket socket) {
  const Ended on_end = [this, &loop](Connection* connection) {
    // not from within the connection's own call
    asio::post(loop.context, [this, &loop, connection] {
      loop.connections.erase(connection);
      const std::lock_guard lock(mutex);
      --open;
      ended.notify_all();
    });
  };
  std::shared_ptr<Connection> connection;
  if constexpr (std::is_same_v<Socket, tcp::socket>) {
    connection = options.tls == nullptr
                     ? serve_tcp(std::move(socket), serving, on_end)
                     : serve_tls(std::move(socket), options.tls->current(), serving, on_end);
  } else {
    connection = serve_unix(std::move(socket), serving, on_end);
  }
  if (stopping) connection->stop();
  Connection* const key = connection.get();
  loop.connections.emplace(key, std::move(connection));
}

void Server::State::accept_tcp() {
  Loop& loop = next_loop();
  tcp_acceptor->async_accept(
      loop.context, [this, &loop](boost::system::error_code error, tcp::socket socket) {
        if (stopping || error == asio::error::operation_aborted) return;
        if (error) {
          pause(tcp_pause, [this] { accept_tcp(); });
          return;
        }
        if (open < options.limits.connections) {
          ++open;
          auto held = std::make_shared<tcp::socket>(std::move(socket));
          asio::post(loop.context, [this, &loop, held] { take(loop, std::move(*held)); });
        }
        accept_tcp();
      });
}

void Server::State::accept_unix() {
  Loop& loop = next_loop();
  unix_acceptor->async_accept(
      loop.context, [this, &loop](boost::system::error_code error, local::socket socket) {
        if (stopping || error == asio::error::operation_aborted) return;
        if (error) {
          pause(unix_pause, [this] { accept_unix(); });
          return;
        }
        if (open < options.limits.connections) {
          ++open;
          auto held = std::make_shared<local::socket>(std::move(socket));
          asio::post(loop.context, [this, &loop, held] { take(loop, std::move(*held)); });
        }
        accept_unix();
      });
}

void Server::State::stop() {
  if (stopping.exchange(true)) return;
  asio::post(loops[0]->context, [this] {
    boost::system::error_code ignored;
    if (tcp_acceptor) tcp_acceptor->close(ignored);
    if (unix_acceptor) unix_acceptor->close(ignored);
  });
  for (const auto& loop : loops) {
    asio::post(loop->context, [&loop = *loop] {
      // a copy: a connection that ends at once leaves the table later, but let that not matter here
      const auto connections = loop.connections;
      for (const auto& [key, connection] : connections) connection->stop();
    });
  }
  {
    std::unique_lock lock(mutex);
    ended.wait_for(lock, options.drain_time, [this] { return open == 0; });
  }
  workers.join();
  changes.stop();
  for (const auto& loop : loops) loop->work.reset();
  for (const auto& loop : loops) loop->context.stop();
  for (const auto& loop : loops)
    if (loop->thread.joinable()) loop->thread.join();
  if (socket_is_ours) {
    std::error_code ignored;
    std::filesystem::remove(options.unix_socket, ignored);
  }
}

Server::Server(Application& application, ServerOptions options)
    : state_(std::make_unique<State>(application, std::move(options))) {}

Server::~Server() {
  stop();
}

Result<void> Server::start() {
  if (state_->options.listen) EXA_TRY(state_->bind_tcp());
  if (!state_->options.unix_socket.empty()) EXA_TRY(state_->bind_unix());
  if (state_->tcp_acceptor) state_->accept_tcp();
  if (state_->unix_acceptor) state_->accept_unix();
  for (const auto& loop : state_->loops)
    loop->thread = std::thread([&context = loop->context] { context.run(); });
  return {};
}

std::string Server::address() const {
  if (!state_->tcp_acceptor) return "";
  boost::system::error_code error;
  const auto endpoint = state_->tcp_acceptor->local_endpoint(error);
  return error ? "" : format_endpoint(endpoint);
}

void Server::stop() {
  state_->stop();
}

}  // namespace exa
