// Writers that meet share a commit, and none of them notices.
#include "store/group_commit.h"

#include <atomic>
#include <filesystem>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

#include "store/sqlite.h"

namespace exa {
namespace {

Work add_project(const std::string& name) {
  return [name](Transaction& tx) -> Result<void> {
    EXA_TRY(tx.change("INSERT INTO project VALUES ($1, 1, 'ada')", {name}));
    return {};
  };
}

class GroupCommits : public testing::Test {
 protected:
  GroupCommits() {
    std::string pattern = (std::filesystem::temp_directory_path() / "exa-group-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    store = open_sqlite({.folder = folder_}).value();
  }
  ~GroupCommits() override {
    store.reset();
    std::filesystem::remove_all(folder_);
  }
  int64_t count(const std::string& pattern) {
    return read_value<int64_t>(
               *store,
               [&](Transaction& tx) -> Result<int64_t> {
                 EXA_ASSIGN(const auto rows,
                            tx.rows("SELECT COUNT(*) FROM project WHERE name LIKE $1", {pattern}));
                 return rows[0].integer(0);
               })
        .value();
  }
  static void in_parallel(int threads, const std::function<void(int)>& body) {
    std::vector<std::thread> running;
    for (int i = 0; i < threads; ++i) running.emplace_back(body, i);
    for (std::thread& thread : running) thread.join();
  }

  std::filesystem::path folder_;
  std::unique_ptr<Store> store;
};

TEST_F(GroupCommits, EveryChangeOfManyThreadsIsKeptAndAnsweredOnce) {
  std::atomic<int> committed = 0;
  in_parallel(16, [&](int thread) {
    for (int i = 0; i < 20; ++i) {
      const auto done = store->write(add_project("p-" + std::to_string(thread * 100 + i)),
                                     [&](Transaction&) { ++committed; });
      EXPECT_TRUE(done) << done.error().message;
    }
  });
  EXPECT_EQ(count("p-%"), 320);
  EXPECT_EQ(committed, 320);
}

TEST_F(GroupCommits, WhatFailsIsUndoneAloneAndGetsItsOwnError) {
  std::atomic<int> committed = 0;
  in_parallel(12, [&](int thread) {
    for (int i = 0; i < 20; ++i) {
      const std::string name = "p-" + std::to_string(thread * 100 + i);
      const bool fails = (thread + i) % 3 == 0;
      const auto done = store->write(
          [&](Transaction& tx) -> Result<void> {
            EXA_TRY(add_project(name)(tx));
            if (fails) return fail(Code::conflict, "not " + name);
            return {};
          },
          [&](Transaction&) { ++committed; });
      ASSERT_EQ(done.has_value(), !fails);
      if (fails) {
        EXPECT_EQ(done.error().message, "not " + name);
      }
    }
  });
  EXPECT_EQ(count("p-%"), 160);
  EXPECT_EQ(committed, 160);
}

TEST_F(GroupCommits, AStatementThatIsRefusedLeavesTheOthersTheirChanges) {
  ASSERT_TRUE(store->write(add_project("taken")));
  std::atomic<int> refused = 0;
  in_parallel(8, [&](int thread) {
    const std::string name = thread % 2 == 0 ? "taken" : "p-" + std::to_string(thread);
    const auto done = store->write(add_project(name));
    if (!done) {
      EXPECT_EQ(done.error().code, Code::conflict);
      ++refused;
    }
  });
  EXPECT_EQ(refused, 4);
  EXPECT_EQ(count("p-%"), 4);
}

TEST_F(GroupCommits, AnExceptionReachesWhoseWorkThrewIt) {
  std::atomic<int> caught = 0;
  in_parallel(8, [&](int thread) {
    try {
      const auto done = store->write([&](Transaction& tx) -> Result<void> {
        EXA_TRY(add_project("p-" + std::to_string(thread))(tx));
        if (thread % 2 == 0) throw std::runtime_error("of thread " + std::to_string(thread));
        return {};
      });
      EXPECT_TRUE(done);
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(error.what(), "of thread " + std::to_string(thread));
      ++caught;
    }
  });
  EXPECT_EQ(caught, 4);
  EXPECT_EQ(count("p-%"), 4);
}

TEST_F(GroupCommits, ReadersSeeCommittedStatesOnlyWhileOthersWrite) {
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    for (int i = 0; i < 40; ++i) {
      const auto done = store->write([&](Transaction& tx) -> Result<void> {
        EXA_TRY(add_project("a-" + std::to_string(i))(tx));
        return add_project("b-" + std::to_string(i))(tx);
      });
      EXPECT_TRUE(done);
    }
    stop = true;
  });
  in_parallel(4, [&](int) {
    while (!stop) {
      const auto done = store->read([&](Transaction& tx) -> Result<void> {
        EXA_ASSIGN(const auto a, tx.rows("SELECT COUNT(*) FROM project WHERE name LIKE 'a-%'"));
        EXA_ASSIGN(const auto b, tx.rows("SELECT COUNT(*) FROM project WHERE name LIKE 'b-%'"));
        EXPECT_EQ(a[0].integer(0), b[0].integer(0));
        return {};
      });
      EXPECT_TRUE(done) << done.error().message;
    }
  });
  writer.join();
}

TEST_F(GroupCommits, AHeldLockKeepsOtherProcessesFromWriting) {
  store.reset();
  store = open_sqlite({.folder = folder_, .hold_lock = true}).value();
  ASSERT_TRUE(store->write(add_project("mine")));
  const auto other = open_sqlite({.folder = folder_, .lock_wait = seconds(0), .hold_lock = true});
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, Code::store_locked);
  EXPECT_EQ(count("mine"), 1);
}

// A backend that counts, and loses its transactions as PostgreSQL does to another replica.
class CountingWriter : public GroupCommit::Writer, private Transaction {
 public:
  int losses = 0;
  int commits = 0;
  int begins = 0;
  bool inside = false;
  std::function<void()> before_commit = [] {};

 private:
  Result<Transaction*> begin() override {
    ++begins;
    inside = true;
    return static_cast<Transaction*>(this);
  }
  Result<void> commit() override {
    ++commits;
    before_commit();
    return {};
  }
  void roll_back() override {}
  void finish(bool) override {
    inside = false;
    --losses;
  }
  bool lost() const override { return losses > 0; }
  Result<std::vector<Row>> rows(std::string_view, std::span<const Value>) override {
    return std::vector<Row>();
  }
  Result<int64_t> change(std::string_view, std::span<const Value>) override { return 0; }
};

TEST(GroupCommit, WhatWasLostToAnotherWriterIsRunAgain) {
  CountingWriter writer;
  writer.losses = 3;
  GroupCommit group(writer);
  int runs = 0;
  const auto done = group.write(
      [&](Transaction&) -> Result<void> {
        ++runs;
        return {};
      },
      [](Transaction&) {});
  EXPECT_TRUE(done);
  EXPECT_EQ(runs, 4);
  EXPECT_EQ(writer.commits, 1);
  EXPECT_FALSE(writer.inside);
}

TEST(GroupCommit, GivesUpWithAnErrorThatMayBeTriedAgain) {
  CountingWriter writer;
  writer.losses = 1000;
  GroupCommit group(writer);
  const auto done =
      group.write([](Transaction&) -> Result<void> { return {}; }, [](Transaction&) {});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::store_locked);
  EXPECT_EQ(writer.commits, 0);
}

TEST(GroupCommit, ThoseWhoWaitShareOneCommit) {
  constexpr size_t kOthers = 7;
  CountingWriter writer;
  GroupCommit group(writer);
  const auto nothing = [](Transaction&) -> Result<void> { return {}; };
  std::atomic<bool> first_commits = false;
  writer.before_commit = [&] {
    first_commits = true;
    while (writer.commits == 1 && group.waiting() < kOthers) std::this_thread::yield();
  };
  std::vector<std::thread> threads;
  threads.emplace_back([&] { EXPECT_TRUE(group.write(nothing, [](Transaction&) {})); });
  while (!first_commits) std::this_thread::yield();
  for (size_t i = 0; i < kOthers; ++i)
    threads.emplace_back([&] { EXPECT_TRUE(group.write(nothing, [](Transaction&) {})); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(writer.commits, 2);
}

TEST(GroupCommit, WhoThrowsAfterTheCommitHoldsUpNobody) {
  CountingWriter writer;
  GroupCommit group(writer);
  const auto nothing = [](Transaction&) -> Result<void> { return {}; };
  EXPECT_THROW(
      static_cast<void>(group.write(nothing, [](Transaction&) { throw std::runtime_error("it"); })),
      std::runtime_error);
  EXPECT_FALSE(writer.inside);
  EXPECT_TRUE(group.write(nothing, [](Transaction&) {}));
  EXPECT_EQ(writer.commits, 2);
}

// A writer whose disk is full when it counts.
class FullDisk : public GroupCommit::Writer {
 public:
  explicit FullDisk(Transaction& transaction) : transaction_(transaction) {}
  Result<Transaction*> begin() override { return &transaction_; }
  Result<void> commit() override { return fail(Code::store_full, "the disk is full"); }
  void roll_back() override { ++rolled_back; }
  void finish(bool committed) override { EXPECT_FALSE(committed); }
  int rolled_back = 0;

 private:
  Transaction& transaction_;
};

TEST_F(GroupCommits, PartsWhoseCommitFailsAreToldSoAndNothingFollows) {
  ASSERT_TRUE(store->write([](Transaction& tx) -> Result<void> {
    FullDisk disk(tx);
    GroupCommit group(disk);
    int ran = 0;
    const std::function<void()> part = [&] {
      const auto done = group.write(
          [](Transaction& inner) -> Result<void> {
            EXA_TRY(inner.rows("SELECT 1"));
            return {};
          },
          [](Transaction&) { ADD_FAILURE() << "nothing was committed"; });
      EXPECT_TRUE(done);  // as far as it could know
      ++ran;
    };
    const std::function<void()> parts[] = {part, part};
    const Result<void> kept = group.together(parts);
    EXPECT_EQ(kept.error().code, Code::store_full);
    EXPECT_EQ(ran, 2);
    EXPECT_EQ(disk.rolled_back, 1);
    return {};
  }));
}

}  // namespace
}  // namespace exa
