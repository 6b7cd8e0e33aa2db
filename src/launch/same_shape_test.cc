// One resource path: what a hardware profile says and what raw flags or fields say end in the same
// bytes, for every target (requirement Phase 3; semantics §8).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/yaml.h"
#include "launch/random_shapes_for_test.h"
#include "launch/renderers.h"
#include "launch/serving.h"

namespace exa {
namespace {

// The same shape behind a profile: with a description, tags and an applicability that no target
// hears of.
Shape as_profile(Shape shape, std::mt19937_64& random) {
  shape.description = random_text(random, 10);
  shape.driver_tag = "cuda-12.4";
  shape.runtime_tag = "pytorch-2.4-cu124";
  shape.applicability = {Surface::workbench, Surface::serving};
  // through the store, as a profile comes
  auto stored = shape_from_json(shape_to_json(shape));
  EXPECT_TRUE(stored);
  return std::move(stored).value_or(shape);
}

// The fields as a person types them: decimal texts.
json::object as_flags(const Shape& shape) {
  json::object flags{{"accelerator_family", info(shape.accelerator_family).name},
                     {"gpu_count", std::to_string(shape.gpu_count)},
                     {"gpu_fraction", format_milli(shape.gpu_fraction_milli)},
                     {"cpu", format_milli(shape.cpu_milli)},
                     {"memory_gb", format_gib(shape.memory_bytes)},
                     {"nodes", std::to_string(shape.nodes)}};
  if (!shape.accelerator_model_hint.empty())
    flags["accelerator_model_hint"] = shape.accelerator_model_hint;
  if (!shape.mig_profile.empty()) flags["mig_profile"] = shape.mig_profile;
  return flags;
}

json::object as_serving_fields(const Shape& shape) {
  json::object fields = as_flags(shape);
  fields["gpu"] = fields["gpu_count"];
  fields.erase("gpu_count");
  return fields;
}

std::string outcome(const Result<Rendered>& rendered) {
  if (!rendered) {
    std::string text = "refused\n";
    for (const Problem& problem : rendered.error().problems)
      text += fmt::format("{} {} {}\n", problem.where, problem.message, problem.suggestion);
    return text;
  }
  std::string text;
  for (const std::string& word : rendered->command) text += word + "\n";
  for (const RenderedFile& file : rendered->files) text += file.name + "\n" + file.text;
  for (const std::string& note : rendered->notes) text += note + "\n";
  return text;
}

std::string outcome(const CommandLine& command) {
  std::string text;
  for (const Word& word : command)
    for (const auto& part : word.parts)
      text += (part.index() == 0 ? std::get<0>(part) : "later") + "\n";
  return text;
}

constexpr const char* kModels[] = {
    "name: m\nengine: ray\nimport_path: m:a\n",
    "name: m\nengine: kserve\nimage: x\ncommand: [y]\n",
    "name: m\nengine: kubernetes\nimage: x\ncommand: [y]\nport: 1\n",
    "name: m\nengine: vllm\nmodel: z\nimage: x\n",
};

// What becomes of a model whose shape was found out one way or the other.
std::string served(const ServedModel& model, const Shape& shape) {
  const SizedModel sized{model, resources_of(shape)};
  const ServingLaunch launch{"p", "i-1", {}};
  if (model.engine == ServingEngine::ray) return outcome(render_ray({&sized, 1}));
  if (model.engine == ServingEngine::kserve) return outcome(render_kserve(sized, launch));
  std::string text;
  if (model.engine == ServingEngine::vllm) text = outcome(vllm_command(model, sized.resources));
  const auto spec = launch_of(sized, launch);
  return text +
         (spec ? outcome(render_kubernetes(*spec)) : outcome(Result<Rendered>(fail(spec.error()))));
}

ServedModel model_of(const std::string& text) {
  auto models = read_serving_file(text, "s.yaml");
  EXPECT_TRUE(models) << text << models.error().problems.at(0).message;
  return models ? std::move(models->front()) : ServedModel{};
}

TEST(SameShape, AProfileAndRawFlagsEndInTheSameBytes) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::mt19937_64 random(seed);
  std::map<std::string, int> rendered;
  for (int round = 0; round < 5'000; ++round) {
    const Shape shape = random_shape(random);
    const Shape profile = as_profile(shape, random);
    const auto flags = read_shape(as_flags(shape));
    ASSERT_TRUE(flags) << flags.error().problems.at(0).message << to_text(as_flags(shape));
    ASSERT_EQ(resources_of(*flags), resources_of(shape));
    LaunchSpec by_profile = random_launch(random);
    LaunchSpec by_flags = by_profile;
    by_profile.resources = resources_of(profile);
    by_flags.resources = resources_of(*flags);
    const std::string manifest = outcome(render_kubernetes(by_profile));
    ASSERT_EQ(manifest, outcome(render_kubernetes(by_flags)));
    const std::string compose = outcome(render_compose(by_profile));
    ASSERT_EQ(compose, outcome(render_compose(by_flags)));
    rendered["kubernetes"] += !manifest.starts_with("refused");
    rendered["compose"] += !compose.starts_with("refused");
  }
  for (const auto& [target, count] : rendered)
    EXPECT_GT(count, 200) << target << " refused nearly all";
}

TEST(SameShape, AModelsProfileAndItsOwnFieldsEndInTheSameBytes) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::mt19937_64 random(seed);
  std::map<std::string_view, int> rendered;
  for (int round = 0; round < 5'000; ++round) {
    const Shape shape = random_shape(random);
    const Shape profile = as_profile(shape, random);
    const std::string text = kModels[random() % 4];
    const ServedModel by_profile = model_of(text + "resources: {hardware_profile: p}\n");
    const ServedModel by_fields =
        model_of(text + to_yaml(json::object{{"resources", as_serving_fields(shape)}}));
    const auto from_profile = size_model(by_profile, &profile);
    const auto from_fields = size_model(by_fields, nullptr);
    ASSERT_TRUE(from_profile && from_fields);
    const std::string one = served(by_profile, *from_profile);
    ASSERT_EQ(one, served(by_fields, *from_fields));
    rendered[name(by_profile.engine)] += one.find("refused\n") == std::string::npos;
  }
  for (const auto& [engine, count] : rendered)
    EXPECT_GT(count, 50) << engine << " refused nearly all";
}

}  // namespace
}  // namespace exa
