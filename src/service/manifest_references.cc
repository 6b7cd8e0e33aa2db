#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "service/manifest_parts.h"
#include "service/platform_rows.h"

namespace exa {
namespace {

struct Reference {
  PaletteKind kind;
  std::string name;
  std::string_view where;  // JSON pointer
};

std::vector<Reference> references_of(const Manifest& manifest) {
  std::vector<Reference> references;
  const auto add = [&](PaletteKind kind, std::string name, std::string_view where) {
    if (!name.empty()) references.push_back({kind, std::move(name), where});
  };
  switch (manifest.kind) {
    case PaletteKind::compute_profile:
      add(PaletteKind::settings, compute_profile_spec(manifest).settings_ref, "/spec/settingsRef");
      break;
    case PaletteKind::compute:
      add(PaletteKind::settings, compute_spec(manifest).settings_ref, "/spec/settingsRef");
      break;
    case PaletteKind::project: {
      ProjectSpec spec = project_spec(manifest);
      add(PaletteKind::compute_profile, std::move(spec.compute_profile_ref),
          "/spec/computeProfileRef");
      add(PaletteKind::settings, std::move(spec.settings_ref), "/spec/settingsRef");
      break;
    }
    case PaletteKind::ml_platform: {
      MlPlatformSpec spec = ml_platform_spec(manifest);
      add(PaletteKind::compute_profile, std::move(spec.compute_profile_ref),
          "/spec/computeProfileRef");
      add(PaletteKind::workload_profile, std::move(spec.workload_profile_ref),
          "/spec/workloadProfileRef");
      break;
    }
    case PaletteKind::settings:
    case PaletteKind::workload_profile:
      break;
  }
  return references;
}

bool refers_to(const Manifest& manifest, PaletteKind kind, const std::string& name) {
  for (const Reference& reference : references_of(manifest))
    if (reference.kind == kind && reference.name == name) return true;
  return false;
}

}  // namespace

Result<void> check_references(Transaction& tx, const std::string& project,
                              const Manifest& manifest) {
  std::vector<Problem> problems;
  for (const Reference& reference : references_of(manifest)) {
    const auto found = find_manifest(tx, project, reference.kind, reference.name);
    if (found) continue;
    if (found.error().code != Code::not_found) return fail(found.error());
    problems.push_back({std::string(reference.where),
                        fmt::format("{}; a file may hold both", found.error().message),
                        found.error().alternatives.empty()
                            ? std::string()
                            : fmt::format("did you mean {}?", found.error().alternatives[0])});
  }
  if (problems.empty()) return {};
  return fail(
      invalid(fmt::format("{} {}", info(manifest.kind).name, manifest.name), std::move(problems)));
}

Result<void> check_unreferenced(Transaction& tx, const std::string& project,
                                const Manifest& manifest) {
  std::vector<std::string> referrers;
  for (const PaletteKindInfo& kind : palette_kinds()) {
    EXA_ASSIGN(const auto others, load_manifests(tx, kind.kind, project));
    for (const StoredManifest& other : others)
      if (refers_to(other.manifest, manifest.kind, manifest.name))
        referrers.push_back(fmt::format("{} {}", kind.word, other.manifest.name));
  }
  // platforms that name no profile are of the project's
  EXA_ASSIGN(const auto platforms, load_platforms(tx));
  for (const MlPlatform& platform : platforms) {
    if (platform.project != project) continue;
    const bool of_profile =
        manifest.kind == PaletteKind::compute_profile && platform.compute_profile == manifest.name;
    if (of_profile || manifest.kind == PaletteKind::project)
      referrers.push_back(fmt::format("mlplatform {}", platform.name));
  }
  std::ranges::sort(referrers);
  referrers.erase(std::unique(referrers.begin(), referrers.end()), referrers.end());
  if (referrers.empty()) return {};
  Error error{Code::in_use,
              fmt::format("{} {} is referred to by {}", info(manifest.kind).name, manifest.name,
                          join(referrers, ", ")),
              {},
              "change or delete what refers to it first",
              referrers};
  return fail(std::move(error));
}

}  // namespace exa
