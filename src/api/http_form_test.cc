// What the client writes is what the server reads.
#include "api/http_form.h"

#include <gtest/gtest.h>

namespace exa {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

TEST(HttpForm, WhatOneEndWritesTheOtherReads) {
  const Pairs query{{"name", "a b&c=d"}, {"q", "100%+1 größer"}, {"empty", ""}};
  const std::string text = format_target("/api/v1/x", query);
  const auto read = parse_target(text);
  ASSERT_TRUE(read) << text;
  EXPECT_EQ(read->path, "/api/v1/x");
  EXPECT_EQ(read->query, query);
}

TEST(HttpForm, FormsAndBareKeysAreRead) {
  const auto read = parse_target("/x?a=1+2&flag&&b=");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->query, (Pairs{{"a", "1 2"}, {"flag", ""}, {"b", ""}}));
}

TEST(HttpForm, WhatIsNoPathIsRefused) {
  for (const char* text : {"", "x", "http://other/x", "*", "/a b", "/a\tb", "/x#y", "/x?a=%",
                           "/x?a=%zz", "/x?%4=1", "/\x80"}) {
    EXPECT_FALSE(parse_target(text)) << text;
  }
}

TEST(HttpForm, MethodsAreKnownByTheirExactNames) {
  EXPECT_EQ(find_method("GET"), Method::get);
  EXPECT_EQ(find_method("DELETE"), Method::del);
  for (const char* text : {"get", "HEAD", "TRACE", "", "GETX"}) EXPECT_FALSE(find_method(text));
}

}  // namespace
}  // namespace exa
