// Services from a file of models, as programs of this machine and as what Kubernetes keeps.
#include <fstream>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "api/testing.h"
#include "launch/renderers.h"

namespace exa {
namespace {

using testing::HasSubstr;

constexpr std::string_view kChat =
    "name: chat\nengine: ray\nimport_path: chat.app:build\nenv: {PRICE: \"5 $ 'x'\"}\n"
    "resources: {cpu: 1, memory_gb: 2}\n";

// A program in the place of Ray's: it says what it was told and stays.
constexpr std::string_view kServe = "#!/bin/sh\necho \"$@\"\ncat \"$3\"\nexec sleep 120\n";

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class Serving : public testing::Test {
 protected:
  std::filesystem::path folder() const { return exa.folder() / "launched" / "chat"; }

  json::object deploy(std::string_view file) const {
    return {{"name", "chat"}, {"file", file}, {"folder", folder().string()}};
  }
  // Where `serve` is found, or is not.
  json::array path(bool with_serve) const {
    const auto programs = exa.folder() / "programs";
    std::filesystem::create_directories(programs);
    if (with_serve) {
      std::ofstream(programs / "serve") << kServe;
      chmod((programs / "serve").c_str(), 0700);
    }
    return {fmt::format("PATH={}:/usr/bin:/bin", programs.string())};
  }
  json::value await(std::string_view state) {
    json::value seen;
    for (int tries = 0; tries < 300; ++tries) {
      seen = exa.ask("serving.show", {{"name", "chat"}});
      if (seen.at("state") == json::value(state)) return seen;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    ADD_FAILURE() << "it is not " << state << " but " << to_text(seen);
    return seen;
  }
  size_t leases() { return exa.ask("lease.list", {}).at("items").as_array().size(); }
  std::string refused(json::object args) {
    const Reply reply = exa.call("serving.deploy", args);
    EXPECT_GE(reply.status, 400) << reply.body;
    EXPECT_EQ(leases(), 0u);
    EXPECT_EQ(exa.call("serving.show", {{"name", "chat"}}).status, 404);
    return reply.body;
  }

  TestExa exa;
};

TEST_F(Serving, AModelOfRayRunsAsServeWithItsConfiguration) {
  json::object args = deploy(kChat);
  args["env"] = path(true);
  args["port"] = 8123;
  const json::value answer = exa.ask("serving.deploy", args);
  const json::value& file = answer.at("plan").at("files").at(0);
  EXPECT_EQ(file.at("name"), json::value("serve_config.yaml"));
  EXPECT_EQ(answer.at("command"), json::value("serve run --address=local serve_config.yaml"));
  EXPECT_EQ(answer.at("details").at("engine"), json::value("ray"));
  await("running");
  const auto path = folder() / "serve_config.yaml";
  EXPECT_EQ(contents(path), file.at("text").as_string());
  EXPECT_THAT(contents(path), HasSubstr("PRICE: \"5 $ 'x'\""));
  EXPECT_THAT(contents(path), HasSubstr("port: 8123"));
  struct stat about {};
  ASSERT_EQ(stat(path.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600u);
  std::string said;
  for (int tries = 0; tries < 100 && said.find("build") == std::string::npos; ++tries) {
    said = exa.ask("serving.logs", {{"name", "chat"}}).at("text").as_string();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_EQ(said, "run --address=local serve_config.yaml\n" + contents(path));
  exa.ask("serving.delete", {{"name", "chat"}});
  EXPECT_EQ(leases(), 0u);
}

TEST_F(Serving, WithoutRayTheReasonSaysWhatBringsIt) {
  json::object args = deploy(kChat);
  args["env"] = path(false);
  exa.ask("serving.deploy", args);
  EXPECT_EQ(await("failed").at("reason"),
            json::value("serve: not found on this machine; pip install 'ray[serve]' there"));
  EXPECT_EQ(leases(), 0u);
}

TEST_F(Serving, ARefusedDeploymentLeavesWhatRuns) {
  json::object args = deploy(kChat);
  args["env"] = path(true);
  exa.ask("serving.deploy", args);
  const json::value before = await("running");
  const std::string file = contents(folder() / "serve_config.yaml");
  args["file"] = std::string(kChat) + "replicas: 0\n";
  EXPECT_EQ(exa.call("serving.deploy", args).status, 422);
  args["file"] =
      "name: chat\nengine: ray\nimport_path: a:b\nresources: {gpu: 3, gpu_fraction: 0.5}\n";
  const Reply half = exa.call("serving.deploy", args);
  EXPECT_THAT(half.body, HasSubstr("3 × 0.5 = 1.5: Ray gives a replica part of one GPU"));
  EXPECT_EQ(exa.ask("serving.show", {{"name", "chat"}}), before);
  EXPECT_EQ(contents(folder() / "serve_config.yaml"), file);
  exa.ask("serving.delete", {{"name", "chat"}});
}

TEST_F(Serving, ReplicasOfRayStandInItsFile) {
  json::object args = deploy(kChat);
  args["env"] = path(true);
  args["replicas"] = 3;
  const json::value answer = exa.ask("serving.deploy", args);
  EXPECT_THAT(std::string(answer.at("plan").at("files").at(0).at("text").as_string()),
              HasSubstr("num_replicas: 3"));
  EXPECT_EQ(answer.at("details").at("replicas"), json::value(3));
  const Reply scaled = exa.call("serving.scale", {{"name", "chat"}, {"replicas", 4}});
  EXPECT_EQ(scaled.status, 422);
  EXPECT_THAT(scaled.body, HasSubstr("exa serving deploy chat --file FILE --replicas 4"));
  exa.ask("serving.delete", {{"name", "chat"}});
}

TEST_F(Serving, WhereAnEngineCannotRunIsSaidBeforeAnythingIsMade) {
  exa.ask("cluster.add", {{"name", "k8s"}, {"kind", "kubernetes"}});
  exa.ask("cluster.add", {{"name", "hpc"}, {"kind", "slurm"}});
  const std::string embed =
      "name: chat\nengine: kserve\nimage: registry.local/embed:3\ncommand: [serve]\n";
  struct Row {
    std::string_view cluster;
    std::string file;
    std::string_view why;
  };
  const Row rows[] = {
      {"", embed, "chat is of engine kserve, which is of Kubernetes"},
      {"hpc", embed, "chat is of engine kserve, which is of Kubernetes"},
      {"k8s", std::string(kChat),
       "chat is of engine ray, which runs as a program and not in a pod"},
      {"hpc", std::string(kChat) + "replicas: 2\n",
       "asks for 2 replicas, and a job holds what one of them takes"},
  };
  for (const Row& row : rows) {
    json::object args{{"name", "chat"}, {"file", row.file}};
    if (!row.cluster.empty()) args["cluster"] = row.cluster;
    EXPECT_THAT(refused(args), HasSubstr(std::string(row.why))) << row.cluster;
  }
}

// --- what Kubernetes keeps; tests/kubernetes_services asks a real one

// Keeps the last submission, as an API server keeps an object, until it is told to refuse.
struct Kept {
  std::optional<LaunchSpec> spec;
  std::string manifest;
  bool refuses = false;
};

class KeptDriver final : public Driver {
 public:
  explicit KeptDriver(Kept& kept) : kept_(kept) {}
  Result<std::string> home() override { return std::string(); }
  Result<Rendered> render(const LaunchSpec& spec) override {
    return spec.kserve ? render_kserve(spec) : render_kubernetes(spec);
  }
  Result<void> rehearse(const LaunchSpec&, const Rendered&) override { return answer(); }
  Result<std::string> submit(const LaunchSpec& spec, const Rendered& rendered) override {
    EXA_TRY(answer());
    kept_.spec = spec;
    kept_.manifest = rendered.files.at(0).text;
    return job_name(spec);
  }
  Result<std::optional<Observed>> find(const LaunchSpec& spec, const std::string&) override {
    std::optional<Observed> seen;
    if (!kept_.spec || kept_.spec->id != spec.id) return seen;
    seen = Observed{.job = job_name(spec), .state = JobState::running};
    seen->url = "http://chat.example.com";
    return seen;
  }
  Result<void> cancel(const LaunchSpec& spec, const std::string&) override {
    if (kept_.spec && kept_.spec->id == spec.id) kept_.spec.reset();
    return {};
  }
  Result<std::string> logs(const LaunchSpec&, const std::string&, int64_t) override {
    return std::string();
  }
  Result<std::string> outputs(const LaunchSpec&, const std::string&) override {
    return fail(Code::not_found, "it puts out nothing");
  }

 private:
  Result<void> answer() const {
    if (kept_.refuses) return fail(Code::unresolvable, "the server refused");
    return {};
  }
  Kept& kept_;
};

class OnKServe : public Serving {
 protected:
  OnKServe() {
    exa.driver = [this](const ClusterAddress&) -> Result<std::unique_ptr<Driver>> {
      return std::make_unique<KeptDriver>(kept);
    };
    exa.ask("cluster.add", {{"name", "k8s"}, {"kind", "kubernetes"}});
    exa.ask("hardware_profile.set",
            {{"name", "small"}, {"accelerator_family", "cpu"}, {"cpu", 1}, {"memory_gb", 2}});
  }
  json::object args() const {
    return {{"name", "chat"}, {"cluster", "k8s"}, {"namespace", "models"}, {"file", kFile}};
  }

  static constexpr std::string_view kFile =
      "name: chat\nengine: kserve\nimage: registry.local/embed:3\ncommand: [serve]\n"
      "autoscaling: {min: 0, max: 4, target: 8}\nresources: {hardware_profile: small}\n";
  Kept kept;
};

TEST_F(OnKServe, WhatIsSubmittedIsWhatRenderShows) {
  exa.ask("serving.deploy", args());
  const json::value items = exa.ask("serving.render", {{"file", kFile}}).at("items");
  std::string shown(items.at(0).at("files").at(0).at("text").as_string());
  const auto put = [&](std::string_view from, std::string to) {
    for (size_t at = shown.find(from); at != std::string::npos; at = shown.find(from, at + 1))
      shown.replace(at, from.size(), to);
  };
  // whose launch it is, and where, are of the launch
  put("namespace: default", "namespace: models");
  put("exa/launch-id: rendered", "exa/launch-id: " + kept.spec->id);
  put("serving default/chat rendered", "serving default/chat " + kept.spec->id);
  EXPECT_EQ(kept.manifest, shown);
  EXPECT_EQ(await("running").at("details").at("url"), json::value("http://chat.example.com"));
}

TEST_F(OnKServe, ScaledItIsFixedUntilItIsDeployedAgain) {
  exa.ask("serving.deploy", args());
  const json::value scaled = exa.ask("serving.scale", {{"name", "chat"}, {"replicas", 3}});
  EXPECT_EQ(scaled.at("details").at("replicas"), json::value(3));
  EXPECT_EQ(kept.spec->replicas, 3);
  EXPECT_EQ(kept.spec->kserve, (KServe{3, 0}));
  exa.ask("serving.deploy", args());
  EXPECT_EQ(kept.spec->replicas, 0);
  EXPECT_EQ(kept.spec->kserve, (KServe{4, 8}));
}

TEST_F(OnKServe, ARefusedFirstOneHoldsNothing) {
  kept.refuses = true;
  EXPECT_EQ(exa.call("serving.deploy", args()).status, 409);
  EXPECT_EQ(leases(), 0u);
  EXPECT_EQ(exa.ask("serving.show", {{"name", "chat"}}).at("state"), json::value("failed"));
}

TEST_F(OnKServe, ARefusedChangeGoesBackToWhatRunsWithItsDevices) {
  exa.ask("serving.deploy", args());
  const json::value before = await("running");
  const auto consumers = [&] { return exa.ask("hardware_profile.in_use", {}).at("items"); };
  const json::value used = consumers();
  ASSERT_EQ(used.as_array().size(), 1u);
  const size_t held = leases();
  kept.refuses = true;
  const Reply refused = exa.call("serving.scale", {{"name", "chat"}, {"replicas", 2}});
  EXPECT_EQ(refused.status, 409);
  EXPECT_THAT(refused.body, HasSubstr("the server refused; chat goes on as it was"));
  EXPECT_EQ(exa.ask("serving.show", {{"name", "chat"}}), before);
  EXPECT_EQ(consumers(), used);
  EXPECT_EQ(leases(), held);
  EXPECT_EQ(kept.spec->kserve, (KServe{4, 8}));
  // and it can still be ended
  kept.refuses = false;
  exa.ask("serving.delete", {{"name", "chat"}});
  EXPECT_FALSE(kept.spec);
  EXPECT_EQ(leases(), 0u);
  EXPECT_TRUE(exa.ask("audit.verify", {}).at("ok").as_bool());
}

TEST_F(OnKServe, WhatWouldMoveIsRefusedBeforeWhatRunsEnds) {
  exa.ask("serving.deploy", args());
  const json::value before = await("running");
  kept.refuses = true;
  json::object elsewhere = args();
  elsewhere["namespace"] = "others";
  json::object otherwise = args();
  otherwise["file"] =
      "name: chat\nengine: kubernetes\nimage: x\ncommand: [y]\nport: 8000\nresources: {cpu: 1}\n";
  for (const json::object& moved : {elsewhere, otherwise}) {
    EXPECT_EQ(exa.call("serving.deploy", moved).status, 409);
    EXPECT_EQ(exa.ask("serving.show", {{"name", "chat"}}), before);
    EXPECT_TRUE(kept.spec);
  }
  kept.refuses = false;
  exa.ask("serving.deploy", otherwise);
  EXPECT_FALSE(kept.spec->kserve);
}

}  // namespace
}  // namespace exa
