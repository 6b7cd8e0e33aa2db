// Files and problems as the tests of manifests write them.
#pragma once

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "compute/palette_manifest.h"

namespace exa {

inline std::string palette_file(std::string_view name) {
  std::ifstream file(fmt::format("{}/palette/{}", EXA_TESTDATA, name));
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// "f:6:3 message (suggestion)", the file's name being f.
inline std::vector<std::string> as_lines(const std::vector<Problem>& problems) {
  std::vector<std::string> lines;
  for (const Problem& problem : problems)
    lines.push_back(
        fmt::format("{} {}{}", problem.where, problem.message,
                    problem.suggestion.empty() ? "" : fmt::format(" ({})", problem.suggestion)));
  return lines;
}

inline std::vector<std::string> problems_of_manifests(std::string_view text) {
  const auto manifests = read_manifests(text, "f");
  return manifests ? std::vector<std::string>() : as_lines(manifests.error().problems);
}

// One compute profile; `fields` begins on line 6, column 3.
inline std::string profile_with(std::string_view fields) {
  return fmt::format(
      "apiVersion: palette.ai/v1alpha1\n"
      "kind: ComputeProfile\n"
      "metadata: {{name: p, namespace: a}}\n"
      "spec:\n"
      "  controlPlaneDefaults: {{nodeCount: 1}}\n"
      "  {}\n",
      fields);
}

// One platform; `fields` begins on line 5, column 3.
inline std::string platform_with(std::string_view fields) {
  return fmt::format(
      "apiVersion: palette.ai/v1alpha1\n"
      "kind: MLPlatform\n"
      "metadata: {{name: m, namespace: a}}\n"
      "spec:\n"
      "  {}\n",
      fields);
}

inline Manifest only_manifest(std::string_view text) {
  auto manifests = read_manifests(text, "f");
  EXA_ASSERT(manifests && manifests->size() == 1);
  return std::move(manifests->front());
}

}  // namespace exa
