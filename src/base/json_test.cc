#include "base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace exa {
namespace {

std::string round_trip(std::string_view text) {
  return to_text(parse_json(text, "t").value());
}

TEST(Json, NumbersPrintAsAPersonWritesThem) {
  EXPECT_EQ(round_trip("[0.5, 8.0, 1e2, 0.1, -3, 18446744073709551615, 1.5e-7]"),
            "[0.5,8,100,0.1,-3,18446744073709551615,0.00000015]");
}

TEST(Json, LongDecimalsAreReadExactly) {
  for (const char* text : {"0.30000000000000004", "23.54013442993164", "2.2250738585072014e-308"}) {
    EXPECT_EQ(parse_json(text, "t").value().as_double(), std::stod(text)) << text;
  }
}

TEST(Json, KeysKeepTheirOrderUnlessCanonical) {
  const json::value value = parse_json(R"({"b":1,"a":{"d":2,"c":[]}})", "t").value();
  EXPECT_EQ(to_text(value), R"({"b":1,"a":{"d":2,"c":[]}})");
  EXPECT_EQ(to_canonical_text(value), R"({"a":{"c":[],"d":2},"b":1})");
}

TEST(Json, ControlCharactersAreEscaped) {
  EXPECT_EQ(to_text(json::value(std::string_view("a\x01\x1b\n\"\\", 6))),
            "\"a\\u0001\\u001b\\n\\\"\\\\\"");
}

TEST(Json, EveryDuplicateKeyIsNamedWithItsPlace) {
  const auto result = parse_json(R"({"a":1,"a":2,"list":[{"x":1,"x":2}]})", "body");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::invalid_input);
  EXPECT_THAT(result.error().problems,
              testing::ElementsAre(Problem{"/a", "this key stands twice", ""},
                                   Problem{"/list/0/x", "this key stands twice", ""}));
}

TEST(Json, BrokenTextNamesLineAndColumn) {
  const auto result = parse_json("{\n  \"a\": tru\n}", "f.json");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().problems.at(0).where.substr(0, 9), "f.json:2:");
}

TEST(Json, LimitsHold) {
  EXPECT_FALSE(parse_json(std::string(100, '[') + std::string(100, ']'), "t"));
  EXPECT_TRUE(parse_json(std::string(60, '[') + std::string(60, ']'), "t"));
  std::string wide = "[";
  for (int i = 0; i < 20'000; ++i) wide += "1,";
  wide += "1]";
  EXPECT_FALSE(parse_json(wide, "t"));
  EXPECT_TRUE(parse_json(wide, "t", tool_output_limits()));
  EXPECT_FALSE(parse_json(std::string(2 << 20, ' ') + "1", "t"));
}

TEST(Json, WhatIsNotJsonIsRefused) {
  for (const char* text : {"", "NaN", "[1,]", "{\"a\"}", "1 2", "{'a':1}", "Infinity", "1e999",
                           "\"\xff\"", "// c\n1", "01", "nul"}) {
    EXPECT_FALSE(parse_json(text, "t")) << text;
  }
}

TEST(Json, PointersEscapeTheirSpecialCharacters) {
  EXPECT_EQ(pointer("/labels", "a/b~c"), "/labels/a~1b~0c");
}

TEST(Json, ThousandthsBecomeTheShortestNumber) {
  EXPECT_EQ(to_text(number_from_milli(500)), "0.5");
  EXPECT_EQ(to_text(number_from_milli(8000)), "8");
  EXPECT_EQ(to_text(number_from_milli(333)), "0.333");
}

}  // namespace
}  // namespace exa
