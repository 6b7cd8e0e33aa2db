// What Ray Serve, KServe and vLLM are given.
#include "launch/serving.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/process.h"
#include "base/quote.h"
#include "base/yaml.h"
#include "hardware/catalogue.h"
#include "launch/random_shapes_for_test.h"
#include "launch/renderers.h"
#include "launch/schema_for_test.h"

namespace exa {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const ServingLaunch kLaunch{"vision", "s-1", {}};

json::value at(const json::value& value, std::string_view pointer) {
  boost::system::error_code error;
  const json::value* found = value.find_pointer(pointer, error);
  return found == nullptr ? json::value("nothing there") : *found;
}

SizedModel sized(std::string_view keys, Resources resources = {}) {
  const auto models = read_serving_file(fmt::format("{{name: chat, {}}}", keys), "s.yaml");
  EXPECT_TRUE(models) << models.error().problems.at(0).message;
  return {models->at(0), std::move(resources)};
}
SizedModel on_ray(Resources resources) {
  return sized("engine: ray, import_path: 'chat:app', deployment: Chat", std::move(resources));
}

json::value document_of(const Result<Rendered>& rendered) {
  EXPECT_TRUE(rendered) << rendered.error().problems.at(0).where
                        << rendered.error().problems.at(0).message;
  if (!rendered) return nullptr;
  const auto documents = parse_yaml(rendered->files.at(0).text, rendered->files.at(0).name);
  EXPECT_TRUE(documents);
  return documents->at(0).value;
}

json::value ray_options(Resources resources) {
  const SizedModel model = on_ray(std::move(resources));
  return at(document_of(render_ray({&model, 1})),
            "/applications/0/deployments/0/ray_actor_options");
}

std::vector<std::string> words(const CommandLine& command) {
  std::vector<std::string> list;
  for (const Word& word : command) {
    std::string text;
    for (const auto& part : word.parts) {
      const auto* literal = std::get_if<std::string>(&part);
      text += literal ? *literal : std::get<RunTime>(part) == RunTime::head_node ? "HEAD" : "RANK";
    }
    list.push_back(text);
  }
  return list;
}

std::vector<std::string> places(const Result<Rendered>& rendered) {
  EXPECT_FALSE(rendered);
  std::vector<std::string> list;
  if (!rendered)
    for (const Problem& problem : rendered.error().problems) list.push_back(problem.where);
  return list;
}

// --- Ray Serve

TEST(RayServe, ReadsLikeHandWritten) {
  std::vector<SizedModel> models = {
      sized(
          "engine: ray, import_path: 'chat.app:build', deployment: Chat, "
          "autoscaling: {min: 0, max: 4, target: 8}, env: {PRICE: $5}, args: {model: org/chat-8b}",
          {Family::nvidia, "A100-80GB", 1, 500, "", 8000, 32 * kGiB, 1}),
      sized("engine: ray, import_path: 'rank:app', replicas: 2",
            {Family::intel_gaudi, "Gaudi-2", 2, 1000, "", 500, 0, 1}),
      sized("engine: ray, import_path: 'small:app'")};
  models[1].model.name = models[1].model.deployment = "rank";
  models[2].model.name = models[2].model.deployment = "small";
  models[1].model.route = "/rank";
  models[2].model.route = "/small";
  const auto rendered = render_ray(models);
  ASSERT_TRUE(rendered);
  expect_file("ray/serve.yaml", with_notes(*rendered));
  EXPECT_EQ(against_schema("ray_serve_schema.json", document_of(rendered)), "");
}

struct RayCase {
  Resources resources;
  std::string_view options;  // of the actor
};

TEST(RayServe, ResourcesAreInRaysUnitsAndOnlyWhatIsAsked) {
  const RayCase kCases[] = {
      {{Family::nvidia, "", 1, 500, "", 0, 0, 1}, R"({"num_gpus":0.5})"},
      {{Family::nvidia, "", 1, 333, "", 500, 0, 1}, R"({"num_cpus":0.5,"num_gpus":0.333})"},
      {{Family::nvidia, "", 2, 1000, "", 0, 0, 1}, R"({"num_gpus":2})"},
      {{Family::nvidia, "", 4, 250, "", 0, 0, 1}, R"({"num_gpus":1})"},
      {{Family::nvidia, "", 4, 500, "", 0, 0, 1}, R"({"num_gpus":2})"},
      {{Family::cpu, "", 0, 1000, "", 4000, 32 * kGiB, 1},
       R"({"num_cpus":4,"memory":34359738368})"},
      {{Family::nvidia, "A100-80GB", 1, 1000, "", 0, 0, 1},
       R"({"num_gpus":1,"accelerator_type":"A100"})"},
      {{Family::nvidia, "H100", 8, 1000, "", 0, 0, 1},
       R"({"num_gpus":8,"accelerator_type":"H100"})"},
      {{Family::nvidia, "A30", 1, 1000, "", 0, 0, 1}, R"({"num_gpus":1})"},
      {{Family::nvidia, "nvidia", 1, 1000, "", 0, 0, 1}, R"({"num_gpus":1})"},
      {{Family::amd, "MI300X", 1, 1000, "", 0, 0, 1},
       R"({"num_gpus":1,"accelerator_type":"AMD-Instinct-MI300X-OAM"})"},
      {{Family::intel_gaudi, "Gaudi-3", 8, 1000, "", 0, 0, 1},
       R"({"resources":{"HPU":8},"accelerator_type":"Intel-GAUDI"})"},
      {{Family::tpu, "TPU-v5e", 4, 1000, "", 0, 0, 1},
       R"({"resources":{"TPU":4},"accelerator_type":"TPU-V5LITEPOD"})"},
      // a hint without devices says nothing to Ray
      {{Family::nvidia, "A100", 0, 1000, "", 1000, 0, 1}, R"({"num_cpus":1})"},
  };
  for (const RayCase& row : kCases) EXPECT_EQ(to_text(ray_options(row.resources)), row.options);
}

TEST(RayServe, NothingAskedIsNothingWritten) {
  const SizedModel model = on_ray({});
  const json::value deployment =
      at(document_of(render_ray({&model, 1})), "/applications/0/deployments/0");
  EXPECT_EQ(to_text(deployment), R"({"name":"Chat","num_replicas":1})");
}

TEST(RayServe, AFractionAboveOneIsRefusedByRay) {
  const SizedModel model = on_ray({Family::nvidia, "", 3, 500, "", 0, 0, 1});
  const auto rendered = render_ray({&model, 1});
  ASSERT_FALSE(rendered);
  EXPECT_EQ(rendered.error().problems.at(0).where, "/chat/resources/gpu_fraction");
  EXPECT_THAT(rendered.error().problems.at(0).message, HasSubstr("3 × 0.5 = 1.5"));
}

TEST(RayServe, EveryProblemOfEveryModelIsToldAtOnce) {
  std::vector<SizedModel> models = {on_ray({Family::nvidia, "", 3, 500, "", 0, 0, 2}),
                                    on_ray({Family::nvidia, "", 1, 1000, "1g.10gb", 0, 0, 1}),
                                    on_ray({Family::tpu, "", 3, 1000, "", 0, 0, 1}),
                                    on_ray({Family::intel_gaudi, "", 1, 500, "", 0, 0, 1})};
  for (size_t i = 0; i < models.size(); ++i)
    models[i].model.name = std::string(1, static_cast<char>('a' + i));
  EXPECT_THAT(
      places(render_ray(models)),
      ElementsAre("/a/resources/gpu_fraction", "/a/resources/nodes", "/b/resources/mig_profile",
                  "/c/resources/gpu", "/d/resources/gpu_fraction"));
}

TEST(RayServe, WhatRayDoesNotTellApartIsNoted) {
  const SizedModel wider = on_ray({Family::nvidia, "A100-80GB", 1, 1000, "", 1000, 0, 1});
  EXPECT_THAT(render_ray({&wider, 1})->notes,
              Contains(HasSubstr("type A100 does not tell A100-80GB")));
  const SizedModel exact = on_ray({Family::nvidia, "A100", 1, 1000, "", 1000, 0, 1});
  EXPECT_THAT(render_ray({&exact, 1})->notes, ElementsAre(HasSubstr("replaces everything")));
  const SizedModel unknown = on_ray({Family::nvidia, "RTX-4090", 1, 1000, "", 1000, 0, 1});
  EXPECT_THAT(render_ray({&unknown, 1})->notes,
              Contains(HasSubstr("no accelerator type for RTX-4090")));
}

TEST(RayServe, TextsReachTheReplicaByteForByteOrAreRefused) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::mt19937_64 random(seed);
  int refused = 0;
  for (int round = 0; round < 2000; ++round) {
    SizedModel model = on_ray({});
    const std::string text = random_text(random, 3);
    const std::string argument = random_text(random, 6);
    model.model.environment = {{"A", text}};
    model.model.application = {{"key", argument}};
    const auto rendered = render_ray({&model, 1});
    if (!rendered) {
      ++refused;
      EXPECT_THAT(places(rendered), ElementsAre("/chat/env/A"));
      EXPECT_NE(text.find('$'), std::string::npos);
      continue;
    }
    const json::value application = at(document_of(rendered), "/applications/0");
    ASSERT_EQ(at(application, "/runtime_env/env_vars/A"), json::value(text));
    ASSERT_EQ(at(application, "/args/key"), json::value(argument));
    // as os.path.expandvars finds them
    ASSERT_EQ(text.find("${"), std::string::npos);
    ASSERT_EQ(text.find("$H"), std::string::npos);
  }
  EXPECT_GT(refused, 50);
  EXPECT_LT(refused, 1500);
}

TEST(RayServe, EveryTypeOfTheTableIsOneOfRays) {
  for (const DeviceModel& model : catalogue()) {
    if (model.family == Family::other) continue;
    const int64_t gpus = 1;
    const SizedModel one = on_ray({model.family, std::string(model.name), gpus, 1000, "", 0, 0, 1});
    EXPECT_EQ(against_schema("ray_serve_schema.json", document_of(render_ray({&one, 1}))), "")
        << model.name;
  }
}

// The schema is not one that lets all pass.
TEST(RayServe, TheSchemaRefusesWhatRayRefuses) {
  const char* kBad[] = {R"({"num_gpus":1.5})",
                        R"({"num_gpus":-1})",
                        R"({"gpu":1})",
                        R"({"memory":"32G"})",
                        R"({"accelerator_type":"A100-80GB"})",
                        R"({"num_cpus":null})"};
  for (const char* options : kBad) {
    const json::value document = json::object{
        {"applications",
         json::array{json::object{
             {"import_path", "m:a"},
             {"deployments",
              json::array{json::object{
                  {"name", "x"}, {"ray_actor_options", parse_json(options, "x").value()}}}}}}}};
    EXPECT_NE(against_schema("ray_serve_schema.json", document), "") << options;
  }
}

// --- KServe

TEST(KServe, ReadsLikeHandWritten) {
  const SizedModel model = sized(
      "engine: kserve, image: registry.local/embed:3, command: [python3, -m, embed], "
      "autoscaling: {min: 0, max: 4, target: 8}, env: {PRICE: $5}",
      {Family::nvidia, "L4", 1, 1000, "", 4000, 16 * kGiB, 1});
  const auto rendered = render_kserve(model, kLaunch);
  ASSERT_TRUE(rendered);
  expect_file("kserve/inference-service.yaml", with_notes(*rendered));
  EXPECT_EQ(against_schema("kserve_schema.json", document_of(rendered)), "");
}

TEST(KServe, WhatItHasNoWordForIsRefused) {
  const SizedModel model =
      sized("engine: kserve, image: x, command: [y]", {Family::nvidia, "", 1, 1000, "", 0, 0, 2});
  const auto rendered = render_kserve(model, kLaunch);
  ASSERT_FALSE(rendered);
  EXPECT_EQ(rendered.error().problems.at(0).where, "/chat/resources/nodes");
  ServingLaunch limited = kLaunch;
  limited.options.time_limit = hours(1);
  limited.options.partition = "gpu";
  const SizedModel one = sized("engine: kserve, image: x, command: [y]");
  EXPECT_THAT(places(render_kserve(one, limited)),
              ElementsAre("/chat/options/partition", "/chat/options/time_limit"));
}

TEST(KServe, RandomModelsFitTheSchema) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::mt19937_64 random(seed);
  int rendered_ones = 0;
  for (int round = 0; round < 500; ++round) {
    SizedModel model = sized("engine: kserve, image: registry.local/embed:3, command: [serve]",
                             resources_of(random_shape(random)));
    model.model.words.push_back(random_text(random, 5));
    const auto rendered = render_kserve(model, kLaunch);
    if (!rendered) continue;
    ++rendered_ones;
    ASSERT_EQ(against_schema("kserve_schema.json", document_of(rendered)), "");
  }
  EXPECT_GT(rendered_ones, 50);
}

// --- vLLM

TEST(Vllm, DevicesOfANodeAreTensorParallelAndNodesPipelineParallel) {
  const SizedModel model = sized("engine: vllm, model: org/large, args: [--max-model-len, '32768']",
                                 {Family::nvidia, "H100", 8, 1000, "", 0, 0, 1});
  EXPECT_THAT(words(vllm_command(model.model, model.resources)),
              ElementsAre("vllm", "serve", "org/large", "--served-model-name", "chat", "--port",
                          "8000", "--tensor-parallel-size", "8", "--pipeline-parallel-size", "1",
                          "--max-model-len", "32768"));
}

TEST(Vllm, ThePartOfADeviceIsThePartOfItsMemory) {
  const SizedModel half =
      sized("engine: vllm, model: m", {Family::nvidia, "", 1, 500, "", 0, 0, 1});
  EXPECT_THAT(words(vllm_command(half.model, half.resources)), Contains("0.45"));
  const SizedModel least = sized("engine: vllm, model: m", {Family::nvidia, "", 1, 1, "", 0, 0, 1});
  EXPECT_THAT(words(vllm_command(least.model, least.resources)), Contains("0.001"));
}

// The line that the shell runs, as the nodes of a batch job run it.
TEST(Vllm, OnSeveralNodesEveryOneRunsItAndTheFirstOneAnswers) {
  const SizedModel model = sized("engine: vllm, model: org/large, args: ['it''s $HOME', '']",
                                 {Family::nvidia, "", 8, 1000, "", 0, 0, 2});
  const CommandLine command = vllm_command(model.model, model.resources);
  EXPECT_THAT(problems_of(command, {}), IsEmpty());
  EXPECT_TRUE(mentions(command, RunTime::head_node));
  for (const std::string rank : {"0", "1"}) {
    std::vector<std::string> argv = words(command);
    for (std::string& word : argv)
      if (word == "RANK") word = rank;
    // in the place of vllm: what prints its arguments
    const auto program = std::find(argv.begin() + 4, argv.end(), "vllm");
    ASSERT_NE(program, argv.end());
    *program = "printf";
    program[1] = "[%s]";
    const auto finished = run_command({.argv = argv});
    ASSERT_TRUE(finished);
    EXPECT_EQ(finished->out,
              fmt::format(
                  "[org/large][--served-model-name][chat][--port][8000][--tensor-parallel-size][8]"
                  "[--pipeline-parallel-size][2][--nnodes][2][--node-rank][{}][--master-addr][HEAD]"
                  "[it's $HOME][]{}",
                  rank, rank == "0" ? "" : "[--headless]"));
  }
}

struct VllmRefused {
  Resources resources;
  std::string_view where;
};

TEST(Vllm, WhatItCannotDoIsRefused) {
  const VllmRefused kRefused[] = {
      {{Family::nvidia, "", 0, 1000, "", 0, 0, 1}, "/chat/resources/gpu"},
      {{Family::intel_gaudi, "", 1, 1000, "", 0, 0, 1}, "/chat/resources/accelerator_family"},
      {{Family::tpu, "", 1, 1000, "", 0, 0, 1}, "/chat/resources/accelerator_family"},
      {{Family::nvidia, "", 2, 1000, "1g.10gb", 0, 0, 1}, "/chat/resources/mig_profile"},
      {{Family::nvidia, "", 2, 500, "", 0, 0, 1}, "/chat/resources/gpu_fraction"},
  };
  for (const VllmRefused& row : kRefused) {
    const auto launch = launch_of(sized("engine: vllm, model: m", row.resources), kLaunch);
    ASSERT_FALSE(launch) << row.where;
    EXPECT_EQ(launch.error().problems.at(0).where, row.where);
  }
}

TEST(ServingLaunch, AModelIsALaunchOfAService) {
  ServingLaunch launch = kLaunch;
  launch.options.name_space = "research";
  const SizedModel model = sized(
      "engine: vllm, model: org/m, image: docker.io/vllm/vllm-openai:v0.11.0, replicas: 3, env: "
      "{A: b}",
      {Family::nvidia, "", 2, 1000, "", 0, 0, 1});
  const auto spec = launch_of(model, launch);
  ASSERT_TRUE(spec);
  EXPECT_EQ(spec->kind, Surface::serving);
  EXPECT_EQ(spec->replicas, 3);
  EXPECT_EQ(spec->port, 8000);
  const auto rendered = render_kubernetes(*spec);
  ASSERT_TRUE(rendered);
  expect_file("vllm/kubernetes.yaml", with_notes(*rendered));
}

// --- Ray Serve as a program

TEST(RayServe, AloneItRunsFromItsOwnConfiguration) {
  SizedModel model = on_ray({Family::nvidia, "", 1, 500, "", 8000, 32 * kGiB, 1});
  const auto alone = render_ray_run(model, 0);
  ASSERT_TRUE(alone);
  EXPECT_THAT(alone->command, ElementsAre("serve", "run", "--address=local", "serve_config.yaml"));
  EXPECT_THAT(alone->notes, ElementsAre(HasSubstr("chat: Ray is not asked for the 32 GiB")));
  // what is rendered without the memory
  model.resources.memory_bytes = 0;
  const auto rendered = render_ray({&model, 1});
  EXPECT_EQ(alone->files.at(0).text, rendered->files.at(0).text);
  const auto at_a_port = render_ray_run(model, 8123);
  EXPECT_EQ(at(document_of(at_a_port), "/http_options/port"), json::value(8123));
}

TEST(RayServe, HalvesOfThreeAreRefusedAsAProgramToo) {
  const auto refused = render_ray_run(on_ray({Family::nvidia, "", 3, 500, "", 0, 0, 1}), 0);
  EXPECT_THAT(places(refused), ElementsAre("/chat/resources/gpu_fraction"));
}

// --- words of one target alone

TEST(Serving, WhatOneTargetAloneKnowsIsRefusedByTheOthers) {
  LaunchSpec spec = serving_for_test();
  spec.kserve = KServe{3, 0};
  const auto has = [](const Result<Rendered>& rendered, const std::string& where) {
    EXPECT_THAT(places(rendered), Contains(where));
  };
  for (const auto render :
       {render_slurm, render_flux, render_local, render_kubernetes, render_compose})
    has(render(spec), "/kserve");
  spec.files = {{"a", "b"}};
  EXPECT_THAT(places(render_kserve(spec)), ElementsAre("/files"));
  spec.kserve.reset();
  has(render_compose(spec), "/files");
}

}  // namespace
}  // namespace exa
