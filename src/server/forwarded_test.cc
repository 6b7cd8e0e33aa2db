#include "server/forwarded.h"

#include <gtest/gtest.h>

namespace exa {
namespace {

std::vector<AddressRange> ranges(std::initializer_list<const char*> texts) {
  std::vector<AddressRange> all;
  for (const char* text : texts) all.push_back(parse_address_range(text).value());
  return all;
}

TEST(Forwarded, OnlyATrustedProxyIsBelieved) {
  const struct {
    const char* what;
    const char* peer;
    const char* header;
    const char* client;
  } cases[] = {
      {"the proxy's word", "10.0.0.1:5000", "203.0.113.9", "203.0.113.9:0"},
      {"nobody else's", "203.0.113.9:5000", "198.51.100.1", "203.0.113.9:5000"},
      {"what a client made up stands before it", "10.0.0.1:5000", "1.1.1.1, 203.0.113.9",
       "203.0.113.9:0"},
      {"through two proxies of ours", "10.0.0.1:5000", "203.0.113.9, 10.7.7.7", "203.0.113.9:0"},
      {"nothing but proxies", "10.0.0.1:5000", "10.7.7.7", "10.7.7.7:0"},
      {"no address", "10.0.0.1:5000", "unknown", "10.0.0.1:5000"},
      {"no address before the proxy's word", "10.0.0.1:5000", "<script>, 10.7.7.7", "10.7.7.7:0"},
      {"with a port", "10.0.0.1:5000", "203.0.113.9:6000", "203.0.113.9:0"},
      {"IPv6", "::1:5000", "2001:db8::7", "2001:db8::7:0"},
      {"IPv6 with a port", "::1:5000", "[2001:db8::7]:443", "2001:db8::7:0"},
      {"IPv4 in its mapped form", "::ffff:10.0.0.1:5000", "203.0.113.9", "203.0.113.9:0"},
      {"no header", "10.0.0.1:5000", "", "10.0.0.1:5000"},
      {"the socket", "unix:0", "203.0.113.9", "unix:0"},
  };
  const auto trusted = ranges({"10.0.0.0/8", "::1"});
  for (const auto& one : cases)
    EXPECT_EQ(client_behind(one.peer, one.header, trusted), one.client) << one.what;
  EXPECT_EQ(client_behind("10.0.0.1:5000", "203.0.113.9", {}), "10.0.0.1:5000");
}

TEST(Forwarded, RangesAreReadWholeOrNotAtAll) {
  for (const char* bad : {"", "10", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/8x",
                          "::/129", "localhost", "10.0.0.0/8,::1"})
    EXPECT_FALSE(parse_address_range(bad)) << bad;
  // bits behind the prefix do not matter
  EXPECT_EQ(client_behind("10.9.9.9:1", "192.0.2.1", ranges({"10.1.2.3/8"})), "192.0.2.1:0");
  EXPECT_EQ(client_behind("11.9.9.9:1", "192.0.2.1", ranges({"10.1.2.3/8"})), "11.9.9.9:1");
  EXPECT_EQ(client_behind("11.9.9.9:1", "192.0.2.1", ranges({"0.0.0.0/0"})), "192.0.2.1:0");
}

}  // namespace
}  // namespace exa
