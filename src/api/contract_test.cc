// The API is what its description says: every reply of every route, good or bad, is held against
// the schema that its row names, and its status against the document.
#include <gtest/gtest.h>
#include <valijson/adapters/boost_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "api/describe.h"
#include "api/openapi.h"
#include "api/schema.h"
#include "api/testing.h"
#include "base/text.h"
#include "service/sign_in.h"

namespace exa {
namespace {

// What is wrong with a document; empty: it is as the schema says.
std::string problems_of(std::string_view schema_name, const json::value& document) {
  json::object schemas;
  for (const ReplySchema& row : reply_schemas()) schemas[row.name] = row.schema;
  // Draft 7 reads what is used here of 2020-12 alike
  const json::value root =
      json::object{{"allOf", json::array{schema::ref(schema_name)}},
                   {"components", json::object{{"schemas", std::move(schemas)}}}};
  valijson::Schema schema;
  valijson::SchemaParser parser;
  const valijson::adapters::BoostJsonAdapter schema_adapter(root);
  parser.populateSchema(schema_adapter, schema);
  valijson::ValidationResults results;
  valijson::Validator validator(valijson::Validator::kStrongTypes);
  const valijson::adapters::BoostJsonAdapter target(document);
  if (validator.validate(schema, target, &results)) return {};
  std::string text;
  valijson::ValidationResults::Error error;
  while (results.popError(error)) {
    for (const std::string& step : error.context) text += step;
    text += ": " + error.description + "\n";
  }
  return text.empty() ? "it does not fit" : text;
}

struct Asked {
  std::string route;
  json::object args;
};

// One of each kind of answer, in an order in which they make sense.
std::vector<Asked> good_requests() {
  const std::string capture =
      to_text(to_json(slurm_capture(parse_rfc3339("2026-11-30T12:00:00Z").value())));
  const std::string nodes = "sn,cpu_milli,memory_mib,gpu,model\nn1,8000,64000,2,T4\n";
  const std::string pods =
      "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\np1,1000,1000,1,500,\n";
  return {
      {"audit.verify", {}},
      {"setup.complete", {{"code", "CODE"}, {"user", "root"}, {"password", "the first password"}}},
      {"project.create", {{"name", "vision"}}},
      {"project.list", {}},
      {"project.residency", {{"name", "vision"}, {"class", "eu-only"}}},
      {"project.residency_show", {{"name", "vision"}}},
      {"project.residency_show", {{"name", "default"}}},
      {"project.residency", {{"name", "vision"}, {"none", true}}},
      {"cluster.add", {{"name", "hpc"}, {"kind", "slurm"}, {"ssh", "login"}, {"ssh_port", 22}}},
      {"cluster.add", {{"name", "gone"}, {"kind", "host"}}},
      {"cluster.list", {}},
      {"status.show", {}},
      {"event.list", {}},
      {"event.list", {{"since", 0}}},
      {"cluster.discover", {{"name", "hpc"}}},
      {"cluster.discover", {{"name", "hpc"}, {"from", capture}}},
      {"cluster.capture", {{"name", "hpc"}}},
      {"cluster.show", {{"name", "hpc"}}},
      {"cluster.show", {{"name", "hpc"}, {"nodes", true}}},
      {"cluster.list", {}},
      {"cluster.remove", {{"name", "gone"}}},
      {"hardware_profile.set", eight_h100()},
      {"hardware_profile.set",
       {{"name", "small"}, {"accelerator_family", "cpu"}, {"cpu", 2}, {"memory_gb", 4}}},
      {"hardware_profile.set",
       {{"name", "small"}, {"accelerator_family", "cpu"}, {"cpu", 0.5}, {"description", "less"}}},
      {"hardware_profile.set",
       {{"name", "new"}, {"accelerator_family", "amd"}, {"gpu_count", 1}, {"label", "candidate"}}},
      {"hardware_profile.list", {}},
      {"hardware_profile.list", {{"limit", 1}}},
      {"hardware_profile.show", {{"name", "eight"}, {"cluster", "hpc"}}},
      {"hardware_profile.show", {{"name", "small@1"}}},
      {"hardware_profile.render", {{"name", "eight"}, {"as", "kubernetes"}}},
      {"hardware_profile.render",
       {{"name", "eight"}, {"as", "srun"}, {"over", "srun -N1 -p gpu hostname"}}},
      {"hardware_profile.import", {{"sbatch", "-N2 --gres=gpu:2 -p gpu"}}},
      {"hardware_profile.import", {{"file", "#!/bin/sh\n#SBATCH -c8\n"}, {"name", "read"}}},
      {"hardware_profile.resolve", {{"name", "eight"}}},
      {"hardware_profile.resolve", {{"name", "eight"}, {"cluster", "hpc"}, {"for", "training"}}},
      {"hardware_profile.resolve", {{"name", "new@1"}, {"cluster", "hpc"}}},
      {"hardware_profile.resolve", {{"name", "small"}, {"snapshot", capture}}},
      {"hardware_profile.use",
       {{"name", "eight"}, {"for", "training"}, {"as", "run"}, {"cluster", "hpc"}}},
      {"hardware_profile.in_use", {}},
      {"hardware_profile.suggest", {{"cluster", "hpc"}}},
      {"hardware_profile.label", {{"name", "small"}, {"label", "active"}, {"version", 1}}},
      {"hardware_profile.history", {{"name", "small"}}},
      {"hardware_profile.diff", {{"from", "small@1"}, {"to", "small@2"}}},
      {"hardware_profile.deprecate", {{"name", "small"}, {"redirect", "eight"}, {"reason", "old"}}},
      {"hardware_profile.show", {{"name", "small"}}},
      {"hardware_profile.deprecate", {{"name", "small"}, {"undo", true}}},
      {"hardware_profile.delete",
       {{"name", "eight"}, {"version", 1}, {"force", true}, {"reason", "a test"}}},
      {"hardware_profile.history", {{"name", "eight"}}},
      {"hardware_profile.in_use", {}},
      {"hardware_profile.release", {{"for", "training"}, {"as", "run"}}},
      {"pool.add",
       {{"name", "own"},
        {"accelerator", "nvidia"},
        {"count", 8},
        {"region", "eu"},
        {"cost_per_hour", 2.5},
        {"carbon_factor", 300},
        {"supports_fractions", true}}},
      {"pool.add", {{"name", "own"}, {"count", 9}}},
      {"pool.add", {{"name", "lab"}, {"accelerator", "nvidia"}, {"cluster", "hpc"}}},
      {"pool.add",
       {{"name", "away"},
        {"target", "cloud"},
        {"accelerator", "amd"},
        {"count", 64},
        {"region", "us-east-1"},
        {"cost_per_hour", 4}}},
      {"engine.add", {{"name", "mine"}, {"backends", json::array{"cuda"}}}},
      {"engine.show", {{"name", "mine"}}},
      {"engine.list", {}},
      {"engine.portable", {{"engine", "sglang"}, {"accelerator", "amd"}}},
      {"engine.portable", {{"engine", "mine"}, {"accelerator", "nvidia"}}},
      {"engine.remove", {{"name", "mine"}}},
      {"placement.place", {{"name", "train"}, {"gpus", 2}, {"reserve", true}, {"explain", true}}},
      {"placement.place", {{"name", "train"}, {"gpus", 2}, {"target", "hpc"}}},
      {"placement.place", {{"name", "huge"}, {"gpus", 500}, {"explain", true}}},
      {"placement.place", {{"name", "half"}, {"fraction", 0.5}, {"reserve", true}}},
      {"placement.place", {{"name", "in"}, {"gpus", 1}, {"cluster", "hpc"}, {"explain", true}}},
      {"placement.place", {{"name", "in"}, {"gpus", 64}, {"cluster", "hpc"}}},
      {"placement.burst",
       {{"name", "out"},
        {"accelerator", "amd"},
        {"residency", "open"},
        {"allow_burst", true},
        {"reserve", true}}},
      {"placement.burst",
       {{"name", "no"}, {"accelerator", "amd"}, {"residency", "eu-only"}, {"allow_burst", true}}},
      {"placement.bursts", {}},
      {"placement.decisions", {}},
      {"placement.decision", {{"id", "DECISION"}}},
      {"placement.decision", {{"id", "INSIDE"}}},
      {"pool.list", {}},
      {"pool.show", {{"name", "own"}}},
      {"pool.show", {{"name", "lab"}}},
      {"pool.drain", {{"name", "own"}, {"reason", "cooling"}}},
      {"lease.list", {}},
      {"lease.renew", {{"id", "LEASE"}}},
      {"lease.release", {{"id", "LEASE"}}},
      {"lease.list", {{"all", true}}},
      {"usage.cost", {}},
      {"usage.carbon", {}},
      {"usage.sums", {{"by", json::array{"pool", "workload", "profile"}}}},
      {"usage.records", {}},
      {"pool.remove", {{"name", "own"}, {"force", true}, {"reason", "a test"}}},
      {"burst_policy.get", {}},
      {"burst_policy.set", {{"narrow", json::array{"open=eu|uk"}}}},
      {"region.set", {{"region", "attic"}, {"jurisdiction", "eu"}}},
      {"region.show", {{"region", "attic"}}},
      {"region.show", {{"region", "eu-west-1"}}},
      {"region.list", {}},
      {"region.unset", {{"region", "attic"}}},
      {"simulation.run", {{"nodes", nodes}, {"pods", pods}, {"chart", true}, {"gpu_cost", 2}}},
      {"user.create", {{"name", "grace"}, {"password", "a long enough password"}}},
      {"user.list", {}},
      {"user.show", {{"name", "grace"}}},
      {"user.password", {{"name", "grace"}, {"password", "another long password"}}},
      {"user.role", {{"name", "grace"}, {"role", "auditor"}}},
      {"group.create", {{"name", "crew"}, {"oidc_group", "ml"}}},
      {"group.add", {{"name", "crew"}, {"user", "grace"}}},
      {"group.list", {}},
      {"group.remove", {{"name", "crew"}, {"user", "grace"}}},
      {"user.disable", {{"name", "grace"}}},
      {"auth.status", {}},
      {"project_member.add", {{"project", "vision"}, {"name", "grace"}, {"role", "member"}}},
      {"project_member.list", {{"project", "vision"}}},
      {"project_member.remove", {{"project", "vision"}, {"name", "grace"}}},
      {"project_limits.set", {{"project", "vision"}, {"family", "nvidia"}, {"at_once", 6}}},
      {"project_limits.get", {{"project", "vision"}}},
      {"hardware_profile.share", {{"name", "small"}, {"with", json::array{"vision"}}}},
      {"service_account.create",
       {{"name", "ci"},
        {"verbs", json::array{"hardware_profile:read"}},
        {"projects", json::array{"vision"}}}},
      {"service_account.list", {}},
      {"service_account.disable", {{"name", "ci"}}},
      {"service_account.disable", {{"name", "ci"}, {"undo", true}}},
      {"token.create", {{"name", "mine"}, {"for", "ci"}}},
      {"token.list", {}},
      {"token.revoke", {{"id", "TOKEN"}}},
      {"audit.list", {}},
      {"audit.list", {{"outcome", "refused"}, {"limit", 1}}},
      {"audit.verify", {}},
      {"backup.create", {{"folder", "/nowhere/yet"}, {"dry_run", true}}},
      {"operation.show", {{"id", "OPERATION"}}},
      {"operation.cancel", {{"id", "OPERATION"}}},
      {"operation.list", {}},
      {"workbench.create",
       {{"name", "nb"},
        {"folder", "FOLDER"},
        {"command",
         json::array{"sh", "-c", "echo http://127.0.0.1:8888/?token=abc; exec sleep 60"}}}},
      {"workbench.create",
       {{"name", "plan"}, {"hardware_profile", "small"}, {"folder", "FOLDER"}, {"dry_run", true}}},
      {"workbench.open", {{"name", "nb"}}},
      {"workbench.list", {}},
      {"workbench.show", {{"name", "nb"}}},
      {"workbench.logs", {{"name", "nb"}}},
      {"workbench.resize", {{"name", "nb"}, {"hardware_profile", "small"}}},
      {"workbench.stop", {{"name", "nb"}}},
      {"workbench.start", {{"name", "nb"}}},
      {"workbench.delete", {{"name", "nb"}}},
      {"pipeline.run", {{"name", "one"}, {"folder", "FOLDER"}, {"command", json::array{"true"}}}},
      {"pipeline.wait", {{"name", "one"}}},
      {"pipeline.show", {{"name", "one"}}},
      {"pipeline.logs", {{"name", "one"}}},
      {"pipeline.list", {}},
      {"pipeline.cancel", {{"name", "one"}}},
      {"pipeline.delete", {{"name", "one"}}},
      {"pipeline.distributed_launch",
       {{"model", "llama"}, {"folder", "FOLDER"}, {"dry_run", true}}},
      {"pipeline.run",
       {{"name", "two"},
        {"folder", "FOLDER"},
        {"command", json::array{"true"}},
        {"dry_run", true}}},
      {"manifest.apply", {{"plan", "PLAN"}}},
      {"machine_source.add", {{"name", "edge"}, {"kind", "agent"}}},
      {"machine_source.add", {{"name", "nodes"}, {"kind", "cluster"}, {"cluster", "hpc"}}},
      {"machine.discover", {{"source", "nodes"}}},
      {"machine_source.list", {}},
      {"machine.report", {{"source", "edge"}, {"report", "cp 0 1"}}},
      {"machine.report", {{"source", "edge"}, {"report", "gpu 8 1"}}},
      {"machine.report", {{"source", "edge"}, {"report", "odd 8 1"}}},
      {"machine.report", {{"source", "edge"}, {"report", "odd 4 2"}}},
      {"machine.list", {}},
      {"machine.show", {{"id", "odd"}}},
      {"machine.accept", {{"id", "odd"}}},
      {"machine.forget", {{"id", "odd"}}},
      {"compute_profile.create",
       {{"name", "sku"},
        {"file",
         "environment_template: {name: vm, version: v1}\nhardware_profile: small@1\n"
         "price_per_hour: {amount: 2.5}\noutputs: [{name: url}]\ninputs: [{name: size, type: "
         "number, min: 1, max: 4, step: 1, default: 1}, {name: zone, override: restricted, "
         "allowed_values: [a, b]}, {name: disk, override: restricted-key-values, allowed_values: "
         "{large: big}}, {name: kind, type: enum, choices: [x, y]}, {name: extra, depends_on: "
         "{input: kind, values: [x]}}, {name: password, type: secret}]\n"}}},
      {"compute_profile.create", {{"name", "plain"}, {"environment_template", "vm@v1"}}},
      {"compute_profile.edit",
       {{"name", "sku"}, {"display_name", "Small"}, {"labels", json::array{"team=ml"}}}},
      {"compute_profile.edit", {{"name", "sku"}, {"display_name", "Small"}}},
      {"compute_profile.publish", {{"name", "sku"}}},
      {"compute_profile.share", {{"name", "sku"}, {"with", json::array{"vision"}}}},
      {"compute_profile.share", {{"name", "plain"}, {"with", json::array{"all"}}}},
      {"compute_profile.import", {{"file", kRafayProfile}}},
      {"compute_profile.import", {{"file", kRafayProfile}}},
      {"compute_profile.list", {}},
      {"compute_profile.list", {{"search", "small"}}},
      {"compute_profile.show", {{"name", "sku"}}},
      {"compute_profile.show", {{"name", "sku@1"}}},
      {"compute_profile.history", {{"name", "sku"}}},
      {"compute_profile.diff", {{"name", "sku"}, {"from", 1}, {"to", 2}}},
      {"compute_profile.inputs", {{"name", "sku"}}},
      {"compute_profile.check",
       {{"name", "sku"},
        {"input", json::array{"size=2"}},
        {"inputs", json::object{{"password", "a secret"}, {"disk", "large"}}}}},
      {"compute_profile.export", {{"name", "imported"}}},
      {"instance.limits_set", {{"instances", "2"}, {"above", "approve"}, {"time_to_live", "72h"}}},
      {"instance.limits_show", {}},
      {"instance.offers", {}},
      {"instance.launch",
       {{"name", "mine"},
        {"compute_profile", "sku"},
        {"inputs", json::object{{"zone", "a"}, {"disk", "large"}, {"kind", "y"}}},
        {"time_to_live", "8h"},
        {"stop_at", "0 19 * * 1-5"},
        {"time_zone", "Europe/Berlin"}}},
      {"instance.list", {}},
      {"instance.show", {{"name", "mine"}}},
      {"instance.outputs", {{"name", "mine"}}},
      {"instance.reveal", {{"name", "mine"}}},
      {"instance.logs", {{"name", "mine"}}},
      {"instance.extend", {{"name", "mine"}, {"by", "1h"}}},
      {"instance.schedule", {{"name", "mine"}, {"none", true}}},
      {"instance.stop", {{"name", "mine"}}},
      {"instance.start", {{"name", "mine"}}},
      {"instance.launch",
       {{"name", "endless"},
        {"compute_profile", "sku"},
        {"inputs", json::object{{"zone", "a"}, {"disk", "large"}, {"kind", "y"}}},
        {"reason", "a test"}}},
      {"instance.approve", {{"name", "endless"}, {"reason", "a test"}}},
      {"instance.launch",
       {{"name", "third"},
        {"compute_profile", "sku"},
        {"inputs", json::object{{"zone", "a"}, {"disk", "large"}, {"kind", "y"}}}}},
      {"instance.reject", {{"name", "third"}, {"reason", "a test"}}},
      {"compute_profile.edit", {{"name", "sku"}, {"display_name", "Smaller"}}},
      {"instance.show", {{"name", "mine"}}},
      {"instance.delete", {{"name", "third"}}},
      {"instance.delete", {{"name", "mine"}}},
      {"instance.delete", {{"name", "endless"}, {"abandon", true}, {"reason", "a test"}}},
      {"compute_profile.unpublish", {{"name", "sku"}}},
      {"compute_profile.delete", {{"name", "plain"}}},
      {"compute_profile.show", {{"name", "plain@1"}}},
      {"provisioner.add", {{"name", "build"}, {"driver", "script"}, {"folder", "BUILD"}}},
      {"provisioner.list", {}},
      {"manifest.apply",
       {{"file",
         "{apiVersion: palette.ai/v1alpha1, kind: ComputeProfile, metadata: {name: edge}, spec: "
         "{controlPlaneDefaults: {nodeCount: 1}}}\n---\n{apiVersion: palette.ai/v1alpha1, kind: "
         "Project, metadata: {name: default}, spec: {computeProfileRef: {name: "
         "edge}, settingsRef: {name: built}}}\n---\n{apiVersion: palette.ai/v1alpha1, kind: "
         "Settings, "
         "metadata: {name: built}, spec: {provisioner: build}}\n---\n{apiVersion: "
         "palette.ai/v1alpha1, kind: Compute, metadata: {name: "
         "machines}, "
         "spec: {}}"}}},
      {"manifest.diff", {{"file", kWorkloadProfile}}},
      {"manifest.get", {{"kind", "compute"}}},
      {"manifest.get", {{"kind", "compute"}, {"name", "machines"}}},
      {"manifest.explain", {{"path", "computeprofile.spec.edge"}}},
      {"ml_platform.plan", {{"name", "llm"}, {"gpus", json::array{"8 H100"}}}},
      {"ml_platform.plan", {{"name", "llm"}, {"gpus", json::array{"80 H100"}}}},
      {"ml_platform.create", {{"name", "llm"}, {"gpus", json::array{"8 H100"}}}},
      {"manifest.get", {{"kind", "mlplatform"}, {"name", "llm"}}},
      {"ml_platform.list", {}},
      {"ml_platform.show", {{"name", "llm"}}},
      {"ml_platform.render", {{"name", "llm"}}},
      {"ml_platform.scale", {{"name", "llm"}, {"gpus", json::array{"4 H100"}}}},
      {"ml_platform.provision", {{"name", "llm"}}},
      {"ml_platform.logs", {{"name", "llm"}}},
      {"ml_platform.delete", {{"name", "llm"}}},
      {"manifest.delete", {{"kind", "compute"}, {"name", "machines"}}},
      {"provisioner.remove", {{"name", "build"}}},
      {"environment_template.add",
       {{"name", "play"},
        {"version", "v1"},
        {"driver", "ansible"},
        {"folder", template_folder("ansible")}}},
      {"environment_template.add",
       {{"name", "job"},
        {"version", "v1"},
        {"driver", "slurm"},
        {"cluster", "hpc"},
        {"partition", "gpu"},
        {"folder", template_folder("slurm")}}},
      {"environment_template.list", {}},
      {"environment_template.activate", {{"name", "play"}, {"version", "v1"}}},
      {"environment_template.show", {{"name", "play"}, {"version", "v1"}}},
      {"environment_template.disable", {{"name", "play"}, {"version", "v1"}}},
      {"environment_template.remove", {{"name", "play"}, {"version", "v1"}}},
      {"machine_source.remove", {{"name", "nodes"}}},
      {"serving.deploy",
       {{"name", "api"}, {"folder", "FOLDER"}, {"command", json::array{"sleep", "60"}}}},
      {"serving.show", {{"name", "api"}}},
      {"serving.list", {}},
      {"serving.logs", {{"name", "api"}}},
      {"serving.scale", {{"name", "api"}, {"replicas", 1}}},
      {"serving.delete", {{"name", "api"}}},
      {"serving.render",
       {{"file",
         "models:\n  - name: chat\n    engine: vllm\n    model: m\n    resources: {gpu: "
         "1}\n  - name: ranker\n    engine: ray\n    import_path: a:b\n    resources: "
         "{gpu: 1, gpu_fraction: 0.5}\n"}}},
      {"audit.export", {}},
      {"audit.recover", {{"reason", "a test"}}},
  };
}

class Contract : public testing::Test {
 protected:
  Contract() {
    exa_.probe = [this]() -> Result<Capture> { return slurm_capture(exa_.now); };
  }

  // The ids that earlier answers gave stand in for their names.
  json::object with_ids(json::object args) {
    if (const json::value* folder = args.if_contains("folder"); folder && *folder == "FOLDER")
      args["folder"] = (exa_.folder() / "launched").string();
    if (const json::value* folder = args.if_contains("folder"); folder && *folder == "BUILD") {
      const auto build = exa_.folder() / "build";
      std::filesystem::create_directories(build);
      std::ofstream(build / "run") << "#!/bin/sh\necho $1\n";
      std::filesystem::permissions(build / "run", std::filesystem::perms::owner_all);
      args["folder"] = build.string();
    }
    if (args.contains("plan")) args["plan"] = plan_;
    if (const json::value* report = args.if_contains("report")) {
      std::istringstream words{std::string(report->as_string())};
      std::string machine;
      int64_t gpus = 0;
      int64_t sequence = 0;
      words >> machine >> gpus >> sequence;
      args["report"] = machine_report(exa_, machine, gpus, sequence);
    }
    if (args.contains("code")) {
      Caller caller;
      caller.principal = exa_.principal;
      caller.action = "setup.offer";
      args["code"] = make_setup_code(exa_.service(), caller)->reveal();
    }
    json::value* id = args.if_contains("id");
    if (id == nullptr || !id->is_string()) return args;
    if (*id == "OPERATION") {
      *id = begun_operation(exa_, exa_.principal);
      return args;
    }
    if (*id == "TOKEN") {
      *id = exa_.ask("token.list", {}).at("items").at(0).at("id");
      return args;
    }
    const json::value list =
        exa_.ask(*id == "LEASE" ? "lease.list" : "placement.decisions", {}).at("items");
    if (*id == "LEASE" || *id == "DECISION") *id = list.at(0).at("id");
    if (*id == "INSIDE") {
      for (const json::value& row : list.as_array())
        if (!row.at("cluster").is_null()) *id = row.at("id");
    }
    return args;
  }

  void holds(const Route& route, const Reply& reply, const std::string& what) {
    SCOPED_TRACE(what + "\n" + reply.body.substr(0, 2000));
    const json::object& answers = document_.at("paths")
                                      .at(route.path)
                                      .at(lower(name(route.method)))
                                      .at("responses")
                                      .as_object();
    EXPECT_TRUE(answers.contains(std::to_string(reply.status)))
        << route.id << " answers " << reply.status << ", which is not described";
    const bool bad = reply.status >= 400;
    const ReplySchema* schema = find_reply_schema(bad ? kProblemSchema : route.reply);
    ASSERT_NE(schema, nullptr) << route.id;
    EXPECT_EQ(reply.content_type, schema->content_type) << route.id;
    if (schema->content_type == "application/jsonl") return;
    const auto body = parse_json(reply.body, "reply", tool_output_limits());
    ASSERT_TRUE(body) << route.id;
    EXPECT_EQ(problems_of(schema->name, *body), "") << route.id;
    EXPECT_TRUE(reply.etag.empty() || carries_etag(routes(), route)) << route.id;
  }

  TestExa exa_;
  json::object document_ = openapi(routes());
  json::value plan_;  // id of the last one
};

TEST_F(Contract, EveryAnswerOfEveryRouteIsAsItsSchemaSays) {
  template_in(exa_);
  std::vector<std::string> answered;
  for (const Asked& asked : good_requests()) {
    const Route* route = find_route(asked.route);
    ASSERT_NE(route, nullptr) << asked.route;
    const Reply reply = exa_.call(asked.route, with_ids(asked.args));
    EXPECT_LT(reply.status, 300) << asked.route << to_text(asked.args) << reply.body;
    holds(*route, reply, asked.route + to_text(asked.args).substr(0, 300));
    if (asked.route == "pipeline.run" && asked.args.contains("dry_run"))
      plan_ = parse_json(reply.body, "reply")->at("plan").at("id");
    answered.push_back(asked.route);
  }
  for (const Route& route : routes())
    EXPECT_NE(std::ranges::find(answered, route.id), answered.end())
        << route.id << " is not asked here";
}

// What others' things look like to somebody of one project.
TEST_F(Contract, WhatIsCountedInsteadOfNamedIsAsTheSchemaSays) {
  prepare(exa_);
  exa_.ask("project.create", {{"name", "vision"}});
  exa_.ask("hardware_profile.share", {{"name", "eight"}, {"with", json::array{"vision"}}});
  exa_.ask("hardware_profile.set",
           {{"name", "off"}, {"accelerator_family", "cpu"}, {"label", "x"}});
  exa_.ask("hardware_profile.share", {{"name", "off"}, {"with", json::array{"vision"}}});
  exa_.ask("hardware_profile.use",
           {{"name", "default/eight"}, {"project", "vision"}, {"for", "training"}, {"as", "run"}});
  sku_in(exa_, "default", "sku");
  exa_.ask("compute_profile.share", {{"name", "sku"}, {"with", json::array{"vision"}}});
  exa_.ask("pool.add", {{"name", "own"}, {"accelerator", "nvidia"}, {"count", 8}});
  exa_.ask("placement.place", {{"name", "held"}, {"reserve", true}});
  const std::pair<const char*, std::vector<Asked>> asked[] = {
      {"default", {{"hardware_profile.in_use", {}}, {"status.show", {}}}},
      {"vision",
       {{"hardware_profile.list", {{"shared", true}, {"project", "vision"}}},
        {"hardware_profile.show", {{"name", "default/eight"}, {"project", "vision"}}},
        {"compute_profile.list", {{"project", "vision"}}},
        {"compute_profile.show", {{"name", "default/sku"}, {"project", "vision"}}},
        {"compute_profile.history", {{"name", "default/sku"}, {"project", "vision"}}},
        {"pool.show", {{"name", "own"}}},
        {"event.list", {{"since", 0}}}}}};
  for (const auto& [project, requests] : asked) {
    exa_.principal = {"user", "grace", "user:grace", {}, "", {}};
    exa_.principal.rights.by_project[project] = Role::admin;
    for (const Asked& one : requests) {
      const Reply reply = exa_.call(one.route, one.args);
      EXPECT_EQ(reply.status, 200) << one.route << reply.body;
      holds(*find_route(one.route), reply, one.route + " as somebody of " + project);
    }
  }
  exa_.principal.rights.by_project = {{"vision", Role::admin}};
  EXPECT_NE(exa_.call("pool.show", {{"name", "own"}}).body.find("leases_of_other_projects"),
            std::string::npos);
}

TEST_F(Contract, EveryRefusalIsADescribedProblem) {
  for (const Route& route : routes()) {
    json::object args;
    for (const Param& param : route.params)
      if (param.in == In::path || param.required)
        args[param.name] = param.choices.empty() ? std::string_view("absent") : param.choices[0];
    if (route.id == "backup.create") args["folder"] = (exa_.folder() / "absent" / "too").string();
    holds(route, exa_.call(route.id, args), std::string(route.id) + " of what is not there");
    Request request = build_request(route, args);
    request.request_id = "r-1";
    request.query.emplace_back("nosuch", "1");
    const Reply unknown = exa_.send(request);
    EXPECT_GE(unknown.status, 400) << route.id;
    holds(route, unknown, std::string(route.id) + " with an unknown argument");
    request = build_request(route, args);
    request.body = "{";
    const Reply broken = exa_.send(request);
    EXPECT_GE(broken.status, 400) << route.id;
    holds(route, broken, std::string(route.id) + " with a broken body");
  }
}

TEST_F(Contract, AnotherMethodOnAPathIsRefusedWithThoseItTakes) {
  for (const Route& route : routes()) {
    for (const Method method : {Method::get, Method::put, Method::post, Method::del}) {
      const bool taken = std::ranges::any_of(routes(), [&](const Route& other) {
        return other.path == route.path && other.method == method;
      });
      if (taken || route.path.find('{') != std::string_view::npos) continue;
      Request request;
      request.method = method;
      request.path = route.path;
      const Reply reply = exa_.send(request);
      EXPECT_EQ(reply.status, 405) << route.path;
      EXPECT_EQ(problems_of(kProblemSchema, parse_json(reply.body, "reply").value()), "");
      EXPECT_NE(reply.body.find(name(route.method)), std::string::npos) << reply.body;
    }
  }
}

TEST_F(Contract, ASchemaRefusesAMemberMoreAndAMemberLess) {
  const json::value good = exa_.ask("burst_policy.get", {});
  EXPECT_EQ(problems_of("BurstPolicy", good), "");
  json::value more = good;
  more.as_object()["more"] = 1;
  EXPECT_NE(problems_of("BurstPolicy", more), "");
  json::value less = good;
  less.as_object().erase("cloud");
  EXPECT_NE(problems_of("BurstPolicy", less), "");
  json::value other = good;
  other.as_object()["unlabelled"] = "secret";
  EXPECT_NE(problems_of("BurstPolicy", other), "");
}

TEST(ReplySchemas, EveryRowNamesOneAndEveryOneIsNamed) {
  std::string used = to_text(openapi(routes()));
  for (const Route& route : routes())
    EXPECT_NE(find_reply_schema(route.reply), nullptr) << route.id << " " << route.reply;
  for (const ReplySchema& row : reply_schemas()) {
    EXPECT_NE(used.find(fmt::format("#/components/schemas/{}\"", row.name)), std::string::npos)
        << row.name << " is nobody's";
    if (row.example.is_null()) continue;
    EXPECT_EQ(problems_of(row.name, row.example), "") << row.name;
  }
}

}  // namespace
}  // namespace exa
