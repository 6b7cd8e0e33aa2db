#include "service/sku_parts.h"

#include <array>

#include <fmt/format.h>

#include "base/json_or_null.h"
#include "base/text.h"
#include "service/environment_templates.h"
#include "service/profile_rows.h"

namespace exa {
namespace {

constexpr auto kFacts = std::to_array<std::string_view>(
    {"project", "version", "latest_version", "published", "shared_with", "created_at", "created_by",
     "version_created_at", "version_created_by", "reason", "changed_at", "changed_by", "deleted_at",
     "deleted_by", "imported", "resources"});

constexpr std::string_view kTemplateField = "/environment_template";

// What stands between a version and its environment template.
Result<std::vector<Problem>> problems_with_template(Transaction& tx, const ComputeSku& sku) {
  const auto found = find_template(tx, sku.environment_template);
  if (!found && found.error().code != Code::not_found) return fail(found.error());
  if (!found)
    return std::vector<Problem>{
        {std::string(kTemplateField), found.error().message, found.error().next}};
  std::vector<Problem> problems;
  for (const Problem& problem : problems_of_launching(tx, *found, false))
    problems.push_back({std::string(kTemplateField),
                        problem.where.empty()
                            ? problem.message
                            : fmt::format("{}: {}", problem.where, problem.message),
                        problem.suggestion});
  for (Problem& problem : problems_between(sku, *found)) problems.push_back(std::move(problem));
  return problems;
}

}  // namespace

std::span<const std::string_view> sku_facts() {
  return kFacts;
}

Result<std::optional<Shape>> shape_of_sku(Transaction& tx, const std::string& owner,
                                          const ComputeSku& sku) {
  std::optional<Shape> shape = sku.shape;
  if (!sku.hardware_profile) return shape;
  auto stored = find_profile(tx, owner, *sku.hardware_profile);
  if (stored)
    shape = std::move(stored->profile.shape);
  else if (stored.error().code != Code::not_found)
    return fail(std::move(stored.error()));
  return shape;
}

Result<std::vector<Problem>> problems_of_publishing(Transaction& tx, const std::string& owner,
                                                    const ComputeSku& sku) {
  EXA_ASSIGN(std::vector<Problem> problems, problems_with_template(tx, sku));
  if (!sku.hardware_profile) return problems;
  const auto stored = find_profile(tx, owner, *sku.hardware_profile);
  if (stored) return problems;
  if (stored.error().code != Code::not_found) return fail(stored.error());
  problems.push_back({"/hardware_profile", stored.error().message,
                      stored.error().alternatives.empty()
                          ? ""
                          : "did you mean " + join(stored.error().alternatives, " or ") + "?"});
  return problems;
}

Result<json::object> shown_sku(Transaction& tx, const Caller& caller, const std::string& project,
                               const FoundSku& found) {
  const SkuHead& head = found.head;
  const SkuVersion& stored = found.stored;
  const bool all = may_write(caller, head);
  const auto for_writers = [&](json::value value) { return all ? std::move(value) : nullptr; };
  EXA_ASSIGN(const auto shape, shape_of_sku(tx, head.project, stored.sku));
  json::object shown = to_json(stored.sku);
  shown["name"] = shown_name(project, head);
  shown["project"] = head.project;
  shown["version"] = stored.version;
  shown["latest_version"] = head.latest_version;
  shown["published"] = head.published;
  shown["shared_with"] = for_writers(to_json(head.sharing));
  shown["created_at"] = format_rfc3339(head.created_at);
  shown["created_by"] = for_writers(json::value(head.created_by));
  shown["version_created_at"] = format_rfc3339(stored.created_at);
  shown["version_created_by"] = for_writers(json::value(stored.created_by));
  shown["reason"] = for_writers(text_or_null(stored.reason));
  // it moves with whom it is shared
  shown["changed_at"] = for_writers(json::value(format_rfc3339(head.changed_at)));
  shown["changed_by"] = for_writers(json::value(head.changed_by));
  shown["deleted_at"] = time_or_null(head.deleted_at);
  shown["deleted_by"] = text_or_null(head.deleted_by);
  shown["imported"] = for_writers(json::value(stored.rafay.has_value()));
  shown["resources"] = shape ? json::value(shape_to_json(*shape)) : json::value(nullptr);
  return shown;
}

}  // namespace exa
