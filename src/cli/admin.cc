#include "cli/admin.h"

#include "cli/connect.h"
#include "cli/local.h"
#include "cli/output.h"
#include "service/copy.h"
#include "store/open.h"

namespace exa {
namespace {

// A store in a folder has its files there; a server's are in the data folder.
Result<std::filesystem::path> files_of(const std::string& store, const LocalCall& call) {
  const Where where{call.invocation.globals.where.data_folder, store, ""};
  return folder_of(where, lookup_in(call.environment));
}

Result<LocalText> printed(const LocalCall& call, const Answer& answer) {
  Reply reply;
  reply.body = to_pretty_text(answer.body);
  Rendering how;
  how.format = call.invocation.globals.format;
  EXA_ASSIGN(Rendered rendered, render(reply, call.invocation.route->id, how));
  return LocalText(std::move(rendered.out), answer.exit_code);
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
          .examples = {"exa admin copy --from sqlite:/srv/exa --to postgresql://exa@db/exa"},
          .changes = "Fills the destination; the audit log comes along as it is."};
}

Result<LocalText> admin_copy(const LocalCall& call) {
  const std::string from = value_of(call, "from");
  const std::string to = value_of(call, "to");
  std::vector<Problem> problems;
  if (auto problem = problem_of_store_argument("--from", from)) problems.push_back(*problem);
  if (auto problem = problem_of_store_argument("--to", to)) problems.push_back(*problem);
  for (const auto& [flag, store] : {std::pair("--from", from), std::pair("--to", to)}) {
    if (store.starts_with("sqlite:") || store.starts_with("postgres")) continue;
    problems.push_back({flag, "begins with sqlite: or postgresql://", ""});
  }
  if (!problems.empty()) return fail(invalid("exa admin copy", std::move(problems)));
  EXA_ASSIGN(const auto from_files, files_of(from, call));
  EXA_ASSIGN(const auto to_files, files_of(to, call));
  EXA_ASSIGN(const auto source, open_store({.store = from}));
  EXA_ASSIGN(const auto target, open_store({.store = to}));
  EXA_ASSIGN(const Answer answer,
             copy_installation({*source, from_files}, {*target, to_files}, call.environment.clock));
  return printed(call, answer);
}

Route restore_row() {
  return {.id = "local.restore",
          .command = "restore",
          .tier = Tier::mutating,
          .summary = "Bring a backup back into an empty store",
          .detail =
              "Into the data folder, or the store that --store names, which must not hold anything "
              "yet: move a damaged exa.db away first, and leave the other files. If the audit log "
              "went on after the backup was made, that shows, and exa audit recover is needed.",
          .params = {{.name = "folder",
                      .kind = Kind::path,
                      .help = "the folder of the backup",
                      .required = true}},
          .examples = {"exa restore /var/lib/exa-backups/2026-11-30"},
          .changes = "Fills the empty store; the audit log comes along as it is."};
}

Result<LocalText> restore(const LocalCall& call) {
  const std::string folder = value_of(call, "folder");
  const Where& where = call.invocation.globals.where;
  const EnvironmentLookup variable = lookup_in(call.environment);
  if (!std::filesystem::exists(std::filesystem::path(folder) / "exa.db")) {
    return fail(Code::not_found, fmt::format("{} is no backup: it has no exa.db", folder),
                "exa backup FOLDER makes one");
  }
  EXA_ASSIGN(const auto files, folder_of(where, variable));
  const std::string named = store_named(where.store, variable);
  EXA_ASSIGN(const auto backup, open_store({.store = folder}));
  EXA_ASSIGN(const auto target, open_store({.store = named.empty() ? files.string() : named}));
  EXA_ASSIGN(const Answer answer,
             restore_installation({*backup, folder}, {*target, files}, call.environment.clock));
  for (const std::string& notice : answer.notices) call.environment.err(notice + "\n");
  return printed(call, answer);
}

}  // namespace exa
