// A store by the text that names it: what --store and EXA_STORE say.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/time.h"
#include "store/store.h"

namespace exa {

struct StoreOptions {
  std::string store;  // "sqlite:FOLDER", a folder, or "postgresql://USER@HOST/DATABASE"
  Duration lock_wait = seconds(30);
  bool hold_lock = false;  // SQLite: nobody else may write as long as it is open
};

// The folder of a store that lies in one; nothing for a server.
std::optional<std::filesystem::path> folder_of_store(const std::string& store);

// Errors: those of open_sqlite and open_postgres; invalid_input for a text that names neither.
Result<std::unique_ptr<Store>> open_store(const StoreOptions& options);

// What is wrong with naming it on a command line, which every user of the machine can read: a
// password, with where to put it instead.
std::optional<Problem> problem_of_store_argument(std::string_view flag, const std::string& store);

}  // namespace exa
