#include "compute/palette_manifest.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "base/text.h"
#include "base/yaml.h"
#include "compute/manifest_checks.h"
#include "compute/manifest_walk.h"

namespace exa {
namespace {

// More help nobody, and a hostile file could make millions.
constexpr size_t kMostProblems = 100;

constexpr std::string_view kPalette = "palette.ai/v1alpha1";
constexpr std::string_view kMural = "mural.spectrocloud.com/v1alpha1";

constexpr PaletteKindInfo kKinds[] = {
    {PaletteKind::settings, "Settings", "settings", "settings", kPalette},
    {PaletteKind::compute_profile, "ComputeProfile", "computeprofile", "computeprofiles", kPalette},
    {PaletteKind::workload_profile, "WorkloadProfile", "workloadprofile", "workloadprofiles",
     kMural},
    {PaletteKind::project, "Project", "project", "projects", kPalette},
    {PaletteKind::compute, "Compute", "compute", "computes", kPalette},
    {PaletteKind::ml_platform, "MLPlatform", "mlplatform", "mlplatforms", kPalette},
};

std::vector<std::string> kind_names() {
  std::vector<std::string> names;
  for (const PaletteKindInfo& kind : kKinds) names.emplace_back(kind.name);
  return names;
}

const PaletteKindInfo* kind_of(const json::object& document, Findings& findings) {
  const json::value* const kind = find(document, "kind");
  if (kind == nullptr || !kind->is_string()) {
    add_problem(findings, kind == nullptr ? "" : "/kind", "kind is missing: what is it?",
                fmt::format("one of {}", join(kind_names(), ", ")));
    return nullptr;
  }
  const std::string_view word = kind->get_string();
  const auto* const found = std::ranges::find(kKinds, word, &PaletteKindInfo::name);
  if (found != std::end(kKinds)) return found;
  const std::string close = word == "List" ? "write its items as documents with --- between"
                                           : did_you_mean(word, kind_names());
  add_problem(findings, "/kind", fmt::format("{} is no kind that is known", in_quotes(word)),
              close.empty() ? fmt::format("one of {}", join(kind_names(), ", ")) : close);
  return nullptr;
}

void check_api_version(const json::object& document, const PaletteKindInfo* kind,
                       Findings& findings) {
  const json::value* const given = find(document, "apiVersion");
  if (given == nullptr || !given->is_string()) return;  // told by the table
  const std::string_view text = given->get_string();
  if (kind != nullptr && text != kind->api_version)
    add_problem(findings, "/apiVersion",
                fmt::format("{} is no apiVersion of {}", in_quotes(text), kind->name),
                fmt::format("did you mean {}?", kind->api_version));
  if (kind != nullptr || text == kPalette || text == kMural) return;
  const std::vector<std::string> known = {std::string(kPalette), std::string(kMural)};
  const std::string close = did_you_mean(text, known);
  add_problem(findings, "/apiVersion",
              fmt::format("{} is no apiVersion that is known", in_quotes(text)),
              close.empty() ? join(known, " or ") : close);
}

// Problems and warnings by JSON pointer; what it gives is good where there is no problem.
Manifest check_manifest(const json::value& document, Findings& findings) {
  Manifest manifest;
  if (!document.is_object()) {
    add_problem(findings, "", "a manifest is an object with apiVersion, kind, metadata and spec");
    return manifest;
  }
  const json::object& object = document.get_object();
  const PaletteKindInfo* const kind = kind_of(object, findings);
  check_api_version(object, kind, findings);
  if (kind == nullptr) return manifest;
  check_fields(object, fields_of(kind->kind), "", "", findings);
  if (!findings.problems.empty()) return manifest;
  const json::object& metadata = object.at("metadata").get_object();
  manifest.kind = kind->kind;
  manifest.name = text_or(metadata, "name", "");
  manifest.name_space = text_or(metadata, "namespace", "");
  if (kind->kind == PaletteKind::project) {
    if (!manifest.name_space.empty() && manifest.name_space != manifest.name)
      findings.warnings.push_back(
          {"/metadata/namespace",
           "the namespace of a project is its own name; this one is not used", ""});
    manifest.name_space = manifest.name;
  }
  manifest.document = object;
  return manifest;
}

void move_to_places(std::vector<Problem>& problems, const YamlDocument& document,
                    std::string_view file) {
  for (Problem& problem : problems) problem.where = place_of(document, problem.where, file);
}

// YAML has nearly all of JSON in it; what libyaml does not read (pairs of surrogates) is read as
// JSON, without places.
Result<std::vector<YamlDocument>> parse(std::string_view text, std::string_view file) {
  YamlLimits limits;
  limits.with_places = true;
  auto documents = parse_yaml(text, file, limits);
  if (documents || !trim(text).starts_with('{')) return documents;
  auto value = parse_json(text, file);
  if (!value) return documents;
  std::vector<YamlDocument> one;
  one.push_back({*std::move(value), 1, {}});
  return one;
}

// The second of one kind, namespace and name, wherever it stands.
void refuse_twins(std::span<const Manifest> manifests, std::vector<Problem>& problems) {
  std::map<std::tuple<PaletteKind, std::string_view, std::string_view>, std::string_view> places;
  for (const Manifest& manifest : manifests) {
    const auto [first, is_first] =
        places.emplace(std::tuple(manifest.kind, std::string_view(manifest.name_space),
                                  std::string_view(manifest.name)),
                       manifest.place);
    if (is_first) continue;
    problems.push_back(
        {manifest.place,
         fmt::format("{} {} stands twice{}", info(manifest.kind).name, manifest.name,
                     manifest.name_space.empty() ? "" : fmt::format(" in {}", manifest.name_space)),
         fmt::format("the first is at {}", first->second)});
  }
}

}  // namespace

std::span<const PaletteKindInfo> palette_kinds() {
  return kKinds;
}

const PaletteKindInfo& info(PaletteKind kind) {
  const auto* const found = std::ranges::find(kKinds, kind, &PaletteKindInfo::kind);
  EXA_ASSERT(found != std::end(kKinds));
  return *found;
}

const PaletteKindInfo* find_palette_kind(std::string_view word) {
  const std::string wanted = lower(word);
  const auto* const found = std::ranges::find_if(kKinds, [&](const PaletteKindInfo& kind) {
    return wanted == kind.word || wanted == kind.plural;
  });
  return found == std::end(kKinds) ? nullptr : found;
}

Result<std::vector<Manifest>> read_manifests(std::string_view text, std::string_view file) {
  EXA_ASSIGN(const std::vector<YamlDocument> documents, parse(text, file));
  std::vector<Manifest> manifests;
  std::vector<Problem> problems;
  for (const YamlDocument& document : documents) {
    if (document.value.is_null()) continue;  // nothing but comments between two ---
    Findings findings;
    Manifest manifest = check_manifest(document.value, findings);
    move_to_places(findings.problems, document, file);
    move_to_places(findings.warnings, document, file);
    std::ranges::move(findings.problems, std::back_inserter(problems));
    if (manifest.name.empty()) continue;
    manifest.warnings = std::move(findings.warnings);
    manifest.place = place_of(document, "", file);
    manifests.push_back(std::move(manifest));
  }
  refuse_twins(manifests, problems);
  if (manifests.empty() && problems.empty())
    problems.push_back({fmt::format("{}:1:1", file), "holds no manifest", ""});
  if (problems.size() > kMostProblems) problems.resize(kMostProblems);
  if (!problems.empty()) return fail(invalid(file, std::move(problems)));
  std::ranges::stable_sort(manifests, {}, &Manifest::kind);
  return manifests;
}

Result<Manifest> manifest_of(const json::value& document) {
  Findings findings;
  Manifest manifest = check_manifest(document, findings);
  if (findings.problems.size() > kMostProblems) findings.problems.resize(kMostProblems);
  if (!findings.problems.empty())
    return fail(invalid("the manifest", std::move(findings.problems)));
  manifest.warnings = std::move(findings.warnings);
  return manifest;
}

}  // namespace exa
