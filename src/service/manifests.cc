#include "service/manifests.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "base/yaml.h"
#include "service/computes.h"
#include "service/manifest_parts.h"
#include "service/ml_platforms.h"
#include "service/profile_rows.h"
#include "service/stored.h"
#include "service/visibility.h"

namespace exa {
namespace {

std::string id_of(const std::string& project, PaletteKind kind, const std::string& name) {
  return fmt::format("{}/{}/{}", project, info(kind).word, name);
}

Result<StoredManifest> manifest_of_row(const Row& row) {
  EXA_ASSIGN(const json::object spec, parse_stored_object(row.text(0), "a stored manifest"));
  const json::value* document = spec.if_contains("document");
  if (document == nullptr) return fail(Code::store_damaged, "a stored manifest has no document");
  StoredManifest stored;
  EXA_ASSIGN(stored.manifest, from_stored(manifest_of(*document), "a stored manifest"));
  stored.manifest.name_space = text_or(spec, "project", "");
  const json::value* generation = spec.if_contains("generation");
  if (generation != nullptr && generation->is_int64()) stored.generation = generation->get_int64();
  EXA_ASSIGN(stored.created_at,
             from_stored(parse_rfc3339(text_or(spec, "created_at", "")), "a stored manifest"));
  EXA_ASSIGN(stored.updated_at,
             from_stored(parse_rfc3339(text_or(spec, "updated_at", "")), "a stored manifest"));
  stored.created_by = text_or(spec, "created_by", "");
  stored.updated_by = text_or(spec, "updated_by", "");
  return stored;
}

std::string audit_name(const StoredManifest& stored) {
  return id_of(stored.manifest.name_space, stored.manifest.kind, stored.manifest.name);
}

Result<std::vector<StoredManifest>> manifests_of(const std::vector<Row>& rows) {
  std::vector<StoredManifest> all;
  for (const Row& row : rows) {
    EXA_ASSIGN(StoredManifest stored, manifest_of_row(row));
    all.push_back(std::move(stored));
  }
  return all;
}

// not_found unless the project is there and the caller may know of it; forbidden unless they may do
// there what the route asks for.
Result<void> require_here(Transaction& tx, const Caller& caller, std::string_view action,
                          const std::string& project) {
  EXA_TRY(require_known(caller, project));
  EXA_TRY(require_project(tx, project));
  return require_permitted(tx, caller, action, project);
}

// Members ask for platforms; what platforms are built by is the admins'.
Result<void> require_may_write(Transaction& tx, const Caller& caller, PaletteKind kind,
                               const std::string& project) {
  EXA_TRY(require_here(tx, caller, "manifest:write", project));
  constexpr std::string_view kOfAdmins = "compute_profile:write";
  if (kind == PaletteKind::ml_platform || permitted(caller.principal.rights, kOfAdmins, project))
    return {};
  EXA_ASSIGN(const auto admins, admins_of(tx, project));
  return fail(not_permitted(caller.principal, kOfAdmins, project, admins));
}

Result<const PaletteKindInfo*> kind_called(const std::string& word) {
  if (const PaletteKindInfo* kind = find_palette_kind(word)) return kind;
  std::vector<std::string> words;
  for (const PaletteKindInfo& each : palette_kinds()) words.emplace_back(each.word);
  return fail(Error{
      Code::usage,
      fmt::format("there is no kind \"{}\"; there are {}", printable(word), join(words, ", ")),
      {},
      "exa explain KIND",
      close_matches(word, words)});
}

Result<void> make_project(Service& service, Transaction& tx, const Caller& caller, Deed& deed,
                          const std::string& name) {
  EXA_ASSIGN(const auto there, tx.rows("SELECT 1 FROM project WHERE name = $1", {name}));
  if (!there.empty()) return {};
  if (!permitted(caller.principal.rights, "project:create", ""))
    return fail(not_permitted(caller.principal, "project:create", "", {}));
  const Time now = service.now();
  EXA_TRY(tx.change("INSERT INTO project VALUES ($1, $2, $3)",
                    {name, now.micros, caller.principal.name}));
  json::value& made = deed.details["projects"];
  if (!made.is_array()) made = json::array();
  made.get_array().push_back(json::object{{"name", name}, {"at", format_rfc3339(now)}});
  return {};
}

std::string described(const Manifest& manifest, const std::string& project) {
  return fmt::format("{}/{}", info(manifest.kind).word,
                     manifest.kind == PaletteKind::project
                         ? manifest.name
                         : fmt::format("{}/{}", project, manifest.name));
}

// A refusal of one document, with where that document stands.
Error placed(Error error, const Manifest& manifest) {
  if (manifest.place.empty()) return error;
  for (Problem& problem : error.problems) {
    if (problem.where.empty() || problem.where.front() == '/')
      problem.where = manifest.place + (problem.where.empty() ? "" : " " + problem.where);
  }
  if (error.problems.empty())
    error.problems.push_back({manifest.place, "is the document that this is about", ""});
  return error;
}

// The project that a document belongs to.
std::string project_of(const Manifest& manifest, const std::string& otherwise) {
  if (manifest.kind == PaletteKind::project) return manifest.name;
  return manifest.name_space.empty() ? otherwise : manifest.name_space;
}

struct Applied {
  ManifestChange written = ManifestChange::unchanged;
  json::object platform;  // where it is one
};

Result<Applied> apply_one(Service& service, Transaction& tx, const Caller& caller, Deed& deed,
                          const Manifest& manifest, const std::string& project) {
  EXA_TRY(require_may_write(tx, caller, manifest.kind, project));
  Applied applied;
  if (manifest.kind == PaletteKind::ml_platform) {
    const PlatformAsk ask{project, manifest.name, ml_platform_spec(manifest), manifest.document};
    EXA_ASSIGN(applied.written, write_platform(service, tx, caller, deed, ask, applied.platform));
    return applied;
  }
  EXA_TRY(check_references(tx, project, manifest));
  EXA_ASSIGN(applied.written, write_manifest(service, tx, caller, deed, project, manifest));
  return applied;
}

Result<Answer> apply_all(Service& service, Transaction& tx, const Caller& caller, Deed& deed,
                         const std::vector<Manifest>& manifests, const std::string& otherwise) {
  for (const Manifest& manifest : manifests) {
    if (manifest.kind != PaletteKind::project) continue;
    EXA_TRY(make_project(service, tx, caller, deed, manifest.name));
  }
  Answer answer;
  json::array items;
  std::vector<std::string> names;
  bool created = false;
  for (const Manifest& manifest : manifests) {
    const std::string project = project_of(manifest, otherwise);
    auto applied = apply_one(service, tx, caller, deed, manifest, project);
    if (!applied) return fail(placed(std::move(applied).error(), manifest));
    for (const Problem& warning : manifest.warnings)
      answer.notices.push_back(
          fmt::format("{}: {} {}{}", described(manifest, project), warning.where, warning.message,
                      warning.suggestion.empty() ? "" : fmt::format(" ({})", warning.suggestion)));
    items.emplace_back(json::object{{"kind", info(manifest.kind).name},
                                    {"name", manifest.name},
                                    {"project", project},
                                    {"result", name(applied->written)}});
    created = created || applied->written == ManifestChange::created;
    names.push_back(described(manifest, project));
    if (applied->written != ManifestChange::unchanged && manifest.kind == PaletteKind::ml_platform)
      answer.notices.push_back(
          fmt::format("next: exa mlplatform provision {} --project {}", manifest.name, project));
  }
  deed.object_kind = "manifests";
  deed.object_name =
      names.size() == 1 ? names[0] : fmt::format("{} and {} more", names[0], names.size() - 1);
  if (names.size() == 1) deed.project = project_of(manifests[0], otherwise);
  answer.status = created ? 201 : 200;
  answer.body = {{"items", std::move(items)}};
  return answer;
}

json::object listed(const StoredManifest& stored) {
  json::object out = stored.manifest.document;
  json::object metadata;
  if (const json::value* given = out.if_contains("metadata");
      given != nullptr && given->is_object())
    metadata = given->get_object();
  if (stored.manifest.kind != PaletteKind::project)
    metadata["namespace"] = stored.manifest.name_space;
  metadata["generation"] = stored.generation;
  metadata["creationTimestamp"] = format_rfc3339(stored.created_at);
  out["metadata"] = std::move(metadata);
  out.erase("status");
  return out;
}

json::value status_of_platform(const std::optional<MlPlatform>& platform) {
  if (!platform) return nullptr;
  json::object status = to_json(*platform);
  for (const char* key : {"name", "project", "profile"}) status.erase(key);
  return status;
}

Result<json::object> with_status(Service& service, Transaction& tx, const Caller& caller,
                                 const StoredManifest& stored, const FleetPicture* fleet) {
  json::object out = listed(stored);
  if (stored.manifest.kind == PaletteKind::compute && fleet != nullptr) {
    EXA_ASSIGN(json::object status, compute_status_json(tx, caller, stored, *fleet, service.now()));
    out["status"] = std::move(status);
  } else if (stored.manifest.kind == PaletteKind::ml_platform) {
    EXA_ASSIGN(const auto platform,
               load_platform(tx, stored.manifest.name_space, stored.manifest.name));
    out["status"] = status_of_platform(platform);
  }
  return out;
}

// Fields that differ, by pointer; objects are looked into, lists are compared whole.
void compare(const json::value& before, const json::value& after, const std::string& where,
             json::array& differences) {
  if (before == after) return;
  if (!before.is_object() || !after.is_object()) {
    differences.emplace_back(json::object{{"field", where}, {"before", before}, {"after", after}});
    return;
  }
  for (const auto& member : before.get_object()) {
    const json::value* other = after.get_object().if_contains(member.key());
    compare(member.value(), other == nullptr ? json::value(nullptr) : *other,
            pointer(where, member.key()), differences);
  }
  for (const auto& member : after.get_object())
    if (!before.get_object().contains(member.key()))
      compare(nullptr, member.value(), pointer(where, member.key()), differences);
}

json::object without_status(json::object document) {
  document.erase("status");
  return document;
}

}  // namespace

std::string_view name(ManifestChange written) {
  switch (written) {
    case ManifestChange::created:
      return "created";
    case ManifestChange::changed:
      return "changed";
    case ManifestChange::unchanged:
      return "unchanged";
  }
  return "";
}

json::object to_stored_json(const StoredManifest& stored) {
  return {{"project", stored.manifest.name_space},
          {"kind", info(stored.manifest.kind).word},
          {"name", stored.manifest.name},
          {"generation", stored.generation},
          {"created_at", format_rfc3339(stored.created_at)},
          {"created_by", stored.created_by},
          {"updated_at", format_rfc3339(stored.updated_at)},
          {"updated_by", stored.updated_by},
          {"document", stored.manifest.document}};
}

Result<std::optional<StoredManifest>> load_manifest(Transaction& tx, const std::string& project,
                                                    PaletteKind kind, const std::string& name) {
  EXA_ASSIGN(const auto rows,
             tx.rows("SELECT spec FROM manifest WHERE id = $1", {id_of(project, kind, name)}));
  std::optional<StoredManifest> stored;
  if (rows.empty()) return stored;
  EXA_ASSIGN(stored, manifest_of_row(rows[0]));
  return stored;
}

Result<StoredManifest> find_manifest(Transaction& tx, const std::string& project, PaletteKind kind,
                                     const std::string& name) {
  EXA_ASSIGN(auto stored, load_manifest(tx, project, kind, name));
  if (stored) return *std::move(stored);
  EXA_ASSIGN(const auto rows,
             tx.rows("SELECT name FROM manifest WHERE kind = $1 AND project = $2 ORDER BY name",
                     {std::string(info(kind).word), project}));
  std::vector<std::string> names;
  for (const Row& row : rows) names.push_back(row.text(0));
  return fail(Error{
      Code::not_found,
      fmt::format("there is no {} \"{}\" in project {}", info(kind).name, printable(name), project),
      {},
      names.empty() ? std::string("exa apply -f FILE")
                    : fmt::format("exa get {} --project {}", info(kind).word, project),
      close_matches(name, names)});
}

Result<std::vector<StoredManifest>> load_manifests(Transaction& tx, PaletteKind kind,
                                                   const std::string& project) {
  const std::string word(info(kind).word);
  const auto rows =
      project.empty()
          ? tx.rows("SELECT spec FROM manifest WHERE kind = $1 ORDER BY project, name", {word})
          : tx.rows("SELECT spec FROM manifest WHERE kind = $1 AND project = $2 ORDER BY name",
                    {word, project});
  if (!rows) return fail(rows.error());
  return manifests_of(*rows);
}

Result<std::optional<ProjectSpec>> project_settings(Transaction& tx, const std::string& project) {
  EXA_ASSIGN(const auto stored, load_manifest(tx, project, PaletteKind::project, project));
  std::optional<ProjectSpec> spec;
  if (stored) spec = project_spec(stored->manifest);
  return spec;
}

Result<ManifestChange> write_manifest(Service& service, Transaction& tx, const Caller& caller,
                                      Deed& deed, const std::string& project,
                                      const Manifest& manifest) {
  EXA_ASSIGN(auto before, load_manifest(tx, project, manifest.kind, manifest.name));
  StoredManifest stored{
      manifest, 1, service.now(), caller.principal.name, service.now(), caller.principal.name};
  stored.manifest.name_space = project;
  stored.manifest.document = without_status(std::move(stored.manifest.document));
  if (before) {
    if (before->manifest.document == stored.manifest.document) return ManifestChange::unchanged;
    stored.generation = before->generation + 1;
    stored.created_at = before->created_at;
    stored.created_by = before->created_by;
  }
  const json::object document = to_stored_json(stored);
  EXA_TRY(tx.change(
      "INSERT INTO manifest VALUES ($1, $2, $3, $4, $5) ON CONFLICT (id) DO UPDATE SET spec = $5",
      {audit_name(stored), project, std::string(info(manifest.kind).word), manifest.name,
       to_text(document)}));
  also_wrote(deed, "manifest", audit_name(stored), document);
  return before ? ManifestChange::changed : ManifestChange::created;
}

Result<void> drop_manifest(Transaction& tx, Deed& deed, const StoredManifest& stored) {
  EXA_TRY(tx.change("DELETE FROM manifest WHERE id = $1", {audit_name(stored)}));
  also_removed(deed, "manifest", audit_name(stored));
  return {};
}

Result<Answer> apply_manifests(Service& service, const Caller& caller, const ManifestFile& file) {
  EXA_ASSIGN(const auto manifests, read_manifests(file.text, file.name));
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    return apply_all(service, tx, caller, deed, manifests, file.project);
  });
}

Result<Answer> diff_manifests(Service& service, const Caller& caller, const ManifestFile& file) {
  EXA_ASSIGN(const auto manifests, read_manifests(file.text, file.name));
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    json::array items;
    bool differ = false;
    for (const Manifest& manifest : manifests) {
      const std::string project = project_of(manifest, file.project);
      EXA_TRY(require_here(tx, caller, "manifest:read", project));
      EXA_ASSIGN(const auto before, load_manifest(tx, project, manifest.kind, manifest.name));
      json::array differences;
      if (before)
        compare(before->manifest.document, without_status(manifest.document), "", differences);
      const ManifestChange result = !before               ? ManifestChange::created
                                    : differences.empty() ? ManifestChange::unchanged
                                                          : ManifestChange::changed;
      differ = differ || result != ManifestChange::unchanged;
      items.emplace_back(json::object{{"kind", info(manifest.kind).name},
                                      {"name", manifest.name},
                                      {"project", project},
                                      {"result", name(result)},
                                      {"differences", std::move(differences)}});
    }
    Answer answer;
    answer.exit_code = differ ? 1 : 0;
    answer.body = {{"items", std::move(items)}};
    return answer;
  });
}

Result<Answer> get_manifests(Service& service, const Caller& caller, const GetManifests& what) {
  EXA_ASSIGN(const PaletteKindInfo* const kind, kind_called(what.kind));
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    std::optional<FleetPicture> fleet;
    if (kind->kind == PaletteKind::compute) {
      EXA_ASSIGN(fleet, load_fleet(tx));
    }
    const std::string project =
        kind->kind == PaletteKind::project && !what.name.empty() ? what.name : what.project;
    EXA_TRY(require_here(tx, caller, "manifest:read", project));
    Answer answer;
    if (!what.name.empty()) {
      EXA_ASSIGN(const StoredManifest stored, find_manifest(tx, project, kind->kind, what.name));
      EXA_ASSIGN(answer.body, with_status(service, tx, caller, stored, fleet ? &*fleet : nullptr));
      return answer;
    }
    EXA_ASSIGN(const auto all, load_manifests(tx, kind->kind, project));
    json::array items;
    for (const StoredManifest& stored : all) {
      EXA_ASSIGN(json::object item,
                 with_status(service, tx, caller, stored, fleet ? &*fleet : nullptr));
      items.emplace_back(std::move(item));
    }
    answer.body = {{"items", std::move(items)}, {"next_cursor", nullptr}};
    return answer;
  });
}

Result<Answer> delete_manifest(Service& service, const Caller& caller, const GetManifests& what) {
  EXA_ASSIGN(const PaletteKindInfo* const kind, kind_called(what.kind));
  const std::string project = kind->kind == PaletteKind::project ? what.name : what.project;
  if (kind->kind == PaletteKind::ml_platform) {
    EXA_TRY(service.store().read(
        [&](Transaction& tx) { return require_may_write(tx, caller, kind->kind, project); }));
    return release_platform(service, caller, project, what.name, false, "");
  }
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_TRY(require_may_write(tx, caller, kind->kind, project));
    EXA_ASSIGN(const StoredManifest stored, find_manifest(tx, project, kind->kind, what.name));
    EXA_TRY(check_unreferenced(tx, project, stored.manifest));
    EXA_TRY(drop_manifest(tx, deed, stored));
    deed.object_kind = "manifests";
    deed.object_name = described(stored.manifest, project);
    deed.project = project;
    Answer answer;
    answer.body = {
        {"kind", kind->name}, {"name", what.name}, {"project", project}, {"deleted", true}};
    return answer;
  });
}

Result<Answer> explain_manifest(const std::string& path) {
  const size_t dot = path.find('.');
  EXA_ASSIGN(const PaletteKindInfo* const kind, kind_called(path.substr(0, dot)));
  const std::string field = dot == std::string::npos ? "" : path.substr(dot + 1);
  json::array fields;
  std::vector<std::string> known;
  for (const ManifestField& each : fields_of(kind->kind)) {
    known.push_back(each.path);
    if (!field.empty() && each.path != field && !each.path.starts_with(field + ".")) continue;
    fields.emplace_back(json::object{{"path", each.path},
                                     {"type", name(each.type)},
                                     {"required", each.required},
                                     {"help", each.help}});
  }
  if (fields.empty()) {
    return fail(
        Error{Code::not_found,
              fmt::format("{} has no field \"{}\" that is known", kind->name, printable(field)),
              {},
              fmt::format("exa explain {}", kind->word),
              close_matches(field, known)});
  }
  Answer answer;
  answer.body = {
      {"kind", kind->name}, {"api_version", kind->api_version}, {"fields", std::move(fields)}};
  return answer;
}

}  // namespace exa
