// The numbered migrations on PostgreSQL, and which of them a database has. For postgres.cc.
#pragma once

#include <string>
#include <string_view>

#include "store/postgres_connection.h"

namespace exa {

// A migration as PostgreSQL gets it: text is compared byte by byte, whatever the database's
// collation, so that lists and cursors are in the same order as on SQLite.
std::string for_postgres(std::string_view sql);

// The number of the last migration; 0: none. Error: store_newer.
Result<int64_t> postgres_schema(PostgresConnection& connection, const std::string& where);

// Applies what is missing, under the writers' lock, each in one transaction with its number.
Result<void> migrate_postgres(PostgresConnection& connection, const std::string& where);

}  // namespace exa
