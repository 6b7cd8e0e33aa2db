#include "store/open.h"

#include <fmt/format.h>

#include "store/postgres.h"
#include "store/sqlite.h"

namespace exa {
namespace {

constexpr std::string_view kSqlite = "sqlite:";

}  // namespace

std::optional<std::filesystem::path> folder_of_store(const std::string& store) {
  if (names_postgres(store)) return std::nullopt;
  return std::filesystem::path(store.starts_with(kSqlite) ? store.substr(kSqlite.size()) : store);
}

Result<std::unique_ptr<Store>> open_store(const StoreOptions& options) {
  const std::string& store = options.store;
  if (names_postgres(store)) return open_postgres({.url = store, .lock_wait = options.lock_wait});
  const auto folder = folder_of_store(store);
  if (folder->empty() || store.find("://") != std::string::npos) {
    // not echoed: it may hold a password
    return fail(Code::invalid_input,
                "the store is named by sqlite:FOLDER, a folder, or "
                "postgresql://USER@HOST:PORT/DATABASE");
  }
  return open_sqlite(
      {.folder = *folder, .lock_wait = options.lock_wait, .hold_lock = options.hold_lock});
}

std::optional<Problem> problem_of_store_argument(std::string_view flag, const std::string& store) {
  if (!names_postgres(store) || !holds_password(store)) return std::nullopt;
  return Problem{std::string(flag),
                 "holds a password, which every user of this machine can read in the list of "
                 "processes; put it into ~/.pgpass or the file that PGPASSFILE names, or give the "
                 "whole URL in EXA_STORE",
                 ""};
}

}  // namespace exa
