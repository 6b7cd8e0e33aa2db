#include "store/tables.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/stores_for_test.h"

namespace exa {
namespace {

using testing::ElementsAre;

TEST(Tables, KeysAreReadOutOfTheStatements) {
  const Migration written[] = {
      {1, "one",
       "-- CREATE TABLE not_this (a TEXT);\n"
       "CREATE TABLE a (\n  id TEXT PRIMARY KEY, -- the id\n  b BIGINT NOT NULL\n);\n"
       "CREATE INDEX i ON a (b);"},
      {2, "two",
       "CREATE TABLE b (x BIGINT, y TEXT REFERENCES a (id), PRIMARY KEY (y, x), FOREIGN KEY (y) "
       "REFERENCES a (id));"}};
  const auto tables = tables_of(written);
  ASSERT_EQ(tables.size(), 2u);
  EXPECT_EQ(tables[0].table, "a");
  EXPECT_THAT(tables[0].columns, ElementsAre("id"));
  EXPECT_THAT(tables[0].places, ElementsAre(0u));
  EXPECT_EQ(tables[1].table, "b");
  EXPECT_THAT(tables[1].columns, ElementsAre("y", "x"));
  EXPECT_THAT(tables[1].places, ElementsAre(1u, 0u));
}

// What is read out of the text must be what the database made of it.
TEST(Tables, AreThoseOfADatabaseThatWasMigrated) {
  const PlaceForStores place(Backend::sqlite);
  const auto store = place.open();
  ASSERT_TRUE(store->write([](Transaction&) -> Result<void> { return {}; }));
  ASSERT_TRUE(store->write([](Transaction& tx) -> Result<void> {
    EXA_ASSIGN(const auto made, tx.rows("SELECT name FROM sqlite_master WHERE type = 'table' AND "
                                        "name NOT LIKE 'sqlite_%' ORDER BY name"));
    auto tables = tables_of(migrations());
    std::ranges::sort(tables, {}, &TableKey::table);
    EXPECT_EQ(made.size(), tables.size());
    for (size_t i = 0; i < std::min(made.size(), tables.size()); ++i) {
      EXPECT_EQ(made[i].text(0), tables[i].table);
      EXA_ASSIGN(const auto key,
                 tx.rows("SELECT name, cid FROM pragma_table_info($1) WHERE pk > 0 ORDER BY pk",
                         {tables[i].table}));
      EXPECT_EQ(key.size(), tables[i].columns.size()) << tables[i].table;
      for (size_t k = 0; k < std::min(key.size(), tables[i].columns.size()); ++k) {
        EXPECT_EQ(key[k].text(0), tables[i].columns[k]) << tables[i].table;
        EXPECT_EQ(key[k].integer(1), static_cast<int64_t>(tables[i].places[k]));
      }
    }
    return {};
  }));
}

}  // namespace
}  // namespace exa
