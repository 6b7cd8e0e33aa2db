#include "server/trace_context.h"

#include <set>

#include <gtest/gtest.h>

namespace exa {
namespace {

constexpr const char* kGood = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

TEST(TraceContext, TheHeaderOfTheSpecificationIsRead) {
  const auto read = parse_traceparent(kGood);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->trace_id, "4bf92f3577b34da6a3ce929d0e0e4736");
}

TEST(TraceContext, LaterVersionsMaySayMore) {
  EXPECT_TRUE(parse_traceparent("01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more"));
  EXPECT_FALSE(parse_traceparent("01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01more"));
}

TEST(TraceContext, WhatBreaksTheRulesIsNoContext) {
  for (const char* text : {"", "00", "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
                           "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
                           "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
                           "00-4BF92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
                           "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0x",
                           "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
                           "00_4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7_01"}) {
    EXPECT_FALSE(parse_traceparent(text)) << text;
  }
}

TEST(RequestIdsOf, TwoServersAndTwoRequestsDiffer) {
  RequestIds one;
  RequestIds other;
  const std::set<std::string> ids{one.next(), one.next(), other.next(), other.next()};
  EXPECT_EQ(ids.size(), 4U);
}

}  // namespace
}  // namespace exa
