// Moves a whole installation from one store to another, on any backend, with its audit log intact.
#pragma once

#include <filesystem>

#include "service/service.h"

namespace exa {

// A store and the folder with its audit.key, audit.pub and checkpoint.
struct Installation {
  Store& store;
  std::filesystem::path files;
};

// Copies every row of every table in one transaction of the destination, while nobody else may
// write to the source; then the files, where the folders differ; then verifies the log and the
// tables at the destination. The answer says what was copied.
//
// Errors: audit_broken (the source does not verify, or the copy does not), conflict (the
// destination's log has entries, or its folder has files of a log), and those of the stores.
// Nothing is left at the destination when it fails before the verification.
Result<Answer> copy_installation(const Installation& from, const Installation& to,
                                 const Clock& clock, Progress& progress = unwatched());

// A copy in a new folder, as SQLite whatever the source is; for a server that goes on meanwhile,
// whose changes wait. Errors: as above; invalid_input for a folder that is not empty.
Result<Answer> back_up(Service& service, const Caller& caller, const std::string& folder);

// The way back, into a store without entries. Files of the same log that are at the destination
// already stay: a checkpoint there that is newer than the backup shows that entries were lost, and
// the answer says so (`needs_recovery`); nothing can be changed then before `exa audit recover`.
Result<Answer> restore_installation(const Installation& backup, const Installation& to,
                                    const Clock& clock);

}  // namespace exa
