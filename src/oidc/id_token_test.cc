#include "oidc/id_token.h"

#include <functional>

#include <cjose/header.h>
#include <cjose/jwk.h>
#include <cjose/jws.h>
#include <gtest/gtest.h>

#include "audit/key.h"
#include "base/encoding.h"
#include "oidc/proof.h"

namespace exa {
namespace {

const Time kNow{1'700'000'000'000'000};
constexpr int64_t kSecond = 1'700'000'000;

IdTokenRules rules() {
  return {"https://issuer",
          "exa",
          "n1",
          {JwsAlgorithm::rs256, JwsAlgorithm::es256, JwsAlgorithm::eddsa}};
}

json::object claims() {
  return {{"iss", "https://issuer"}, {"aud", "exa"},         {"sub", "248289"},
          {"nonce", "n1"},           {"exp", kSecond + 300}, {"iat", kSecond - 10}};
}

std::string unsigned_text(const json::object& header, const json::object& said) {
  return base64url(to_text(header)) + "." + base64url(to_text(said));
}

// A key pair of libcjose and what it signs.
class Signer {
 public:
  explicit Signer(bool rsa) {
    cjose_err error{};
    jwk_ = rsa ? cjose_jwk_create_RSA_random(2048, nullptr, 0, &error)
               : cjose_jwk_create_EC_random(CJOSE_JWK_EC_P_256, &error);
    cjose_jwk_set_kid(jwk_, "k1", 2, &error);
  }
  ~Signer() { cjose_jwk_release(jwk_); }
  Signer(const Signer&) = delete;
  Signer& operator=(const Signer&) = delete;

  json::object public_key() const {
    cjose_err error{};
    char* text = cjose_jwk_to_json(jwk_, false, &error);
    json::object key = parse_json(text, "key").value().as_object();
    std::free(text);
    return key;
  }
  std::string sign(const char* algorithm, const json::object& said) const {
    cjose_err error{};
    cjose_header_t* header = cjose_header_new(&error);
    cjose_header_set(header, CJOSE_HDR_ALG, algorithm, &error);
    cjose_header_set(header, CJOSE_HDR_KID, "k1", &error);
    const std::string payload = to_text(said);
    cjose_jws_t* jws = cjose_jws_sign(
        jwk_, header, reinterpret_cast<const uint8_t*>(payload.data()), payload.size(), &error);
    const char* text = nullptr;
    EXPECT_TRUE(jws != nullptr && cjose_jws_export(jws, &text, &error));
    std::string token = text;
    cjose_jws_release(jws);
    cjose_header_release(header);
    return token;
  }

 private:
  cjose_jwk_t* jwk_ = nullptr;
};

bool accepts(const std::string& token, const JwkSet& keys, const IdTokenRules& wanted = rules()) {
  return verify_id_token(token, keys, wanted, kNow).has_value();
}

TEST(IdToken, ClaimsMustSayWhatTheyMust) {
  struct Case {
    const char* rule;
    std::function<void(json::object&)> change;
    bool fine;
  };
  const Case cases[] = {
      {"as it is", [](json::object&) {}, true},
      {"another issuer", [](json::object& c) { c["iss"] = "https://issuer/"; }, false},
      {"no issuer", [](json::object& c) { c.erase("iss"); }, false},
      {"another audience", [](json::object& c) { c["aud"] = "other"; }, false},
      {"no audience", [](json::object& c) { c.erase("aud"); }, false},
      {"one of two without azp",
       [](json::object& c) {
         c["aud"] = {"exa", "other"};
       },
       false},
      {"one of two, ours",
       [](json::object& c) {
         c["aud"] = {"exa", "other"};
         c["azp"] = "exa";
       },
       true},
      {"a list of one", [](json::object& c) { c["aud"] = json::array{"exa"}; }, true},
      {"handed to another", [](json::object& c) { c["azp"] = "other"; }, false},
      {"expired within the skew", [](json::object& c) { c["exp"] = kSecond - 59; }, true},
      {"expired", [](json::object& c) { c["exp"] = kSecond - 60; }, false},
      {"for ever", [](json::object& c) { c.erase("exp"); }, false},
      {"expiry as text", [](json::object& c) { c["exp"] = "1800000000"; }, false},
      {"from the near future", [](json::object& c) { c["iat"] = kSecond + 60; }, true},
      {"from the future", [](json::object& c) { c["iat"] = kSecond + 61; }, false},
      {"no iat", [](json::object& c) { c.erase("iat"); }, false},
      {"not yet", [](json::object& c) { c["nbf"] = kSecond + 61; }, false},
      {"another nonce", [](json::object& c) { c["nonce"] = "n2"; }, false},
      {"no nonce", [](json::object& c) { c.erase("nonce"); }, false},
      {"nobody", [](json::object& c) { c["sub"] = ""; }, false},
      {"a number for a subject", [](json::object& c) { c["sub"] = 7; }, false},
  };
  for (const Case& row : cases) {
    json::object said = claims();
    row.change(said);
    EXPECT_EQ(check_claims(said, rules(), kNow).has_value(), row.fine) << row.rule;
  }
}

TEST(IdToken, AnEmptyNonceMatchesNothing) {
  IdTokenRules wanted = rules();
  wanted.nonce = "";
  json::object said = claims();
  said["nonce"] = "";
  EXPECT_FALSE(check_claims(said, wanted, kNow));
}

TEST(IdToken, AGoodSignatureIsAcceptedAndAnAlteredOneNot) {
  for (const bool rsa : {true, false}) {
    const Signer signer(rsa);
    const JwkSet keys{{signer.public_key()}};
    const std::string token = signer.sign(rsa ? "RS256" : "ES256", claims());
    EXPECT_TRUE(accepts(token, keys));
    EXPECT_FALSE(accepts(token, JwkSet{{Signer(rsa).public_key()}}));
    std::string altered = token;
    altered[altered.size() / 2] = altered[altered.size() / 2] == 'A' ? 'B' : 'A';
    EXPECT_FALSE(accepts(altered, keys));
  }
}

TEST(IdToken, Ed25519IsAcceptedAndAnAlteredOneNot) {
  const SigningKey pair = SigningKey::generate("test");
  const auto& bytes = pair.public_key().bytes;
  const JwkSet keys{
      {{{"kty", "OKP"},
        {"crv", "Ed25519"},
        {"x", base64url({reinterpret_cast<const char*>(bytes.data()), bytes.size()})}}}};
  const std::string text = unsigned_text({{"alg", "EdDSA"}}, claims());
  const Signature made = pair.sign(text);
  std::string signature(reinterpret_cast<const char*>(made.data()), made.size());
  EXPECT_TRUE(accepts(text + "." + base64url(signature), keys));
  signature[7] ^= 1;
  EXPECT_FALSE(accepts(text + "." + base64url(signature), keys));
}

TEST(IdToken, TheHeaderDoesNotChooseTheAlgorithm) {
  const Signer signer(true);
  const JwkSet keys{{signer.public_key()}};
  EXPECT_FALSE(accepts(unsigned_text({{"alg", "none"}}, claims()) + ".", keys));
  EXPECT_FALSE(accepts(signer.sign("RS512", claims()), keys));
  EXPECT_FALSE(accepts(signer.sign("PS256", claims()), keys));
  IdTokenRules only_es = rules();
  only_es.algorithms = {JwsAlgorithm::es256};
  EXPECT_FALSE(accepts(signer.sign("RS256", claims()), keys, only_es));
}

TEST(IdToken, APublicKeyIsNoSharedSecret) {
  const Signer signer(true);
  const std::string known = to_text(signer.public_key());
  cjose_err error{};
  cjose_jwk_t* shared = cjose_jwk_create_oct_spec(reinterpret_cast<const uint8_t*>(known.data()),
                                                  known.size(), &error);
  cjose_header_t* header = cjose_header_new(&error);
  cjose_header_set(header, CJOSE_HDR_ALG, "HS256", &error);
  const std::string payload = to_text(claims());
  cjose_jws_t* jws = cjose_jws_sign(
      shared, header, reinterpret_cast<const uint8_t*>(payload.data()), payload.size(), &error);
  const char* text = nullptr;
  ASSERT_TRUE(jws != nullptr && cjose_jws_export(jws, &text, &error));
  EXPECT_FALSE(accepts(text, JwkSet{{signer.public_key()}}));
  cjose_jws_release(jws);
  cjose_header_release(header);
  cjose_jwk_release(shared);
}

TEST(IdToken, KeysForOtherUsesDoNotSign) {
  const Signer signer(true);
  const std::string token = signer.sign("RS256", claims());
  for (const auto& [member, value] : {std::pair("use", "enc"), std::pair("alg", "RS512"),
                                      std::pair("kid", "k2"), std::pair("kty", "EC")}) {
    json::object key = signer.public_key();
    key[member] = value;
    EXPECT_FALSE(accepts(token, JwkSet{{key}})) << member;
  }
}

TEST(IdToken, WhatIsNoTokenIsRefused) {
  for (const char* text : {"", "..", "a.b", "a.b.c", "e30.e30.", "e30.e30.e30.e30", "{}.{}.x"})
    EXPECT_FALSE(accepts(text, {})) << text;
}

TEST(IdToken, OnlyNamedAlgorithmsCanBeAllowed) {
  EXPECT_EQ(parse_jws_algorithms("RS256, EdDSA").value().size(), 2U);
  for (const char* text : {"none", "HS256", "", "RS256,HS256", "rs256"})
    EXPECT_FALSE(parse_jws_algorithms(text)) << text;
}

}  // namespace
}  // namespace exa
