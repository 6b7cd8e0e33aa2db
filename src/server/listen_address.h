// Where a server listens. Pure.
#pragma once

#include <string>

#include <boost/asio/ip/tcp.hpp>

#include "base/error.h"

namespace exa {

struct ListenAddress {
  boost::asio::ip::tcp::endpoint endpoint;
  bool loopback = false;  // only this machine can reach it
};

// "127.0.0.1:8480", "[::1]:8480", "0.0.0.0:443", ":8480" (every address). Names are not resolved: a
// name that moves would move who can connect. Port 0 picks a free one.
Result<ListenAddress> parse_listen_address(std::string_view text);

std::string format_endpoint(const boost::asio::ip::tcp::endpoint& endpoint);

}  // namespace exa
