#include "cli/login.h"

#include <gtest/gtest.h>

#include "api/testing.h"

namespace exa {
namespace {

Reply who_am_i(TestExa& exa, Principal who) {
  exa.principal = std::move(who);
  return exa.call("auth.status", {});
}

TEST(Login, AServiceAccountSignsInThoughItMayNotAskWhoItIs) {
  TestExa exa;
  Principal bot{"service-account", "ci", "service-account:ci", {}, "", {}};
  bot.rights.verbs = {"hardware_profile:read"};
  bot.rights.verb_projects = {"default"};
  const auto unnamed = owner_of_token(who_am_i(exa, bot));
  ASSERT_TRUE(unnamed) << unnamed.error().message;
  EXPECT_EQ(*unnamed, std::nullopt);

  bot.rights.verbs.insert("self:read");
  const auto named = owner_of_token(who_am_i(exa, bot));
  ASSERT_TRUE(named) << named.error().message;
  EXPECT_EQ(*named, "ci");
}

TEST(Login, ATokenThatIsNotKnownSignsNobodyIn) {
  TestExa exa;
  const auto nobody = owner_of_token(who_am_i(exa, {}));
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error().code, Code::unauthenticated);
}

// A proxy's page is no word of the server's.
TEST(Login, ARefusalThatIsNotTheServersSignsNobodyIn) {
  Reply page;
  page.status = 403;
  page.body = "<html>403 Forbidden</html>";
  EXPECT_FALSE(owner_of_token(page));
}

}  // namespace
}  // namespace exa
