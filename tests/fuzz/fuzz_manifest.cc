// Any bytes as a file of manifests: every problem with its place, or manifests that come out as
// they went in and whose specs can be built.
#include "base/yaml.h"
#include "compute/palette_manifest.h"

namespace exa {
namespace {

void build_spec(const Manifest& manifest) {
  switch (manifest.kind) {
    case PaletteKind::settings:
      settings_spec(manifest);
      return;
    case PaletteKind::compute_profile:
      EXA_ASSERT(overridden(manifest, {}).has_value());
      return;
    case PaletteKind::workload_profile:
      workload_profile_spec(manifest);
      return;
    case PaletteKind::project:
      project_spec(manifest);
      return;
    case PaletteKind::compute:
      compute_spec(manifest);
      return;
    case PaletteKind::ml_platform:
      ml_platform_spec(manifest);
      return;
  }
}

}  // namespace
}  // namespace exa

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto manifests = exa::read_manifests(text, "fuzz");
  if (!manifests) {
    EXA_ASSERT(manifests.error().code == exa::Code::invalid_input);
    for (const exa::Problem& problem : manifests.error().problems)
      EXA_ASSERT(problem.where.starts_with("fuzz:") && !problem.message.empty());
    return 0;
  }
  for (const exa::Manifest& manifest : *manifests) {
    exa::build_spec(manifest);
    const auto again = exa::read_manifests(exa::to_yaml(manifest.document), "again");
    EXA_ASSERT(again && again->size() == 1);
    EXA_ASSERT(exa::to_text(again->front().document) == exa::to_text(manifest.document));
    EXA_ASSERT(exa::manifest_of(manifest.document).has_value());
  }
  return 0;
}
