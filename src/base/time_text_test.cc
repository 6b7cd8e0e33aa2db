#include <gtest/gtest.h>

#include "base/text.h"
#include "base/time.h"

namespace exa {
namespace {

TEST(Time, PrintsAndReadsRfc3339) {
  EXPECT_EQ(format_rfc3339(Time{0}), "1970-01-01T00:00:00.000000Z");
  const Time time = parse_rfc3339("2026-11-30T07:26:01.000123+01:00").value();
  EXPECT_EQ(format_rfc3339(time), "2026-11-30T06:26:01.000123Z");
  EXPECT_EQ(parse_rfc3339(format_rfc3339(time)).value(), time);
  for (const char* text :
       {"", "2026-11-30", "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z", "2026-11-30T06:26:01",
        "2026-11-30T06:26:01.Z", "2026-11-30T25:00:00Z"}) {
    EXPECT_FALSE(parse_rfc3339(text)) << text;
  }
}

TEST(Time, WhatFourDigitsOfYearCannotWriteInUtcIsRefused) {
  for (const char* text : {"0000-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"}) {
    const Time time = parse_rfc3339(text).value();
    EXPECT_EQ(parse_rfc3339(format_rfc3339(time)), time) << text;
  }
  for (const char* text :
       {"0000-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01", "9999-12-31T23:59:60Z"}) {
    EXPECT_FALSE(parse_rfc3339(text)) << text;
  }
}

TEST(Time, DurationsNeedAUnit) {
  EXPECT_EQ(parse_duration("15m").value(), minutes(15));
  EXPECT_EQ(parse_duration("1h30m").value(), minutes(90));
  EXPECT_EQ(format_duration(minutes(90)), "1h30m");
  for (const char* text : {"", "15", "m", "-5m", "5m1h", "5x", "99999999999d"}) {
    EXPECT_FALSE(parse_duration(text)) << text;
  }
}

TEST(Text, SuggestionsAreNearAndFew) {
  const std::vector<std::string> families = {"nvidia", "amd", "intel-gaudi", "tpu", "cpu"};
  EXPECT_EQ(did_you_mean("nvidla", families), "did you mean nvidia?");
  EXPECT_EQ(did_you_mean("NVIDIA", families), "did you mean nvidia?");
  EXPECT_EQ(did_you_mean("zzzz", families), "");
}

TEST(Text, NothingFromElsewhereMovesTheCursor) {
  EXPECT_EQ(printable("a\x1b[31mb\x7f"), "a\\x1b[31mb\\x7f");
  EXPECT_EQ(printable("gr\xc3\xbc\xc3\x9f"), "gr\xc3\xbc\xc3\x9f");
  EXPECT_EQ(printable("\xe2\x80\xae"), "\\u202e");
  EXPECT_EQ(printable("\xff"), "\\xff");
}

TEST(Text, Base64IsStrict) {
  for (const std::string text : {"", "f", "fo", "foo", "foob"}) {
    const std::vector<uint8_t> bytes(text.begin(), text.end());
    std::vector<uint8_t> back;
    ASSERT_TRUE(decode_base64(base64(bytes), back));
    EXPECT_EQ(back, bytes);
  }
  std::vector<uint8_t> out;
  for (const char* text : {"Zg=", "Zh==", "Z===", "Zg==Zg==", "Z g="}) {
    EXPECT_FALSE(decode_base64(text, out)) << text;
  }
}

TEST(TimeText, WhatHasNoYearIsTheNearestThatHasOne) {
  EXPECT_EQ(format_rfc3339({INT64_MIN}), "0000-01-01T00:00:00.000000Z");
  EXPECT_EQ(format_rfc3339({INT64_MAX}), "9999-12-31T23:59:59.999999Z");
}

}  // namespace
}  // namespace exa
