#include "discover/url.h"

#include <gtest/gtest.h>

namespace exa {
namespace {

TEST(Url, SecretsGoOverTlsOrStayOnThisMachine) {
  for (const char* url :
       {"https://exa.example.org", "https://127.evil.com", "HTTPS://h", "http://localhost",
        "http://localhost:8480/x", "http://LOCALHOST/", "http://127.0.0.1", "http://127.0.0.1:80/",
        "http://127.255.255.254/", "http://[::1]:8480/", "http://[::1]"})
    EXPECT_TRUE(may_carry_secrets(url)) << url;
}

TEST(Url, ANameThatBeginsLikeThisMachineIsSomebodyElses) {
  for (const char* url : {"http://127.evil.com",
                          "http://localhost.evil.com",
                          "http://localhost.",
                          "http://127.0.0.1.evil",
                          "http://127.0.0.1@evil.com/",
                          "http://localhost:80@evil.com",
                          "http://[::1].evil.com/",
                          "http://[::1",
                          "http://128.0.0.1",
                          "http://0.0.0.0",
                          "http://127.1",
                          "http://evil.com",
                          "http://evil.com/127.0.0.1",
                          "http://evil.com?127.0.0.1",
                          "http://",
                          "ftp://127.0.0.1",
                          "",
                          "127.0.0.1",
                          "http://127.0.0.1\n",
                          "http://::1/"})
    EXPECT_FALSE(may_carry_secrets(url)) << url;
}

TEST(Url, IsSplitAtItsParts) {
  const auto url = split_url("http://[fe80::1]:8080/a?b");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->host, "fe80::1");
  EXPECT_EQ(url->port, "8080");
  EXPECT_EQ(url->rest, "/a?b");
}

}  // namespace
}  // namespace exa
