// What only a server can do to a store: go away, restart, cut a connection at the worst moment. Run
// by tests/with_postgres, and by nothing else.
#include <atomic>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/stores_for_test.h"

namespace exa {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr Duration milliseconds(int64_t n) {
  return {n * 1000};
}

class Postgres : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_FALSE(test_postgres().empty()) << "run it under tests/with_postgres";
    place = std::make_unique<PlaceForStores>(Backend::postgres);
    store = place->open();
  }
  void TearDown() override { store.reset(); }

  static Work insert(const std::string& name) {
    return [=](Transaction& tx) -> Result<void> {
      EXA_TRY(tx.change("INSERT INTO project VALUES ($1, 1, 'ada')", {name}));
      return {};
    };
  }
  // Ends every session but the one that asks.
  void cut_all() const {
    place->query(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
        "WHERE application_name = 'exa' AND pid <> pg_backend_pid()");
  }
  void in_schema(const std::string& sql) const {
    place->query("SET search_path = " + place->schema() + "; " + sql);
  }
  int64_t projects() {
    return read_value<int64_t>(
               *store,
               [](Transaction& tx) -> Result<int64_t> {
                 EXA_ASSIGN(const auto found,
                            tx.rows("SELECT COUNT(*) FROM project WHERE name <> 'default'"));
                 return found.at(0).integer(0);
               })
        .value_or(-1);
  }
  std::unique_ptr<Store> open(PostgresOptions options) const {
    options.url = place->url();
    return open_postgres(std::move(options)).value();
  }

  std::unique_ptr<PlaceForStores> place;
  std::unique_ptr<Store> store;
};

TEST_F(Postgres, ManyThatOpenAtOnceMigrateOnce) {
  const PlaceForStores fresh(Backend::postgres);
  std::vector<std::thread> opening;
  for (int i = 0; i < 6; ++i) {
    opening.emplace_back([&] {
      const auto opened = open_postgres({.url = fresh.url()});
      EXPECT_TRUE(opened) << opened.error().message;
    });
  }
  for (std::thread& one : opening) one.join();
  const auto opened = fresh.open();
  const auto applied = read_value<int64_t>(*opened, [](Transaction& tx) -> Result<int64_t> {
    EXA_ASSIGN(const auto found, tx.rows("SELECT COUNT(*) FROM schema_version"));
    return found.at(0).integer(0);
  });
  EXPECT_EQ(applied.value(), static_cast<int64_t>(migrations().size()));
}

TEST_F(Postgres, ANewerSchemaIsRefused) {
  in_schema("INSERT INTO schema_version (number, name) VALUES (9999, 'from_the_future')");
  const auto refused = open_postgres({.url = place->url()});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::store_newer);
  EXPECT_THAT(refused.error().message, HasSubstr("9999"));
}

TEST_F(Postgres, AReadGoesOnOnAFreshConnection) {
  EXPECT_TRUE(store->write(insert("vision")));
  EXPECT_EQ(projects(), 1);
  cut_all();
  EXPECT_EQ(projects(), 1);
  int runs = 0;
  EXPECT_TRUE(store->read([&](Transaction& tx) -> Result<void> {
    EXA_TRY(tx.rows("SELECT 1"));
    if (++runs == 1) cut_all();
    EXA_TRY(tx.rows("SELECT name FROM project"));
    return {};
  }));
  EXPECT_EQ(runs, 2);
}

TEST_F(Postgres, AWriteThatIsCutBeforeItsCommitIsRunAgain) {
  for (const bool after : {false, true}) {
    int runs = 0;
    const auto done = store->write([&](Transaction& tx) -> Result<void> {
      ++runs;
      if (!after && runs == 1) cut_all();
      EXA_TRY(insert(after ? "after" : "before")(tx));
      if (after && runs == 1) cut_all();  // between the last statement and COMMIT
      return {};
    });
    EXPECT_TRUE(done) << done.error().message;
    EXPECT_EQ(runs, 2);
  }
  EXPECT_EQ(projects(), 2);
}

TEST_F(Postgres, ACommitWithoutAnAnswerIsSaidAndNeverRepeated) {
  in_schema(
      "CREATE FUNCTION cut() RETURNS trigger LANGUAGE plpgsql AS "
      "$$BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END$$; "
      "CREATE CONSTRAINT TRIGGER cut AFTER INSERT ON project DEFERRABLE INITIALLY DEFERRED "
      "FOR EACH ROW EXECUTE FUNCTION cut()");
  int runs = 0;
  bool followed = false;
  const auto done = store->write(
      [&](Transaction& tx) {
        ++runs;
        return insert("vision")(tx);
      },
      [&](Transaction&) { followed = true; });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::outcome_unknown) << done.error().message;
  EXPECT_EQ(runs, 1);
  EXPECT_FALSE(followed);
  in_schema("DROP TRIGGER cut ON project");
  EXPECT_TRUE(store->write(insert("vision")));
  EXPECT_EQ(projects(), 1);
}

TEST_F(Postgres, WhatIsLostToAnotherTransactionIsRunAgain) {
  in_schema(
      "CREATE FUNCTION lose() RETURNS BIGINT LANGUAGE plpgsql AS "
      "$$BEGIN RAISE EXCEPTION 'lost' USING ERRCODE = '40001'; END$$");
  int runs = 0;
  const Work work = [&](Transaction& tx) -> Result<void> {
    if (++runs < 3) EXA_TRY(tx.rows("SELECT lose()"));
    return {};
  };
  EXPECT_TRUE(store->write(work));
  EXPECT_EQ(runs, 3);
  runs = 0;
  EXPECT_TRUE(store->read(work));
  EXPECT_EQ(runs, 3);
  EXPECT_EQ(projects(), 0);
}

TEST_F(Postgres, AFailureThatWasPassedOverIsNotTakenForAChange) {
  const auto done = store->write([](Transaction& tx) -> Result<void> {
    EXA_TRY(insert("vision")(tx));
    EXPECT_FALSE(tx.rows("SELECT nothing FROM nowhere"));
    return {};
  });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::unexpected);
  EXPECT_EQ(projects(), 0);
}

TEST_F(Postgres, OwnershipIsLostWithItsConnection) {
  const auto other = place->open();
  const auto mine = store->try_own("discovery").value();
  ASSERT_NE(mine, nullptr);
  cut_all();
  const auto theirs = other->try_own("discovery").value();
  EXPECT_NE(theirs, nullptr);
  EXPECT_FALSE(mine->holds());
  EXPECT_TRUE(theirs->holds());
}

TEST_F(Postgres, AWriterThatStopsLosesItsLock) {
  const auto stuck = open({.stall = milliseconds(300)});
  int runs = 0;
  std::atomic<bool> inside = false;
  std::thread writer([&] {
    EXPECT_TRUE(stuck->write([&](Transaction& tx) -> Result<void> {
      EXA_TRY(insert("stuck-" + std::to_string(++runs))(tx));
      inside = true;
      if (runs == 1) std::this_thread::sleep_for(std::chrono::milliseconds(1500));
      return {};
    }));
  });
  while (!inside) std::this_thread::yield();
  EXPECT_TRUE(store->write(insert("other")));
  EXPECT_EQ(runs, 1);  // it did not wait for the one that stopped
  writer.join();
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(projects(), 2);
}

TEST_F(Postgres, WhoWaitsTooLongForAnotherWriterIsToldSo) {
  const auto impatient = open({.lock_wait = milliseconds(200)});
  const auto done = store->write([&](Transaction&) -> Result<void> {
    const auto refused = impatient->write(insert("vision"));
    if (refused) return fail(Code::unexpected, "it was not refused");
    EXPECT_EQ(refused.error().code, Code::store_locked) << refused.error().message;
    return {};
  });
  EXPECT_TRUE(done);
  EXPECT_TRUE(impatient->write(insert("vision")));
}

TEST_F(Postgres, WhoFindsAllConnectionsReadingIsToldSo) {
  const auto small = open({.lock_wait = milliseconds(200), .most_readers = 1});
  EXPECT_TRUE(small->read([&](Transaction&) -> Result<void> {
    const auto refused = small->read([](Transaction&) -> Result<void> { return {}; });
    if (refused) return fail(Code::unexpected, "it was not refused");
    EXPECT_EQ(refused.error().code, Code::store_locked);
    return {};
  }));
}

TEST_F(Postgres, ARestartedServerIsWaitedFor) {
  const char* control = std::getenv("EXA_TEST_POSTGRES_CONTROL");
  ASSERT_NE(control, nullptr) << "run it under tests/with_postgres";
  std::atomic<bool> stop = false;
  std::atomic<int> stored = 0;
  std::atomic<int> unknown = 0;
  std::thread writer([&] {
    for (int i = 0; !stop; ++i) {
      const auto done = store->write(insert("p-" + std::to_string(i)));
      EXPECT_TRUE(done || done.error().code == Code::outcome_unknown) << done.error().message;
      ++(done ? stored : unknown);
    }
  });
  std::thread reader([&] {
    while (!stop) EXPECT_GE(projects(), 0);
  });
  for (int i = 0; i < 2; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    EXPECT_EQ(std::system((std::string(control) + " restart").c_str()), 0);
    const int before = stored;
    while (stored == before) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  stop = true;
  writer.join();
  reader.join();
  EXPECT_GE(projects(), stored);
  EXPECT_LE(projects(), stored + unknown);
  EXPECT_LE(unknown, 2);
}

}  // namespace
}  // namespace exa
