// What governs bursting: the policy, where regions lie, how projects' data is labelled.
#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "service/entity_tag.h"
#include "service/placement_rows.h"
#include "service/placements.h"
#include "service/profile_rows.h"
#include "service/stored.h"

namespace exa {
namespace {

// "open=eu|uk" for each class that is narrowed.
Result<json::object> narrowed_from(const std::vector<std::string>& rows) {
  json::object narrowed;
  std::vector<Problem> problems;
  for (const std::string& row : rows) {
    const size_t equals = row.find('=');
    if (equals == std::string::npos || equals == 0) {
      problems.push_back(
          {"/narrow", fmt::format("\"{}\" is not CLASS=JURISDICTION|JURISDICTION", printable(row)),
           ""});
      continue;
    }
    json::array codes;
    for (const std::string_view code : split(std::string_view(row).substr(equals + 1), '|')) {
      if (!trim(code).empty()) codes.emplace_back(trim(code));
    }
    narrowed[row.substr(0, equals)] = std::move(codes);
  }
  if (!problems.empty()) return fail(invalid("burst policy", std::move(problems)));
  return narrowed;
}

json::object region_json(const RegionRow& row, bool shipped) {
  json::object object = to_json(row);
  object["shipped"] = shipped;
  return object;
}

}  // namespace

Result<Answer> show_burst_policy(Service& service) {
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    EXA_ASSIGN(const BurstPolicy policy, load_burst_policy(tx));
    Answer answer;
    answer.body = to_json(policy);
    answer.etag = entity_tag_of(answer.body);
    return answer;
  });
}

Result<Answer> set_burst_policy(Service& service, const Caller& caller,
                                const SetBurstPolicy& what) {
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_ASSIGN(const BurstPolicy before, load_burst_policy(tx));
    json::object next = to_json(before);
    if (what.cloud) next["cloud"] = *what.cloud;
    if (what.open_to_unknown) next["open_to_unknown"] = *what.open_to_unknown;
    if (what.unlabelled) next["unlabelled"] = *what.unlabelled;
    if (what.narrow) {
      EXA_ASSIGN(next["narrowed"], narrowed_from(*what.narrow));
    }
    next["revision"] = before.revision + 1;
    EXA_ASSIGN(const BurstPolicy policy, read_policy(next));
    const json::object spec = to_json(policy);
    EXA_TRY(put_setting(tx, "burst_policy", "policy", spec, service.now(), caller.principal.name));
    deed = {"burst_policy", "policy", "", {}, to_json(before), spec, "", {}};
    Answer answer;
    answer.body = spec;
    return answer;
  });
}

Result<Answer> list_regions(Service& service, const std::string& jurisdiction) {
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    EXA_ASSIGN(const JurisdictionTable table, load_jurisdictions(tx));
    std::vector<std::pair<RegionRow, bool>> rows;
    for (const ShippedRegion& shipped : shipped_regions()) {
      const bool over =
          std::ranges::find(table.rows, shipped.region, &RegionRow::region) != table.rows.end();
      if (!over)
        rows.emplace_back(RegionRow{std::string(shipped.region), std::string(shipped.jurisdiction)},
                          true);
    }
    for (const RegionRow& row : table.rows) rows.emplace_back(row, false);
    std::ranges::sort(rows, {}, [](const auto& row) { return row.first.region; });
    json::array items;
    for (const auto& [row, shipped] : rows) {
      if (!jurisdiction.empty() && row.jurisdiction != jurisdiction) continue;
      items.emplace_back(region_json(row, shipped));
    }
    Answer answer;
    answer.body = {{"items", std::move(items)}, {"next_cursor", nullptr}};
    return answer;
  });
}

Result<Answer> show_region(Service& service, const std::string& region) {
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    const std::string name = lower(region);
    EXA_ASSIGN(const JurisdictionTable table, load_jurisdictions(tx));
    Answer answer;
    const auto own = std::ranges::find(table.rows, name, &RegionRow::region);
    if (own != table.rows.end()) {
      answer.body = region_json(*own, false);
      answer.etag = entity_tag_of(to_json(*own));
      return answer;
    }
    const auto shipped = jurisdiction_of(table, name);
    if (!shipped) {
      return fail(Code::not_found,
                  fmt::format("nobody has said where region \"{}\" lies", printable(name)),
                  "exa hardware regions");
    }
    answer.body = region_json({name, std::string(*shipped)}, true);
    return answer;
  });
}

Result<Answer> set_region(Service& service, const Caller& caller, const std::string& region,
                          const std::string& jurisdiction) {
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    const std::string name = lower(region);
    EXA_ASSIGN(JurisdictionTable table, load_jurisdictions(tx));
    const auto before = std::ranges::find(table.rows, name, &RegionRow::region);
    deed.object_kind = "region";
    deed.object_name = name;
    if (before != table.rows.end()) deed.before = to_json(*before);
    Answer answer;
    if (jurisdiction.empty()) {
      EXA_ASSIGN(table, without_region(std::move(table), name));
      EXA_TRY(drop_setting(tx, "region", name));
      const auto shipped = jurisdiction_of(table, name);
      answer.body = region_json({name, std::string(shipped.value_or(""))}, true);
      return answer;
    }
    const std::string code = jurisdiction == "unknown" ? "" : jurisdiction;
    EXA_ASSIGN(table, with_region(std::move(table), name, code));
    const RegionRow row = *std::ranges::find(table.rows, name, &RegionRow::region);
    EXA_TRY(put_setting(tx, "region", name, to_json(row), service.now(), caller.principal.name));
    deed.after = to_json(row);
    answer.body = region_json(row, false);
    return answer;
  });
}

Result<Answer> show_project_label(Service& service, const std::string& project) {
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    EXA_TRY(require_project(tx, project));
    EXA_ASSIGN(const auto rows,
               tx.rows("SELECT spec FROM project_residency WHERE name = $1", {project}));
    Answer answer;
    answer.body = {{"project", project}, {"residency", nullptr}};
    if (!rows.empty()) {
      EXA_ASSIGN(answer.body, parse_stored_object(rows[0].text(0), "stored residency"));
      answer.etag = entity_tag_of(answer.body);
    }
    return answer;
  });
}

Result<Answer> label_project(Service& service, const Caller& caller, const std::string& project,
                             const std::string& residency) {
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_TRY(require_project(tx, project));
    EXA_ASSIGN(const auto rows,
               tx.rows("SELECT spec FROM project_residency WHERE name = $1", {project}));
    if (!rows.empty()) {
      EXA_ASSIGN(deed.before, parse_stored(rows[0].text(0), "stored residency"));
    }
    deed.object_kind = "project_residency";
    deed.object_name = deed.project = project;
    Answer answer;
    answer.body = {{"project", project}, {"residency", nullptr}};
    if (residency.empty()) {
      EXA_TRY(drop_setting(tx, "project_residency", project));
      return answer;
    }
    answer.body["residency"] = residency;
    EXA_TRY(put_setting(tx, "project_residency", project, answer.body, service.now(),
                        caller.principal.name));
    deed.after = answer.body;
    return answer;
  });
}

}  // namespace exa
