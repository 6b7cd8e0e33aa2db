#include "oidc/pending.h"

#include <gtest/gtest.h>

namespace exa {
namespace {

const Time kNow{1'000'000'000'000'000};

PendingSignIn pending() {
  return {"state", "nonce", "verifier", "/next?\"x\"", kNow + kPendingLongest};
}

TEST(PendingSeal, ComesBackAndShowsNothing) {
  const PendingSeal seal("secret", "https://issuer", "exa");
  const std::string sealed = seal.seal(pending());
  EXPECT_EQ(sealed.find("state"), std::string::npos);
  EXPECT_EQ(seal.open(sealed, kNow), pending());
  EXPECT_NE(seal.seal(pending()), sealed);
}

TEST(PendingSeal, AnotherReplicaOpensItAndNobodyElse) {
  const std::string sealed = PendingSeal("secret", "https://issuer", "exa").seal(pending());
  EXPECT_TRUE(PendingSeal("secret", "https://issuer", "exa").open(sealed, kNow));
  EXPECT_FALSE(PendingSeal("other", "https://issuer", "exa").open(sealed, kNow));
  EXPECT_FALSE(PendingSeal("secret", "https://other", "exa").open(sealed, kNow));
  EXPECT_FALSE(PendingSeal("secret", "https://issuer", "other").open(sealed, kNow));
}

TEST(PendingSeal, AlteredAnywhereOrOverIsNone) {
  const PendingSeal seal("secret", "https://issuer", "exa");
  const std::string sealed = seal.seal(pending());
  EXPECT_FALSE(seal.open(sealed, kNow + kPendingLongest));
  for (size_t i = 0; i < sealed.size(); ++i) {
    std::string altered = sealed;
    altered[i] = altered[i] == 'A' ? 'B' : 'A';
    EXPECT_FALSE(seal.open(altered, kNow)) << i;
  }
  for (const size_t cut : {0U, 1U, 30U, 60U}) EXPECT_FALSE(seal.open(sealed.substr(0, cut), kNow));
}

}  // namespace
}  // namespace exa
