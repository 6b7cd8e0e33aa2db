#include "store/open.h"

#include <algorithm>

#include "store/postgres.h"
#include "store/sqlite.h"

namespace exa {
namespace {

constexpr std::string_view kSqlite = "sqlite:";

// "mysql://…", "postgres:…": a scheme (RFC 3986, 3.1) and a colon before any slash.
bool begins_with_scheme(std::string_view text) {
  const size_t colon = text.find(':');
  return colon != text.npos && std::ranges::all_of(text.substr(0, colon), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '+' || c == '-' || c == '.';
         });
}

}  // namespace

Result<StorePlace> parse_store_name(const std::string& store) {
  if (names_postgres(store)) return StorePlace{{}, store};
  const bool named = store.starts_with(kSqlite);
  const std::string folder = named ? store.substr(kSqlite.size()) : store;
  if (folder.empty() || (named ? folder.starts_with("//") : begins_with_scheme(store))) {
    return fail(Code::invalid_input,
                "a store is named by sqlite:FOLDER, a folder, or "
                "postgresql://USER@HOST:PORT/DATABASE");
  }
  return StorePlace{folder, ""};
}

Result<std::unique_ptr<Store>> open_store(const StoreOptions& options) {
  if (!options.place.server.empty())
    return open_postgres({.url = options.place.server, .lock_wait = options.lock_wait});
  return open_sqlite({.folder = options.place.folder,
                      .lock_wait = options.lock_wait,
                      .hold_lock = options.hold_lock});
}

std::optional<Problem> problem_of_store_argument(std::string_view flag, const std::string& store) {
  const auto place = parse_store_name(store);
  if (!place) return Problem{std::string(flag), place.error().message, ""};
  if (place->server.empty() || !holds_password(store)) return std::nullopt;
  return Problem{std::string(flag),
                 "holds a password, which every user of this machine can read in the list of "
                 "processes; put it into ~/.pgpass or the file that PGPASSFILE names, or give the "
                 "whole URL in EXA_STORE",
                 ""};
}

}  // namespace exa
