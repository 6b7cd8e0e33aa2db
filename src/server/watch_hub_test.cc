#include "server/watch_hub.h"

#include <atomic>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/testing.h"

namespace exa {
namespace {

using testing::HasSubstr;
using testing::Not;

class KeptSink final : public EventSink {
 public:
  bool send(std::shared_ptr<const std::string> bytes) override {
    const std::lock_guard lock(mutex_);
    text_ += *bytes;
    return !ended_;
  }
  void end() override { ended_ = true; }
  bool ended() const { return ended_; }
  std::string text() const {
    const std::lock_guard lock(mutex_);
    return text_;
  }
  // Whether it comes to be so; a busy machine may take its time.
  template <typename Holds>
  static bool soon(Holds holds) {
    for (int i = 0; i < 3000; ++i) {
      if (holds()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }
  bool comes_to_hold(std::string_view what) const {
    return soon([&] { return text().find(what) != std::string::npos; });
  }

 private:
  mutable std::mutex mutex_;
  std::string text_;
  std::atomic<bool> ended_ = false;
};

class WatchHubTest : public testing::Test {
 protected:
  WatchHubTest() {
    hub.start([](const std::string& why) { ADD_FAILURE() << why; });
  }
  ~WatchHubTest() override { hub.stop(); }

  std::shared_ptr<KeptSink> watch(int64_t since, WatchHub::WhoIsIt who) {
    auto sink = std::make_shared<KeptSink>();
    EXPECT_TRUE(hub.watch(sink, since, std::move(who)));
    return sink;
  }
  WatchHub::WhoIsIt owner() {
    return [this]() -> Result<Principal> { return exa.principal; };
  }

  TestExa exa;
  WatchHub hub{exa.service()};
};

TEST_F(WatchHubTest, WhoeverComesIsToldWhatTheyMissedAndWhatFollows) {
  exa.ask("project.create", {{"name", "vision"}});
  const auto all = watch(0, owner());
  const auto late = watch(1, owner());
  EXPECT_TRUE(all->comes_to_hold(R"("name":"vision")"));
  exa.ask("project.create", {{"name", "speech"}});
  for (const auto& sink : {all, late})
    EXPECT_TRUE(sink->comes_to_hold("id: 2\nevent: project.create"));
  EXPECT_THAT(late->text(), Not(HasSubstr(R"("name":"vision")")));
}

TEST_F(WatchHubTest, WhoIsNobodyAnyMoreIsEnded) {
  std::atomic<bool> revoked = false;
  const auto sink = watch(0, [&]() -> Result<Principal> {
    if (revoked) return fail(Code::unauthenticated, "revoked");
    return exa.principal;
  });
  EXPECT_FALSE(sink->ended());
  revoked = true;
  EXPECT_TRUE(KeptSink::soon([&] { return sink->ended() && hub.watchers() == 0; }));
}

TEST_F(WatchHubTest, WhoWasNobodyFromTheStartHearsNothingAndIsEnded) {
  exa.ask("project.create", {{"name", "vision"}});
  const auto sink =
      watch(0, []() -> Result<Principal> { return fail(Code::unauthenticated, "nobody"); });
  EXPECT_TRUE(sink->ended());
  EXPECT_EQ(sink->text(), "");
  EXPECT_EQ(hub.watchers(), 0U);
}

TEST_F(WatchHubTest, ARevisionOfAnotherLogEndsTheStream) {
  const auto sink = watch(1000, owner());
  EXPECT_TRUE(KeptSink::soon([&] { return sink->ended(); }));
}

TEST_F(WatchHubTest, StoppingEndsEveryStreamAndTakesNoOther) {
  const auto sink = watch(0, owner());
  hub.stop();
  EXPECT_TRUE(sink->ended());
  EXPECT_FALSE(hub.watch(std::make_shared<KeptSink>(), 0, owner()));
}

TEST_F(WatchHubTest, WhoComesDoesNotWaitForWhoIsAskedWhoTheyAre) {
  std::atomic<int> asked = 0;
  std::atomic<bool> go_on = false;
  const auto slow = watch(0, [&]() -> Result<Principal> {
    if (++asked > 1)
      while (!go_on) std::this_thread::yield();
    return exa.principal;
  });
  EXPECT_TRUE(KeptSink::soon([&] { return asked > 1; }));
  const auto other = watch(0, owner());
  EXPECT_EQ(hub.watchers(), 2U);
  go_on = true;
  EXPECT_FALSE(slow->ended());
  hub.stop();  // before what it asks goes out of scope
}

}  // namespace
}  // namespace exa
