// The backend of an installation: one PostgreSQL database (15 or newer), any number of exa
// processes on it. The same SQL as on SQLite, over libpq.
//
// Writers. Every write of every process takes one advisory lock before its transaction begins and
// keeps it until its `Committed` ran: one writer at a time over all replicas, so the audit log has
// one sequence and no forks, and a decision is made on what is committed. Nothing rests on that
// alone: version numbers are a row lock on the name's head plus a unique key, and 40001 and 40P01
// are run again. Within a process, writes that wait share one commit (GroupCommit). A replica that
// is stopped while it holds the lock loses its connection after `stall`, and with it the lock.
//
// Connections that break. A read is run again on a fresh connection. A write is run again as long
// as its COMMIT was not sent: the server then kept nothing of it. One whose COMMIT got no answer is
// outcome_unknown, and never repeated here. A server that restarts is waited for, up to
// `reconnect`.
//
// Readers have connections of their own, REPEATABLE READ READ ONLY. Locks belong to sessions, so a
// pooler in front must keep sessions (pgbouncer: pool_mode=session). `synchronous_commit` is never
// off for exa's sessions. Tables are made in the first schema of the search path; one database
// holds several installations in several schemas (`?options=-csearch_path%3DNAME`).
#pragma once

#include <string>
#include <string_view>

#include "base/time.h"
#include "store/store.h"

namespace exa {

struct PostgresOptions {
  // "postgresql://user@host/database", as libpq reads it: pgpass, service files and PG… variables
  // hold for what it leaves out. A password in it is used, and shown nowhere.
  std::string url;
  Duration connect = seconds(5);     // how long one attempt to connect may take
  Duration reconnect = seconds(10);  // how long a server that was there once is waited for
  Duration lock_wait = seconds(30);  // how long a write waits for another one's lock
  Duration statement = seconds(60);  // how long one statement may run
  Duration stall = seconds(10);      // how long a writer may be silent before it loses its lock
  size_t most_readers = 16;          // connections to read; further readers wait for one
};

// Whether a text that names a store names a PostgreSQL.
bool names_postgres(std::string_view store);

// Whether it carries a password, which has no place in an argument list.
bool holds_password(const std::string& url);

// Connects, and creates or migrates the tables (under the writers' lock, each migration in one
// transaction). Errors: invalid_input (an URL that libpq cannot read, a database that is not UTF-8,
// no schema to create in), store_unreachable, store_unwritable (no right to), store_newer,
// store_locked.
Result<std::unique_ptr<Store>> open_postgres(PostgresOptions options);

}  // namespace exa
