#include "server/reply_cache.h"

#include <gtest/gtest.h>

namespace exa {
namespace {

using namespace std::chrono_literals;

Outgoing saying(std::string text) {
  Outgoing answer;
  answer.body = std::make_shared<const std::string>(std::move(text));
  return answer;
}

const ReplyCache::Moment kThen{1h};

TEST(ReplyCache, AnAnswerHoldsWhileNothingIsWrittenAndForAQuarterOfASecond) {
  ReplyCache cache;
  cache.keep("ada", "/pools", 7, kThen, saying("[]"));
  const auto found = cache.find("ada", "/pools", 7, kThen + 249ms);
  ASSERT_TRUE(found);
  EXPECT_EQ(*found->body, "[]");
  EXPECT_FALSE(cache.find("ada", "/pools", 8, kThen));
  EXPECT_FALSE(cache.find("ada", "/pools", 7, kThen + 250ms));
}

TEST(ReplyCache, NobodySeesWhatAnotherMaySee) {
  ReplyCache cache;
  cache.keep("ada", "/pools", 7, kThen, saying("[]"));
  EXPECT_FALSE(cache.find("eve", "/pools", 7, kThen));
  EXPECT_FALSE(cache.find("ada", "/pools?limit=1", 7, kThen));
}

TEST(ReplyCache, TheLaterAnswerCounts) {
  ReplyCache cache;
  cache.keep("ada", "/pools", 7, kThen, saying("old"));
  cache.keep("ada", "/pools", 8, kThen, saying("new"));
  EXPECT_EQ(*cache.find("ada", "/pools", 8, kThen)->body, "new");
  EXPECT_FALSE(cache.find("ada", "/pools", 7, kThen));
}

TEST(ReplyCache, ItHoldsNoMoreBytesThanItMay) {
  ReplyCache cache(80);
  cache.keep("ada", "/large", 7, kThen, saying(std::string(11, 'x')));  // more than an eighth
  EXPECT_FALSE(cache.find("ada", "/large", 7, kThen));
  for (int i = 0; i < 9; ++i)
    cache.keep("ada", "/" + std::to_string(i), 7, kThen, saying(std::string(10, 'x')));
  EXPECT_FALSE(cache.find("ada", "/0", 7, kThen));
  EXPECT_TRUE(cache.find("ada", "/8", 7, kThen));
}

}  // namespace
}  // namespace exa
