// Instances through the API (requirement "Compute Profile"; semantics §7): what users launch, what
// they see of it, and what becomes of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/catalogue_for_test.h"
#include "service/instances.h"

namespace exa {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Instances : public CatalogueTest {};

TEST_F(Instances, AnInstanceIsLaunchedFromWhatIsPublishedAndShowsItsOutputs) {
  publish("small");
  const json::value launched = ask_launch("nb", {{"size", 2}});
  EXPECT_EQ(launched.at("state"), "running") << to_text(launched);
  EXPECT_EQ(launched.at("compute_profile").at("version"), 1);
  EXPECT_EQ(launched.at("inputs").at("size").at("value"), 2);
  const json::value outputs = exa.ask("instance.outputs", {{"name", "nb"}});
  EXPECT_EQ(outputs.at("items").at(0).at("name"), "url");
  EXPECT_EQ(outputs.at("items").at(0).at("value"), "http://nb.example.org/2");
}

// "Labels are optional metadata (key/value pairs) that will be automatically attached to resulting
// compute instances when they are launched."
TEST_F(Instances, LabelsAndAnnotationsOfTheProfileAreAttached) {
  publish("small");
  const json::value launched = ask_launch("nb", {});
  EXPECT_EQ(launched.at("labels").at("team"), "platform");
  EXPECT_EQ(launched.at("annotations").at("contact"), "desk 4");
  EXPECT_THAT(file_of(launched, "work/instance.json"), HasSubstr("desk 4"));
}

// "Any changes will go into effect only for 'new' compute instances that are launched based on the
// profile. Already running compute instances will not be impacted."
TEST_F(Instances, AnEditOfTheProfileChangesOnlyNewInstances) {
  publish("small");
  ask_launch("old", {{"size", 2}});
  edit("small", [](json::object& sku) {
    sku["description"] = "larger";
    sku["labels"] = json::object{{"team", "other"}};
    sku["price_per_hour"] = json::object{{"amount", 9}, {"currency", "USD"}};
  });
  const json::value old = exa.ask("instance.show", {{"name", "old"}});
  EXPECT_EQ(old.at("compute_profile").at("version"), 1);
  EXPECT_EQ(old.at("labels").at("team"), "platform");
  EXPECT_EQ(old.at("price_per_hour").at("amount"), 1.5);
  EXPECT_EQ(old.at("newer_version").at("version"), 2);
  EXPECT_THAT(std::string(old.at("newer_version").at("text").as_string()), HasSubstr("price"));
  const json::value anew = ask_launch("new", {});
  EXPECT_EQ(anew.at("compute_profile").at("version"), 2);
  EXPECT_EQ(anew.at("labels").at("team"), "other");
  // stopped and started it is still what it was
  exa.ask("instance.stop", {{"name", "old"}});
  EXPECT_EQ(exa.ask("instance.start", {{"name", "old"}}).at("compute_profile").at("version"), 1);
}

// "Once a compute profile is deleted, it is no longer available to end users for use."
TEST_F(Instances, ADeletedProfileIsNotLaunchedAndItsInstancesAreStillThere) {
  publish("small");
  ask_launch("nb", {});
  exa.ask("compute_profile.delete", {{"name", "small"}});
  const Reply refused = launch("other", {});
  EXPECT_EQ(refused.status, 404) << refused.body;
  const json::value shown = exa.ask("instance.show", {{"name", "nb"}});
  EXPECT_EQ(shown.at("state"), "running");
  EXPECT_TRUE(shown.at("newer_version").is_null());
  exa.ask("instance.stop", {{"name", "nb"}});
  exa.ask("instance.start", {{"name", "nb"}});
  EXPECT_EQ(exa.ask("instance.delete", {{"name", "nb"}}).at("deleted"), true);
}

TEST_F(Instances, TheServerChecksEveryValueAgainstWhatIsStored) {
  publish("small");
  const struct {
    json::object inputs;
    std::string_view says;
  } cases[] = {
      {{{"size", 9}}, "/inputs/size"},
      {{{"size", "two"}}, "/inputs/size"},
      {{{"size", json::object{{"value", 9}, {"options", json::object{{"max", 10}}}}}},
       "/inputs/size"},
      {{{"zone", "mars"}}, "/inputs/zone"},
      {{{"image", "mine"}}, "/inputs/image"},
      {{{"surprise", 1}}, "/inputs/surprise"},
  };
  for (const auto& each : cases) {
    const Reply refused = launch("nb", each.inputs);
    EXPECT_EQ(refused.status, 422) << refused.body;
    EXPECT_THAT(refused.body, HasSubstr(each.says));
  }
  EXPECT_EQ(exa.call("instance.show", {{"name", "nb"}}).status, 404);
}

TEST_F(Instances, SecretsAreMaskedWhereverTheyCouldBeRead) {
  publish("small");
  const json::value launched = ask_launch("nb", {{"password", "hunter2-and-more"}});
  const std::string token = "token-of-nb";
  for (const std::string_view route :
       {"instance.show", "instance.outputs", "instance.logs", "instance.list"}) {
    json::object args{{"name", "nb"}};
    if (route == "instance.list") args.clear();
    const Reply reply = exa.call(route, args);
    EXPECT_THAT(reply.body, AllOf(Not(HasSubstr("hunter2")), Not(HasSubstr(token)))) << route;
  }
  const Reply log = exa.call("audit.list", {});
  EXPECT_THAT(log.body, AllOf(Not(HasSubstr("hunter2")), Not(HasSubstr(token))));
  // its owner is shown it, and the log keeps that they were
  const Reply revealed = exa.call("instance.reveal", {{"name", "nb"}});
  EXPECT_THAT(revealed.body, HasSubstr(token));
  EXPECT_THAT(exa.call("audit.list", {}).body, HasSubstr("instance.reveal"));
  // what its template was given it has again when it is started
  exa.ask("instance.stop", {{"name", "nb"}});
  EXPECT_EQ(exa.ask("instance.start", {{"name", "nb"}}).at("state"), "running");
  EXPECT_THAT(file_of(launched, "work/inputs.json"), HasSubstr("hunter2"));
}

TEST_F(Instances, AnInstanceStopsStartsAndIsTakenDown) {
  publish("small");
  const json::value launched = ask_launch("nb", {});
  EXPECT_THAT(file_of(launched, "work/state"), HasSubstr("up"));
  EXPECT_EQ(exa.ask("instance.stop", {{"name", "nb"}}).at("state"), "stopped");
  EXPECT_THAT(file_of(launched, "work/state"), HasSubstr("down"));
  EXPECT_EQ(exa.call("instance.stop", {{"name", "nb"}}).status, 409);
  EXPECT_EQ(exa.ask("instance.start", {{"name", "nb"}}).at("state"), "running");
  EXPECT_EQ(exa.call("instance.start", {{"name", "nb"}}).status, 409);
  EXPECT_EQ(exa.ask("instance.delete", {{"name", "nb"}}).at("deleted"), true);
  EXPECT_EQ(exa.call("instance.show", {{"name", "nb"}}).status, 404);
  EXPECT_FALSE(std::filesystem::exists(folder_of(launched)));
}

TEST_F(Instances, CostsCountWhileItRuns) {
  publish("small");
  ask_launch("nb", {});
  exa.now = exa.now + hours(2);
  EXPECT_EQ(exa.ask("instance.show", {{"name", "nb"}}).at("cost").at("amount"), 3);
  exa.ask("instance.stop", {{"name", "nb"}});
  exa.now = exa.now + hours(5);
  const json::value stopped = exa.ask("instance.show", {{"name", "nb"}});
  EXPECT_EQ(stopped.at("cost").at("amount"), 3);
  EXPECT_EQ(stopped.at("hours"), 2);
}

TEST_F(Instances, ATemplateThatFailsIsReportedAndTriedAgain) {
  publish("small");
  break_template("no such host");
  const Reply reply = launch("nb", {});
  EXPECT_EQ(reply.exit_code, 1);
  EXPECT_THAT(reply.body, AllOf(HasSubstr("failed"), HasSubstr("no such host")));
  mend_template();
  EXPECT_EQ(exa.ask("instance.start", {{"name", "nb"}}).at("state"), "running");
}

TEST_F(Instances, WhatCouldNotBeStartedIsStillStoppedAndSaysWhy) {
  publish("small");
  ask_launch("nb", {});
  exa.ask("instance.stop", {{"name", "nb"}});
  write(template_folder() / "more", "a file that was not there");
  const Reply refused = exa.call("instance.start", {{"name", "nb"}});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.body, AllOf(HasSubstr("\"stopped\""), HasSubstr("was changed since")));
  // nothing new is launched, and the offer says so with its price
  EXPECT_EQ(launch("other", {}).status, 409);
  const json::value offer = exa.ask("instance.offers", {}).at("items").at(0);
  EXPECT_EQ(offer.at("fits"), false);
  EXPECT_EQ(offer.at("price_per_hour").at("amount"), 1.5);
  std::filesystem::remove(template_folder() / "more");
  EXPECT_EQ(exa.ask("instance.start", {{"name", "nb"}}).at("state"), "running");
}

TEST_F(Instances, ANameThatIsNoneIsToldWithWhatWouldBeOne) {
  publish("small");
  EXPECT_THAT(launch("../x", {}).body, HasSubstr("lower-case letters"));
}

TEST_F(Instances, ARepeatedRequestLaunchesOnce) {
  publish("small");
  json::object args = launch_args("nb", {});
  const Reply first = exa.call("instance.launch", args, "11111111-1111-4111-8111-111111111111");
  const Reply again = exa.call("instance.launch", args, "11111111-1111-4111-8111-111111111111");
  EXPECT_EQ(first.status, 201) << first.body;
  EXPECT_EQ(again.status, 201);
  EXPECT_EQ(first.body, again.body);
  EXPECT_EQ(runs_of_template(), 1);
  EXPECT_EQ(launch("nb", {}).status, 409);
}

TEST_F(Instances, ADryRunShowsWhatWouldBeAndLeavesNothing) {
  publish("small");
  json::object args = launch_args("nb", {{"size", 2}});
  args["dry_run"] = true;
  const Reply reply = exa.call("instance.launch", args);
  EXPECT_EQ(reply.status, 201) << reply.body;
  EXPECT_THAT(reply.body, HasSubstr("\"launching\""));
  EXPECT_EQ(exa.call("instance.show", {{"name", "nb"}}).status, 404);
  EXPECT_FALSE(std::filesystem::exists(exa.folder() / "instances"));
}

TEST_F(Instances, LimitsOfAProjectRefuseOrWaitForAnAdmin) {
  publish("small");
  exa.ask("instance.limits_set", {{"instances_per_user", "1"}});
  ask_launch("one", {});
  const Reply refused = launch("two", {});
  EXPECT_EQ(refused.exit_code, 7) << refused.body;
  EXPECT_THAT(refused.body, HasSubstr("ada may have 1 instance, and has 1"));
  exa.ask("instance.limits_set", {{"above", "approve"}});
  json::object args = launch_args("two", {{"password", "kept-until-then"}});
  args["reason"] = "a deadline";
  const Reply waits = exa.call("instance.launch", args);
  EXPECT_EQ(waits.status, 201) << waits.body;
  EXPECT_THAT(waits.body, AllOf(HasSubstr("\"waiting\""), HasSubstr("a deadline")));
  EXPECT_EQ(runs_of_template(), 1);
  const json::value approved =
      exa.ask("instance.approve", {{"name", "two"}, {"reason", "fine by me"}});
  EXPECT_EQ(approved.at("state"), "running");
  EXPECT_EQ(approved.at("approval").at("decided_by"), "ada");
  EXPECT_THAT(file_of(approved, "work/inputs.json"), HasSubstr("kept-until-then"));
  EXPECT_THAT(exa.call("audit.list", {}).body, HasSubstr("fine by me"));
}

TEST_F(Instances, WhatAnAdminRejectsNeverRuns) {
  publish("small");
  exa.ask("instance.limits_set", {{"instances", "0"}, {"above", "approve"}});
  ask_launch("one", {});
  const json::value rejected =
      exa.ask("instance.reject", {{"name", "one"}, {"reason", "too dear"}});
  EXPECT_EQ(rejected.at("state"), "rejected");
  EXPECT_EQ(exa.call("instance.approve", {{"name", "one"}, {"reason", "x"}}).status, 409);
  EXPECT_EQ(exa.call("instance.start", {{"name", "one"}}).status, 409);
  EXPECT_EQ(exa.ask("instance.delete", {{"name", "one"}}).at("deleted"), true);
  EXPECT_EQ(runs_of_template(), 0);
}

TEST_F(Instances, APriceLimitCountsWhatRuns) {
  publish("small");
  exa.ask("instance.limits_set", {{"price_per_hour", "2"}});
  ask_launch("one", {});
  EXPECT_EQ(launch("two", {}).exit_code, 7);
  exa.ask("instance.stop", {{"name", "one"}});
  ask_launch("two", {});
  // whoever manages may start above it; it is not their limit
  EXPECT_EQ(exa.ask("instance.start", {{"name", "one"}}).at("state"), "running");
}

TEST_F(Instances, ATimeToLiveEndsItAndCanBeExtended) {
  publish("small");
  json::object args = launch_args("nb", {});
  args["time_to_live"] = "8h";
  const json::value launched = exa.ask("instance.launch", args);
  EXPECT_EQ(launched.at("expires_at").as_string(), format_rfc3339(exa.now + hours(8)));
  exa.ask("instance.extend", {{"name", "nb"}, {"by", "2h"}});
  exa.now = exa.now + hours(9);
  EXPECT_EQ(tend(), 0);
  exa.now = exa.now + hours(1);
  EXPECT_EQ(tend(), 1);
  EXPECT_EQ(exa.call("instance.show", {{"name", "nb"}}).status, 404);
  EXPECT_THAT(exa.call("audit.list", {}).body, HasSubstr("its time to live ended"));
}

TEST_F(Instances, AScheduleStopsAndStartsIt) {
  publish("small");
  ask_launch("nb", {});
  exa.ask("instance.schedule", {{"name", "nb"},
                                {"start_at", "0 8 * * 1-5"},
                                {"stop_at", "0 19 * * 1-5"},
                                {"time_zone", "Europe/Berlin"}});
  exa.now = parse_rfc3339("2026-11-30T18:00:05Z").value();
  EXPECT_EQ(tend(), 1);
  EXPECT_EQ(exa.ask("instance.show", {{"name", "nb"}}).at("state"), "stopped");
  exa.now = parse_rfc3339("2026-12-01T07:00:05Z").value();
  EXPECT_EQ(tend(), 1);
  EXPECT_EQ(exa.ask("instance.show", {{"name", "nb"}}).at("state"), "running");
}

TEST_F(Instances, ATimeOfDayThatIsNoneIsRefusedWithAllProblems) {
  publish("small");
  json::object args = launch_args("nb", {});
  args["stop_at"] = "99 * * * *";
  args["time_zone"] = "Europe/Berln";
  args["time_to_live"] = "5s";
  const Reply refused = exa.call("instance.launch", args);
  EXPECT_EQ(refused.status, 422);
  EXPECT_THAT(refused.body,
              AllOf(HasSubstr("/stop_at"), HasSubstr("Europe/Berlin"), HasSubstr("/time_to_live")));
}

TEST_F(Instances, AnInstanceIsItsOwnersAndItsAdmins) {
  publish("small");
  share("small", {"vision"});
  member("grace", "vision", "member");
  member("mary", "vision", "member");
  member("boss", "vision", "admin");
  as("grace");
  exa.ask("instance.launch", in("vision", launch_args("nb", {}, "default/small")));
  as("mary");
  for (const std::string_view route : {"instance.stop", "instance.delete", "instance.reveal"}) {
    const Reply refused = exa.call(route, in("vision", {{"name", "nb"}}));
    EXPECT_EQ(refused.status, 403) << route << refused.body;
    EXPECT_THAT(refused.body, HasSubstr("nb is grace's")) << route;
  }
  EXPECT_EQ(exa.call("instance.show", in("vision", {{"name", "nb"}})).status, 200);
  as("boss");
  EXPECT_EQ(exa.ask("instance.stop", in("vision", {{"name", "nb"}})).at("state"), "stopped");
  // an admin launches for somebody: it is theirs
  json::object args = in("vision", launch_args("for-mary", {}, "default/small"));
  args["for"] = "mary";
  EXPECT_EQ(exa.ask("instance.launch", args).at("owner"), "mary");
  as("mary");
  EXPECT_EQ(exa.ask("instance.stop", in("vision", {{"name", "for-mary"}})).at("state"), "stopped");
  args["name"] = "for-grace";
  args["for"] = "grace";
  EXPECT_EQ(exa.call("instance.launch", args).status, 403);
}

TEST_F(Instances, WhatMayNotBeSeenIsLaunchedByNobody) {
  create("small");  // a draft
  member("grace", "vision", "member");
  member("insider", "default", "member");
  as("grace");
  const Reply hidden =
      exa.call("instance.launch", in("vision", launch_args("nb", {}, "default/small")));
  const Reply absent =
      exa.call("instance.launch", in("vision", launch_args("nb", {}, "default/smalk")));
  EXPECT_EQ(hidden.status, 404) << hidden.body;
  EXPECT_EQ(absent.status, 404);
  as("insider");
  EXPECT_EQ(launch("nb", {}).status, 404);
  as_owner();
  publish("small", false);
  as("insider");
  EXPECT_EQ(launch("nb", {}).status, 201);
  as("grace");  // published, and not shared
  EXPECT_EQ(
      exa.call("instance.launch", in("vision", launch_args("nb", {}, "default/small"))).status,
      404);
}

TEST_F(Instances, ItsShapeIsPlacedAndItsDevicesAreHeldWhileItRuns) {
  exa.ask("pool.add",
          {{"name", "edge"}, {"accelerator", "nvidia"}, {"count", 4}, {"cost_per_hour", 2}});
  create("gpu", [](json::object& sku) {
    sku["shape"] = json::object{{"accelerator_family", "nvidia"}, {"gpu_count", 3}};
    sku.erase("price_per_hour");
  });
  exa.ask("compute_profile.publish", {{"name", "gpu"}});
  const json::value launched = exa.ask("instance.launch", launch_args("a", {}, "gpu"));
  EXPECT_EQ(launched.at("pool"), "edge");
  EXPECT_EQ(launched.at("price_per_hour").at("amount"), 6);  // three devices
  EXPECT_EQ(exa.call("instance.launch", launch_args("b", {}, "gpu")).exit_code, 6);
  exa.ask("instance.stop", {{"name", "a"}});
  EXPECT_EQ(exa.ask("lease.list", {}).at("items").as_array().size(), 0U);
  exa.ask("instance.launch", launch_args("b", {}, "gpu"));
  const Reply full = exa.call("instance.start", {{"name", "a"}});
  EXPECT_EQ(full.exit_code, 6) << full.body;
  exa.ask("instance.delete", {{"name", "b"}});
  EXPECT_EQ(exa.ask("instance.start", {{"name", "a"}}).at("state"), "running");
  exa.now = exa.now + hours(24 * 5);  // leases are renewed as long as it runs
  tend();
  exa.now = exa.now + hours(24 * 5);
  tend();
  EXPECT_EQ(exa.ask("lease.list", {}).at("items").as_array().size(), 1U);
}

TEST_F(Instances, WhatExaLeftUnfinishedHasFailedAndCanBeTriedAgain) {
  publish("small");
  const json::value launched = ask_launch("nb", {});
  exa.tamper("UPDATE instance SET spec = replace(spec, '\"running\"', '\"stopping\"')");
  const json::value shown = exa.ask("instance.show", {{"name", "nb"}});
  EXPECT_EQ(shown.at("state"), "failed");
  EXPECT_THAT(std::string(shown.at("reason").as_string()), HasSubstr("its server ended during"));
}

TEST_F(Instances, AbandoningNeedsAReasonAndLeavesWhatWasMade) {
  publish("small");
  const json::value launched = ask_launch("nb", {});
  EXPECT_EQ(exa.call("instance.delete", {{"name", "nb"}, {"abandon", true}}).status, 422);
  exa.ask("instance.delete", {{"name", "nb"}, {"abandon", true}, {"reason", "its host is gone"}});
  EXPECT_THAT(file_of(launched, "work/state"), HasSubstr("up"));
  EXPECT_THAT(exa.call("audit.list", {}).body, HasSubstr("its host is gone"));
}

}  // namespace
}  // namespace exa
