// Rows and handlers of `exa compute-profile …`: what admins publish and users launch by themselves
// (requirement "Compute Profile").
#include <fmt/format.h>

#include "api/compute_profile_args.h"
#include "api/cursor.h"
#include "api/input_params.h"
#include "api/profile_args.h"
#include "profile/validate.h"

namespace exa {
namespace {

constexpr std::string_view kRead = "compute_profile:read";
constexpr std::string_view kWrite = "compute_profile:write";
constexpr std::string_view kListName = "compute-profiles";
const std::vector<std::string_view> kFormats = {"rafay"};

std::vector<Problem> check_own(const json::object& args) {
  std::vector<Problem> problems;
  check_with(args, "name", problems, [](auto text) { return check_name(text, "profile name"); });
  check_project(args, problems);
  return problems;
}

std::vector<Problem> check_project_alone(const json::object& args) {
  std::vector<Problem> problems;
  check_project(args, problems);
  return problems;
}

std::vector<Problem> check_values(const json::object& args) {
  std::vector<Problem> problems = check_reference(args);
  for (Problem& problem : check_input_args(args)) problems.push_back(std::move(problem));
  return problems;
}

Result<AskSku> ask_of(const Call& call) {
  EXA_ASSIGN(ProfileRef ref, parse_reference(call.text("name")));
  return AskSku{call.text("project"), std::move(ref)};
}

Result<Reply> create(Service& service, const Call& call) {
  EXA_ASSIGN(const WriteSku what, write_sku_arg(call));
  return reply_of(create_sku(service, call.caller, what));
}

Result<Reply> edit(Service& service, const Call& call) {
  EXA_ASSIGN(const WriteSku what, write_sku_arg(call));
  if (!what.document && what.fields.empty())
    return fail(invalid("edit", {{"/file", "is missing: give --file FILE, or a field", ""}}));
  return reply_of(edit_sku(service, call.caller, what));
}

Result<Reply> import_one(Service& service, const Call& call) {
  return reply_of(import_sku(service, call.caller, {call.text("project"), call.text("file")}));
}

Result<Reply> publish(Service& service, const Call& call) {
  return reply_of(publish_sku(service, call.caller, call.text("project"), call.text("name")));
}

Result<Reply> unpublish(Service& service, const Call& call) {
  return reply_of(unpublish_sku(service, call.caller, call.text("project"), call.text("name")));
}

Result<Reply> share(Service& service, const Call& call) {
  return reply_of(share_sku(service, call.caller, call.text("project"), call.text("name"),
                            texts_arg(call, "with")));
}

Result<Reply> remove(Service& service, const Call& call) {
  EXA_ASSIGN(Reply reply, reply_of(delete_sku(service, call.caller, call.text("project"),
                                              call.text("name"), call.text("reason"))));
  reply.etag.clear();  // there is nothing left to change
  return reply;
}

Result<Reply> list(Service& service, const Call& call) {
  ListSkus what{call.text("project"), call.text("search"), "", call.integer("limit", 50)};
  EXA_ASSIGN(what.after, place_before(call, kListName));
  EXA_ASSIGN(Answer page, list_skus(service, call.caller, what));
  close_cursor(page.body, kListName);
  return reply_of(std::move(page));
}

Result<Reply> show(Service& service, const Call& call) {
  EXA_ASSIGN(const AskSku what, ask_of(call));
  return reply_of(show_sku(service, call.caller, what));
}

Result<Reply> history(Service& service, const Call& call) {
  EXA_ASSIGN(const AskSku what, ask_of(call));
  return reply_of(sku_history(service, call.caller, what));
}

Result<Reply> diff(Service& service, const Call& call) {
  EXA_ASSIGN(const AskSku what, ask_of(call));
  if (what.ref.version)
    return fail(invalid("diff", {{"/name", "names a version: --from and --to do", ""}}));
  const auto to = call.has("to") ? std::optional(call.integer("to", 0)) : std::nullopt;
  return reply_of(diff_skus(service, call.caller, what, call.integer("from", 0), to));
}

Result<Reply> inputs(Service& service, const Call& call) {
  EXA_ASSIGN(const AskSku what, ask_of(call));
  return reply_of(sku_inputs(service, call.caller, what));
}

Result<Reply> check(Service& service, const Call& call) {
  EXA_ASSIGN(const AskSku what, ask_of(call));
  return reply_of(check_sku_inputs(service, call.caller, what, given_inputs(call)));
}

Result<Reply> export_one(Service& service, const Call& call) {
  EXA_ASSIGN(const AskSku what, ask_of(call));
  return reply_of(export_sku(service, call.caller, what));
}

// ---- parameters --------------------------------------------------------------------------------

std::vector<Param> joined(std::vector<Param> some, std::vector<Param> more) {
  for (Param& param : more) some.push_back(std::move(param));
  return some;
}

Param own_name() {
  return sku_name_param("name of the profile: lower-case letters, digits and -");
}
Param any_name() {
  return sku_name_param("name or name@3; PROJECT/name of a shared one");
}
Param reason_param() {
  return {.name = "reason", .in = In::body, .flag = "--reason", .help = "why; kept with it"};
}
Param version_number(std::string_view name, std::string_view flag, std::string_view help,
                     bool required) {
  return {.name = name,
          .kind = Kind::integer,
          .flag = flag,
          .help = help,
          .required = required,
          .least = 1};
}

std::vector<Route> writing_routes() {
  return {
      {.id = "compute_profile.create",
       .method = Method::post,
       .path = "/api/v1/compute-profiles/{name}",
       .command = "compute-profile create",
       .tier = Tier::mutating,
       .action = kWrite,
       .summary = "Make a compute profile that users can launch, once it is published",
       .detail = "A draft first: only who writes compute profiles of the project sees it. The "
                 "file says template, inputs, outputs and the rest; its name never changes.",
       .params = joined({own_name()}, joined(sku_document_params(false),
                                             {reason_param(), project_param(), dry_run_param()})),
       .handler = create,
       .reply = "ComputeProfile",
       .creates = true,
       .fails_with = {Code::conflict},
       .check = check_sku_document,
       .examples = {"exa compute-profile create small --template vm@v1 --display-name Small",
                    "exa compute-profile create medium --file medium.yaml --dry-run"}},
      {.id = "compute_profile.edit",
       .method = Method::put,
       .path = "/api/v1/compute-profiles/{name}",
       .command = "compute-profile edit",
       .tier = Tier::mutating,
       .action = kWrite,
       .summary = "Make the next version of a compute profile; running instances keep theirs",
       .detail = "Flags change single fields; a file stands for all of them. Of a published "
                 "profile new instances get the new version at once.",
       .params = joined({own_name()}, joined(sku_document_params(false),
                                             {reason_param(), project_param(), dry_run_param()})),
       .handler = edit,
       .reply = "ComputeProfile",
       .if_match = true,
       .check = check_sku_document,
       .examples = {"exa compute-profile edit small --price \"2.5 EUR\" --reason \"new prices\""}},
      {.id = "compute_profile.import",
       .method = Method::put,
       .path = "/api/v1/imported-compute-profiles",
       .command = "compute-profile import",
       .tier = Tier::mutating,
       .action = kWrite,
       .summary = "Read a compute profile out of Rafay's document, and keep that",
       .detail = "Its name is the document's; where it is there already, this is its next version. "
                 "What could not be carried over is noted on standard error. Nothing is loosened: "
                 "what has no equal is fixed at its value.",
       .params = {{.name = "file",
                   .in = In::body,
                   .kind = Kind::file,
                   .flag = "--file",
                   .help = "a ComputeProfile of paas.envmgmt.io/v1, JSON or YAML",
                   .required = true},
                  project_param(),
                  dry_run_param()},
       .handler = import_one,
       .reply = "ComputeProfile",
       .creates = true,
       .check = check_project_alone,
       .examples = {"exa compute-profile import --file rafay.yaml"}},
      {.id = "compute_profile.publish",
       .method = Method::put,
       .path = "/api/v1/compute-profiles/{name}/publication",
       .command = "compute-profile publish",
       .tier = Tier::mutating,
       .action = kWrite,
       .summary = "Let users see and launch it, at once",
       .detail = "Those of its project, and of projects that it is shared with. Refused while its "
                 "hardware profile or environment template does not fit.",
       .params = {own_name(), project_param(), dry_run_param()},
       .handler = publish,
       .reply = "PublishedComputeProfile",
       .check = check_own,
       .examples = {"exa compute-profile publish small"}},
      {.id = "compute_profile.unpublish",
       .method = Method::del,
       .path = "/api/v1/compute-profiles/{name}/publication",
       .command = "compute-profile unpublish",
       .tier = Tier::mutating,
       .action = kWrite,
       .summary = "Make it a draft again; instances that run keep running",
       .params = {own_name(), project_param(), dry_run_param()},
       .handler = unpublish,
       .reply = "PublishedComputeProfile",
       .check = check_own,
       .examples = {"exa compute-profile unpublish small"}},
      {.id = "compute_profile.share",
       .method = Method::put,
       .path = "/api/v1/compute-profiles/{name}/sharing",
       .command = "compute-profile share",
       .tier = Tier::mutating,
       .action = kWrite,
       .summary = "Let other projects launch it too: none, all, or those that are named",
       .detail = "There it is PROJECT/NAME, once it is published. Sharing replaces what was shared "
                 "before.",
       .params = {own_name(),
                  {.name = "with",
                   .in = In::body,
                   .kind = Kind::csv,
                   .flag = "--with",
                   .help = "none, all, or projects, comma-separated",
                   .required = true},
                  project_param(),
                  dry_run_param()},
       .handler = share,
       .reply = "SharedComputeProfile",
       .check = check_own,
       .examples = {"exa compute-profile share small --with all",
                    "exa compute-profile share small --with vision,nlp"}},
      {.id = "compute_profile.delete",
       .method = Method::del,
       .path = "/api/v1/compute-profiles/{name}",
       .command = "compute-profile delete",
       .tier = Tier::destructive,
       .action = kWrite,
       .summary = "Delete it for good: nobody launches it any more",
       .detail = "Cannot be taken back. Instances that run keep their version, and who writes "
                 "compute profiles still looks at it. The name, made again, goes on with the next "
                 "number, published and shared anew.",
       .params = {own_name(),
                  {.name = "reason", .flag = "--reason", .help = "why; kept in the audit log"},
                  project_param(),
                  dry_run_param()},
       .handler = remove,
       .reply = "DeletedComputeProfile",
       .if_match = true,
       .check = check_own,
       .examples = {"exa compute-profile delete small --yes"}},
  };
}

std::vector<Route> reading_routes() {
  return {
      {.id = "compute_profile.list",
       .path = "/api/v1/compute-profiles",
       .command = "compute-profile list",
       .action = kRead,
       .summary = "List compute profiles: the project's, and those that are shared with it",
       .params = {{.name = "search",
                   .flag = "--search",
                   .help = "only with this in name, display name or description"},
                  project_param(),
                  limit_param(),
                  cursor_param()},
       .handler = list,
       .reply = "ComputeProfileList",
       .check = check_project_alone,
       .examples = {"exa compute-profile list", "exa compute-profile list --search gpu"}},
      {.id = "compute_profile.show",
       .path = "/api/v1/compute-profiles/{name}",
       .command = "compute-profile show",
       .action = kRead,
       .summary = "Show all that is configured of a compute profile",
       .params = {any_name(), project_param()},
       .handler = show,
       .reply = "ComputeProfile",
       .check = check_reference,
       .examples = {"exa compute-profile show small", "exa compute-profile show small@1"}},
      {.id = "compute_profile.history",
       .path = "/api/v1/compute-profiles/{name}/versions",
       .command = "compute-profile history",
       .action = kRead,
       .summary = "Show its versions and what each changed",
       .detail = "Who may not write it sees the newest alone.",
       .params = {any_name(), project_param()},
       .handler = history,
       .reply = "ComputeProfileHistory",
       .check = check_reference,
       .examples = {"exa compute-profile history small"}},
      {.id = "compute_profile.diff",
       .path = "/api/v1/compute-profiles/{name}/diff",
       .command = "compute-profile diff",
       .action = kRead,
       .summary = "Compare two of its versions, field by field",
       .detail = "Exit code 0: the same; 1: they differ; 2: an error.",
       .params = {any_name(), version_number("from", "--from", "the version before", true),
                  version_number("to", "--to", "the version after (default the newest)", false),
                  project_param()},
       .handler = diff,
       .reply = "ComputeProfileDiff",
       .check = check_reference,
       .examples = {"exa compute-profile diff small --from 1 --to 2"},
       .error_exit = 2},
      {.id = "compute_profile.inputs",
       .path = "/api/v1/compute-profiles/{name}/inputs",
       .command = "compute-profile inputs",
       .action = kRead,
       .summary = "Show what a launch asks for: a JSON Schema, and the settings in order",
       .params = {any_name(), project_param()},
       .handler = inputs,
       .reply = "ComputeProfileInputs",
       .check = check_reference,
       .examples = {"exa compute-profile inputs small"}},
      {.id = "compute_profile.check",
       .method = Method::post,
       .path = "/api/v1/compute-profiles/{name}/check",
       .command = "compute-profile check",
       .action = kRead,
       .summary = "Hold values against its inputs, as a launch would; nothing is kept",
       .detail = "Answers what would run and where each value comes from, secrets masked; or every "
                 "problem at once (exit code 2). A name given both ways is refused.",
       .params = joined({any_name()}, joined(input_params(), {project_param()})),
       .handler = check,
       .reply = "CheckedInputs",
       .check = check_values,
       .examples = {"exa compute-profile check small --input gpu_count=2"}},
      {.id = "compute_profile.export",
       .path = "/api/v1/compute-profiles/{name}/export",
       .command = "compute-profile export",
       .action = kRead,
       .summary = "Print it as another system's document",
       .detail = "Of an imported one over the document that it came from, fields that nobody here "
                 "knows as they were; who may not write it gets one of what show tells.",
       .params = {any_name(),
                  {.name = "format",
                   .kind = Kind::choice,
                   .flag = "--format",
                   .help = "whose",
                   .fallback = "rafay",
                   .choices = kFormats},
                  project_param()},
       .handler = export_one,
       .reply = "ExportedComputeProfile",
       .check = check_reference,
       .examples = {"exa compute-profile export small --format rafay"}},
  };
}

}  // namespace

std::vector<Route> compute_profile_routes() {
  std::vector<Route> all = writing_routes();
  for (Route& route : reading_routes()) all.push_back(std::move(route));
  return all;
}

}  // namespace exa
