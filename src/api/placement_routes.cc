// Rows and handlers of placement: `exa hardware place`, `burst`, `decisions`, leases (requirement
// "Heterogeneous Hardware & Hybrid HPC <-> Cloud", section CLI).
#include "api/cursor.h"
#include "api/handlers.h"
#include "place/policy.h"
#include "service/leases.h"
#include "service/placements.h"

namespace exa {
namespace {

const std::vector<std::string_view> kTargets = {"hpc", "cloud", "any"};

// The members of a workload's document, under the names that the row gives them.
constexpr std::string_view kAsk[] = {
    "name",  "accelerator", "capabilities", "target",     "engine", "fraction", "gpus",
    "nodes", "cpu",         "memory_gb",    "gpu_memory", "model",  "residency"};

json::object ask_args(const Call& call) {
  json::object ask;
  for (const std::string_view key : kAsk) {
    if (const json::value* value = call.args.if_contains(key)) ask[key] = *value;
  }
  if (call.flag("no_fallback")) ask["fallback"] = false;
  return ask;
}

Result<Duration> lifetime_of(const Call& call) {
  EXA_ASSIGN(const Duration lifetime, parse_duration(call.text("ttl")));
  if (lifetime < seconds(1) || lifetime > hours(24 * 365)) {
    return fail(invalid("lease", {{"/ttl", "is not between 1s and a year", ""}}));
  }
  return lifetime;
}

Result<Reply> decide(Service& service, const Call& call, bool burst) {
  PlaceWorkload what;
  what.project = call.text("project");
  what.workload = ask_args(call);
  what.hardware_profile = call.text("hardware_profile");
  what.dataset_residency = call.text("dataset_residency");
  what.burst = burst;
  what.opted_in = !burst || call.flag("allow_burst");
  what.reserve = call.flag("reserve");
  EXA_ASSIGN(what.lifetime, lifetime_of(call));
  EXA_ASSIGN(Answer answer, place_workload(service, call.caller, what));
  if (!call.flag("explain")) answer.body.erase("candidates");  // kept with the decision
  return reply_of(std::move(answer));
}

Result<Reply> decide_inside(Service& service, const Call& call) {
  if (call.flag("reserve")) {
    return fail(invalid("place", {{"/reserve",
                                   "takes devices of a pool; inside a cluster its own scheduler "
                                   "gives them out",
                                   ""}}));
  }
  PlaceOnCluster what;
  what.project = call.text("project");
  what.workload = ask_args(call);
  what.hardware_profile = call.text("hardware_profile");
  what.dataset_residency = call.text("dataset_residency");
  what.cluster = call.text("cluster");
  what.policy = call.text("policy");
  what.group = call.text("group");
  what.group_required = call.flag("require_group");
  what.mig_profile = call.text("mig_profile");
  EXA_ASSIGN(Answer answer, place_inside(service, call.caller, what));
  if (!call.flag("explain")) answer.body.erase("left_out");  // kept with the decision
  return reply_of(std::move(answer));
}

Result<Reply> place(Service& service, const Call& call) {
  if (call.has("cluster")) return decide_inside(service, call);
  for (const std::string_view key : {"group", "mig_profile", "require_group"}) {
    if (call.args.contains(key))
      return fail(invalid("place", {{pointer("", key), "means nothing without --cluster", ""}}));
  }
  return decide(service, call, false);
}

Result<Reply> burst(Service& service, const Call& call) {
  return decide(service, call, true);
}

// A page of a list whose cursors are its own.
Result<Reply> paged(const Call& call, std::string_view list_name, const auto& answer_page) {
  Page page{call.text("project"), "", call.integer("limit", 50)};
  EXA_ASSIGN(page.after, place_before(call, list_name));
  EXA_ASSIGN(Answer answer, answer_page(page));
  close_cursor(answer.body, list_name);
  return reply_of(std::move(answer));
}

Result<Reply> decisions(Service& service, const Call& call) {
  return paged(call, "decisions", [&](const Page& page) { return list_decisions(service, page); });
}

Result<Reply> decision(Service& service, const Call& call) {
  return reply_of(show_decision(service, call.caller, call.text("id")));
}

Result<Reply> bursts(Service& service, const Call& call) {
  return paged(call, "bursts", [&](const Page& page) { return list_bursts(service, page); });
}

Result<Reply> leases(Service& service, const Call& call) {
  return paged(call, "leases",
               [&](const Page& page) { return list_leases(service, page, call.flag("all")); });
}

Result<Reply> release(Service& service, const Call& call) {
  return reply_of(release_lease(service, call.caller, call.text("id")));
}

Result<Reply> renew(Service& service, const Call& call) {
  EXA_ASSIGN(const Duration lifetime, lifetime_of(call));
  return reply_of(renew_lease(service, call.caller, call.text("id"), lifetime));
}

Param lifetime_param(std::string_view help) {
  return {.name = "ttl",
          .in = In::body,
          .kind = Kind::duration,
          .flag = "--ttl",
          .help = help,
          .fallback = "1h"};
}

Param id_param(std::string_view help, std::string_view completes) {
  return {.name = "id", .in = In::path, .help = help, .required = true, .completes = completes};
}

std::vector<Param> ask_params() {
  return {
      {.name = "name", .in = In::body, .help = "name of the workload", .required = true},
      {.name = "hardware_profile",
       .in = In::body,
       .flag = "--hardware-profile",
       .help = "take from this profile what is not given: name, name@3 or name@label",
       .completes = "profile"},
      {.name = "accelerator",
       .in = In::body,
       .kind = Kind::choice,
       .flag = "--accelerator",
       .help = "family of devices (default nvidia)",
       .choices = family_choices()},
      {.name = "engine",
       .in = In::body,
       .flag = "--engine",
       .help = "what runs it (default generic); see exa hardware engines",
       .completes = "engine"},
      {.name = "gpus",
       .in = In::body,
       .kind = Kind::integer,
       .flag = "--gpus",
       .help = "devices on each node (default 1)"},
      {.name = "nodes",
       .in = In::body,
       .kind = Kind::integer,
       .flag = "--nodes",
       .help = "number of nodes (default 1)"},
      {.name = "fraction",
       .in = In::body,
       .kind = Kind::decimal,
       .flag = "--fraction",
       .help = "share of each device, above 0 and at most 1 (default 1)"},
      {.name = "cpu",
       .in = In::body,
       .kind = Kind::decimal,
       .flag = "--cpu",
       .help = "cores on each node"},
      {.name = "memory_gb",
       .in = In::body,
       .kind = Kind::decimal,
       .flag = "--memory-gb",
       .help = "memory on each node in GiB"},
      {.name = "gpu_memory",
       .in = In::body,
       .flag = "--gpu-memory",
       .help = "least memory of a device with its unit, e.g. 40GB"},
      {.name = "model", .in = In::body, .flag = "--model", .help = "model wanted, e.g. A100-80GB"},
      {.name = "capabilities",
       .in = In::body,
       .kind = Kind::csv,
       .flag = "--capabilities",
       .help = "tags that the pool must advertise, comma-separated"},
      {.name = "residency",
       .in = In::body,
       .flag = "--residency",
       .help = "how far its data may go: open, eu-only, no-egress, restricted"},
      {.name = "dataset_residency",
       .in = In::body,
       .flag = "--dataset-residency",
       .help = "the class that its dataset is labelled with; the strictest counts"},
      {.name = "explain",
       .kind = Kind::flag,
       .flag = "--explain",
       .help = "show every pool and every reason against it"},
  };
}

// A burst goes to the cloud; anything else may say where.
Param target_param() {
  return {.name = "target",
          .in = In::body,
          .kind = Kind::choice,
          .flag = "--target",
          .help = "where it may run (default any)",
          .choices = kTargets};
}

std::vector<Param> with(std::vector<Param> params, std::vector<Param> more) {
  for (Param& param : more) params.push_back(std::move(param));
  params.push_back(project_param());
  params.push_back(dry_run_param());
  return params;
}

Param reserve_param() {
  return {.name = "reserve",
          .in = In::body,
          .kind = Kind::flag,
          .flag = "--reserve",
          .help = "take the devices under a lease; without it the answer is advice"};
}

constexpr std::string_view kRead = "placement:read";
constexpr std::string_view kWrite = "placement:write";
constexpr std::string_view kPlan = "placement:plan";

}  // namespace

std::vector<Route> placement_routes() {
  return {
      {.id = "placement.place",
       .method = Method::post,
       .path = "/api/v1/placements",
       .command = "hardware place",
       .tier = Tier::mutating,
       .action = kPlan,
       .action_with = {"reserve", kWrite},
       .summary = "Say where a workload should run, why there and why not elsewhere",
       .detail = "The decision is kept with every candidate. Exit code 6: no pool can take it "
                 "(now, or ever: the answer says which); 7: policy forbids every pool that could.",
       .params =
           with(ask_params(), {target_param(),
                               {.name = "no_fallback",
                                .in = In::body,
                                .kind = Kind::flag,
                                .flag = "--no-fallback",
                                .help = "only on the accelerator asked for"},
                               reserve_param(),
                               lifetime_param("how long a lease holds"),
                               {.name = "cluster",
                                .in = In::body,
                                .flag = "--cluster",
                                .help = "choose nodes and devices inside this cluster",
                                .completes = "cluster"},
                               {.name = "policy",
                                .in = In::body,
                                .kind = Kind::choice,
                                .flag = "--policy",
                                .help = "how nodes are chosen inside a cluster",
                                .fallback = "exa",
                                .choices = {policy_names().begin(), policy_names().end()}},
                               {.name = "group",
                                .in = In::body,
                                .flag = "--group",
                                .help = "resource group inside a cluster, e.g. partition/gpu"},
                               {.name = "require_group",
                                .in = In::body,
                                .kind = Kind::flag,
                                .flag = "--require-group",
                                .help = "nowhere but in the group (else it is preferred)"},
                               {.name = "mig_profile",
                                .in = In::body,
                                .flag = "--mig-profile",
                                .help = "MIG instances inside a cluster, e.g. 1g.10gb"}}),
       .handler = place,
       .reply = "Placement",
       .creates = true,
       .examples = {"exa hardware place train --accelerator amd --engine vllm --target hpc",
                    "exa hardware place train --gpus 2 --reserve --ttl 4h"}},
      {.id = "placement.burst",
       .method = Method::post,
       .path = "/api/v1/bursts",
       .command = "hardware burst",
       .tier = Tier::mutating,
       .action = "burst:write",
       .summary = "Ask for a place in the cloud, where data residency permits",
       .detail =
           "Bursting is opt-in (--allow-burst). Every attempt, allowed or blocked, is kept as "
           "an event and in the audit log. Exit code 7: blocked.",
       .params = with(ask_params(), {{.name = "allow_burst",
                                      .in = In::body,
                                      .kind = Kind::flag,
                                      .flag = "--allow-burst",
                                      .help = "you agree that data leaves the premises"},
                                     reserve_param(),
                                     lifetime_param("how long a lease holds")}),
       .handler = burst,
       .reply = "Placement",
       .creates = true,
       .examples = {"exa hardware burst train --accelerator nvidia --residency eu-only "
                    "--allow-burst"}},
      {.id = "placement.decisions",
       .path = "/api/v1/decisions",
       .command = "hardware decisions",
       .action = kRead,
       .summary = "List recent placement decisions, the newest first",
       .params = {project_param(), limit_param(), cursor_param()},
       .handler = decisions,
       .reply = "DecisionList",
       .examples = {"exa hardware decisions"}},
      {.id = "placement.decision",
       .path = "/api/v1/decisions/{id}",
       .command = "hardware decisions show",
       .action = kRead,
       .project_from = kOfObject,
       .summary = "Show a decision with every candidate, its prices as they were",
       .params = {id_param("id of the decision", "")},
       .handler = decision,
       .reply = "Decision"},
      {.id = "placement.bursts",
       .path = "/api/v1/bursts",
       .command = "hardware bursts",
       .action = "burst:read",
       .summary = "List attempts at the cloud, allowed and blocked, the newest first",
       .params = {project_param(), limit_param(), cursor_param()},
       .handler = bursts,
       .reply = "BurstEventList",
       .examples = {"exa hardware bursts"}},
      {.id = "lease.list",
       .path = "/api/v1/leases",
       .command = "hardware leases",
       .action = kRead,
       .summary = "List who holds which devices until when",
       .params = {{.name = "all",
                   .kind = Kind::flag,
                   .flag = "--all",
                   .help = "those that have ended, too"},
                  project_param(),
                  limit_param(),
                  cursor_param()},
       .handler = leases,
       .reply = "LeaseList",
       .examples = {"exa hardware leases"}},
      {.id = "lease.release",
       .method = Method::del,
       .path = "/api/v1/leases/{id}",
       .command = "hardware lease release",
       .tier = Tier::mutating,
       .action = kWrite,
       .project_from = kOfObject,
       .summary = "Give the devices of a lease back",
       .params = {id_param("id of the lease", "lease"), dry_run_param()},
       .handler = release,
       .reply = "Lease"},
      {.id = "lease.renew",
       .method = Method::put,
       .path = "/api/v1/leases/{id}",
       .command = "hardware lease renew",
       .tier = Tier::mutating,
       .action = kWrite,
       .project_from = kOfObject,
       .summary = "Hold the devices of a lease on, from now",
       .params = {id_param("id of the lease", "lease"),
                  lifetime_param("how long it holds from now"), dry_run_param()},
       .handler = renew,
       .reply = "Lease"},
  };
}

}  // namespace exa
