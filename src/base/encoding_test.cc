#include "base/encoding.h"

#include <gtest/gtest.h>

namespace exa {
namespace {

// RFC 4648 §10, without padding.
TEST(Encoding, Base64urlIsThatOfTheRfc) {
  constexpr std::pair<std::string_view, std::string_view> kVectors[] = {
      {"", ""},           {"f", "Zg"},          {"fo", "Zm8"},          {"foo", "Zm9v"},
      {"foob", "Zm9vYg"}, {"fooba", "Zm9vYmE"}, {"foobar", "Zm9vYmFy"}, {"\xfb\xff", "-_8"}};
  for (const auto& [bytes, text] : kVectors) {
    EXPECT_EQ(base64url(bytes), text);
    EXPECT_EQ(decode_base64url(text), bytes);
  }
}

TEST(Encoding, BytesHaveOneSpelling) {
  for (const char* text : {"Zg==", "Zh", "Z", "Zm9", "+/8", "Zg\n", " Zg", "Zm9v=", "Z.9v", "===="})
    EXPECT_FALSE(decode_base64url(text)) << text;
}

TEST(Encoding, OnlyWhatNothingReadsDifferentlyStandsAsItIs) {
  EXPECT_EQ(percent_encode("aZ09-._~"), "aZ09-._~");
  EXPECT_EQ(percent_encode("a b/%+\xc3\xa9"), "a%20b%2F%25%2B%C3%A9");
}

}  // namespace
}  // namespace exa
