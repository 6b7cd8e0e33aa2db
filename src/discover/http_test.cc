// The HTTP client against a server of a few lines that says exactly what a test wants.
#include "discover/http.h"

#include <ostream>
#include <thread>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace exa {
namespace {

using testing::HasSubstr;
using testing::Not;

// Answers one connection with fixed bytes and keeps what it was asked.
class OneAnswer {
 public:
  explicit OneAnswer(std::string answer) : answer_(std::move(answer)) {
    listener_ = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(bind(listener_, generic, size), 0);
    EXPECT_EQ(listen(listener_, 1), 0);
    EXPECT_EQ(getsockname(listener_, generic, &size), 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~OneAnswer() { wait(); }

  std::string url(std::string_view path = "/") const {
    return fmt::format("http://127.0.0.1:{}{}", port_, path);
  }
  const std::string& asked() {
    wait();
    return asked_;
  }

 private:
  void serve() {
    const int connection = accept(listener_, nullptr, nullptr);
    char buffer[4096];
    while (asked_.find("\r\n\r\n") == std::string::npos) {
      const ssize_t n = read(connection, buffer, sizeof buffer);
      if (n <= 0) break;
      asked_.append(buffer, static_cast<size_t>(n));
    }
    size_t sent = 0;
    while (sent < answer_.size()) {
      const ssize_t n =
          send(connection, answer_.data() + sent, answer_.size() - sent, MSG_NOSIGNAL);
      if (n <= 0) break;
      sent += static_cast<size_t>(n);
    }
    close(connection);
  }
  void wait() {
    if (!thread_.joinable()) return;
    shutdown(listener_, SHUT_RDWR);  // a test that never connects must not hang
    thread_.join();
    close(listener_);
  }

  std::string answer_, asked_;
  int listener_ = -1;
  int port_ = 0;
  std::thread thread_;
};

std::string reply(std::string_view status, std::string_view body, std::string_view headers = "") {
  return fmt::format("HTTP/1.1 {}\r\nContent-Length: {}\r\n{}\r\n{}", status, body.size(), headers,
                     body);
}

TEST(Http, GivesStatusHeadersAndBody) {
  OneAnswer server(reply("200 OK", "hello", "X-Thing: a b\r\n"));
  HttpRequest request;
  request.url = server.url("/path?q=1");
  request.headers = {{"Accept", "application/json"}};
  request.bearer = Secret("t0ken");
  const auto answer = http_send(request);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->body, "hello");
  EXPECT_EQ(answer->header("x-thing"), "a b");
  EXPECT_THAT(server.asked(), HasSubstr("GET /path?q=1 HTTP/1.1\r\n"));
  EXPECT_THAT(server.asked(), HasSubstr("Authorization: Bearer t0ken\r\n"));
  EXPECT_THAT(server.asked(), HasSubstr("Accept: application/json\r\n"));
}

TEST(Http, ARedirectIsAnAnswerAndIsNotFollowed) {
  OneAnswer server(reply("302 Found", "", "Location: http://127.0.0.1:1/\r\n"));
  HttpRequest request;
  request.url = server.url();
  const auto answer = http_send(request);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 302);
}

TEST(Http, ARefusalIsAnAnswer) {
  OneAnswer server(reply("403 Forbidden", "no"));
  HttpRequest request;
  request.url = server.url();
  const auto answer = http_send(request);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 403);
  EXPECT_EQ(answer->body, "no");
}

struct BadAnswer {
  std::string name, answer, part;
  Code code;
};

TEST(Http, AnswersThatCannotBeUsedAreNamed) {
  const std::vector<BadAnswer> cases = {
      {"too large by its header", reply("200 OK", std::string(2000, 'x')), "larger than 1000",
       Code::probe_failed},
      {"too large without a length", "HTTP/1.0 200 OK\r\n\r\n" + std::string(2000, 'x'),
       "larger than 1000", Code::probe_failed},
      {"cut off", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", "127.0.0.1",
       Code::unreachable},
      {"nothing", "", "without an answer", Code::unreachable},
      {"another protocol", "SSH-2.0-OpenSSH_9.2\r\n", "not HTTP", Code::probe_failed},
  };
  for (const BadAnswer& test : cases) {
    SCOPED_TRACE(test.name);
    OneAnswer server(test.answer);
    HttpRequest request;
    request.url = server.url();
    request.max_body = 1000;
    const auto answer = http_send(request);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, test.code) << answer.error().message;
    EXPECT_THAT(answer.error().message, HasSubstr(test.part));
  }
}

TEST(Http, ClosedPortsAndUnknownNamesAreUnreachable) {
  HttpRequest request;
  request.url = "http://127.0.0.1:1/";
  EXPECT_EQ(http_send(request).error().code, Code::unreachable);
  request.url = "http://no-such-host.invalid/";
  request.timeout = seconds(5);
  EXPECT_EQ(http_send(request).error().code, Code::unreachable);
}

TEST(Http, RequestsThatCouldDoHarmAreNotSent) {
  const auto refused = [](HttpRequest request) {
    const auto answer = http_send(request);
    EXPECT_FALSE(answer);
    if (answer) return std::string();
    EXPECT_EQ(answer.error().code, Code::invalid_input);
    EXPECT_THAT(answer.error().message, Not(HasSubstr("s3cret")));
    return answer.error().message;
  };
  for (const char* url : {"", "ftp://h/", "file:///etc/passwd", "h:80", "http://", "http://u:p@h/",
                          "http://h:port/", "http://h/ x", "http://h/\r\nX: y", "http://[::1/"}) {
    HttpRequest request;
    request.url = url;
    EXPECT_THAT(refused(request), HasSubstr("no http")) << url;
  }
  HttpRequest split;
  split.url = "http://127.0.0.1:1/";
  split.headers = {{"A", "b\r\nC: d"}};
  EXPECT_THAT(refused(split), HasSubstr("header"));
  HttpRequest token;
  token.url = "http://127.0.0.1:1/";
  token.bearer = Secret("s3cret\r\nX: y");
  EXPECT_THAT(refused(token), HasSubstr("bearer token"));
  HttpRequest plain;
  plain.url = "http://cluster.example/";
  plain.bearer = Secret("s3cret");
  EXPECT_THAT(refused(plain), HasSubstr("unencrypted"));
}

template <typename T>
concept Printable = requires(std::ostream& out, const T& value) {
  out << value;
};
static_assert(!Printable<Secret>, "a secret must not be printable by accident");
static_assert(!fmt::is_formattable<Secret>::value, "a secret must not be printable by accident");

}  // namespace
}  // namespace exa
