#include "server/door.h"

#include <gtest/gtest.h>

namespace exa {
namespace {

TEST(Door, FindsACookieAmongOthers) {
  EXPECT_EQ(cookie_named("exa_session=abc", "exa_session"), "abc");
  EXPECT_EQ(cookie_named("a=1; exa_session=abc; b=2", "exa_session"), "abc");
  EXPECT_EQ(cookie_named("a=1;exa_session=abc", "exa_session"), "abc");
  for (const char* header :
       {"", "exa_session", "xexa_session=abc", "exa_sessions=abc", "a=exa_session=x"})
    EXPECT_EQ(cookie_named(header, "exa_session"), "") << header;
}

TEST(Door, ABearerIsOfThatSchemeOnly) {
  EXPECT_EQ(bearer_of("Bearer abc"), "abc");
  EXPECT_EQ(bearer_of("bearer  abc "), "abc");
  for (const char* header : {"", "Bearer", "Bearer ", "Basic abc", "Bearerabc"})
    EXPECT_FALSE(bearer_of(header)) << header;
}

}  // namespace
}  // namespace exa
