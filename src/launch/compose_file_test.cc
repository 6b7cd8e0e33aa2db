// Compose files, and what docker-compose itself reads in them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/process.h"
#include "base/yaml.h"
#include "launch/random_shapes_for_test.h"
#include "launch/renderers.h"

namespace exa {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

json::value at(const json::value& value, std::string_view pointer) {
  boost::system::error_code error;
  const json::value* found = value.find_pointer(pointer, error);
  return found == nullptr ? json::value("nothing there") : *found;
}

json::value file_of(const LaunchSpec& spec) {
  const auto rendered = render_compose(spec);
  EXPECT_TRUE(rendered) << (rendered ? "" : rendered.error().message);
  if (!rendered) return nullptr;
  const auto documents = parse_yaml(rendered->files.at(0).text, "compose.yaml");
  EXPECT_TRUE(documents && documents->size() == 1);
  return documents->at(0).value;
}

json::value service_of(const LaunchSpec& spec) {
  return at(file_of(spec), "/services/" + job_name(spec));
}

// Tests run beside each other.
std::string own_file() {
  return fmt::format("{}/compose-{}.yaml", testing::TempDir(), ::getpid());
}

// What docker-compose has after it read the file: it prints it with '$' doubled again.
json::value as_compose_reads(const std::string& text) {
  const std::string path = own_file();
  std::ofstream(path, std::ios::binary) << text;
  Command command;
  command.argv = {"docker-compose", "--project-name", "x", "--file", path, "config"};
  // a value of its own environment must not come in
  command.extra_env = {{"HOME", "/wrong"}, {"NAME", "wrong"}};
  const auto finished = run_command(command);
  EXPECT_TRUE(finished) << finished.error().message;
  if (!finished) return nullptr;
  EXPECT_EQ(finished->exit_code, 0) << finished->err << text;
  YamlLimits limits;
  limits.each.max_nodes = 100'000;
  const auto documents = parse_yaml(finished->out, "docker-compose config", limits);
  EXPECT_TRUE(documents) << documents.error().message << documents.error().problems.at(0).message
                         << finished->out;
  return documents && !documents->empty() ? documents->at(0).value : json::value();
}

// The services as docker-compose's own code has them before it asks Docker for anything.
json::array as_compose_would_run(const std::string& text) {
  const std::string path = own_file();
  std::ofstream(path, std::ios::binary) << text;
  constexpr const char* kLoad =
      "import json, sys\n"
      "from compose.config import config\n"
      "from compose.config.environment import Environment\n"
      "environment = Environment({'HOME': '/wrong', 'NAME': 'wrong'})\n"
      "details = config.find('.', [sys.argv[1]], environment)\n"
      "keys = ('name', 'entrypoint', 'environment', 'working_dir')\n"
      "print(json.dumps([{k: s[k] for k in keys} for s in config.load(details).services]))\n";
  Command command;
  command.argv = {"/usr/bin/python3", "-c", kLoad, path};
  const auto finished = run_command(command);
  EXPECT_TRUE(finished) << finished.error().message;
  if (!finished) return {};
  EXPECT_EQ(finished->exit_code, 0) << finished->err;
  const auto read = parse_json(finished->out, "docker-compose", tool_output_limits());
  EXPECT_TRUE(read) << finished->out;
  return read ? read->as_array() : json::array();
}

LaunchSpec with(LaunchSpec spec, Resources resources) {
  spec.resources = std::move(resources);
  return spec;
}

std::vector<std::pair<std::string, LaunchSpec>> examples() {
  LaunchSpec serving = serving_for_test();
  serving.replicas = 1;
  LaunchSpec training = training_for_test();
  training.options = {};
  return {
      {"workbench", workbench_for_test()},
      {"serving", serving},
      {"training", with(training, {Family::nvidia, "H100", 8, 1000, "", 96'500, 512 * kGiB, 1})},
      {"amd", with(workbench_for_test(), {Family::amd, "MI300X", 2, 1000, "", 500, 1000, 1})},
      {"gaudi", with(workbench_for_test(), {Family::intel_gaudi, "", 8, 1000, "", 0, 0, 1})},
      {"cpu", with(workbench_for_test(), {Family::cpu, "", 0, 1000, "", 500, 64 * kMiB, 1})}};
}

TEST(ComposeFile, ReadsLikeHandWrittenAndComposeReadsIt) {
  for (const auto& [name, spec] : examples()) {
    const auto rendered = render_compose(spec);
    ASSERT_TRUE(rendered) << name << ": " << rendered.error().message;
    expect_file(fmt::format("compose/{}.yaml", name), with_notes(*rendered));
    const json::value read = as_compose_reads(rendered->files.at(0).text);
    EXPECT_NE(at(read, "/services/" + job_name(spec)), json::value("nothing there"));
  }
}

TEST(ComposeFile, AmountsArriveInComposeAsTheyWereAsked) {
  const json::value read =
      as_compose_reads(render_compose(with(workbench_for_test(),
                                           {Family::nvidia, "", 3, 1000, "", 1250, 32 * kGiB, 1}))
                           ->files.at(0)
                           .text);
  const json::value service = at(read, "/services/exa-workbench-notebook");
  EXPECT_EQ(at(service, "/deploy/resources/limits/cpus"), 1.25);
  EXPECT_EQ(at(service, "/deploy/resources/limits/memory"), "32g");
  EXPECT_EQ(at(service, "/deploy/resources/reservations/devices/0/count"), 3);
  EXPECT_EQ(at(service, "/deploy/resources/reservations/devices/0/driver"), "nvidia");
  EXPECT_EQ(at(service, "/deploy/resources/reservations/devices/0/capabilities/0"), "gpu");
}

TEST(ComposeFile, PortsAreOfThisMachineAlone) {
  EXPECT_EQ(at(service_of(workbench_for_test()), "/ports"),
            (json::value(json::array{"127.0.0.1:8888:8888"})));
}

// Docker has room for some thirty networks.
TEST(ComposeFile, NoNetworkIsMadeForIt) {
  EXPECT_EQ(at(service_of(workbench_for_test()), "/network_mode"), json::value("bridge"));
  EXPECT_EQ(at(file_of(workbench_for_test()), "/networks"), json::value("nothing there"));
}

TEST(ComposeFile, EveryStartOfALaunchIsOfOneProject) {
  LaunchSpec spec = workbench_for_test();
  const auto first = render_compose(spec)->command;
  spec.id = "w-2";
  EXPECT_EQ(render_compose(spec)->command, first);
  EXPECT_THAT(first, Contains("exa_vision_workbench_notebook"));
}

TEST(ComposeFile, AVolumeHasANameAndNoSize) {
  const json::value file = file_of(workbench_for_test());
  EXPECT_EQ(at(file, "/volumes/home"), json::value(json::object()));
  EXPECT_EQ(at(service_of(workbench_for_test()), "/volumes/0/target"), "/home/jovyan");
  EXPECT_THAT(render_compose(workbench_for_test())->notes,
              Contains(HasSubstr("20 GiB are not enforced")));
}

TEST(ComposeFile, CardsThatAreHandedInByNameAreTheFirstOnesUnlessTheUserChose) {
  LaunchSpec spec = with(workbench_for_test(), {Family::amd, "", 2, 1000, "", 0, 0, 1});
  EXPECT_EQ(at(service_of(spec), "/environment/ROCR_VISIBLE_DEVICES"), "0,1");
  EXPECT_EQ(at(service_of(spec), "/devices/0"), "/dev/kfd:/dev/kfd");
  spec.environment.emplace_back("ROCR_VISIBLE_DEVICES", "6,7");
  EXPECT_EQ(at(service_of(spec), "/environment/ROCR_VISIBLE_DEVICES"), "6,7");
  spec = with(workbench_for_test(), {Family::intel_gaudi, "", 1, 1000, "", 0, 0, 1});
  EXPECT_EQ(at(service_of(spec), "/environment/HABANA_VISIBLE_DEVICES"), "0");
  EXPECT_EQ(at(service_of(spec), "/runtime"), "habana");
}

TEST(ComposeFile, TheContainerHasTheLeastRights) {
  const json::value service = service_of(workbench_for_test());
  EXPECT_EQ(at(service, "/cap_drop/0"), "ALL");
  EXPECT_EQ(at(service, "/security_opt/0"), "no-new-privileges:true");
  EXPECT_EQ(at(service, "/labels/exa.launch"), "workbench vision/notebook w-1");
}

TEST(ComposeFile, TheContainerIsItsOwnHead) {
  LaunchSpec spec = workbench_for_test();
  spec.command = {"run", Word{RunTime::head_node, ":1/", RunTime::node_rank, "/", RunTime::job_id}};
  EXPECT_EQ(at(service_of(spec), "/entrypoint/1"), "exa-workbench-notebook:1/0/w-1");
  EXPECT_EQ(at(service_of(spec), "/hostname"), "exa-workbench-notebook");
}

struct Refused {
  std::string_view where;
  void (*change)(LaunchSpec&);
};

TEST(ComposeFile, WhatItHasNoWordForIsRefusedByName) {
  constexpr Refused kRefused[] = {
      {"/resources/nodes", [](LaunchSpec& s) { s.resources.nodes = 2; }},
      {"/replicas", [](LaunchSpec& s) { s.replicas = 2; }},
      {"/resources/mig_profile", [](LaunchSpec& s) { s.resources.mig_profile = "1g.10gb"; }},
      {"/resources/gpus", [](LaunchSpec& s) { s.resources.family = Family::tpu; }},
      {"/options/partition", [](LaunchSpec& s) { s.options.partition = "gpu"; }},
      {"/options/name_space", [](LaunchSpec& s) { s.options.name_space = "x"; }},
      {"/options/time_limit", [](LaunchSpec& s) { s.options.time_limit = hours(1); }},
      {"/image", [](LaunchSpec& s) { s.image = ""; }},
      {"/volume/mount", [](LaunchSpec& s) { s.volume.mount = "home"; }},
      {"/argv/0", [](LaunchSpec& s) { s.command = {"\xff"}; }},
  };
  for (const Refused& row : kRefused) {
    LaunchSpec spec = workbench_for_test();
    row.change(spec);
    const auto rendered = render_compose(spec);
    ASSERT_FALSE(rendered) << row.where;
    EXPECT_EQ(rendered.error().code, Code::invalid_input);
    EXPECT_THAT(rendered.error().problems,
                ElementsAre(testing::Field(&Problem::where, std::string(row.where))));
    EXPECT_NE(rendered.error().problems[0].suggestion + rendered.error().problems[0].message, "");
  }
}

// Many services in one file, so that the program is started once.
TEST(ComposeFile, TextsReachTheProgramByteForByteThroughComposeItself) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::mt19937_64 random(seed);
  json::object services;
  std::map<std::string, LaunchSpec> specs;
  for (int i = 0; i < 300; ++i) {
    LaunchSpec spec =
        with(workbench_for_test(), random() % 2 ? Resources{} : workbench_for_test().resources);
    spec.command = {"program"};
    for (int k = 0; k < 5; ++k) spec.command.emplace_back(random_text(random, 8));
    spec.environment = {{"A", random_text(random, 8)}, {"NAME", random_text(random, 8)}};
    spec.folder = "/" + std::to_string(i) + (random() % 2 ? "$HOME ${NAME}" : "");
    const std::string name = "s" + std::to_string(i);
    services[name] = service_of(spec);
    specs[name] = spec;
  }
  const json::array read = as_compose_would_run(
      to_yaml(json::object{{"version", "3.9"},
                           {"services", services},
                           {"volumes", json::object{{"home", json::object()}}}}));
  ASSERT_EQ(read.size(), specs.size());
  for (const json::value& service : read) {
    const LaunchSpec& spec = specs.at(std::string(text_or(service, "name", "")));
    json::array words;
    for (const Word& word : spec.command) words.emplace_back(std::get<std::string>(word.parts[0]));
    ASSERT_EQ(at(service, "/entrypoint"), json::value(words));
    for (const auto& [key, value] : spec.environment)
      ASSERT_EQ(at(service, "/environment/" + key), json::value(value));
    ASSERT_EQ(at(service, "/working_dir"), json::value(spec.folder));
  }
}

}  // namespace
}  // namespace exa
