// Rows and handlers of `exa serving …`: models that answer requests (requirement Phase 3).
#include "api/cursor.h"
#include "api/launch_params.h"
#include "service/model_services.h"

namespace exa {
namespace {

constexpr Surface kKind = Surface::serving;
constexpr std::string_view kFileName = "--file";  // the content arrives without its name

Result<Reply> deploy(Service& service, const Call& call) {
  DeployService what;
  EXA_ASSIGN(what.launch, launch_request(call));
  EXA_ASSIGN(what.environment, environment_arg(call));
  if (call.has("file")) what.file = call.text("file");
  what.file_name = kFileName;
  what.launch.port = call.integer("port", 0);
  if (call.has("replicas")) what.replicas = call.integer("replicas", 1);
  what.command = texts_arg(call, "command");
  return reply_with_plan(service, call, deploy_service(service, call.caller, std::move(what)));
}

Result<Reply> render(Service& service, const Call& call) {
  return reply_of(
      render_services(service, {call.text("project"), call.text("file"), std::string(kFileName)}));
}

Result<Reply> list(Service& service, const Call& call) {
  Page page{call.text("project"), "", call.integer("limit", 50)};
  EXA_ASSIGN(page.after, place_before(call, "services"));
  EXA_ASSIGN(Answer answer, list_launches(service, page, kKind));
  close_cursor(answer.body, "services");
  return reply_of(std::move(answer));
}

Result<Reply> show(Service& service, const Call& call) {
  return reply_of(
      show_launch(service, call.caller, call.text("project"), kKind, call.text("name")));
}

Result<Reply> scale(Service& service, const Call& call) {
  return reply_of(scale_service(service, call.caller, call.text("project"), call.text("name"),
                                call.integer("replicas", 1)));
}

Result<Reply> logs(Service& service, const Call& call) {
  return reply_of(launch_logs(service, call.caller, call.text("project"), kKind, call.text("name"),
                              call.integer("lines", 100)));
}

Result<Reply> remove(Service& service, const Call& call) {
  return reply_of(
      delete_launch(service, call.caller, call.text("project"), kKind, call.text("name")));
}

std::vector<Problem> check_deploy(const json::object& args) {
  std::vector<Problem> problems = check_launch(args);
  const json::value* command = args.if_contains("command");
  const bool has_command =
      command != nullptr && command->is_array() && !command->get_array().empty();
  if (!args.contains("file") && !has_command)
    problems.push_back({"/file", "is missing: a file of models, or a command after --", ""});
  return problems;
}

Param service_param() {
  return launch_name_param("name of the service; with --file: of one of its models", "service");
}

Param file_param(bool required) {
  return {.name = "file",
          .in = In::body,
          .kind = Kind::file,
          .flag = "--file",
          .help = "YAML file of models, each with its own resources",
          .required = required};
}

Param replicas_param(bool required) {
  return {.name = "replicas",
          .in = In::body,
          .kind = Kind::integer,
          .flag = "--replicas",
          .help = "how many of it",
          .required = required,
          .least = 1,
          .most = 10'000};
}

}  // namespace

std::vector<Route> serving_routes() {
  return {
      {.id = "serving.deploy",
       .method = Method::put,
       .path = "/api/v1/services/{name}",
       .command = "serving deploy",
       .tier = Tier::mutating,
       .action = "launch:write",
       .summary = "Start a service, or put a new one in the place of the one that runs",
       .detail =
           "From a file of models or as a command. Engine kserve runs on a Kubernetes cluster "
           "that has KServe, kubernetes on any, ray as the program serve run on a machine or in a "
           "batch job, vllm on all of them. A profile that is missing or does not apply fails the "
           "deployment and leaves the running service as it was.",
       .params = joined({{service_param(),
                          file_param(false),
                          replicas_param(false),
                          {.name = "port",
                           .in = In::body,
                           .kind = Kind::integer,
                           .flag = "--port",
                           .help = "port that it answers on",
                           .least = 1,
                           .most = 65'535},
                          {.name = "command",
                           .in = In::body,
                           .kind = Kind::words,
                           .help = "after --: what to run, without a file"}},
                         shape_params({"--gpu", "GPUs; with --mig-profile: instances"}, true),
                         target_params()}),
       .handler = deploy,
       .reply = "Launch",
       .is_long = true,
       .creates = true,
       .fails_with = {Code::inapplicable},
       .check = check_deploy},
      {.id = "serving.render",
       .method = Method::post,
       .path = "/api/v1/services",
       .command = "serving render",
       .action = "launch:read",
       .summary = "Show what each model of a file comes to, for its engine",
       .detail = "Ray Serve's config, KServe's InferenceService, a Deployment or a vLLM command "
                 "line, each sized by its own profile. Nothing is started.",
       .params = {file_param(true), project_param()},
       .handler = render,
       .reply = "RenderedServices"},
      {.id = "serving.list",
       .path = "/api/v1/services",
       .command = "serving list",
       .action = "launch:read",
       .summary = "List services, the newest first, as they stood when last seen",
       .params = {limit_param(), cursor_param(), project_param()},
       .handler = list,
       .reply = "LaunchList",
       .examples = {"exa serving list"}},
      {.id = "serving.show",
       .path = "/api/v1/services/{name}",
       .command = "serving show",
       .action = "launch:read",
       .summary = "Show a service as it stands now",
       .params = {service_param(), project_param()},
       .handler = show,
       .reply = "Launch",
       .examples = {"exa serving show ranker"}},
      {.id = "serving.scale",
       .method = Method::post,
       .path = "/api/v1/services/{name}/scale",
       .command = "serving scale",
       .tier = Tier::mutating,
       .action = "launch:write",
       .summary = "Run a service on another number of replicas",
       .params = {service_param(), replicas_param(true), project_param(), dry_run_param()},
       .handler = scale,
       .reply = "Launch",
       .is_long = true,
       .examples = {"exa serving scale ranker --replicas 3"}},
      {.id = "serving.logs",
       .path = "/api/v1/services/{name}/logs",
       .command = "serving logs",
       .action = "launch:read",
       .summary = "Show what a service printed last",
       .params = {service_param(), lines_param(), project_param()},
       .handler = logs,
       .reply = "LaunchLogs",
       .examples = {"exa serving logs ranker"}},
      {.id = "serving.delete",
       .method = Method::del,
       .path = "/api/v1/services/{name}",
       .command = "serving delete",
       .tier = Tier::destructive,
       .action = "launch:write",
       .summary = "End a service and forget it",
       .params = {service_param(), project_param(), dry_run_param()},
       .handler = remove,
       .reply = "DeletedLaunch",
       .is_long = true,
       .examples = {"exa serving delete ranker --yes"}},
  };
}

}  // namespace exa
