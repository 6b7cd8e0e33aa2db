// The API for people: one page of HTML with nothing outside itself (no script, no font, no image),
// light or dark as the reader has it, from the same table as the document. Pure.
#pragma once

#include <span>
#include <string>

#include "api/route.h"

namespace exa {

// `origin` is where the reader finds the server ("https://exa.example.org"), for the examples.
std::string api_page(std::span<const Route> table, std::string_view origin);

// Text as it stands in an element or a quoted attribute.
std::string html_escaped(std::string_view text);

}  // namespace exa
