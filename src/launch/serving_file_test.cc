#include "launch/serving_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/quantity.h"
#include "launch/specs_for_test.h"

namespace exa {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<ServedModel> read(std::string_view text) {
  auto models = read_serving_file(text, "s.yaml");
  EXPECT_TRUE(models) << (models ? ""
                                 : models.error().problems.at(0).where +
                                       models.error().problems.at(0).message);
  return std::move(models).value_or(std::vector<ServedModel>());
}

// "place message (suggestion)"
std::vector<std::string> problems(std::string_view text) {
  const auto models = read_serving_file(text, "s.yaml");
  std::vector<std::string> lines;
  if (models) return lines;
  EXPECT_EQ(models.error().code, Code::invalid_input);
  for (const Problem& p : models.error().problems)
    lines.push_back(p.where + " " + p.message +
                    (p.suggestion.empty() ? "" : " (" + p.suggestion + ")"));
  return lines;
}

Shape half_a100() {
  Shape shape;
  shape.accelerator_family = Family::nvidia;
  shape.accelerator_model_hint = "A100-80GB";
  shape.gpu_count = 1;
  shape.gpu_fraction_milli = 500;
  shape.cpu_milli = 4000;
  shape.memory_bytes = 32 * kGiB;
  shape.driver_tag = "cuda-12.4";
  shape.description = "half a card";
  return shape;
}

TEST(ServingFile, HoldsSeveralModelsEachSizedByItsOwnProfile) {
  const auto models = read(contents_of(EXA_TESTDATA "/launch/serving/models.yaml"));
  ASSERT_EQ(models.size(), 4U);
  const ServedModel& chat = models[0];
  EXPECT_EQ(chat.name, "chat");
  EXPECT_EQ(chat.engine, ServingEngine::ray);
  EXPECT_EQ(chat.import_path, "chat.app:build");
  EXPECT_EQ(chat.deployment, "Chat");
  EXPECT_EQ(chat.route, "/chat");
  EXPECT_EQ(chat.replicas, (Replicas{0, 4, true, 8}));
  EXPECT_EQ(to_text(*chat.resources.profile), "half-a100@2");
  EXPECT_EQ(to_text(chat.resources.given), R"({"cpu":8})");
  EXPECT_EQ(chat.environment, (Variables{{"HF_HOME", "/models"}, {"PRICE", "$5"}}));
  EXPECT_EQ(to_text(chat.application), R"({"model":"org/chat-8b","max_tokens":4096})");
  EXPECT_EQ(chat.place, "s.yaml:2:1");
  EXPECT_THAT(models[1].words, ElementsAre("python3", "-m", "embed.server", "--port=8080"));
  EXPECT_EQ(models[1].port, 8080);
  EXPECT_EQ(models[1].replicas, (Replicas{2, 2, false, {}}));
  EXPECT_THAT(models[2].words, ElementsAre("rerank", "--workers", "2"));
  EXPECT_FALSE(models[2].resources.profile);
  EXPECT_EQ(models[3].model, "org/large-405b");
  EXPECT_EQ(models[3].port, 8000);
  EXPECT_EQ(models[3].resources.profile->project, "vision");
  EXPECT_EQ(models[3].resources.profile->label, "stable");
}

TEST(ServingFile, AListOfModelsIsTheSameAsADocumentForEach) {
  const auto listed = read(
      "models:\n- {name: a, engine: ray, import_path: m:a}\n- {name: b, engine: ray, import_path: "
      "m:b}\n");
  const auto documents = read(
      "{name: a, engine: ray, import_path: m:a}\n---\n{name: b, engine: ray, import_path: "
      "m:b}\n---\n");
  ASSERT_EQ(listed.size(), 2U);
  ASSERT_EQ(documents.size(), 2U);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(listed[i].name, documents[i].name);
    EXPECT_EQ(listed[i].route, "/" + listed[i].name);
    EXPECT_EQ(listed[i].deployment, listed[i].name);
  }
}

TEST(ServingFile, EveryProblemIsToldAtOnceWithItsPlaceAndTheNearestKey) {
  EXPECT_THAT(
      problems("name: Chat\n"
               "engine: ray\n"
               "import_pth: chat.app:build\n"
               "replicas: two\n"
               "env:\n"
               "  PORT: 8080\n"
               "  9X: a\n"
               "resources:\n"
               "  hardware_profil: half\n"
               "  gpu: -1\n"
               "  memory_gb: 32G\n"
               "---\n"
               "engine: vlm\n"),
      ElementsAre(
          "s.yaml:3:1 \"import_pth\" is no key of a model (did you mean import_path?)",
          HasSubstr("s.yaml:1:1 \"Chat\" is no name"),
          "s.yaml:1:1 import_path is missing, which engine ray needs",
          HasSubstr("s.yaml:6:3 must be a text, not 8080 (write \"8080\")"),
          HasSubstr("s.yaml:7:3 is no name of a variable"),
          "s.yaml:4:1 must be a whole number, not \"two\"",
          "s.yaml:9:3 \"hardware_profil\" is no key of resources (did you mean hardware_profile?)",
          HasSubstr("s.yaml:10:3 must not be negative"), HasSubstr("s.yaml:11:3"),
          "s.yaml:13:1 \"vlm\" is no engine; there are ray, kserve, kubernetes, vllm (did you mean "
          "vllm?)"));
}

struct Wrong {
  std::string_view text;
  std::string_view problem;
};

TEST(ServingFile, WhatIsWrongIsToldWhereItStands) {
  const Wrong kWrong[] = {
      {"", "s.yaml:1:1 holds no model"},
      {"[]", "s.yaml:1:1 a model is expected, not []"},
      {"models: 3", "s.yaml:1:1 must be a list, not 3"},
      {"models: []\nname: a", "s.yaml:2:1 \"name\" is no key of a list of models"},
      {"name: a", "s.yaml:1:1 engine is missing"},
      {"{name: a, engine: ray, import_path: app}", "s.yaml:1:24 \"app\" is no import path"},
      {"{name: a, engine: ray, import_path: 'a:b:c'}", "is no import path"},
      {"{name: a, engine: ray, import_path: 'm:a', image: x}",
       "engine ray has no image: it is of kserve, kubernetes, vllm"},
      {"{name: a, engine: vllm, model: x, route: /a}", "engine vllm has no route: it is of ray"},
      {"{name: a, engine: vllm, model: x, autoscaling: {min: 1, max: 2}}",
       "engine vllm has no autoscaling"},
      {"{name: a, engine: vllm, model: -x}", "begins with '-'"},
      {"{name: a, engine: vllm, model: x, args: [-tp, '2']}", "-tp follows from"},
      {"{name: a, engine: vllm, model: x, args: ['--port=1']}", "--port follows from"},
      {"{name: a, engine: kserve, image: x}", "command is missing, which engine kserve needs"},
      {"{name: a, engine: kubernetes, image: x, command: [y]}", "port is missing"},
      {"{name: a, engine: kubernetes, image: x, command: y, port: 1}", "must be a list of texts"},
      {"{name: a, engine: kubernetes, image: x, command: [1], port: 1}",
       "s.yaml:1:51 must be a text, not 1"},
      {"{name: a, engine: kubernetes, image: x, command: [y], port: 70000}", "must be 1 to 65535"},
      {"{name: a, engine: ray, import_path: m:a, route: chat}", "is no route"},
      {"{name: a, engine: ray, import_path: m:a, route: /chat/}", "is no route"},
      {"{name: a, engine: ray, import_path: m:a, replicas: 1, autoscaling: {min: 1, max: 2}}",
       "stands beside replicas"},
      {"{name: a, engine: ray, import_path: m:a, autoscaling: {min: 3, max: 2}}",
       "min 3 is more than max 2"},
      {"{name: a, engine: ray, import_path: m:a, autoscaling: {min: 1}}", "max is missing"},
      {"{name: a, engine: ray, import_path: m:a, autoscaling: {min: 1, max: 2, targt: 3}}",
       "did you mean target?"},
      {"{name: a, engine: ray, import_path: m:a, args: [x]}",
       "must be names and values for the application"},
      {"{name: a, engine: ray, import_path: m:a, resources: big}", "must be names and values"},
      {"{name: a, engine: ray, import_path: m:a, resources: {hardware_profile: ''}}", "is empty"},
      {"{name: a, engine: ray, import_path: m:a, resources: {hardware_profile: 7}}",
       "must be a text"},
      {"{name: a, engine: ray, import_path: m:a, resources: {hardware_profile: Big}}",
       "s.yaml:1:54"},
      {"{name: a, engine: ray, import_path: m:a, resources: {gpus: 1}}", "did you mean gpu?"},
      {"{name: a, engine: ray, import_path: m:a, resources: {gpu: 0.5}}", "is not a whole number"},
      {"{name: a, engine: ray, import_path: m:a, resources: {gpu: 1, gpu_fraction: 1.5}}",
       "must be 0.001 to 1"},
      {"{name: a, engine: ray, import_path: m:a, resources: {accelerator_family: nvida}}",
       "did you mean nvidia?"},
      {"{name: a, engine: ray, import_path: m:a, resources: {gpu_fraction: 0.5}}",
       "has no meaning for the cpu family"},
      {"{name: a, engine: ray, import_path: m:a, resources: {accelerator_family: cpu, gpu: 1}}",
       "must be 0 for the cpu family"},
      {"{name: a, engine: ray, import_path: m:a}\n---\n{name: a, engine: vllm, model: x}",
       "s.yaml:3:1 the name a stands twice (first at s.yaml:1:1)"},
      {"{name: a, engine: ray, import_path: m:a, route: /x}\n---\n{name: b, engine: ray, "
       "import_path: m:b, route: /x}",
       "the route /x stands twice"},
      {"a: &x 1", "anchors are not read"},
  };
  for (const Wrong& row : kWrong) {
    const auto said = problems(row.text);
    EXPECT_THAT(said, testing::Contains(HasSubstr(std::string(row.problem))))
        << row.text << "\n"
        << testing::PrintToString(said);
  }
}

TEST(ServingFile, AFieldThatIsWrongByItselfIsToldEvenBesideAProfile) {
  EXPECT_THAT(problems("name: a\nengine: ray\nimport_path: m:a\nresources:\n  hardware_profile: "
                       "p\n  gpu: many\n"),
              ElementsAre(HasSubstr("s.yaml:6:3 \"many\" is not a whole number")));
}

// --- sizes

ServedModel model_with(std::string_view resources) {
  return read(fmt::format("name: a\nengine: ray\nimport_path: m:a\nresources: {}\n", resources))
      .at(0);
}

TEST(ServingSize, AProfileAloneIsTakenAsItIs) {
  const Shape profile = half_a100();
  EXPECT_EQ(size_model(model_with("{hardware_profile: p}"), &profile).value(), profile);
}

TEST(ServingSize, ExplicitFieldsWinFieldByField) {
  const Shape profile = half_a100();
  Shape expected = profile;
  expected.cpu_milli = 8500;
  EXPECT_EQ(size_model(model_with("{hardware_profile: p, cpu: 8.5}"), &profile).value(), expected);
  expected = profile;
  expected.gpu_fraction_milli = 1000;
  expected.gpu_count = 2;
  EXPECT_EQ(
      size_model(model_with("{hardware_profile: p, gpu: 2, gpu_fraction: 1}"), &profile).value(),
      expected);
  // equal to the profile's, and still given
  EXPECT_EQ(size_model(model_with("{hardware_profile: p, cpu: 4}"), &profile).value(), profile);
  // null takes the profile's word away
  expected = profile;
  expected.accelerator_model_hint.clear();
  EXPECT_EQ(size_model(model_with("{hardware_profile: p, accelerator_model_hint: null}"), &profile)
                .value(),
            expected);
}

struct OwnFields {
  std::string_view resources;
  Resources expected;
};

TEST(ServingSize, FieldsWithoutAProfileSayEverything) {
  const OwnFields kCases[] = {
      {"{}", {}},
      {"{cpu: 2}", {Family::cpu, "", 0, 1000, "", 2000, 0, 1}},
      {"{gpu: 1}", {Family::nvidia, "", 1, 1000, "", 0, 0, 1}},
      {"{gpu: 2, accelerator_model_hint: MI300X}", {Family::amd, "MI300X", 2, 1000, "", 0, 0, 1}},
      {"{gpu: 1, accelerator_family: intel-gaudi}",
       {Family::intel_gaudi, "", 1, 1000, "", 0, 0, 1}},
      {"{gpu: 1, gpu_fraction: 0.25, memory_gb: 16}",
       {Family::nvidia, "", 1, 250, "", 0, 16 * kGiB, 1}},
      {"{gpu: 4, mig_profile: 1g.10gb, nodes: 2}",
       {Family::nvidia, "", 4, 1000, "1g.10gb", 0, 0, 2}},
  };
  for (const OwnFields& row : kCases) {
    const auto shape = size_model(model_with(row.resources), nullptr);
    ASSERT_TRUE(shape) << row.resources;
    EXPECT_EQ(resources_of(*shape), row.expected) << row.resources;
  }
}

TEST(ServingSize, WhatContradictsTheProfileIsToldWhereItStands) {
  const Shape profile = half_a100();
  const auto shape =
      size_model(model_with("{hardware_profile: p, mig_profile: 1g.10gb}"), &profile);
  ASSERT_FALSE(shape);
  ASSERT_EQ(shape.error().problems.size(), 1U);
  EXPECT_EQ(shape.error().problems[0].where, "s.yaml:4:13");
  EXPECT_THAT(shape.error().problems[0].message,
              HasSubstr("gpu_fraction must be 1 together with mig_profile"));
  const auto family =
      size_model(model_with("{hardware_profile: p, accelerator_family: amd}"), &profile);
  ASSERT_FALSE(family);
  EXPECT_THAT(family.error().problems[0].message,
              HasSubstr("A100-80GB is a device of the nvidia family"));
}

}  // namespace
}  // namespace exa
