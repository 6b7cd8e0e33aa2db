// Who hears of what.
#include "service/events.h"

#include <gtest/gtest.h>

namespace exa {
namespace {

Event event(std::string kind, std::string project) {
  Event made;
  made.kind = std::move(kind);
  made.project = std::move(project);
  for (const char* of : {"vision", "secret"})
    made.changes.push_back(json::object{{"project", of}, {"name", "small"}});
  return made;
}

const Listener kVision{.known = {.all = false, .names = {"vision"}}, .writes_skus = {}};
const Listener kAll{.known = {.all = true, .names = {}}, .writes_skus = {.all = true, .names = {}}};

TEST(Events, OfAProjectAreForThoseWhoKnowIt) {
  EXPECT_TRUE(seen_by(kVision, event("hardware_profile", "vision")));
  EXPECT_FALSE(seen_by(kVision, event("hardware_profile", "secret")));
  EXPECT_TRUE(seen_by(kAll, event("hardware_profile", "secret")));
}

TEST(Events, OfThePlatformAreForEverybodyUnlessTheyAreAboutPeople) {
  EXPECT_TRUE(seen_by(kVision, event("cluster", "")));
  for (const char* kind : {"user", "token", "session", "setup_code", "role_binding", "anything"}) {
    EXPECT_FALSE(seen_by(kVision, event(kind, ""))) << kind;
    EXPECT_TRUE(seen_by(kAll, event(kind, ""))) << kind;
  }
}

TEST(Events, StatusesOfOtherProjectsAreLeftOut) {
  const auto seen = seen_by(kVision, event("cluster", ""));
  ASSERT_TRUE(seen);
  ASSERT_EQ(seen->changes.size(), 1U);
  EXPECT_EQ(seen->changes[0].at("project"), "vision");
}

TEST(Events, OfComputeProfilesAreForThoseWhoWriteThem) {
  Rights rights;
  for (const auto& [role, hears] : {std::pair(Role::viewer, false), std::pair(Role::member, false),
                                    std::pair(Role::admin, true)}) {
    rights.by_project["vision"] = role;
    for (const char* kind : {"sku", "sku_version"})
      EXPECT_EQ(seen_by(listener_of(rights), event(kind, "vision")).has_value(), hears)
          << kind << " " << name(role);
    EXPECT_FALSE(seen_by(listener_of(rights), event("sku", "secret"))) << name(role);
    EXPECT_FALSE(seen_by(listener_of(rights), event("sku", ""))) << name(role);
  }
  EXPECT_TRUE(seen_by(listener_of(rights_of_owner()), event("sku", "secret")));
  rights.only_actions = {"event:read"};  // a token that was not made for writing them
  EXPECT_FALSE(seen_by(listener_of(rights), event("sku", "vision")));
}

}  // namespace
}  // namespace exa
