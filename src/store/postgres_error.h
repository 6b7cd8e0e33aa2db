// What PostgreSQL says, in the words of the error table.
#pragma once

#include <string>
#include <string_view>

#include <libpq-fe.h>

#include "base/error.h"

namespace exa {

// By SQLSTATE (appendix A of PostgreSQL's manual). Empty: libpq itself failed.
Code code_of_sqlstate(std::string_view sqlstate);

// The transaction lost against another one and may be run again: 40001, 40P01.
bool is_serialization_failure(std::string_view sqlstate);

std::string sqlstate_of(const PGresult* result);
Error error_from(const PGresult* result, std::string_view doing);
// Of a connection that was not made or broke.
Error error_from(const PGconn* connection, std::string_view doing);

}  // namespace exa
