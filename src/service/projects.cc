#include "service/projects.h"

#include <fmt/format.h>

#include "service/stored.h"

namespace exa {

Result<Answer> create_project(Service& service, const Caller& caller, const std::string& name) {
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_ASSIGN(const auto same, tx.rows("SELECT 1 FROM project WHERE name = $1", {name}));
    if (!same.empty()) {
      return fail(Code::conflict, fmt::format("there is a project \"{}\" already", name),
                  "exa project list");
    }
    const Time now = service.now();
    EXA_TRY(tx.change("INSERT INTO project VALUES ($1, $2, $3)",
                      {name, now.micros, caller.principal.name}));
    deed = {"project", name, name, {}, {}, json::value(name), "", {{"at", format_rfc3339(now)}}};
    Answer answer;
    answer.status = 201;
    answer.body = {{"name", name},
                   {"profiles", 0},
                   {"created_at", format_rfc3339(now)},
                   {"created_by", caller.principal.name}};
    return answer;
  });
}

Result<Answer> list_projects(Service& service, const Caller& caller) {
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    EXA_ASSIGN(
        const auto rows,
        tx.rows("SELECT p.name, p.created_at, p.created_by, (SELECT COUNT(DISTINCT v.name) FROM "
                "profile_version v WHERE v.project = p.name AND v.deleted_at IS NULL), r.spec FROM "
                "project "
                "p LEFT JOIN project_residency r ON r.name = p.name ORDER BY p.name"));
    json::array items;
    for (const Row& row : rows) {
      if (!caller.known.contains(row.text(0))) continue;
      json::value residency = nullptr;
      if (!row.is_null(4)) {
        EXA_ASSIGN(const json::value label, parse_stored(row.text(4), "stored residency"));
        residency = text_or(label, "residency", "");
      }
      const bool built_in = row.integer(1) == 0;  // `default` was there before anybody
      items.emplace_back(
          json::object{{"name", row.text(0)},
                       {"profiles", row.integer(3)},
                       {"residency", std::move(residency)},
                       {"created_at", built_in ? json::value(nullptr)
                                               : json::value(format_rfc3339(Time{row.integer(1)}))},
                       {"created_by", row.text(2)}});
    }
    Answer answer;
    answer.body = {{"items", std::move(items)}, {"next_cursor", nullptr}};
    return answer;
  });
}

}  // namespace exa
