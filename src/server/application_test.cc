#include "server/application.h"

#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "api/openapi.h"
#include "store/stores_for_test.h"

namespace exa {
namespace {

using testing::HasSubstr;
using testing::Not;

// A store that tells how often it was read, and may throw.
class WatchedStore final : public Store {
 public:
  explicit WatchedStore(const std::filesystem::path& folder)
      : inner_(open_sqlite({.folder = folder, .hold_lock = true}).value()) {}

  Result<void> read(const Work& work) override {
    ++reads;
    if (throws) throw std::runtime_error("the disk is on fire");
    return inner_->read(work);
  }
  Result<void> write(const Work& work, const Committed& committed) override {
    return inner_->write(work, committed);
  }
  Result<void> rehearse(const Work& work) override { return inner_->rehearse(work); }
  Result<std::unique_ptr<Ownership>> try_own(const std::string& name) override {
    return inner_->try_own(name);
  }
  std::string describe() const override { return inner_->describe(); }
  bool only_writer() const override { return true; }

  std::atomic<int> reads = 0;
  std::atomic<bool> throws = false;

 private:
  std::unique_ptr<Store> inner_;
};

class ApplicationTest : public testing::Test {
 protected:
  static Incoming over_socket(std::string target, std::string method = "GET") {
    Incoming incoming;
    incoming.method = std::move(method);
    incoming.target = std::move(target);
    incoming.peer_uid = ::geteuid();
    return incoming;
  }
  static Incoming with_session(std::string target) {
    Incoming incoming;
    incoming.method = "GET";
    incoming.target = std::move(target);
    incoming.cookie = std::string(kSessionCookie) + "=abc";
    return incoming;
  }

  PlaceForStores place{Backend::sqlite};
  WatchedStore store{place.folder()};
  AuditTrail trail{place.folder()};
  Service service{store,
                  trail,
                  {[] { return Time{1'764'500'000'000'000}; }, [] { return std::string("id"); },
                   [](const ClusterAddress&, Progress&) -> Result<Capture> {
                     return fail(Code::probe_failed, "nobody answers");
                   }}};
  Router router{service};
  Door door{service, owner_of_folder("ada", "uid:1000")};
  WatchHub watch{service};
  SessionPages sessions{service, nullptr, ""};
  std::unique_ptr<AccessLog> log = AccessLog::open("").value();
  Metrics metrics;
  OperationRunner operations{service, router};
  Application application{{service, router, door, operations, watch, sessions, *log, metrics}};
};

TEST_F(ApplicationTest, WhatThrowsIsAnsweredAsAProblem) {
  store.throws = true;
  const Outgoing outgoing = application.answer(with_session("/api/v1/projects"));
  EXPECT_EQ(outgoing.status, 500);
  EXPECT_THAT(*outgoing.body, HasSubstr("\"code\": \"unexpected\""));
  EXPECT_THAT(*outgoing.body, Not(HasSubstr("fire"))) << "that is for the log";
  store.throws = false;
  EXPECT_EQ(application.answer(over_socket("/api/v1/projects")).status, 200);
}

TEST_F(ApplicationTest, OnAnEventLoopTheStoreIsNotRead) {
  const int before = store.reads;
  store.throws = true;
  EXPECT_FALSE(application.answer_now(with_session("/api/v1/projects")));
  EXPECT_FALSE(application.answer_now(over_socket("/api/v1/projects")));
  EXPECT_TRUE(application.answer_now(with_session("/healthz")));
  EXPECT_EQ(store.reads, before);
}

TEST_F(ApplicationTest, AnAnswerFromMemorySaysWhoAskedLikeTheFirst) {
  const Outgoing first = application.answer(over_socket("/api/v1/projects"));
  const auto second = application.answer_now(over_socket("/api/v1/projects"));
  ASSERT_TRUE(second);
  EXPECT_EQ(*second->body, *first.body);
  EXPECT_EQ(first.principal, "ada");
  EXPECT_EQ(second->principal, "ada");
  EXPECT_NE(second->request_id, first.request_id);
}

TEST_F(ApplicationTest, WhoWatchesIsNamedInTheLog) {
  const Outgoing outgoing = application.answer(over_socket("/api/v1/watch?since=0"));
  EXPECT_EQ(outgoing.status, 200);
  EXPECT_TRUE(outgoing.stream);
  EXPECT_EQ(outgoing.principal, "ada");
}

TEST_F(ApplicationTest, WhatAWatchAsksForIsCheckedLikeAListOfEvents) {
  EXPECT_EQ(application.answer(over_socket("/api/v1/watch")).status, 200);
  EXPECT_EQ(application.answer(over_socket("/api/v1/watch?since=soon")).status, 422);
  EXPECT_EQ(application.answer(over_socket("/api/v1/watch?nonsense=1")).status, 422);
  EXPECT_EQ(application.answer(over_socket("/api/v1/watch?since=99")).status, 410);
  EXPECT_EQ(application.answer(over_socket("/api/v1/watch", "POST")).status, 405);
  Incoming again = over_socket("/api/v1/watch?since=0");
  again.last_event_id = "99";
  EXPECT_EQ(application.answer(again).status, 410);
}

TEST_F(ApplicationTest, WhoMustSignInIsToldHow) {
  Incoming incoming = with_session("/api/v1/projects");
  const Outgoing outgoing = application.answer(incoming);
  EXPECT_EQ(outgoing.status, 401);
  EXPECT_EQ(std::ranges::count(outgoing.headers, "www-authenticate",
                               [](const auto& header) { return header.first; }),
            1);
}

}  // namespace
}  // namespace exa
