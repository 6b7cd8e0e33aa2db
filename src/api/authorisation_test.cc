// The authorisation matrix: the route table × every role × every relation to the object.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/authorisation_matrix_for_test.h"

namespace exa {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Authorisation, EveryRowHasAnActionAndSaysWhichProject) {
  for (const Route& route : routes()) EXPECT_EQ(authorisation_gap(route), "");
}

TEST(Authorisation, EveryActionOfTheTableIsOneOfARoute) {
  for (const ActionRule& rule : action_rules()) {
    const bool used = std::ranges::any_of(routes(), [&](const Route& route) {
      return route.action == rule.action || route.action_with.action == rule.action;
    });
    // asked for by use cases, beside what their row asks for
    const bool beside = rule.action == "user:write" || rule.action == "compute_profile:write";
    EXPECT_TRUE(used || beside) << rule.action;
  }
}

TEST(Authorisation, ThePolicyCoversEveryRouteInEveryRelation) {
  std::set<std::pair<std::string, std::string>> said;
  for (const PolicyLine& line : read_policy_lines()) {
    EXPECT_TRUE(said.insert({line.route, line.relation}).second) << line.route << line.relation;
    EXPECT_TRUE(matrix_arguments().contains(line.route)) << line.route;
  }
  for (const Route& route : routes()) {
    const std::string id(route.id);
    const bool of_platform = said.contains({id, "platform"});
    const bool of_objects = said.contains({id, "own"}) && said.contains({id, "foreign"}) &&
                            said.contains({id, "absent"});
    EXPECT_TRUE(of_platform || of_objects) << id << ": no line in authorisation/policy.csv";
    const ActionRule* rule = find_action(route.action);
    EXPECT_TRUE(of_objects || rule == nullptr || rule->scope == Scope::platform) << id;
    if (!route.action_with.action.empty()) {
      EXPECT_TRUE(said.contains({id + "+" + std::string(route.action_with.argument), "own"})) << id;
    }
  }
}

TEST(Authorisation, TheMatrixIsExactlyThePolicy) {
  AuthorisationWorld world;
  for (const PolicyLine& line : read_policy_lines()) {
    for (const std::string& role : matrix_roles()) {
      std::string body;
      const std::string got = world.outcome(routes(), line, role, &body);
      EXPECT_EQ(got, line.expected.at(role))
          << line.route << " " << line.relation << " as " << role << "\n"
          << body;
    }
  }
}

// "Not yours" and "not there" in one answer, byte for byte.
TEST(Authorisation, SomebodyElsesIsAnsweredAsWhatIsNotThere) {
  AuthorisationWorld world;
  for (const PolicyLine& line : read_policy_lines()) {
    if (line.relation != "foreign") continue;
    for (const std::string& role : matrix_roles()) {
      if (line.expected.at(role) != "404") continue;
      std::string foreign;
      std::string absent;
      world.outcome(routes(), line, role, &foreign);
      world.outcome(routes(), {line.route, "absent", {}}, role, &absent);
      EXPECT_THAT(foreign, Not(HasSubstr("linus"))) << line.route;
      // the name that was asked for is in both; nothing else may differ
      const auto without = [](std::string text) {
        for (const std::string name : {"secret", "nowhere", "nothing"})
          for (size_t at = text.find(name); at != std::string::npos; at = text.find(name))
            text.replace(at, name.size(), "*");
        const size_t quote = text.find("\\\"");
        const size_t end = quote == std::string::npos ? quote : text.find("\\\"", quote + 1);
        if (end != std::string::npos) text.replace(quote, end - quote, "*");
        return text;
      };
      EXPECT_EQ(without(foreign), without(absent)) << line.route << " as " << role;
    }
  }
}

TEST(Authorisation, ARefusalSaysWhatIsNeededAndWhoCanGiveIt) {
  AuthorisationWorld world;
  std::string body;
  world.outcome(routes(), {"hardware_profile.set", "own", {}}, "viewer", &body);
  EXPECT_THAT(body, HasSubstr("it needs the role admin, which linus can give"));
  world.outcome(routes(), {"cluster.add", "platform", {}}, "admin", &body);
  EXPECT_THAT(body, HasSubstr("it needs the role platform-admin"));
}

TEST(Authorisation, RefusedChangesAreEntriesOfTheLogWhateverTheAnswer) {
  AuthorisationWorld world;
  TestExa& exa = world.exa;
  const Principal owner = exa.principal;
  const json::object shape{{"name", "small"}, {"accelerator_family", "cpu"}};
  for (const char* project : {"vision", "secret", "nowhere"}) {
    json::object args = shape;
    args["project"] = project;
    const int64_t before = exa.audit_size();
    exa.principal = world.principal_of("viewer", *find_route("hardware_profile.set"), false);
    EXPECT_GE(exa.call("hardware_profile.set", args).status, 403);
    exa.principal = owner;
    EXPECT_EQ(exa.audit_size(), before + 1) << project;
    const json::value entry = exa.ask("audit.list", {{"limit", 1}}).at("items").at(0);
    EXPECT_EQ(entry.at("outcome"), "refused");
    EXPECT_EQ(entry.at("actor_name"), "viewer");
    EXPECT_EQ(entry.at("project"), project);
  }
}

TEST(Authorisation, ListsShowWhatIsTheCallersAndCountTheRest) {
  AuthorisationWorld world;
  TestExa& exa = world.exa;
  exa.ask(
      "hardware_profile.use",
      {{"name", "secret/shared"}, {"for", "training"}, {"as", "theirs"}, {"project", "vision"}});
  exa.principal = world.principal_of("viewer", *find_route("project.list"), false);
  const json::value projects = exa.ask("project.list", {});
  ASSERT_EQ(projects.at("items").as_array().size(), 1U);
  EXPECT_EQ(projects.at("items").at(0).at("name"), "vision");
  const json::value pool = exa.ask("pool.show", {{"name", "pool"}});
  EXPECT_EQ(pool.at("leases").as_array().size(), 1U);
  EXPECT_EQ(pool.at("leases_of_other_projects"), 1);
  // the lease that was taken, and those of five launches
  EXPECT_EQ(exa.ask("usage.records", {{"all_projects", true}}).at("items").as_array().size(), 6U);
  exa.principal.rights.by_project = {{"secret", Role::admin}};
  const json::value in_use = exa.ask("hardware_profile.in_use", {{"project", "secret"}});
  EXPECT_EQ(in_use.at("in_other_projects"), 1);
  EXPECT_THAT(to_text(in_use), Not(HasSubstr("theirs")));
  const Reply refused =
      exa.call("hardware_profile.delete", {{"name", "shared"}, {"project", "secret"}});
  EXPECT_EQ(refused.status, 409);
  EXPECT_THAT(refused.body, Not(HasSubstr("theirs")));
}

}  // namespace
}  // namespace exa
