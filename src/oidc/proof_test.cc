#include "oidc/proof.h"

#include <random>

#include <gtest/gtest.h>

#include "base/encoding.h"

namespace exa {
namespace {

TEST(Proof, ChallengeIsTheOneOfRfc7636) {
  EXPECT_EQ(code_challenge("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"),
            "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
}

TEST(Proof, RandomTextsHave256BitsAndDiffer) {
  EXPECT_EQ(random_text().size(), 43U);
  EXPECT_NE(random_text(), random_text());
}

TEST(Proof, Base64urlComesBack) {
  const unsigned seed = std::random_device{}();
  std::mt19937 random(seed);
  for (size_t length = 0; length < 300; ++length) {
    std::string bytes(length, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    EXPECT_EQ(decode_base64url(base64url(bytes)), bytes) << "seed " << seed;
  }
  for (const char* bad : {"a", "YQ==", "Y+Q", "Y/Q", "YQ ", "YR"})
    EXPECT_FALSE(decode_base64url(bad)) << bad;
}

TEST(Proof, FormsHideNothingAndBreakNothing) {
  EXPECT_EQ(form_encoded({{"a b", "x&y=z"}, {"c", "/?%"}}), "a%20b=x%26y%3Dz&c=%2F%3F%25");
}

TEST(Proof, NextStaysOnThisSite) {
  for (const char* good : {"/", "/api", "/x?y=1#z", "/%2f%2fevil.example"})
    EXPECT_EQ(path_on_this_site(good, "/else"), good);
  for (const char* bad :
       {"", "//evil.example", "/\\evil.example", "\\\\evil.example", "https://evil.example",
        "javascript:alert(1)", "evil", "/a\r\nset-cookie: x=y", "/\t/evil.example", "/caf\xc3\xa9"})
    EXPECT_EQ(path_on_this_site(bad, "/else"), "/else") << bad;
  EXPECT_EQ(path_on_this_site("/" + std::string(5000, 'a'), "/else"), "/else");
}

}  // namespace
}  // namespace exa
