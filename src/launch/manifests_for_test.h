// Manifests as the API server would read them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/yaml.h"
#include "launch/renderers.h"
#include "launch/specs_for_test.h"

namespace exa {

inline std::vector<json::value> objects_of(const LaunchSpec& spec) {
  const auto rendered = render_kubernetes(spec);
  EXPECT_TRUE(rendered) << (rendered ? "" : rendered.error().message);
  std::vector<json::value> objects;
  if (!rendered) return objects;
  const auto documents = parse_yaml(rendered->files.at(0).text, "manifest.yaml");
  EXPECT_TRUE(documents);
  for (const YamlDocument& document : documents.value()) objects.push_back(document.value);
  return objects;
}

inline json::value object_of_kind(const LaunchSpec& spec, std::string_view kind) {
  for (const json::value& object : objects_of(spec))
    if (text_or(object, "kind", "") == kind) return object;
  return nullptr;
}

inline std::vector<std::string> kinds_of(const LaunchSpec& spec) {
  std::vector<std::string> kinds;
  for (const json::value& object : objects_of(spec))
    kinds.emplace_back(text_or(object, "kind", ""));
  return kinds;
}

inline json::value at(const json::value& value, std::string_view pointer) {
  boost::system::error_code error;
  const json::value* found = value.find_pointer(pointer, error);
  return found == nullptr ? json::value("nothing there") : *found;
}

inline json::value pod_spec(const LaunchSpec& spec) {
  const json::value main = objects_of(spec).back();
  return text_or(main, "kind", "") == "Pod" ? at(main, "/spec") : at(main, "/spec/template/spec");
}

}  // namespace exa
