#include "store/sqlite.h"

#include <cerrno>
#include <cstring>
#include <optional>
#include <system_error>
#include <unordered_map>

#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include "store/lock_file.h"

namespace exa {
namespace {

namespace fs = std::filesystem;

// WAL pages (of 4 KiB) after which the writer copies them into the database. Small, because every
// cold command reads the whole WAL when it is the first to open it.
constexpr int kCheckpointPages = 250;

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
};
struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;
using Statement = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

// What SQLite says, in the words of the error table.
Error error_from(sqlite3* database, int status, std::string_view doing) {
  const std::string text = database != nullptr ? sqlite3_errmsg(database) : sqlite3_errstr(status);
  const int system = database != nullptr ? sqlite3_system_errno(database) : 0;
  Error error;

  switch (status & 0xFF) {
    case SQLITE_FULL:
      error.code = Code::store_full;
      break;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      error.code = Code::store_locked;
      break;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      error.code = Code::store_damaged;
      break;
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      error.code = Code::store_unwritable;
      break;
    case SQLITE_IOERR:
      error.code = system == ENOSPC || system == EDQUOT || system == EFBIG ? Code::store_full
                                                                           : Code::store_unwritable;
      break;
    case SQLITE_CONSTRAINT:
      error.code = Code::conflict;
      break;
    default:
      error.code = Code::unexpected;
      break;
  }
  error.next = fmt::format("exa help error {}", info(error.code).name);
  error.message = fmt::format("{}: {}", doing, text);
  if (system != 0) error.message += fmt::format(" ({})", std::strerror(system));
  return error;
}

class SqliteTransaction final : public Transaction {
 public:
  explicit SqliteTransaction(sqlite3* database) : database_(database) {}

  using Transaction::change;
  using Transaction::rows;

  Result<std::vector<Row>> rows(std::string_view sql, std::span<const Value> values) override {
    EXA_ASSIGN(sqlite3_stmt * statement, prepared(sql, values));
    std::vector<Row> result;
    int status = SQLITE_ROW;
    const std::vector<int> declared = declared_types(statement);
    while ((status = sqlite3_step(statement)) == SQLITE_ROW) {
      if (auto damage = wrong_type(statement, declared)) {
        sqlite3_reset(statement);
        return fail(*std::move(damage));
      }
      result.push_back(row_of(statement));
    }
    return finished(statement, status, std::move(result));
  }

  Result<int64_t> change(std::string_view sql, std::span<const Value> values) override {
    EXA_ASSIGN(sqlite3_stmt * statement, prepared(sql, values));
    const int status = sqlite3_step(statement);
    return finished(statement, status == SQLITE_ROW ? SQLITE_DONE : status,
                    static_cast<int64_t>(sqlite3_changes64(database_)));
  }

 private:
  template <typename T>
  Result<T> finished(sqlite3_stmt* statement, int status, T value) {
    if (status != SQLITE_DONE) {
      Error error = error_from(database_, status, "the database refused a statement");
      sqlite3_reset(statement);
      return fail(std::move(error));
    }
    sqlite3_reset(statement);
    return value;
  }

  Result<sqlite3_stmt*> prepared(std::string_view sql, std::span<const Value> values) {
    Statement& statement = statements_[std::string(sql)];
    if (!statement) {
      sqlite3_stmt* fresh = nullptr;
      const int status =
          sqlite3_prepare_v2(database_, sql.data(), static_cast<int>(sql.size()), &fresh, nullptr);
      statement.reset(fresh);
      if (status != SQLITE_OK) {
        Error error = error_from(database_, status, "the database did not accept a statement");
        // the statements are ours: a table or column is not what the migrations made
        if ((status & 0xFF) == SQLITE_ERROR) error.code = Code::store_damaged;
        return fail(std::move(error));
      }
    }
    sqlite3_clear_bindings(statement.get());
    for (size_t i = 0; i < values.size(); ++i) {
      const std::string name = fmt::format("${}", i + 1);
      const int index = sqlite3_bind_parameter_index(statement.get(), name.c_str());
      if (index > 0) bind(statement.get(), index, values[i]);
    }
    return statement.get();
  }

  static void bind(sqlite3_stmt* statement, int index, const Value& value) {
    if (const auto* number = std::get_if<int64_t>(&value)) {
      sqlite3_bind_int64(statement, index, *number);
    } else if (const auto* text = std::get_if<std::string>(&value)) {
      sqlite3_bind_text64(statement, index, text->data(), text->size(), SQLITE_TRANSIENT,
                          SQLITE_UTF8);
    } else if (const auto* bytes = std::get_if<Bytes>(&value)) {
      sqlite3_bind_blob64(statement, index, bytes->data.data(), bytes->data.size(),
                          SQLITE_TRANSIENT);
    } else {
      sqlite3_bind_null(statement, index);
    }
  }

  // SQLite keeps a text in a BIGINT column if somebody puts one there; exa never does, and a row
  // may be asked for what its column was declared as. 0: an expression, which has no declared type.
  static std::vector<int> declared_types(sqlite3_stmt* statement) {
    std::vector<int> types;
    for (int i = 0; i < sqlite3_column_count(statement); ++i) {
      const char* declared = sqlite3_column_decltype(statement, i);
      const std::string_view name = declared == nullptr ? "" : declared;
      types.push_back(name == "BIGINT"  ? SQLITE_INTEGER
                      : name == "TEXT"  ? SQLITE_TEXT
                      : name == "BYTEA" ? SQLITE_BLOB
                                        : 0);
    }
    return types;
  }

  static std::optional<Error> wrong_type(sqlite3_stmt* statement,
                                         const std::vector<int>& declared) {
    for (size_t i = 0; i < declared.size(); ++i) {
      const int column = static_cast<int>(i);
      const int type = sqlite3_column_type(statement, column);
      if (type == SQLITE_NULL || declared[i] == 0 || type == declared[i]) continue;
      return Error{Code::store_damaged,
                   fmt::format("a row holds a value of another type in its column {}",
                               sqlite3_column_name(statement, column)),
                   {},
                   "exa audit verify",
                   {}};
    }
    return std::nullopt;
  }

  static Row row_of(sqlite3_stmt* statement) {
    std::vector<Value> values;
    const int columns = sqlite3_column_count(statement);
    values.reserve(static_cast<size_t>(columns));
    for (int i = 0; i < columns; ++i) {
      const auto size = [&] { return static_cast<size_t>(sqlite3_column_bytes(statement, i)); };
      switch (sqlite3_column_type(statement, i)) {
        case SQLITE_INTEGER:
          values.emplace_back(int64_t{sqlite3_column_int64(statement, i)});
          break;
        case SQLITE_TEXT: {
          const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, i));
          values.emplace_back(std::string(text, size()));
          break;
        }
        case SQLITE_BLOB: {
          const auto* data = static_cast<const char*>(sqlite3_column_blob(statement, i));
          values.emplace_back(Bytes{data == nullptr ? std::string() : std::string(data, size())});
          break;
        }
        default:
          values.emplace_back(nullptr);
          break;
      }
    }
    return Row(std::move(values));
  }

  sqlite3* database_;
  std::unordered_map<std::string, Statement> statements_;
};

class SqliteStore final : public Store {
 public:
  explicit SqliteStore(SqliteOptions options) : options_(std::move(options)) {}

  std::string describe() const override { return "sqlite " + file().string(); }

  // A folder that is not there is an empty store; one that cannot be looked into is an error, or
  // all that it holds would seem to be gone.
  Result<void> open_existing() {
    std::error_code error;
    const fs::file_status folder = fs::status(options_.folder, error);
    if (!fs::exists(folder) && folder.type() == fs::file_type::not_found) return {};
    if (fs::exists(folder) && !fs::is_directory(folder)) {
      return fail(Code::store_unwritable,
                  fmt::format("{} is not a folder", options_.folder.string()));
    }
    const fs::file_status database = fs::status(file(), error);
    if (database.type() == fs::file_type::not_found) return {};
    if (!fs::exists(database)) {
      return fail(Code::store_unwritable, fmt::format("cannot look into {}: {}",
                                                      options_.folder.string(), error.message()));
    }
    return open_file();
  }

  Result<void> read(const Work& work) override {
    if (!database_ || schema_ == 0) return read_empty(work);
    if (schema_ < newest_schema()) EXA_TRY(write([](Transaction&) -> Result<void> { return {}; }));
    EXA_TRY(execute("BEGIN"));
    const Result<void> outcome = work(*transaction_);
    EXA_TRY(execute("ROLLBACK"));
    return outcome;
  }

  Result<void> rehearse(const Work& work) override {
    if (!database_) return read_empty(work);
    EXA_ASSIGN(const LockFile lock,
               LockFile::acquire(options_.folder / "exa.lock", options_.lock_wait));
    EXA_TRY(ready_to_write());
    EXA_TRY(execute("BEGIN IMMEDIATE"));
    const Result<void> outcome = work(*transaction_);
    EXA_TRY(execute("ROLLBACK"));
    return outcome;
  }

  using Store::write;

  Result<void> write(const Work& work, const std::function<void()>& committed) override {
    EXA_TRY(make_folder());
    EXA_ASSIGN(const LockFile lock,
               LockFile::acquire(options_.folder / "exa.lock", options_.lock_wait));
    EXA_TRY(ready_to_write());
    EXA_TRY(execute("BEGIN IMMEDIATE"));
    Result<void> outcome = work(*transaction_);
    if (outcome) outcome = execute("COMMIT");
    if (!outcome) {
      // a failed COMMIT may have ended the transaction already
      if (sqlite3_get_autocommit(database_.get()) == 0) EXA_TRY(execute("ROLLBACK"));
      return outcome;
    }
    committed();
    checkpoint_if_long();
    return {};
  }

 private:
  fs::path file() const { return options_.folder / "exa.db"; }

  Result<void> execute(const char* sql) {
    const int status = sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr);
    if (status != SQLITE_OK) {
      return fail(error_from(database_.get(), status,
                             fmt::format("the data folder {} refused", options_.folder.string())));
    }
    return {};
  }

  Result<void> make_folder() {
    std::error_code error;
    if (fs::is_directory(options_.folder, error)) return {};
    fs::create_directories(options_.folder, error);
    if (error) {
      return fail(
          error == std::errc::no_space_on_device ? Code::store_full : Code::store_unwritable,
          fmt::format("cannot create the data folder {}: {}", options_.folder.string(),
                      error.message()));
    }
    fs::permissions(options_.folder, fs::perms::owner_all, error);
    return {};
  }

  // Opens (and, under the writer's lock, creates or migrates) the database.
  Result<void> ready_to_write() {
    if (immutable_) {
      return fail(Code::store_unwritable,
                  fmt::format("the data folder {} is read-only", options_.folder.string()));
    }
    if (!database_) EXA_TRY(open_file());
    if (schema_ == newest_schema()) return {};
    // read again under the lock: another process may have made the tables since this one looked
    EXA_TRY(check_schema());
    if (schema_ == newest_schema()) return {};
    return migrate();
  }

  static int newest_schema() { return migrations().back().number; }

  Result<void> open_file() {
    std::error_code error;
    const bool exists = fs::exists(file(), error);
    const bool writable = !exists || ::access(file().c_str(), W_OK) == 0;
    const bool folder_writable = ::access(options_.folder.c_str(), W_OK) == 0;
    EXA_TRY(open_with(flags_for(exists, writable && folder_writable)));
    if (sqlite3_db_config(database_.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr) !=
            SQLITE_OK ||
        sqlite3_wal_autocheckpoint(database_.get(), 0) != SQLITE_OK) {
      return fail(Code::unexpected, "SQLite refused its settings");
    }
    sqlite3_busy_timeout(database_.get(), static_cast<int>(options_.lock_wait.micros / 1000));
    return check_schema();
  }

  int flags_for(bool exists, bool writable) {
    std::error_code error;
    if (writable) return SQLITE_OPEN_READWRITE | (exists ? 0 : SQLITE_OPEN_CREATE);
    // A database in WAL mode needs a shared-memory file even to be read. In a folder that refuses
    // one, it can only be read as a file that nobody changes, and only if no WAL holds later
    // changes.
    const fs::path wal = fs::path(file()) += "-wal";
    immutable_ = true;
    if (fs::exists(wal, error) && fs::file_size(wal, error) > 0) return SQLITE_OPEN_READONLY;
    return SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
  }

  Result<void> open_with(int flags) {
    std::string name = file().string();
    if ((flags & SQLITE_OPEN_URI) != 0) {
      std::string escaped;
      for (const char c : name) {
        if (c == '%' || c == '?' || c == '#')
          escaped += fmt::format("%{:02X}", static_cast<unsigned char>(c));
        else
          escaped += c;
      }
      name = "file:" + escaped + "?immutable=1";
    }
    sqlite3* database = nullptr;
    const int status =
        sqlite3_open_v2(name.c_str(), &database, flags | SQLITE_OPEN_EXRESCODE, nullptr);
    database_.reset(database);
    if (status != SQLITE_OK) {
      Error error = error_from(database, status, fmt::format("cannot open {}", file().string()));
      database_.reset();
      return fail(std::move(error));
    }
    transaction_ = std::make_unique<SqliteTransaction>(database);
    return {};
  }

  Result<void> check_schema() {
    auto rows = transaction_->rows("PRAGMA user_version");
    if (!rows) {
      close();
      return fail(std::move(rows).error());
    }
    schema_ = static_cast<int>(rows->at(0).integer(0));
    if (schema_ > newest_schema()) {
      const int found = schema_;
      close();
      return fail(Code::store_newer,
                  fmt::format("{} has schema {}; this exa {} knows up to {}", file().string(),
                              found, EXA_VERSION, newest_schema()),
                  "exa version");
    }
    return {};
  }

  void close() {
    transaction_.reset();
    database_.reset();
  }

  Result<void> migrate() {
    if (schema_ == 0) EXA_TRY(execute("PRAGMA journal_mode=WAL"));
    for (const Migration& migration : migrations()) {
      if (migration.number <= schema_) continue;
      // number and change commit together, so a crash leaves the schema before or after, not
      // between
      const std::string sql = fmt::format("BEGIN IMMEDIATE;\n{}\nPRAGMA user_version={};\nCOMMIT;",
                                          migration.sql, migration.number);
      if (auto done = execute(sql.c_str()); !done) {
        if (sqlite3_get_autocommit(database_.get()) == 0) {
          sqlite3_exec(database_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
        }
        return done;
      }
      schema_ = migration.number;
    }
    checkpoint();
    return {};
  }

  // For a folder that does not exist yet (or whose first write never committed): an empty store,
  // without leaving anything behind.
  Result<void> read_empty(const Work& work) {
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
    return work(transaction);
  }

  // Only ever called under the writer's lock. A failure is not the caller's: what was committed is
  // durable in the WAL, and the next write tries again.
  void checkpoint_if_long() {
    std::error_code error;
    const auto size = fs::file_size(fs::path(file()) += "-wal", error);
    if (error || size < static_cast<uintmax_t>(kCheckpointPages) * 4096) return;
    checkpoint();
  }

  void checkpoint() {
    sqlite3_wal_checkpoint_v2(database_.get(), nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr,
                              nullptr);
  }

  SqliteOptions options_;
  Database database_;
  std::unique_ptr<SqliteTransaction> transaction_;  // holds the prepared statements: closed first
  int schema_ = 0;
  bool immutable_ = false;
};

}  // namespace

Result<std::unique_ptr<Store>> open_sqlite(SqliteOptions options) {
  auto store = std::make_unique<SqliteStore>(std::move(options));
  EXA_TRY(store->open_existing());
  return Result<std::unique_ptr<Store>>(std::move(store));
}

}  // namespace exa
