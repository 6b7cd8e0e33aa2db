// Fresh stores for tests: SQLite in a new folder, and PostgreSQL in a new schema of the server that
// tests/with_postgres runs, where there is one.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include <unistd.h>

#include "base/text.h"
#include "store/postgres.h"
#include "store/postgres_connection.h"
#include "store/sqlite.h"
#include "store/tables.h"

namespace exa {

enum class Backend { sqlite, postgres };

// The server's URL, or nothing.
inline std::string test_postgres() {
  const char* url = std::getenv("EXA_TEST_POSTGRES");
  return url == nullptr ? "" : url;
}

// Those that a test can have here: PostgreSQL only under tests/with_postgres, which make test runs.
inline std::vector<Backend> backends_here() {
  if (test_postgres().empty()) return {Backend::sqlite};
  return {Backend::sqlite, Backend::postgres};
}

// A place for stores: any number may be opened on it. Gone with it.
class PlaceForStores {
 public:
  explicit PlaceForStores(Backend backend) : backend_(backend) {
    std::string pattern = (std::filesystem::temp_directory_path() / "exa-store-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    if (backend == Backend::postgres) make_schema();
  }
  ~PlaceForStores() {
    if (backend_ == Backend::postgres) drop_schema();
    std::filesystem::remove_all(folder_);
  }
  PlaceForStores(const PlaceForStores&) = delete;
  PlaceForStores& operator=(const PlaceForStores&) = delete;

  std::unique_ptr<Store> open() const {
    if (backend_ == Backend::sqlite) return open_sqlite({.folder = folder_}).value();
    return open_postgres({.url = url()}).value();
  }
  Backend backend() const { return backend_; }
  const std::filesystem::path& folder() const { return folder_; }
  const std::string& schema() const { return schema_; }
  std::string url() const { return test_postgres() + "?options=-csearch_path%3D" + schema_; }
  // Around every store, on a connection of its own (PostgreSQL only).
  void query(const std::string& sql) const {
    const auto address = PostgresAddress::parse(test_postgres()).value();
    const auto done = PostgresConnection::open(address, {}).value()->execute(sql);
    if (!done) std::fprintf(stderr, "%s: %s\n", sql.c_str(), done.error().message.c_str());
  }
  // For a test that changes nothing but rows: another one may have the tables afterwards, emptied.
  // Making them takes most of a test's time.
  void allow_reuse() { reusable_ = backend_ == Backend::postgres; }
  // As an owner of the database does, whom no constraint holds back.
  void tamper(const std::string& sql) {
    reusable_ = reusable_ && !sql.starts_with("DROP TABLE");
    query("SET search_path = " + schema_ + "; SET session_replication_role = replica; " + sql +
          (sql.starts_with("DROP TABLE") ? " CASCADE" : ""));
  }

 private:
  void make_schema() {
    if (!left_.empty()) {
      schema_ = left_.back();
      left_.pop_back();
      return query(emptied());
    }
    static int count = 0;
    schema_ = "exa_" + std::to_string(::getpid()) + "_" + std::to_string(++count);
    query("CREATE SCHEMA " + schema_);
  }
  void drop_schema() {
    if (reusable_) return left_.push_back(schema_);
    // a server that with_postgres started is thrown away whole
    if (std::getenv("EXA_TEST_POSTGRES_CONTROL") == nullptr)
      query("DROP SCHEMA " + schema_ + " CASCADE");
  }
  // The tables as the migrations leave them: without rows, but those that they insert.
  std::string emptied() const {
    std::string sql = "SET search_path = " + schema_ + "; SET session_replication_role = replica";
    for (const TableKey& table : tables_of(migrations())) sql += "; DELETE FROM " + table.table;
    for (const Migration& migration : migrations()) {
      for (const std::string_view statement : split(migration.sql, ';'))
        if (trim(statement).starts_with("INSERT")) sql += fmt::format("; {}", trim(statement));
    }
    return sql;
  }

  static inline std::vector<std::string> left_;  // schemas that may be used again

  Backend backend_;
  bool reusable_ = false;
  std::filesystem::path folder_;
  std::string schema_;
};

}  // namespace exa
