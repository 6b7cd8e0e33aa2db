#include "base/quantity.h"

#include <random>

#include <gtest/gtest.h>

namespace exa {
namespace {

TEST(Quantity, HalfACoreIsNeverRoundedToZero) {
  EXPECT_EQ(parse_milli("0.5", "cpu").value(), 500);
  EXPECT_EQ(parse_milli(".25", "cpu").value(), 250);
  EXPECT_EQ(parse_milli("8", "cpu").value(), 8000);
  EXPECT_EQ(parse_milli("1.5000", "cpu").value(), 1500);
  EXPECT_EQ(format_milli(500), "0.5");
  EXPECT_EQ(format_milli(8000), "8");
}

TEST(Quantity, WhatIsNoPlainDecimalIsRefused) {
  for (const char* text : {"", ".", "-1", "+1", "1e3", "nan", "inf", "0x10", "1,5", "1.2345", " 1",
                           "1 ", "99999999999999999999", "1..2"}) {
    EXPECT_FALSE(parse_milli(text, "cpu")) << text;
  }
}

TEST(Quantity, MemoryInGibReadsBackAsWritten) {
  for (const char* text : {"32", "0.1", "0.5", "1.25", "80", "0", "511.999"}) {
    EXPECT_EQ(format_gib(parse_gib(text).value()), text);
  }
  std::mt19937_64 random(7);
  for (int i = 0; i < 2000; ++i) {
    const int64_t bytes = static_cast<int64_t>(random() % (int64_t{1} << 44));
    EXPECT_EQ(parse_gib(format_gib(bytes)).value(), bytes) << "seed 7, bytes " << bytes;
  }
}

TEST(Quantity, UnitsAreDecimalOrBinaryAsSpelled) {
  EXPECT_EQ(parse_bytes_with_unit("80G").value(), 80'000'000'000);
  EXPECT_EQ(parse_bytes_with_unit("80gb").value(), 80'000'000'000);
  EXPECT_EQ(parse_bytes_with_unit("80Gi").value(), 80 * kGiB);
  EXPECT_EQ(parse_bytes_with_unit("81920 MiB").value(), 80 * kGiB);
  EXPECT_EQ(parse_bytes_with_unit("1.5GiB").value(), 3 * kGiB / 2);
}

TEST(Quantity, ABareNumberWhereAUnitIsExpectedIsRefusedAndSaysWhatToWrite) {
  const auto result = parse_bytes_with_unit("80");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "\"80\" has no unit; write for example 80Gi or 80G");
  for (const char* text : {"", "G", "-1G", "1Q", "1e3G", "99999999T", "nanG"}) {
    EXPECT_FALSE(parse_bytes_with_unit(text)) << text;
  }
}

TEST(Quantity, KubernetesQuantitiesAsTheApiServerPrintsThem) {
  struct Case {
    const char* text;
    int64_t milli;
    int64_t whole;
  };
  const Case cases[] = {
      {"127870m", 127870, 128},
      {"4", 4000, 4},
      {"1072693248Ki", int64_t{1072693248} * 1024 * 1000, int64_t{1072693248} * 1024},
      {"100M", 100'000'000'000, 100'000'000},
      {"1e3", 1'000'000, 1000},
      {"0.5", 500, 1},
      {"0", 0, 0},
      {"12E", INT64_MAX, INT64_MAX},
      {"1500u", 2, 1},
      {"2Ei", INT64_MAX, int64_t{1} << 61},
      // beyond what 128 bits hold a thousand times: never a thousandth of the amount
      {"9.000000001E", INT64_MAX, 9'000'000'001'000'000'000},
      {"0.009223372E", 9'223'372'000'000'000'000, 9'223'372'000'000'000},
      {"1E3", 1'000'000, 1000}};
  for (const Case& c : cases) {
    const auto got = parse_kubernetes_quantity(c.text);
    ASSERT_TRUE(got) << c.text;
    EXPECT_EQ(got->milli, c.milli) << c.text;
    EXPECT_EQ(got->whole, c.whole) << c.text;
  }
  for (const char* text : {"", "-1", "Ki", "1KB", "1 Ki", "1ki", "x", "1e99", "1e"}) {
    EXPECT_FALSE(parse_kubernetes_quantity(text)) << text;
  }
}

TEST(Quantity, BytesForPeopleNeverPromiseMore) {
  EXPECT_EQ(format_bytes(80 * kGiB), "80 GiB");
  EXPECT_EQ(format_bytes(80 * kGiB - 1), "79.9 GiB");
  EXPECT_EQ(format_bytes(512), "512 B");
}

}  // namespace
}  // namespace exa
