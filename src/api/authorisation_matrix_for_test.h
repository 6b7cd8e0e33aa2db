// Every row of the route table, asked by every role about objects that are their own, shared with
// them, somebody else's, or not there. What must come out stands in
// testdata/authorisation/policy.csv, which people read and change by hand.
#pragma once

#include <map>

#include "api/authorise.h"
#include "api/testing.h"

namespace exa {

inline const std::vector<std::string>& matrix_roles() {
  static const std::vector<std::string> roles = {
      "viewer",          "member", "admin", "auditor", "platform-admin", "account-with-verb",
      "account-without", "nobody"};
  return roles;
}

struct PolicyLine {
  std::string route;     // "placement.place", or "placement.place+reserve" with that flag
  std::string relation;  // platform, own, shared, unshared, foreign, absent
  std::map<std::string, std::string> expected;  // by role: ok or an HTTP status
};

inline std::vector<PolicyLine> read_policy_lines() {
  std::istringstream file(read_test_file("authorisation/policy.csv"));
  std::vector<PolicyLine> lines;
  std::string text;
  while (std::getline(file, text)) {
    if (text.empty() || text[0] == '#' || text.starts_with("route,")) continue;
    std::vector<std::string> cells;
    std::istringstream row(text);
    for (std::string cell; std::getline(row, cell, ',');) {
      cell.erase(0, cell.find_first_not_of(' '));
      cell.erase(cell.find_last_not_of(' ') + 1);
      cells.push_back(cell);
    }
    EXPECT_EQ(cells.size(), matrix_roles().size() + 2) << text;
    PolicyLine line{cells[0], cells[1], {}};
    for (size_t i = 0; i < matrix_roles().size(); ++i)
      line.expected[matrix_roles()[i]] = cells[i + 2];
    lines.push_back(std::move(line));
  }
  return lines;
}

// Arguments of each route; texts in capitals stand for what the relation says. A route without a
// line here, or in the policy, fails.
inline const std::map<std::string, json::object>& matrix_arguments() {
  static const std::map<std::string, json::object> table = {
      {"hardware_profile.set",
       {{"name", "small"}, {"accelerator_family", "cpu"}, {"project", "P"}}},
      {"hardware_profile.list", {{"project", "P"}}},
      {"hardware_profile.list+shared", {{"project", "P"}, {"shared", true}}},
      {"hardware_profile.show", {{"name", "NAME"}, {"project", "P"}}},
      {"hardware_profile.resolve", {{"name", "NAME"}, {"project", "P"}, {"cluster", "hpc"}}},
      {"hardware_profile.delete", {{"name", "NAME"}, {"project", "P"}}},
      {"hardware_profile.label",
       {{"name", "small"}, {"label", "stable"}, {"version", 1}, {"project", "P"}}},
      {"hardware_profile.render", {{"name", "NAME"}, {"as", "sbatch"}, {"project", "P"}}},
      {"hardware_profile.import", {{"sbatch", "-c8"}, {"project", "P"}}},
      {"hardware_profile.import+name", {{"sbatch", "-c8"}, {"name", "small"}, {"project", "P"}}},
      {"hardware_profile.history", {{"name", "NAME"}, {"project", "P"}}},
      {"hardware_profile.diff", {{"from", "NAME@1"}, {"to", "NAME@2"}, {"project", "P"}}},
      {"hardware_profile.deprecate", {{"name", "NAME"}, {"redirect", "other"}, {"project", "P"}}},
      {"hardware_profile.suggest", {{"cluster", "hpc"}, {"project", "P"}}},
      {"hardware_profile.share",
       {{"name", "small"}, {"with", json::array{"all"}}, {"project", "P"}}},
      {"hardware_profile.in_use", {{"project", "P"}}},
      {"hardware_profile.use",
       {{"name", "NAME"}, {"for", "training"}, {"as", "new"}, {"project", "P"}}},
      {"hardware_profile.release", {{"for", "workbench"}, {"as", "nb"}, {"project", "P"}}},
      {"placement.place", {{"name", "job"}, {"hardware_profile", "NAME"}, {"project", "P"}}},
      {"placement.place+reserve", {{"name", "job"}, {"reserve", true}, {"project", "P"}}},
      {"placement.burst", {{"name", "job"}, {"project", "P"}}},
      {"placement.decisions", {{"project", "P"}}},
      {"placement.decision", {{"id", "DECISION"}}},
      {"placement.bursts", {{"project", "P"}}},
      {"lease.list", {{"project", "P"}}},
      {"lease.release", {{"id", "LEASE"}}},
      {"lease.renew", {{"id", "LEASE"}}},
      {"workbench.create",
       {{"name", "new"}, {"cluster", "hpc"}, {"folder", "/tmp/exa"}, {"project", "P"}}},
      {"workbench.list", {{"project", "P"}}},
      {"workbench.show", {{"name", "bench"}, {"project", "P"}}},
      {"workbench.logs", {{"name", "bench"}, {"project", "P"}}},
      {"workbench.start", {{"name", "ended"}, {"project", "P"}}},
      {"workbench.stop", {{"name", "bench"}, {"project", "P"}}},
      {"workbench.resize", {{"name", "ended"}, {"cpu", 1}, {"project", "P"}}},
      {"workbench.delete", {{"name", "bench"}, {"project", "P"}}},
      {"workbench.open", {{"name", "bench"}, {"project", "P"}}},
      {"pipeline.run", {{"cluster", "hpc"}, {"folder", "/tmp/exa"}, {"project", "P"}}},
      {"pipeline.distributed_launch",
       {{"model", "llama"}, {"cluster", "hpc"}, {"folder", "/tmp/exa"}, {"project", "P"}}},
      {"manifest.apply+plan", {{"plan", "PLAN"}}},
      {"manifest.apply", {{"file", kMlPlatform}, {"project", "P"}}},
      {"manifest.diff", {{"file", kWorkloadProfile}, {"project", "P"}}},
      {"manifest.get", {{"kind", "computeprofile"}, {"name", "edge"}, {"project", "P"}}},
      {"manifest.delete", {{"kind", "mlplatform"}, {"name", "llm"}, {"project", "P"}}},
      {"manifest.explain", {{"path", "compute"}}},
      {"machine_source.add", {{"name", "more"}, {"kind", "agent"}}},
      {"machine_source.list", {}},
      {"machine_source.remove", {{"name", "spare"}}},
      {"machine.discover", {{"source", "rack"}}},
      {"machine.list", {}},
      {"machine.show", {{"id", "free-gpu"}}},
      {"machine.report", {{"source", "edge"}, {"report", "REPORT"}}},
      {"machine.accept", {{"id", "odd"}}},
      {"machine.forget", {{"id", "unwanted"}}},
      {"ml_platform.plan", {{"name", "new"}, {"gpus", json::array{"1 H100"}}, {"project", "P"}}},
      {"ml_platform.create", {{"name", "new"}, {"gpus", json::array{"1 H100"}}, {"project", "P"}}},
      {"ml_platform.scale", {{"name", "llm"}, {"gpus", json::array{"1 H100"}}, {"project", "P"}}},
      {"ml_platform.list", {{"project", "P"}}},
      {"ml_platform.show", {{"name", "llm"}, {"project", "P"}}},
      {"ml_platform.render", {{"name", "llm"}, {"project", "P"}}},
      {"ml_platform.provision", {{"name", "llm"}, {"project", "P"}}},
      {"ml_platform.logs", {{"name", "llm"}, {"project", "P"}}},
      {"ml_platform.delete", {{"name", "llm"}, {"project", "P"}}},
      {"compute_profile.create",
       {{"name", "new"}, {"environment_template", "vm@v1"}, {"project", "P"}}},
      {"compute_profile.edit", {{"name", "small"}, {"display_name", "Other"}, {"project", "P"}}},
      {"compute_profile.import", {{"file", kRafayProfile}, {"project", "P"}}},
      {"compute_profile.publish", {{"name", "small"}, {"project", "P"}}},
      {"compute_profile.unpublish", {{"name", "small"}, {"project", "P"}}},
      {"compute_profile.share",
       {{"name", "small"}, {"with", json::array{"all"}}, {"project", "P"}}},
      {"compute_profile.delete", {{"name", "small"}, {"project", "P"}}},
      {"compute_profile.list", {{"project", "P"}}},
      {"compute_profile.show", {{"name", "NAME"}, {"project", "P"}}},
      {"compute_profile.history", {{"name", "NAME"}, {"project", "P"}}},
      {"compute_profile.diff", {{"name", "NAME"}, {"from", 1}, {"project", "P"}}},
      {"compute_profile.inputs", {{"name", "NAME"}, {"project", "P"}}},
      {"compute_profile.check",
       {{"name", "NAME"}, {"inputs", json::object{{"size", 2}}}, {"project", "P"}}},
      {"compute_profile.export", {{"name", "NAME"}, {"project", "P"}}},
      {"provisioner.add", {{"name", "more"}, {"driver", "script"}, {"folder", "/srv/more"}}},
      {"instance.launch", {{"name", "new"}, {"compute_profile", "small"}, {"project", "P"}}},
      {"instance.launch+for",
       {{"name", "new"}, {"compute_profile", "small"}, {"for", "linus"}, {"project", "P"}}},
      {"instance.list", {{"project", "P"}}},
      {"instance.offers", {{"project", "P"}}},
      {"instance.show", {{"name", "INSTANCE-running"}, {"project", "P"}}},
      {"instance.outputs", {{"name", "INSTANCE-running"}, {"project", "P"}}},
      {"instance.logs", {{"name", "INSTANCE-running"}, {"project", "P"}}},
      {"instance.reveal", {{"name", "INSTANCE-running"}, {"project", "P"}}},
      {"instance.stop", {{"name", "INSTANCE-running"}, {"project", "P"}}},
      {"instance.start", {{"name", "INSTANCE-stopped"}, {"project", "P"}}},
      {"instance.extend", {{"name", "INSTANCE-running"}, {"by", "1h"}, {"project", "P"}}},
      {"instance.schedule", {{"name", "INSTANCE-running"}, {"none", true}, {"project", "P"}}},
      {"instance.approve", {{"name", "INSTANCE-waiting"}, {"reason", "a test"}, {"project", "P"}}},
      {"instance.reject", {{"name", "INSTANCE-waiting"}, {"reason", "a test"}, {"project", "P"}}},
      {"instance.limits_show", {{"project", "P"}}},
      {"instance.limits_set", {{"instances", "5"}, {"project", "P"}}},
      {"instance.delete", {{"name", "INSTANCE-running"}, {"project", "P"}}},
      {"provisioner.list", {}},
      {"provisioner.remove", {{"name", "spare"}}},
      {"environment_template.add",
       {{"name", "more"},
        {"version", "v1"},
        {"driver", "script"},
        {"folder", template_folder("script")}}},
      {"environment_template.list", {}},
      {"environment_template.show", {{"name", "ready"}, {"version", "v1"}}},
      {"environment_template.activate", {{"name", "fresh"}, {"version", "v1"}}},
      {"environment_template.disable", {{"name", "ready"}, {"version", "v1"}}},
      {"environment_template.remove", {{"name", "fresh"}, {"version", "v1"}}},
      {"serving.deploy",
       {{"name", "new"},
        {"cluster", "hpc"},
        {"folder", "/tmp/exa"},
        {"command", json::array{"true"}},
        {"project", "P"}}},
      {"serving.render",
       {{"file", "name: chat\nengine: vllm\nmodel: m\nresources: {gpu: 1}\n"}, {"project", "P"}}},
      {"serving.list", {{"project", "P"}}},
      {"serving.show", {{"name", "served"}, {"project", "P"}}},
      {"serving.logs", {{"name", "served"}, {"project", "P"}}},
      {"serving.scale", {{"name", "served"}, {"replicas", 1}, {"project", "P"}}},
      {"serving.delete", {{"name", "served"}, {"project", "P"}}},
      {"pipeline.list", {{"project", "P"}}},
      {"pipeline.show", {{"name", "run"}, {"project", "P"}}},
      {"pipeline.wait", {{"name", "run"}, {"project", "P"}}},
      {"pipeline.logs", {{"name", "run"}, {"project", "P"}}},
      {"pipeline.cancel", {{"name", "long"}, {"project", "P"}}},
      {"pipeline.delete", {{"name", "run"}, {"project", "P"}}},
      {"usage.cost", {{"project", "P"}}},
      {"usage.cost+all_projects", {{"all_projects", true}}},
      {"usage.carbon", {{"project", "P"}}},
      {"usage.sums", {{"project", "P"}}},
      {"usage.records", {{"project", "P"}}},
      {"project_member.list", {{"project", "P"}}},
      {"project_member.add", {{"project", "P"}, {"name", "grace"}, {"role", "viewer"}}},
      {"project_member.remove", {{"project", "P"}, {"name", "linus"}}},
      {"project_limits.get", {{"project", "P"}}},
      {"project_limits.set", {{"project", "P"}, {"family", "nvidia"}, {"at_once", 6}}},
      {"project.residency", {{"name", "P"}, {"class", "eu-only"}}},
      {"project.residency_show", {{"name", "P"}}},
      {"project.create", {{"name", "new"}}},
      {"project.list", {}},
      {"cluster.add", {{"name", "more"}, {"kind", "host"}}},
      {"cluster.list", {}},
      {"cluster.show", {{"name", "hpc"}}},
      {"cluster.discover", {{"name", "hpc"}}},
      {"cluster.capture", {{"name", "hpc"}}},
      {"cluster.remove", {{"name", "hpc"}}},
      {"pool.add", {{"name", "more"}, {"accelerator", "amd"}}},
      {"pool.list", {}},
      {"pool.show", {{"name", "pool"}}},
      {"pool.drain", {{"name", "pool"}}},
      {"pool.remove", {{"name", "spare"}}},
      {"engine.list", {}},
      {"engine.show", {{"name", "own"}}},
      {"engine.add", {{"name", "more"}, {"backends", json::array{"cuda"}}}},
      {"engine.remove", {{"name", "own"}}},
      {"engine.portable", {{"engine", "vllm"}, {"accelerator", "nvidia"}}},
      {"burst_policy.get", {}},
      {"burst_policy.set", {{"cloud", "off"}}},
      {"region.list", {}},
      {"region.show", {{"region", "basement"}}},
      {"region.set", {{"region", "attic"}, {"jurisdiction", "eu"}}},
      {"region.unset", {{"region", "basement"}}},
      {"simulation.run",
       {{"nodes", "sn,cpu_milli,memory_mib,gpu,model\nn1,64000,262144,2,T4\n"},
        {"arrivals",
         "seq,pod,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n0,a,1000,1024,1,500,\n"}}},
      {"audit.list", {}},
      {"audit.verify", {}},
      {"audit.export", {}},
      {"audit.recover", {{"reason", "a test"}}},
      {"user.create", {{"name", "new"}}},
      {"user.list", {}},
      {"user.show", {{"name", "grace"}}},
      {"user.disable", {{"name", "grace"}}},
      {"user.password", {{"name", "grace"}, {"password", "correct horse battery"}}},
      {"user.role", {{"name", "grace"}, {"role", "platform-admin"}}},
      {"group.create", {{"name", "new"}}},
      {"group.list", {}},
      {"group.add", {{"name", "crew"}, {"user", "grace"}}},
      {"group.remove", {{"name", "crew"}, {"user", "grace"}}},
      {"auth.status", {}},
      {"status.show", {}},
      {"event.list", {}},
      {"backup.create", {{"folder", "/nowhere/yet"}, {"dry_run", true}}},
      {"operation.list", {}},
      {"operation.show", {{"id", "OPERATION"}}},
      {"operation.cancel", {{"id", "OPERATION"}}},
      {"setup.complete",
       {{"code", "guessed"}, {"user", "eve"}, {"password", "correct horse battery"}}},
      {"service_account.create",
       {{"name", "robot"},
        {"verbs", json::array{"hardware_profile:read"}},
        {"projects", json::array{"P"}}}},
      {"service_account.list", {}},
      {"service_account.disable", {{"name", "ACCOUNT"}}},
      {"token.create",
       {{"name", "ci"},
        {"scope", json::array{"hardware_profile:read"}},
        {"projects", json::array{"P"}}}},
      {"token.list", {}},
      {"token.revoke", {{"id", "TOKEN"}}},
  };
  return table;
}

// One exa with the same things in a project of the caller's and in one of somebody else's.
class AuthorisationWorld {
 public:
  AuthorisationWorld() {
    exa.probe = [this]() -> Result<Capture> { return slurm_capture(exa.now); };
    exa.ask("cluster.add", {{"name", "hpc"}, {"kind", "slurm"}});
    exa.ask("cluster.discover", {{"name", "hpc"}});
    exa.ask("pool.add", {{"name", "pool"}, {"accelerator", "nvidia"}, {"count", 64}});
    exa.ask("pool.add", {{"name", "spare"}, {"accelerator", "nvidia"}});
    exa.ask("engine.add", {{"name", "own"}, {"backends", json::array{"cuda"}}});
    exa.ask("region.set", {{"region", "basement"}, {"jurisdiction", "eu"}});
    for (const char* user : {"grace", "linus"}) exa.ask("user.create", {{"name", user}});
    exa.ask("group.create", {{"name", "crew"}});
    machines_in(exa);
    templates_in(exa);
    for (const char* project : {"vision", "secret"}) fill(project);
    exa.ask("hardware_profile.share",
            {{"name", "shared"}, {"with", json::array{"vision"}}, {"project", "secret"}});
    exa.ask("compute_profile.share",
            {{"name", "shared"}, {"with", json::array{"vision"}}, {"project", "secret"}});
    tokens_of("user", "somebody-else");
  }

  TestExa exa;

  Principal principal_of(const std::string& role, const Route& route, bool stronger) {
    Principal who{"user", role, "user:" + role, {}, "", {}};
    Rights& rights = who.rights;
    if (const auto in_project = find_role(role)) rights.by_project["vision"] = *in_project;
    rights.auditor = role == "auditor";
    rights.platform_admin = role == "platform-admin";
    if (role == "nobody") who = {};
    if (role.starts_with("account")) {
      who.kind = "service-account";
      const std::string action(stronger ? route.action_with.action : route.action);
      const std::string other = action == "simulation:run" ? "self:read" : "simulation:run";
      rights.verbs = {role == "account-with-verb" ? action : other};
      rights.verb_projects = {"vision"};
    }
    return who;
  }

  // What comes out: "ok" or the status; `body` gets the reply's.
  std::string outcome(std::span<const Route> table, const PolicyLine& line, const std::string& role,
                      std::string* body = nullptr) {
    const std::string id = line.route.substr(0, line.route.find('+'));
    const auto route = std::ranges::find(table, std::string_view(id), &Route::id);
    const auto args = matrix_arguments().find(line.route);
    if (route == table.end() || args == matrix_arguments().end()) return "no such route";
    const Route& original = *find_route(id);
    Principal who = principal_of(
        role, original,
        line.route.find('+') != std::string::npos && !original.action_with.action.empty());
    const json::value filled = fill_in(args->second, line.relation, role, who);
    json::object asked = filled.as_object();
    const bool can_rehearse = std::ranges::find(route->params, std::string_view("dry_run"),
                                                &Param::name) != route->params.end();
    if (can_rehearse) asked["dry_run"] = true;
    Request request = build_request(original, asked);
    request.principal = who;
    request.origin = "test:1";
    const Reply reply = Router(exa.service(), table).handle(request);
    if (body != nullptr) *body = reply.body;
    return reply.status < 300 ? "ok" : std::to_string(reply.status);
  }

  static std::string project_of(const std::string& relation) {
    if (relation == "foreign") return "secret";
    return relation == "absent" ? "nowhere" : "vision";
  }

 private:
  void fill(const std::string& project) {
    exa.ask("project.create", {{"name", project}});
    for (const char* name : {"small", "small", "other", "shared", "shared", "hidden"})
      exa.ask("hardware_profile.set",
              {{"name", name}, {"accelerator_family", "cpu"}, {"cpu", 1}, {"project", project}});
    exa.ask("hardware_profile.use",
            {{"name", "other"}, {"for", "workbench"}, {"as", "nb"}, {"project", project}});
    exa.ask("project_member.add", {{"project", project}, {"name", "linus"}, {"role", "admin"}});
    exa.ask("service_account.create", {{"name", "bot-" + project},
                                       {"verbs", json::array{"hardware_profile:read"}},
                                       {"projects", json::array{project}}});
    launch_in(exa, project, "hpc");
    platform_in(exa, project);
    for (const char* name : {"small", "shared", "hidden"}) sku_in(exa, project, name);
    plans_[project] = exa.ask("pipeline.run", {{"name", "planned"},
                                               {"cluster", "hpc"},
                                               {"folder", "/tmp/exa"},
                                               {"project", project},
                                               {"dry_run", true}})
                          .at("plan")
                          .at("id")
                          .as_string();
    const json::value placed =
        exa.ask("placement.place", {{"name", "held"}, {"reserve", true}, {"project", project}});
    decisions_[project] = placed.at("id").as_string();
    leases_[project] = placed.at("lease").at("id").as_string();
  }

  static std::string absent_or(std::string name, const std::string& relation) {
    return relation == "absent" ? "nothing" : std::move(name);
  }

  // A token that belongs to somebody; made once.
  std::string tokens_of(const std::string& kind, const std::string& name) {
    std::string& id = tokens_[kind + name];
    if (!id.empty()) return id;
    const Principal before = exa.principal;
    exa.principal = {kind, name, kind + ":" + name, {}, "", {}};
    if (kind == "service-account") exa.principal.rights.verbs = {"token:write"};
    id = exa.ask("token.create", {{"name", "mine"}}).at("id").as_string();
    exa.principal = before;
    return id;
  }

  json::value fill_in(const json::value& value, const std::string& relation,
                      const std::string& role, const Principal& who) {
    if (value.is_object()) {
      json::object filled;
      for (const auto& member : value.get_object())
        filled[member.key()] = fill_in(member.value(), relation, role, who);
      return filled;
    }
    if (value.is_array()) {
      json::array filled;
      for (const json::value& one : value.get_array())
        filled.push_back(fill_in(one, relation, role, who));
      return filled;
    }
    if (!value.is_string()) return value;
    const std::string text(value.get_string());
    const std::string project = project_of(relation);
    if (text == "P") return json::value(project);
    if (text == "REPORT") return json::value(machine_report(exa, "free-cp", 0, 2));
    if (text == "ACCOUNT") return json::value(absent_or("bot-" + project, relation));
    if (text.starts_with("NAME")) {
      const std::string rest = text.substr(4);
      if (relation == "shared") return json::value("secret/shared" + rest);
      if (relation == "unshared") return json::value("secret/hidden" + rest);
      return json::value("small" + rest);
    }
    if (text.starts_with("INSTANCE"))
      return json::value(instance_of(project, role) + text.substr(8));
    const bool absent = relation == "absent";
    if (text == "DECISION") return json::value(absent ? "nothing" : decisions_[project]);
    if (text == "PLAN") return json::value(absent ? "nothing" : plans_[project]);
    if (text == "LEASE") return json::value(absent ? "nothing" : leases_[project]);
    if (text == "TOKEN") {
      if (absent || !who.signed_in()) return json::value("nothing");
      return json::value(relation == "own" ? tokens_of(who.kind, role)
                                           : tokens_of("user", "somebody-else"));
    }
    if (text == "OPERATION") {
      if (absent || !who.signed_in()) return json::value("nothing");
      return json::value(relation == "own"
                             ? operation_of(who)
                             : operation_of({"user", "linus", "user:linus", {}, "", {}}));
    }
    return value;
  }

  // An instance is its owner's: whoever does not manage those of others has some, made once.
  std::string instance_of(const std::string& project, const std::string& role) {
    const std::string owner =
        project == "vision" && role == "account-with-verb" ? role : std::string("member");
    if (project == "nowhere" || !instances_.insert(project + "/" + owner).second) return owner;
    const Principal before = exa.principal;
    exa.principal = {"user", owner, "user:" + owner, rights_of_owner(), "", {}};
    instances_in(exa, project, owner + "-");
    exa.principal = before;
    return owner;
  }

  // Made once for each.
  std::string operation_of(const Principal& who) {
    std::string& id = operations_[who.id];
    if (id.empty()) id = begun_operation(exa, who);
    return id;
  }

  std::map<std::string, std::string> operations_;  // by who began it
  std::map<std::string, std::string> decisions_;
  std::map<std::string, std::string> leases_, plans_;
  std::map<std::string, std::string> tokens_;
  std::set<std::string> instances_;  // "PROJECT/ROLE"
};

}  // namespace exa
