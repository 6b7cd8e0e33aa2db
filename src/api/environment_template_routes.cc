// Rows and handlers of `exa environment-template …`: what a compute profile of the catalogue runs
// (requirement "Environment Template"). Only an administrator of the platform says what exa runs.
#include "api/handlers.h"
#include "service/environment_templates.h"

namespace exa {
namespace {

const std::vector<std::string_view> kDrivers = {"script", "ansible", "opentofu", "slurm",
                                                "kubernetes"};

TemplateRef ref_of(const Call& call) {
  return {call.text("name"), call.text("version")};
}

Result<Reply> add(Service& service, const Call& call) {
  EnvironmentTemplate what;
  what.name = call.text("name");
  what.version = call.text("version");
  what.driver = find_template_driver(call.text("driver")).value_or(TemplateDriver::script);
  what.folder = call.text("folder");
  what.cluster = call.text("cluster");
  what.image = call.text("image");
  what.options.partition = call.text("partition");
  what.options.account = call.text("account");
  what.options.qos = call.text("qos");
  what.options.name_space = call.text("namespace");
  EXA_ASSIGN(what.time_limit, parse_duration(call.text("time_limit")));
  return reply_of(add_environment_template(service, call.caller, std::move(what)));
}

Result<Reply> list(Service& service, const Call& call) {
  return reply_of(list_environment_templates(service, call.caller));
}

Result<Reply> show(Service& service, const Call& call) {
  return reply_of(show_environment_template(service, call.caller, ref_of(call)));
}

Result<Reply> activate(Service& service, const Call& call) {
  return reply_of(activate_environment_template(service, call.caller, ref_of(call)));
}

Result<Reply> disable(Service& service, const Call& call) {
  return reply_of(disable_environment_template(service, call.caller, ref_of(call)));
}

Result<Reply> remove(Service& service, const Call& call) {
  return reply_of(remove_environment_template(service, call.caller, ref_of(call)));
}

std::vector<Param> ref_params() {
  return {{.name = "name",
           .in = In::path,
           .help = "name of the template",
           .required = true,
           .completes = "environment-template"},
          {.name = "version",
           .in = In::path,
           .flag = "--version",
           .help = "its version, e.g. v1.2",
           .required = true,
           .completes = "template-version"}};
}

std::vector<Param> ref_and_dry_run() {
  std::vector<Param> params = ref_params();
  params.push_back(dry_run_param());
  return params;
}

Param of_jobs(std::string_view name, std::string_view flag, std::string_view help,
              std::string_view completes = {}) {
  return {.name = name, .in = In::body, .flag = flag, .help = help, .completes = completes};
}

std::vector<Param> add_params() {
  std::vector<Param> params = ref_params();
  const std::vector<Param> more = {
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
       .help = "template.json beside run, apply.yaml and destroy.yaml, or *.tf",
       .required = true},
      {.name = "time_limit",
       .in = In::body,
       .kind = Kind::duration,
       .flag = "--time-limit",
       .help = "how long one run here may take",
       .fallback = "30m"},
      of_jobs("cluster", "--cluster", "where it is submitted (slurm, kubernetes)", "cluster"),
      of_jobs("image", "--image", "that runs it (kubernetes)"),
      of_jobs("partition", "--partition", "that it is submitted to (slurm)"),
      of_jobs("account", "--account", "that pays for it (slurm)"),
      of_jobs("qos", "--qos", "quality of service (slurm)"),
      of_jobs("namespace", "--namespace", "that it runs in (kubernetes)"),
      dry_run_param()};
  params.insert(params.end(), more.begin(), more.end());
  return params;
}

}  // namespace

std::vector<Route> environment_template_routes() {
  constexpr std::string_view kOne = "/api/v1/environment-templates/{name}/versions/{version}";
  return {
      {.id = "environment_template.add",
       .method = Method::post,
       .path = kOne,
       .command = "environment-template add",
       .tier = Tier::mutating,
       .action = "environment_template:write",
       .summary = "Register a version of a template that compute profiles run, as a draft",
       .detail = "Its folder is trusted: what lies in it runs as the user of exa, or as a job of "
                 "the cluster. Its template.json says what goes in and comes out: {\"inputs\": "
                 "{\"gpu_count\": {\"type\": \"number\", \"required\": true}}, \"outputs\": "
                 "{\"url\": {}}}. A draft is replaced by adding it again.",
       .params = add_params(),
       .handler = add,
       .reply = "EnvironmentTemplate",
       .creates = true,
       .fails_with = {Code::conflict},
       .examples = {"exa environment-template add gpu-vm --version v1 --driver ansible --folder "
                    "/srv/templates/gpu-vm"}},
      {.id = "environment_template.list",
       .path = "/api/v1/environment-templates",
       .command = "environment-template list",
       .action = "environment_template:read",
       .summary = "List environment templates and their versions",
       .handler = list,
       .reply = "EnvironmentTemplateList",
       .examples = {"exa environment-template list"}},
      {.id = "environment_template.show",
       .path = kOne,
       .command = "environment-template show",
       .action = "environment_template:read",
       .summary = "Show what a template takes and puts out, and what keeps it from running now",
       .params = ref_params(),
       .handler = show,
       .reply = "EnvironmentTemplate",
       .examples = {"exa environment-template show gpu-vm --version v1"}},
      {.id = "environment_template.activate",
       .method = Method::post,
       .path = "/api/v1/environment-templates/{name}/versions/{version}/activate",
       .command = "environment-template activate",
       .tier = Tier::mutating,
       .action = "environment_template:write",
       .summary = "Let everybody's compute profiles run it, with the files that it has now",
       .detail = "From then on a folder that was changed is refused: a version means one content.",
       .params = ref_and_dry_run(),
       .handler = activate,
       .reply = "EnvironmentTemplate",
       .fails_with = {Code::conflict},
       .examples = {"exa environment-template activate gpu-vm --version v1"}},
      {.id = "environment_template.disable",
       .method = Method::post,
       .path = "/api/v1/environment-templates/{name}/versions/{version}/disable",
       .command = "environment-template disable",
       .tier = Tier::mutating,
       .action = "environment_template:write",
       .summary = "Allow no new instances of it; those that are there can still be taken down",
       .params = ref_and_dry_run(),
       .handler = disable,
       .reply = "EnvironmentTemplate",
       .fails_with = {Code::conflict},
       .examples = {"exa environment-template disable gpu-vm --version v1"}},
      {.id = "environment_template.remove",
       .method = Method::del,
       .path = kOne,
       .command = "environment-template remove",
       .tier = Tier::destructive,
       .action = "environment_template:write",
       .summary = "Forget a version that is no more in use; its folder stays",
       .params = ref_and_dry_run(),
       .handler = remove,
       .reply = "RemovedEnvironmentTemplate",
       .fails_with = {Code::in_use, Code::conflict},
       .examples = {"exa environment-template remove gpu-vm --version v1 --yes"}},
  };
}

}  // namespace exa
