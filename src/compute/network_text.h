// Addresses, networks and host names as people write them. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace exa {

struct IpAddress {
  std::array<uint8_t, 16> bytes{};  // of IPv4 the first four
  bool is_v6 = false;

  bool operator==(const IpAddress&) const = default;
};

// "10.10.189.24", "2001:db8::1"; no zone, no brackets, no leading zeros.
std::optional<IpAddress> parse_ip_address(std::string_view text);
std::string format_ip_address(const IpAddress& address);

struct IpNetwork {
  IpAddress address;
  int prefix = 0;

  bool operator==(const IpNetwork&) const = default;
};

// "192.168.1.0/24": the bits behind the prefix may be set; see lowest_of.
std::optional<IpNetwork> parse_ip_network(std::string_view text);
// The network that the address lies in: every bit behind the prefix is 0.
IpNetwork lowest_of(const IpNetwork& network);
std::string format_ip_network(const IpNetwork& network);

// RFC 1123: parts of at most 63 letters, digits and '-'; at most 253 characters. What ends in a
// number is no name, so that a wrong address is not taken for one.
bool is_host_name(std::string_view text);

}  // namespace exa
