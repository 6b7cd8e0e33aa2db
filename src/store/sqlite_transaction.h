// One SQLite connection's statements behind the narrow interface. For sqlite.cc.
#pragma once

#include <memory>
#include <unordered_map>

#include <sqlite3.h>

#include "store/store.h"

namespace exa {

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
};
struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;

// What SQLite says, in the words of the error table.
Error error_from(sqlite3* database, int status, std::string_view doing);

// Keeps its prepared statements, so it must end before the connection does.
class SqliteTransaction final : public Transaction {
 public:
  explicit SqliteTransaction(sqlite3* database) : database_(database) {}

  // A read refuses changes.
  void allow_changes(bool allowed) { changes_allowed_ = allowed; }

  using Transaction::change;
  using Transaction::rows;
  Result<std::vector<Row>> rows(std::string_view sql, std::span<const Value> values) override;
  Result<int64_t> change(std::string_view sql, std::span<const Value> values) override;

 private:
  template <typename T>
  Result<T> finished(sqlite3_stmt* statement, int status, T value);
  Result<sqlite3_stmt*> prepared(std::string_view sql, std::span<const Value> values);

  sqlite3* database_;
  bool changes_allowed_ = true;
  std::unordered_map<std::string, std::unique_ptr<sqlite3_stmt, FinalizeStatement>> statements_;
};

}  // namespace exa
