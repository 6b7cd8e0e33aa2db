// Looking at compute profiles.
#include <algorithm>

#include <fmt/format.h>

#include "base/json_or_null.h"
#include "base/text.h"
#include "base/yaml.h"
#include "catalogue/rafay.h"
#include "catalogue/sku_diff.h"
#include "service/entity_tag.h"
#include "service/profile_rows.h"
#include "service/sku_parts.h"
#include "service/skus.h"

namespace exa {
namespace {

std::string versioned(const std::string& name, int64_t version) {
  return fmt::format("{}@{}", name, version);
}

// In the order of a list: the project's own first.
std::string place_in_list(const std::string& project, const SkuHead& head) {
  return (head.project == project ? "0" : "1") + head.key();
}

// Its own that they may see, and what reaches it; a draft of another project is listed there.
bool is_listed(const Caller& caller, const std::string& project, const SkuHead& head) {
  if (head.deleted_at || !may_see(caller, project, head)) return false;
  return head.project == project ||
         sku_visible(head.sharing, project, head.project, head.published);
}

bool is_found(std::string_view search, const std::string& shown, const ComputeSku& sku) {
  const std::string wanted = lower(trim(search));
  return std::ranges::any_of(
      std::initializer_list<std::string_view>{shown, sku.display_name, sku.description},
      [&](std::string_view text) { return lower(text).find(wanted) != std::string::npos; });
}

json::object row_of_list(const Caller& caller, const std::string& project, const FoundSku& found) {
  const SkuHead& head = found.head;
  const json::object sku = to_json(found.stored.sku);
  json::object row{{"name", shown_name(project, head)},
                   {"project", head.project},
                   {"version", found.stored.version},
                   {"published", head.published},
                   {"shared_with", may_write(caller, head) ? to_json(head.sharing) : nullptr}};
  for (const std::string_view key :
       {"display_name", "description", "allocation", "price_per_hour", "icon_url"})
    row[key] = sku.at(key);
  row["created_at"] = format_rfc3339(head.created_at);
  // it moves with whom it is shared
  row["changed_at"] =
      may_write(caller, head) ? json::value(format_rfc3339(head.changed_at)) : nullptr;
  return row;
}

Result<FoundSku> newest_of(Transaction& tx, const SkuHead& head) {
  EXA_ASSIGN(auto stored, load_sku_version(tx, head.project, head.name, head.latest_version));
  if (stored) return FoundSku{head, *std::move(stored)};
  return fail(Code::store_damaged,
              fmt::format("the newest version of compute profile {} is gone", head.key()),
              "exa audit verify");
}

json::array texts_of_changes(const std::vector<SkuChange>& changes) {
  json::array texts;
  for (const SkuChange& change : changes) texts.emplace_back(change.text);
  return texts;
}

// `before`: nullptr where it is the first, or where the one before may not be seen.
json::object row_of_history(const SkuVersion& stored, const SkuVersion* before, bool all) {
  return {{"version", stored.version},
          {"created_at", format_rfc3339(stored.created_at)},
          {"created_by", all ? json::value(stored.created_by) : json::value(nullptr)},
          {"reason", all ? text_or_null(stored.reason) : json::value(nullptr)},
          {"changes",
           before == nullptr ? json::array() : texts_of_changes(diff(before->sku, stored.sku))}};
}

}  // namespace

Result<Answer> list_skus(Service& service, const Caller& caller, const ListSkus& what) {
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    EXA_TRY(require_project(tx, what.project));
    EXA_ASSIGN(auto heads, load_sku_heads(tx));
    std::erase_if(heads, [&](const SkuHead& head) {
      return !is_listed(caller, what.project, head) ||
             place_in_list(what.project, head) <= what.after;
    });
    std::ranges::sort(heads, {},
                      [&](const auto& head) { return place_in_list(what.project, head); });
    json::array items;
    std::string last;
    bool more = false;
    for (const SkuHead& head : heads) {
      EXA_ASSIGN(const FoundSku found, newest_of(tx, head));
      if (!is_found(what.search, shown_name(what.project, head), found.stored.sku)) continue;
      more = static_cast<int64_t>(items.size()) == what.limit;
      if (more) break;
      items.emplace_back(row_of_list(caller, what.project, found));
      last = place_in_list(what.project, head);
    }
    Answer answer;
    answer.body = {{"items", std::move(items)},
                   {"next_cursor", more ? json::value(last) : json::value(nullptr)}};
    return answer;
  });
}

Result<Answer> show_sku(Service& service, const Caller& caller, const AskSku& what) {
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    EXA_ASSIGN(const FoundSku found, find_sku(tx, caller, what.project, what.ref));
    Answer answer;
    EXA_ASSIGN(answer.body, shown_sku(tx, caller, what.project, found));
    // the tag is of whom it is shared with as well, and would tell of changes that nobody else sees
    if (may_write(caller, found.head)) answer.etag = entity_tag_of(to_json(found.head));
    return answer;
  });
}

Result<Answer> sku_history(Service& service, const Caller& caller, const AskSku& what) {
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    const ProfileRef name{.name = what.ref.name, .project = what.ref.project};
    EXA_ASSIGN(FoundSku found, find_sku(tx, caller, what.project, name));
    const SkuHead& head = found.head;
    const bool all = may_write(caller, head);
    std::vector<SkuVersion> versions{std::move(found.stored)};
    if (all) {
      EXA_ASSIGN(versions, load_sku_versions(tx, head.project, head.name));
    }
    json::array items;
    for (size_t i = 0; i < versions.size(); ++i)
      items.emplace_back(row_of_history(versions[i], i == 0 ? nullptr : &versions[i - 1], all));
    Answer answer;
    answer.body = {{"name", shown_name(what.project, head)},
                   {"project", head.project},
                   {"published", head.published},
                   {"deleted_at", time_or_null(head.deleted_at)},
                   {"items", std::move(items)}};
    return answer;
  });
}

Result<Answer> diff_skus(Service& service, const Caller& caller, const AskSku& what, int64_t from,
                         std::optional<int64_t> to) {
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    ProfileRef ref{.name = what.ref.name, .version = from, .project = what.ref.project};
    EXA_ASSIGN(const FoundSku before, find_sku(tx, caller, what.project, ref));
    ref.version = to;
    EXA_ASSIGN(const FoundSku after, find_sku(tx, caller, what.project, ref));
    const std::string& owner = after.head.project;
    EXA_ASSIGN(const auto shape_before, shape_of_sku(tx, owner, before.stored.sku));
    EXA_ASSIGN(const auto shape_after, shape_of_sku(tx, owner, after.stored.sku));
    const auto changes =
        diff(before.stored.sku, after.stored.sku, shape_before ? &*shape_before : nullptr,
             shape_after ? &*shape_after : nullptr);
    json::array items;
    for (const SkuChange& change : changes) items.emplace_back(to_json(change));
    const std::string name = shown_name(what.project, after.head);
    Answer answer;
    answer.exit_code = changes.empty() ? 0 : 1;
    answer.body = {{"from", versioned(name, before.stored.version)},
                   {"to", versioned(name, after.stored.version)},
                   {"same", changes.empty()},
                   {"summary", in_words(changes)},
                   {"items", std::move(items)}};
    return answer;
  });
}

Result<Answer> sku_inputs(Service& service, const Caller& caller, const AskSku& what) {
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    EXA_ASSIGN(const FoundSku found, find_sku(tx, caller, what.project, what.ref));
    json::array settings;
    for (const InputSetting& setting : found.stored.sku.inputs)
      settings.emplace_back(to_json(setting));
    Answer answer;
    answer.body = {{"name", shown_name(what.project, found.head)},
                   {"project", found.head.project},
                   {"version", found.stored.version},
                   {"schema", input_schema(found.stored.sku.inputs)},
                   {"items", std::move(settings)}};
    return answer;
  });
}

Result<Answer> check_sku_inputs(Service& service, const Caller& caller, const AskSku& what,
                                const GivenInputs& given) {
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    EXA_ASSIGN(const FoundSku found, find_sku(tx, caller, what.project, what.ref));
    EXA_ASSIGN(const ResolvedInputs resolved, resolve_given(found.stored.sku.inputs, given));
    Answer answer;
    answer.body = {{"name", shown_name(what.project, found.head)},
                   {"project", found.head.project},
                   {"version", found.stored.version},
                   {"inputs", masked(resolved)}};
    return answer;
  });
}

Result<Answer> export_sku(Service& service, const Caller& caller, const AskSku& what) {
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    EXA_ASSIGN(const FoundSku found, find_sku(tx, caller, what.project, what.ref));
    const auto& kept = found.stored.rafay;
    const bool over = kept && may_write(caller, found.head);
    const RafayDocument written = to_rafay(found.stored.sku, over ? &*kept : nullptr);
    Answer answer;
    json::array notes;
    for (const RafayNote& note : written.notes) {
      notes.emplace_back(json::object{{"where", note.where}, {"message", note.message}});
      answer.notices.push_back(fmt::format("{}: {}", note.where, note.message));
    }
    answer.body = {{"name", shown_name(what.project, found.head)},
                   {"project", found.head.project},
                   {"version", found.stored.version},
                   {"format", "rafay"},
                   {"text", to_yaml(written.document)},
                   {"notes", std::move(notes)}};
    return answer;
  });
}

}  // namespace exa
