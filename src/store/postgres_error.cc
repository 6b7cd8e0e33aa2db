#include "store/postgres_error.h"

#include <fmt/format.h>

#include "base/text.h"

namespace exa {
namespace {

struct SqlstateRow {
  std::string_view prefix;  // the longest that fits wins: whole states stand before their class
  Code code;
};

constexpr SqlstateRow kStates[] = {
    {"08", Code::store_unreachable},     // connection exceptions
    {"22021", Code::invalid_input},      // not a character of the encoding
    {"23", Code::conflict},              // constraints
    {"25006", Code::store_unwritable},   // read-only transaction, or a standby
    {"28", Code::store_unreachable},     // who are you
    {"3D000", Code::store_unreachable},  // no such database
    {"3F000", Code::store_unwritable},   // no such schema
    {"40", Code::store_locked},          // serialization failure, deadlock
    {"42501", Code::store_unwritable},   // no right to
    {"42", Code::store_damaged},      // the statements are ours: the tables are not what exa made
    {"53100", Code::store_full},      // disk full
    {"53", Code::store_unreachable},  // too many connections, out of memory
    {"55P03", Code::store_locked},    // lock_timeout
    {"57014", Code::store_unreachable},  // statement_timeout
    {"57", Code::store_unreachable},     // shutting down, starting up
    {"58", Code::store_unwritable},      // the server's files
    {"XX001", Code::store_damaged},
    {"XX002", Code::store_damaged},
};

// libpq ends messages with a line feed and puts hints on lines of their own.
std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : trim(text)) line += c == '\n' || c == '\t' ? ' ' : c;
  return line;
}

Error with(Code code, std::string_view doing, std::string_view said) {
  return {code,
          fmt::format("{}: {}", doing, one_line(said)),
          {},
          fmt::format("exa help error {}", info(code).name),
          {}};
}

}  // namespace

Code code_of_sqlstate(std::string_view sqlstate) {
  if (sqlstate.empty()) return Code::store_unreachable;
  const SqlstateRow* best = nullptr;
  for (const SqlstateRow& row : kStates) {
    if (!sqlstate.starts_with(row.prefix)) continue;
    if (best == nullptr || row.prefix.size() > best->prefix.size()) best = &row;
  }
  return best == nullptr ? Code::unexpected : best->code;
}

bool is_serialization_failure(std::string_view sqlstate) {
  return sqlstate == "40001" || sqlstate == "40P01";
}

std::string sqlstate_of(const PGresult* result) {
  const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  return state == nullptr ? "" : state;
}

Error error_from(const PGresult* result, std::string_view doing) {
  const char* primary = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  const std::string state = sqlstate_of(result);
  const std::string said =
      primary != nullptr ? fmt::format("{} ({})", primary, state) : PQresultErrorMessage(result);
  return with(code_of_sqlstate(state), doing, said);
}

Error error_from(const PGconn* connection, std::string_view doing) {
  return with(Code::store_unreachable, doing, PQerrorMessage(connection));
}

}  // namespace exa
