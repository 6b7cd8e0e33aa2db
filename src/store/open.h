// A store by the text that names it: what --store and EXA_STORE say.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/time.h"
#include "store/store.h"

namespace exa {

// Where a store is: SQLite in a folder, or on a server. One of the two is empty.
struct StorePlace {
  std::filesystem::path folder;
  std::string server;  // "postgresql://USER@HOST/DATABASE"
};

// "sqlite:FOLDER", a folder, or "postgresql://…". invalid_input for what reads like another kind of
// store ("mysql://…", "postgresq://…"): taken for a folder it would be an empty one. The text is
// not echoed: it may hold a password. Pure.
Result<StorePlace> parse_store_name(const std::string& store);

struct StoreOptions {
  StorePlace place;
  Duration lock_wait = seconds(30);
  bool hold_lock = false;  // SQLite: nobody else may write as long as it is open
};

// Errors: those of open_sqlite and open_postgres.
Result<std::unique_ptr<Store>> open_store(const StoreOptions& options);

// What is wrong with naming it on a command line: that it names no store, or holds a password,
// which every user of the machine can read there; with where to put it instead.
std::optional<Problem> problem_of_store_argument(std::string_view flag, const std::string& store);

}  // namespace exa
