// One connection to exa.db: opening it in whatever state the folder is, its schema, its WAL. For
// sqlite.cc, which decides who may write when.
#pragma once

#include <filesystem>

#include "base/time.h"
#include "store/sqlite_transaction.h"

namespace exa {

class SqliteConnection {
 public:
  // Creates the file where there is none; nothing in it before the first migration.
  // Errors: store_newer, store_damaged, store_unwritable.
  static Result<std::unique_ptr<SqliteConnection>> open(std::filesystem::path file,
                                                        Duration busy_wait);

  SqliteTransaction& transaction() { return transaction_; }
  Result<void> execute(const char* sql);
  void roll_back();  // if a transaction is open

  bool read_only() const { return immutable_; }
  int schema() const { return schema_; }
  static int newest_schema() { return migrations().back().number; }
  Result<void> check_schema();  // reads the schema's number again
  Result<void> migrate();       // under the writer's lock

  // Under the writer's lock only: copies the WAL into the database once it is long. A failure is
  // not the caller's: what was committed is durable in the WAL, and the next write tries again.
  void checkpoint_if_long();

 private:
  SqliteConnection(std::filesystem::path file, bool immutable, Database database)
      : file_(std::move(file)),
        immutable_(immutable),
        database_(std::move(database)),
        transaction_(database_.get()) {}
  void checkpoint();

  std::filesystem::path file_;
  bool immutable_;  // read as a file that nobody changes
  Database database_;
  SqliteTransaction transaction_;  // closed before the database is
  int schema_ = 0;
};

}  // namespace exa
