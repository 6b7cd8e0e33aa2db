// What differs between two shapes, field by field.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "profile/hardware_profile.h"

namespace exa {

struct FieldChange {
  std::string field;  // the document's key
  json::value before;
  json::value after;
  bool changes_the_ask = false;  // counts as drift: everything but the description (semantics §3)

  bool operator==(const FieldChange&) const = default;
};

// In the document's order; empty when the shapes are equal.
std::vector<FieldChange> diff(const Shape& before, const Shape& after);
bool has_drifted(const Shape& before, const Shape& after);  // some change changes the ask

// {"field", "before", "after", "changes_the_ask"}
json::object to_json(const FieldChange& change);

}  // namespace exa
