// What every backend keeps. On SQLite always, on PostgreSQL where tests/with_postgres runs one.
#include <atomic>
#include <stdexcept>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/stores_for_test.h"

namespace exa {
namespace {

using testing::HasSubstr;

class StoreContract : public testing::TestWithParam<Backend> {
 protected:
  void SetUp() override {
    place = std::make_unique<PlaceForStores>(GetParam());
    store = place->open();
  }
  void TearDown() override { store.reset(); }

  static Work insert(const std::string& name, int64_t at = 1) {
    return [=](Transaction& tx) -> Result<void> {
      EXA_TRY(tx.change("INSERT INTO project VALUES ($1, $2, 'ada')", {name, at}));
      return {};
    };
  }
  Result<std::vector<Row>> rows(const std::string& sql, const std::vector<Value>& values = {}) {
    return read_value<std::vector<Row>>(
        *store, [&](Transaction& tx) { return tx.rows(sql, std::span(values)); });
  }
  int64_t number(const std::string& sql, const std::vector<Value>& values = {}) {
    const auto found = rows(sql, values);
    EXPECT_TRUE(found) << found.error().message;
    return found ? found->at(0).integer(0) : -1;
  }
  int64_t projects() { return number("SELECT COUNT(*) FROM project WHERE name <> 'default'"); }
  void write(const Work& work) {
    const auto done = store->write(work);
    EXPECT_TRUE(done) << done.error().message;
  }
  static void in_parallel(int threads, const std::function<void(int)>& body) {
    std::vector<std::thread> running;
    for (int i = 0; i < threads; ++i) running.emplace_back(body, i);
    for (std::thread& thread : running) thread.join();
  }

  std::unique_ptr<PlaceForStores> place;
  std::unique_ptr<Store> store;
};

INSTANTIATE_TEST_SUITE_P(On, StoreContract, testing::ValuesIn(backends_here()),
                         [](const auto& one) {
                           return one.param == Backend::sqlite ? "Sqlite" : "Postgres";
                         });

TEST_P(StoreContract, WhatIsWrittenIsThereForEveryStoreOnTheSamePlace) {
  write(insert("vision"));
  EXPECT_EQ(projects(), 1);
  store = place->open();
  EXPECT_EQ(projects(), 1);
}

TEST_P(StoreContract, EveryValueComesBackAsItWent) {
  const std::string text = "naïve 日本 🙂 \\ ' \" % \t\n";
  std::string every_byte;
  for (int byte = 0; byte < 256; ++byte) every_byte += static_cast<char>(byte);
  for (const int64_t extreme : {INT64_MIN, INT64_MAX, int64_t{0}, int64_t{-1}}) {
    write([&](Transaction& tx) -> Result<void> {
      EXA_TRY(tx.change("DELETE FROM audit_entry"));
      EXA_TRY(tx.change("INSERT INTO audit_entry VALUES ($1, $2, $3)",
                        {extreme, text, Bytes{every_byte}}));
      return {};
    });
    const auto found =
        rows("SELECT idx, leaf, leaf_hash FROM audit_entry WHERE idx = $1", {extreme});
    ASSERT_TRUE(found) << found.error().message;
    ASSERT_EQ(found->size(), 1u);
    EXPECT_EQ(found->at(0).integer(0), extreme);
    EXPECT_EQ(found->at(0).text(1), text);
    EXPECT_EQ(found->at(0).bytes(2), every_byte);
  }
}

TEST_P(StoreContract, NothingEmptyTextAndNoBytesAreThreeThings) {
  write([](Transaction& tx) -> Result<void> {
    EXA_TRY(tx.change("INSERT INTO audit_entry VALUES (1, $1, $2)", {"", Bytes{}}));
    EXA_TRY(tx.change("INSERT INTO cluster VALUES ('u', 'n', 'slurm', $1, 1, 1, 'ada', $2)",
                      {"", nullptr}));
    return {};
  });
  const auto entry = rows("SELECT leaf, leaf_hash FROM audit_entry").value();
  EXPECT_EQ(entry.at(0).text(0), "");
  EXPECT_FALSE(entry.at(0).is_null(0));
  EXPECT_EQ(entry.at(0).bytes(1), "");
  const auto cluster = rows("SELECT address, removed_at FROM cluster").value();
  EXPECT_EQ(cluster.at(0).text(0), "");
  EXPECT_TRUE(cluster.at(0).is_null(1));
  EXPECT_EQ(cluster.at(0).text_or_empty(1), "");
}

TEST_P(StoreContract, TextWithANulCharacterIsRefusedInWords) {
  const auto done = store->write(insert(std::string("a\0b", 3)));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::invalid_input);
  EXPECT_THAT(done.error().message, HasSubstr("NUL"));
  EXPECT_EQ(projects(), 0);
}

TEST_P(StoreContract, OrderIsTheOrderOfBytes) {
  const std::vector<std::string> sorted = {"A",  "B",  "Z", "_", "a",  "a-b",
                                           "a0", "ab", "b", "é", "日", "🙂"};
  write([&](Transaction& tx) -> Result<void> {
    for (auto name = sorted.rbegin(); name != sorted.rend(); ++name) EXA_TRY(insert(*name)(tx));
    return {};
  });
  std::vector<std::string> found;
  const auto stored =
      rows("SELECT name FROM project WHERE name <> 'default' ORDER BY name").value();
  for (const Row& row : stored) found.push_back(row.text(0));
  EXPECT_EQ(found, sorted);
  EXPECT_EQ(number("SELECT COUNT(*) FROM project WHERE name > $1 AND name < 'default'",
                   {std::string("Z")}),
            6);
}

TEST_P(StoreContract, ChangesAreCounted) {
  write([](Transaction& tx) -> Result<void> {
    EXA_TRY(insert("a")(tx));
    EXA_TRY(insert("b")(tx));
    EXPECT_EQ(tx.change("UPDATE project SET created_at = 2 WHERE name <> 'default'"), 2);
    EXPECT_EQ(tx.change("DELETE FROM project WHERE name = 'nobody'"), 0);
    return {};
  });
}

TEST_P(StoreContract, AReadRefusesChanges) {
  write(insert("vision"));
  for (const char* sql : {"DELETE FROM project WHERE name = 'vision'",
                          "UPDATE project SET created_at = 9", "CREATE TABLE mine (a BIGINT)"}) {
    const auto done = store->read([&](Transaction& tx) -> Result<void> {
      EXA_TRY(tx.change(sql));
      return {};
    });
    ASSERT_FALSE(done) << sql;
    EXPECT_EQ(done.error().code, Code::store_unwritable) << done.error().message;
  }
  EXPECT_EQ(projects(), 1);
  write(insert("after"));  // and leaves nothing locked
}

TEST_P(StoreContract, AReadSeesOneStateHoweverLongItLooks) {
  write(insert("first"));
  const auto other = place->open();
  const auto done = store->read([&](Transaction& tx) -> Result<void> {
    EXA_ASSIGN(const auto before, tx.rows("SELECT COUNT(*) FROM project"));
    EXPECT_TRUE(other->write(insert("second")));
    EXA_ASSIGN(const auto after, tx.rows("SELECT COUNT(*) FROM project"));
    EXPECT_EQ(before.at(0).integer(0), after.at(0).integer(0));
    return {};
  });
  EXPECT_TRUE(done);
  EXPECT_EQ(projects(), 2);
}

TEST_P(StoreContract, AFailedWorkLeavesNothing) {
  const auto done = store->write([](Transaction& tx) -> Result<void> {
    EXA_TRY(insert("vision")(tx));
    return fail(Code::blocked, "not like this");
  });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "not like this");
  EXPECT_EQ(projects(), 0);
}

TEST_P(StoreContract, WhatIsTakenIsAConflict) {
  write(insert("vision"));
  const auto twice = store->write(insert("vision"));
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().code, Code::conflict) << twice.error().message;
  const auto orphan = store->write([](Transaction& tx) -> Result<void> {
    EXA_TRY(tx.change("INSERT INTO profile_label VALUES ('default', 'a', 'active', 1)"));
    return {};
  });
  if (GetParam() == Backend::postgres) {  // SQLite's are declared, not enforced
    ASSERT_FALSE(orphan);
    EXPECT_EQ(orphan.error().code, Code::conflict);
  }
}

TEST_P(StoreContract, AfterAReturnToASavepointWorkGoesOn) {
  write([](Transaction& tx) -> Result<void> {
    EXA_TRY(insert("kept")(tx));
    EXA_TRY(tx.change("SAVEPOINT tried"));
    EXPECT_FALSE(tx.rows("SELECT nothing FROM nowhere"));
    EXA_TRY(tx.change("ROLLBACK TO SAVEPOINT tried"));
    return insert("too")(tx);
  });
  EXPECT_EQ(projects(), 2);
}

TEST_P(StoreContract, ATableThatIsNotThereIsDamage) {
  const auto found = rows("SELECT nothing FROM nowhere");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, Code::store_damaged);
}

TEST_P(StoreContract, ARehearsalSeesItsChangesAndKeepsNone) {
  write(insert("there"));
  const auto done = store->rehearse([&](Transaction& tx) -> Result<void> {
    EXA_TRY(insert("vision")(tx));
    EXA_ASSIGN(const auto found, tx.rows("SELECT COUNT(*) FROM project"));
    EXPECT_EQ(found.at(0).integer(0), 3);
    return {};
  });
  EXPECT_TRUE(done);
  EXPECT_EQ(projects(), 1);
  const auto refused =
      store->rehearse([](Transaction&) -> Result<void> { return fail(Code::blocked, "no"); });
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "no");
}

TEST_P(StoreContract, AWorkThatThrowsHoldsUpNobody) {
  const auto throws = [](Transaction& tx) -> Result<void> {
    EXA_TRY(insert("gone")(tx));
    throw std::runtime_error("halfway");
  };
  EXPECT_THROW(static_cast<void>(store->rehearse(throws)), std::runtime_error);
  EXPECT_THROW(static_cast<void>(store->write(throws)), std::runtime_error);
  EXPECT_THROW(static_cast<void>(store->write(
                   insert("kept"), [](Transaction&) { throw std::runtime_error("after"); })),
               std::runtime_error);
  EXPECT_EQ(projects(), 1);
  write(insert("vision"));
  EXPECT_TRUE(store->rehearse(insert("rehearsed")));
  EXPECT_TRUE(place->open()->write(insert("audio")));
  EXPECT_EQ(projects(), 3);
}

TEST_P(StoreContract, WhatFollowsACommitSeesItAndNobodyElseWritesMeanwhile) {
  const auto other = place->open();
  std::thread rival;
  std::atomic<bool> rival_wrote = false;
  const auto done = store->write(insert("mine"), [&](Transaction& tx) {
    rival = std::thread([&] {
      EXPECT_TRUE(other->write(insert("theirs")));
      rival_wrote = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    EXPECT_FALSE(rival_wrote);
    const auto found = tx.rows("SELECT name FROM project WHERE name <> 'default'");
    ASSERT_TRUE(found);
    EXPECT_EQ(found->size(), 1u);
  });
  EXPECT_TRUE(done);
  rival.join();
  EXPECT_EQ(projects(), 2);
}

TEST_P(StoreContract, NothingFollowsAFailedWrite) {
  bool followed = false;
  EXPECT_FALSE(store->write([](Transaction&) -> Result<void> { return fail(Code::blocked, "no"); },
                            [&](Transaction&) { followed = true; }));
  EXPECT_FALSE(followed);
}

// Read, add one, write: what two who do not wait for each other get wrong.
TEST_P(StoreContract, PartsShareOneCommitAndWhatFollowsItComesAfterAllOfThem) {
  std::vector<std::string> order;
  const auto part = [&](const std::string& name) {
    return [&, name] {
      const auto done = store->write(insert(name), [&, name](Transaction& tx) {
        EXPECT_EQ(tx.rows("SELECT COUNT(*) FROM project WHERE name <> 'default'")->at(0).integer(0),
                  3);
        order.push_back("after " + name);
      });
      EXPECT_TRUE(done);
      EXPECT_EQ(projects(), 0) << "nobody sees it before the commit";
      order.push_back(name);
    };
  };
  const std::function<void()> parts[] = {part("a"), part("b"), part("c")};
  const uint64_t changes = store->changes();
  ASSERT_TRUE(store->together(parts));
  EXPECT_EQ(projects(), 3);
  EXPECT_EQ(store->changes(), changes + 1);
  EXPECT_THAT(order, testing::ElementsAre("a", "b", "c", "after a", "after b", "after c"));
}

TEST_P(StoreContract, APartThatFailsThrowsOrRehearsesIsUndoneAlone) {
  bool followed = false;
  const auto never = [&](Transaction&) { followed = true; };
  const std::function<void()> parts[] = {
      [&] { EXPECT_TRUE(store->write(insert("kept"))); },
      [&] {
        const auto done = store->write(
            [](Transaction& tx) -> Result<void> {
              EXA_TRY(insert("refused")(tx));
              return fail(Code::conflict, "not this one");
            },
            never);
        EXPECT_EQ(done.error().message, "not this one");
      },
      [&] {
        // a statement that the database refuses
        EXPECT_EQ(store->write(insert("kept"), never).error().code, Code::conflict);
      },
      [&] {
        EXPECT_THROW(static_cast<void>(store->write(
                         [](Transaction& tx) -> Result<void> {
                           EXA_TRY(insert("thrown")(tx));
                           throw std::runtime_error("out of luck");
                         },
                         never)),
                     std::runtime_error);
      },
      [&] {
        EXPECT_TRUE(store->rehearse([](Transaction& tx) -> Result<void> {
          EXA_TRY(insert("rehearsed")(tx));
          EXA_ASSIGN(const auto seen,
                     tx.rows("SELECT COUNT(*) FROM project WHERE name = 'rehearsed'"));
          EXPECT_EQ(seen.at(0).integer(0), 1);
          return {};
        }));
      },
      [&] { EXPECT_TRUE(store->write(insert("last"))); }};
  ASSERT_TRUE(store->together(parts));
  EXPECT_EQ(projects(), 2);
  EXPECT_FALSE(followed);
}

TEST_P(StoreContract, PartsAndOtherWritersTakeTurns) {
  in_parallel(6, [&](int thread) {
    for (int i = 0; i < 10; ++i) {
      const std::string name = "p-" + std::to_string(thread * 100 + i);
      if (thread % 2 == 0) {
        EXPECT_TRUE(store->write(insert(name)));
        continue;
      }
      const std::function<void()> parts[] = {
          [&] { EXPECT_TRUE(store->write(insert(name))); },
          [&] { EXPECT_TRUE(store->write(insert(name + "-too"))); }};
      EXPECT_TRUE(store->together(parts));
    }
  });
  EXPECT_EQ(projects(), 90);
}

TEST_P(StoreContract, TwoStoresOnOnePlaceLoseNoUpdate) {
  write(insert("counter", 0));
  const auto other = place->open();
  constexpr int kThreads = 8;
  constexpr int kEach = 25;
  in_parallel(kThreads, [&](int thread) {
    Store& mine = thread % 2 == 0 ? *store : *other;
    for (int i = 0; i < kEach; ++i) {
      const auto done = mine.write([](Transaction& tx) -> Result<void> {
        EXA_ASSIGN(const auto found,
                   tx.rows("SELECT created_at FROM project WHERE name = 'counter'"));
        EXA_TRY(tx.change("UPDATE project SET created_at = $1 WHERE name = 'counter'",
                          {found.at(0).integer(0) + 1}));
        return {};
      });
      EXPECT_TRUE(done) << done.error().message;
    }
  });
  EXPECT_EQ(number("SELECT created_at FROM project WHERE name = 'counter'"), kThreads * kEach);
}

TEST_P(StoreContract, ManyReadersAndWritersMeetWithoutHarm) {
  in_parallel(24, [&](int thread) {
    for (int i = 0; i < 10; ++i) {
      if (thread % 3 == 0) {
        EXPECT_TRUE(store->write(insert("p-" + std::to_string(thread * 100 + i))));
      } else {
        EXPECT_TRUE(rows("SELECT name FROM project"));
      }
    }
  });
  EXPECT_EQ(projects(), 80);
}

TEST_P(StoreContract, ANameIsOwnedByOneUntilItIsGivenUp) {
  const auto other = place->open();
  auto first = store->try_own("discovery").value();
  ASSERT_NE(first, nullptr);
  EXPECT_TRUE(first->holds());
  EXPECT_EQ(other->try_own("discovery").value(), nullptr);
  EXPECT_EQ(store->try_own("discovery").value(), nullptr);
  EXPECT_NE(other->try_own("webhooks").value(), nullptr);
  write(insert("meanwhile"));  // no name keeps anybody from writing
  first.reset();
  EXPECT_NE(other->try_own("discovery").value(), nullptr);
}

}  // namespace
}  // namespace exa
