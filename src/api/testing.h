// A whole exa in a temporary folder (its tables on PostgreSQL where tests/with_postgres runs one),
// with a clock that the test moves and a cluster that answers what the test says: requests go
// through the router as they do from the command line.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include <gtest/gtest.h>

#include "api/router.h"
#include "discover/capture.h"
#include "discover/readers.h"
#include "launch/driver.h"
#include "service/operations.h"
#include "service/service.h"
#include "store/stores_for_test.h"

namespace exa {

inline std::string read_test_file(const std::string& name) {
  std::ifstream file(std::string(EXA_TESTDATA) + "/" + name);
  EXPECT_TRUE(file) << name;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class TestExa {
 public:
  TestExa() {
    place_.allow_reuse();
    store_ = place_.open();
    trail_ = std::make_unique<AuditTrail>(place_.folder());
    service_ = std::make_unique<Service>(
        *store_, *trail_,
        Surroundings{[this] { return now; }, [this] { return "id-" + std::to_string(++ids_); },
                     [this](const ClusterAddress&, Progress& progress) {
                       return probe_with ? probe_with(progress) : probe();
                     },
                     [this](const ClusterAddress& address, Progress&) { return driver(address); },
                     [this](Duration wait) { now = now + wait; }});
    router_ = std::make_unique<Router>(*service_);
  }
  ~TestExa() { store_.reset(); }
  TestExa(const TestExa&) = delete;
  TestExa& operator=(const TestExa&) = delete;

  Reply send(Request request) {
    request.principal = principal;
    request.origin = "test:1";
    return router_->handle(request);
  }
  Reply call(std::string_view route, const json::object& args, std::string idempotency_key = "") {
    Request request = build_request(*find_route(route), args);
    request.idempotency_key = std::move(idempotency_key);
    return send(std::move(request));
  }
  // The reply's document; the call must succeed.
  json::value ask(std::string_view route, const json::object& args) {
    const Reply reply = call(route, args);
    EXPECT_LT(reply.status, 300) << route << ": " << reply.body;
    return parse_json(reply.body, "reply", tool_output_limits()).value();
  }
  // What somebody does who can write the database and goes around exa.
  void tamper(const std::string& statement) {
    if (place_.backend() == Backend::postgres) return place_.tamper(statement);
    const auto done = store_->write([&](Transaction& tx) -> Result<void> {
      EXA_TRY(tx.change(statement));
      return {};
    });
    EXPECT_TRUE(done) << statement << ": " << done.error().message;
  }
  Store& store() { return *store_; }
  const std::filesystem::path& folder() const { return place_.folder(); }
  int64_t audit_size() { return ask("audit.verify", {}).at("size").to_number<int64_t>(); }

  Service& service() { return *service_; }

  Principal principal = owner_of_folder("ada", "uid:1000");  // who sends
  Time now = parse_rfc3339("2026-11-30T12:00:00Z").value();
  std::function<Result<Capture>()> probe = [] {
    return fail(Code::probe_failed, "nobody answers");
  };
  // Programs are really started, on this machine, whatever the cluster is.
  std::function<Result<std::unique_ptr<Driver>>(const ClusterAddress&)> driver =
      [](const ClusterAddress&) -> Result<std::unique_ptr<Driver>> {
    return local_driver(local_transport(seconds(30)));
  };
  std::function<Result<Capture>(Progress&)> probe_with;  // instead of `probe`, when set

 private:
  PlaceForStores place_{test_postgres().empty() ? Backend::sqlite : Backend::postgres};
  int ids_ = 0;
  std::unique_ptr<Store> store_;
  std::unique_ptr<AuditTrail> trail_;
  std::unique_ptr<Service> service_;
  std::unique_ptr<Router> router_;
};

// The id of long work that somebody began and that nobody has done anything for yet.
inline std::string begun_operation(TestExa& exa, const Principal& principal) {
  Caller caller;
  caller.principal = principal;
  return begin_operation(
             exa.service(), caller,
             {"simulation.run", "/api/v1/simulations", "simulation:run", false, "worker"})
      .value()
      .id;
}

// What the sample Slurm showed, seen at `at` as a probe sees it.
inline Capture slurm_capture(Time at) {
  Capture capture;
  capture.kind = ClusterKind::slurm;
  capture.taken_at = at;
  capture.transport = "local";
  capture.outputs.push_back({"scontrol show node",
                             {"scontrol", "show", "node"},
                             0,
                             read_test_file("slurm/scontrol-show-node.txt"),
                             ""});
  return capture;
}

inline json::object eight_h100() {
  return {{"name", "eight"},
          {"accelerator_family", "nvidia"},
          {"gpu_count", 8},
          {"accelerator_model_hint", "H100"}};
}

// A discovered Slurm and a profile that its h100-01 holds.
inline void prepare(TestExa& exa) {
  exa.probe = [&exa]() -> Result<Capture> { return slurm_capture(exa.now); };
  exa.ask("cluster.add", {{"name", "hpc"}, {"kind", "slurm"}});
  exa.ask("cluster.discover", {{"name", "hpc"}});
  exa.ask("hardware_profile.set", eight_h100());
}

// A workbench that runs and says where it answers ("bench"), one that has ended ("ended") and a
// training run that has ended ("run") and one that goes on ("long"), as they stand after a look.
// `cluster`: empty for none.
inline void launch_in(TestExa& exa, const std::string& project, const std::string& cluster) {
  const auto with = [&](std::string name, json::array command) {
    json::object args{{"name", name},
                      {"project", project},
                      {"folder", (exa.folder() / "launched" / project / name).string()},
                      {"command", std::move(command)}};
    if (!cluster.empty()) args["cluster"] = cluster;
    return args;
  };
  const auto await = [&](std::string_view route, std::string name, std::string_view state) {
    for (int tries = 0; tries < 300; ++tries) {
      if (exa.ask(route, {{"name", name}, {"project", project}}).at("state").as_string() == state)
        return;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    ADD_FAILURE() << name << " is not " << state;
  };
  exa.ask("workbench.create",
          with("bench", {"sh", "-c", "echo http://127.0.0.1:8888/?token=abc; exec sleep 120"}));
  exa.ask("workbench.create", with("ended", {"true"}));
  exa.ask("pipeline.run", with("run", {"true"}));
  exa.ask("pipeline.run", with("long", {"sleep", "120"}));
  exa.ask("serving.deploy", with("served", {"true"}));
  await("workbench.show", "bench", "running");
  await("workbench.show", "ended", "succeeded");
  await("pipeline.show", "run", "succeeded");
  await("pipeline.show", "long", "running");
  await("serving.show", "served", "succeeded");
}

// A report of a machine that is tagged for PaletteAI, seen now.
inline std::string machine_report(const TestExa& exa, std::string_view id, int64_t gpus,
                                  int64_t sequence = 1) {
  json::array list;
  if (gpus > 0) list.emplace_back(json::object{{"family", "NVIDIA H100"}, {"count", gpus}});
  return to_text(json::object{{"id", id},
                              {"reported_at", format_rfc3339(exa.now)},
                              {"sequence", sequence},
                              {"architecture", "AMD64"},
                              {"cpus", 4},
                              {"gpus", std::move(list)},
                              {"tags", json::object{{"palette.ai", "true"}}}});
}

// Machines that nobody holds yet: one for a control plane and one with GPUs, one that differs from
// what it was, and one to forget; a source to look at, and one to remove; provisioners.
inline void machines_in(TestExa& exa) {
  const auto report = [&](std::string_view id, int64_t gpus, int64_t sequence = 1) {
    exa.ask("machine.report",
            {{"source", "edge"}, {"report", machine_report(exa, id, gpus, sequence)}});
  };
  exa.ask("machine_source.add", {{"name", "edge"}, {"kind", "agent"}});
  const auto folder = exa.folder() / "machines";
  std::filesystem::create_directories(folder);
  exa.ask("machine_source.add", {{"name", "rack"}, {"kind", "folder"}, {"path", folder.string()}});
  exa.ask("machine_source.add", {{"name", "spare"}, {"kind", "folder"}, {"path", folder.string()}});
  for (const char* id : {"free-cp", "unwanted"}) report(id, 0);
  report("free-gpu", 8);
  report("odd", 8);
  report("odd", 7, 2);
  const auto build = exa.folder() / "build";
  std::filesystem::create_directories(build);
  std::ofstream(build / "run") << "#!/bin/sh\necho $1\n";
  std::filesystem::permissions(build / "run", std::filesystem::perms::owner_all);
  for (const char* name : {"build", "spare"})
    exa.ask("provisioner.add", {{"name", name}, {"driver", "script"}, {"folder", build.string()}});
}

// A project with a compute profile, a Compute, and an ML platform on machines of its own.
inline void platform_in(TestExa& exa, const std::string& project) {
  for (const auto& [suffix, gpus] : {std::pair("cp", 0), std::pair("gpu", 8)})
    exa.ask("machine.report",
            {{"source", "edge"}, {"report", machine_report(exa, project + "-" + suffix, gpus)}});
  const std::string manifests = R"(
{apiVersion: palette.ai/v1alpha1, kind: Settings, metadata: {name: settings}, spec: {provisioner: build}}
---
apiVersion: palette.ai/v1alpha1
kind: ComputeProfile
metadata: {name: edge}
spec: {controlPlaneDefaults: {nodeCount: 1}}
---
{apiVersion: palette.ai/v1alpha1, kind: Compute, metadata: {name: machines}, spec: {}}
---
{apiVersion: mural.spectrocloud.com/v1alpha1, kind: WorkloadProfile, metadata: {name: clearml}, spec: {}}
---
apiVersion: palette.ai/v1alpha1
kind: Project
metadata: {name: )" + project + R"(}
spec: {computeProfileRef: {name: edge}, settingsRef: {name: settings}}
)";
  exa.ask("manifest.apply", {{"file", manifests}, {"project", project}});
  exa.ask("ml_platform.create", {{"name", "llm"},
                                 {"project", project},
                                 {"gpus", json::array{"8 H100"}},
                                 {"reserve_only", true}});
}

// A compute profile that asks for one thing, published; `name` of it.
inline void sku_in(TestExa& exa, const std::string& project, const std::string& name) {
  const json::object document{
      {"environment_template", json::object{{"name", "vm"}, {"version", "v1"}}},
      {"inputs",
       json::array{json::object{{"name", "size"}, {"type", "number"}, {"min", 1}, {"max", 4}}}}};
  exa.ask("compute_profile.create", {{"name", name}, {"project", project}, {"file", document}});
  exa.ask("compute_profile.publish", {{"name", name}, {"project", project}});
}
// Rafay's document of the least.
inline constexpr std::string_view kRafayProfile =
    R"({"apiVersion": "paas.envmgmt.io/v1", "kind": "ComputeProfile",)"
    R"( "metadata": {"name": "imported"}, "spec": {"templateRef": {"name": "vm", "version": "v1"}}})";

// Manifests that a member, and an admin, of a project may apply.
inline constexpr std::string_view kMlPlatform =
    "{apiVersion: palette.ai/v1alpha1, kind: MLPlatform, metadata: {name: new}, spec: {gpus: "
    "{H100: "
    "1}}}";
inline constexpr std::string_view kWorkloadProfile =
    "{apiVersion: mural.spectrocloud.com/v1alpha1, kind: WorkloadProfile, metadata: {name: other}, "
    "spec: {}}";

}  // namespace exa
