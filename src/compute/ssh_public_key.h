// One public key as OpenSSH writes it: "ssh-ed25519 AAAA… comment". Pure.
#pragma once

#include <string>
#include <string_view>

namespace exa {

struct SshKeyVerdict {
  std::string problem;     // why it is no public key; empty: it is one. Never holds the key
  std::string suggestion;  // what would be right
  std::string warning;     // it is one for the eye only: cut off with "…", as in an example

  bool operator==(const SshKeyVerdict&) const = default;
};

SshKeyVerdict judge_ssh_public_key(std::string_view line);

}  // namespace exa
