#include "govern/roles.h"

#include <gtest/gtest.h>

namespace exa {
namespace {

Rights with_role(Role role) {
  Rights rights;
  rights.by_project["vision"] = role;
  return rights;
}

TEST(Roles, NothingIsPermittedToWhoHoldsNothingAndNothingThatIsUnknown) {
  for (const ActionRule& rule : action_rules()) {
    const bool for_all = rule.needs == Needs::anyone || rule.needs == Needs::nobody;
    EXPECT_EQ(permitted({}, rule.action, "vision"), for_all) << rule.action;
  }
  EXPECT_FALSE(permitted(rights_of_owner(), "no_such:action", "vision"));
  EXPECT_FALSE(permitted(rights_of_owner(), "", ""));
}

TEST(Roles, EachRoleMayWhatTheOneBeforeMayAndOnlyInItsProject) {
  for (const ActionRule& rule : action_rules()) {
    const bool viewer = permitted(with_role(Role::viewer), rule.action, "vision");
    const bool member = permitted(with_role(Role::member), rule.action, "vision");
    const bool admin = permitted(with_role(Role::admin), rule.action, "vision");
    EXPECT_LE(viewer, member) << rule.action;
    EXPECT_LE(member, admin) << rule.action;
    EXPECT_LE(admin, permitted(rights_of_owner(), rule.action, "vision")) << rule.action;
    const bool elsewhere = permitted(with_role(Role::admin), rule.action, "speech");
    EXPECT_TRUE(!elsewhere || rule.scope == Scope::platform) << rule.action;
  }
}

TEST(Roles, ATokenNeverWidens) {
  for (const ActionRule& rule : action_rules()) {
    for (const Rights& held : {Rights{}, with_role(Role::admin), rights_of_owner()}) {
      Rights narrowed = held;
      narrowed.only_projects = {"vision"};
      narrowed.only_actions = {std::string(rule.action)};
      for (const ActionRule& asked : action_rules()) {
        for (const char* project : {"vision", "speech"})
          EXPECT_LE(permitted(narrowed, asked.action, project),
                    permitted(held, asked.action, project))
              << rule.action << " " << asked.action;
      }
    }
  }
}

TEST(Roles, NobodyGivesARoleThatDoesMoreThanTheyMay) {
  EXPECT_TRUE(lacking_for_role(with_role(Role::admin), Role::admin, "vision").empty());
  EXPECT_FALSE(lacking_for_role(with_role(Role::member), Role::admin, "vision").empty());
  EXPECT_FALSE(lacking_for_role(with_role(Role::admin), Role::viewer, "speech").empty());
  EXPECT_TRUE(lacking_for_role(rights_of_owner(), Role::admin, "speech").empty());
}

TEST(Roles, AnAccountOfVerbsDoesNothingElse) {
  Rights account;
  account.verbs = {"usage:read"};
  account.verb_projects = {"vision"};
  for (const ActionRule& rule : action_rules()) {
    EXPECT_EQ(permitted(account, rule.action, "vision"),
              rule.action == "usage:read" || rule.needs == Needs::nobody)
        << rule.action;
  }
  EXPECT_FALSE(permitted(account, "usage:read", "speech"));
}

}  // namespace
}  // namespace exa
