#include "discover/idset.h"

#include <random>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace exa {
namespace {

TEST(IdSet, CountsMembersNotText) {
  struct Case {
    std::string_view text;
    int64_t count;
  };
  for (const Case& c : {Case{"", 0},
                        {"0", 1},
                        {"0-3", 4},
                        {"1,3-5", 4},
                        {"[0-7]", 8},
                        {"3,1,2", 3},
                        {"0-3,2-5", 6},
                        {"5,5", 1},
                        {"0-2147483647", 2147483648}}) {
    auto set = parse_idset(c.text, "set");
    ASSERT_TRUE(set) << c.text;
    EXPECT_EQ(set->count(), c.count) << c.text;
  }
}

TEST(IdSet, RefusesWhatIsNoSet) {
  for (std::string_view text : {"a", "1-", "-1", "3-1", "1,,2", ",", "[0-3", "1.5", "0x3", "+1",
                                " 1 2", "2147483648", "99999999999999999999", "all", "[", "0-3]"}) {
    auto set = parse_idset(text, "ranks");
    ASSERT_FALSE(set) << text;
    EXPECT_EQ(set.error().code, Code::unreadable_output);
    EXPECT_NE(set.error().message.find("ranks"), std::string::npos);
  }
}

TEST(IdSet, BehavesAsASetOfNumbers) {
  const unsigned seed = 20261130;
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::mt19937 random(seed);
  auto draw = [&](std::set<int>& oracle) {
    std::string text;
    for (auto i = random() % 6; i > 0; --i) {
      int first = static_cast<int>(random() % 30);
      int last = first + static_cast<int>(random() % 5);
      for (int id = first; id <= last; ++id) oracle.insert(id);
      text += fmt::format("{}{}-{}", text.empty() ? "" : ",", first, last);
    }
    return parse_idset(text, "set").value();
  };
  for (int round = 0; round < 2000; ++round) {
    std::set<int> a, b;
    IdSet x = draw(a), y = draw(b);
    IdSet both = unite(x, y), rest = subtract(x, y);
    for (int id = -1; id < 40; ++id) {
      ASSERT_EQ(both.contains(id), a.count(id) + b.count(id) > 0) << round << " " << id;
      ASSERT_EQ(rest.contains(id), a.count(id) > 0 && b.count(id) == 0) << round << " " << id;
    }
    ASSERT_EQ(x.count(), static_cast<int64_t>(a.size()));
    ASSERT_EQ(both, unite(y, x));
  }
}

}  // namespace
}  // namespace exa
