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

const Projects kVision{.all = false, .names = {"vision"}};
const Projects kAll{.all = true, .names = {}};

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

}  // namespace
}  // namespace exa
