// What a caller may know of, in words and in queries: "not yours" and "not there" are one answer.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "service/caller.h"
#include "store/store.h"

namespace exa {

// The one answer for a project that is not there or not the caller's. `known` are names that may
// be proposed: the caller's own.
Error no_such_project(const std::string& project, const std::vector<std::string>& known);

// not_found unless the caller may know of the project. Whoever may know of all is answered by the
// store.
Result<void> require_known(const Caller& caller, const std::string& project);

// forbidden unless the caller may do what the route asks for in this project, which they may know.
Result<void> require_permitted(Transaction& tx, const Caller& caller, std::string_view action,
                               const std::string& project);

// A refusal that says what is needed and who can grant it. `project` is "" for the platform.
Error not_permitted(const Principal& who, std::string_view action, const std::string& project,
                    const std::vector<std::string>& admins);

// A condition on a column that holds a project: "project IN ($3, $4)". Its values are appended.
std::string in_projects(const Projects& projects, std::string_view column,
                        std::vector<Value>& values);

// Users who administer a project, themselves or through a group, by name.
Result<std::vector<std::string>> admins_of(Transaction& tx, const std::string& project);

}  // namespace exa
