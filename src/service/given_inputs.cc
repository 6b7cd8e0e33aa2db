#include "service/given_inputs.h"

#include <algorithm>
#include <iterator>
#include <set>

#include <fmt/format.h>

namespace exa {

Result<ResolvedInputs> resolve_given(std::span<const InputSetting> stored,
                                     const GivenInputs& given) {
  std::vector<Problem> problems;
  const auto say = [&](const std::string& name, std::string message) {
    problems.push_back({pointer("/inputs", name), std::move(message), ""});
  };
  json::object values = given.values;
  std::set<std::string> seen;
  for (const auto& [name, text] : given.texts) {
    if (!seen.insert(name).second || given.values.contains(name)) {
      say(name, "is given twice");
      continue;
    }
    const auto setting = std::ranges::find(stored, name, &InputSetting::name);
    if (setting == stored.end()) {
      values[name] = text;  // resolving says that there is none
      continue;
    }
    if (setting->type == InputType::secret) {
      say(name, "is a secret: it is given in the object of --inputs, never as a flag's text");
      continue;
    }
    if (auto value = input_from_text(*setting, text))
      values[name] = *std::move(value);
    else
      say(name, value.error().message);
  }
  auto resolved = resolve_inputs(stored, values);
  if (resolved && problems.empty()) return resolved;
  if (!resolved) {
    // of an input that could not be read only that is told
    std::ranges::copy_if(resolved.error().problems, std::back_inserter(problems),
                         [told = problems](const Problem& problem) {
                           return std::ranges::find(told, problem.where, &Problem::where) ==
                                  told.end();
                         });
  }
  return fail(invalid("inputs", std::move(problems)));
}

}  // namespace exa
