#include "server/webhook.h"

#include <gtest/gtest.h>

#include "audit/hmac.h"

namespace exa {
namespace {

// RFC 4231, test case 2.
TEST(WebhookSignature, IsAnHmacOverTimeAndBody) {
  EXPECT_EQ(hmac_sha256_hex("Jefe", "what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  const Secret secret("shared");
  EXPECT_EQ(webhook_signature(secret, 7, "{}"), "t=7,v1=" + hmac_sha256_hex("shared", "7.{}"));
  EXPECT_NE(webhook_signature(secret, 8, "{}").substr(4),
            webhook_signature(secret, 7, "{}").substr(4));
}

}  // namespace
}  // namespace exa
