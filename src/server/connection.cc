#include "server/connection.h"

#include <algorithm>
#include <deque>

#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <fmt/format.h>
#include <sys/socket.h>

#include "api/http_form.h"
#include "server/response_head.h"

namespace exa {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using Tcp = beast::tcp_stream;
using Tls = beast::ssl_stream<beast::tcp_stream>;
using Unix = beast::basic_stream<asio::local::stream_protocol>;

std::string peer_of(const Tcp& stream) {
  beast::error_code error;
  const auto end = stream.socket().remote_endpoint(error);
  return error ? "gone" : fmt::format("{}:{}", end.address().to_string(), end.port());
}
std::string peer_of(const Tls& stream) {
  return peer_of(stream.next_layer());
}
std::optional<uid_t> uid_of(const Unix& stream) {
  ucred who{};
  socklen_t size = sizeof who;
  auto& socket = const_cast<Unix&>(stream).socket();
  if (::getsockopt(socket.native_handle(), SOL_SOCKET, SO_PEERCRED, &who, &size) != 0)
    return std::nullopt;
  return who.uid;
}
template <typename Stream>
std::optional<uid_t> uid_of(const Stream&) {
  return std::nullopt;
}
std::string peer_of(const Unix& stream) {
  const auto uid = uid_of(stream);
  return uid ? fmt::format("unix:{}", *uid) : "unix";
}

// Beast unfolds a header that goes on in the next line before it shows it, and counts trailers
// among the headers. Folding hides headers from proxies, and a trailer is no place for credentials.
class StrictParser final : public http::request_parser<http::string_body> {
  void on_field_impl(http::field field, beast::string_view name, beast::string_view value,
                     beast::error_code& error) override {
    if (is_header_done()) return;  // a trailer: nobody here asks for any
    if (stands_on_one_line(name, value))
      get().insert(field, name, value);
    else
      error = http::error::bad_obs_fold;
  }

  // Only a colon and blanks stand between a name and its value; an unfolded value stands in memory
  // of its own.
  static bool stands_on_one_line(beast::string_view name, beast::string_view value) {
    constexpr uintptr_t kFarther = uintptr_t{1} << 20;  // than any head is long
    const char* const end = name.data() + name.size();
    if (reinterpret_cast<uintptr_t>(value.data()) - reinterpret_cast<uintptr_t>(end) > kFarther)
      return false;
    return std::all_of(end, value.data(), [](char c) { return c == ':' || c == ' ' || c == '\t'; });
  }
};

// A name or an address and perhaps a port: no user, path or blank that a proxy reads differently.
bool names_a_host(beast::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-._:[]").find(c) != std::string_view::npos;
  });
}

// What is wrong with a head that the parser let pass; a proxy in front might read it in another
// way.
std::optional<std::string_view> ambiguous(const http::fields& fields, unsigned version) {
  const auto count = [&](http::field field) {
    const auto range = fields.equal_range(field);
    return std::distance(range.first, range.second);
  };
  if (count(http::field::transfer_encoding) > 0 && count(http::field::content_length) > 0)
    return "a request has a length or is chunked, not both";
  if (count(http::field::transfer_encoding) > 1 || count(http::field::content_length) > 1)
    return "a request has one length";
  if (count(http::field::transfer_encoding) == 1 &&
      !beast::iequals(fields[http::field::transfer_encoding], "chunked"))
    return "chunked is the only transfer encoding that is served";
  if (version == 11 && count(http::field::host) != 1) return "a request names one host";
  if (count(http::field::authorization) > 1) return "a request has one authorization";
  if (!names_a_host(fields[http::field::host])) return "a host is a name and perhaps a port";
  return std::nullopt;
}

bool is_http_error(beast::error_code error) {
  return error && error.category() == http::make_error_code(http::error::bad_method).category();
}

Incoming incoming_of(http::request<http::string_body>& request) {
  const auto text = [&](auto field) { return std::string(request[field]); };
  Incoming incoming;
  incoming.method = std::string(request.method_string());
  incoming.target = std::string(request.target());
  incoming.content_type = text(http::field::content_type);
  incoming.authorization = text(http::field::authorization);
  incoming.cookie = text(http::field::cookie);
  incoming.origin = text(http::field::origin);
  incoming.accept = text(http::field::accept);
  incoming.host = text(http::field::host);
  incoming.if_match = text(http::field::if_match);
  incoming.prefer = text(http::field::prefer);
  const auto named = [&](std::string_view name) {
    return std::string(request[beast::string_view(name.data(), name.size())]);
  };
  incoming.idempotency_key = named(kIdempotencyHeader);
  incoming.any_state = !named(kAnyStateHeader).empty();
  incoming.traceparent = named("traceparent");
  incoming.last_event_id = named("last-event-id");
  incoming.fetch_site = named("sec-fetch-site");
  for (auto [one, end] = request.equal_range("X-Forwarded-For"); one != end; ++one) {
    if (!incoming.forwarded_for.empty()) incoming.forwarded_for += ", ";
    incoming.forwarded_for += std::string_view(one->value().data(), one->value().size());
  }
  incoming.body = std::move(request.body());
  return incoming;
}

template <typename Stream>
class HttpConnection final : public Connection,
                             public std::enable_shared_from_this<HttpConnection<Stream>> {
 public:
  HttpConnection(Stream stream, const Serving& serving, Ended ended,
                 std::shared_ptr<asio::ssl::context> tls)
      : tls_(std::move(tls)),
        stream_(std::move(stream)),
        serving_(serving),
        ended_(std::move(ended)),
        goodbye_(stream_.get_executor()),
        peer_(peer_of(stream_)),
        peer_uid_(uid_of(stream_)) {
    serving_.application.metrics().connections(+1);
  }
  ~HttpConnection() override { serving_.application.metrics().connections(-1); }

  void start() {
    if constexpr (std::is_same_v<Stream, Tls>) {
      lowest().expires_after(serving_.limits.tls_time);
      stream_.async_handshake(asio::ssl::stream_base::server,
                              [self = self()](beast::error_code error) {
                                if (error) return self->close();
                                self->read_head(self->serving_.limits.head_time);
                              });
    } else {
      read_head(serving_.limits.head_time);
    }
  }

  void stop() override {
    stopping_ = true;
    if (waiting_) close();
    if (sink_) sink_->end();
  }

 private:
  class StreamSink;

  auto self() { return this->shared_from_this(); }
  auto& lowest() { return beast::get_lowest_layer(stream_); }

  // --- reading

  void read_head(std::chrono::milliseconds within) {
    parser_.emplace();
    parser_->header_limit(static_cast<uint32_t>(serving_.limits.head_bytes));
    parser_->body_limit(boost::none);  // known once the head is
    waiting_ = buffer_.size() == 0;
    lowest().expires_after(within);
    http::async_read_header(stream_, buffer_, *parser_,
                            [self = self()](beast::error_code error, size_t) {
                              self->waiting_ = false;
                              self->on_head(error);
                            });
  }

  void on_head(beast::error_code error) {
    if (closed_) return;  // what comes between the two goodbyes
    if (error == http::error::end_of_stream || error == asio::error::eof) return close();
    if (error == http::error::header_limit || error == http::error::buffer_overflow)
      return refuse(431, "the request's headers are too large");
    if (is_http_error(error) && error != http::error::partial_message)
      return refuse(400, "this is no HTTP request: " + error.message());
    if (error) return close();  // gone, or too slow: then the stream is closed already
    started_ = std::chrono::steady_clock::now();
    const auto& head = parser_->get();
    if (const auto why = ambiguous(head, head.version())) return refuse(400, *why);
    const size_t limit = Application::body_limit(
        std::string_view(head.method_string().data(), head.method_string().size()),
        std::string_view(head.target().data(), head.target().size()));
    const auto length = parser_->content_length();
    if (length && *length > limit)
      return refuse(413, fmt::format("the body is larger than {} bytes", limit));
    parser_->body_limit(limit);
    if (beast::iequals(head[http::field::expect], "100-continue")) return invite_body();
    read_body();
  }

  void invite_body() {
    static constexpr std::string_view kGoOn = "HTTP/1.1 100 Continue\r\n\r\n";
    asio::async_write(stream_, asio::buffer(kGoOn.data(), kGoOn.size()),
                      [self = self()](beast::error_code error, size_t) {
                        if (error) return self->close();
                        self->read_body();
                      });
  }

  void read_body() {
    if (parser_->is_done()) return on_request();
    lowest().expires_after(serving_.limits.body_time);
    http::async_read(stream_, buffer_, *parser_, [self = self()](beast::error_code error, size_t) {
      if (error == http::error::body_limit) return self->refuse(413, "the body is too large");
      if (is_http_error(error) && error != http::error::partial_message)
        return self->refuse(400, "the body is not framed as HTTP says: " + error.message());
      if (error) return self->close();  // gone, or too slow: then the stream is closed already
      self->on_request();
    });
  }

  // --- answering

  void on_request() {
    auto request = parser_->release();
    keep_alive_ = request.keep_alive();
    is_old_ = request.version() < 11;
    head_only_ = request.method() == http::verb::head;
    incoming_ = incoming_of(request);
    incoming_.peer = serving_.application.client_of(peer_, incoming_);
    incoming_.peer_uid = peer_uid_;
    incoming_.tls = std::is_same_v<Stream, Tls>;
    if (auto now = serving_.application.answer_now(incoming_)) return write(*std::move(now));
    lowest().expires_never();  // the answer takes what it takes
    if (Application::is_small_change(incoming_)) {
      return serving_.changes.take(incoming_, [self = self()](Outgoing answer) {
        asio::post(self->stream_.get_executor(), [self, answer = std::move(answer)]() mutable {
          self->write(std::move(answer));
        });
      });
    }
    asio::post(serving_.workers, [self = self()] {
      Outgoing answer = self->serving_.application.answer(self->incoming_);
      asio::post(self->stream_.get_executor(),
                 [self, answer = std::move(answer)]() mutable { self->write(std::move(answer)); });
    });
  }

  // A request that never became one: answered, and the connection closed, because nobody knows
  // where the next would begin.
  void refuse(int status, std::string_view why) {
    keep_alive_ = false;
    head_only_ = false;
    lingers_ = true;
    started_ = std::chrono::steady_clock::now();
    incoming_ = {};
    incoming_.peer = peer_;
    write(serving_.application.refused(status, why));
  }

  void write(Outgoing answer) {
    outgoing_ = std::move(answer);
    if (outgoing_.stream && !head_only_) return write_stream();
    keep_alive_ = keep_alive_ && !stopping_;
    const std::string& body = outgoing_.body ? *outgoing_.body : kNoBody;
    const bool goes_on = outgoing_.stream != nullptr;  // a stream has no length, nor has its head
    head_ =
        response_head(outgoing_, head_facts(goes_on ? std::nullopt : std::optional(body.size())));
    const std::array<asio::const_buffer, 2> pieces{
        asio::buffer(head_), head_only_ ? asio::const_buffer() : asio::buffer(body)};
    lowest().expires_after(serving_.limits.write_time);
    asio::async_write(stream_, pieces, [self = self()](beast::error_code error, size_t) {
      self->on_written(error);
    });
  }

  HeadFacts head_facts(std::optional<size_t> length) const {
    return {.length = length,
            .keep_alive = keep_alive_,
            .old_client = is_old_,
            .tls = std::is_same_v<Stream, Tls>,
            .date = date_now()};
  }

  // One text a second and thread.
  static std::string_view date_now() {
    thread_local std::time_t at = 0;
    thread_local std::string text;
    if (const std::time_t now = std::time(nullptr); now != at) {
      at = now;
      text = http_date(now);
    }
    return text;
  }

  void on_written(beast::error_code error) {
    serving_.application.answered(incoming_, outgoing_,
                                  std::chrono::steady_clock::now() - started_);
    outgoing_ = {};
    if (!error && lingers_) return linger();
    if (error || !keep_alive_ || stopping_) return close();
    read_head(buffer_.size() > 0 ? serving_.limits.head_time : serving_.limits.idle_time);
  }

  // --- streams of events: a head, then pieces as they come, until either side ends

  void write_stream() {
    keep_alive_ = false;
    head_ = response_head(outgoing_, head_facts(std::nullopt));
    lowest().expires_after(serving_.limits.write_time);
    asio::async_write(
        stream_, asio::buffer(head_), [self = self()](beast::error_code error, size_t) {
          if (error) return self->on_written(error);
          self->lowest().expires_never();
          self->sink_ = std::make_shared<StreamSink>(self);
          self->watch_for_end();
          // the sink by value: when the stream ends, this thread drops sink_
          asio::post(self->serving_.workers, [begin = std::move(self->outgoing_.stream),
                                              sink = self->sink_] { begin(sink); });
          if (self->stopping_) self->sink_->end();
        });
  }

  // A reader that goes away is noticed by the read that then fails.
  void watch_for_end() {
    stream_.async_read_some(buffer_.prepare(512), [self = self()](beast::error_code error, size_t) {
      if (error) {
        if (self->sink_) self->sink_->end();  // none: this end has closed already
        return;
      }
      self->watch_for_end();  // what a client sends after its request is nothing to us
    });
  }

  // Hands pieces from any thread to the connection's own, a bounded number ahead.
  class StreamSink final : public EventSink, public std::enable_shared_from_this<StreamSink> {
   public:
    explicit StreamSink(std::shared_ptr<HttpConnection> connection)
        : connection_(std::move(connection)) {}

    bool send(std::shared_ptr<const std::string> bytes) override {
      if (ended_ || waiting_ >= kMostWaiting) {
        end();
        return false;
      }
      ++waiting_;
      asio::post(connection_->stream_.get_executor(),
                 [self = this->shared_from_this(), bytes = std::move(bytes)]() mutable {
                   self->queue_.push_back(std::move(bytes));
                   if (self->queue_.size() == 1) self->write_next();
                 });
      return true;
    }

    void end() override {
      if (ended_.exchange(true)) return;
      asio::post(connection_->stream_.get_executor(), [self = this->shared_from_this()] {
        if (self->queue_.empty()) self->finish({});
      });
    }

   private:
    static constexpr int kMostWaiting = 256;

    void write_next() {
      connection_->lowest().expires_after(connection_->serving_.limits.write_time);
      asio::async_write(connection_->stream_, asio::buffer(*queue_.front()),
                        [self = this->shared_from_this()](beast::error_code error, size_t) {
                          self->queue_.pop_front();
                          --self->waiting_;
                          if (error) {
                            self->ended_ = true;
                            return self->finish(error);
                          }
                          self->connection_->lowest().expires_never();
                          if (!self->queue_.empty()) return self->write_next();
                          if (self->ended_) self->finish({});
                        });
    }

    void finish(beast::error_code error) {
      if (std::exchange(finished_, true)) return;
      connection_->on_written(error);
      connection_->sink_.reset();
    }

    std::shared_ptr<HttpConnection> connection_;
    std::deque<std::shared_ptr<const std::string>> queue_;  // on the connection's thread
    std::atomic<int> waiting_ = 0;
    std::atomic<bool> ended_ = false;
    bool finished_ = false;
  };

  // --- the end

  // Closing a socket with unread bytes in it would take the answer from a client that still sends.
  void linger() {
    beast::error_code ignored;
    if constexpr (!std::is_same_v<Stream, Tls>)
      lowest().socket().shutdown(asio::socket_base::shutdown_send, ignored);
    lowest().expires_after(kLinger);
    read_away();
  }

  void read_away() {
    buffer_.consume(buffer_.size());
    stream_.async_read_some(buffer_.prepare(size_t{16} << 10),
                            [self = self()](beast::error_code error, size_t) {
                              if (error) return self->close();
                              self->read_away();
                            });
  }

  void close() {
    if (std::exchange(closed_, true)) return;
    if constexpr (std::is_same_v<Stream, Tls>) {
      // Without a goodbye, a stream that was cut looks like one that ended. A read that is under
      // way keeps the stream's own timer, so the answer to the goodbye has one of its own.
      goodbye_.expires_after(kLinger);
      goodbye_.async_wait([self = self()](beast::error_code) { self->close_socket(); });
      stream_.async_shutdown([self = self()](beast::error_code) { self->goodbye_.cancel(); });
    } else {
      close_socket();
    }
  }

  // Once: by that timer, or at once where there is no goodbye to say.
  void close_socket() {
    beast::error_code ignored;
    lowest().socket().shutdown(asio::socket_base::shutdown_send, ignored);
    lowest().close();
    ended_(this);
  }

  static inline const std::string kNoBody;
  static constexpr std::chrono::milliseconds kLinger{1000};

  std::shared_ptr<asio::ssl::context> tls_;  // outlives the stream, even when it was reloaded
  Stream stream_;
  const Serving& serving_;
  Ended ended_;
  asio::steady_timer goodbye_;
  std::string peer_;
  std::optional<uid_t> peer_uid_;

  beast::flat_buffer buffer_{size_t{128} << 10};
  std::optional<StrictParser> parser_;
  std::chrono::steady_clock::time_point started_;
  Incoming incoming_;
  Outgoing outgoing_;
  std::string head_;  // of the answer that is being sent
  std::shared_ptr<StreamSink> sink_;
  bool lingers_ = false;
  bool keep_alive_ = false;
  bool head_only_ = false;
  bool is_old_ = false;   // speaks HTTP/1.0
  bool waiting_ = false;  // for the first byte of a request
  bool stopping_ = false;
  bool closed_ = false;
};

template <typename Stream>
std::shared_ptr<Connection> started(Stream stream, const Serving& serving, Ended ended,
                                    std::shared_ptr<asio::ssl::context> tls = nullptr) {
  auto connection = std::make_shared<HttpConnection<Stream>>(std::move(stream), serving,
                                                             std::move(ended), std::move(tls));
  connection->start();
  return connection;
}

}  // namespace

std::shared_ptr<Connection> serve_tcp(asio::ip::tcp::socket socket, const Serving& serving,
                                      Ended ended) {
  boost::system::error_code ignored;
  socket.set_option(asio::ip::tcp::no_delay(true), ignored);
  return started(Tcp(std::move(socket)), serving, std::move(ended));
}

std::shared_ptr<Connection> serve_tls(asio::ip::tcp::socket socket,
                                      std::shared_ptr<asio::ssl::context> tls,
                                      const Serving& serving, Ended ended) {
  boost::system::error_code ignored;
  socket.set_option(asio::ip::tcp::no_delay(true), ignored);
  Tls stream(Tcp(std::move(socket)), *tls);
  return started(std::move(stream), serving, std::move(ended), std::move(tls));
}

std::shared_ptr<Connection> serve_unix(asio::local::stream_protocol::socket socket,
                                       const Serving& serving, Ended ended) {
  return started(Unix(std::move(socket)), serving, std::move(ended));
}

}  // namespace exa
