// The on-call page over real rows: whom it names, and to whom.
#include <gtest/gtest.h>

#include "api/testing.h"

namespace exa {
namespace {

Principal member_of(const std::string& project) {
  Principal who{"user", "grace", "user:grace", {}, "", {}};
  who.rights.by_project[project] = Role::admin;
  return who;
}

// A version that only another project runs on, and that is no longer active.
struct SharedInUse {
  TestExa exa;
  Principal owner = exa.principal;

  SharedInUse() {
    prepare(exa);
    exa.ask("project.create", {{"name", "vision"}});
    exa.ask("hardware_profile.share", {{"name", "eight"}, {"with", json::array{"vision"}}});
    exa.ask("hardware_profile.use", {{"name", "default/eight"},
                                     {"project", "vision"},
                                     {"for", "training"},
                                     {"as", "run"},
                                     {"cluster", "hpc"}});
    json::object next = eight_h100();
    next["gpu_count"] = 4;
    exa.ask("hardware_profile.set", next);
  }
  json::value first_trouble(const Principal& who) {
    exa.principal = who;
    const json::value body = exa.ask("status.show", {});
    exa.principal = owner;
    for (const json::value& row : body.at("profiles").as_array())
      if (row.at("version") == 1) return row;
    return nullptr;
  }
};

TEST(Status, AVersionThatOnlyAnotherProjectRunsOnIsSeenAgainAndReported) {
  SharedInUse shared;
  shared.exa.now = shared.exa.now + minutes(5);
  shared.exa.ask("cluster.discover", {{"name", "hpc"}});
  EXPECT_TRUE(
      shared.first_trouble(shared.owner).is_null());  // it is verified there, and was seen anew
  shared.exa.now = shared.exa.now + minutes(14);
  EXPECT_TRUE(
      shared.first_trouble(shared.owner).is_null());  // as of the second look, not the first
  shared.exa.now = shared.exa.now + minutes(2);
  const json::value row = shared.first_trouble(shared.owner);
  ASSERT_FALSE(row.is_null());
  EXPECT_EQ(row.at("status"), "degraded");
  EXPECT_EQ(row.at("consumers").at(0), "training/run");
  EXPECT_EQ(row.at("next"), "exa cluster discover hpc");
}

TEST(Status, WhoseConsumersTheyAreIsForThoseWhoKnowTheProject) {
  SharedInUse shared;
  shared.exa.now = shared.exa.now + hours(1);
  const json::value of_runner = shared.first_trouble(member_of("vision"));
  ASSERT_FALSE(of_runner.is_null());
  EXPECT_EQ(of_runner.at("consumers").as_array().size(), 1U);
  const json::value of_sharer = shared.first_trouble(member_of("default"));
  ASSERT_FALSE(of_sharer.is_null());
  EXPECT_TRUE(of_sharer.at("consumers").as_array().empty());
  EXPECT_EQ(of_sharer.at("other_consumers"), 1);
  EXPECT_TRUE(shared.first_trouble(member_of("elsewhere")).is_null());
}

}  // namespace
}  // namespace exa
