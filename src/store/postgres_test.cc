// What of the PostgreSQL store needs no server: addresses, the schema, the words of its errors.
#include "store/postgres.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/postgres_connection.h"
#include "store/postgres_error.h"
#include "store/postgres_schema.h"

namespace exa {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(PostgresUrl, APasswordIsUsedAndShownNowhere) {
  EXPECT_TRUE(holds_password("postgresql://ada:s3cret@db.example:5432/exa"));
  EXPECT_TRUE(holds_password("postgresql://db.example/exa?password=s3cret"));
  EXPECT_FALSE(holds_password("postgresql://ada@db.example:5432/exa"));
  const auto address =
      PostgresAddress::parse("postgresql://ada:s3cret@db.example:5432/exa?sslmode=require").value();
  EXPECT_EQ(address.shown(), "postgresql://ada@db.example:5432/exa");
  for (const char* url : {"postgresql://ada:s3cret%zz@h/db", "postgresql://ada:s3cret@h/db?no=1",
                          "postgresql://ada:s3cret@h:not-a-port-[/db", "postgresql://[s3cret"}) {
    const auto refused = open_postgres({.url = url});
    ASSERT_FALSE(refused) << url;
    EXPECT_THAT(refused.error().message, Not(HasSubstr("s3cret"))) << url;
  }
}

TEST(PostgresUrl, WhatNamesAPostgres) {
  EXPECT_TRUE(names_postgres("postgresql://h/db"));
  EXPECT_TRUE(names_postgres("postgres://h/db"));
  EXPECT_FALSE(names_postgres("sqlite:/srv/exa"));
  EXPECT_FALSE(names_postgres("/srv/postgresql"));
}

TEST(PostgresUrl, AServerThatIsNotThereIsUnreachableAtOnce) {
  const auto refused = open_postgres({.url = "postgresql://ada:s3cret@127.0.0.1:1/exa"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::store_unreachable);
  EXPECT_THAT(refused.error().message, HasSubstr("postgresql://ada@127.0.0.1:1/exa"));
  EXPECT_THAT(refused.error().message, Not(HasSubstr("s3cret")));
}

TEST(PostgresSchema, TextIsComparedByteByByte) {
  EXPECT_EQ(for_postgres("CREATE TABLE a (b TEXT PRIMARY KEY, c TEXT, CONTEXT BIGINT);"),
            "CREATE TABLE a (b TEXT COLLATE \"C\" PRIMARY KEY, c TEXT COLLATE \"C\", CONTEXT "
            "BIGINT);");
}

TEST(PostgresError, StatesBecomeTheWordsOfTheErrorTable) {
  const std::pair<std::string_view, Code> rows[] = {
      {"", Code::store_unreachable},      {"08006", Code::store_unreachable},
      {"23505", Code::conflict},          {"23503", Code::conflict},
      {"40001", Code::store_locked},      {"55P03", Code::store_locked},
      {"53100", Code::store_full},        {"53300", Code::store_unreachable},
      {"57P01", Code::store_unreachable}, {"42P01", Code::store_damaged},
      {"42501", Code::store_unwritable},  {"25006", Code::store_unwritable},
      {"22021", Code::invalid_input},     {"22P02", Code::unexpected}};
  for (const auto& [state, code] : rows) EXPECT_EQ(code_of_sqlstate(state), code) << state;
}

}  // namespace
}  // namespace exa
