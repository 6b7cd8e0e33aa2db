// The table of fields: what it lets people read is what the checks do.
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "base/yaml.h"
#include "compute/manifest_for_test.h"

namespace exa {
namespace {

using testing::Contains;

TEST(ManifestFields, EveryRowSaysWhatItIsOnce) {
  for (const PaletteKindInfo& kind : palette_kinds()) {
    std::set<std::string_view> paths;
    for (const ManifestField& field : fields_of(kind.kind)) {
      EXPECT_FALSE(field.help.empty() || field.help.ends_with('.')) << field.path;
      EXPECT_FALSE(name(field.type).empty()) << field.path;
      EXPECT_TRUE(paths.insert(field.path).second) << kind.name << ' ' << field.path;
    }
  }
}

TEST(ManifestFields, AnObjectStandsBeforeItsFields) {
  for (const PaletteKindInfo& kind : palette_kinds()) {
    std::set<std::string> before = {""};
    for (const ManifestField& field : fields_of(kind.kind)) {
      const size_t end = field.path.ends_with(']') ? field.path.rfind('[') : field.path.rfind('.');
      std::string around = end == std::string::npos ? "" : field.path.substr(0, end);
      if (around.ends_with("[]")) around.resize(around.size() - 2);
      EXPECT_THAT(before, Contains(around)) << kind.name << ' ' << field.path;
      before.insert(field.path);
    }
  }
}

// testdata/palette/all-kinds.yaml has every field, so that a new row is tried by its example.
TEST(ManifestFields, TheExampleHasEveryField) {
  std::map<PaletteKind, std::string> texts;
  const auto manifests = read_manifests(palette_file("all-kinds.yaml"), "f");
  ASSERT_TRUE(manifests);
  for (const Manifest& manifest : *manifests) texts[manifest.kind] += to_yaml(manifest.document);
  for (const PaletteKindInfo& kind : palette_kinds()) {
    for (const ManifestField& field : fields_of(kind.kind)) {
      if (!field.path.starts_with("spec") || field.path.find(".override.") != std::string::npos)
        continue;
      const std::string key = field.path.substr(field.path.rfind('.') + 1);
      EXPECT_THAT(texts[kind.kind], testing::HasSubstr(key + ":")) << kind.name << field.path;
    }
  }
}

// A list where none is wanted, and the other way round, is found in every row.
TEST(ManifestFields, EveryRowRefusesAnotherType) {
  const auto manifests = read_manifests(palette_file("all-kinds.yaml"), "f");
  ASSERT_TRUE(manifests);
  int tried = 0;
  for (const Manifest& manifest : *manifests) {
    for (const ManifestField& field : fields_of(manifest.kind)) {
      if (field.type == FieldType::anything || field.path.find('[') != std::string::npos ||
          field.path == "kind")
        continue;
      json::value document = manifest.document;
      json::value* place = &document;
      std::string at;
      for (const std::string_view key : split(field.path, '.')) {
        if (!place->is_object()) place->emplace_object();
        place = &place->get_object()[key];
        at = pointer(at, key);
      }
      const bool is_list =
          field.type == FieldType::list_of_text || field.type == FieldType::list_of_objects;
      *place = is_list ? json::value(3) : json::value(json::array{3});
      const auto read = manifest_of(document);
      ASSERT_FALSE(read) << field.path;
      EXPECT_THAT(as_lines(read.error().problems),
                  Contains(testing::StartsWith(fmt::format("{} {} is ", at, field.path))));
      ++tried;
    }
  }
  EXPECT_GT(tried, 100);
}

}  // namespace
}  // namespace exa
