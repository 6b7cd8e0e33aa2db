// One program, run so that nothing of it outlives the call. Between exa and the program stands its
// keeper, a process whose only work is to be the parent of all that the program starts: what loses
// its own parent, in whatever session, becomes the keeper's child (PR_SET_CHILD_SUBREAPER), so it
// can be found and killed. exa cannot be that parent itself: it would get the orphans of all its
// other programs too. When exa dies the keeper reads the end of a pipe, and kills. It is a fork
// of exa without an exec: it shares exa's memory, and keeps the pages that exa writes meanwhile.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/time.h"

namespace exa {

struct ContainedProgram {
  std::vector<std::string> argv;         // argv[0] a path
  std::vector<std::string> environment;  // KEY=value, nothing else
  int folder = -1;                       // where it runs
  int rules = -1;                        // see provision/confinement.h; -1: none
  int held = -1;                         // kept open by the keeper: a lock that ends with the tree
  int output = -1;                       // its standard output; -1: with the standard error
  int64_t file_limit_bytes = 0;
  Duration time_limit;
  Duration grace;
  std::function<void(std::string_view)> printed;  // what it prints, as it comes
  std::function<bool()> unwanted;                 // asked several times a second
};

enum class ContainedEnd { by_itself, too_late, unwanted };

struct ContainedResult {
  ContainedEnd end = ContainedEnd::by_itself;
  int exit_code = 0;      // of one that ended by itself
  int signal = 0;         // that killed it, or 0
  int left_behind = 0;    // processes that were killed after it had ended
  bool survived = false;  // something of it could not be killed within ten seconds
};

// Thread-safe. not_found: it cannot be executed; unexpected: a step before that failed;
// outcome_unknown: its keeper was killed.
Result<ContainedResult> run_contained(const ContainedProgram& program);

}  // namespace exa
