#include "server/webhook.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/testing.h"
#include "audit/hmac.h"
#include "service/webhook_told.h"

namespace exa {
namespace {

using namespace std::chrono_literals;

// What a receiver got, and whether it takes it.
class Receiver {
 public:
  Webhook::Send send() {
    return [this](const HttpRequest& request) -> Result<HttpReply> {
      const std::lock_guard lock(mutex_);
      for (const auto& [name, value] : request.headers)
        if (name == "exa-event") (takes_ ? taken_ : refused_).push_back(std::stoll(value));
      HttpReply reply;
      reply.status = takes_ ? 204 : 503;
      return reply;
    };
  }
  void takes(bool does) {
    const std::lock_guard lock(mutex_);
    takes_ = does;
  }
  std::vector<int64_t> taken() const {
    const std::lock_guard lock(mutex_);
    return taken_;
  }
  std::vector<int64_t> refused() const {
    const std::lock_guard lock(mutex_);
    return refused_;
  }

 private:
  mutable std::mutex mutex_;
  bool takes_ = true;
  std::vector<int64_t> taken_;
  std::vector<int64_t> refused_;
};

template <typename Holds>
bool soon(Holds holds) {
  for (int i = 0; i < 3000; ++i) {
    if (holds()) return true;
    std::this_thread::sleep_for(10ms);
  }
  return false;
}

class WebhookTest : public testing::Test {
 protected:
  WebhookTest() {
    exa.probe = [this]() -> Result<Capture> {
      Capture capture = slurm_capture(exa.now);
      std::string& out = capture.outputs[0].out;
      for (size_t at = 0; other_cards_ && (at = out.find(":h100", at)) != std::string::npos;)
        out.replace(at, 5, ":a100");
      return capture;
    };
    exa.ask("cluster.add", {{"name", "hpc"}, {"kind", "slurm"}});
    exa.ask("cluster.discover", {{"name", "hpc"}});
    exa.ask("hardware_profile.set", eight_h100());
  }

  // The revision of an entry that changes a status.
  int64_t change_status() {
    other_cards_ = !other_cards_;
    exa.now = exa.now + seconds(60);
    exa.ask("cluster.discover", {{"name", "hpc"}});
    return exa.ask("event.list", {}).at("revision").to_number<int64_t>();
  }
  std::unique_ptr<Webhook> started(const std::string& url = "https://example.org/hook") {
    auto webhook = std::make_unique<Webhook>(exa.service(), WebhookTarget{url, Secret("shared")},
                                             receiver.send(), *log, metrics);
    webhook->start([](const std::string& why) { ADD_FAILURE() << why; });
    return webhook;
  }
  // Starts one that was never told and waits until it stands at the end of the log.
  std::unique_ptr<Webhook> started_at_the_end() {
    auto webhook = started();
    EXPECT_TRUE(soon(
        [&] { return told() == exa.ask("event.list", {}).at("revision").to_number<int64_t>(); }));
    return webhook;
  }
  std::optional<int64_t> told() {
    return read_value<std::optional<int64_t>>(
               exa.store(),
               [](Transaction& tx) { return told_up_to(tx, "https://example.org/hook"); })
        .value();
  }

  TestExa exa;
  Receiver receiver;
  std::unique_ptr<AccessLog> log = AccessLog::open("").value();
  Metrics metrics;

 private:
  bool other_cards_ = false;
};

TEST_F(WebhookTest, WhatChangesWhileNobodyTellsIsToldLater) {
  change_status();  // before it was named: not told
  started_at_the_end()->stop();
  const int64_t first = change_status();
  const int64_t second = change_status();
  const auto again = started();
  EXPECT_TRUE(soon([&] { return receiver.taken().size() >= 2; }));
  EXPECT_EQ(receiver.taken(), (std::vector{first, second}));
  EXPECT_TRUE(soon([&] { return told() == second; }));
}

TEST_F(WebhookTest, WhatIsRefusedIsToldAgainAndNothingBeforeIt) {
  receiver.takes(false);
  auto webhook = started_at_the_end();
  const int64_t first = change_status();
  const int64_t second = change_status();
  EXPECT_TRUE(soon([&] { return receiver.refused().size() >= 2; }));
  EXPECT_THAT(metrics.text(), testing::HasSubstr("exa_webhook_failing 1"));
  webhook.reset();
  for (const int64_t refused : receiver.refused()) EXPECT_EQ(refused, first);
  receiver.takes(true);
  webhook = started();
  EXPECT_TRUE(soon([&] { return receiver.taken().size() >= 2; }));
  EXPECT_EQ(receiver.taken(), (std::vector{first, second}));
}

TEST_F(WebhookTest, OneReplicaTellsAndAnotherGoesOnWhereItStood) {
  auto one = started_at_the_end();
  const auto other = started();
  const int64_t first = change_status();
  EXPECT_TRUE(soon([&] { return told() == first; }));
  one.reset();
  const int64_t second = change_status();
  EXPECT_TRUE(soon([&] { return receiver.taken().size() >= 2; }));
  EXPECT_EQ(receiver.taken(), (std::vector{first, second}));
}

TEST_F(WebhookTest, AfterARestoreItGoesOnFromWhereTheLogStands) {
  started_at_the_end()->stop();
  exa.tamper("UPDATE webhook_told SET revision = 1000");
  const auto webhook = started();
  EXPECT_TRUE(soon([&] { return told() < 1000; }));
  const int64_t change = change_status();
  EXPECT_TRUE(soon([&] { return !receiver.taken().empty(); }));
  EXPECT_EQ(receiver.taken(), std::vector{change});
}

TEST_F(WebhookTest, HowFarItCameIsNoBreachOfTheLog) {
  started_at_the_end()->stop();
  EXPECT_TRUE(exa.ask("audit.verify", {}).at("ok").as_bool());
}

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
