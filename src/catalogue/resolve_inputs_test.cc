#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catalogue/inputs_for_test.h"

namespace exa {
namespace {

using sample::inputs;
using sample::lines_of;
using sample::parsed;
using testing::ElementsAreArray;

constexpr std::string_view kInputs = R"([
  {"name": "gpus", "type": "number", "min": 1, "max": 4, "step": 1, "default": 1},
  {"name": "image", "override": "notallowed", "default": "ubuntu"},
  {"name": "zone", "override": "restricted", "allowed_values": ["east", "west"], "default": "east"},
  {"name": "size", "type": "number", "override": "restricted-key-values",
   "allowed_values": {"Small": 100, "Large": 2000}, "default": "Small"},
  {"name": "disk", "type": "bool"},
  {"name": "disk_gb", "type": "number", "min": 100, "max": 2000, "step": 50, "required": true,
   "depends_on": {"input": "disk", "values": [true]}},
  {"name": "tier", "type": "enum", "choices": ["hot", "cold"],
   "depends_on": {"input": "disk_gb", "values": [2000]}},
  {"name": "big_note", "depends_on": {"input": "size", "values": [2000]}},
  {"name": "owner", "pattern": "^[a-z]+$"},
  {"name": "extra", "type": "json"},
  {"name": "login", "type": "expression"},
  {"name": "password", "type": "secret", "pattern": "^.{4,}$"}])";

// What comes of it: "masked" as text, or the problems.
std::vector<std::string> outcome(std::string_view given) {
  const auto resolved = resolve_inputs(inputs(kInputs), parsed(given).as_object());
  if (!resolved) return lines_of(resolved.error().problems);
  return {to_text(masked(*resolved))};
}

constexpr std::string_view kDefaults =
    R"("gpus":{"value":1,"source":"default"},"image":{"value":"ubuntu","source":"fixed"},)"
    R"("zone":{"value":"east","source":"default"},)"
    R"("size":{"value":100,"source":"default","label":"Small"})";

TEST(ResolveInputs, FillsDefaultsAndSaysWhereEachValueIsFrom) {
  EXPECT_EQ(outcome("{}").front(), "{" + std::string(kDefaults) + "}");
  EXPECT_EQ(outcome(R"({"gpus": 4.0, "zone": "west", "size": "Large", "big_note": "x"})").front(),
            R"({"gpus":{"value":4,"source":"given"},"image":{"value":"ubuntu","source":"fixed"},)"
            R"("zone":{"value":"west","source":"given"},)"
            R"("size":{"value":2000,"source":"given","label":"Large"},)"
            R"("big_note":{"value":"x","source":"given"}})");
}

TEST(ResolveInputs, AsksForWhatDependsOnlyWhileItIsThere) {
  EXPECT_EQ(outcome(R"({"disk": true, "disk_gb": 2000, "tier": "hot"})").front(),
            "{" + std::string(kDefaults) +
                R"(,"disk":{"value":true,"source":"given"},)"
                R"("disk_gb":{"value":2000,"source":"given"},)"
                R"("tier":{"value":"hot","source":"given"}})");
  EXPECT_EQ(outcome(R"({"disk": false})").front(),
            "{" + std::string(kDefaults) + R"(,"disk":{"value":false,"source":"given"}})");
}

TEST(ResolveInputs, RefusesEveryBreachAtItsPlace) {
  const std::pair<std::string_view, std::vector<std::string>> cases[] = {
      {R"({"gpus": 0})", {"/inputs/gpus must be at least 1, not 0"}},
      {R"({"gpus": 5})", {"/inputs/gpus must be at most 4, not 5"}},
      {R"({"gpus": 1.5})", {"/inputs/gpus must be 1 and steps of 1, not 1.5"}},
      {R"({"gpus": "2"})", {"/inputs/gpus must be a number, not 2"}},
      {R"({"gpus": 1e300})",
       {"/inputs/gpus must be a plain decimal with at most six decimals and within 10^12, not "
        "1e+300"}},
      {R"({"gpus": null})", {"/inputs/gpus is null; leave the input out to take its default"}},
      {R"({"image": "ubuntu"})", {"/inputs/image may not be changed: it is ubuntu"}},
      {R"({"zone": "eastt"})",
       {"/inputs/zone must be one of east, west, not eastt; did you mean east?"}},
      {R"({"size": 2000})", {"/inputs/size must be one of Small, Large, not 2000"}},
      {R"({"size": "Larg"})",
       {"/inputs/size must be one of Small, Large, not Larg; did you mean Large?"}},
      {R"({"disk": "true"})", {"/inputs/disk must be true or false, not true"}},
      {R"({"disk": true})", {"/inputs/disk_gb is required"}},
      {R"({"disk_gb": 100})", {"/inputs/disk_gb is there only while disk is true"}},
      {R"({"disk": true, "disk_gb": 120})",
       {"/inputs/disk_gb must be 100 and steps of 50, not 120"}},
      {R"({"disk": true, "disk_gb": 100, "tier": "hot"})",
       {"/inputs/tier is there only while disk_gb is 2000"}},
      // what depends on a value that is wrong is neither missing nor out of place
      {R"({"disk": "yes", "tier": "warm"})",
       {"/inputs/disk must be true or false, not yes",
        "/inputs/tier must be one of hot, cold, not warm"}},
      {R"({"owner": "A"})", {"/inputs/owner does not match ^[a-z]+$"}},
      {R"({"owner": "a\nb"})", {"/inputs/owner holds control characters"}},
      {R"({"login": "$(a b)$"})",
       {"/inputs/login takes $ only as $(name)$, a name being letters, digits, '_', '-' and '.'"}},
      {R"({"gpu": 2})", {"/inputs/gpu is not an input of this profile; did you mean gpus?"}},
      {R"({"gpus": 9, "zone": 1, "image": "x", "nonsense": 1})",
       {"/inputs/gpus must be at most 4, not 9", "/inputs/image may not be changed: it is ubuntu",
        "/inputs/zone must be a text, not 1", "/inputs/nonsense is not an input of this profile"}},
  };
  for (const auto& [given, problems] : cases)
    EXPECT_THAT(outcome(given), ElementsAreArray(problems)) << given;
}

TEST(ResolveInputs, RefusesRulesThatAClientSends) {
  constexpr std::string_view kSaid =
      " brings rules of its own; give the value alone, the rules are those of the profile";
  for (const std::string_view rules :
       {R"({"value": 8, "options": {"override": {"type": "allowed"}}})", R"({"max": 64})",
        R"({"value": 8})", R"({"override": "allowed"})"}) {
    for (const std::string_view input : {"gpus", "zone", "size", "owner", "password"})
      EXPECT_EQ(outcome(fmt::format(R"({{"{}": {}}})", input, rules)).front(),
                fmt::format("/inputs/{}{}", input, kSaid));
  }
  EXPECT_EQ(outcome(R"({"extra": {"value": 8, "options": {}}})").front(),
            fmt::format("/inputs/extra{}", kSaid));
  EXPECT_THAT(outcome(R"({"extra": {"min": 8, "value": 3}})").front(),
              testing::HasSubstr(R"("extra":{"value":{"min":8,"value":3})"));
}

TEST(ResolveInputs, NeverShowsASecret) {
  const auto given = parsed(R"({"password": "hunter2\nline"})").as_object();
  const auto resolved = resolve_inputs(inputs(kInputs), given);
  ASSERT_FALSE(resolved.has_value());  // '.' is no end of a line
  EXPECT_THAT(lines_of(resolved.error().problems),
              testing::ElementsAre("/inputs/password does not match ^.{4,}$"));
  for (const std::string_view wrong :
       {R"({"password": "abc"})", R"({"password": 12345})", R"({"password": ["hunter2"]})"})
    EXPECT_THAT(outcome(wrong).front(),
                testing::Not(testing::AnyOf(testing::HasSubstr("abc"), testing::HasSubstr("12345"),
                                            testing::HasSubstr("hunter2"))))
        << wrong;
  const auto taken =
      resolve_inputs(inputs(kInputs), parsed(R"({"password": "hunter2"})").as_object());
  ASSERT_TRUE(taken.has_value());
  EXPECT_THAT(to_text(masked(*taken)), testing::HasSubstr(R"("password":{"value":"********")"));
  EXPECT_THAT(to_text(masked(*taken)), testing::Not(testing::HasSubstr("hunter2")));
  EXPECT_EQ(revealed(*taken).at("password"), "hunter2");
}

TEST(ResolveInputs, ACircleThatWasStoredShowsNothing) {
  std::vector<InputSetting> circle(2);
  circle[0].name = "a";
  circle[0].depends_on = InputDependency{"b", {"x"}};
  circle[1].name = "b";
  circle[1].depends_on = InputDependency{"a", {"x"}};
  const auto resolved = resolve_inputs(circle, {});
  ASSERT_TRUE(resolved.has_value());
  EXPECT_TRUE(resolved->values.empty());
  EXPECT_FALSE(to_text(input_schema(circle)).empty());
}

TEST(InputFromText, ReadsWhatAFlagSays) {
  const std::tuple<size_t, std::string_view, std::string_view> cases[] = {
      {0, "3", "3"},       {0, "2.50", "2.5"}, {0, "three", ""},     {3, "Large", R"("Large")"},
      {4, "true", "true"}, {4, "yes", ""},     {8, "12", R"("12")"}, {9, "[1,2]", "[1,2]"},
      {9, "[1,", ""},
  };
  const auto settings = inputs(kInputs);
  for (const auto& [i, text, expected] : cases) {
    const auto value = input_from_text(settings[i], text);
    EXPECT_EQ(value ? to_text(*value) : "", expected) << settings[i].name << " " << text;
  }
}

}  // namespace
}  // namespace exa
