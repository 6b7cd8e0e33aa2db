// Rows and handlers of `exa mlplatform …` and `exa provisioner …`: an ML platform by what it needs,
// never by machine (requirement "Compute Profile and Compute").
#include <fmt/format.h>

#include "api/handlers.h"
#include "profile/validate.h"
#include "service/platform_build.h"

namespace exa {
namespace {

const std::vector<std::string_view> kModes = {"dedicated", "shared"};
const std::vector<std::string_view> kDrivers = {"script", "ansible", "opentofu"};

// "KEY=VALUE" of a list argument; problems are found by check_ask.
Result<ResourceGroups> groups_arg(const Call& call, std::string_view key) {
  ResourceGroups groups;
  for (const std::string& text : texts_arg(call, key)) {
    EXA_ASSIGN(auto group, parse_tag(text));
    groups.push_back(std::move(group));
  }
  std::ranges::sort(groups);
  return groups;
}

template <typename Parse>
void check_list(const json::object& args, std::string_view key, Parse parse,
                std::vector<Problem>& problems) {
  const json::value* list = args.if_contains(key);
  if (list == nullptr || !list->is_array()) return;
  for (size_t i = 0; i < list->get_array().size(); ++i) {
    const json::value& each = list->get_array()[i];
    if (!each.is_string()) continue;
    if (const auto parsed = parse(std::string_view(each.get_string())); !parsed)
      problems.push_back({fmt::format("/{}/{}", key, i), parsed.error().message, ""});
  }
}

std::vector<Problem> check_ask(const json::object& args) {
  std::vector<Problem> problems;
  if (const auto checked = check_name(text_or(args, "name", ""), "platform name"); !checked)
    problems.push_back({"/name", checked.error().message, ""});
  check_list(args, "gpus", parse_gpu_request, problems);
  check_list(args, "resource_group", parse_tag, problems);
  check_list(args, "control_plane_resource_group", parse_tag, problems);
  if (const std::string_view memory = text_or(args, "gpu_memory", ""); !memory.empty())
    if (const auto parsed = parse_gpu_memory(memory); !parsed)
      problems.push_back({"/gpu_memory", parsed.error().message, ""});
  return problems;
}

// What was given over what the platform has, field by field.
Result<MlPlatformSpec> spec_over(const Call& call, MlPlatformSpec spec) {
  if (call.has("gpus")) {
    spec.gpus.clear();
    for (const std::string& text : texts_arg(call, "gpus")) {
      EXA_ASSIGN(auto one, parse_gpu_request(text));
      spec.gpus.push_back(std::move(one));
    }
    std::ranges::sort(spec.gpus);
    const auto same = std::ranges::adjacent_find(
        spec.gpus, {}, [](const auto& each) -> const std::string& { return each.first.key; });
    if (same != spec.gpus.end())
      return fail(
          invalid("gpus", {{"/gpus", fmt::format("name {} twice", same->first.shown), ""}}));
  }
  if (call.has("gpu_memory")) {
    EXA_ASSIGN(spec.gpu_memory_bytes, parse_gpu_memory(call.text("gpu_memory")));
  }
  if (call.has("compute_profile")) spec.compute_profile_ref = call.text("compute_profile");
  if (call.has("workload_profile")) spec.workload_profile_ref = call.text("workload_profile");
  if (call.has("min_workers")) spec.override_["minWorkerNodes"] = call.integer("min_workers", 0);
  if (call.has("mode"))
    spec.mode = find_allocation_mode(call.text("mode")).value_or(AllocationMode::dedicated);
  if (call.has("architecture")) spec.architecture = call.text("architecture");
  if (call.has("resource_group")) {
    EXA_ASSIGN(spec.worker_groups, groups_arg(call, "resource_group"));
  }
  if (call.has("control_plane_resource_group")) {
    EXA_ASSIGN(spec.control_plane_groups, groups_arg(call, "control_plane_resource_group"));
  }
  return spec;
}

// The ask: of a platform that is there its own, with what was given over it.
Result<PlatformAsk> ask_of(Service& service, const Call& call) {
  PlatformAsk ask{call.text("project"), call.text("name"), {}, {}};
  EXA_TRY(service.store().read([&](Transaction& tx) -> Result<void> {
    EXA_ASSIGN(const auto stored,
               load_manifest(tx, ask.project, PaletteKind::ml_platform, ask.name));
    if (stored) ask.spec = ml_platform_spec(stored->manifest);
    return {};
  }));
  EXA_ASSIGN(ask.spec, spec_over(call, std::move(ask.spec)));
  ask.document = platform_document(ask.project, ask.name, ask.spec);
  EXA_TRY(manifest_of(ask.document));
  return ask;
}

Result<Reply> plan(Service& service, const Call& call) {
  EXA_ASSIGN(const PlatformAsk ask, ask_of(service, call));
  return reply_of(plan_platform(service, call.caller, ask));
}

Result<Reply> create(Service& service, const Call& call) {
  EXA_ASSIGN(const PlatformAsk ask, ask_of(service, call));
  EXA_ASSIGN(Answer answer, create_platform(service, call.caller, ask));
  const json::value* provisioner = find(answer.body, "provisioner");
  const bool builds = provisioner != nullptr && provisioner->is_string() &&
                      !call.flag("reserve_only") && !call.caller.dry_run;
  if (!builds) return reply_of(std::move(answer));
  EXA_ASSIGN(answer, build_platform(service, call.caller, ask.project, ask.name));
  answer.status = 201;
  return reply_of(std::move(answer));
}

Result<Reply> scale(Service& service, const Call& call) {
  EXA_ASSIGN(const PlatformAsk ask, ask_of(service, call));
  return reply_of(scale_platform(service, call.caller, ask));
}

Result<Reply> list(Service& service, const Call& call) {
  return reply_of(list_platforms(service, call.text("project")));
}

Result<Reply> show(Service& service, const Call& call) {
  return reply_of(show_platform(service, call.text("project"), call.text("name")));
}

Result<Reply> render(Service& service, const Call& call) {
  return reply_of(render_platform(service, call.text("project"), call.text("name")));
}

Result<Reply> provision(Service& service, const Call& call) {
  return reply_of(build_platform(service, call.caller, call.text("project"), call.text("name")));
}

Result<Reply> logs(Service& service, const Call& call) {
  return reply_of(platform_logs(service, call.text("project"), call.text("name")));
}

Result<Reply> remove(Service& service, const Call& call) {
  return reply_of(delete_platform(service, call.caller, call.text("project"), call.text("name"),
                                  call.flag("abandon"), call.text("reason")));
}

std::vector<Problem> check_delete(const json::object& args) {
  const json::value* abandon = args.if_contains("abandon");
  const bool abandons = abandon != nullptr && abandon->is_bool() && abandon->get_bool();
  if (!abandons || !text_or(args, "reason", "").empty()) return {};
  return {{"/reason", "is needed with --abandon: the log keeps it", ""}};
}

Result<Reply> provisioner_add(Service& service, const Call& call) {
  Provisioner what;
  what.name = call.text("name");
  const ProvisionDriverInfo* driver = find_provision_driver(call.text("driver"));
  if (driver != nullptr) what.driver = driver->driver;
  what.folder = call.text("folder");
  what.outputs = texts_arg(call, "outputs");
  EXA_ASSIGN(what.time_limit, parse_duration(call.text("time_limit")));
  return reply_of(add_provisioner(service, call.caller, std::move(what)));
}

Result<Reply> provisioner_list(Service& service, const Call&) {
  return reply_of(list_provisioners(service));
}

Result<Reply> provisioner_remove(Service& service, const Call& call) {
  return reply_of(remove_provisioner(service, call.caller, call.text("name")));
}

std::vector<Problem> check_provisioner(const json::object& args) {
  std::vector<Problem> problems;
  if (const auto checked = check_name(text_or(args, "name", ""), "provisioner name"); !checked)
    problems.push_back({"/name", checked.error().message, ""});
  if (!text_or(args, "folder", "").starts_with('/'))
    problems.push_back({"/folder", "is not an absolute path", ""});
  return problems;
}

Param platform_name() {
  return {.name = "name",
          .in = In::path,
          .help = "name of the platform",
          .required = true,
          .completes = "mlplatform"};
}

Param words(std::string_view name, std::string_view flag, std::string_view help) {
  return {.name = name, .in = In::body, .kind = Kind::words, .flag = flag, .help = help};
}

Param body(std::string_view name, std::string_view flag, std::string_view help) {
  return {.name = name, .in = In::body, .flag = flag, .help = help};
}

std::vector<Param> ask_params(std::vector<Param> more) {
  std::vector<Param> params = {
      platform_name(),
      words("gpus", "--gpus", "\"8 H100\": GPUs of a family; may be repeated"),
      body("gpu_memory", "--gpu-memory", "least memory of each GPU, e.g. 80G"),
      {.name = "min_workers",
       .in = In::body,
       .kind = Kind::integer,
       .flag = "--min-workers",
       .help = "least number of workers; a workload profile's label wins over it",
       .least = 0,
       .most = 10'000},
      body("compute_profile", "--compute-profile", "compute profile (default: the project's)"),
      body("workload_profile", "--workload-profile", "workload profile that will run there"),
      {.name = "mode",
       .in = In::body,
       .kind = Kind::choice,
       .flag = "--mode",
       .help = "whether machines are its alone (default dedicated)",
       .choices = kModes},
      body("architecture", "--architecture", "AMD64, ARM64 (default: any)"),
      words("resource_group", "--resource-group",
            "GROUP=VALUE that every worker is in; may be repeated"),
      words("control_plane_resource_group", "--control-plane-resource-group",
            "GROUP=VALUE that every control plane machine is in; may be repeated")};
  params.push_back(project_param());
  for (Param& param : more) params.push_back(std::move(param));
  return params;
}

}  // namespace

std::vector<Route> ml_platform_routes() {
  return {
      {.id = "ml_platform.plan",
       .method = Method::post,
       .path = "/api/v1/ml-platforms/{name}/plan",
       .command = "mlplatform plan",
       .action = "mlplatform:read",
       .summary = "Show which machines an ML platform would get, and why of every machine",
       .detail = "Takes nothing. Of a platform that is there: with what is given over its own ask.",
       .params = ask_params({}),
       .handler = plan,
       .reply = "MlPlatformPlan",
       .check = check_ask,
       .examples = {"exa mlplatform plan llm --gpus H100=8"}},
      {.id = "ml_platform.create",
       .method = Method::post,
       .path = "/api/v1/ml-platforms/{name}",
       .command = "mlplatform create",
       .tier = Tier::mutating,
       .action = "mlplatform:write",
       .summary = "Take machines for an ML platform, all or none, and build its cluster",
       .detail = "Limits, defaults and who builds it come from the project's compute profile and "
                 "settings. Without a provisioner its machines are held and its files can be "
                 "rendered.",
       .params = ask_params({{.name = "reserve_only",
                              .in = In::body,
                              .kind = Kind::flag,
                              .flag = "--reserve-only",
                              .help = "hold the machines, build nothing yet"},
                             dry_run_param()}),
       .handler = create,
       .reply = "MlPlatform",
       .is_long = true,
       .creates = true,
       .fails_with = {Code::blocked, Code::unresolvable, Code::conflict},
       .check = check_ask,
       .examples = {"exa mlplatform create llm --gpus H100=8",
                    "exa mlplatform create etl --min-workers 3 --resource-group network-pool=1"}},
      {.id = "ml_platform.scale",
       .method = Method::put,
       .path = "/api/v1/ml-platforms/{name}",
       .command = "mlplatform scale",
       .tier = Tier::mutating,
       .action = "mlplatform:write",
       .summary = "Ask for more or less; machines that are still needed stay",
       .params = ask_params({dry_run_param()}),
       .handler = scale,
       .reply = "MlPlatform",
       .fails_with = {Code::blocked, Code::unresolvable, Code::conflict},
       .check = check_ask,
       .examples = {"exa mlplatform scale llm --gpus H100=16"}},
      {.id = "ml_platform.list",
       .path = "/api/v1/ml-platforms",
       .command = "mlplatform list",
       .action = "mlplatform:read",
       .summary = "List ML platforms, their machines and how they stand",
       .params = {project_param()},
       .handler = list,
       .reply = "MlPlatformList",
       .examples = {"exa mlplatform list"}},
      {.id = "ml_platform.show",
       .path = "/api/v1/ml-platforms/{name}",
       .command = "mlplatform show",
       .action = "mlplatform:read",
       .summary = "Show an ML platform: its machines, what it was chosen by, its last run",
       .params = {platform_name(), project_param()},
       .handler = show,
       .reply = "MlPlatform",
       .examples = {"exa mlplatform show llm"}},
      {.id = "ml_platform.render",
       .path = "/api/v1/ml-platforms/{name}/files",
       .command = "mlplatform render",
       .action = "mlplatform:read",
       .summary = "Print the files that its cluster is built from",
       .params = {platform_name(), project_param()},
       .handler = render,
       .reply = "MlPlatformFiles",
       .examples = {"exa mlplatform render llm"}},
      {.id = "ml_platform.provision",
       .method = Method::post,
       .path = "/api/v1/ml-platforms/{name}/provision",
       .command = "mlplatform provision",
       .tier = Tier::mutating,
       .action = "mlplatform:write",
       .summary = "Build its cluster, or bring it up to date; again is as good as once",
       .params = {platform_name(), project_param(), dry_run_param()},
       .handler = provision,
       .reply = "MlPlatform",
       .is_long = true,
       .fails_with = {Code::conflict},
       .examples = {"exa mlplatform provision llm"}},
      {.id = "ml_platform.logs",
       .path = "/api/v1/ml-platforms/{name}/logs",
       .command = "mlplatform logs",
       .action = "mlplatform:read",
       .summary = "Show what its provisioner printed last",
       .params = {platform_name(), project_param()},
       .handler = logs,
       .reply = "MlPlatformLogs",
       .examples = {"exa mlplatform logs llm"}},
      {.id = "ml_platform.delete",
       .method = Method::del,
       .path = "/api/v1/ml-platforms/{name}",
       .command = "mlplatform delete",
       .tier = Tier::destructive,
       .action = "mlplatform:write",
       .summary = "Take its cluster down and give its machines back",
       .params = {platform_name(),
                  {.name = "abandon",
                   .kind = Kind::flag,
                   .flag = "--abandon",
                   .help = "give the machines back as they are"},
                  {.name = "reason",
                   .flag = "--reason",
                   .help = "why; needed with --abandon, kept in the audit log"},
                  project_param(),
                  dry_run_param()},
       .handler = remove,
       .reply = "DeletedMlPlatform",
       .is_long = true,
       .fails_with = {Code::conflict},
       .check = check_delete,
       .examples = {"exa mlplatform delete llm --yes"}},
      {.id = "provisioner.add",
       .method = Method::post,
       .path = "/api/v1/provisioners/{name}",
       .command = "provisioner add",
       .tier = Tier::mutating,
       .action = "provisioner:write",
       .summary = "Register a program that builds ML platforms, for settings to name",
       .detail = "Its folder is trusted: what lies in it runs as the user of exa.",
       .params = {{.name = "name", .in = In::path, .help = "its name", .required = true},
                  {.name = "driver",
                   .in = In::body,
                   .kind = Kind::choice,
                   .flag = "--driver",
                   .help = "what runs it",
                   .required = true,
                   .choices = kDrivers},
                  {.name = "folder",
                   .in = In::body,
                   .kind = Kind::path,
                   .flag = "--folder",
                   .help = "template: run, apply.yaml and destroy.yaml, or *.tf",
                   .required = true},
                  {.name = "outputs",
                   .in = In::body,
                   .kind = Kind::csv,
                   .flag = "--outputs",
                   .help = "names that it puts out, comma-separated, e.g. endpoint"},
                  {.name = "time_limit",
                   .in = In::body,
                   .kind = Kind::duration,
                   .flag = "--time-limit",
                   .help = "how long a run may take",
                   .fallback = "30m"},
                  dry_run_param()},
       .handler = provisioner_add,
       .reply = "Provisioner",
       .creates = true,
       .check = check_provisioner,
       .examples = {"exa provisioner add edge --driver ansible --folder /srv/edge"}},
      {.id = "provisioner.list",
       .path = "/api/v1/provisioners",
       .command = "provisioner list",
       .action = "provisioner:read",
       .summary = "List provisioners, and what keeps each from running here",
       .handler = provisioner_list,
       .reply = "ProvisionerList",
       .examples = {"exa provisioner list"}},
      {.id = "provisioner.remove",
       .method = Method::del,
       .path = "/api/v1/provisioners/{name}",
       .command = "provisioner remove",
       .tier = Tier::destructive,
       .action = "provisioner:write",
       .summary = "Forget a provisioner; its folder stays",
       .params = {{.name = "name", .in = In::path, .help = "its name", .required = true},
                  dry_run_param()},
       .handler = provisioner_remove,
       .reply = "RemovedProvisioner",
       .fails_with = {Code::in_use},
       .examples = {"exa provisioner remove edge --yes"}},
  };
}

}  // namespace exa
