#include "service/sku_rows.h"

#include <fmt/format.h>

#include "base/json_or_null.h"
#include "base/text.h"
#include "service/profile_rows.h"
#include "service/stored.h"

namespace exa {
namespace {

constexpr std::string_view kHead = "a stored compute profile";
constexpr std::string_view kVersion = "a stored version of a compute profile";
// Lists of values and an imported document count by the node: as much as a checked one can hold.
constexpr ReadLimits kLimits{.max_bytes = size_t{64} << 20, .max_depth = 200, .max_nodes = 4 << 20};

std::string version_key(const std::string& project, const std::string& name, int64_t version) {
  return fmt::format("{}/{}@{}", project, name, version);
}

std::string text(const json::object& stored, std::string_view key) {
  return std::string(text_or(stored, key, ""));
}

int64_t number(const json::object& stored, std::string_view key) {
  const json::value* value = stored.if_contains(key);
  return value != nullptr && value->is_int64() ? value->get_int64() : 0;
}

Result<Time> time(const json::object& stored, std::string_view key, std::string_view what) {
  return from_stored(parse_rfc3339(text(stored, key)), what);
}

Result<SkuHead> head_of(const Row& row) {
  EXA_ASSIGN(const json::object spec, parse_stored_object(row.text(0), kHead, kLimits));
  return sku_head_from_json(spec);
}

Result<SkuVersion> version_of(const Row& row) {
  EXA_ASSIGN(const json::object spec, parse_stored_object(row.text(0), kVersion, kLimits));
  return sku_version_from_json(spec);
}

Failure no_such_version(const std::string& shown, int64_t asked, int64_t newest, bool all) {
  const std::string there =
      all && newest > 1 ? fmt::format("1 to {}", newest) : fmt::format("{}", newest);
  return fail(Code::not_found,
              fmt::format("{} has no version {}; there is {}", shown, asked, there),
              fmt::format("exa compute-profile show {}", shown));
}

}  // namespace

json::object to_json(const SkuHead& head) {
  return {{"project", head.project},
          {"name", head.name},
          {"latest_version", head.latest_version},
          {"published", head.published},
          {"shared_with", to_json(head.sharing)},
          {"created_at", format_rfc3339(head.created_at)},
          {"created_by", head.created_by},
          {"changed_at", format_rfc3339(head.changed_at)},
          {"changed_by", head.changed_by},
          {"deleted_at", time_or_null(head.deleted_at)},
          {"deleted_by", text_or_null(head.deleted_by)}};
}

json::object to_stored_json(const SkuVersion& stored) {
  return {{"project", stored.project},
          {"name", stored.sku.name},
          {"version", stored.version},
          {"created_at", format_rfc3339(stored.created_at)},
          {"created_by", stored.created_by},
          {"reason", text_or_null(stored.reason)},
          {"sku", to_json(stored.sku)},
          {"rafay", stored.rafay ? json::value(*stored.rafay) : json::value(nullptr)}};
}

// What says nothing readable of who may see it is published to nobody.
Result<SkuHead> sku_head_from_json(const json::object& stored) {
  SkuHead head;
  head.project = text(stored, "project");
  head.name = text(stored, "name");
  head.latest_version = number(stored, "latest_version");
  if (head.project.empty() || head.name.empty() || head.latest_version < 1)
    return fail(Code::store_damaged, fmt::format("{} has no name or version", kHead),
                "exa audit verify");
  const json::value* published = stored.if_contains("published");
  head.published = published != nullptr && published->is_bool() && published->get_bool();
  if (const json::value* with = stored.if_contains("shared_with"))
    head.sharing = sku_sharing_from_json(*with);
  EXA_ASSIGN(head.created_at, time(stored, "created_at", kHead));
  head.created_by = text(stored, "created_by");
  EXA_ASSIGN(head.changed_at, time(stored, "changed_at", kHead));
  head.changed_by = text(stored, "changed_by");
  if (const json::value* deleted = stored.if_contains("deleted_at");
      deleted == nullptr || !deleted->is_null()) {
    EXA_ASSIGN(head.deleted_at, time(stored, "deleted_at", kHead));
  }
  head.deleted_by = text(stored, "deleted_by");
  return head;
}

Result<SkuVersion> sku_version_from_json(const json::object& stored) {
  SkuVersion version;
  version.project = text(stored, "project");
  version.version = number(stored, "version");
  const json::value* sku = stored.if_contains("sku");
  if (version.project.empty() || version.version < 1 || sku == nullptr)
    return fail(Code::store_damaged, fmt::format("{} has no project or number", kVersion),
                "exa audit verify");
  EXA_ASSIGN(version.sku, from_stored(compute_sku_from_json(*sku), kVersion));
  EXA_ASSIGN(version.created_at, time(stored, "created_at", kVersion));
  version.created_by = text(stored, "created_by");
  version.reason = text(stored, "reason");
  if (const json::value* rafay = stored.if_contains("rafay");
      rafay != nullptr && rafay->is_object())
    version.rafay = rafay->get_object();
  return version;
}

Result<std::optional<SkuHead>> load_sku_head(Transaction& tx, const std::string& project,
                                             const std::string& name) {
  EXA_ASSIGN(const auto rows,
             tx.rows("SELECT spec FROM sku WHERE id = $1", {fmt::format("{}/{}", project, name)}));
  std::optional<SkuHead> head;
  if (rows.empty()) return head;
  EXA_ASSIGN(head, head_of(rows[0]));
  return head;
}

Result<std::vector<SkuHead>> load_sku_heads(Transaction& tx) {
  EXA_ASSIGN(const auto rows, tx.rows("SELECT spec FROM sku ORDER BY id"));
  std::vector<SkuHead> heads;
  for (const Row& row : rows) {
    EXA_ASSIGN(SkuHead head, head_of(row));
    heads.push_back(std::move(head));
  }
  return heads;
}

Result<std::optional<SkuVersion>> load_sku_version(Transaction& tx, const std::string& project,
                                                   const std::string& name, int64_t version) {
  EXA_ASSIGN(const auto rows, tx.rows("SELECT spec FROM sku_version WHERE id = $1",
                                      {version_key(project, name, version)}));
  std::optional<SkuVersion> stored;
  if (rows.empty()) return stored;
  EXA_ASSIGN(stored, version_of(rows[0]));
  return stored;
}

Result<std::vector<SkuVersion>> load_sku_versions(Transaction& tx, const std::string& project,
                                                  const std::string& name) {
  EXA_ASSIGN(const auto rows,
             tx.rows("SELECT spec FROM sku_version WHERE project = $1 AND name = $2 "
                     "ORDER BY version",
                     {project, name}));
  std::vector<SkuVersion> versions;
  for (const Row& row : rows) {
    EXA_ASSIGN(SkuVersion stored, version_of(row));
    versions.push_back(std::move(stored));
  }
  return versions;
}

Result<void> put_sku_head(Transaction& tx, const SkuHead& head) {
  EXA_TRY(
      tx.change("INSERT INTO sku (id, project, name, spec) VALUES ($1, $2, $3, $4) "
                "ON CONFLICT (id) DO UPDATE SET spec = $4",
                {head.key(), head.project, head.name, to_text(to_json(head))}));
  return {};
}

Result<void> insert_sku_version(Transaction& tx, const SkuVersion& stored) {
  EXA_TRY(
      tx.change("INSERT INTO sku_version (id, project, name, version, spec) "
                "VALUES ($1, $2, $3, $4, $5)",
                {version_key(stored.project, stored.sku.name, stored.version), stored.project,
                 stored.sku.name, stored.version, to_text(to_stored_json(stored))}));
  return {};
}

bool may_see(const Caller& caller, const std::string& project, const SkuHead& head) {
  if (!caller.known.contains(project)) return false;
  if (may_write(caller, head)) return true;
  return !head.deleted_at && sku_visible(head.sharing, project, head.project, head.published);
}

bool may_write(const Caller& caller, const SkuHead& head) {
  return permitted(caller.principal.rights, "compute_profile:write", head.project);
}

std::string shown_name(const std::string& project, const SkuHead& head) {
  return head.project == project ? head.name : head.key();
}

// The same queries whether it is there or not, and only what may be seen is proposed.
Result<Error> no_such_sku(Transaction& tx, const Caller& caller, const std::string& project,
                          const ProfileRef& ref) {
  EXA_ASSIGN(const auto heads, load_sku_heads(tx));
  std::vector<std::string> names;
  for (const SkuHead& head : heads)
    if (!head.deleted_at && may_see(caller, project, head))
      names.push_back(shown_name(project, head));
  const std::string asked = to_text(ProfileRef{.name = ref.name, .project = ref.project});
  return Error{Code::not_found,
               fmt::format("there is no compute profile \"{}\" for you in project {}",
                           printable(asked), printable(project)),
               {},
               "exa compute-profile list",
               close_matches(asked, names)};
}

Result<FoundSku> find_sku(Transaction& tx, const Caller& caller, const std::string& project,
                          const ProfileRef& ref) {
  if (ref.label)
    return fail(invalid("compute profile",
                        {{"/name",
                          fmt::format("names the label {}; compute profiles have versions "
                                      "alone: {}, or {}@3",
                                      *ref.label, ref.name, ref.name),
                          ""}}));
  EXA_TRY(require_project(tx, project));
  const std::string owner = ref.project.value_or(project);
  EXA_ASSIGN(auto head, load_sku_head(tx, owner, ref.name));
  if (!head || !may_see(caller, project, *head)) {
    EXA_ASSIGN(Error error, no_such_sku(tx, caller, project, ref));
    return fail(std::move(error));
  }
  const bool all = may_write(caller, *head);
  const int64_t newest = head->latest_version;
  const int64_t wanted = ref.version.value_or(newest);
  const bool there = wanted == newest || (all && wanted < newest);
  if (!there) return no_such_version(shown_name(project, *head), wanted, newest, all);
  EXA_ASSIGN(auto stored, load_sku_version(tx, owner, ref.name, wanted));
  if (!stored)
    return fail(Code::store_damaged,
                fmt::format("version {} of compute profile {} is gone", wanted, head->key()),
                "exa audit verify");
  return FoundSku{*std::move(head), *std::move(stored)};
}

Result<FoundSku> find_sku_to_launch(Transaction& tx, const Caller& caller,
                                    const std::string& project, const ProfileRef& ref) {
  EXA_ASSIGN(FoundSku found, find_sku(tx, caller, project, ref));
  const SkuHead& head = found.head;
  const std::string shown = shown_name(project, head);
  // From here on only whoever may write it is told something: others would not have found it.
  if (head.deleted_at)
    return fail(Code::not_found,
                fmt::format("compute profile {} was deleted by {} at {}; nothing is launched "
                            "from it any more",
                            shown, head.deleted_by, format_rfc3339(*head.deleted_at)),
                "exa compute-profile list");
  if (found.stored.version != head.latest_version)
    return fail(Code::conflict,
                fmt::format("new instances get the newest version of {}, which is {}, not {}",
                            shown, head.latest_version, found.stored.version),
                fmt::format("exa compute-profile diff {} --from {} --to {}", shown,
                            found.stored.version, head.latest_version));
  if (head.project != project && !sku_visible(head.sharing, project, head.project, head.published))
    return fail(Code::conflict,
                fmt::format("compute profile {} is not published to project {}", shown, project),
                fmt::format("exa compute-profile share {} --with {} --project {}", head.name,
                            project, head.project));
  return found;
}

}  // namespace exa
