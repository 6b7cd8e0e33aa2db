// What `next_cursor` holds: where a list stopped, closed to the reader so that nobody builds one. A
// cursor is of one list; another list refuses it, and so does this one when it is not spelled as it
// was given out.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "base/json.h"

namespace exa {

// base64url (RFC 4648 §5, no padding) of "v1:LIST:PLACE".
std::string cursor_of(std::string_view list, std::string_view place);

// The place; invalid_input for what `cursor_of` did not make for this list.
Result<std::string> place_of_cursor(std::string_view list, std::string_view cursor);

// The body of a page whose `next_cursor` is a place: closed, or left null.
void close_cursor(json::object& page, std::string_view list);

}  // namespace exa
