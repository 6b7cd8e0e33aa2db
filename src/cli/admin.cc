#include "cli/admin.h"

#include "cli/connect.h"
#include "cli/local.h"
#include "service/copy.h"
#include "store/open.h"

namespace exa {
namespace {

// A store in a folder has its files there; a server's are in the data folder.
Result<std::filesystem::path> files_of(const StorePlace& place, const LocalCall& call) {
  if (!place.folder.empty()) return place.folder;
  return data_folder(call.invocation.globals.where.data_folder, lookup_in(call.environment));
}

Result<LocalText> printed(const LocalCall& call, const Answer& answer) {
  EXA_ASSIGN(std::string text, in_format(call, answer.body));
  return LocalText(std::move(text), answer.exit_code);
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
  if (!problems.empty()) return fail(invalid("exa admin copy", std::move(problems)));
  EXA_ASSIGN(const StorePlace from_place, parse_store_name(from));
  EXA_ASSIGN(const StorePlace to_place, parse_store_name(to));
  EXA_ASSIGN(const auto from_files, files_of(from_place, call));
  EXA_ASSIGN(const auto to_files, files_of(to_place, call));
  EXA_ASSIGN(const auto source, open_store({.place = from_place}));
  EXA_ASSIGN(const auto target, open_store({.place = to_place}));
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
  if (!std::filesystem::exists(std::filesystem::path(folder) / "exa.db")) {
    return fail(Code::not_found, fmt::format("{} is no backup: it has no exa.db", folder),
                "exa backup FOLDER makes one");
  }
  EXA_ASSIGN(const Home home, home_of(call.invocation.globals.where, lookup_in(call.environment)));
  EXA_ASSIGN(const auto backup, open_store({.place = {folder, ""}}));
  // not open_home: what is missing there is to be brought back
  EXA_ASSIGN(const auto target, open_store({.place = home.place(), .lock_wait = home.lock_wait}));
  EXA_ASSIGN(const Answer answer, restore_installation({*backup, folder}, {*target, home.folder},
                                                       call.environment.clock));
  for (const std::string& notice : answer.notices) call.environment.err(notice + "\n");
  return printed(call, answer);
}

}  // namespace exa
