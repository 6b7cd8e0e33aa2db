// The head of an answer as it is sent. Written as one piece of text: most answers come from memory,
// and then building the head is what is left to do. Pure.
#pragma once

#include <optional>
#include <string>

#include "server/exchange.h"

namespace exa {

struct HeadFacts {
  std::optional<size_t> length;  // none: until the connection ends
  bool keep_alive = false;
  bool old_client = false;  // HTTP/1.0: has to be told that it may go on
  bool tls = false;
  std::string_view date;  // IMF-fixdate (RFC 9110 §5.6.7)
};

// A header of `answer` whose name or value could end its line is left out.
std::string response_head(const Outgoing& answer, const HeadFacts& facts);

// "Mon, 30 Nov 2026 15:04:05 GMT"
std::string http_date(int64_t seconds_since_1970);

}  // namespace exa
