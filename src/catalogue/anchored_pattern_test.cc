#include "catalogue/anchored_pattern.h"

#include <random>
#include <regex>

#include <gtest/gtest.h>

namespace exa {
namespace {

struct Case {
  std::string_view pattern;
  std::string_view text;
  bool fits;
};

TEST(AnchoredPattern, MeansTheWholeText) {
  constexpr Case kCases[] = {
      {"^abc$", "abc", true},
      {"^abc$", "abcd", false},
      {"^abc$", "xabc", false},
      {"^$", "", true},
      {"^$", "a", false},
      {"^a*$", "aaaa", true},
      {"^a+$", "", false},
      {"^a?b$", "b", true},
      {"^a{2,3}$", "a", false},
      {"^a{2,3}$", "aaa", true},
      {"^a{2,3}$", "aaaa", false},
      {"^a{2}$", "aa", true},
      {"^a{2,}$", "aaaaa", true},
      {"^a{0}$", "", true},
      {"^(dev|prod)-[0-9]+$", "prod-12", true},
      {"^(dev|prod)-[0-9]+$", "test-1", false},
      {"^(a|b|)$", "", true},
      {R"(^\d+\.\d$)", "12.5", true},
      {R"(^\d+\.\d$)", "12x5", false},
      {R"(^a\$$)", "a$", true},
      {R"(^a\\$)", R"(a\)", true},
      {"^[^a-c]$", "d", true},
      {"^[^a-c]$", "b", false},
      {"^[a-]$", "-", true},
      {R"([\w-]*)", "", false},
      {R"(^[\w\-.]{1,8}$)", "a_b-1.2", true},
      {"^.$", "\xc3\xa9", true},
      {"^.$", "\n", false},
      {"^[^x]$", "\xc3\xa9", true},
      {"^[a-z]$", "\xc3\xa9", false},
      {"^.*$", "\xff", false},
      {"^(a*)*$", "aaab", false},
      {"^(a|aa)+$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", false},
  };
  for (const Case& each : kCases) {
    const auto pattern = compile_pattern(each.pattern);
    EXPECT_EQ(pattern.has_value() && matches(*pattern, each.text), each.fits)
        << each.pattern << " over " << each.text;
  }
}

TEST(AnchoredPattern, RefusesWhatItDoesNotSupportAndSaysWhere) {
  constexpr std::pair<std::string_view, std::string_view> kCases[] = {
      {"abc", "must begin with ^ and end with $, so that it means all of the text"},
      {"^abc", "must begin with ^ and end with $, so that it means all of the text"},
      {R"(^abc\$)", "must begin with ^ and end with $, so that it means all of the text"},
      {"^a|b$", "character 3: alternatives stand in a group: ^(a|b)$"},
      {"^(a$", "character 4: a ( is not closed"},
      {"^a)$", "character 3: a ) without its ("},
      {"^*$", "character 2: * has nothing before it to repeat"},
      {"^a**$", "character 4: one repetition follows another"},
      {"^a+?$", "character 4: one repetition follows another"},
      {"^(?=a)$", "character 3: (? is not supported: write a plain group"},
      {R"(^\bword$)",
       "character 3: only \\d, \\w and \\ before a character of the syntax are "
       "supported"},
      {R"(^(a)\1$)",
       "character 6: only \\d, \\w and \\ before a character of the syntax are "
       "supported"},
      {"^[z-a]$", "character 6: a range that runs backwards"},
      {"^[]$", "character 4: an empty class"},
      {"^[a$", "character 4: a [ is not closed"},
      {"^a{3,1}$", "character 8: a count that runs backwards"},
      {"^a{,3}$", "character 4: write {3}, {1,8} or {2,}"},
      {"^a{1001}$", "character 8: counts go to 1000"},
      {"^a$b$", "character 3: $ stands only at an end; \\$ is the character"},
      {"^\xc3\xa9$", "character 2: only printable ASCII may stand in a pattern"},
      {"^((a{1000}){1000}){1000}$", "repeats too much inside of what is repeated"},
      {"^((((){1000}){1000}){1000}){1000}$", "repeats too much inside of what is repeated"},
  };
  for (const auto& [text, message] : kCases) {
    const auto pattern = compile_pattern(text);
    ASSERT_FALSE(pattern.has_value()) << text;
    EXPECT_EQ(pattern.error().message, message) << text;
  }
}

// Small patterns and texts by chance, against the library's own matcher.
TEST(AnchoredPattern, AgreesWithStdRegex) {
  constexpr unsigned kSeed = 20261201;
  std::mt19937 random(kSeed);
  const auto pick = [&](const auto& list) { return list[random() % std::size(list)]; };
  constexpr const char* kAtoms[] = {"a",      "b",    ".",   "[ab]", "[^a]",
                                    "(a|bc)", "(ab)", "\\d", "\\.",  "(a|)"};
  constexpr const char* kTimes[] = {"", "", "*", "+", "?", "{2}", "{1,3}", "{2,}"};
  constexpr char kLetters[] = {'a', 'b', 'c', '1', '.'};
  for (int i = 0; i < 5000; ++i) {
    std::string text = "^";
    for (auto n = random() % 4; n > 0; --n) text += std::string(pick(kAtoms)) + pick(kTimes);
    text += "$";
    const auto pattern = compile_pattern(text);
    ASSERT_TRUE(pattern.has_value()) << text;
    const std::regex expected(text, std::regex::ECMAScript);
    std::string sample;
    for (auto n = random() % 7; n > 0; --n) sample += pick(kLetters);
    EXPECT_EQ(matches(*pattern, sample), std::regex_match(sample, expected))
        << text << " over " << sample << ", seed " << kSeed;
  }
}

}  // namespace
}  // namespace exa
