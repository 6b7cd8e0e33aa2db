#include "service/pages.h"

#include <fmt/format.h>

#include "base/quantity.h"
#include "service/profile_rows.h"
#include "service/stored.h"

namespace exa {
namespace {

// The last row of a page: its time and, among rows of one moment, its id.
struct Place {
  int64_t micros = INT64_MAX;
  std::string id;
};

Result<Place> place_of(const std::string& after) {
  Place place;
  if (after.empty()) return place;
  const size_t colon = after.find(':');
  if (colon == std::string::npos) return fail(Code::invalid_input, "the cursor is not one of ours");
  EXA_ASSIGN(place.micros, parse_count(after.substr(0, colon), "cursor"));
  place.id = after.substr(colon + 1);
  return place;
}

}  // namespace

Result<Answer> newest_first(Service& service, const Page& page, std::string_view table,
                            std::string_view time, std::string_view condition,
                            const DocumentItem& item) {
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    EXA_TRY(require_project(tx, page.project));
    EXA_ASSIGN(const Place before, place_of(page.after));
    EXA_ASSIGN(
        const auto rows,
        tx.rows(fmt::format("SELECT spec, {1}, id FROM {0} WHERE project = $1 AND ({1} < $2 OR "
                            "({1} = $2 AND id < $3)) {2} ORDER BY {1} DESC, id DESC LIMIT $4",
                            table, time, condition.empty() ? "" : fmt::format("AND {}", condition)),
                {page.project, before.micros, before.id, page.limit + 1}));
    json::array items;
    json::value next = nullptr;
    for (const Row& row : rows) {
      if (static_cast<int64_t>(items.size()) == page.limit) {
        const Row& last = rows[items.size() - 1];
        next = fmt::format("{}:{}", last.integer(1), last.text(2));
        break;
      }
      EXA_ASSIGN(const json::value spec, parse_stored(row.text(0), table));
      EXA_ASSIGN(json::object one, item(spec));
      items.emplace_back(std::move(one));
    }
    Answer answer;
    answer.body = {{"items", std::move(items)}, {"next_cursor", std::move(next)}};
    return answer;
  });
}

}  // namespace exa
