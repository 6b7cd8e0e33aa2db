// Whether an ID token (OpenID Connect Core 1.0 §3.1.3.7) says what it must, by whom and to whom.
// Pure, thread-safe. Errors are `unauthenticated` and name the rule that was broken, never the
// token.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/time.h"

namespace exa {

// Signatures by key pairs alone. "none" and the HS… family, whose key would be one that others
// know, have no name here.
enum class JwsAlgorithm { rs256, es256, eddsa };
// "RS256,ES256"; invalid_input names what is unknown.
Result<std::vector<JwsAlgorithm>> parse_jws_algorithms(std::string_view text);

// The provider's public keys: its JWKS document (RFC 7517), checked to be one. Keys of kinds that
// are not used here are carried and ignored.
struct JwkSet {
  std::vector<json::object> keys;
};
Result<JwkSet> jwk_set_in(const json::object& document);

// What a token must say.
struct IdTokenRules {
  std::string issuer;
  std::string client_id;
  std::string nonce;
  std::vector<JwsAlgorithm> algorithms;  // whatever the token's header says
};
inline constexpr Duration kClockSkew = seconds(60);

// The token's `kid`: which key to ask for; empty when it names none. The token is not verified.
Result<std::string> key_id_of(std::string_view token);
// Whether a key of that name is there; any key, when no name is given.
bool has_key(const JwkSet& keys, std::string_view key_id);

// The claims of a token that was signed by one of `keys` and says what `rules` want at `now`.
Result<json::object> verify_id_token(std::string_view token, const JwkSet& keys,
                                     const IdTokenRules& rules, Time now);

// iss, aud, azp, exp, iat, nbf, nonce, sub.
Result<void> check_claims(const json::object& claims, const IdTokenRules& rules, Time now);

}  // namespace exa
