#include "server/operation_runner.h"

#include <chrono>
#include <future>

#include <gtest/gtest.h>

#include "api/testing.h"

namespace exa {
namespace {

using std::chrono::milliseconds;

// A cluster whose answers take as long as the test wants.
class Runner : public testing::Test {
 protected:
  Runner() {
    exa_.ask("cluster.add", {{"name", "hpc"}, {"kind", "slurm"}});
    exa_.ask("cluster.add", {{"name", "lab"}, {"kind", "slurm"}});
    exa_.ask("cluster.add", {{"name", "old"}, {"kind", "slurm"}});
  }

  // Asks `looks` times whether it is still wanted, then answers.
  void answer_after(int looks) {
    exa_.probe_with = [this, looks](Progress& progress) -> Result<Capture> {
      for (int i = 0; i < looks && !release_; ++i) {
        EXA_TRY(progress.step("questions", i, 0));
        std::this_thread::sleep_for(milliseconds(2));
      }
      return slurm_capture(exa_.now);
    };
  }

  Reply begin(const char* cluster, const std::string& key = "") {
    Request request = build_request(*find_route("cluster.discover"), {{"name", cluster}});
    request.principal = exa_.principal;
    request.origin = "test:1";
    request.idempotency_key = key;
    return runner_.begin(request);
  }
  static std::string id_of(const Reply& reply) {
    return std::string(parse_json(reply.body, "reply")->at("id").as_string());
  }
  json::value ended(const std::string& id) {
    for (int i = 0; i < 5000; ++i) {
      const json::value operation = exa_.ask("operation.show", {{"id", id}});
      if (operation.at("state") != "queued" && operation.at("state") != "running") return operation;
      std::this_thread::sleep_for(milliseconds(2));
    }
    ADD_FAILURE() << id << " does not end";
    return {};
  }

  TestExa exa_;
  std::atomic<bool> release_ = false;
  Router router_{exa_.service()};
  OperationRunner runner_{exa_.service(), router_};
};

TEST_F(Runner, AnswersAtOnceAndKeepsTheAnswerForLater) {
  ASSERT_TRUE(runner_.start());
  answer_after(20);
  const Reply reply = begin("hpc");
  EXPECT_EQ(reply.status, 202);
  EXPECT_EQ(reply.location, "/api/v1/operations/" + id_of(reply));
  const json::value operation = ended(id_of(reply));
  EXPECT_EQ(operation.at("state"), "done");
  EXPECT_EQ(operation.at("answer").at("body").at("snapshot"),
            exa_.ask("cluster.show", {{"name", "hpc"}}).at("snapshot"));
}

TEST_F(Runner, RefusesAtOnceWhatItWouldRefuseLater) {
  ASSERT_TRUE(runner_.start());
  exa_.principal = {"user", "eve", "user:eve", {}, "", {}};
  EXPECT_EQ(begin("hpc").status, 403);
  exa_.principal = {};
  EXPECT_EQ(begin("hpc").status, 401);
}

TEST_F(Runner, CancelledWorkEndsAtItsNextStep) {
  ASSERT_TRUE(runner_.start());
  answer_after(1'000'000);
  const std::string id = id_of(begin("hpc"));
  exa_.ask("operation.cancel", {{"id", id}});
  const json::value operation = ended(id);
  EXPECT_EQ(operation.at("state"), "cancelled");
  EXPECT_EQ(operation.at("answer").at("body").at("code"), "interrupted");
}

TEST_F(Runner, DoesTwoAtATimeAndTheThirdWaits) {
  ASSERT_TRUE(runner_.start());
  answer_after(1'000'000);
  const std::string first = id_of(begin("hpc"));
  const std::string second = id_of(begin("lab"));
  const std::string third = id_of(begin("old"));
  for (const std::string& id : {first, second})
    for (int i = 0; i < 5000 && exa_.ask("operation.show", {{"id", id}}).at("state") != "running";
         ++i)
      std::this_thread::sleep_for(milliseconds(2));
  EXPECT_EQ(exa_.ask("operation.show", {{"id", third}}).at("state"), "queued");
  release_ = true;
  for (const std::string& id : {first, second, third}) EXPECT_EQ(ended(id).at("state"), "done");
}

TEST_F(Runner, WhatWaitsIsDoneWithTheRightsThatItsCallerHasThen) {
  exa_.ask("user.create", {{"name", "bob"}, {"role", "platform-admin"}});
  exa_.ask("user.create", {{"name", "eve"}, {"role", "platform-admin"}});
  const Principal owner = exa_.principal;
  const auto as = [](const char* name) {
    Principal who{"user", name, std::string("user:") + name, {}, "", {}};
    who.rights.platform_admin = true;
    return who;
  };
  std::vector<std::string> waiting;
  for (const auto& [name, cluster] : {std::pair("bob", "hpc"), {"eve", "lab"}}) {
    exa_.principal = as(name);
    waiting.push_back(id_of(begin(cluster)));
  }
  exa_.principal = owner;
  exa_.ask("user.role", {{"name", "bob"}, {"none", true}});
  exa_.ask("user.disable", {{"name", "eve"}});
  ASSERT_TRUE(runner_.start());
  EXPECT_EQ(ended(waiting[0]).at("answer").at("body").at("code"), "forbidden");
  EXPECT_EQ(ended(waiting[1]).at("answer").at("body").at("code"), "unauthenticated");
}

TEST_F(Runner, WhatWaitsAndIsCancelledDoesNotWaitForItsTurn) {
  ASSERT_TRUE(runner_.start());
  answer_after(1'000'000);
  begin("hpc");
  begin("lab");
  const std::string third = id_of(begin("old"));
  exa_.ask("operation.cancel", {{"id", third}});
  EXPECT_EQ(ended(third).at("state"), "cancelled");
  release_ = true;
}

TEST_F(Runner, WhatWasGoingOnWhenTheServerStopsIsInterrupted) {
  ASSERT_TRUE(runner_.start());
  answer_after(1'000'000);
  const std::string id = id_of(begin("hpc"));
  runner_.stop();
  const json::value operation = exa_.ask("operation.show", {{"id", id}});
  EXPECT_EQ(operation.at("state"), "interrupted");
  EXPECT_EQ(begin("lab").exit_code, info(Code::unreachable).exit_code);
}

}  // namespace
}  // namespace exa
