#include "server/door.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "api/openapi.h"
#include "api/testing.h"
#include "server/cookies.h"
#include "service/sign_in.h"

namespace exa {
namespace {

constexpr const char* kPassword = "correct horse battery";

class DoorTest : public testing::Test {
 protected:
  DoorTest() {
    exa.ask("user.create", {{"name", "grace"}, {"password", kPassword}});
    exa.ask("service_account.create",
            {{"name", "ci"}, {"verbs", {"event:read"}}, {"projects", {"default"}}});
  }

  json::value new_token() { return exa.ask("token.create", {{"name", "t"}, {"for", "ci"}}); }
  static Incoming with(const json::value& token) {
    Incoming incoming;
    incoming.authorization = "Bearer " + std::string(token.at("token").as_string());
    return incoming;
  }
  Incoming in_a_session() {
    const auto session = sign_in(exa.service(), {"grace", SecretText(kPassword), "10.0.0.1", ""});
    EXPECT_TRUE(session) << session.error().message;
    Incoming incoming;
    incoming.cookie =
        fmt::format("{}={}", cookie_name(kSessionCookie, false), session->id.reveal());
    return incoming;
  }
  void pass(Duration time) { exa.now = exa.now + time; }

  TestExa exa;
  Door door{exa.service(), exa.principal};
};

TEST(Bearer, IsOfThatSchemeOnly) {
  EXPECT_EQ(bearer_of("Bearer abc"), "abc");
  EXPECT_EQ(bearer_of("bearer  abc "), "abc");
  for (const char* header : {"", "Bearer", "Bearer ", "Basic abc", "Bearerabc"})
    EXPECT_FALSE(bearer_of(header)) << header;
}

TEST_F(DoorTest, OnlyWhoWasAskedForIsRemembered) {
  const Incoming ci = with(new_token());
  EXPECT_EQ(door.remembered(ci), nullptr);
  ASSERT_TRUE(door.who(ci));
  ASSERT_NE(door.remembered(ci), nullptr);
  EXPECT_EQ(door.remembered(ci)->name, "ci");
  EXPECT_EQ(door.remembered(with(new_token())), nullptr);
}

TEST_F(DoorTest, WithoutCredentialsThereIsNobodyToAskFor) {
  ASSERT_NE(door.remembered(Incoming{}), nullptr);
  EXPECT_FALSE(door.remembered(Incoming{})->signed_in());
  Incoming wrong;
  wrong.authorization = "Basic abc";
  EXPECT_EQ(door.remembered(wrong), nullptr);
  EXPECT_EQ(door.who(wrong).error().code, Code::unauthenticated);
}

TEST_F(DoorTest, TheKernelSaysWhoIsAtTheSocket) {
  Incoming incoming;
  incoming.peer_uid = ::geteuid();
  EXPECT_EQ(door.who(incoming).value()->name, exa.principal.name);
  EXPECT_EQ(door.remembered(incoming)->name, exa.principal.name);
  incoming.peer_uid = ::geteuid() + 1;
  EXPECT_EQ(door.who(incoming).error().code, Code::forbidden);
  EXPECT_EQ(door.remembered(incoming), nullptr);
}

TEST_F(DoorTest, ARevokedTokenIsForgottenAtOnce) {
  const json::value token = new_token();
  ASSERT_TRUE(door.who(with(token)));
  exa.ask("token.revoke", {{"id", token.at("id")}});
  EXPECT_EQ(door.remembered(with(token)), nullptr);
  EXPECT_EQ(door.who(with(token)).error().code, Code::unauthenticated);
}

TEST_F(DoorTest, WhatAnotherReplicaRevokedIsForgottenWithinASecond) {
  const json::value token = new_token();
  ASSERT_TRUE(door.who(with(token)));
  exa.tamper("UPDATE access_token SET revoked_at = 1");
  std::this_thread::sleep_for(std::chrono::milliseconds(1000));
  EXPECT_EQ(door.remembered(with(token)), nullptr);
  EXPECT_FALSE(door.who(with(token)));
}

TEST_F(DoorTest, AnExpiredTokenIsNotRemembered) {
  const Incoming ci = with(new_token());
  ASSERT_TRUE(door.who(ci));
  pass(hours(24 * 30));
  EXPECT_EQ(door.remembered(ci), nullptr);
  EXPECT_EQ(door.who(ci).error().code, Code::unauthenticated);
}

TEST_F(DoorTest, WhoOnlyWatchesKeepsNoSessionAlive) {
  const Incoming browser = in_a_session();
  for (int i = 0; i < 2; ++i) {
    pass(minutes(14));
    EXPECT_TRUE(door.still(browser));
    EXPECT_EQ(door.remembered(browser), nullptr) << "the use that follows would be hidden";
    door.stop();  // what was noted is written
  }
  pass(minutes(2));
  EXPECT_EQ(door.still(browser).error().code, Code::unauthenticated);
}

TEST_F(DoorTest, WhoUsesASessionKeepsItAlive) {
  const Incoming browser = in_a_session();
  for (int i = 0; i < 3; ++i) {
    pass(minutes(29));
    EXPECT_TRUE(door.who(browser));
    door.stop();
    std::this_thread::sleep_for(std::chrono::milliseconds(600));  // it is not remembered any more
  }
}

}  // namespace
}  // namespace exa
