#include "base/yaml.h"

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"

namespace exa {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string read_one(std::string_view text) {
  const auto documents = parse_yaml(text, "f.yaml");
  if (!documents) {
    return "error " + documents.error().problems.at(0).where + " " +
           documents.error().problems.at(0).message;
  }
  return documents->size() == 1 ? to_text(documents->front().value) : "not one document";
}

std::vector<std::string> problems_of(std::string_view text) {
  const auto documents = parse_yaml(text, "f.yaml");
  std::vector<std::string> result;
  if (documents) return result;
  for (const Problem& p : documents.error().problems) result.push_back(p.where + " " + p.message);
  return result;
}

struct Scalar {
  std::string_view yaml;
  std::string_view json;
};

TEST(Yaml, PlainScalarsFollowTheCoreSchema) {
  constexpr Scalar kScalars[] = {
      {"no", R"("no")"},
      {"yes", R"("yes")"},
      {"on", R"("on")"},
      {"y", R"("y")"},
      {"true", "true"},
      {"True", "true"},
      {"FALSE", "false"},
      {"tRUE", R"("tRUE")"},
      {"null", "null"},
      {"Null", "null"},
      {"NULL", "null"},
      {"~", "null"},
      {"nULL", R"("nULL")"},
      {"\"\"", R"("")"},
      {"0", "0"},
      {"-0", "0"},
      {"+7", "7"},
      {"007", "7"},
      {"010", "10"},
      {"0o17", "15"},
      {"0x1F", "31"},
      {"0xff", "255"},
      {"-0x1", R"("-0x1")"},
      {"0o8", R"("0o8")"},
      {"0b11", R"("0b11")"},
      {"1_000", R"("1_000")"},
      {"12:30:45", R"("12:30:45")"},
      {"1.5", "1.5"},
      {".5", "0.5"},
      {"1.", "1"},
      {"+1.5e3", "1500"},
      {"1E-2", "0.01"},
      {"1e", R"("1e")"},
      {".", R"(".")"},
      {"1.2.3", R"("1.2.3")"},
      {"22.04", "22.04"},
      {"9223372036854775807", "9223372036854775807"},
      {"-9223372036854775808", "-9223372036854775808"},
      {"18446744073709551615", "18446744073709551615"},
      {"'8'", R"("8")"},
      {"2026-11-30", R"("2026-11-30")"},
      {"1g.10gb", R"("1g.10gb")"},
      {"\"caf\\u00e9\"", "\"caf\xc3\xa9\""},
  };
  for (const auto& [yaml, expected] : kScalars) {
    EXPECT_EQ(read_one(fmt::format("a: {}\n", yaml)), fmt::format(R"({{"a":{}}})", expected));
  }
}

TEST(Yaml, AbsentValuesAreNull) {
  EXPECT_EQ(read_one("a:\nb: ~\nc: [ , ]\n").substr(0, 5), "error");
  EXPECT_EQ(read_one("a:\nb:\n  -\n  - 1\n"), R"({"a":null,"b":[null,1]})");
}

TEST(Yaml, WhatIsNoAmountIsRefused) {
  for (const char* text : {".nan", ".NaN", ".inf", "-.INF", "+.Inf", "1e999", "1e-999",
                           "18446744073709551616", "-9223372036854775809", "0xfffffffffffffffff"}) {
    EXPECT_THAT(read_one(fmt::format("a: {}\n", text)), HasSubstr("error f.yaml:1:4 ")) << text;
  }
  EXPECT_EQ(read_one("a: '.nan'\n"), R"({"a":".nan"})");
}

TEST(Yaml, EveryProblemIsNamedWithItsPlace) {
  EXPECT_THAT(
      problems_of("a: &x 1\nb: *x\na: 2\nlist:\n  - !!str 3\n  - {k: .nan, k: 1}\n"
                  "? [1]\n: 5\n<<: {z: 1}\n? ~\n: 6\n"),
      ElementsAre("f.yaml:1:4 anchors are not read: &x", "f.yaml:2:4 aliases are not read: *x",
                  "f.yaml:3:1 the key a stands twice (first on line 1)",
                  "f.yaml:5:5 tags are not read: tag:yaml.org,2002:str",
                  "f.yaml:6:9 .nan: NaN is no amount",
                  "f.yaml:6:15 the key k stands twice (first on line 6)",
                  "f.yaml:7:3 a key must be text", "f.yaml:9:1 merge keys are not read",
                  "f.yaml:10:3 a key must be text"));
}

TEST(Yaml, BrokenTextNamesLineAndColumn) {
  EXPECT_THAT(read_one("a: 1\nb: [1, 2\n"), HasSubstr("error f.yaml:3:1 not valid YAML"));
  EXPECT_THAT(read_one("a:\n\tb: 1\n"), HasSubstr("error f.yaml:2:1 not valid YAML"));
  EXPECT_THAT(read_one("a: \xff\n"), HasSubstr("error f.yaml:1:4 not valid YAML"));
  EXPECT_THAT(read_one(std::string_view("a: \0b\n", 7)), HasSubstr("not valid YAML"));
  EXPECT_THAT(read_one("a: \"\\ud800\"\n"), HasSubstr("not valid YAML"));
}

TEST(Yaml, ATabIsNamedAsTheLikelyMistake) {
  const auto result = parse_yaml("a:\n\tb: 1\n", "f.yaml");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().problems.at(0).suggestion, "indent with blanks, not with tabs");
}

// A few hundred bytes that expand to gigabytes elsewhere.
TEST(Yaml, AnAliasBombIsRefusedUnexpanded) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 10; ++i) {
    bomb += fmt::format("a{0}: &a{0} [*a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}]\n", i,
                        i - 1);
  }
  const auto result = parse_yaml(bomb, "f.yaml");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::invalid_input);
  EXPECT_LE(result.error().problems.size(), 100U);
}

TEST(Yaml, LimitsHold) {
  const auto nested = [](size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']') + "\n";
  };
  EXPECT_TRUE(parse_yaml(nested(64), "f"));
  EXPECT_THAT(read_one(nested(65)), HasSubstr("nested deeper than 64"));
  EXPECT_THAT(read_one(std::string(100'000, '[')), HasSubstr("nested deeper than 64"));
  std::string wide;
  for (int i = 0; i < 9'998; ++i) wide += "- 1\n";
  EXPECT_TRUE(parse_yaml(wide, "f"));
  EXPECT_THAT(read_one(wide + "- 1\n- 1\n"), HasSubstr("more than 10000 values"));
  std::string many;
  for (int i = 0; i < 100; ++i) many += "---\na: 1\n";
  EXPECT_EQ(parse_yaml(many, "f").value().size(), 100U);
  EXPECT_THAT(read_one(many + "---\nb: 1\n"), HasSubstr("f.yaml:201:1 more than 100 documents"));
  EXPECT_THAT(read_one("a: " + std::string(65'537, 'x')), HasSubstr("a text of 65537 bytes"));
  EXPECT_FALSE(parse_yaml(std::string((1 << 20) + 1, ' '), "f"));
}

TEST(Yaml, DocumentsKnowTheirLine) {
  const auto documents = parse_yaml("# head\na: 1\n---\nb: 2\n...\n---\n", "f").value();
  ASSERT_EQ(documents.size(), 3U);
  EXPECT_EQ(documents[0].line, 2);
  EXPECT_EQ(documents[1].line, 3);
  EXPECT_TRUE(documents[2].value.is_null());
  EXPECT_TRUE(parse_yaml("", "f").value().empty());
  EXPECT_TRUE(parse_yaml("# only a comment\n", "f").value().empty());
}

TEST(Yaml, EveryValueKnowsItsPlaceWhenAsked) {
  YamlLimits limits;
  limits.with_places = true;
  const std::string text = "# head\na: 1\nlist:\n  - x\n  - {k/1: 2, l: [3]}\n---\n- b\n";
  const auto documents = parse_yaml(text, "f", limits).value();
  const auto seen = [&](size_t document) {
    std::vector<std::string> rows;
    for (const auto& [where, place] : documents[document].places)
      rows.push_back(fmt::format("{} {}:{}", where, place.line, place.column));
    return rows;
  };
  EXPECT_THAT(seen(0), ElementsAre(" 2:1", "/a 2:1", "/list 3:1", "/list/0 4:5", "/list/1 5:5",
                                   "/list/1/k~11 5:6", "/list/1/l 5:14", "/list/1/l/0 5:18"));
  EXPECT_THAT(seen(1), ElementsAre(" 7:1", "/0 7:3"));
  EXPECT_TRUE(parse_yaml(text, "f").value()[0].places.empty());
}

TEST(Yaml, KeysAreTheirText) {
  EXPECT_EQ(read_one("no: 1\n8080: 2\ntrue: 3\n\"\": 4\n"), R"({"no":1,"8080":2,"true":3,"":4})");
  EXPECT_THAT(read_one("8080: 1\n'8080': 2\n"), HasSubstr("stands twice"));
}

TEST(Yaml, OlderYamlIsNotGuessedAt) {
  EXPECT_THAT(read_one("%YAML 1.1\n---\na: no\n"), HasSubstr("YAML 1.1 is not read"));
  EXPECT_EQ(read_one("%YAML 1.2\n---\na: no\n"), R"({"a":"no"})");
}

TEST(Yaml, AByteOrderMarkIsSkipped) {
  EXPECT_EQ(read_one("\xef\xbb\xbf"
                     "a: 1\n"),
            R"({"a":1})");
}

TEST(Yaml, JsonIsYaml) {
  EXPECT_EQ(read_one(R"({"a":[1,0.5,"x",null,true,{}],"b":{"c":"d\/e"}})"),
            R"({"a":[1,0.5,"x",null,true,{}],"b":{"c":"d/e"}})");
}

TEST(Yaml, WhatIsMissingStandsAtWhatIsAroundIt) {
  const auto documents = parse_yaml("\n\n---\na: {b: 1}\n", "f.yaml", {.with_places = true});
  ASSERT_TRUE(documents);
  EXPECT_EQ(place_of(documents->at(0), "/a/c/d", "f.yaml"), "f.yaml:4:1");
  EXPECT_EQ(place_of(documents->at(0), "/z", "f.yaml"), "f.yaml:4:1");
}

TEST(YamlText, ReadsLikeHandWritten) {
  const json::value value =
      parse_json(
          R"({"name":"small","gpu_count":2,"cpu":0.5,"labels":["active","no","8"],"none":null,"e":{},
          "l":[],"pools":[{"name":"a","tags":["x y","1g.10gb"]},{"name":"b"}],"matrix":[[1,2],[3]],
          "description":"first line\nsecond: line\n","url":"http://x/y","when":"2026-11-30T06:26:01Z",
          "odd":"a: b","hash":"a #b","tail":"x:"})",
          "t")
          .value();
  EXPECT_EQ(to_yaml(value), R"(name: small
gpu_count: 2
cpu: 0.5
labels:
  - active
  - "no"
  - "8"
none: null
e: {}
l: []
pools:
  - name: a
    tags:
      - x y
      - 1g.10gb
  - name: b
matrix:
  - - 1
    - 2
  - - 3
description: |
  first line
  second: line
url: http://x/y
when: "2026-11-30T06:26:01Z"
odd: "a: b"
hash: "a #b"
tail: "x:"
)");
}

json::value random_value(std::mt19937& random, int depth) {
  const auto below = [&](size_t n) { return random() % n; };
  static const std::vector<std::string> kTexts = {"",
                                                  " ",
                                                  "a",
                                                  "no",
                                                  "null",
                                                  "~",
                                                  "1",
                                                  "0x1",
                                                  "1e3",
                                                  ".inf",
                                                  "- a",
                                                  "a: b",
                                                  "a #b",
                                                  "#",
                                                  "&a",
                                                  "*a",
                                                  "!t",
                                                  "|",
                                                  ">",
                                                  "@",
                                                  "`",
                                                  "%",
                                                  "[",
                                                  "]",
                                                  "{",
                                                  "}",
                                                  ",",
                                                  "a,b",
                                                  "'",
                                                  "\"",
                                                  "\\",
                                                  "\n",
                                                  "a\nb",
                                                  "a\nb\n",
                                                  "a\n\nb",
                                                  " a\nb",
                                                  "a\n b\n",
                                                  "a\n\n",
                                                  "\ta",
                                                  "a\t",
                                                  "\r\n",
                                                  "a\rb",
                                                  "---",
                                                  "...",
                                                  "--- a",
                                                  "? a",
                                                  ": a",
                                                  "a:",
                                                  "<<",
                                                  "=",
                                                  "\x01",
                                                  "\x7f",
                                                  "\xc2\x85",
                                                  "\xe2\x80\xa8",
                                                  "\xef\xbb\xbf",
                                                  "caf\xc3\xa9",
                                                  "\xf0\x9f\x98\x80",
                                                  "y",
                                                  "2026-11-30",
                                                  "12:30",
                                                  "+1",
                                                  "-",
                                                  "a  b",
                                                  "a ",
                                                  "true",
                                                  "x\ny: z\n",
                                                  "a\n# b\n",
                                                  "a\n \nb",
                                                  "a\n ",
                                                  "\xef\xbf\xbf"};
  const auto text = [&] {
    std::string result = kTexts[below(kTexts.size())];
    if (below(4) == 0) result += kTexts[below(kTexts.size())];
    if (below(200) == 0) result = std::string(1500, 'k') + result;
    return result;
  };
  switch (below(depth > 3 ? 6 : 9)) {
    case 0:
      return nullptr;
    case 1:
      return below(2) == 0;
    case 2:
      return static_cast<int64_t>(random()) - 2'000'000'000;
    case 3:
      return (static_cast<double>(random()) - 2e9) / 1024 * (below(2) == 0 ? 1e30 : 1e-9);
    case 4:
    case 5:
      return json::string(text());
    case 6: {
      json::array array;
      for (size_t n = below(4); n > 0; --n) array.push_back(random_value(random, depth + 1));
      return array;
    }
    default: {
      json::object object;
      for (size_t n = below(4); n > 0; --n) object[text()] = random_value(random, depth + 1);
      return object;
    }
  }
}

TEST(YamlText, WhatIsWrittenReadsBackTheSame) {
  const unsigned seed = std::random_device{}();
  std::mt19937 random(seed);
  for (int i = 0; i < 5'000; ++i) {
    const json::value value = random_value(random, 0);
    const std::string yaml = to_yaml(value);
    const auto back = parse_yaml(yaml, "t");
    ASSERT_TRUE(back) << "seed " << seed << "\n"
                      << yaml << back.error().problems.at(0).where << " "
                      << back.error().problems.at(0).message;
    ASSERT_EQ(back->size(), 1U) << "seed " << seed << "\n" << yaml;
    ASSERT_EQ(to_text(back->front().value), to_text(value)) << "seed " << seed << "\n" << yaml;
  }
}

}  // namespace
}  // namespace exa
