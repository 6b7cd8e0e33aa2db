// What is kept of a launch is all of it.
#include "launch/launch_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launch/specs_for_test.h"

namespace exa {
namespace {

LaunchSpec with_everything() {
  LaunchSpec spec = serving_for_test();
  spec.files = {{"serve_config.yaml", "applications: []\n"}, {"empty", ""}};
  spec.installed_by = "pip install 'ray[serve]'";
  spec.kserve = KServe{4, 8};
  return spec;
}

TEST(LaunchJson, WhatWasKeptIsReadBackWhole) {
  for (const LaunchSpec& spec :
       {workbench_for_test(), training_for_test(), serving_for_test(), with_everything()}) {
    const auto again = launch_spec_from_json(to_json(spec));
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(*again, spec) << spec.name;
  }
}

TEST(LaunchJson, WhatWasKeptBeforeFilesWereKnownHasNone) {
  json::object stored = to_json(serving_for_test());
  for (const char* key : {"files", "installed_by", "kserve"}) stored.erase(key);
  const auto spec = launch_spec_from_json(stored);
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(*spec, serving_for_test());
}

TEST(LaunchJson, WhatCannotBeReadIsDamaged) {
  const std::pair<const char*, json::value> kWrong[] = {
      {"files", 7}, {"files", json::array{7}}, {"kserve", json::object{{"most", "x"}}}};
  for (const auto& [key, value] : kWrong) {
    json::object stored = to_json(with_everything());
    stored[key] = value;
    const auto spec = launch_spec_from_json(stored);
    ASSERT_FALSE(spec) << key;
    EXPECT_EQ(spec.error().code, Code::store_damaged);
  }
}

TEST(LaunchFiles, OnlyPlainNamesThatStandOnce) {
  const auto places = [](std::vector<std::string> names) {
    std::vector<RenderedFile> files;
    for (std::string& name : names) files.push_back({std::move(name), ""});
    std::vector<std::string> list;
    for (const Problem& problem : problems_of(files)) list.push_back(problem.where);
    return list;
  };
  EXPECT_THAT(places({"serve_config.yaml", "A-1", std::string(64, 'x')}), testing::IsEmpty());
  for (const char* name : {"", ".hidden", "..", "a/b", "/etc/passwd", "a b", "a\nb", "-x", "\xff"})
    EXPECT_THAT(places({name}), testing::ElementsAre("/files/0")) << name;
  EXPECT_THAT(places({std::string(65, 'x')}), testing::ElementsAre("/files/0"));
  EXPECT_THAT(places({"a", "b", "a"}), testing::ElementsAre("/files/2"));
}

}  // namespace
}  // namespace exa
