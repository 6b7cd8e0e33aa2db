#include "store/sqlite.h"

#include <mutex>
#include <optional>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/private_folder.h"
#include "store/group_commit.h"
#include "store/lock_file.h"
#include "store/sqlite_connection.h"
#include "store/turns.h"

namespace exa {
namespace {

namespace fs = std::filesystem;
using Connection = std::unique_ptr<SqliteConnection>;

// Connections beyond these are closed after their use; each keeps some 100 KB of pages and
// statements.
constexpr size_t kMostIdle = 16;

// The kernel's lock on a file of its own: it ends with the process.
class FileOwnership final : public Ownership {
 public:
  explicit FileOwnership(LockFile lock) : lock_(std::move(lock)) {}
  bool holds() override { return true; }

 private:
  LockFile lock_;
};

// What the kernel makes up: nothing can be kept there, whoever one is.
bool keeps_no_files(const fs::path& folder) {
  struct statfs system {};
  return ::statfs(folder.c_str(), &system) == 0 &&
         (system.f_type == PROC_SUPER_MAGIC || system.f_type == SYSFS_MAGIC);
}

// A store that is not there and could never be made holds nothing that anybody asked for: to say
// that it is empty would hide that its place is wrong. The nearest folder above decides.
Result<void> could_be_made(const fs::path& folder) {
  std::error_code error;
  fs::path above = fs::absolute(folder, error);
  while (!fs::exists(above, error) && above.has_relative_path()) above = above.parent_path();
  std::string why;
  if (!fs::is_directory(above, error))
    why = "is not a folder";
  else if (keeps_no_files(above))
    why = "keeps no files";
  else if (above != folder && ::faccessat(AT_FDCWD, above.c_str(), W_OK | X_OK, AT_EACCESS) != 0)
    why = "may not be written to";
  if (why.empty()) return {};
  return fail(Code::store_unwritable, fmt::format("there is no data folder {}, and none can be "
                                                  "made: {} {}",
                                                  folder.string(), above.string(), why));
}

class SqliteStore final : public Store, private GroupCommit::Writer {
 public:
  explicit SqliteStore(SqliteOptions options) : options_(std::move(options)), group_(*this) {}

  std::string describe() const override { return "sqlite " + file().string(); }
  bool only_writer() const override { return held_.has_value(); }

  // A folder that is not there is an empty store; one that cannot be looked into is an error, or
  // all that it holds would seem to be gone.
  Result<void> open_existing() {
    std::error_code error;
    const fs::file_status folder = fs::status(options_.folder, error);
    if (!fs::exists(folder) && folder.type() == fs::file_type::not_found)
      return could_be_made(options_.folder);
    if (fs::exists(folder) && !fs::is_directory(folder)) {
      return fail(Code::store_unwritable,
                  fmt::format("{} is not a folder", options_.folder.string()));
    }
    EXA_ASSIGN(const bool there, database_is_there());
    if (!there) return could_be_made(options_.folder);
    EXA_ASSIGN(Connection connection, open_connection());
    give_back(std::move(connection));
    return {};
  }

  Result<void> hold_lock() {
    EXA_TRY(make_private_folder(options_.folder));
    EXA_ASSIGN(held_, take_lock());
    return {};
  }

  Result<void> read(const Work& work) override {
    EXA_ASSIGN(Connection connection, connection_to_read());
    if (!connection) return with_empty(work, false);
    EXA_TRY(connection->execute("BEGIN"));
    connection->transaction().allow_changes(false);
    Result<void> outcome = work(connection->transaction());
    connection->transaction().allow_changes(true);
    EXA_TRY(connection->execute("ROLLBACK"));
    give_back(std::move(connection));
    return outcome;
  }

  Result<void> rehearse(const Work& work) override {
    if (group_.within_part()) return group_.rehearse_within(work);
    EXA_ASSIGN(Connection connection, connection_to_read());
    if (!connection) return with_empty(work, true);
    give_back(std::move(connection));
    // As a write of its own that ends in a failure: nobody else's change waits for it.
    const std::lock_guard turn(one_writer_);
    EXA_ASSIGN(Transaction * transaction, begin_alone());
    const Undo undo(*this);
    return work(*transaction);
  }

  using Store::write;
  Result<void> write(const Work& work, const Committed& committed) override {
    return group_.write(work, committed);
  }
  Result<void> together(Parts parts) override { return group_.together(parts); }

  Result<std::unique_ptr<Ownership>> try_own(const std::string& name) override {
    EXA_TRY(make_private_folder(options_.folder));
    auto lock =
        LockFile::acquire(options_.folder / fmt::format("exa.own-{}.lock", name), seconds(0));
    std::unique_ptr<Ownership> ownership;
    if (lock)
      ownership = std::make_unique<FileOwnership>(*std::move(lock));
    else if (lock.error().code != Code::store_locked)
      return fail(lock.error());
    return ownership;
  }

 private:
  fs::path file() const { return options_.folder / "exa.db"; }

  // --- connections: one thread at a time has one

  Result<bool> database_is_there() const {
    std::error_code error;
    const fs::file_status database = fs::status(file(), error);
    if (database.type() == fs::file_type::not_found) return false;
    if (fs::exists(database)) return true;
    return fail(Code::store_unwritable,
                fmt::format("cannot look into {}: {}", options_.folder.string(), error.message()));
  }

  Result<Connection> open_connection() const {
    return SqliteConnection::open(file(), options_.lock_wait);
  }

  Result<Connection> idle_or_new() {
    {
      const std::lock_guard lock(idle_mutex_);
      if (!idle_.empty()) {
        Connection connection = std::move(idle_.back());
        idle_.pop_back();
        return connection;
      }
    }
    return open_connection();
  }

  void give_back(Connection connection) {
    const std::lock_guard lock(idle_mutex_);
    if (idle_.size() < kMostIdle) idle_.push_back(std::move(connection));
  }

  bool none_idle() {
    const std::lock_guard lock(idle_mutex_);
    return idle_.empty();
  }

  // None: nothing was ever written here.
  Result<Connection> connection_to_read() {
    if (none_idle()) {
      EXA_ASSIGN(const bool there, database_is_there());
      if (!there) return Connection();
    }
    EXA_ASSIGN(Connection connection, idle_or_new());
    const int newest = SqliteConnection::newest_schema();
    if (connection->schema() < newest) EXA_TRY(connection->check_schema());
    if (connection->schema() == 0) return Connection();
    if (connection->schema() < newest) {
      EXA_TRY(write([](Transaction&) -> Result<void> { return {}; }));
      EXA_TRY(connection->check_schema());
    }
    return connection;
  }

  // --- the writer's side

  Result<LockFile> take_lock() const {
    return LockFile::acquire(options_.folder / "exa.lock", options_.lock_wait);
  }

  Result<Transaction*> begin() override {
    one_writer_.lock();
    auto transaction = begin_alone();
    if (!transaction) one_writer_.unlock();
    return transaction;
  }

  Result<Transaction*> begin_alone() {
    EXA_TRY(make_private_folder(options_.folder));
    std::optional<LockFile> lock;
    if (!held_) {
      EXA_ASSIGN(lock, take_lock());
    }
    EXA_ASSIGN(Connection connection, idle_or_new());
    EXA_TRY(ready_to_write(*connection));
    EXA_TRY(connection->execute("BEGIN IMMEDIATE"));
    lock_ = std::move(lock);
    writing_ = std::move(connection);
    return &writing_->transaction();
  }

  // Creates or migrates the tables, under the writer's lock.
  Result<void> ready_to_write(SqliteConnection& connection) const {
    if (connection.read_only()) {
      return fail(Code::store_unwritable,
                  fmt::format("the data folder {} is read-only", options_.folder.string()));
    }
    if (connection.schema() == SqliteConnection::newest_schema()) return {};
    // read again under the lock: another process may have made the tables since this one looked
    EXA_TRY(connection.check_schema());
    if (connection.schema() == SqliteConnection::newest_schema()) return {};
    return connection.migrate();
  }

  Result<void> commit() override { return writing_->execute("COMMIT"); }
  void roll_back() override { writing_->roll_back(); }

  void finish(bool committed) override {
    if (committed) {
      count_change();
      writing_->checkpoint_if_long();
    }
    release();
    one_writer_.unlock();
  }

  void release() {
    give_back(std::move(writing_));
    lock_.reset();
  }

  // Ends a rehearsal, also one whose work throws.
  class Undo {
   public:
    explicit Undo(SqliteStore& store) : store_(store) {}
    ~Undo() {
      store_.roll_back();
      store_.release();
    }
    Undo(const Undo&) = delete;
    Undo& operator=(const Undo&) = delete;

   private:
    SqliteStore& store_;
  };

  // For a folder that does not exist yet (or whose first write never committed): an empty store,
  // without leaving anything behind.
  static Result<void> with_empty(const Work& work, bool changes_allowed) {
    sqlite3* database = nullptr;
    const int status =
        sqlite3_open_v2(":memory:", &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
    const Database owner(database);
    if (status != SQLITE_OK)
      return fail(error_from(database, status, "cannot open a store in memory"));
    for (const Migration& migration : migrations()) {
      const std::string sql(migration.sql);
      if (const int done = sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr);
          done != SQLITE_OK) {
        return fail(error_from(database, done, "cannot lay out a store in memory"));
      }
    }
    SqliteTransaction transaction(database);
    transaction.allow_changes(changes_allowed);
    return work(transaction);
  }

  SqliteOptions options_;
  GroupCommit group_;
  std::optional<LockFile> held_;  // for as long as the store is open

  std::mutex idle_mutex_;
  std::vector<Connection> idle_;

  // Of the one write that goes on: from begin to finish, on one thread.
  Turns one_writer_;
  std::optional<LockFile> lock_;
  Connection writing_;
};

}  // namespace

Result<std::unique_ptr<Store>> open_sqlite(SqliteOptions options) {
  const bool hold = options.hold_lock;
  auto store = std::make_unique<SqliteStore>(std::move(options));
  if (hold) EXA_TRY(store->hold_lock());
  EXA_TRY(store->open_existing());
  return Result<std::unique_ptr<Store>>(std::move(store));
}

}  // namespace exa
