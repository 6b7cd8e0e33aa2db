#include "store/sqlite_connection.h"

#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace exa {
namespace {

namespace fs = std::filesystem;

// WAL pages (of 4 KiB) after which the writer copies them into the database. Small, because every
// cold command reads the whole WAL when it is the first to open it.
constexpr int kCheckpointPages = 250;

struct Opening {
  int flags;
  bool immutable;
};

Opening opening_of(const fs::path& file) {
  std::error_code error;
  const bool exists = fs::exists(file, error);
  const bool writable = !exists || ::access(file.c_str(), W_OK) == 0;
  const bool folder_writable = ::access(file.parent_path().c_str(), W_OK) == 0;
  if (writable && folder_writable)
    return {SQLITE_OPEN_READWRITE | (exists ? 0 : SQLITE_OPEN_CREATE), false};
  // A database in WAL mode needs a shared-memory file even to be read. In a folder that refuses
  // one, it can only be read as a file that nobody changes, and only if no WAL holds later
  // changes.
  const fs::path wal = fs::path(file) += "-wal";
  if (fs::exists(wal, error) && fs::file_size(wal, error) > 0) return {SQLITE_OPEN_READONLY, true};
  return {SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, true};
}

std::string name_for_sqlite(const fs::path& file, int flags) {
  if ((flags & SQLITE_OPEN_URI) == 0) return file.string();
  std::string escaped;
  for (const char c : file.string()) {
    if (c == '%' || c == '?' || c == '#')
      escaped += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    else
      escaped += c;
  }
  return "file:" + escaped + "?immutable=1";
}

}  // namespace

Result<std::unique_ptr<SqliteConnection>> SqliteConnection::open(fs::path file,
                                                                 Duration busy_wait) {
  const Opening opening = opening_of(file);
  // Made here, for its owner's eyes only; SQLite gives the WAL the same mode.
  if ((opening.flags & SQLITE_OPEN_CREATE) != 0) {
    const int made = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (made >= 0) ::close(made);
  }
  sqlite3* opened = nullptr;
  // One thread at a time has a connection (sqlite.cc), so SQLite need not lock for it.
  const int flags = opening.flags | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_NOMUTEX;
  const int status =
      sqlite3_open_v2(name_for_sqlite(file, opening.flags).c_str(), &opened, flags, nullptr);
  Database database(opened);
  if (status != SQLITE_OK)
    return fail(error_from(opened, status, fmt::format("cannot open {}", file.string())));
  if (sqlite3_db_config(opened, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr) != SQLITE_OK ||
      sqlite3_wal_autocheckpoint(opened, 0) != SQLITE_OK) {
    return fail(Code::unexpected, "SQLite refused its settings");
  }
  sqlite3_busy_timeout(opened, static_cast<int>(busy_wait.micros / 1000));
  std::unique_ptr<SqliteConnection> connection(
      new SqliteConnection(std::move(file), opening.immutable, std::move(database)));
  EXA_TRY(connection->check_schema());
  return connection;
}

Result<void> SqliteConnection::execute(const char* sql) {
  const int status = sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr);
  if (status != SQLITE_OK) {
    return fail(
        error_from(database_.get(), status,
                   fmt::format("the data folder {} refused", file_.parent_path().string())));
  }
  return {};
}

void SqliteConnection::roll_back() {
  // a failed COMMIT, or a full disk, may have ended the transaction already
  if (sqlite3_get_autocommit(database_.get()) != 0) return;
  sqlite3_exec(database_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
}

Result<void> SqliteConnection::check_schema() {
  EXA_ASSIGN(const auto rows, transaction_.rows("PRAGMA user_version", {}));
  schema_ = static_cast<int>(rows.at(0).integer(0));
  if (schema_ <= newest_schema()) return {};
  return fail(Code::store_newer,
              fmt::format("{} has schema {}; this exa {} knows up to {}", file_.string(), schema_,
                          EXA_VERSION, newest_schema()),
              "exa version");
}

Result<void> SqliteConnection::migrate() {
  if (schema_ == 0) EXA_TRY(execute("PRAGMA journal_mode=WAL"));
  for (const Migration& migration : migrations()) {
    if (migration.number <= schema_) continue;
    // number and change commit together, so a crash leaves the schema before or after, not between
    const std::string sql = fmt::format("BEGIN IMMEDIATE;\n{}\nPRAGMA user_version={};\nCOMMIT;",
                                        migration.sql, migration.number);
    if (auto done = execute(sql.c_str()); !done) {
      roll_back();
      return done;
    }
    schema_ = migration.number;
  }
  checkpoint();
  return {};
}

void SqliteConnection::checkpoint_if_long() {
  std::error_code error;
  const auto size = fs::file_size(fs::path(file_) += "-wal", error);
  if (error || size < static_cast<uintmax_t>(kCheckpointPages) * 4096) return;
  checkpoint();
}

void SqliteConnection::checkpoint() {
  sqlite3_wal_checkpoint_v2(database_.get(), nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
}

}  // namespace exa
