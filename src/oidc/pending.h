// A sign-in that began in a browser and has not come back yet. The browser keeps it, in a cookie
// that only this installation can read and make, so that nothing is kept here for everybody who
// only knocks, and any replica can go on with it. Thread-safe.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace exa {

struct PendingSignIn {
  std::string state;
  std::string nonce;
  std::string verifier;  // of PKCE
  std::string next;      // where the browser goes then
  Time until;

  bool operator==(const PendingSignIn&) const = default;
};
inline constexpr Duration kPendingLongest = minutes(10);

class PendingSeal {
 public:
  // The key is derived from the client secret, which all replicas share, slowly (Argon2id): the
  // cookie is in everybody's hands, and must be no way to guess a secret that a person made up.
  PendingSeal(std::string_view client_secret, std::string_view issuer, std::string_view client_id);
  ~PendingSeal();
  PendingSeal(const PendingSeal&) = delete;
  PendingSeal& operator=(const PendingSeal&) = delete;

  std::string seal(const PendingSignIn& pending) const;
  // nullopt: not made here, altered, or over.
  std::optional<PendingSignIn> open(std::string_view sealed, Time now) const;

 private:
  std::array<unsigned char, 32> key_{};
};

}  // namespace exa
