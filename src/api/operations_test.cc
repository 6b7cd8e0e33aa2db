// Long work by its record: who sees it, when two are one too many, how it ends.
#include "service/operations.h"

#include <gmock/gmock.h>

#include "api/testing.h"

namespace exa {
namespace {

using testing::HasSubstr;

Principal member(const std::string& name) {
  Principal who{"user", name, "user:" + name, {}, "", {}};
  who.rights.by_project["vision"] = Role::member;
  return who;
}

Caller caller_of(const Principal& who, std::string key = "", std::string digest = "d") {
  Caller caller;
  caller.principal = who;
  caller.idempotency_key = std::move(key);
  caller.request_digest = std::move(digest);
  return caller;
}

const NewOperation kDiscover{"cluster.discover", "/api/v1/clusters/hpc/snapshots",
                             "cluster:discover", true, "worker"};

json::value shown(TestExa& exa, const std::string& id) {
  return exa.ask("operation.show", {{"id", id}});
}

TEST(Operations, AreOfWhoeverAskedForThemAndOfPlatformAdmins) {
  TestExa exa;
  const std::string id = begun_operation(exa, member("grace"));
  exa.principal = member("grace");
  EXPECT_EQ(shown(exa, id).at("state"), "queued");
  exa.principal = member("linus");
  EXPECT_EQ(exa.call("operation.show", {{"id", id}}).status, 404);
  EXPECT_EQ(exa.call("operation.cancel", {{"id", id}}).status, 404);
  EXPECT_TRUE(exa.ask("operation.list", {}).at("items").as_array().empty());
  exa.principal = owner_of_folder("ada", "uid:1000");
  EXPECT_EQ(exa.ask("operation.list", {}).at("items").as_array().size(), 1U);
}

TEST(Operations, AnAnswerIsNotForWhoCouldNotAskForItNow) {
  TestExa exa;
  Principal auditor{"user", "aud", "user:aud", {}, "", {}};
  auditor.rights.auditor = true;
  const std::string id =
      begin_operation(exa.service(), caller_of(auditor),
                      {"audit.verify", "/api/v1/audit/verification", "audit:read", false, "worker"})
          ->id;
  exa.principal = auditor;
  EXPECT_EQ(shown(exa, id).at("route"), "audit.verify");
  exa.principal.rights.auditor = false;  // the role was taken away
  EXPECT_EQ(exa.call("operation.show", {{"id", id}}).status, 404);
  EXPECT_TRUE(exa.ask("operation.list", {}).at("items").as_array().empty());
  exa.principal = owner_of_folder("ada", "uid:1000");
  exa.principal.rights.only_actions = {"operation:read", "user:read"};  // a token that may no more
  EXPECT_EQ(exa.call("operation.show", {{"id", id}}).status, 404);
}

TEST(Operations, NobodyTakesAllThePlaces) {
  TestExa exa;
  const auto begin = [&](const std::string& who, const char* key, bool full) {
    return begin_operation(
        exa.service(), caller_of(member(who), key),
        {"simulation.run", "/api/v1/simulations", "simulation:run", false, "worker"}, full);
  };
  const std::string first = begin("grace", "key-1", false)->id;
  for (int i = 1; i < kMostOperationsOfOne; ++i) EXPECT_TRUE(begin("grace", "", false));
  EXPECT_EQ(begin("grace", "", false).error().code, Code::too_many_requests);
  EXPECT_EQ(begin("grace", "key-1", true)->id, first);  // it was taken before
  for (const auto& [id, live] : exa.service().live_operations().all())
    exa.service().live_operations().end(id);  // the server that did it died
  ASSERT_TRUE(sweep_operations(exa.service()));
  EXPECT_TRUE(begin("grace", "", false));
  EXPECT_TRUE(begin("linus", "", false));
  EXPECT_EQ(begin("linus", "", true).error().code, Code::too_many_requests);
}

TEST(Operations, AnInterruptedOneIsBegunAnewWithItsKey) {
  TestExa exa;
  const auto first = begin_operation(exa.service(), caller_of(exa.principal, "key-1"), kDiscover);
  exa.service().live_operations().end(first->id);  // its process died
  const auto again = begin_operation(exa.service(), caller_of(exa.principal, "key-1"), kDiscover);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(again->fresh);
  EXPECT_NE(again->id, first->id);
}

TEST(Operations, KeepTheAnswerThatTheirRouteWouldHaveGiven) {
  TestExa exa;
  const std::string id = begun_operation(exa, exa.principal);
  exa.service().live_operations().find(id)->at("entries", 3, 9);
  EXPECT_EQ(shown(exa, id).at("progress"),
            (json::value{{"what", "entries"}, {"done", 3}, {"total", 9}}));
  ASSERT_TRUE(end_operation(exa.service(), id,
                            {OperationState::failed, 404, 3, {"a notice"}, R"({"code":"x"})"}));
  const json::value after = shown(exa, id);
  EXPECT_EQ(after.at("state"), "failed");
  EXPECT_EQ(after.at("status"), 404);
  EXPECT_EQ(after.at("answer"), (json::value{{"status", 404},
                                             {"exit_code", 3},
                                             {"notices", json::array{"a notice"}},
                                             {"body", {{"code", "x"}}}}));
  EXPECT_EQ(after.at("progress").at("done"), 3);  // where it was when it ended
}

TEST(Operations, TheSameChangeIsNotMadeTwiceAtATime) {
  TestExa exa;
  const Caller caller = caller_of(exa.principal);
  const auto first = begin_operation(exa.service(), caller, kDiscover);
  ASSERT_TRUE(first);
  const auto second = begin_operation(exa.service(), caller, kDiscover);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::conflict);
  EXPECT_THAT(second.error().next, HasSubstr(first->id));
  NewOperation rehearsal = kDiscover;
  rehearsal.changes = false;
  EXPECT_TRUE(begin_operation(exa.service(), caller, rehearsal));
  ASSERT_TRUE(end_operation(exa.service(), first->id, {.body = "{}"}));
  EXPECT_TRUE(begin_operation(exa.service(), caller, kDiscover));
}

TEST(Operations, AKeyMeansOneOperation) {
  TestExa exa;
  const auto begin = [&](const char* key, const char* digest) {
    return begin_operation(exa.service(), caller_of(exa.principal, key, digest), kDiscover);
  };
  const auto first = begin("key-1", "d");
  ASSERT_TRUE(first);
  EXPECT_TRUE(first->fresh);
  const auto again = begin("key-1", "d");
  ASSERT_TRUE(again);
  EXPECT_FALSE(again->fresh);
  EXPECT_EQ(again->id, first->id);
  EXPECT_EQ(begin("key-1", "another request").error().code, Code::conflict);
  EXPECT_NE(exa.service().live_operations().find(first->id), nullptr);
}

TEST(Operations, ThoseOfADeadServerAreInterruptedAndInNobodysWay) {
  TestExa exa;
  const Caller caller = caller_of(exa.principal);
  const auto left = begin_operation(exa.service(), caller, kDiscover);
  ASSERT_TRUE(left);
  exa.service().live_operations().end(left->id);  // as if another process had been at it
  {
    const auto alive = exa.store().try_own("worker");
    ASSERT_TRUE(alive && *alive);
    EXPECT_EQ(shown(exa, left->id).at("state"), "queued");
    EXPECT_FALSE(begin_operation(exa.service(), caller, kDiscover));
    ASSERT_TRUE(sweep_operations(exa.service()));
  }
  EXPECT_EQ(shown(exa, left->id).at("state"), "interrupted");
  EXPECT_EQ(shown(exa, left->id).at("ended_at"), nullptr);  // nobody wrote it down yet
  EXPECT_EQ(exa.call("operation.cancel", {{"id", left->id}}).status, 409);
  EXPECT_TRUE(begin_operation(exa.service(), caller, kDiscover));
  ASSERT_TRUE(sweep_operations(exa.service()));
  EXPECT_NE(shown(exa, left->id).at("ended_at"), nullptr);
}

TEST(Operations, CancellingReachesTheWorkAndIsOnRecord) {
  TestExa exa;
  const std::string id = begun_operation(exa, exa.principal);
  const auto live = exa.service().live_operations().find(id);
  exa.ask("operation.cancel", {{"id", id}, {"dry_run", true}});
  EXPECT_FALSE(live->cancelled());
  EXPECT_EQ(exa.ask("operation.cancel", {{"id", id}}).at("cancel_requested"), true);
  EXPECT_TRUE(live->cancelled());
  EXPECT_EQ(live->step("entries", 1, 2).error().code, Code::interrupted);
  EXPECT_EQ(exa.ask("audit.list", {{"limit", 1}}).at("items").at(0).at("action"),
            "operation.cancel");
  ASSERT_TRUE(end_operation(
      exa.service(), id, {OperationState::cancelled, 499, 130, {}, R"({"code":"interrupted"})"}));
  EXPECT_EQ(exa.call("operation.cancel", {{"id", id}}).status, 409);
}

TEST(Operations, AreForgottenAfterThirtyDays) {
  TestExa exa;
  const std::string old = begun_operation(exa, exa.principal);
  ASSERT_TRUE(end_operation(exa.service(), old, {.body = "{}"}));
  exa.now = exa.now + hours(24 * 30 + 1);
  begun_operation(exa, exa.principal);
  EXPECT_EQ(exa.call("operation.show", {{"id", old}}).status, 404);
}

TEST(LongWork, ThatNobodyWantsAnyMoreChangesNothing) {
  TestExa exa;
  exa.ask("cluster.add", {{"name", "hpc"}, {"kind", "slurm"}});
  exa.probe = [&]() -> Result<Capture> { return slurm_capture(exa.now); };
  exa.ask("cluster.discover", {{"name", "hpc"}});
  LiveOperation unwanted;
  unwanted.cancel();
  const int64_t before = exa.audit_size();
  const auto outcome = [&](std::string_view route, const json::object& args) {
    Request request = build_request(*find_route(route), args);
    request.progress = &unwanted;
    const Reply reply = exa.send(request);
    EXPECT_EQ(reply.exit_code, 130) << route << reply.body;
    return reply.status;
  };
  EXPECT_EQ(outcome("audit.verify", {}), 499);
  const std::string folder = (exa.folder() / "backup").string();
  EXPECT_EQ(outcome("backup.create", {{"folder", folder}}), 499);
  EXPECT_FALSE(std::filesystem::exists(folder));
  EXPECT_EQ(outcome("simulation.run",
                    {{"nodes", "sn,cpu_milli,memory_mib,gpu,model\nn1,8000,64000,2,T4\n"},
                     {"pods",
                      "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n"
                      "p1,1000,1000,1,500,\n"}}),
            499);
  exa.probe = [&]() -> Result<Capture> {
    EXA_TRY(unwanted.step("questions", 0, 0));
    return slurm_capture(exa.now);
  };
  EXPECT_EQ(outcome("cluster.discover", {{"name", "hpc"}}), 499);
  // a wish to end is no failure of the cluster
  EXPECT_EQ(exa.ask("cluster.show", {{"name", "hpc"}}).at("last_failure"), nullptr);
  EXPECT_EQ(exa.audit_size(), before);  // the wish to end is on record: operation.cancel
}

}  // namespace
}  // namespace exa
