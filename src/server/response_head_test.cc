#include "server/response_head.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace exa {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ResponseHead, IsWhatHttpWants) {
  Outgoing answer;
  answer.status = 404;
  answer.content_type = "application/problem+json";
  answer.request_id = "r-1";
  answer.headers = {{"etag", "\"x\""}};
  EXPECT_EQ(response_head(answer, {.length = 12, .keep_alive = true, .date = http_date(0)}),
            "HTTP/1.1 404 Not Found\r\n"
            "date: Thu, 01 Jan 1970 00:00:00 GMT\r\n"
            "content-type: application/problem+json\r\n"
            "cache-control: no-store\r\n"
            "x-content-type-options: nosniff\r\n"
            "x-request-id: r-1\r\n"
            "etag: \"x\"\r\n"
            "content-length: 12\r\n"
            "\r\n");
}

TEST(ResponseHead, SaysWhetherTheConnectionGoesOn) {
  const Outgoing answer;
  EXPECT_THAT(response_head(answer, {.length = 0}), HasSubstr("\r\nconnection: close\r\n"));
  EXPECT_THAT(response_head(answer, {.length = 0, .keep_alive = true}),
              Not(HasSubstr("connection")));
  EXPECT_THAT(response_head(answer, {.length = 0, .keep_alive = true, .old_client = true}),
              HasSubstr("\r\nconnection: keep-alive\r\n"));
}

TEST(ResponseHead, WhatHasNoContentHasNoLengthOfIt) {
  Outgoing answer;
  answer.status = 204;
  const std::string head = response_head(answer, {.length = 0});
  EXPECT_THAT(head, Not(HasSubstr("content-length")));
  EXPECT_THAT(head, Not(HasSubstr("\r\ncontent-type")));
}

TEST(ResponseHead, NothingInAValueBeginsAnotherHeader) {
  Outgoing answer;
  answer.headers = {{"x-note", "a\r\nset-cookie: b"}, {"x\r\ny", "c"}, {"x-good", "d\te"}};
  const std::string head = response_head(answer, {.length = 0});
  EXPECT_THAT(head, Not(HasSubstr("set-cookie")));
  EXPECT_THAT(head, Not(HasSubstr("y: c")));
  EXPECT_THAT(head, HasSubstr("\r\nx-good: d\te\r\n"));
}

}  // namespace
}  // namespace exa
