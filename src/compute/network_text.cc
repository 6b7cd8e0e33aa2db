#include "compute/network_text.h"

#include <algorithm>

#include <arpa/inet.h>
#include <fmt/format.h>

#include "base/quantity.h"
#include "base/text.h"

namespace exa {
namespace {

constexpr size_t kLongestPart = 63;
constexpr size_t kLongestName = 253;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_name_character(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
}

bool is_name_part(std::string_view part) {
  return !part.empty() && part.size() <= kLongestPart && part.front() != '-' &&
         part.back() != '-' && std::ranges::all_of(part, is_name_character);
}

int bits_of(const IpAddress& address) {
  return address.is_v6 ? 128 : 32;
}

}  // namespace

std::optional<IpAddress> parse_ip_address(std::string_view text) {
  const std::string terminated(text);
  IpAddress address;
  if (terminated.find('\0') != std::string::npos) return std::nullopt;
  address.is_v6 = terminated.find(':') != std::string::npos;
  const int family = address.is_v6 ? AF_INET6 : AF_INET;
  if (::inet_pton(family, terminated.c_str(), address.bytes.data()) != 1) return std::nullopt;
  return address;
}

std::string format_ip_address(const IpAddress& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int family = address.is_v6 ? AF_INET6 : AF_INET;
  EXA_ASSERT(::inet_ntop(family, address.bytes.data(), text.data(), text.size()) != nullptr);
  return text.data();
}

std::optional<IpNetwork> parse_ip_network(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto address = parse_ip_address(text.substr(0, slash));
  const auto prefix = parse_count(text.substr(slash + 1), "prefix");
  if (!address || !prefix || *prefix > bits_of(*address)) return std::nullopt;
  return IpNetwork{*address, static_cast<int>(*prefix)};
}

IpNetwork lowest_of(const IpNetwork& network) {
  IpNetwork lowest = network;
  for (int bit = network.prefix; bit < bits_of(network.address); ++bit) {
    uint8_t& byte = lowest.address.bytes.at(static_cast<size_t>(bit) / 8);
    byte = static_cast<uint8_t>(byte & ~(0x80U >> (bit % 8)));
  }
  return lowest;
}

std::string format_ip_network(const IpNetwork& network) {
  return fmt::format("{}/{}", format_ip_address(network.address), network.prefix);
}

bool is_host_name(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, '.');
  return text.size() <= kLongestName && std::ranges::all_of(parts, is_name_part) &&
         !std::ranges::all_of(parts.back(), is_digit);
}

}  // namespace exa
