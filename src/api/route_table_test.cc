// Every row of the route table keeps the same promises: one audit entry for a change, one for a
// refusal, nothing for a dry run, no unknown arguments.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/testing.h"

namespace exa {
namespace {

using testing::HasSubstr;
struct Example {
  std::string_view route;
  json::object args;
};

// One request for each mutating route that succeeds after prepare().
std::vector<Example> mutations() {
  return {
      {"hardware_profile.set", {{"name", "new"}, {"accelerator_family", "cpu"}}},
      {"hardware_profile.import", {{"name", "new"}, {"sbatch", "-c8"}}},
      {"hardware_profile.label", {{"name", "eight"}, {"label", "stable"}, {"version", 1}}},
      {"hardware_profile.deprecate", {{"name", "eight"}, {"redirect", "other"}}},
      {"hardware_profile.use", {{"name", "eight"}, {"for", "training"}, {"as", "run"}}},
      {"hardware_profile.release", {{"for", "workbench"}, {"as", "nb"}}},
      {"hardware_profile.delete", {{"name", "eight"}}},
      {"cluster.add", {{"name", "more"}, {"kind", "host"}}},
      {"cluster.discover", {{"name", "hpc"}}},
      {"cluster.remove", {{"name", "hpc"}}},
      {"project.create", {{"name", "vision"}}},
      {"audit.recover", {{"reason", "a test"}}},
      {"pool.add", {{"name", "more"}, {"accelerator", "amd"}}},
      {"pool.drain", {{"name", "pool"}, {"reason", "cooling"}}},
      {"pool.remove", {{"name", "spare"}}},
      {"engine.add", {{"name", "more"}, {"backends", json::array{"cuda"}}}},
      {"engine.remove", {{"name", "own"}}},
      {"placement.place", {{"name", "train"}}},
      {"placement.burst", {{"name", "train"}}},
      {"lease.release", {{"id", "LEASE"}}},
      {"lease.renew", {{"id", "LEASE"}}},
      {"burst_policy.set", {{"cloud", "off"}}},
      {"region.set", {{"region", "attic"}, {"jurisdiction", "eu"}}},
      {"region.unset", {{"region", "basement"}}},
      {"project.residency", {{"name", "default"}, {"class", "eu-only"}}},
      {"user.create", {{"name", "new"}}},
      {"user.disable", {{"name", "grace"}}},
      {"user.password", {{"name", "grace"}, {"password", "correct horse battery"}}},
      {"user.role", {{"name", "grace"}, {"role", "auditor"}}},
      {"group.create", {{"name", "new"}}},
      {"group.add", {{"name", "crew"}, {"user", "grace"}}},
      {"group.remove", {{"name", "crew"}, {"user", "linus"}}},
      {"service_account.create",
       {{"name", "robot"},
        {"verbs", json::array{"usage:read"}},
        {"projects", json::array{"default"}}}},
      {"service_account.disable", {{"name", "helper"}}},
      {"token.create", {{"name", "ci"}, {"for", "helper"}}},
      {"token.revoke", {{"id", "TOKEN"}}},
      {"project_member.add", {{"project", "default"}, {"name", "grace"}, {"role", "viewer"}}},
      {"project_member.remove", {{"project", "default"}, {"name", "linus"}}},
      {"project_limits.set", {{"project", "default"}, {"family", "amd"}, {"at_once", 6}}},
      {"hardware_profile.share", {{"name", "eight"}, {"with", json::array{"all"}}}},
      {"backup.create", {{"folder", "FOLDER"}}},
      {"operation.cancel", {{"id", "OPERATION"}}},
      {"workbench.create",
       {{"name", "new"}, {"folder", "FOLDER"}, {"command", json::array{"true"}}}},
      {"workbench.start", {{"name", "ended"}}},
      {"workbench.stop", {{"name", "bench"}}},
      {"workbench.resize", {{"name", "ended"}, {"cpu", 1}}},
      {"workbench.delete", {{"name", "ended"}}},
      {"workbench.open", {{"name", "bench"}}},
      {"pipeline.run", {{"name", "new"}, {"folder", "FOLDER"}, {"command", json::array{"true"}}}},
      {"pipeline.distributed_launch", {{"model", "llama"}, {"name", "new"}, {"folder", "FOLDER"}}},
      {"manifest.apply", {{"plan", "PLAN"}}},
      {"manifest.delete", {{"kind", "workloadprofile"}, {"name", "clearml"}}},
      {"machine_source.add", {{"name", "more"}, {"kind", "agent"}}},
      {"machine_source.remove", {{"name", "spare"}}},
      {"machine.discover", {{"source", "rack"}}},
      {"machine.report", {{"source", "edge"}, {"report", "REPORT"}}},
      {"machine.accept", {{"id", "odd"}}},
      {"machine.forget", {{"id", "unwanted"}}},
      {"ml_platform.create",
       {{"name", "new"}, {"gpus", json::array{"1 H100"}}, {"reserve_only", true}}},
      {"ml_platform.scale", {{"name", "llm"}, {"gpus", json::array{"4 H100"}}}},
      {"ml_platform.provision", {{"name", "llm"}}},
      {"ml_platform.delete", {{"name", "llm"}}},
      {"instance.launch", {{"name", "new"}, {"compute_profile", "small"}}},
      {"instance.reveal", {{"name", "my-running"}}},
      {"instance.stop", {{"name", "my-running"}}},
      {"instance.start", {{"name", "my-stopped"}}},
      {"instance.extend", {{"name", "my-running"}, {"by", "1h"}}},
      {"instance.schedule", {{"name", "my-running"}, {"stop_at", "0 19 * * *"}}},
      {"instance.approve", {{"name", "my-waiting"}, {"reason", "a test"}}},
      {"instance.reject", {{"name", "my-waiting"}, {"reason", "a test"}}},
      {"instance.limits_set", {{"instances", "5"}}},
      {"instance.delete", {{"name", "my-running"}}},
      {"compute_profile.create", {{"name", "new"}, {"environment_template", "vm@v1"}}},
      {"compute_profile.edit", {{"name", "sku"}, {"display_name", "Small"}}},
      {"compute_profile.import", {{"file", kRafayProfile}}},
      {"compute_profile.publish", {{"name", "sku"}}},
      {"compute_profile.unpublish", {{"name", "sku"}}},
      {"compute_profile.share", {{"name", "sku"}, {"with", json::array{"all"}}}},
      {"compute_profile.delete", {{"name", "sku"}}},
      {"provisioner.add", {{"name", "more"}, {"driver", "script"}, {"folder", "/srv/more"}}},
      {"provisioner.remove", {{"name", "spare"}}},
      {"environment_template.add",
       {{"name", "more"},
        {"version", "v1"},
        {"driver", "script"},
        {"folder", template_folder("script")}}},
      {"environment_template.activate", {{"name", "fresh"}, {"version", "v1"}}},
      {"environment_template.disable", {{"name", "ready"}, {"version", "v1"}}},
      {"environment_template.remove", {{"name", "fresh"}, {"version", "v1"}}},
      {"serving.deploy", {{"name", "new"}, {"folder", "FOLDER"}, {"command", json::array{"true"}}}},
      {"serving.scale", {{"name", "served"}, {"replicas", 1}}},
      {"serving.delete", {{"name", "served"}}},
      {"pipeline.cancel", {{"name", "long"}}},
      {"pipeline.delete", {{"name", "run"}}},
  };
}

// What has an effect outside of the store: an entry for the intent, and one for what came of it.
bool is_launch(std::string_view route) {
  // their template runs between changes of their own
  for (const std::string_view run : {"launch", "start", "stop", "approve", "reject", "delete"})
    if (route == fmt::format("instance.{}", run)) return true;
  return route == "manifest.apply" || route == "ml_platform.provision" ||
         route.starts_with("serving.") || route.starts_with("workbench.") ||
         route.starts_with("pipeline.");
}

bool is_of_machines(std::string_view route) {
  return route.starts_with("machine") || route.starts_with("ml_platform.") ||
         route.starts_with("provisioner.") || route == "manifest.delete";
}

void prepare_for_mutations(TestExa& exa, std::string_view route) {
  prepare(exa);
  if (is_launch(route)) launch_in(exa, "default", "");
  if (route.starts_with("environment_template.")) templates_in(exa);
  if (is_of_machines(route)) {
    machines_in(exa);
    platform_in(exa, "default");
  }
  exa.ask("hardware_profile.set", {{"name", "other"}, {"accelerator_family", "cpu"}});
  exa.ask("hardware_profile.use", {{"name", "other"}, {"for", "workbench"}, {"as", "nb"}});
  if (route.starts_with("compute_profile.")) sku_in(exa, "default", "sku");
  if (route.starts_with("instance.")) {
    sku_in(exa, "default", "small");
    instances_in(exa, "default", "my-");
  }
  exa.ask("pool.add", {{"name", "pool"}, {"accelerator", "nvidia"}, {"count", 8}});
  exa.ask("pool.add", {{"name", "spare"}, {"accelerator", "nvidia"}});
  exa.ask("engine.add", {{"name", "own"}, {"backends", json::array{"cuda"}}});
  exa.ask("region.set", {{"region", "basement"}, {"jurisdiction", "eu"}});
  exa.ask("placement.place", {{"name", "held"}, {"gpus", 2}, {"reserve", true}});
  for (const char* user : {"grace", "linus"}) exa.ask("user.create", {{"name", user}});
  exa.ask("group.create", {{"name", "crew"}});
  exa.ask("group.add", {{"name", "crew"}, {"user", "linus"}});
  exa.ask("project_member.add", {{"project", "default"}, {"name", "linus"}, {"role", "admin"}});
  exa.ask("service_account.create", {{"name", "helper"},
                                     {"verbs", json::array{"usage:read"}},
                                     {"projects", json::array{"default"}}});
  exa.ask("token.create", {{"name", "old"}, {"for", "helper"}});
}

// With the id of the lease that was taken, of the token that was made, and a place for a backup.
json::object arguments_of(const Example& example, TestExa& exa) {
  json::object args = example.args;
  if (const json::value* id = args.if_contains("id"); id != nullptr && *id == "LEASE")
    args["id"] = exa.ask("lease.list", {}).at("items").at(0).at("id");
  if (const json::value* id = args.if_contains("id"); id != nullptr && *id == "TOKEN")
    args["id"] = exa.ask("token.list", {}).at("items").at(0).at("id");
  if (const json::value* id = args.if_contains("id"); id != nullptr && *id == "OPERATION")
    args["id"] = begun_operation(exa, exa.principal);
  if (args.contains("plan")) {
    args["plan"] = exa.ask("pipeline.run", {{"name", "new"},
                                            {"folder", (exa.folder() / "planned").string()},
                                            {"command", json::array{"true"}},
                                            {"dry_run", true}})
                       .at("plan")
                       .at("id");
  }
  if (args.contains("report")) args["report"] = machine_report(exa, "free-cp", 0, 2);
  if (const json::value* folder = args.if_contains("folder"); folder && *folder == "FOLDER")
    args["folder"] = (exa.folder() / "backup").string();
  return args;
}

TEST(RouteTable, TheExamplesCoverEveryMutatingRoute) {
  for (const Route& route : routes()) {
    // the setup code holds only while there are no users: accounts_test
    if (route.tier == Tier::read_only || route.id == "setup.complete") continue;
    const auto examples = mutations();
    EXPECT_NE(std::ranges::find(examples, route.id, &Example::route), examples.end()) << route.id;
  }
}

TEST(RouteTable, EveryMutationIsOneAuditEntryThatNamesIt) {
  for (const Example& example : mutations()) {
    if (example.route == "audit.recover") continue;  // there is nothing to recover here
    if (find_route(example.route)->observes) continue;
    TestExa exa;
    prepare_for_mutations(exa, example.route);
    const int64_t before = exa.audit_size();
    exa.ask(example.route, arguments_of(example, exa));
    const int64_t entries = exa.audit_size() - before;
    if (is_launch(example.route))
      EXPECT_GE(entries, 1) << example.route;
    else
      EXPECT_EQ(entries, 1) << example.route;
    const json::value entry =
        exa.ask("audit.list", {{"limit", entries}}).at("items").at(entries - 1);
    // a plan is done as the command that it is of
    const bool of_plan = example.route == "manifest.apply";
    EXPECT_EQ(std::string_view(entry.at("action").as_string()),
              of_plan ? std::string_view("pipeline.run") : std::string_view(example.route));
    EXPECT_EQ(entry.at("outcome"), "done");
    EXPECT_EQ(entry.at("actor_name"), "ada");
    EXPECT_FALSE(entry.at("object_name").as_string().empty()) << example.route;
  }
}

TEST(RouteTable, EveryRefusedMutationIsOneAuditEntryAndChangesNothing) {
  for (const Example& example : mutations()) {
    TestExa exa;
    prepare_for_mutations(exa, example.route);
    const int64_t before = exa.audit_size();
    Request request = build_request(*find_route(example.route), arguments_of(example, exa));
    request.query.emplace_back("nosuch", "1");
    const Reply reply = exa.send(request);
    EXPECT_EQ(reply.exit_code, 2) << example.route << reply.body;
    EXPECT_EQ(exa.audit_size(), before + 1) << example.route;
    EXPECT_EQ(exa.ask("audit.list", {{"limit", 1}}).at("items").at(0).at("outcome"), "refused");
  }
}

TEST(RouteTable, ADryRunAnswersAndChangesNothing) {
  for (const Example& example : mutations()) {
    TestExa exa;
    prepare_for_mutations(exa, example.route);
    const int64_t before = exa.audit_size();
    json::object args = arguments_of(example, exa);
    args["dry_run"] = true;
    exa.ask(example.route, args);
    EXPECT_EQ(exa.audit_size(), before) << example.route;
    // what the dry run promised can still be done
    exa.ask(example.route, arguments_of(example, exa));
  }
}

TEST(RouteTable, UnknownArgumentsAndFieldsAreRefusedByEveryRoute) {
  TestExa exa;
  for (const Route& route : routes()) {
    json::object args;
    for (const Param& param : route.params) {
      if (param.in == In::path) args[param.name] = param.choices.empty() ? "x" : param.choices[0];
    }
    Request request = build_request(route, args);
    request.query.emplace_back("nosuch", "1");
    EXPECT_THAT(exa.send(request).body, HasSubstr("/nosuch")) << route.id;
    request.query.clear();
    request.body = R"({"nosuch": 1, "nosuch": 2})";
    const Reply twice = exa.send(request);
    EXPECT_THAT(twice.body, HasSubstr("stands twice")) << route.id;
    request.body = "[1]";
    EXPECT_GE(exa.send(request).status, 400) << route.id;
  }
}

TEST(RouteTable, IdsCommandsAndPathsAreUnique) {
  std::vector<std::string> seen;
  for (const Route& route : routes()) {
    for (const std::string& key : {std::string(route.id), "command " + std::string(route.command),
                                   fmt::format("{} {}", name(route.method), route.path)}) {
      EXPECT_EQ(std::ranges::find(seen, key), seen.end()) << key;
      seen.push_back(key);
    }
    EXPECT_FALSE(route.summary.empty()) << route.id;
    for (const Param& param : route.params) {
      EXPECT_FALSE(param.help.empty()) << route.id << " " << param.name;
      // a word without a flag is needed, but for a file that something else can stand for, and the
      // name of one thing of a list
      EXPECT_TRUE(param.in == In::path || !param.flag.empty() || param.required ||
                  param.kind == Kind::file || param.kind == Kind::words ||
                  (route.method == Method::get && param.name == "name"))
          << route.id << " " << param.name;
    }
  }
}

TEST(Router, AnUnknownPathIsNotFoundAndAnotherMethodIsRefusedWithWhatWorks) {
  TestExa exa;
  Request request;
  request.path = "/api/v1/nothing";
  EXPECT_EQ(exa.send(request).status, 404);
  request.path = "/api/v1/clusters";
  request.method = Method::del;
  const Reply reply = exa.send(request);
  EXPECT_EQ(reply.status, 405);
  EXPECT_THAT(reply.body, HasSubstr("\"GET\""));
}

TEST(Router, NamesInPathsAreDecodedAndNeverBecomePaths) {
  TestExa exa;
  for (const char* name : {"..%2F..%2Fetc", "%00", "a%2Fb", "%zz", "%"}) {
    Request request;
    request.path = std::string("/api/v1/hardware-profiles/") + name;
    EXPECT_GE(exa.send(request).status, 400) << name;
  }
}

}  // namespace
}  // namespace exa
