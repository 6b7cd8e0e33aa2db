// The texts themselves: testdata/vocabulary/SHAPE/NAME holds what is written, and below a line of
// dashes what is noted. EXA_WRITE_GOLDEN=1 writes them anew.
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/quantity.h"
#include "launch/vocabulary.h"

namespace exa {
namespace {

struct Sample {
  std::string name;
  Shape shape;
};

Shape shape_of(Family family, std::string hint, int64_t gpus) {
  Shape shape;
  shape.accelerator_family = family;
  shape.accelerator_model_hint = std::move(hint);
  shape.gpu_count = gpus;
  shape.cpu_milli = 8'000;
  shape.memory_bytes = 32 * kGiB;
  return shape;
}

std::vector<Sample> samples() {
  Shape train = shape_of(Family::nvidia, "A100-80GB", 4);
  train.nodes = 2;
  train.driver_tag = "cuda-12.4";
  train.applicability = {Surface::training};
  train.description = "four of them, twice";
  Shape slice = shape_of(Family::nvidia, "A100-SXM4-80GB", 1);
  slice.mig_profile = "1g.10gb";
  slice.cpu_milli = 1'500;
  slice.memory_bytes = kGiB / 2;
  Shape half = shape_of(Family::nvidia, "L40S", 1);
  half.gpu_fraction_milli = 500;
  half.applicability = {Surface::workbench, Surface::serving};
  Shape cpu = shape_of(Family::cpu, "", 0);
  return {{"train-a100", train},
          {"slice-a100", slice},
          {"half-l40s", half},
          {"amd-mi300x", shape_of(Family::amd, "MI300X", 8)},
          {"gaudi", shape_of(Family::intel_gaudi, "Gaudi-2", 8)},
          {"tpu", shape_of(Family::tpu, "TPU-v5e", 4)},
          {"gpu-2", shape_of(Family::nvidia, "", 2)},
          {"cpu-8", cpu}};
}

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// docs/vocabularies.md: a row for each vocabulary, yes or no for each field of its head.
TEST(VocabularyTexts, TheManualSaysWhatIsCarried) {
  Shape half = shape_of(Family::nvidia, "L40S", 1);
  half.gpu_fraction_milli = 500;
  half.nodes = 2;
  half.driver_tag = "cuda-12.4";
  half.runtime_tag = "pytorch-2.4";
  half.applicability = {Surface::training};
  half.description = "half of one";
  Shape slice = shape_of(Family::nvidia, "A100-SXM4-80GB", 1);
  slice.mig_profile = "1g.10gb";
  std::string head;
  for (const std::string_view field : shape_fields()) head += fmt::format(" {} |", field);
  std::string wanted = fmt::format("|  |{}\n|---|", head);
  for (size_t i = 0; i < shape_fields().size(); ++i) wanted += "---|";
  wanted += "\n";
  for (const Vocabulary& vocabulary : vocabularies()) {
    wanted += fmt::format("| {} |", vocabulary.name);
    for (const std::string_view field : shape_fields()) {
      const Shape& shape = field == "mig_profile" ? slice : half;
      const auto notes = render_shape(vocabulary, shape, "x").notes;
      const bool is_carried =
          std::ranges::find(notes, field, &VocabularyNote::where) == notes.end();
      wanted += is_carried ? " yes |" : " |";
    }
    wanted += "\n";
  }
  const std::string manual = read_file(EXA_TESTDATA "/../docs/vocabularies.md");
  EXPECT_NE(manual.find(wanted), std::string::npos) << "the table must be:\n" << wanted;
}

TEST(VocabularyTexts, AreAsTheyStandInTheFiles) {
  for (const Sample& sample : samples()) {
    for (const Vocabulary& vocabulary : vocabularies()) {
      const RenderedShape rendered = render_shape(vocabulary, sample.shape, sample.name);
      std::string text = rendered.text + "-----\n";
      for (const VocabularyNote& note : rendered.notes)
        text += fmt::format("{}: {}\n", note.where, note.message);
      const std::string path =
          fmt::format("{}/vocabulary/{}/{}", EXA_TESTDATA, sample.name, vocabulary.name);
      if (std::getenv("EXA_WRITE_GOLDEN") != nullptr) std::ofstream(path) << text;
      EXPECT_EQ(text, read_file(path)) << path;
    }
  }
}

}  // namespace
}  // namespace exa
