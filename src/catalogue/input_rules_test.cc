#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catalogue/inputs_for_test.h"

namespace exa {
namespace {

using sample::lines_of;
using sample::read_inputs;
using testing::ElementsAreArray;

struct Case {
  std::string_view inputs;
  std::vector<std::string> problems;
};

TEST(InputRules, EachBreachIsToldAtItsPlace) {
  const Case cases[] = {
      {R"([{"name": "a"}])", {}},
      {R"([{}])", {"/inputs/0/name is missing"}},
      {R"([{"name": "GPU Count"}])",
       {"/inputs/0/name \"GPU Count\" is no name of an input: letters, digits and '_', no digit "
        "first, at most 63; did you mean gpu_count?"}},
      {R"([{"name": "a"}, {"name": "a"}])", {"/inputs/1/name there is another input a"}},
      {R"([{"name": "a", "type": "numbr"}])",
       {"/inputs/0/type \"numbr\" is not one of text, number, bool, enum, json, expression, "
        "secret; did you mean number?"}},
      {R"([{"name": "a", "override": "sometimes", "lable": "A"}])",
       {"/inputs/0/override \"sometimes\" is not one of allowed, notallowed, restricted, "
        "restricted-key-values",
        "/inputs/0/lable is not a field of an input; did you mean label?"}},
      {R"([{"name": "a", "min": 1, "pattern": "^a$", "choices": ["x"]}])",
       {"/inputs/0/min is for numbers; this is of type text",
        "/inputs/0/choices is for type enum; this is of type text; override restricted and "
        "allowed_values list values of any type"}},
      {R"([{"name": "a", "type": "number", "min": 4, "max": 2}])",
       {"/inputs/0/max is less than min"}},
      {R"([{"name": "a", "type": "number", "step": 0}])", {"/inputs/0/step must be more than 0"}},
      {R"([{"name": "a", "type": "number", "min": 0.0000001}])",
       {"/inputs/0/min must be a number with at most six decimals, not 0.0000001"}},
      {R"([{"name": "a", "type": "number", "min": 1, "max": 8, "default": 9}])",
       {"/inputs/0/default must be at most 8, not 9"}},
      {R"([{"name": "a", "type": "number", "min": 1, "step": 2, "default": 4}])",
       {"/inputs/0/default must be 1 and steps of 2, not 4"}},
      {R"([{"name": "a", "type": "number", "default": "4"}])",
       {"/inputs/0/default must be a number, not 4"}},
      {R"([{"name": "a", "pattern": "^a|b$"}])",
       {"/inputs/0/pattern character 3: alternatives stand in a group: ^(a|b)$"}},
      {R"([{"name": "a", "pattern": "^[a-z]+$", "default": "A"}])",
       {"/inputs/0/default does not match ^[a-z]+$"}},
      {R"([{"name": "a", "type": "enum"}])", {"/inputs/0/choices is missing: what an enum may be"}},
      {R"([{"name": "a", "type": "enum", "choices": ["x", "x"]}])",
       {"/inputs/0/choices lists a value twice"}},
      {R"([{"name": "a", "type": "enum", "choices": ["x", "y"], "default": "z"}])",
       {"/inputs/0/default must be one of x, y, not z"}},
      {R"([{"name": "a", "override": "notallowed"}])",
       {"/inputs/0/default is missing: it is the value that nobody may change"}},
      {R"([{"name": "a", "override": "restricted"}])",
       {"/inputs/0/allowed_values is missing: what a restricted input may be"}},
      {R"([{"name": "a", "allowed_values": ["x"]}])",
       {"/inputs/0/allowed_values is for override restricted and restricted-key-values; this is "
        "allowed"}},
      {R"([{"name": "a", "type": "number", "max": 8, "override": "restricted",
            "allowed_values": [1, "2", 16]}])",
       {"/inputs/0/allowed_values/1 must be a number, not 2",
        "/inputs/0/allowed_values/2 must be at most 8, not 16"}},
      {R"([{"name": "a", "override": "restricted", "allowed_values": ["x"], "default": "y"}])",
       {"/inputs/0/default must be one of x, not y"}},
      {R"([{"name": "a", "override": "restricted-key-values"}])",
       {"/inputs/0/allowed_values is missing: the labels and what they stand for"}},
      {R"([{"name": "a", "override": "restricted-key-values", "allowed_values": ["x"]}])",
       {"/inputs/0/allowed_values must be an object of labels and their values"}},
      {R"([{"name": "a", "type": "number", "override": "restricted-key-values",
            "allowed_values": {"Small": 1, "Large": "8"}, "default": 1}])",
       {"/inputs/0/allowed_values/Large must be a number, not 8"}},
      {R"([{"name": "a", "type": "number", "override": "restricted-key-values",
            "allowed_values": {"Small": 1}, "default": 1}])",
       {"/inputs/0/default must be one of Small, not 1"}},
      {R"([{"name": "a", "type": "secret", "default": "hunter2"}])",
       {"/inputs/0/default a secret has none: everybody who sees the profile would see it"}},
      {R"([{"name": "a", "type": "secret", "override": "notallowed"}])",
       {"/inputs/0/override a secret is given by whoever launches: only allowed will do"}},
      {R"([{"name": "a", "type": "expression", "default": "x-$(env.name)$"}])", {}},
      {R"([{"name": "a", "type": "expression", "default": "$(rm -rf)$"}])",
       {"/inputs/0/default takes $ only as $(name)$, a name being letters, digits, '_', '-' and "
        "'.'"}},
      {R"([{"name": "a", "depends_on": {"input": "b", "values": ["x"]}}, {"name": "bb"}])",
       {"/inputs/0/depends_on/input there is no input \"b\"; did you mean bb?"}},
      {R"([{"name": "a", "depends_on": {"input": "b"}}, {"name": "b"}])",
       {"/inputs/0/depends_on/values is missing: the values that show this input"}},
      {R"([{"name": "a", "depends_on": {"input": "b", "values": ["x"]}},
           {"name": "b", "depends_on": {"input": "a", "values": ["x"]}}])",
       {"/inputs/0/depends_on/input a depends on itself",
        "/inputs/1/depends_on/input b depends on itself"}},
      {R"([{"name": "a", "depends_on": {"input": "a", "values": ["x"]}}])",
       {"/inputs/0/depends_on/input a depends on itself"}},
      {R"([{"name": "a", "depends_on": {"input": "b", "values": ["x", "q"]}},
           {"name": "b", "type": "enum", "choices": ["x", "y"]}])",
       {"/inputs/0/depends_on/values/1 b is never q"}},
      {R"([{"name": "a", "depends_on": {"input": "b", "values": ["x"]}},
           {"name": "b", "type": "secret"}])",
       {"/inputs/0/depends_on/input b is of type secret: nothing can depend on its value"}},
  };
  for (const Case& each : cases)
    EXPECT_THAT(lines_of(read_inputs(each.inputs).problems), ElementsAreArray(each.problems))
        << each.inputs;
}

TEST(InputRules, SettingsComeBackAsTheyWereWritten) {
  constexpr std::string_view kInputs = R"([
      {"name": "n", "type": "number", "min": 1, "max": 8.5, "step": 0.5, "default": 2.0,
       "label": "N", "description": "how many", "group": "Size", "required": true},
      {"name": "k", "type": "number", "override": "restricted-key-values",
       "allowed_values": {"Small": 1, "Large": 8.0}, "default": "Small"},
      {"name": "e", "type": "enum", "choices": ["x", "y"]},
      {"name": "p", "pattern": "^[a-z]+$", "depends_on": {"input": "k", "values": [8.0]}}])";
  for (const InputSetting& setting : sample::inputs(kInputs)) {
    std::vector<Problem> problems;
    EXPECT_EQ(input_setting_from_json(to_json(setting), "", problems), setting);
    EXPECT_THAT(lines_of(problems), testing::IsEmpty());
  }
}

}  // namespace
}  // namespace exa
