// What holds for every vocabulary and every shape: nothing is lost without a note.
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "launch/vocabulary.h"
#include "launch/vocabulary_dice_for_test.h"
#include "launch/vocabulary_text.h"

namespace exa {
namespace {

using sample::ShapeDice;

constexpr int kShapes = 5'000;  // the law itself
constexpr int kTexts = 1'000;   // what follows from it

class EveryVocabulary : public testing::TestWithParam<std::string> {
 protected:
  const Vocabulary& vocabulary() const { return *find_vocabulary(GetParam()); }
};

std::string to_text(const std::vector<VocabularyNote>& notes) {
  std::string text;
  for (const VocabularyNote& note : notes)
    text += fmt::format("{}: {}\n", note.where, note.message);
  return text;
}

// Every field that no note names is read back as it was.
testing::AssertionResult reads_back(const Vocabulary& vocabulary, const Shape& shape,
                                    const RenderedShape& rendered) {
  std::set<std::string, std::less<>> noted;
  for (const VocabularyNote& note : rendered.notes) noted.insert(note.where);
  const auto explained = [&](std::string_view what) {
    return testing::AssertionFailure() << what << "\n"
                                       << exa::to_text(shape_to_json(shape)) << "\n"
                                       << rendered.text << to_text(rendered.notes);
  };
  const Result<ImportedShape> read = import_shape(vocabulary, {rendered.text, "f"});
  if (!read) return explained("not read: " + read.error().problems.at(0).message);
  const Shape nothing;
  for (const std::string_view field : shape_fields()) {
    if (noted.contains(field)) continue;
    const json::value* said = read->fields.if_contains(field);
    const json::value back = said == nullptr ? field_to_json(nothing, field) : *said;
    const json::value asked = field_to_json(shape, field);
    if (back == asked) continue;
    const bool same_hint = field == "accelerator_model_hint" && back.is_string() &&
                           asked.is_string() &&
                           vocabulary::same_models(back.get_string(), asked.get_string());
    if (!same_hint)
      return explained(
          fmt::format("{}: {} became {}", field, exa::to_text(asked), exa::to_text(back)));
  }
  return testing::AssertionSuccess();
}

TEST_P(EveryVocabulary, WhatNoNoteNamesIsReadBack) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  ShapeDice dice(seed);
  for (int i = 0; i < kShapes; ++i) {
    const Shape shape = dice.shape();
    ASSERT_TRUE(reads_back(vocabulary(), shape, render_shape(vocabulary(), shape, "small")));
  }
}

TEST_P(EveryVocabulary, ANoteNamesAFieldThatSaysSomethingOrAPlaceToFillIn) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  ShapeDice dice(seed);
  const Shape nothing;
  for (int i = 0; i < kTexts; ++i) {
    const Shape shape = dice.shape();
    for (const VocabularyNote& note : render_shape(vocabulary(), shape, "small").notes) {
      ASSERT_FALSE(note.message.empty());
      if (note.where.starts_with('/')) continue;
      const bool says_family = note.where == "accelerator_family";
      ASSERT_TRUE(says_family ||
                  field_to_json(shape, note.where) != field_to_json(nothing, note.where))
          << note.where << ": " << note.message << exa::to_text(shape_to_json(shape));
    }
  }
}

// Into a text that asked for something else.
TEST_P(EveryVocabulary, AShapeTakesThePlaceOfAnother) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  ShapeDice dice(seed);
  for (int i = 0; i < kTexts; ++i) {
    const RenderedShape before = render_shape(vocabulary(), dice.shape(), "small");
    const Shape shape = dice.shape();
    const auto after = render_shape_over(vocabulary(), shape, "small", {before.text, "f"});
    ASSERT_TRUE(after) << after.error().message << before.text;
    ASSERT_TRUE(reads_back(vocabulary(), shape, *after)) << "over\n" << before.text;
  }
}

TEST_P(EveryVocabulary, WritingWhatIsThereChangesNothing) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  ShapeDice dice(seed);
  for (int i = 0; i < kTexts; ++i) {
    const RenderedShape before = render_shape(vocabulary(), dice.shape(), "small");
    const auto read = import_shape(vocabulary(), {before.text, "f"});
    ASSERT_TRUE(read) << before.text;
    const bool counts_devices = std::ranges::none_of(
        read->open, [](const auto& open) { return open.first == "gpu_count"; });
    if (!counts_devices) continue;
    json::object fields = read->fields;
    if (!fields.contains("accelerator_family")) fields["accelerator_family"] = "nvidia";
    const auto shape = read_shape(fields);
    if (!shape) continue;  // said in part only, such as a model without its family
    const auto after = render_shape_over(vocabulary(), *shape, "other", {before.text, "f"});
    ASSERT_TRUE(after);
    ASSERT_EQ(after->text, before.text) << exa::to_text(shape_to_json(*shape));
  }
}

// Devices without a word for their model are the easiest to lose: the text says how many, or a note
// does, whatever their family.
TEST_P(EveryVocabulary, DevicesWithoutAModelAreWrittenOrNamedAsLost) {
  for (const Family family : {Family::nvidia, Family::amd, Family::intel_gaudi, Family::tpu}) {
    for (const int64_t count : {1, 2, 8}) {
      Shape shape;
      shape.accelerator_family = family;
      shape.gpu_count = count;
      EXPECT_TRUE(reads_back(vocabulary(), shape, render_shape(vocabulary(), shape, "small")));
    }
  }
}

TEST_P(EveryVocabulary, KnowsItsOwnTexts) {
  Shape shape;
  shape.accelerator_family = Family::nvidia;
  shape.accelerator_model_hint = "A100";
  shape.gpu_count = 2;
  shape.cpu_milli = 8'000;
  shape.memory_bytes = 32 * kGiB;
  const RenderedShape rendered = render_shape(vocabulary(), shape, "small");
  const auto known = recognise_vocabulary({rendered.text, "f"});
  ASSERT_TRUE(known) << known.error().message << rendered.text;
  EXPECT_EQ((*known)->name, GetParam());
}

// A text that was cut, or in which some bytes are others, is read or refused; nothing else happens.
TEST_P(EveryVocabulary, AnyTextIsReadOrRefused) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  ShapeDice dice(seed);
  constexpr std::string_view kBytes = "0123456789-:,.{}[]'\"\\ \n#$&=gGxN+";
  size_t read = 0;
  for (int i = 0; i < kTexts; ++i) {
    const Shape shape = dice.shape();
    std::string text = render_shape(vocabulary(), shape, "small").text;
    for (int64_t changes = dice.below(4); changes >= 0; --changes)
      text[static_cast<size_t>(dice.below(static_cast<int64_t>(text.size())))] =
          kBytes[static_cast<size_t>(dice.below(static_cast<int64_t>(kBytes.size())))];
    if (dice.below(4) == 0)
      text.resize(static_cast<size_t>(dice.below(static_cast<int64_t>(text.size()))) + 1);
    SCOPED_TRACE(text);
    for (const Vocabulary& other : vocabularies()) {
      const auto known = import_shape(other, {text, "f"});
      ASSERT_TRUE(known || !known.error().message.empty());
    }
    const auto over = render_shape_over(vocabulary(), shape, "small", {text, "f"});
    if (over) ++read;
  }
  EXPECT_GT(read, 100U);
}

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const std::string_view name : vocabulary_names()) names.emplace_back(name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Vocabularies, EveryVocabulary, testing::ValuesIn(all_names()),
                         [](const testing::TestParamInfo<std::string>& row) {
                           std::string name = row.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace exa
