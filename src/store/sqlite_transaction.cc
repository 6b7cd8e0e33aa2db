#include "store/sqlite_transaction.h"

#include <cerrno>
#include <cstring>
#include <optional>

#include <fmt/format.h>

namespace exa {
namespace {

void bind(sqlite3_stmt* statement, int index, const Value& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) {
    sqlite3_bind_int64(statement, index, *number);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    sqlite3_bind_text64(statement, index, text->data(), text->size(), SQLITE_TRANSIENT,
                        SQLITE_UTF8);
  } else if (const auto* bytes = std::get_if<Bytes>(&value)) {
    sqlite3_bind_blob64(statement, index, bytes->data.data(), bytes->data.size(), SQLITE_TRANSIENT);
  } else {
    sqlite3_bind_null(statement, index);
  }
}

// SQLite keeps a text in a BIGINT column if somebody puts one there; exa never does, and a row
// may be asked for what its column was declared as. 0: an expression, which has no declared type.
std::vector<int> declared_types(sqlite3_stmt* statement) {
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

std::optional<Error> wrong_type(sqlite3_stmt* statement, const std::vector<int>& declared) {
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

Row row_of(sqlite3_stmt* statement) {
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

}  // namespace

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

template <typename T>
Result<T> SqliteTransaction::finished(sqlite3_stmt* statement, int status, T value) {
  if (status != SQLITE_DONE) {
    Error error = error_from(database_, status, "the database refused a statement");
    sqlite3_reset(statement);
    return fail(std::move(error));
  }
  sqlite3_reset(statement);
  return value;
}

Result<std::vector<Row>> SqliteTransaction::rows(std::string_view sql,
                                                 std::span<const Value> values) {
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

Result<int64_t> SqliteTransaction::change(std::string_view sql, std::span<const Value> values) {
  EXA_ASSIGN(sqlite3_stmt * statement, prepared(sql, values));
  const int status = sqlite3_step(statement);
  return finished(statement, status == SQLITE_ROW ? SQLITE_DONE : status,
                  static_cast<int64_t>(sqlite3_changes64(database_)));
}

Result<sqlite3_stmt*> SqliteTransaction::prepared(std::string_view sql,
                                                  std::span<const Value> values) {
  auto& statement = statements_[std::string(sql)];
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
  if (!changes_allowed_ && sqlite3_stmt_readonly(statement.get()) == 0)
    return fail(Code::store_unwritable, "a read was asked to change the database");
  for (const Value& value : values) {
    if (const auto* text = std::get_if<std::string>(&value)) EXA_TRY(check_text(*text));
  }
  sqlite3_clear_bindings(statement.get());
  for (size_t i = 0; i < values.size(); ++i) {
    const std::string name = fmt::format("${}", i + 1);
    const int index = sqlite3_bind_parameter_index(statement.get(), name.c_str());
    if (index > 0) bind(statement.get(), index, values[i]);
  }
  return statement.get();
}

}  // namespace exa
