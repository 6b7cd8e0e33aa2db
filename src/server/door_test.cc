#include "server/door.h"

#include <gtest/gtest.h>

namespace exa {
namespace {

TEST(Door, ABearerIsOfThatSchemeOnly) {
  EXPECT_EQ(bearer_of("Bearer abc"), "abc");
  EXPECT_EQ(bearer_of("bearer  abc "), "abc");
  for (const char* header : {"", "Bearer", "Bearer ", "Basic abc", "Bearerabc"})
    EXPECT_FALSE(bearer_of(header)) << header;
}

}  // namespace
}  // namespace exa
