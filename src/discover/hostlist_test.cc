#include "discover/hostlist.h"

#include <random>
#include <set>

#include <gmock/gmock.h>

namespace exa {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Names = std::vector<std::string>;

TEST(Hostlist, ABracketStandsForItsNames) {
  const struct {
    std::string text;
    Names names;
  } rows[] = {
      {"login", {"login"}},
      {"a,b", {"a", "b"}},
      {"n[1-3]", {"n1", "n2", "n3"}},
      {"n[08-11]", {"n08", "n09", "n10", "n11"}},
      {"n[9-11]", {"n9", "n10", "n11"}},
      {"a100-[01-02],resv-01", {"a100-01", "a100-02", "resv-01"}},
      {"r[1-2]n[1,3]", {"r1n1", "r1n3", "r2n1", "r2n3"}},
      {"n[1-2]-ib", {"n1-ib", "n2-ib"}},
      {"n[099-101]", {"n099", "n100", "n101"}},
  };
  for (const auto& row : rows) {
    const auto names = expand_hostlist(row.text);
    ASSERT_TRUE(names) << row.text << ": " << names.error().message;
    EXPECT_EQ(*names, row.names) << row.text;
  }
}

TEST(Hostlist, WhatIsNotAListIsRefusedWithTheReason) {
  const struct {
    std::string text;
    std::string why;
  } rows[] = {
      {"n[1-]", "both ends"},   {"n[-3]", "both ends"},
      {"n[1", "no ]"},          {"n1]", "no ["},
      {"n[3-1]", "backward"},   {"n[[1]]", "inside"},
      {"a,,b", "empty"},        {"", "empty"},
      {"n[]", "both ends"},     {"n[1-2x]", "both ends"},
      {"n[1--2]", "both ends"}, {"n[1-99999999999999999999]", "both ends"},
  };
  for (const auto& row : rows) {
    const auto names = expand_hostlist(row.text);
    ASSERT_FALSE(names) << row.text;
    EXPECT_EQ(names.error().code, Code::invalid_input) << row.text;
    EXPECT_THAT(names.error().message, HasSubstr(row.why)) << row.text;
  }
}

TEST(Hostlist, AListTooLongToBuildIsRefusedBeforeItIsBuilt) {
  for (const std::string text :
       {"n[1-999999999999999]", "a[0-999]b[0-999]c[0-9]", "n[0-600000],m[0-600000]",
        "n[0-999999999999999,0-999999999999999]"}) {
    const auto names = expand_hostlist(text);
    ASSERT_FALSE(names) << text;
    EXPECT_THAT(names.error().message, HasSubstr("more than 1000000 names"));
  }
  EXPECT_EQ(expand_hostlist("n[1-10]", 10)->size(), 10u);
  EXPECT_FALSE(expand_hostlist("n[1-11]", 10));
}

TEST(Hostlist, NamesAreWrittenShort) {
  const struct {
    Names names;
    std::string text;
  } rows[] = {
      {{}, ""},
      {{"login"}, "login"},
      {{"n3", "n1", "n2", "n2"}, "n[1-3]"},
      {{"n9", "n10", "n11"}, "n[9-11]"},
      {{"n01", "n02", "n10"}, "n[01-02,10]"},
      {{"a1-ib", "a2-ib", "b1"}, "a[1-2]-ib,b1"},
      {{"n1", "n01"}, "n[01,1]"},
  };
  for (const auto& row : rows) EXPECT_EQ(compress_hostlist(row.names), row.text);
}

TEST(HostlistProperty, CompressingAndExpandingGivesTheSameSet) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  const auto pick = [&](int most) {
    return static_cast<int>(random() % static_cast<unsigned>(most));
  };
  const std::vector<std::string> prefixes = {"n", "gpu-", "r1c", "a.b", "x0y"};
  const std::vector<std::string> suffixes = {"", "", "-ib", ".local"};
  for (int round = 0; round < 500; ++round) {
    std::set<std::string> names;
    for (int i = pick(40); i >= 0; --i) {
      std::string digits = std::to_string(pick(130));
      if (pick(2) == 0) digits.insert(0, static_cast<size_t>(pick(3)), '0');
      if (pick(15) == 0) digits.clear();
      names.insert(prefixes[static_cast<size_t>(pick(5))] + digits +
                   suffixes[static_cast<size_t>(pick(4))]);
    }
    const std::string text = compress_hostlist(Names(names.begin(), names.end()));
    const auto back = expand_hostlist(text);
    ASSERT_TRUE(back) << text;
    ASSERT_EQ(back->size(), names.size()) << text;
    ASSERT_EQ(std::set<std::string>(back->begin(), back->end()), names) << text;
  }
}

}  // namespace
}  // namespace exa
