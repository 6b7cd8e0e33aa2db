// Settings and values as JSON, for tests: what is wrong with them as "POINTER MESSAGE" lines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "catalogue/input_setting.h"

namespace exa::sample {

inline std::vector<std::string> lines_of(const std::vector<Problem>& problems) {
  std::vector<std::string> lines;
  for (const Problem& problem : problems) {
    std::string line = problem.where + " " + problem.message;
    if (!problem.suggestion.empty()) line += "; " + problem.suggestion;
    lines.push_back(line);
  }
  return lines;
}

inline json::value parsed(std::string_view text) {
  auto value = parse_json(text, "the test");
  EXA_ASSERT(value.has_value());
  return *value;
}

struct ReadInputs {
  std::vector<InputSetting> settings;
  std::vector<Problem> problems;
};

inline ReadInputs read_inputs(std::string_view list) {
  ReadInputs read;
  size_t i = 0;
  const json::value all = parsed(list);
  for (const json::value& one : all.as_array())
    read.settings.push_back(
        input_setting_from_json(one, pointer("/inputs", std::to_string(i++)), read.problems));
  if (read.problems.empty()) read.problems = problems_of_inputs(read.settings);
  return read;
}

inline std::vector<InputSetting> inputs(std::string_view list) {
  ReadInputs read = read_inputs(list);
  EXA_ASSERT(read.problems.empty());
  return read.settings;
}

}  // namespace exa::sample
