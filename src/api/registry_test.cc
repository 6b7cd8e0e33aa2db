// The registry through the router: requirement Phase 1, semantics §3 and §4, contract.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/testing.h"

namespace exa {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string status_in_list(TestExa& exa) {
  return std::string(exa.ask("hardware_profile.list", {})
                         .at("items")
                         .at(0)
                         .at("resolutions")
                         .at(0)
                         .at("status")
                         .as_string());
}

json::value resolved(TestExa& exa) {
  return exa.ask("hardware_profile.resolve", {{"name", "eight"}, {"cluster", "hpc"}});
}

TEST(Registry, WhatWasVerifiedIsShownAsDegradedOnceTheSnapshotIsOld) {
  TestExa exa;
  prepare(exa);
  EXPECT_EQ(status_in_list(exa), "verified");
  EXPECT_EQ(resolved(exa).at("status"), "verified");
  exa.now = exa.now + minutes(15);
  EXPECT_EQ(status_in_list(exa), "verified");
  exa.now = exa.now + seconds(1);
  EXPECT_EQ(status_in_list(exa), "degraded");
  const json::value answer = resolved(exa);
  EXPECT_EQ(answer.at("status"), "degraded");
  EXPECT_EQ(answer.at("unconfirmed"), json::array({"snapshot_age"}));
}

TEST(Registry, AFailedProbeKeepsTheLastGoodSnapshotAndIsRecorded) {
  TestExa exa;
  prepare(exa);
  exa.probe = [] { return fail(Code::probe_failed, "connection refused"); };
  const Reply failed = exa.call("cluster.discover", {{"name", "hpc"}});
  EXPECT_EQ(failed.exit_code, 9);
  const json::value shown = exa.ask("cluster.show", {{"name", "hpc"}});
  EXPECT_EQ(shown.at("snapshot").at("capacity").at("nodes"), 16);
  EXPECT_EQ(shown.at("last_failure").at("message"), "connection refused");
  EXPECT_EQ(resolved(exa).at("status"), "verified");
  exa.probe = [&exa]() -> Result<Capture> { return slurm_capture(exa.now); };
  exa.ask("cluster.discover", {{"name", "hpc"}});
  EXPECT_TRUE(exa.ask("cluster.show", {{"name", "hpc"}}).at("last_failure").is_null());
}

TEST(Registry, HandedInToolOutputVerifiesNothing) {
  TestExa exa;
  prepare(exa);
  exa.ask("cluster.discover",
          {{"name", "hpc"}, {"from", read_test_file("slurm/scontrol-show-node.txt")}});
  const json::value answer = resolved(exa);
  EXPECT_EQ(answer.at("status"), "degraded");
  EXPECT_EQ(answer.at("unconfirmed"), json::array({"declared_capacity"}));
}

TEST(Registry, ASavedCaptureIsAsOldAsItSays) {
  TestExa exa;
  prepare(exa);
  const std::string file = to_text(to_json(slurm_capture(exa.now)));
  exa.now = exa.now + hours(3);
  json::object args{{"name", "eight"}, {"snapshot", file}};
  EXPECT_EQ(exa.ask("hardware_profile.resolve", args).at("status"), "degraded");
  args["as_of_snapshot"] = true;
  const json::value then = exa.ask("hardware_profile.resolve", args);
  EXPECT_EQ(then.at("status"), "verified");
  // an answer of that time, not of now: its age is the true one
  EXPECT_EQ(then.at("snapshot").at("as_of"), "2026-11-30T12:00:00.000000Z");
  EXPECT_EQ(then.at("snapshot").at("age_seconds"), 3 * 3600);
  EXPECT_THAT(then.at("reason").as_string(), HasSubstr("As of 2026-11-30T12:00:00"));
  EXPECT_TRUE(then.at("fits_now").is_null());
}

TEST(Registry, ACaptureFromTheFutureAnswersNothing) {
  TestExa exa;
  prepare(exa);
  const std::string file = to_text(to_json(slurm_capture(exa.now + hours(24))));
  const Reply reply = exa.call("hardware_profile.resolve", {{"name", "eight"}, {"snapshot", file}});
  EXPECT_EQ(reply.exit_code, 2);
  EXPECT_THAT(reply.body, HasSubstr("captured in the future"));
}

// The cluster cannot be asked any more: what it has free is not known, and whoever asks must hear
// it.
TEST(Registry, AfterAFailedLookNothingIsSaidOfNow) {
  TestExa exa;
  prepare(exa);
  EXPECT_TRUE(resolved(exa).at("fits_now").at("fits").is_bool());
  exa.probe = [] { return fail(Code::probe_failed, "connection refused"); };
  exa.call("cluster.discover", {{"name", "hpc"}});
  // also where no look ever saw anything
  exa.ask("cluster.add", {{"name", "new"}, {"kind", "slurm"}});
  exa.call("cluster.discover", {{"name", "new"}});
  EXPECT_THAT(to_text(exa.ask("hardware_profile.resolve", {{"name", "eight"}, {"cluster", "new"}})
                          .at("remarks")),
              HasSubstr("connection refused"));
  const json::value answer = resolved(exa);
  EXPECT_TRUE(answer.at("fits_now").at("fits").is_null());
  EXPECT_THAT(to_text(answer.at("remarks")),
              HasSubstr("the last look failed at 2026-11-30T12:00:00.000000Z: connection refused"));
}

TEST(Registry, AReplacementThatWasDeletedIsNotRecommended) {
  TestExa exa;
  for (const char* name : {"old", "new"})
    exa.ask("hardware_profile.set", {{"name", name}, {"accelerator_family", "cpu"}});
  exa.ask("hardware_profile.deprecate", {{"name", "old"}, {"redirect", "new"}});
  const auto notices = [&](std::string_view route, const json::object& args) {
    return testing::PrintToString(exa.call(route, args).notices);
  };
  EXPECT_THAT(notices("hardware_profile.resolve", {{"name", "old"}}), HasSubstr("use new instead"));
  exa.ask("hardware_profile.delete", {{"name", "new"}});
  EXPECT_THAT(notices("hardware_profile.resolve", {{"name", "old"}}),
              HasSubstr("new, which was to replace it, is gone"));
  EXPECT_EQ(
      exa.ask("hardware_profile.show", {{"name", "old"}}).at("deprecated").at("redirect_gone"),
      true);
}

TEST(Registry, ANewVersionOfARetiredNameIsRetiredToo) {
  TestExa exa;
  for (const char* name : {"old", "new"})
    exa.ask("hardware_profile.set", {{"name", name}, {"accelerator_family", "cpu"}});
  exa.ask("hardware_profile.deprecate", {{"name", "old"}, {"redirect", "new"}});
  const Reply reply =
      exa.call("hardware_profile.set", {{"name", "old"}, {"accelerator_family", "cpu"}});
  EXPECT_THAT(testing::PrintToString(reply.notices), HasSubstr("old is retired"));
  EXPECT_THAT(reply.body, HasSubstr("\"redirect\": \"new\""));
}

TEST(Registry, ALabelThatMovedBackIsNoNewerVersion) {
  TestExa exa;
  exa.ask("hardware_profile.set", {{"name", "a"}, {"accelerator_family", "cpu"}, {"cpu", 1}});
  exa.ask("hardware_profile.set", {{"name", "a"}, {"accelerator_family", "cpu"}, {"cpu", 2}});
  exa.ask("hardware_profile.use", {{"name", "a@1"}, {"for", "training"}, {"as", "one"}});
  exa.ask("hardware_profile.use", {{"name", "a@2"}, {"for", "training"}, {"as", "two"}});
  const auto drift = [&](size_t at) {
    return std::string(
        exa.ask("hardware_profile.in_use", {}).at("items").at(at).at("drift").as_string());
  };
  EXPECT_EQ(drift(0), "newer-version");
  exa.ask("hardware_profile.label", {{"name", "a"}, {"label", "active"}, {"version", 1}});
  EXPECT_EQ(drift(0), "current");
  EXPECT_EQ(drift(1), "older-version");
}

TEST(Registry, ACursorThatNoListGaveOutIsRefused) {
  TestExa exa;
  for (const char* name : {"a", "b"})
    exa.ask("hardware_profile.set", {{"name", name}, {"accelerator_family", "cpu"}});
  const json::value cursor = exa.ask("hardware_profile.list", {{"limit", 1}}).at("next_cursor");
  const json::value of_the_log = exa.ask("audit.list", {{"limit", 1}}).at("next_cursor");
  for (const json::value& wrong :
       {json::value("a"), json::value("garbage"), json::value(""), json::value("0"), of_the_log,
        json::value(std::string(cursor.as_string()) + "=")}) {
    const Reply reply = exa.call("hardware_profile.list", {{"cursor", wrong}});
    EXPECT_EQ(reply.exit_code, 2) << to_text(wrong);
    EXPECT_THAT(reply.body, HasSubstr("/cursor")) << to_text(wrong);
  }
  EXPECT_EQ(exa.call("audit.list", {{"cursor", cursor}}).exit_code, 2);
  EXPECT_EQ(exa.ask("hardware_profile.list", {{"cursor", cursor}}).at("items").as_array().size(),
            1U);
}

TEST(Registry, AQueryTakesTrueAndFalseForABooleanAndNothingElse) {
  TestExa exa;
  for (const char* text : {"1", "0", "yes", ""}) {
    Request request = build_request(*find_route("project.create"), {{"name", "vision"}});
    request.query.emplace_back("dry_run", text);
    EXPECT_EQ(exa.send(request).exit_code, 2) << text;
  }
  EXPECT_EQ(exa.ask("project.list", {}).at("items").as_array().size(), 1U);
}

TEST(Registry, ANameThatWasRemovedStartsFromNothing) {
  TestExa exa;
  prepare(exa);
  exa.ask("cluster.remove", {{"name", "hpc"}});
  EXPECT_EQ(exa.call("cluster.show", {{"name", "hpc"}}).exit_code, 3);
  exa.ask("cluster.add", {{"name", "hpc"}, {"kind", "slurm"}});
  EXPECT_EQ(resolved(exa).at("cause"), "no-snapshot");
  EXPECT_TRUE(
      exa.ask("hardware_profile.show", {{"name", "eight"}}).at("resolutions").as_array().empty());
}

TEST(Registry, TheListIsTheSameDataAsShow) {
  TestExa exa;
  prepare(exa);
  exa.ask("hardware_profile.set", {{"name", "other"}, {"accelerator_family", "cpu"}});
  exa.ask("hardware_profile.deprecate", {{"name", "eight"}, {"redirect", "other"}});
  const json::value list = exa.ask("hardware_profile.list", {});
  ASSERT_EQ(list.at("items").as_array().size(), 2U);
  for (const json::value& item : list.at("items").as_array()) {
    EXPECT_EQ(item, exa.ask("hardware_profile.show", {{"name", item.at("name").as_string()}}));
  }
}

TEST(Registry, PagesHaveNoGapAndNoRepetition) {
  TestExa exa;
  std::vector<std::string> expected;
  for (int i = 0; i < 23; ++i) {
    expected.push_back(fmt::format("p{:02}", i));
    exa.ask("hardware_profile.set", {{"name", expected.back()}, {"accelerator_family", "cpu"}});
  }
  std::vector<std::string> seen;
  json::object args{{"limit", 5}};
  for (int page = 0; page < 10; ++page) {
    const json::value list = exa.ask("hardware_profile.list", args);
    for (const json::value& item : list.at("items").as_array())
      seen.emplace_back(item.at("name").as_string());
    if (list.at("next_cursor").is_null()) break;
    args["cursor"] = list.at("next_cursor");
  }
  EXPECT_EQ(seen, expected);
}

TEST(Registry, FilteringByUseAdmitsThoseThatListAny) {
  TestExa exa;
  exa.ask(
      "hardware_profile.set",
      {{"name", "a"}, {"accelerator_family", "cpu"}, {"applicability", json::array{"training"}}});
  exa.ask("hardware_profile.set", {{"name", "b"}, {"accelerator_family", "cpu"}});
  exa.ask(
      "hardware_profile.set",
      {{"name", "c"}, {"accelerator_family", "cpu"}, {"applicability", json::array{"serving"}}});
  std::vector<std::string> names;
  const json::value list = exa.ask("hardware_profile.list", {{"applicability", "training"}});
  for (const json::value& item : list.at("items").as_array())
    names.emplace_back(item.at("name").as_string());
  EXPECT_THAT(names, ElementsAre("a", "b"));
}

TEST(Idempotency, ARepeatedKeyIsAnsweredOnceAndAnotherRequestWithItIsRefused) {
  TestExa exa;
  const json::object args{{"name", "a"}, {"accelerator_family", "cpu"}};
  const Reply first = exa.call("hardware_profile.set", args, "key-1");
  const Reply again = exa.call("hardware_profile.set", args, "key-1");
  EXPECT_EQ(first.body, again.body);
  EXPECT_EQ(exa.ask("hardware_profile.show", {{"name", "a"}}).at("version"), 1);
  const Reply other =
      exa.call("hardware_profile.set", {{"name", "b"}, {"accelerator_family", "cpu"}}, "key-1");
  EXPECT_EQ(other.exit_code, 5);
  exa.now = exa.now + hours(25);
  EXPECT_EQ(exa.call("hardware_profile.set", args, "key-1").status, 201);
  EXPECT_EQ(exa.ask("hardware_profile.show", {{"name", "a"}}).at("version"), 2);
}

TEST(Registry, RetiringNeverLeadsInACircle) {
  TestExa exa;
  for (const char* name : {"a", "b", "c"})
    exa.ask("hardware_profile.set", {{"name", name}, {"accelerator_family", "cpu"}});
  exa.ask("hardware_profile.deprecate", {{"name", "a"}, {"redirect", "b"}});
  EXPECT_EQ(exa.call("hardware_profile.deprecate", {{"name", "b"}, {"redirect", "a"}}).exit_code,
            2);
  EXPECT_EQ(exa.call("hardware_profile.deprecate", {{"name", "c"}, {"redirect", "a"}}).exit_code,
            2);
  EXPECT_EQ(exa.call("hardware_profile.deprecate", {{"name", "b"}, {"redirect", "c"}}).exit_code,
            5);
}

TEST(Registry, ADryRunOfADeleteIsRefusedWhereTheDeleteWouldBe) {
  TestExa exa;
  exa.ask("hardware_profile.set", {{"name", "a"}, {"accelerator_family", "cpu"}});
  exa.ask("hardware_profile.use", {{"name", "a"}, {"for", "training"}, {"as", "run"}});
  const Reply reply = exa.call("hardware_profile.delete", {{"name", "a"}, {"dry_run", true}});
  EXPECT_EQ(reply.exit_code, 5);
  EXPECT_THAT(reply.body, HasSubstr("training/run"));
}

TEST(Registry, AnOlderCaptureDoesNotDisplaceANewerSnapshot) {
  TestExa exa;
  prepare(exa);
  exa.now = exa.now + minutes(5);
  exa.ask("cluster.discover", {{"name", "hpc"}});
  const std::string old = to_text(to_json(slurm_capture(exa.now + Duration{-hours(24).micros})));
  const Reply reply = exa.call("cluster.discover", {{"name", "hpc"}, {"from", old}});
  EXPECT_THAT(testing::PrintToString(reply.notices), HasSubstr("older"));
  EXPECT_EQ(resolved(exa).at("status"), "verified");
  const std::string ahead = to_text(to_json(slurm_capture(exa.now + hours(24))));
  EXPECT_EQ(exa.call("cluster.discover", {{"name", "hpc"}, {"from", ahead}}).exit_code, 2);
}

TEST(Registry, AnAddressThatCannotWorkOrWouldLeakIsRefusedWhenItIsGiven) {
  TestExa exa;
  const std::vector<json::object> wrong = {
      {{"kind", "slurm"}, {"ssh", "root@-oProxyCommand=x"}},
      {{"kind", "slurm"}, {"timeout", "0s"}},
      {{"kind", "slurm"}, {"slurmrestd", "foo"}},
      {{"kind", "slurm"}, {"slurmrestd", "https://user:secret@host:1"}},
      {{"kind", "slurm"}, {"slurmrestd", "http://10.0.0.1:6820"}},
      {{"kind", "kubernetes"}, {"server", "file:///etc/passwd"}},
      {{"kind", "kubernetes"}, {"server", "http://host"}},
      {{"kind", "host"}, {"ssh_port", 22}},
      {{"kind", "host"}, {"kubeconfig", "x"}},
  };
  for (json::object args : wrong) {
    args["name"] = "c";
    EXPECT_EQ(exa.call("cluster.add", args).exit_code, 2) << to_text(args);
  }
}

}  // namespace
}  // namespace exa
