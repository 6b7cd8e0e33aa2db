// PaletteAI's manifests as they are kept: applied, compared, printed again, deleted. Requirement
// "Compute Profile and Compute"; contract "Manifests". Namespaces are projects.
#pragma once

#include "compute/palette_manifest.h"
#include "service/service.h"

namespace exa {

struct StoredManifest {
  Manifest manifest;       // name_space is the project
  int64_t generation = 1;  // rises with every change of the document
  Time created_at;
  std::string created_by;
  Time updated_at;
  std::string updated_by;
};

Result<std::optional<StoredManifest>> load_manifest(Transaction& tx, const std::string& project,
                                                    PaletteKind kind, const std::string& name);
// not_found names close spellings.
Result<StoredManifest> find_manifest(Transaction& tx, const std::string& project, PaletteKind kind,
                                     const std::string& name);
// Of all projects that `known` has, or of one, by project and name.
Result<std::vector<StoredManifest>> load_manifests(Transaction& tx, PaletteKind kind,
                                                   const std::string& project);
// What the log digests.
json::object to_stored_json(const StoredManifest& stored);

// What a project is set to, by its Project manifest; nullopt: it has none.
Result<std::optional<ProjectSpec>> project_settings(Transaction& tx, const std::string& project);

// A manifest written in `tx`, and in `deed`. Says whether that changed anything.
enum class ManifestChange { created, changed, unchanged };
std::string_view name(ManifestChange written);
Result<ManifestChange> write_manifest(Service& service, Transaction& tx, const Caller& caller,
                                      Deed& deed, const std::string& project,
                                      const Manifest& manifest);
Result<void> drop_manifest(Transaction& tx, Deed& deed, const StoredManifest& stored);

struct ManifestFile {
  std::string text;
  std::string name;     // for problems
  std::string project;  // of documents without a namespace
};
// All of the file's documents or none.
Result<Answer> apply_manifests(Service& service, const Caller& caller, const ManifestFile& file);
// Exit code 1 when something differs.
Result<Answer> diff_manifests(Service& service, const Caller& caller, const ManifestFile& file);

struct GetManifests {
  std::string kind;  // as people write it
  std::string name;  // empty: all of the project
  std::string project;
};
// With a name the document, its status with it where the kind has one; else a list of documents.
Result<Answer> get_manifests(Service& service, const Caller& caller, const GetManifests& what);
Result<Answer> delete_manifest(Service& service, const Caller& caller, const GetManifests& what);
// "computeprofile", "computeprofile.spec.edge".
Result<Answer> explain_manifest(const std::string& path);

}  // namespace exa
