// The embedded backend: one SQLite database in the data folder.
//
// WAL with synchronous=FULL. SQLite up to 3.51.2 can corrupt a WAL when two connections write and
// checkpoint at once, so every write and every checkpoint happens under one lock file (`exa.lock`)
// that all exa processes share: single writer = single checkpointer. Readers take no lock, and have
// connections of their own.
#pragma once

#include <filesystem>

#include "base/time.h"
#include "store/store.h"

namespace exa {

struct SqliteOptions {
  std::filesystem::path folder;      // holds exa.db, exa.lock
  Duration lock_wait = seconds(30);  // how long a write waits for another process
  bool hold_lock = false;  // keep exa.lock as long as the store is open: nobody else may write
};

// Opens the data folder. Nothing is created before the first write: reading a folder that does not
// exist yet answers as an empty store does. Errors: store_newer, store_damaged, store_unwritable,
// store_locked (another process holds the lock that was to be held).
Result<std::unique_ptr<Store>> open_sqlite(SqliteOptions options);

}  // namespace exa
