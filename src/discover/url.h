// Addresses of servers. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace exa {

struct Url {
  std::string scheme;  // http or https
  std::string host;    // without brackets
  std::string port;    // empty: the scheme's
  std::string rest;    // from the first / on
};

// nullopt: no http:// or https:// address, or one with a user name, a blank or a control character.
std::optional<Url> split_url(std::string_view text);

// An IPv4 address of 127/8, ::1 or exactly "localhost". A name that only begins so is somebody
// else's.
bool is_this_machine(const Url& url);

// Whether what is sent there can be read on no wire: https, or http to this machine.
bool may_carry_secrets(std::string_view url);

}  // namespace exa
