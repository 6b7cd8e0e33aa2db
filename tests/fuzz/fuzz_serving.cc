// Any bytes as a serving file: every problem with its place, or models that are sized and rendered
// into YAML that reads back, or refused by name.
#include "base/yaml.h"
#include "launch/renderers.h"
#include "launch/serving.h"

namespace exa {
namespace {

void check_rendered(const Result<Rendered>& rendered) {
  if (!rendered) {
    EXA_ASSERT(rendered.error().code == Code::invalid_input && !rendered.error().problems.empty());
    return;
  }
  YamlLimits limits;
  limits.each.max_nodes = 1'000'000;
  limits.each.max_bytes = size_t{8} << 20;
  for (const RenderedFile& file : rendered->files)
    EXA_ASSERT(parse_yaml(file.text, file.name, limits).has_value());
}

void check_model(const ServedModel& model) {
  Shape profile;
  profile.accelerator_family = Family::nvidia;
  profile.gpu_count = 1;
  const auto shape = size_model(model, model.resources.profile ? &profile : nullptr);
  if (!shape) {
    for (const Problem& problem : shape.error().problems)
      EXA_ASSERT(problem.where.starts_with("fuzz:") && !problem.message.empty());
    return;
  }
  const SizedModel sized{model, resources_of(*shape)};
  const ServingLaunch launch{"p", "i-1", {}};
  if (model.engine == ServingEngine::ray) return check_rendered(render_ray({&sized, 1}));
  if (model.engine == ServingEngine::kserve) return check_rendered(render_kserve(sized, launch));
  const auto spec = launch_of(sized, launch);
  if (!spec) return;
  check_rendered(render_kubernetes(*spec));
  check_rendered(render_compose(*spec));
}

}  // namespace
}  // namespace exa

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto models = exa::read_serving_file(text, "fuzz");
  if (!models) {
    EXA_ASSERT(models.error().code == exa::Code::invalid_input);
    return 0;
  }
  for (const exa::ServedModel& model : *models) exa::check_model(model);
  return 0;
}
