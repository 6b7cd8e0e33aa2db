// Entity tags (RFC 9110 §8.8.3) of what is replaced as a whole: a pool, an engine, a region, the
// burst policy, a project's label, a cluster. The tag is of the document itself, as a change
// replaces it, not of what an answer works out around it (free devices, ages): it tells whether
// somebody changed the thing, never whether an answer is still the same bytes. Pure.
#pragma once

#include <optional>
#include <string>

#include "base/error.h"
#include "base/json.h"

namespace exa {

// "\"…\"": strong, the start of the SHA-256 of the canonical text (RFC 8785).
std::string entity_tag_of(const json::value& document);

// Whether If-Match holds for what is there (nullopt: nothing is): `*` or one of its tags. Without
// the header: match_needed when it is `required` and there is something to change. A weak tag never
// matches (RFC 9110 §13.1.1).
Result<void> check_match(std::string_view if_match, bool required,
                         const std::optional<json::value>& there);

}  // namespace exa
