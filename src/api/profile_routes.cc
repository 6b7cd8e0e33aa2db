// Rows and handlers of `exa hardware profile …` (requirement "CLI surface").
#include <fmt/format.h>

#include "api/cursor.h"
#include "api/handlers.h"
#include "api/profile_args.h"
#include "base/text.h"
#include "profile/validate.h"
#include "service/profiles.h"
#include "service/resolutions.h"
#include "service/sharing.h"

namespace exa {
namespace {

// ---- arguments ---------------------------------------------------------------------------------

std::vector<Problem> check_set(const json::object& args) {
  std::vector<Problem> problems = check_new_version(args);
  for (Problem& problem : problems_of_shape(shape_args(args)))
    problems.push_back(std::move(problem));
  return problems;
}

std::vector<Problem> check_label_move(const json::object& args) {
  std::vector<Problem> problems;
  check_with(args, "name", problems, [](auto text) { return check_name(text, "profile name"); });
  check_project(args, problems);
  check_with(args, "label", problems, [](auto text) { return check_label(text); });
  return problems;
}

std::vector<Problem> check_two_references(const json::object& args) {
  std::vector<Problem> problems;
  for (const std::string_view key : {"from", "to"}) {
    check_with(args, key, problems, [](auto text) { return check_ref(text); });
  }
  check_project(args, problems);
  return problems;
}

std::vector<Problem> check_page(const json::object& args) {
  std::vector<Problem> problems;
  check_project(args, problems);
  return problems;
}

std::optional<Surface> surface_arg(const Call& call, std::string_view key) {
  return find_surface(call.text(key));  // checked against the choices already
}

std::optional<std::string> text_if_given(const Call& call, std::string_view key) {
  if (!call.has(key)) return std::nullopt;
  return call.text(key);
}

// What another project shares is used, never changed.
Result<void> of_this_project(const ProfileRef& ref, std::string_view where) {
  if (!ref.project) return {};
  return fail(invalid("profile", {{std::string(where),
                                   fmt::format("names a profile of project {}, which is changed "
                                               "there: --project {}",
                                               *ref.project, *ref.project),
                                   ""}}));
}

// ---- handlers ----------------------------------------------------------------------------------

Result<Reply> set(Service& service, const Call& call) {
  EXA_ASSIGN(Shape shape, read_shape(shape_args(call.args)));
  return reply_of(
      set_profile(service, call.caller,
                  {call.text("project"), call.text("name"), std::move(shape), call.text("label")}));
}

Result<Reply> list(Service& service, const Call& call) {
  const std::string_view list_name = call.flag("shared") ? "shared-profiles" : "profiles";
  ListProfiles what;
  what.page = {call.text("project"), "", call.integer("limit", 50)};
  EXA_ASSIGN(what.page.after, place_before(call, list_name));
  // `any` as a filter means those that list it or any: the same rule
  what.applicability = surface_arg(call, "applicability");
  EXA_ASSIGN(Answer page, call.flag("shared") ? list_shared_profiles(service, what.page)
                                              : list_profiles(service, what));
  close_cursor(page.body, list_name);
  return reply_of(std::move(page));
}

Result<Reply> show(Service& service, const Call& call) {
  EXA_ASSIGN(ProfileRef ref,
             combine_reference(call.text("name"), version_arg(call), call.text("label")));
  return reply_of(
      show_profile(service, {call.text("project"), std::move(ref), call.text("cluster")}));
}

Result<Reply> resolve(Service& service, const Call& call) {
  EXA_ASSIGN(ProfileRef ref,
             combine_reference(call.text("name"), version_arg(call), call.text("label")));
  if (call.has("cluster") && call.has("snapshot")) {
    return fail(invalid("resolve",
                        {{"/snapshot", "is given together with a cluster; give one of them", ""}}));
  }
  if (call.flag("as_of_snapshot") && !call.has("snapshot")) {
    return fail(invalid("resolve", {{"/as_of_snapshot", "means nothing without --snapshot", ""}}));
  }
  return reply_of(resolve_profile(
      service,
      {call.text("project"), std::move(ref), call.text("cluster"), text_if_given(call, "snapshot"),
       call.flag("as_of_snapshot"), surface_arg(call, "for"), texts_arg(call, "fail_on")}));
}

Result<Reply> remove(Service& service, const Call& call) {
  EXA_ASSIGN(const ProfileRef ref, combine_reference(call.text("name"), version_arg(call), ""));
  EXA_TRY(of_this_project(ref, "/name"));
  if (ref.label) {
    return fail(
        invalid("delete", {{"/name", "names a label; delete takes a name or name@version", ""}}));
  }
  return reply_of(delete_profile(
      service, call.caller,
      {call.text("project"), ref.name, ref.version, call.flag("force"), call.text("reason")}));
}

Result<Reply> label(Service& service, const Call& call) {
  return reply_of(label_profile(
      service, call.caller,
      {call.text("project"), call.text("name"), call.text("label"), call.integer("version", 0)}));
}

Result<Reply> history(Service& service, const Call& call) {
  EXA_ASSIGN(const ProfileRef ref, parse_reference(call.text("name")));
  return reply_of(profile_history(service, call.text("project"), ref));
}

Result<Reply> diff(Service& service, const Call& call) {
  EXA_ASSIGN(const ProfileRef from, parse_reference(call.text("from")));
  EXA_ASSIGN(const ProfileRef to, parse_reference(call.text("to")));
  return reply_of(diff_profiles(service, call.text("project"), from, to));
}

Result<Reply> deprecate(Service& service, const Call& call) {
  EXA_ASSIGN(ProfileRef ref, parse_reference(call.text("name")));
  EXA_TRY(of_this_project(ref, "/name"));
  if (call.has("redirect")) {
    EXA_ASSIGN(const ProfileRef redirect, parse_reference(call.text("redirect")));
    EXA_TRY(of_this_project(redirect, "/redirect"));
  }
  if (call.flag("undo") == call.has("redirect")) {
    return fail(
        invalid("deprecate", {{"/redirect", "give --redirect OTHER to retire, or --undo", ""}}));
  }
  return reply_of(deprecate_profile(service, call.caller,
                                    {call.text("project"), std::move(ref), call.text("redirect"),
                                     call.text("reason"), call.flag("undo")}));
}

Result<Reply> suggest(Service& service, const Call& call) {
  return reply_of(suggest_profiles(service, call.text("project"), call.text("cluster")));
}

// ---- parameters --------------------------------------------------------------------------------

const std::vector<std::string_view> kSurfaces = {"workbench", "training", "serving", "any"};
const std::vector<std::string_view> kUses = {"workbench", "training", "serving"};
const std::vector<std::string_view> kStatuses = {"unchecked", "verified", "degraded",
                                                 "unresolvable"};

Param name_param(std::string_view help) {
  return {.name = "name", .in = In::path, .help = help, .required = true, .completes = "profile"};
}

std::vector<Param> set_params() {
  std::vector<Param> params = {name_param("name of the profile: lower-case letters, digits and -")};
  for (Param& param : shape_params()) params.push_back(std::move(param));
  params[1].required = true;  // the family
  for (Param param : {Param{.name = "label",
                     .in = In::body,
                     .flag = "--label",
                     .help = "label to move to the new version",
                     .fallback = "active"},
                      project_param(), dry_run_param()})
    params.push_back(std::move(param));
  return params;
}

constexpr std::string_view kWrite = "hardware_profile:write";
constexpr std::string_view kRead = "hardware_profile:read";
constexpr std::string_view kBase = "/api/v1/hardware-profiles";

}  // namespace

std::vector<Route> profile_routes() {
  return {
      {.id = "hardware_profile.set",
       .method = Method::post,
       .path = "/api/v1/hardware-profiles/{name}/versions",
       .command = "hardware profile set",
       .tier = Tier::mutating,
       .action = kWrite,
       .summary = "Create the next version of a profile and move a label to it",
       .detail = "Counts, cores and memory are per node. A version is never changed: setting a "
                 "name again creates "
                 "the next one, and who uses an older one keeps it.",
       .params = set_params(),
       .handler = set,
       .reply = "HardwareProfile",
       .creates = true,
       .check = check_set,
       .examples =
           {"exa hardware profile set train-2gpu-a100 --accelerator-family nvidia --gpu 2 --cpu 8 "
            "--memory-gb 32 --accelerator-model-hint A100-80GB --driver-tag cuda-12.4",
            "exa hardware profile set small --accelerator-family cpu --cpu 2 --memory-gb 4"}},
      {.id = "hardware_profile.list",
       .path = kBase,
       .command = "hardware profile list",
       .action = kRead,
       .summary = "List profiles with their active version and last status",
       .params = {{.name = "applicability",
                   .kind = Kind::choice,
                   .flag = "--applicability",
                   .help = "only those for this use (they list it or any)",
                   .choices = kSurfaces},
                  {.name = "shared",
                   .kind = Kind::flag,
                   .flag = "--shared",
                   .help = "those that other projects share with this one"},
                  project_param(),
                  limit_param(),
                  cursor_param()},
       .handler = list,
       .reply = "HardwareProfileList",
       .check = check_page,
       .examples = {"exa hardware profile list",
                    "exa hardware profile list --applicability training --json"}},
      {.id = "hardware_profile.show",
       .path = "/api/v1/hardware-profiles/{name}",
       .command = "hardware profile show",
       .action = kRead,
       .summary = "Show one version of a profile",
       .params = {name_param("name, name@3 or name@label; PROJECT/name of a shared one"),
                  version_param(),
                  {.name = "label",
                   .flag = "--label",
                   .help = "the version that this label points at (default active)",
                   .completes = "label"},
                  {.name = "cluster",
                   .flag = "--cluster",
                   .help = "resolve it there as well",
                   .completes = "cluster"},
                  project_param()},
       .handler = show,
       .reply = "HardwareProfile",
       .check = check_reference,
       .examples = {"exa hardware profile show small"}},
      {.id = "hardware_profile.resolve",
       .method = Method::post,
       .path = "/api/v1/hardware-profiles/{name}/resolution",
       .command = "hardware profile resolve",
       .action = kRead,
       .summary = "Check a profile against what a cluster was seen to have",
       .detail =
           "The answer is unchecked, verified, degraded (naming what could not be confirmed) or "
           "unresolvable "
           "(exit code 6). It rests on the newest snapshot; exa cluster discover takes a new one.",
       .params = {name_param("name, name@3 or name@label; PROJECT/name of a shared one"),
                  {.name = "cluster",
                   .flag = "--cluster",
                   .help = "the cluster to check against",
                   .completes = "cluster"},
                  {.name = "for",
                   .kind = Kind::choice,
                   .flag = "--for",
                   .help = "what it will be used for",
                   .choices = kUses},
                  version_param(),
                  {.name = "label",
                   .flag = "--label",
                   .help = "the version that this label points at (default active)",
                   .completes = "label"},
                  {.name = "snapshot",
                   .in = In::body,
                   .kind = Kind::file,
                   .flag = "--snapshot",
                   .help = "check against this saved capture or tool output instead of a cluster",
                   .most_bytes = kLargestCapture},
                  {.name = "as_of_snapshot",
                   .kind = Kind::flag,
                   .flag = "--as-of-snapshot",
                   .help = "with --snapshot: answer as if asked when it was captured"},
                  {.name = "fail_on",
                   .kind = Kind::csv,
                   .flag = "--fail-on",
                   .help = "exit with 10 on these statuses, comma-separated",
                   .choices = kStatuses},
                  project_param()},
       .handler = resolve,
       .reply = "ResolvedProfile",
       .fails_with = {Code::inapplicable},
       .check = check_reference,
       .examples = {"exa hardware profile resolve small --cluster here --for workbench"}},
      {.id = "hardware_profile.delete",
       .method = Method::del,
       .path = "/api/v1/hardware-profiles/{name}",
       .command = "hardware profile delete",
       .tier = Tier::destructive,
       .action = "hardware_profile:delete",
       .summary = "Delete a version, or all versions and labels of a name",
       .detail = "Numbers are never given again and who runs on a version keeps its shape. If "
                 "consumers exist the "
                 "delete is refused and they are listed. To retire a profile, see deprecate.",
       .params = {name_param("name, or name@3"),
                  version_param(),
                  {.name = "force",
                   .kind = Kind::flag,
                   .flag = "--force",
                   .help = "although consumers exist"},
                  {.name = "reason",
                   .flag = "--reason",
                   .help = "why; required with --force, kept in the audit log"},
                  project_param(),
                  dry_run_param()},
       .handler = remove,
       .reply = "DeletedProfile",
       .check = check_reference,
       .examples = {"exa hardware profile delete small --version 1 --yes"}},
      {.id = "hardware_profile.label",
       .method = Method::put,
       .path = "/api/v1/hardware-profiles/{name}/labels/{label}",
       .command = "hardware profile label",
       .tier = Tier::mutating,
       .action = kWrite,
       .summary = "Point a label at a version",
       .params = {name_param("name of the profile"),
                  {.name = "label",
                   .in = In::path,
                   .help = "the label, e.g. active",
                   .required = true,
                   .completes = "label"},
                  {.name = "version",
                   .in = In::body,
                   .kind = Kind::integer,
                   .flag = "--version",
                   .help = "the version it shall point at",
                   .required = true,
                   .completes = "version"},
                  project_param(),
                  dry_run_param()},
       .handler = label,
       .reply = "MovedLabel",
       .check = check_label_move,
       .examples = {"exa hardware profile label small active --version 1"}},
      {.id = "hardware_profile.history",
       .path = "/api/v1/hardware-profiles/{name}/versions",
       .command = "hardware profile history",
       .action = kRead,
       .summary = "Show every version, deleted ones too, and every move of a label",
       .params = {name_param("name of the profile"), project_param()},
       .handler = history,
       .reply = "ProfileHistory",
       .check = check_reference,
       .examples = {"exa hardware profile history small"}},
      {.id = "hardware_profile.diff",
       .path = "/api/v1/hardware-profile-diff",
       .command = "hardware profile diff",
       .action = kRead,
       .summary = "Compare two versions field by field",
       .detail = "Exit code 0: the same; 1: they differ; 2: an error.",
       .params = {{.name = "from",
                   .help = "name, name@3 or name@label",
                   .required = true,
                   .completes = "profile"},
                  {.name = "to",
                   .help = "name, name@3 or name@label",
                   .required = true,
                   .completes = "profile"},
                  project_param()},
       .handler = diff,
       .reply = "ProfileDiff",
       .check = check_two_references,
       .examples = {"exa hardware profile diff small@1 small@2"},
       .error_exit = 2},
      {.id = "hardware_profile.deprecate",
       .method = Method::put,
       .path = "/api/v1/hardware-profiles/{name}/deprecation",
       .command = "hardware profile deprecate",
       .tier = Tier::mutating,
       .action = kWrite,
       .summary = "Retire a profile or a version, naming what to use instead",
       .detail = "It keeps working; who refers to it is told where to move.",
       .params = {name_param("name, or name@3 for one version"),
                  {.name = "redirect",
                   .in = In::body,
                   .flag = "--redirect",
                   .help = "what to use instead",
                   .completes = "profile"},
                  {.name = "reason", .in = In::body, .flag = "--reason", .help = "why"},
                  {.name = "undo",
                   .in = In::body,
                   .kind = Kind::flag,
                   .flag = "--undo",
                   .help = "take it back"},
                  project_param(),
                  dry_run_param()},
       .handler = deprecate,
       .reply = "DeprecatedProfile",
       .check = check_reference,
       .examples = {"exa hardware profile deprecate small --redirect medium"}},
      {.id = "hardware_profile.suggest",
       .path = "/api/v1/clusters/{cluster}/suggested-profiles",
       .command = "hardware profile suggest",
       .action = kRead,
       .summary = "Propose shapes from what a cluster was seen to have",
       .detail = "Whole nodes, halves and single devices, less what a node needs for itself; and "
                 "profiles of the "
                 "project that no node there can ever hold.",
       .params = {{.name = "cluster",
                   .in = In::path,
                   .flag = "--cluster",
                   .help = "the cluster",
                   .required = true,
                   .completes = "cluster"},
                  project_param()},
       .handler = suggest,
       .reply = "SuggestedProfiles",
       .examples = {"exa hardware profile suggest --cluster here"}},
  };
}

}  // namespace exa
