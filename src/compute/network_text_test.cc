#include "compute/network_text.h"

#include <gtest/gtest.h>

namespace exa {
namespace {

std::string address(std::string_view text) {
  const auto read = parse_ip_address(text);
  return read ? format_ip_address(*read) : "none";
}

TEST(NetworkText, AddressesAreReadAndWritten) {
  EXPECT_EQ(address("10.10.189.24"), "10.10.189.24");
  EXPECT_EQ(address("2001:DB8:0:0::1"), "2001:db8::1");
  for (const std::string_view wrong :
       {"", "10.10.189", "10.10.189.256", "010.0.0.1", "1.2.3.4 ", "::1%eth0", "[::1]", ":", "a"})
    EXPECT_EQ(address(wrong), "none") << wrong;
  EXPECT_EQ(address(std::string_view("1.2.3.4\0x", 9)), "none");
}

TEST(NetworkText, ANetworkIsTheLowestOfItsAddresses) {
  struct Row {
    std::string_view text;
    std::string_view lowest;
  };
  constexpr Row kRows[] = {{"192.168.1.0/24", "192.168.1.0/24"},
                           {"192.168.1.7/24", "192.168.1.0/24"},
                           {"10.255.255.255/9", "10.128.0.0/9"},
                           {"1.2.3.4/0", "0.0.0.0/0"},
                           {"1.2.3.4/32", "1.2.3.4/32"},
                           {"2001:db8::ff/120", "2001:db8::/120"},
                           {"::1/128", "::1/128"}};
  for (const Row& row : kRows) {
    const auto read = parse_ip_network(row.text);
    ASSERT_TRUE(read) << row.text;
    EXPECT_EQ(format_ip_network(lowest_of(*read)), row.lowest);
  }
  for (const std::string_view wrong :
       {"", "10.0.0.0", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "::/129", "10.0.0.0/8/8", "/8"})
    EXPECT_FALSE(parse_ip_network(wrong)) << wrong;
}

TEST(NetworkText, AWrongAddressIsNoHostName) {
  for (const std::string_view name : {"time.google.com", "a", "edge-1", "3com.example", "1.2.3.4a"})
    EXPECT_TRUE(is_host_name(name)) << name;
  for (const std::string_view name :
       {"", "10.10.10.300", "a..b", "a.", "-a", "a-", "a_b", "a b", "{{x}}"})
    EXPECT_FALSE(is_host_name(name)) << name;
  EXPECT_TRUE(is_host_name(std::string(63, 'a')));
  EXPECT_FALSE(is_host_name(std::string(64, 'a')));
}

}  // namespace
}  // namespace exa
