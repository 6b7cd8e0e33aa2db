#include "server/cookies.h"

#include <gtest/gtest.h>

#include "server/session_pages.h"

namespace exa {
namespace {

TEST(Cookies, FindsOneAmongOthers) {
  EXPECT_EQ(cookie_named("exa_session=abc", "exa_session"), "abc");
  EXPECT_EQ(cookie_named("a=1; exa_session=abc; b=2", "exa_session"), "abc");
  EXPECT_EQ(cookie_named("a=1;exa_session=abc", "exa_session"), "abc");
  for (const char* header :
       {"", "exa_session", "xexa_session=abc", "exa_sessions=abc", "a=exa_session=x"})
    EXPECT_EQ(cookie_named(header, "exa_session"), "") << header;
}

TEST(Cookies, OverTlsTheyAreBoundToTheHost) {
  EXPECT_EQ(set_cookie("exa_session", "abc", hours(12), true),
            "__Host-exa_session=abc; Path=/; Max-Age=43200; HttpOnly; SameSite=Lax; Secure");
  EXPECT_EQ(set_cookie("exa_session", "abc", hours(12), false),
            "exa_session=abc; Path=/; Max-Age=43200; HttpOnly; SameSite=Lax");
  EXPECT_EQ(drop_cookie("exa_session", true),
            "__Host-exa_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure");
}

TEST(Cookies, APlantedPlainOneIsNoSessionOverTls) {
  EXPECT_EQ(session_in("exa_session=planted", true), "");
  EXPECT_EQ(session_in("exa_session=planted; __Host-exa_session=own", true), "own");
  EXPECT_EQ(session_in("exa_session=abc", false), "abc");
}

}  // namespace
}  // namespace exa
