#include "server/listen_address.h"

#include <charconv>

#include <fmt/format.h>

namespace exa {
namespace {

Failure no_address(std::string_view text, std::string_view why) {
  return fail(Code::usage, fmt::format("--listen \"{}\" {}", text, why),
              "exa serve --listen 127.0.0.1:8480");
}

}  // namespace

Result<ListenAddress> parse_listen_address(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == text.npos) return no_address(text, "has no port: write ADDRESS:PORT");
  std::string_view host = text.substr(0, colon);
  const std::string_view digits = text.substr(colon + 1);
  uint16_t port = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (digits.empty() || problem != std::errc() || end != digits.data() + digits.size())
    return no_address(text, "needs a port from 0 to 65535 behind the colon");
  const bool bracketed = host.starts_with('[') && host.ends_with(']');
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (!bracketed && host.find(':') != host.npos)
    return no_address(text, "is an IPv6 address without brackets: write [ADDRESS]:PORT");
  if (host == "localhost") host = "127.0.0.1";
  boost::system::error_code error;
  const auto address = host.empty() ? boost::asio::ip::address(boost::asio::ip::address_v6::any())
                                    : boost::asio::ip::make_address(std::string(host), error);
  if (error) return no_address(text, "is no IP address with a port");
  return ListenAddress{{address, port}, address.is_loopback()};
}

std::string format_endpoint(const boost::asio::ip::tcp::endpoint& endpoint) {
  const std::string address = endpoint.address().to_string();
  return endpoint.address().is_v6() ? fmt::format("[{}]:{}", address, endpoint.port())
                                    : fmt::format("{}:{}", address, endpoint.port());
}

}  // namespace exa
