// Profiles that one project lets others use: resolve, plan and run on, by PROJECT/NAME; never
// change. Semantics §3. What is shared is told from one project to another, so who asks has been
// checked before: they may act in the project from which they ask.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "service/profile_rows.h"
#include "service/service.h"

namespace exa {

// With whom `project` shares something: "none", "all" or names. Fails with invalid_input, every
// problem at "/with".
Result<json::value> sharing_of(const std::string& project, const std::vector<std::string>& with);
// not_found where the caller knows of all projects and one is not there; else what they are told of
// names that are none of theirs.
Result<std::vector<std::string>> notices_of_sharing(Transaction& tx, const Caller& caller,
                                                    const json::value& with);

struct ShareProfile {
  std::string project;
  std::string name;
  std::vector<std::string> with;  // {"none"}, {"all"}, or names of projects
};
Result<Answer> share_profile(Service& service, const Caller& caller, const ShareProfile& what);

// Active versions that other projects share with this one, by PROJECT/NAME.
Result<Answer> list_shared_profiles(Service& service, const HeadQuery& page);

}  // namespace exa
