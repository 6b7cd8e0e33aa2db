#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <valijson/adapters/boost_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include "catalogue/inputs_for_test.h"

namespace exa {
namespace {

// valijson cuts a number to a whole one before it divides by a whole multipleOf; not by a double.
void make_multiples_double(json::object& schema) {
  for (auto& member : schema["properties"].as_object()) {
    json::object& property = member.value().as_object();
    if (property.contains("multipleOf"))
      property["multipleOf"] = property["multipleOf"].to_number<double>();
  }
}

bool fits_schema(json::object object, const json::value& given) {
  make_multiples_double(object);
  const json::value schema_text = std::move(object);
  valijson::Schema schema;
  valijson::SchemaParser parser;
  parser.populateSchema(valijson::adapters::BoostJsonAdapter(schema_text), schema);
  valijson::Validator validator(valijson::Validator::kStrongTypes);
  return validator.validate(schema, valijson::adapters::BoostJsonAdapter(given), nullptr);
}

class Dice {
 public:
  explicit Dice(unsigned seed) : random_(seed) {}
  size_t below(size_t n) { return random_() % n; }
  bool one_in(size_t n) { return below(n) == 0; }

  // Until it keeps the rules: what is not stored needs no schema.
  std::vector<InputSetting> settings() {
    for (;;) {
      std::vector<InputSetting> list;
      for (size_t i = 1 + below(5); i > 0; --i) list.push_back(setting(list));
      if (problems_of_inputs(list).empty()) return list;
    }
  }

  json::object given(const std::vector<InputSetting>& settings) {
    json::object values;
    for (const InputSetting& setting : settings)
      if (one_in(2)) values[setting.name] = value(setting);
    if (one_in(12)) values["unheard_of"] = 1;
    return values;
  }

 private:
  json::value some_value() {
    static const std::vector<json::value> kValues = {
        0,
        1,
        2,
        3,
        4,
        -2,
        0.5,
        2.5,
        8.0,
        "x",
        "y",
        "",
        "a",
        "bc",
        true,
        false,
        "ab",
        "$(e.n)$",
        "$",
        nullptr,
        json::array{1},
        json::object{},
        json::object{{"value", 1}, {"options", json::object()}},
        json::object{{"min", 1}}};
    return kValues[below(kValues.size())];
  }

  json::value value(const InputSetting& setting) {
    if (one_in(4)) return some_value();
    if (setting.override_ == InputOverride::restricted_key_values)
      return json::string(setting.labelled_values[below(setting.labelled_values.size())].first);
    if (setting.override_ == InputOverride::restricted)
      return setting.allowed_values[below(setting.allowed_values.size())];
    return typed(setting);
  }

  json::value typed(const InputSetting& setting) {
    constexpr std::string_view kTexts[] = {"x", "y", "a", "ab", "bc", "aab"};
    switch (setting.type) {
      case InputType::number:
        return one_in(4) ? json::value(0.5 * static_cast<double>(below(20)))
                         : json::value(static_cast<int64_t>(below(10)) - 2);
      case InputType::boolean:
        return one_in(2);
      case InputType::json:
        return some_value();
      default:
        return json::string(kTexts[below(std::size(kTexts))]);
    }
  }

  InputSetting setting(const std::vector<InputSetting>& before) {
    InputSetting made;
    made.name = fmt::format("in_{}", before.size());
    made.type = static_cast<InputType>(below(7));
    made.required = one_in(3);
    made.override_ = static_cast<InputOverride>(one_in(2) ? 0 : below(4));
    if (made.type == InputType::choice) made.choices = {"x", "y", "bc"};
    if (made.type == InputType::number) {
      if (one_in(2)) made.min_micros = (static_cast<int64_t>(below(4)) - 1) * 1'000'000;
      if (one_in(2)) made.max_micros = static_cast<int64_t>(3 + below(5)) * 1'000'000;
      if (one_in(3)) made.step_micros = one_in(2) ? 500'000 : 2'000'000;
    }
    if ((made.type == InputType::text || made.type == InputType::secret) && one_in(3))
      made.pattern = one_in(2) ? "^a*b?$" : "^(x|bc)$";
    for (size_t i = 1 + below(3); i > 0; --i) {
      if (made.override_ == InputOverride::restricted) made.allowed_values.push_back(typed(made));
      if (made.override_ == InputOverride::restricted_key_values)
        made.labelled_values.emplace_back(fmt::format("L{}", i), typed(made));
    }
    if (one_in(2) || made.override_ == InputOverride::not_allowed) made.default_value = value(made);
    if (!before.empty() && one_in(2)) {
      const InputSetting& other = before[below(before.size())];
      made.depends_on = InputDependency{other.name, {typed(other)}};
      if (one_in(3)) made.depends_on->values.push_back(typed(other));
    }
    return made;
  }

  std::mt19937 random_;
};

TEST(InputSchema, AndTheServerAgreeOnFiveThousandLaunches) {
  constexpr unsigned kSeed = 20261201;
  Dice dice(kSeed);
  int taken = 0;
  int refused = 0;
  int beyond = 0;
  while (taken + refused + beyond < 5000) {
    const auto settings = dice.settings();
    const json::object given = dice.given(settings);
    const bool server = resolve_inputs(settings, given).has_value();
    const json::object schema_text = input_schema(settings);
    const bool schema = fits_schema(schema_text, given);
    if (!std::ranges::all_of(settings, schema_says_all)) {
      ++beyond;  // then the schema lets more through, never less
      EXPECT_TRUE(schema || !server);
      continue;
    }
    ++(server ? taken : refused);
    ASSERT_EQ(server, schema) << "seed " << kSeed << "\n"
                              << to_text(schema_text) << "\n"
                              << to_text(given);
  }
  // a run that only ever refuses would show nothing
  EXPECT_GT(taken, 500);
  EXPECT_GT(refused, 500);
}

TEST(InputSchema, SaysWhatAFormNeeds) {
  const auto settings = sample::inputs(R"([
      {"name": "gpus", "label": "GPUs", "group": "Size", "type": "number", "min": 1, "max": 4,
       "step": 1, "default": 1},
      {"name": "image", "override": "notallowed", "default": "ubuntu"},
      {"name": "password", "type": "secret", "required": true,
       "depends_on": {"input": "gpus", "values": [4]}}])");
  EXPECT_EQ(
      to_text(input_schema(settings)),
      R"({"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{)"
      R"("gpus":{"title":"GPUs","default":1,"type":"number","minimum":1,"maximum":4,"multipleOf":1,)"
      R"("x-exa":{"order":0,"type":"number","override":"allowed","group":"Size","step":1}},)"
      R"("image":{"title":"image","default":"ubuntu","readOnly":true,"not":{},)"
      R"("x-exa":{"order":1,"type":"text","override":"notallowed"}},)"
      R"("password":{"title":"password","type":"string","maxLength":4096,"minLength":1,)"
      R"("writeOnly":true,"x-exa":{"order":2,"type":"secret",)"
      R"("override":"allowed","depends_on":{"input":"gpus","values":[4]}}}},)"
      R"("additionalProperties":false,"allOf":[{"if":{"allOf":[{"anyOf":[{"required":["gpus"],)"
      R"("properties":{"gpus":{"enum":[4]}}}]},{}]},"then":{"required":["password"]},)"
      R"("else":{"not":{"required":["password"]}}}]})");
}

}  // namespace
}  // namespace exa
