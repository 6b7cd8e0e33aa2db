// Pools that a cluster backs, and the cluster itself: what is promised there is there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/testing.h"

namespace exa {
namespace {

using testing::HasSubstr;

class BackedPools : public testing::Test {
 protected:
  BackedPools() {
    exa.probe = [this]() -> Result<Capture> { return slurm_capture(exa.now); };
    exa.ask("cluster.add", {{"name", "hpc"}, {"kind", "slurm"}});
    exa.ask("cluster.discover", {{"name", "hpc"}});
  }

  void add(std::string_view name, std::string_view partition) {
    exa.ask(
        "pool.add",
        {{"name", name}, {"accelerator", "nvidia"}, {"cluster", "hpc"}, {"partition", partition}});
  }
  Reply place(json::object args) {
    args["name"] = "w";
    return exa.call("placement.place", args);
  }

  TestExa exa;
};

// Both partitions are one and the same node with 5 of 8 devices free.
TEST_F(BackedPools, OneNodeInTwoPoolsGivesItsDevicesOnce) {
  add("g1", "private");
  add("g2", "closed");
  EXPECT_EQ(place({{"gpus", 5}, {"reserve", true}}).exit_code, 0);
  EXPECT_EQ(place({{"gpus", 5}, {"reserve", true}}).exit_code, 6);
  EXPECT_EQ(place({{"gpus", 1}, {"reserve", true}}).exit_code, 6);
}

// a100-01 has 3 free and h100-01 has 5: after 4 of the second no node has 4.
TEST_F(BackedPools, ALeaseStandsOnNodesSoNoAskIsSpreadOverTwo) {
  add("gpu", "gpu");
  const Reply first = place({{"gpus", 4}, {"reserve", true}});
  ASSERT_EQ(first.exit_code, 0);
  EXPECT_THAT(first.body, HasSubstr("h100-01"));
  EXPECT_EQ(place({{"gpus", 4}, {"reserve", true}}).exit_code, 6);
  EXPECT_EQ(place({{"gpus", 3}, {"reserve", true}}).exit_code, 0);
}

TEST_F(BackedPools, NodesAreAskedForTheModelAndMemoryThatTheyWereSeenToHave) {
  add("gpu", "gpu");
  EXPECT_EQ(place({{"model", "L40S"}}).exit_code, 6);
  EXPECT_EQ(place({{"gpu_memory", "500GB"}}).exit_code, 6);
  EXPECT_EQ(place({{"model", "A100"}, {"gpus", 5}}).exit_code, 6);
  EXPECT_EQ(place({{"model", "A100"}, {"gpus", 3}}).exit_code, 0);
}

TEST_F(BackedPools, ToolOutputThatWasHandedInIsSaidToBeDeclared) {
  exa.ask("cluster.discover",
          {{"name", "hpc"}, {"from", read_test_file("slurm/scontrol-show-node.txt")}});
  add("gpu", "gpu");
  const json::value body = parse_json(place({{"gpus", 2}}).body, "reply").value();
  EXPECT_EQ(body.at("placement").at("declared"), true);
  EXPECT_THAT(to_text(body.at("placement").at("unconfirmed")), HasSubstr("declared_capacity"));
}

TEST_F(BackedPools, APoolDoesNotBecomeAnotherUnderLeases) {
  exa.ask("pool.add", {{"name", "p"}, {"accelerator", "nvidia"}, {"count", 4}});
  ASSERT_EQ(place({{"reserve", true}}).exit_code, 0);
  for (const json::object& change :
       {json::object{{"accelerator", "amd"}}, json::object{{"target", "cloud"}},
        json::object{{"region", "us"}}, json::object{{"cluster", "hpc"}}}) {
    json::object args = change;
    args["name"] = "p";
    EXPECT_EQ(exa.call("pool.add", args).exit_code, 5) << to_text(change);
  }
  EXPECT_LT(exa.call("pool.add", {{"name", "p"}, {"count", 8}}).status, 300);
}

TEST_F(BackedPools, AReasonThatCouldNotBeReadAgainIsRefused) {
  add("gpu", "gpu");
  for (const std::string& reason :
       {std::string("new\ncooling"), std::string("\x1b[31m"), std::string(2000, 'x')}) {
    EXPECT_EQ(exa.call("pool.drain", {{"name", "gpu"}, {"reason", reason}}).exit_code, 2);
  }
  EXPECT_EQ(exa.call("pool.list", {}).status, 200);
}

TEST_F(BackedPools, TheClusterItselfGetsEveryQuestionAPoolGets) {
  const auto refused_as = [&](json::object args) {
    args["cluster"] = "hpc";
    const json::value body = parse_json(place(std::move(args)).body, "reply").value();
    const json::value& rejection = body.at("rejection");
    return rejection.is_null() ? std::string()
                               : std::string(rejection.at("kind").as_string().c_str());
  };
  EXPECT_EQ(refused_as({}), "");
  EXPECT_EQ(refused_as({{"engine", "ipex"}}), "not-portable");
  EXPECT_EQ(refused_as({{"target", "cloud"}}), "impossible");
  add("gpu", "gpu");
  exa.ask("pool.drain", {{"name", "gpu"}, {"reason", "cooling"}});
  EXPECT_EQ(refused_as({}), "busy");
  exa.ask("pool.drain", {{"name", "gpu"}, {"undo", true}});
  exa.ask("pool.add", {{"name", "gpu"}, {"target", "cloud"}, {"region", "us-east-1"}});
  EXPECT_EQ(refused_as({{"residency", "eu-only"}}), "blocked");
  const json::value events = exa.ask("placement.bursts", {});
  EXPECT_EQ(events.at("items").at(0).at("allowed"), false);
  EXPECT_EQ(events.at("items").at(0).at("region"), "us-east-1");
  exa.now = {exa.now.micros + hours(1).micros};
  EXPECT_EQ(refused_as({}), "not-seen");
}

TEST_F(BackedPools, ListsRefuseLimitsThatMeanNothing) {
  for (const char* route : {"placement.decisions", "placement.bursts"}) {
    EXPECT_EQ(exa.call(route, {{"limit", 0}}).exit_code, 2);
    EXPECT_EQ(exa.call(route, {{"limit", 1001}}).exit_code, 2);
    EXPECT_EQ(exa.call(route, {{"limit", 1}}).exit_code, 0);
  }
}

TEST_F(BackedPools, PricesAreComparedInTheCurrencyThatPoolsArePricedIn) {
  for (const auto& [name, price] : {std::pair{"a", 3}, std::pair{"b", 2}}) {
    exa.ask("pool.add", {{"name", name},
                         {"accelerator", "amd"},
                         {"count", 4},
                         {"cost_per_hour", price},
                         {"currency", "EUR"}});
  }
  const json::value body = parse_json(place({{"accelerator", "amd"}}).body, "reply").value();
  EXPECT_EQ(body.at("placement").at("pool"), "b");
}

}  // namespace
}  // namespace exa
