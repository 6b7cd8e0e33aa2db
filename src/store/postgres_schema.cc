#include "store/postgres_schema.h"

#include <fmt/format.h>

namespace exa {
namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

Result<void> apply(PostgresConnection& connection, const Migration& migration) {
  EXA_TRY(connection.execute("BEGIN"));
  EXA_TRY(connection.execute(for_postgres(migration.sql)));
  EXA_TRY(connection.change("INSERT INTO schema_version (number, name) VALUES ($1, $2)",
                            {int64_t{migration.number}, std::string(migration.name)}));
  return connection.commit();
}

Result<void> apply_missing(PostgresConnection& connection, const std::string& where) {
  // looked at again under the lock: another process may have done it meanwhile
  EXA_ASSIGN(const int64_t present, postgres_schema(connection, where));
  if (present == 0) {
    EXA_TRY(connection.execute(
        "CREATE TABLE IF NOT EXISTS schema_version (number BIGINT PRIMARY KEY, name TEXT NOT "
        "NULL, applied_at TIMESTAMPTZ NOT NULL DEFAULT now())"));
  }
  for (const Migration& migration : migrations()) {
    if (migration.number <= present) continue;
    auto done = apply(connection, migration);
    if (done) continue;
    connection.roll_back();
    done.error().message = fmt::format("migration {} ({}) of {}: {}", migration.number,
                                       migration.name, where, done.error().message);
    return done;
  }
  return {};
}

}  // namespace

std::string for_postgres(std::string_view sql) {
  constexpr std::string_view kText = "TEXT";
  std::string result;
  size_t at = 0;
  while (true) {
    const size_t found = sql.find(kText, at);
    result += sql.substr(at, found == std::string_view::npos ? found : found - at);
    if (found == std::string_view::npos) return result;
    at = found + kText.size();
    const bool whole =
        (found == 0 || !is_word(sql[found - 1])) && (at == sql.size() || !is_word(sql[at]));
    result += whole ? "TEXT COLLATE \"C\"" : kText;
  }
}

Result<int64_t> postgres_schema(PostgresConnection& connection, const std::string& where) {
  EXA_ASSIGN(const auto there,
             connection.rows("SELECT 1 FROM pg_tables WHERE schemaname = current_schema() AND "
                             "tablename = 'schema_version'"));
  if (there.empty()) return 0;
  EXA_ASSIGN(const auto found,
             connection.rows("SELECT COALESCE(MAX(number), 0) FROM schema_version"));
  const int64_t present = found.at(0).integer(0);
  const int64_t newest = migrations().back().number;
  if (present <= newest) return present;
  return fail(Code::store_newer,
              fmt::format("{} has schema {}; this exa {} knows up to {}", where, present,
                          EXA_VERSION, newest),
              "exa version");
}

Result<void> migrate_postgres(PostgresConnection& connection, const std::string& where) {
  EXA_TRY(connection.execute(fmt::format("SELECT pg_advisory_lock({})", connection.writer_lock())));
  const auto done = apply_missing(connection, where);
  EXA_TRY(
      connection.execute(fmt::format("SELECT pg_advisory_unlock({})", connection.writer_lock())));
  return done;
}

}  // namespace exa
