// Rows and handlers of `exa apply|diff|get|delete|explain`: manifests in the documents' own
// spelling (contract "Manifests"), and plans of launches.
#include "api/launch_params.h"
#include "service/manifests.h"

namespace exa {
namespace {

ManifestFile file_of(const Call& call) {
  return {call.text("file"), "--file", call.text("project")};
}

GetManifests what_of(const Call& call) {
  return {call.text("kind"), call.text("name"), call.text("project")};
}

Result<Reply> apply(Service& service, const Call& call) {
  if (call.has("plan")) return apply_plan(service, call);
  return reply_of(apply_manifests(service, call.caller, file_of(call)));
}

Result<Reply> diff(Service& service, const Call& call) {
  return reply_of(diff_manifests(service, call.caller, file_of(call)));
}

Result<Reply> get(Service& service, const Call& call) {
  return reply_of(get_manifests(service, call.caller, what_of(call)));
}

Result<Reply> remove(Service& service, const Call& call) {
  return reply_of(delete_manifest(service, call.caller, what_of(call)));
}

Result<Reply> explain(Service&, const Call& call) {
  return reply_of(explain_manifest(call.text("path")));
}

std::vector<Problem> check_apply(const json::object& args) {
  if (args.contains("plan") != args.contains("file")) return {};
  return {{"/file", "is missing: a file of manifests, or --plan with the id of a plan", ""}};
}

Param manifest_file(bool required) {
  return {.name = "file",
          .in = In::body,
          .kind = Kind::file,
          .flag = "--file",
          .help = "YAML or JSON of one or more manifests (-f; - for standard input)",
          .required = required};
}

Param kind_param() {
  return {.name = "kind",
          .in = In::path,
          .help = "computeprofile, compute, settings, project, workloadprofile or mlplatform",
          .required = true,
          .completes = "manifest-kind"};
}

}  // namespace

std::vector<Route> manifest_routes() {
  return {
      {.id = "manifest.apply",
       .method = Method::put,
       .path = "/api/v1/apply",
       .command = "apply",
       .tier = Tier::mutating,
       .action = "manifest:write",
       .action_with = {"plan", "launch:write"},
       .project_from = kOfObject,
       .summary = "Make manifests so, or do what a dry run of a launch said it would do",
       .detail =
           "A file is applied whole or not at all: ComputeProfile, Compute, Settings, Project, "
           "WorkloadProfile and MLPlatform as PaletteAI writes them; namespaces are projects. A "
           "plan is refused when anything that it rests on has changed since: the profile, the "
           "cluster's snapshot, the pool, its price, the command, the files that it shows. "
           "Programs and data that a command names are not looked into.",
       .params =
           {manifest_file(false),
            {.name = "plan", .in = In::body, .flag = "--plan", .help = "id that --dry-run printed"},
            project_param(),
            dry_run_param()},
       .handler = apply,
       .reply = "Applied",
       .is_long = true,
       .creates = true,
       .fails_with = {Code::stale, Code::inapplicable, Code::blocked, Code::unresolvable,
                      Code::in_use},
       .check = check_apply,
       .examples = {"exa apply --file platform.yaml", "exa apply --plan 0jv5q2"}},
      {.id = "manifest.diff",
       .method = Method::post,
       .path = "/api/v1/diff",
       .command = "diff",
       .action = "manifest:read",
       .project_from = kOfObject,
       .summary = "Compare manifests with what is kept, field by field",
       .params = {manifest_file(true), project_param()},
       .handler = diff,
       .reply = "ManifestDiff",
       .examples = {"exa diff --file platform.yaml"},
       .error_exit = 2},
      {.id = "manifest.get",
       .path = "/api/v1/manifests/{kind}",
       .command = "get",
       .action = "manifest:read",
       .project_from = kOfObject,
       .summary = "Print manifests as they were applied, with their status",
       .detail = "Of a Compute the status says which machines are offered, in the document's own "
                 "keys, and of every other one why it is not.",
       .params = {kind_param(),
                  {.name = "name", .help = "one of them", .completes = "manifest"},
                  project_param()},
       .handler = get,
       .reply = "Manifests",
       .examples = {"exa get compute", "exa get computeprofile edge-compute-profile -o yaml"}},
      {.id = "manifest.delete",
       .method = Method::del,
       .path = "/api/v1/manifests/{kind}/{name}",
       .command = "delete",
       .tier = Tier::destructive,
       .action = "manifest:write",
       .project_from = kOfObject,
       .summary = "Delete a manifest that nothing refers to",
       .params = {kind_param(),
                  {.name = "name",
                   .in = In::path,
                   .help = "its name",
                   .required = true,
                   .completes = "manifest"},
                  project_param(),
                  dry_run_param()},
       .handler = remove,
       .reply = "DeletedManifest",
       .fails_with = {Code::in_use},
       .examples = {"exa delete compute machines --yes"}},
      {.id = "manifest.explain",
       .path = "/api/v1/explain/{path}",
       .command = "explain",
       .action = "manifest:explain",
       .summary = "Say which fields a kind of manifest has, and what each is for",
       .params = {{.name = "path",
                   .in = In::path,
                   .help = "KIND, or KIND.spec.FIELD",
                   .required = true,
                   .completes = "manifest-kind"}},
       .handler = explain,
       .reply = "ManifestFields",
       .examples = {"exa explain computeprofile.spec.edge"}},
  };
}

}  // namespace exa
