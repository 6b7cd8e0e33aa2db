#include "server/application.h"

#include <future>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "api/openapi.h"
#include "server/change_lane.h"
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
  Result<void> together(Parts parts) override {
    ++shared;
    const Result<void> kept = inner_->together(parts);
    if (kept && full) return fail(Code::store_full, "the disk is full");
    return kept;
  }
  Result<std::unique_ptr<Ownership>> try_own(const std::string& name) override {
    return inner_->try_own(name);
  }
  std::string describe() const override { return inner_->describe(); }
  bool only_writer() const override { return true; }

  std::atomic<int> reads = 0;
  std::atomic<bool> throws = false;
  std::atomic<int> shared = 0;     // commits that many parts had a share in
  std::atomic<bool> full = false;  // those commits fail

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

TEST_F(ApplicationTest, OnlySmallChangesShareACommit) {
  const auto small = [](std::string target, std::string method) {
    return Application::is_small_change(over_socket(std::move(target), std::move(method)));
  };
  EXPECT_TRUE(small("/api/v1/projects/vision", "POST"));
  EXPECT_FALSE(small("/api/v1/projects", "GET"));
  EXPECT_FALSE(small("/api/v1/projects/vision?dry_run=true", "POST"));
  EXPECT_FALSE(small("/api/v1/backups", "POST"));      // long
  EXPECT_FALSE(small("/api/v1/users/grace", "POST"));  // a password is hashed
  EXPECT_FALSE(small("/api/v1/simulations", "POST"));  // it changes nothing
  EXPECT_FALSE(small("/api/v1/nothing", "POST"));
  EXPECT_FALSE(small("/api/v1/projects/vision", "BREW"));
}

// What waits while the lane is busy is answered together.
class Lane : public ApplicationTest {
 protected:
  // Statuses of creating these projects, all taken while the lane works on another.
  std::vector<int> create(const std::vector<std::string>& names) {
    std::promise<void> all_wait;
    std::vector<std::promise<int>> answers(names.size() + 1);
    std::vector<Incoming> incoming;
    incoming.push_back(over_socket("/api/v1/projects/first-" + names[0], "POST"));
    for (const std::string& name : names)
      incoming.push_back(over_socket("/api/v1/projects/" + name, "POST"));
    ChangeLane lane(application);
    for (size_t i = 0; i < incoming.size(); ++i) {
      lane.take(incoming[i], [&, i](const Outgoing& answer) {
        if (i == 0) all_wait.get_future().wait();
        answers[i].set_value(answer.status);
      });
    }
    all_wait.set_value();
    std::vector<int> statuses;
    for (auto& answer : answers) statuses.push_back(answer.get_future().get());
    return {statuses.begin() + 1, statuses.end()};
  }
  bool is_there(const std::string& name) {
    return application.answer(over_socket("/api/v1/projects")).body->find('"' + name + '"') !=
           std::string::npos;
  }
};

TEST_F(Lane, EachChangeGetsItsOwnAnswer) {
  EXPECT_THAT(create({"a", "b", "a", "Bad Name", "c"}),
              testing::ElementsAre(201, 201, 409, 400, 201));
  EXPECT_GE(store.shared, 1);
  for (const char* name : {"a", "b", "c"}) EXPECT_TRUE(is_there(name)) << name;
}

TEST_F(Lane, WhatCouldNotBeKeptIsNotAnsweredAsDone) {
  store.full = true;
  for (const int status : create({"a", "b"})) EXPECT_EQ(status, info(Code::store_full).http_status);
}

}  // namespace
}  // namespace exa
