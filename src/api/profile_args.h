// What the rows about profiles share: the fields of a shape as parameters and out of arguments, and
// the checks of the names in them.
#pragma once

#include <optional>
#include <vector>

#include "api/handlers.h"
#include "profile/reference.h"

namespace exa {

// With the place and the spelling that the error of `check` names.
template <typename Check>
void check_with(const json::object& args, std::string_view key, std::vector<Problem>& problems,
                const Check& check) {
  const json::value* value = args.if_contains(key);
  if (value == nullptr || !value->is_string()) return;
  if (const auto checked = check(std::string_view(value->get_string())); !checked) {
    const Error& error = checked.error();
    const std::string suggestion = error.problems.empty() ? "" : error.problems[0].suggestion;
    problems.push_back({pointer("", key),
                        error.problems.empty() ? error.message : error.problems[0].message,
                        suggestion});
  }
}

void check_project(const json::object& args, std::vector<Problem>& problems);
Result<ProfileRef> check_ref(std::string_view text);
std::vector<Problem> check_reference(const json::object& args);    // name, project
std::vector<Problem> check_new_version(const json::object& args);  // name, project, label

// The arguments that are fields of a shape.
json::object shape_args(const json::object& args);
std::vector<Param> shape_params();  // in the body; none of them required

Param version_param();
std::optional<int64_t> version_arg(const Call& call);

}  // namespace exa
