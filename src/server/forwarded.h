// Who is behind a proxy: read from X-Forwarded-For, and only as far as proxies that the operator
// trusts say so. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/ip/network_v4.hpp>
#include <boost/asio/ip/network_v6.hpp>

#include "base/error.h"

namespace exa {

struct AddressRange {
  boost::asio::ip::network_v6 range;  // IPv4 as its mapped form (RFC 4291, 2.5.5.2)
};

// "10.0.0.0/8", "2001:db8::/32", or one address. invalid_input for anything else.
Result<AddressRange> parse_address_range(std::string_view text);

// `peer` ("192.0.2.7:41234") as the log and the limits shall know it. Each proxy appends whom it
// heard from, so the header is read from its end: the last address that is not of a trusted proxy
// is the client; what stands before it anybody can have written. A peer that is no trusted proxy is
// the client itself, whatever the header says.
std::string client_behind(std::string_view peer, std::string_view forwarded_for,
                          std::span<const AddressRange> trusted);

}  // namespace exa
