// Rows and handlers of profiles in the words of other systems.
#include <fmt/format.h>

#include "api/profile_args.h"
#include "base/text.h"
#include "service/profiles.h"
#include "service/vocabularies.h"

namespace exa {
namespace {

Result<Reply> render(Service& service, const Call& call) {
  EXA_ASSIGN(ProfileRef ref,
             combine_reference(call.text("name"), version_arg(call), call.text("label")));
  RenderProfile what{call.text("project"), std::move(ref), find_vocabulary(call.text("as")), {}};
  EXA_ASSERT(what.vocabulary != nullptr);  // checked against the choices
  if (call.has("over")) what.over = call.text("over");
  return reply_of(render_profile(service, what));
}

Result<Reply> import_one(Service& service, const Call& call) {
  const bool is_line = call.has("sbatch");
  const std::string text = call.text(is_line ? "sbatch" : "file");
  const Vocabulary* vocabulary = find_vocabulary(is_line ? "sbatch" : call.text("as"));
  return reply_of(import_profile(service, call.caller,
                                 {call.text("project"),
                                  call.text("name"),
                                  call.text("label"),
                                  vocabulary,
                                  {text, is_line ? "" : "file"},
                                  shape_args(call.args)}));
}

std::vector<Problem> check_import(const json::object& args) {
  std::vector<Problem> problems = check_new_version(args);
  const bool has_file = args.contains("file");
  const bool has_line = args.contains("sbatch");
  if (has_file && has_line)
    problems.push_back({"/sbatch", "is given together with a file; give one of them", ""});
  if (!has_file && !has_line)
    problems.push_back({"/file", "is missing, and no options of sbatch are given instead", ""});
  const json::value* as = args.if_contains("as");
  if (has_line && as != nullptr && *as != "sbatch")
    problems.push_back({"/as", "is something else than the options that are given", ""});
  return problems;
}

// "sbatch: the head of a Slurm batch script, or its options; srun: …"
std::string_view list_of_vocabularies() {
  static const std::string text = [] {
    std::vector<std::string> rows;
    for (const Vocabulary& row : vocabularies())
      rows.push_back(fmt::format("{} ({})", row.name, row.summary));
    return join(rows, ", ");
  }();
  return text;
}

std::string_view detail_of_render() {
  static const std::string text = fmt::format(
      "What a vocabulary has no word for is noted on standard error, field by field. --over writes "
      "the profile into a text that is there: fields that it says already, and everything that a "
      "profile does not know, stay as they are. The vocabularies: {}.",
      list_of_vocabularies());
  return text;
}

std::vector<Param> import_params() {
  std::vector<Param> params = {
      {.name = "file",
       .in = In::body,
       .kind = Kind::file,
       .help = "a script, a command line or a manifest"},
      {.name = "sbatch",
       .in = In::body,
       .flag = "--sbatch",
       .help = "options of sbatch instead of a file: --sbatch \"-N2 --gres=gpu:a100:4\"",
       .is_line = true},
      {.name = "as",
       .in = In::body,
       .kind = Kind::choice,
       .flag = "--as",
       .help = "of which vocabulary the file is (default: as its content says)",
       .choices = vocabulary_names()},
      {.name = "name",
       .in = In::body,
       .flag = "--set",
       .help = "make it the next version of this profile",
       .completes = "profile"}};
  for (Param& param : shape_params()) params.push_back(std::move(param));
  for (Param param : {Param{.name = "label",
                     .in = In::body,
                     .flag = "--label",
                     .help = "with --set: label to move to the new version",
                     .fallback = "active"},
                      project_param(), dry_run_param()})
    params.push_back(std::move(param));
  return params;
}

}  // namespace

std::vector<Route> vocabulary_routes() {
  return {
      {.id = "hardware_profile.render",
       .method = Method::post,
       .path = "/api/v1/hardware-profiles/{name}/rendering",
       .command = "hardware profile render",
       .action = "hardware_profile:read",
       .summary = "Print a profile in the words of another system",
       .detail = detail_of_render(),
       .params = {{.name = "name",
                   .in = In::path,
                   .help = "name, name@3 or name@label; PROJECT/name of a shared one",
                   .required = true,
                   .completes = "profile"},
                  {.name = "as",
                   .in = In::body,
                   .kind = Kind::choice,
                   .flag = "--as",
                   .help = "the vocabulary",
                   .required = true,
                   .choices = vocabulary_names()},
                  {.name = "over",
                   .in = In::body,
                   .kind = Kind::file,
                   .flag = "--over",
                   .help = "write it into this text of the vocabulary, which keeps the rest"},
                  version_param(),
                  {.name = "label",
                   .flag = "--label",
                   .help = "the version that this label points at (default active)",
                   .completes = "label"},
                  project_param()},
       .handler = render,
       .reply = "RenderedProfile",
       .check = check_reference,
       .examples = {"exa hardware profile render small --as sbatch",
                    "exa hardware profile render small --as kubernetes --json"}},
      {.id = "hardware_profile.import",
       .method = Method::post,
       .path = "/api/v1/imported-hardware-profiles",
       .command = "hardware profile import",
       .tier = Tier::mutating,
       .action = "hardware_profile:read",
       .action_with = {"name", "hardware_profile:write"},
       .summary = "Read a profile out of another system's words",
       .detail =
           "Tells what fields a profile of it would have, and notes on standard error what "
           "could not be carried over, each with its place. Nothing is guessed: what is asked "
           "for without a number has to be said beside, by the flags of a profile's fields, "
           "which win over the file. --set makes it a profile, as exa hardware profile set "
           "does; a viewer may do without. Keep the file: exa hardware profile render --over "
           "writes a profile into it and leaves alone what a profile does not know.",
       .params = import_params(),
       .handler = import_one,
       .reply = "ImportedProfile",
       .check = check_import,
       .examples = {"exa hardware profile import --sbatch \"-N2 --gres=gpu:a100:4 -c8 --mem=32G\"",
                    "exa hardware profile import --sbatch \"-c8 --mem=32G\" --set small"}},
  };
}

}  // namespace exa
