#include "oidc/id_token.h"

#include <algorithm>
#include <memory>

#include <cjose/jwk.h>
#include <cjose/jws.h>
#include <fmt/format.h>

#include "audit/key.h"
#include "base/encoding.h"
#include "base/text.h"
#include "oidc/proof.h"

namespace exa {
namespace {

constexpr size_t kLongestToken = size_t{64} << 10;
constexpr size_t kSmallestModulus = 256;  // bytes: 2048 bits (RFC 7518 §3.3)

struct AlgorithmRow {
  JwsAlgorithm algorithm;
  std::string_view name;
  std::string_view key_type;
  std::string_view curve;  // empty: it has none
};
constexpr AlgorithmRow kAlgorithms[] = {
    {JwsAlgorithm::rs256, "RS256", "RSA", ""},
    {JwsAlgorithm::es256, "ES256", "EC", "P-256"},
    {JwsAlgorithm::eddsa, "EdDSA", "OKP", "Ed25519"},
};

Failure refused(std::string why) {
  return fail(Code::unauthenticated, std::move(why));
}

struct Parts {
  json::object header;
  std::string payload;
  std::string signature;
  std::string_view signed_text;
};

Result<json::object> parse_object(const std::string& text, std::string_view what) {
  auto value = parse_json(text, what);
  if (!value || !value->is_object()) return refused(fmt::format("the {} is no JSON object", what));
  return std::move(value->as_object());
}

Result<Parts> take_apart(std::string_view token) {
  const auto pieces = split(token, '.');
  if (token.size() > kLongestToken || pieces.size() != 3)
    return refused("the ID token is no signed JWT");
  const auto header = decode_base64url(pieces[0]);
  auto payload = decode_base64url(pieces[1]);
  auto signature = decode_base64url(pieces[2]);
  if (!header || !payload || !signature) return refused("the ID token is no signed JWT");
  Parts parts;
  EXA_ASSIGN(parts.header, parse_object(*header, "ID token's header"));
  parts.payload = *std::move(payload);
  parts.signature = *std::move(signature);
  parts.signed_text = token.substr(0, pieces[0].size() + 1 + pieces[1].size());
  return parts;
}

// The row of what the header says, if that is allowed.
Result<const AlgorithmRow*> algorithm_of(const json::object& header,
                                         const std::vector<JwsAlgorithm>& allowed) {
  const std::string_view said = text_or(header, "alg", "");
  for (const AlgorithmRow& row : kAlgorithms)
    if (row.name == said && std::ranges::find(allowed, row.algorithm) != allowed.end()) return &row;
  return refused(fmt::format("the ID token is signed with \"{}\", which is not allowed here",
                             printable(said.substr(0, 32))));
}

bool serves(const json::object& key, const AlgorithmRow& row, std::string_view key_id) {
  if (!key_id.empty() && text_or(key, "kid", "") != key_id) return false;
  if (text_or(key, "kty", "") != row.key_type || text_or(key, "crv", "") != row.curve) return false;
  if (text_or(key, "use", "sig") != "sig" || text_or(key, "alg", row.name) != row.name)
    return false;
  if (row.algorithm != JwsAlgorithm::rs256) return true;
  const auto modulus = decode_base64url(text_or(key, "n", ""));
  return modulus && modulus->size() >= kSmallestModulus;
}

// libcjose has no EdDSA; the audit log's verifier is the same signature.
bool ed25519_holds(const json::object& key, const Parts& parts) {
  const auto bytes = decode_base64url(text_or(key, "x", ""));
  PublicKey verifier;
  if (!bytes || bytes->size() != verifier.bytes.size()) return false;
  std::ranges::copy(*bytes, verifier.bytes.begin());
  const auto* signature = reinterpret_cast<const uint8_t*>(parts.signature.data());
  return verify_signature(verifier, parts.signed_text, {signature, parts.signature.size()});
}

// The header was held against the list and the key against the header before libcjose, which goes
// by the header, sees either. Only public members reach it.
bool cjose_holds(const json::object& key, std::string_view token) {
  json::object bare;
  for (const std::string_view member : {"kty", "n", "e", "crv", "x", "y"})
    if (const auto* value = find(key, member)) bare[member] = *value;
  const std::string text = to_text(bare);
  cjose_err error{};
  const std::unique_ptr<cjose_jwk_t, decltype([](cjose_jwk_t* held) { cjose_jwk_release(held); })>
      jwk(cjose_jwk_import(text.data(), text.size(), &error));
  const std::unique_ptr<cjose_jws_t, decltype([](cjose_jws_t* held) { cjose_jws_release(held); })>
      jws(cjose_jws_import(token.data(), token.size(), &error));
  return jwk && jws && cjose_jws_verify(jws.get(), jwk.get(), &error);
}

std::optional<Time> time_claim(const json::object& claims, std::string_view name) {
  const json::value* value = find(claims, name);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  boost::system::error_code error;
  double seconds_since = value->to_number<double>(error);
  if (error || !(seconds_since >= 0 && seconds_since < 1e11)) return std::nullopt;
  return Time{static_cast<int64_t>(seconds_since * 1e6)};
}

Result<void> check_audience(const json::object& claims, const IdTokenRules& rules) {
  const json::value* audience = find(claims, "aud");
  std::vector<std::string_view> names;
  if (audience != nullptr && audience->is_string()) {
    names.emplace_back(audience->get_string());
  } else if (audience != nullptr && audience->is_array()) {
    for (const json::value& one : audience->get_array())
      names.emplace_back(one.is_string() ? std::string_view(one.get_string()) : "");
  }
  if (std::ranges::find(names, rules.client_id) == names.end())
    return refused("the ID token is for another client (aud)");
  const json::value* party = find(claims, "azp");
  if (party == nullptr && names.size() == 1) return {};
  if (party == nullptr || !party->is_string() || party->get_string() != rules.client_id)
    return refused("the ID token was handed to another client (azp)");
  return {};
}

Result<void> check_times(const json::object& claims, Time now) {
  const auto expires = time_claim(claims, "exp");
  const auto issued = time_claim(claims, "iat");
  if (!expires || !issued) return refused("the ID token does not say for how long it holds");
  if (*expires + kClockSkew <= now)
    return refused("the ID token has expired, or this machine's clock is ahead");
  if (now + kClockSkew < *issued)
    return refused("the ID token is from the future, or this machine's clock is behind (iat)");
  if (find(claims, "nbf") == nullptr) return {};
  const auto begins = time_claim(claims, "nbf");
  if (!begins || now + kClockSkew < *begins) return refused("the ID token does not hold yet (nbf)");
  return {};
}

}  // namespace

Result<std::vector<JwsAlgorithm>> parse_jws_algorithms(std::string_view text) {
  std::vector<JwsAlgorithm> algorithms;
  std::vector<Problem> problems;
  for (const std::string_view part : split(text, ',')) {
    const std::string_view wanted = trim(part);
    const auto* row = std::ranges::find(kAlgorithms, wanted, &AlgorithmRow::name);
    if (row != std::end(kAlgorithms))
      algorithms.push_back(row->algorithm);
    else
      problems.push_back(
          {"", fmt::format("\"{}\" is none of RS256, ES256, EdDSA", printable(wanted)), ""});
  }
  if (!problems.empty()) return fail(invalid("the list of algorithms", std::move(problems)));
  return algorithms;
}

Result<JwkSet> jwk_set_in(const json::object& document) {
  const json::value* keys = find(document, "keys");
  if (keys == nullptr || !keys->is_array())
    return fail(Code::probe_failed, "the provider's keys are no JWK set");
  JwkSet set;
  for (const json::value& key : keys->get_array())
    if (key.is_object()) set.keys.push_back(key.get_object());
  return set;
}

Result<std::string> key_id_of(std::string_view token) {
  EXA_ASSIGN(const Parts parts, take_apart(token));
  return std::string(text_or(parts.header, "kid", ""));
}

bool has_key(const JwkSet& keys, std::string_view key_id) {
  return std::ranges::any_of(keys.keys, [&](const json::object& key) {
    return key_id.empty() || text_or(key, "kid", "") == key_id;
  });
}

Result<json::object> verify_id_token(std::string_view token, const JwkSet& keys,
                                     const IdTokenRules& rules, Time now) {
  EXA_ASSIGN(const Parts parts, take_apart(token));
  if (find(parts.header, "crit") != nullptr)
    return refused("the ID token wants an extension that is not known here (crit)");
  EXA_ASSIGN(const AlgorithmRow* const row, algorithm_of(parts.header, rules.algorithms));
  const std::string_view key_id = text_or(parts.header, "kid", "");
  const bool holds = std::ranges::any_of(keys.keys, [&](const json::object& key) {
    if (!serves(key, *row, key_id)) return false;
    return row->algorithm == JwsAlgorithm::eddsa ? ed25519_holds(key, parts)
                                                 : cjose_holds(key, token);
  });
  if (!holds) return refused("the ID token was not signed by a key of the provider");
  EXA_ASSIGN(json::object claims, parse_object(parts.payload, "ID token"));
  EXA_TRY(check_claims(claims, rules, now));
  return claims;
}

Result<void> check_claims(const json::object& claims, const IdTokenRules& rules, Time now) {
  if (text_or(claims, "iss", "") != rules.issuer)
    return refused("the ID token is by another issuer (iss)");
  EXA_TRY(check_audience(claims, rules));
  EXA_TRY(check_times(claims, now));
  if (rules.nonce.empty() || text_or(claims, "nonce", "") != rules.nonce)
    return refused("the ID token belongs to another sign-in (nonce)");
  const std::string_view subject = text_or(claims, "sub", "");
  if (subject.empty() || subject.size() > 255) return refused("the ID token names nobody (sub)");
  return {};
}

}  // namespace exa
