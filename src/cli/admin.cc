#include "cli/admin.h"

#include "cli/local.h"
#include "cli/output.h"
#include "service/copy.h"
#include "store/open.h"

namespace exa {
namespace {

std::string value_of(const Invocation& invocation, std::string_view name) {
  for (const auto& [param, text] : invocation.values)
    if (param->name == name) return text;
  return {};
}

// A store in a folder has its files there; a server's are in the data folder.
Result<std::filesystem::path> files_of(const std::string& store, const LocalCall& call) {
  if (auto folder = folder_of_store(store)) return *std::move(folder);
  return data_folder(call.invocation.globals.data_folder, [&](const std::string& name) {
    return call.environment.variable(name.c_str());
  });
}

}  // namespace

Route admin_copy_row() {
  return {.id = "local.admin_copy",
          .command = "admin copy",
          .tier = Tier::mutating,
          .summary = "Copy an installation to another store, with its audit log",
          .detail =
              "The destination must be empty. Nobody can change the source meanwhile; it stays "
              "as it is. The key and checkpoint of the audit log go along: those of a "
              "PostgreSQL lie in the data folder. Both ends are verified.",
          .params = {{.name = "from",
                      .flag = "--from",
                      .help = "sqlite:FOLDER or postgresql://USER@HOST/DATABASE",
                      .required = true},
                     {.name = "to",
                      .flag = "--to",
                      .help = "sqlite:FOLDER or postgresql://USER@HOST/DATABASE",
                      .required = true}},
          .examples = {"exa admin copy --from sqlite:/srv/exa --to postgresql://exa@db/exa"}};
}

Result<std::string> admin_copy(const LocalCall& call) {
  const std::string from = value_of(call.invocation, "from");
  const std::string to = value_of(call.invocation, "to");
  std::vector<Problem> problems;
  if (auto problem = problem_of_store_argument("--from", from)) problems.push_back(*problem);
  if (auto problem = problem_of_store_argument("--to", to)) problems.push_back(*problem);
  if (!problems.empty()) return fail(invalid("exa admin copy", std::move(problems)));
  EXA_ASSIGN(const auto from_files, files_of(from, call));
  EXA_ASSIGN(const auto to_files, files_of(to, call));
  EXA_ASSIGN(const auto source, open_store({.store = from}));
  EXA_ASSIGN(const auto target, open_store({.store = to}));
  EXA_ASSIGN(const Answer answer,
             copy_installation({*source, from_files}, {*target, to_files}, call.environment.clock));
  Reply reply;
  reply.body = to_pretty_text(answer.body);
  Rendering how;
  how.format = call.invocation.globals.format;
  EXA_ASSIGN(Rendered rendered, render(reply, call.invocation.route->id, how));
  return std::move(rendered.out);
}

}  // namespace exa
