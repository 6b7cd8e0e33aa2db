#include "service/profile_rows.h"

#include <fmt/format.h>

#include "base/text.h"
#include "service/stored.h"
#include "service/visibility.h"

namespace exa {
namespace {

constexpr std::string_view kVersionColumns =
    "v.name, v.version, v.shape, v.created_at, v.created_by, v.deleted_at, v.deleted_by";

Result<StoredVersion> version_of(const Row& row, const std::string& project) {
  StoredVersion stored;
  stored.profile.project = project;
  stored.profile.name = row.text(0);
  stored.profile.version = row.integer(1);
  const std::string what = fmt::format("the stored shape of {}@{}", row.text(0), row.integer(1));
  EXA_ASSIGN(const json::object shape, parse_stored_object(row.text(2), what));
  EXA_ASSIGN(stored.profile.shape, from_stored(shape_from_json(shape), what));
  stored.profile.created_at = Time{row.integer(3)};
  stored.profile.created_by = row.text(4);
  if (!row.is_null(5)) stored.deleted_at = Time{row.integer(5)};
  stored.deleted_by = row.text_or_empty(6);
  return stored;
}

Result<std::vector<std::pair<std::string, int64_t>>> labels_of(Transaction& tx,
                                                               const std::string& project,
                                                               const std::string& name) {
  EXA_ASSIGN(const auto rows, tx.rows("SELECT label, version FROM profile_label WHERE project = $1 "
                                      "AND name = $2 ORDER BY label",
                                      {project, name}));
  std::vector<std::pair<std::string, int64_t>> labels;
  for (const Row& row : rows) labels.emplace_back(row.text(0), row.integer(1));
  return labels;
}

// Whether a reference leads to a version that is not deleted.
Result<bool> is_there(Transaction& tx, const std::string& project, const std::string& reference) {
  EXA_ASSIGN(const ProfileRef ref, from_stored(parse_reference(reference), "a stored redirect"));
  if (ref.version) {
    EXA_ASSIGN(const auto rows,
               tx.rows("SELECT 1 FROM profile_version WHERE project = $1 AND name = $2 AND version "
                       "= $3 AND deleted_at IS NULL",
                       {project, ref.name, *ref.version}));
    return !rows.empty();
  }
  EXA_ASSIGN(const auto rows,
             tx.rows("SELECT 1 FROM profile_label WHERE project = $1 AND name = $2 AND label = $3",
                     {project, ref.name, ref.label.value_or("active")}));
  return !rows.empty();
}

// By name, for the names in (after, last]: a page of a list, or one name.
using DeprecationsByName = std::map<std::string, std::vector<Deprecation>>;

Result<DeprecationsByName> deprecations_of(Transaction& tx, const std::string& project,
                                           const std::string& after, const std::string& last) {
  EXA_ASSIGN(const auto rows,
             tx.rows("SELECT name, version, redirect, reason, deprecated_at, deprecated_by FROM "
                     "profile_deprecation WHERE project = $1 AND name > $2 AND name <= $3",
                     {project, after, last}));
  DeprecationsByName result;
  for (const Row& row : rows) {
    EXA_ASSIGN(const bool there, is_there(tx, project, row.text(2)));
    result[row.text(0)].push_back(
        {row.integer(1), row.text(2), row.text(3), Time{row.integer(4)}, row.text(5), !there});
  }
  return result;
}

std::optional<Deprecation> holding(const std::vector<Deprecation>& deprecations, int64_t version) {
  std::optional<Deprecation> result;
  for (const Deprecation& deprecation : deprecations) {
    if (deprecation.version == version || (deprecation.version == 0 && !result))
      result = deprecation;
  }
  return result;
}

Error no_such_profile(const std::string& name, const std::vector<std::string>& names) {
  Error error;
  error.code = Code::not_found;
  error.message =
      fmt::format("there is no hardware profile \"{}\" in this project", printable(name));
  error.alternatives = close_matches(name, names);
  error.next = "exa hardware profile list";
  return error;
}

Result<std::vector<std::string>> known_names(Transaction& tx, const std::string& project) {
  EXA_ASSIGN(
      const auto rows,
      tx.rows("SELECT DISTINCT name FROM profile_version WHERE project = $1 AND deleted_at IS NULL",
              {project}));
  std::vector<std::string> names;
  for (const Row& row : rows) names.push_back(row.text(0));
  return names;
}

std::string numbers_of(const std::vector<StoredVersion>& versions) {
  std::vector<std::string> numbers;
  for (const StoredVersion& stored : versions) {
    if (!stored.deleted_at) numbers.push_back(std::to_string(stored.profile.version));
  }
  return numbers.empty() ? "none" : join(numbers, ", ");
}

Error no_such_version(const std::string& name, int64_t version,
                      const std::vector<StoredVersion>& versions) {
  Error error;
  error.code = Code::not_found;
  error.next = fmt::format("exa hardware profile history {}", name);
  for (const StoredVersion& stored : versions) {
    if (stored.profile.version != version || !stored.deleted_at) continue;
    error.message =
        fmt::format("{}@{} was deleted by {} at {}; there is {}", name, version, stored.deleted_by,
                    format_rfc3339(*stored.deleted_at), numbers_of(versions));
    return error;
  }
  error.message =
      fmt::format("{} has no version {}; there is {}", name, version, numbers_of(versions));
  return error;
}

Error no_such_label(const std::string& name, const std::string& label,
                    const std::vector<std::pair<std::string, int64_t>>& labels) {
  std::vector<std::string> known;
  for (const auto& [text, version] : labels) known.push_back(fmt::format("{}@{}", name, text));
  Error error;
  error.code = Code::not_found;
  error.message = label == "active" ? fmt::format("{} has no active version", name)
                                    : fmt::format("{} has no label \"{}\"", name, printable(label));
  error.alternatives = std::move(known);
  error.next = fmt::format("exa hardware profile history {}", name);
  return error;
}

}  // namespace

std::string advice(const Deprecation& deprecation) {
  return deprecation.redirect_gone
             ? fmt::format("{}, which was to replace it, is gone", deprecation.redirect)
             : fmt::format("use {} instead", deprecation.redirect);
}

Result<void> require_project(Transaction& tx, const std::string& project) {
  EXA_ASSIGN(const auto rows, tx.rows("SELECT name FROM project ORDER BY name"));
  std::vector<std::string> names;
  for (const Row& row : rows) names.push_back(row.text(0));
  if (std::ranges::find(names, project) != names.end()) return {};
  return fail(no_such_project(project, names));
}

Result<std::string> home_of(Transaction& tx, const std::string& project, const ProfileRef& ref) {
  EXA_TRY(require_project(tx, project));
  if (!ref.project || *ref.project == project) return project;
  EXA_TRY(require_shared(tx, *ref.project, ref.name, project));
  return *ref.project;
}

namespace {

// Versions of one name with what is kept about them elsewhere.
Result<std::vector<StoredVersion>> stored_versions(Transaction& tx, const std::string& project,
                                                   const std::string& name,
                                                   const std::vector<Row>& rows) {
  EXA_ASSIGN(const auto labels, labels_of(tx, project, name));
  EXA_ASSIGN(auto deprecations,
             deprecations_of(tx, project, name.substr(0, name.size() - 1), name));
  std::vector<StoredVersion> versions;
  for (const Row& row : rows) {
    EXA_ASSIGN(StoredVersion stored, version_of(row, project));
    stored.deprecation = holding(deprecations[name], stored.profile.version);
    for (const auto& [label, version] : labels) {
      if (version == stored.profile.version) stored.labels.push_back(label);
    }
    versions.push_back(std::move(stored));
  }
  return versions;
}

// The one that is meant, however many there are.
Result<std::optional<StoredVersion>> find_directly(Transaction& tx, const std::string& project,
                                                   const ProfileRef& ref) {
  const std::string by_label =
      "SELECT {} FROM profile_label l JOIN profile_version v ON v.project = l.project AND v.name = "
      "l.name AND v.version = l.version WHERE l.project = $1 AND l.name = $2 AND l.label = $3 AND "
      "v.deleted_at IS NULL";
  const std::string by_version =
      "SELECT {} FROM profile_version v WHERE v.project = $1 AND v.name = $2 AND v.version = $3 "
      "AND "
      "v.deleted_at IS NULL";
  const Value which = ref.version ? Value(*ref.version) : Value(ref.label.value_or("active"));
  EXA_ASSIGN(const auto rows, tx.rows(fmt::format(fmt::runtime(ref.version ? by_version : by_label),
                                                  kVersionColumns),
                                      {project, ref.name, which}));
  std::optional<StoredVersion> found;
  if (rows.empty()) return found;
  EXA_ASSIGN(auto versions, stored_versions(tx, project, ref.name, rows));
  found = std::move(versions.front());
  return found;
}

}  // namespace

Result<std::vector<StoredVersion>> load_versions(Transaction& tx, const std::string& project,
                                                 const std::string& name, bool with_tombstones) {
  const std::string sql = fmt::format(
      "SELECT {} FROM profile_version v WHERE v.project = $1 AND v.name = $2 {} ORDER BY v.version",
      kVersionColumns, with_tombstones ? "" : "AND v.deleted_at IS NULL");
  EXA_ASSIGN(const auto rows, tx.rows(sql, {project, name}));
  return stored_versions(tx, project, name, rows);
}

Result<std::optional<StoredVersion>> last_version(Transaction& tx, const std::string& project,
                                                  const std::string& name) {
  EXA_ASSIGN(const auto rows,
             tx.rows(fmt::format("SELECT {} FROM profile_version v WHERE v.project = $1 AND v.name "
                                 "= $2 AND v.deleted_at IS NULL ORDER BY v.version DESC LIMIT 1",
                                 kVersionColumns),
                     {project, name}));
  EXA_ASSIGN(auto versions, stored_versions(tx, project, name, rows));
  std::optional<StoredVersion> last;
  if (!versions.empty()) last = std::move(versions.front());
  return last;
}

Result<StoredVersion> find_profile(Transaction& tx, const std::string& asking,
                                   const ProfileRef& ref) {
  EXA_ASSIGN(const std::string project, home_of(tx, asking, ref));
  EXA_ASSIGN(auto direct, find_directly(tx, project, ref));
  if (direct) return *std::move(direct);
  // What is wrong is told from all there is.
  EXA_ASSIGN(auto versions, load_versions(tx, project, ref.name, true));
  const bool any_left =
      std::ranges::any_of(versions, [](const StoredVersion& stored) { return !stored.deleted_at; });
  int64_t wanted = ref.version.value_or(0);
  if (!ref.version) {
    if (!any_left) {
      EXA_ASSIGN(const auto names, known_names(tx, project));
      return fail(no_such_profile(ref.name, names));
    }
    const std::string label = ref.label.value_or("active");
    EXA_ASSIGN(const auto labels, labels_of(tx, project, ref.name));
    const auto found = std::ranges::find(labels, label, &std::pair<std::string, int64_t>::first);
    if (found == labels.end()) return fail(no_such_label(ref.name, label, labels));
    wanted = found->second;
  }
  for (StoredVersion& stored : versions) {
    if (stored.profile.version == wanted && !stored.deleted_at) return std::move(stored);
  }
  if (versions.empty()) {
    EXA_ASSIGN(const auto names, known_names(tx, project));
    return fail(no_such_profile(ref.name, names));
  }
  return fail(no_such_version(ref.name, wanted, versions));
}

Result<std::vector<ProfileHead>> load_heads(Transaction& tx, const HeadQuery& query) {
  // Two statements for the whole page, whatever its length: names with their active version,
  // labels.
  const std::string sql = fmt::format(
      "SELECT {}, h.name, h.latest FROM "
      "(SELECT name, MAX(version) AS latest FROM profile_version WHERE project = $1 AND name > $2 "
      "AND deleted_at IS NULL GROUP BY name ORDER BY name LIMIT $3) h "
      "LEFT JOIN profile_label l ON l.project = $1 AND l.name = h.name AND l.label = 'active' "
      "LEFT JOIN profile_version v ON v.project = $1 AND v.name = h.name AND v.version = l.version "
      "ORDER BY h.name",
      kVersionColumns);
  EXA_ASSIGN(const auto rows, tx.rows(sql, {query.project, query.after, query.limit}));
  std::vector<ProfileHead> heads;
  heads.reserve(rows.size());
  for (const Row& row : rows) {
    ProfileHead head;
    head.name = row.text(7);
    head.latest_version = row.integer(8);
    if (!row.is_null(0)) {
      EXA_ASSIGN(head.active, version_of(row, query.project));
    }
    heads.push_back(std::move(head));
  }
  if (heads.empty()) return heads;
  EXA_ASSIGN(
      const auto labels,
      tx.rows("SELECT name, label, version FROM profile_label WHERE project = $1 AND name > $2 AND "
              "name <= $3 ORDER BY name, label",
              {query.project, query.after, heads.back().name}));
  EXA_ASSIGN(auto deprecations, deprecations_of(tx, query.project, query.after, heads.back().name));
  for (ProfileHead& head : heads) {
    if (head.active) {
      head.active->deprecation = holding(deprecations[head.name], head.active->profile.version);
    }
  }
  auto head = heads.begin();
  for (const Row& row : labels) {
    while (head != heads.end() && head->name != row.text(0)) ++head;
    if (head == heads.end()) break;
    head->labels.emplace_back(row.text(1), row.integer(2));
    if (head->active && head->active->profile.version == row.integer(2)) {
      head->active->labels.push_back(row.text(1));
    }
  }
  return heads;
}

Result<int64_t> take_version_number(Transaction& tx, const std::string& project,
                                    const std::string& name) {
  EXA_ASSIGN(
      const auto rows,
      tx.rows("INSERT INTO profile (project, name, last_version) VALUES ($1, $2, 1) "
              "ON CONFLICT (project, name) DO UPDATE SET last_version = profile.last_version + 1 "
              "RETURNING last_version",
              {project, name}));
  return rows.at(0).integer(0);
}

Result<void> insert_version(Transaction& tx, const HardwareProfile& profile) {
  EXA_TRY(tx.change(
      "INSERT INTO profile_version (project, name, version, shape, created_at, created_by) "
      "VALUES ($1, $2, $3, $4, $5, $6)",
      {profile.project, profile.name, profile.version, to_text(shape_to_json(profile.shape)),
       profile.created_at.micros, profile.created_by}));
  return {};
}

Result<void> bury_version(Transaction& tx, const std::string& project, const std::string& name,
                          int64_t version, Time at, const std::string& by) {
  EXA_TRY(
      tx.change("UPDATE profile_version SET deleted_at = $4, deleted_by = $5 "
                "WHERE project = $1 AND name = $2 AND version = $3",
                {project, name, version, at.micros, by}));
  EXA_TRY(tx.change("DELETE FROM resolution WHERE project = $1 AND name = $2 AND version = $3",
                    {project, name, version}));
  return {};
}

Result<void> move_label(Transaction& tx, const std::string& project, const std::string& name,
                        const std::string& label, std::optional<int64_t> version, Time at,
                        const std::string& by) {
  EXA_ASSIGN(
      const auto before,
      tx.rows("SELECT version FROM profile_label WHERE project = $1 AND name = $2 AND label = $3",
              {project, name, label}));
  const Value from = before.empty() ? Value(nullptr) : Value(before[0].integer(0));
  const Value to = version ? Value(*version) : Value(nullptr);
  if (version) {
    EXA_TRY(tx.change(
        "INSERT INTO profile_label (project, name, label, version) VALUES ($1, $2, $3, $4) "
        "ON CONFLICT (project, name, label) DO UPDATE SET version = $4",
        {project, name, label, to}));
  } else {
    EXA_TRY(tx.change("DELETE FROM profile_label WHERE project = $1 AND name = $2 AND label = $3",
                      {project, name, label}));
  }
  EXA_TRY(
      tx.change("INSERT INTO profile_label_move (project, name, label, sequence, from_version, "
                "to_version, moved_at, "
                "moved_by) SELECT $1, $2, $3, COALESCE(MAX(sequence), 0) + 1, $4, $5, $6, $7 FROM "
                "profile_label_move "
                "WHERE project = $1 AND name = $2 AND label = $3",
                {project, name, label, from, to, at.micros, by}));
  return {};
}

Result<std::vector<LabelMove>> load_label_moves(Transaction& tx, const std::string& project,
                                                const std::string& name) {
  EXA_ASSIGN(
      const auto rows,
      tx.rows("SELECT label, from_version, to_version, moved_at, moved_by FROM profile_label_move "
              "WHERE project = $1 AND name = $2 ORDER BY moved_at, label, sequence",
              {project, name}));
  const auto version = [](const Row& row, size_t column) {
    return row.is_null(column) ? std::optional<int64_t>() : row.integer(column);
  };
  std::vector<LabelMove> moves;
  for (const Row& row : rows) {
    moves.push_back(
        {row.text(0), version(row, 1), version(row, 2), Time{row.integer(3)}, row.text(4)});
  }
  return moves;
}

Result<void> store_deprecation(Transaction& tx, const std::string& project, const std::string& name,
                               int64_t version_or_zero,
                               const std::optional<Deprecation>& deprecation) {
  EXA_TRY(
      tx.change("DELETE FROM profile_deprecation WHERE project = $1 AND name = $2 AND version = $3",
                {project, name, version_or_zero}));
  if (!deprecation) return {};
  EXA_TRY(tx.change("INSERT INTO profile_deprecation VALUES ($1, $2, $3, $4, $5, $6, $7)",
                    {project, name, version_or_zero, deprecation->redirect, deprecation->reason,
                     deprecation->at.micros, deprecation->by}));
  return {};
}

Result<std::vector<std::string>> redirects_to(Transaction& tx, const std::string& project,
                                              const std::string& name) {
  EXA_ASSIGN(
      const auto rows,
      tx.rows("SELECT name, version FROM profile_deprecation WHERE project = $1 AND name <> $2 AND "
              "(redirect = $2 OR redirect LIKE $2 || '@%') ORDER BY name, version",
              {project, name}));
  std::vector<std::string> names;
  for (const Row& row : rows) {
    names.push_back(row.integer(1) == 0 ? row.text(0)
                                        : fmt::format("{}@{}", row.text(0), row.integer(1)));
  }
  return names;
}

}  // namespace exa
