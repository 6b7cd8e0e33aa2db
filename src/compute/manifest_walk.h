// A value held against the rows of a table of fields. Pure.
#pragma once

#include "compute/palette_manifest.h"

namespace exa {

// The members of `object`, which is the field `path` ("" for the whole manifest) and stands at the
// pointer `where`: types, checks and required fields, in the order of the document; what looks like
// a slip of a known field is warned of, other unknown fields are none of its business.
void check_fields(const json::object& object, std::span<const ManifestField> fields,
                  std::string_view path, std::string_view where, Findings& findings);

}  // namespace exa
