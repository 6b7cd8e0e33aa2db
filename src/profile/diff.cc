#include "profile/diff.h"

#include <algorithm>

namespace exa {

std::vector<FieldChange> diff(const Shape& before, const Shape& after) {
  std::vector<FieldChange> changes;
  for (const std::string_view field : shape_fields()) {
    json::value was = field_to_json(before, field);
    json::value is = field_to_json(after, field);
    if (was == is) continue;
    changes.push_back({std::string(field), std::move(was), std::move(is), field != "description"});
  }
  return changes;
}

bool has_drifted(const Shape& before, const Shape& after) {
  return std::ranges::any_of(diff(before, after), &FieldChange::changes_the_ask);
}

json::object to_json(const FieldChange& change) {
  return {{"field", change.field},
          {"before", change.before},
          {"after", change.after},
          {"changes_the_ask", change.changes_the_ask}};
}

}  // namespace exa
