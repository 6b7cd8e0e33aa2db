#include "server/forwarded.h"

#include <algorithm>

#include <boost/asio/ip/address.hpp>
#include <fmt/format.h>

#include "base/text.h"

namespace exa {
namespace {

namespace ip = boost::asio::ip;

constexpr unsigned short kMappedBits = 96;  // before an IPv4 address in its mapped form

std::optional<ip::address_v6> address_of(std::string_view text) {
  boost::system::error_code error;
  const ip::address address = ip::make_address(std::string(text), error);
  if (error) return std::nullopt;
  return address.is_v4() ? ip::make_address_v6(ip::v4_mapped, address.to_v4()) : address.to_v6();
}

// The address of "192.0.2.7:41234", "2001:db8::1:41234" (as the log has it), "[2001:db8::1]:443".
std::string_view without_port(std::string_view peer) {
  if (peer.starts_with('[')) return peer.substr(1, std::min(peer.find(']'), peer.size()) - 1);
  return peer.substr(0, peer.rfind(':'));
}

bool is_trusted(const ip::address_v6& address, std::span<const AddressRange> trusted) {
  return std::ranges::any_of(trusted, [&](const AddressRange& one) {
    return ip::network_v6(address, one.range.prefix_length()).network() == one.range.network();
  });
}

}  // namespace

Result<AddressRange> parse_address_range(std::string_view text) {
  const size_t slash = text.find('/');
  const auto address = address_of(text.substr(0, slash));
  const bool is_v4 = address && text.find(':') == std::string_view::npos;
  int64_t bits = is_v4 ? 32 : 128;
  if (slash != std::string_view::npos) {
    const int64_t most = bits;
    bits = -1;
    const std::string_view digits = text.substr(slash + 1);
    if (!digits.empty() && digits.size() <= 3 &&
        std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; })) {
      bits = 0;
      for (const char c : digits) bits = bits * 10 + (c - '0');
      if (bits > most) bits = -1;
    }
  }
  if (!address || bits < 0) {
    return fail(Code::invalid_input,
                fmt::format("\"{}\" is no range of addresses; write 10.0.0.0/8, 2001:db8::/32 or "
                            "one address",
                            printable(text)));
  }
  const auto prefix = static_cast<unsigned short>(bits + (is_v4 ? kMappedBits : 0));
  return AddressRange{ip::network_v6(*address, prefix).canonical()};
}

std::string client_behind(std::string_view peer, std::string_view forwarded_for,
                          std::span<const AddressRange> trusted) {
  if (trusted.empty() || forwarded_for.empty()) return std::string(peer);
  const auto proxy = address_of(without_port(peer));
  if (!proxy || !is_trusted(*proxy, trusted)) return std::string(peer);
  std::string client(peer);
  const auto hops = split(forwarded_for, ',');
  for (auto hop = hops.rbegin(); hop != hops.rend(); ++hop) {
    const std::string_view text = trim(*hop);
    auto address = address_of(text);
    if (!address) address = address_of(without_port(text));
    if (!address) break;  // no address: what stands before it is nobody's word
    // the port at the proxy is not the client's
    const bool v4 = address->is_v4_mapped();
    client = fmt::format("{}:0", v4 ? ip::make_address_v4(ip::v4_mapped, *address).to_string()
                                    : address->to_string());
    if (!is_trusted(*address, trusted)) break;
  }
  return client;
}

}  // namespace exa
