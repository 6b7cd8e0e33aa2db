// What a launch asks for, and how values are held against it before one.
#include "api/compute_profiles_for_test.h"

namespace exa {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using testing::UnorderedElementsAre;

class ComputeProfileInputs : public ComputeProfiles {
 protected:
  ComputeProfileInputs() {
    create("small", R"({"inputs": [
      {"name": "size", "type": "number", "min": 1, "max": 4, "default": 1},
      {"name": "zone", "override": "restricted", "allowed_values": ["eu", "us"], "required": true},
      {"name": "image", "override": "notallowed", "default": "base"},
      {"name": "fast", "type": "bool"},
      {"name": "password", "type": "secret"}]})");
    publish("small");
  }
  static json::object with(json::array texts, json::object values) {
    return {{"name", "small"}, {"input", std::move(texts)}, {"inputs", std::move(values)}};
  }
  json::value check(json::array texts, json::object values) {
    return exa.ask("compute_profile.check", with(std::move(texts), std::move(values)));
  }
  std::vector<std::string> refused(json::array texts, json::object values) {
    const Reply reply =
        exa.call("compute_profile.check", with(std::move(texts), std::move(values)));
    EXPECT_EQ(reply.exit_code, 2);
    std::vector<std::string> lines;
    for (const Problem& problem : error_of(reply).problems)
      lines.push_back(problem.where + " " + problem.message);
    return lines;
  }
};

TEST_F(ComputeProfileInputs, AreToldInOrderWithASchemaForForms) {
  const json::value told = exa.ask("compute_profile.inputs", {{"name", "small"}});
  EXPECT_EQ(told.at("version"), 1);
  EXPECT_EQ(told.at("items").at(0).at("name"), "size");
  EXPECT_EQ(told.at("items").at(4).at("type"), "secret");
  EXPECT_EQ(told.at("schema").at("properties").at("size").at("maximum"), 4);
}

TEST_F(ComputeProfileInputs, TextsOfFlagsGetTheTypeThatIsStored) {
  const json::value checked = check({"size=3", "zone=eu", "fast=true"}, {});
  const json::value& inputs = checked.at("inputs");
  EXPECT_EQ(inputs.at("size").at("value"), 3);
  EXPECT_EQ(inputs.at("fast").at("value"), true);
  EXPECT_EQ(inputs.at("zone").at("source"), "given");
  EXPECT_EQ(inputs.at("image").at("value"), "base");
  EXPECT_EQ(inputs.at("image").at("source"), "fixed");
  EXPECT_EQ(check({"zone=us"}, {}).at("inputs").at("size").at("source"), "default");
}

TEST_F(ComputeProfileInputs, OfAFileAreJsonOrYaml) {
  exa.ask("compute_profile.check", {{"name", "small"}, {"inputs", "size: 2\nzone: eu\n"}});
  exa.ask("compute_profile.check", {{"name", "small"}, {"inputs", R"({"size": 2, "zone": "eu"})"}});
}

TEST_F(ComputeProfileInputs, AreHeldAgainstTheStoredVersionEveryProblemAtOnce) {
  EXPECT_THAT(refused({"size=9", "fast=perhaps", "colour=red"}, {{"image", "mine"}}),
              UnorderedElementsAre(StartsWith("/inputs/size "), StartsWith("/inputs/fast "),
                                   StartsWith("/inputs/colour "), StartsWith("/inputs/image "),
                                   StartsWith("/inputs/zone is required")));
}

TEST_F(ComputeProfileInputs, RulesThatAClientSendsAreRefused) {
  EXPECT_THAT(
      refused({}, {{"zone", json::object{{"value", "moon"}, {"options", json::array{"moon"}}}}}),
      ElementsAre(StartsWith("/inputs/zone ")));
}

TEST_F(ComputeProfileInputs, ANameThatIsGivenBothWaysIsRefusedWhoeverWouldWin) {
  EXPECT_THAT(refused({"size=2", "zone=eu"}, {{"size", 2}}),
              ElementsAre("/inputs/size is given twice"));
  EXPECT_THAT(refused({"zone=eu", "zone=eu"}, {}), ElementsAre("/inputs/zone is given twice"));
}

TEST_F(ComputeProfileInputs, SecretsAreMaskedAndNeverTheTextOfAFlag) {
  const Reply checked =
      exa.call("compute_profile.check", with({"zone=eu"}, {{"password", "hunter2-and-more"}}));
  EXPECT_EQ(checked.status, 200);
  EXPECT_THAT(checked.body, Not(HasSubstr("hunter2")));
  EXPECT_THAT(checked.body, HasSubstr("********"));
  const Reply flagged =
      exa.call("compute_profile.check", with({"zone=eu", "password=hunter2-and-more"}, {}));
  EXPECT_EQ(flagged.exit_code, 2);
  EXPECT_THAT(flagged.body, Not(HasSubstr("hunter2")));
}

TEST_F(ComputeProfileInputs, CheckedByAViewerChangeNothing) {
  const int64_t entries = exa.audit_size();
  as(Role::viewer, "default");
  check({"zone=eu"}, {});
  as_owner();
  EXPECT_EQ(exa.audit_size(), entries);
}

}  // namespace
}  // namespace exa
