// Answers that the transport makes itself, and what it reads of requests alike wherever it does.
// Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/route.h"
#include "server/exchange.h"

namespace exa {

// A reply as it goes over the wire. 401 says what would be accepted, 429 when to come again.
Outgoing outgoing_of(Reply reply);
// A problem document of the transport itself.
Outgoing problem(int status, Code code, std::string_view detail, const std::string& request_id);
// Turns an answer into a page of HTML without a script, which may load nothing.
void make_page(Outgoing& outgoing, std::shared_ptr<const std::string> html);

std::string_view path_of(std::string_view target);  // without its query
bool is_json(std::string_view content_type);

}  // namespace exa
