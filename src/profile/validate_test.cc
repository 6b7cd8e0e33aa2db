#include "profile/validate.h"

#include <limits>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/quantity.h"
#include "base/text.h"

namespace exa {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

json::object input(std::string_view text) {
  const auto parsed = parse_json(text, "input");
  EXPECT_TRUE(parsed) << text;
  return parsed->get_object();
}

// A good shape with one field replaced.
json::object with(std::string_view field, json::value value) {
  json::object object = input(R"({"accelerator_family":"nvidia","gpu_count":2,"cpu":8,
                                  "memory_gb":32,"applicability":["training"]})");
  object[field] = std::move(value);
  return object;
}

std::vector<std::string> places(const std::vector<Problem>& problems) {
  std::vector<std::string> where;
  for (const Problem& problem : problems) where.push_back(problem.where);
  return where;
}

TEST(ReadShape, TakesTheDocumentsExample) {
  const auto shape = read_shape(input(
      R"({"accelerator_family":"nvidia","accelerator_model_hint":"A100","gpu_count":2,"cpu":8,
          "memory_gb":32,"driver_tag":"cuda-12.4","applicability":"workbench,training"})"));
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->gpu_count, 2);
  EXPECT_EQ(shape->cpu_milli, 8000);
  EXPECT_EQ(shape->memory_bytes, 32 * kGiB);
  EXPECT_EQ(shape->nodes, 1);
  EXPECT_EQ(shape->gpu_fraction_milli, 1000);
  EXPECT_THAT(shape->applicability, ElementsAre(Surface::workbench, Surface::training));
}

TEST(ReadShape, NumbersMayArriveAsText) {
  const auto shape = read_shape(input(
      R"({"accelerator_family":"nvidia","gpu_count":"2","gpu_fraction":"0.25","cpu":"0.5",
          "memory_gb":"0.1","nodes":"4"})"));
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->gpu_count, 2);
  EXPECT_EQ(shape->gpu_fraction_milli, 250);
  EXPECT_EQ(shape->cpu_milli, 500);
  EXPECT_EQ(shape->memory_bytes, 107374182);
  EXPECT_EQ(shape->nodes, 4);
}

TEST(ReadShape, WhatItPrintsItReads) {
  auto shape = read_shape(with("accelerator_model_hint", "A100-80GB"));
  ASSERT_TRUE(shape);
  EXPECT_EQ(read_shape(shape_to_json(*shape)), *shape);
}

TEST(ReadShape, ApplicabilityIsAnyUnlessGivenAndKeepsOneOrder) {
  EXPECT_THAT(read_shape(input(R"({"accelerator_family":"cpu"})"))->applicability,
              ElementsAre(Surface::any));
  EXPECT_THAT(read_shape(with("applicability", "serving, training,serving"))->applicability,
              ElementsAre(Surface::training, Surface::serving));
  EXPECT_THAT(read_shape(with("applicability", json::array{"any", "training"}))->applicability,
              ElementsAre(Surface::training, Surface::any));
}

struct Bad {
  std::string_view field;
  json::value value;
  std::string_view says;
};

TEST(ReadShape, RefusesEachBadFieldAtItsPlaceAndSaysWhy) {
  const double infinite_text_source = 1e300;
  const Bad rows[] = {
      {"accelerator_family", "nvidai", "not a family"},
      {"accelerator_family", "other", "not a family"},
      {"accelerator_family", "NVIDIA", "not a family"},
      {"accelerator_family", nullptr, "must be a text"},
      {"accelerator_family", 3, "must be a text"},
      {"gpu_count", -1, "must not be negative"},
      {"gpu_count", "-1", "must not be negative"},
      {"gpu_count", 1.5, "whole number"},
      {"gpu_count", "two", "whole number"},
      {"gpu_count", "", "whole number"},
      {"gpu_count", "+2", "whole number"},
      {"gpu_count", true, "must be a number"},
      {"gpu_count", nullptr, "must be a number"},
      {"gpu_count", json::array{1}, "must be a number"},
      {"gpu_count", 1025, "0 to 1024"},
      {"gpu_count", "99999999999999999999", "0 to 1024"},
      {"gpu_count", infinite_text_source, "out of range"},
      {"gpu_fraction", 0, "0.001 to 1"},
      {"gpu_fraction", 1.001, "0.001 to 1"},
      {"gpu_fraction", 0.0005, "three decimals"},
      {"gpu_fraction", "NaN", "not a number"},
      {"gpu_fraction", "-0.5", "must not be negative"},
      {"cpu", "nan", "not a number"},
      {"cpu", "inf", "not a number"},
      {"cpu", "-inf", "must not be negative"},
      {"cpu", "1e3", "not a number"},
      {"cpu", "0x10", "not a number"},
      {"cpu", "8 ", "not a number"},
      {"cpu", "8,5", "not a number"},
      {"cpu", 0.0001, "three decimals"},
      {"cpu", 100'001, "0 to 100000"},
      {"memory_gb", "32G", "not an amount of GiB"},
      {"memory_gb", -0.1, "must not be negative"},
      {"memory_gb", 1'048'577, "1 PiB"},
      {"nodes", 0, "1 to 100000"},
      {"nodes", 100'001, "1 to 100000"},
      {"mig_profile", "half", "not a MIG profile"},
      {"mig_profile", "3g.7gb", "no nvidia device has"},
      {"driver_tag", "cuda 12.4", "not a tag"},
      {"driver_tag", "-cuda", "not a tag"},
      {"driver_tag", json::string(129, 'a'), "not a tag"},
      {"runtime_tag", "a\nb", "control characters"},
      {"runtime_tag", "$(reboot)", "not a tag"},
      {"accelerator_model_hint", "A100\x1b[2J", "control characters"},
      {"accelerator_model_hint", "A100\u202e", "control characters"},
      {"accelerator_model_hint", "--", "names no model"},
      {"accelerator_model_hint", json::string(129, 'A'), "longer than"},
      {"accelerator_model_hint", "MI300X", "amd family, not of nvidia"},
      {"applicability", json::array{}, "is empty"},
      {"applicability", "", "is empty"},
      {"applicability", "training,trainning", "not one of"},
      {"applicability", "training,", "not one of"},
      {"applicability", json::array{1}, "must list texts"},
      {"applicability", 1, "must be a list"},
      {"description", json::string(1025, 'x'), "1025 characters"},
      {"description", "caf\xe9", "UTF-8"},
      {"description", "a\x07", "control characters"},
      {"description", 1, "must be a text"},
  };
  for (const Bad& row : rows) {
    const auto problems = problems_of_shape(with(row.field, row.value));
    ASSERT_EQ(problems.size(), 1U) << row.field << " " << to_text(row.value);
    EXPECT_EQ(problems[0].where, "/" + std::string(row.field)) << to_text(row.value);
    EXPECT_THAT(problems[0].message, HasSubstr(row.says)) << row.field;
    EXPECT_EQ(printable(problems[0].message), problems[0].message);
  }
}

TEST(ReadShape, LongestAndLargestAreTaken) {
  json::string accents;
  for (size_t i = 0; i < kLongestDescription; ++i) accents += "é";
  for (const auto& [field, value] : std::initializer_list<std::pair<std::string_view, json::value>>{
           {"description", accents},
           {"gpu_count", kMostGpusPerNode},
           {"nodes", kMostNodes},
           {"cpu", kMostCpus},
           {"memory_gb", kMostMemoryBytes / kGiB},
           {"gpu_fraction", 0.001},
           {"driver_tag", json::string(kLongestTag, 'a')}})
    EXPECT_THAT(problems_of_shape(with(field, value)), IsEmpty()) << field;
}

TEST(ReadShape, NearMissesAreNamed) {
  EXPECT_EQ(problems_of_shape(with("accelerator_family", "nvidai"))[0].suggestion,
            "did you mean nvidia?");
  EXPECT_EQ(problems_of_shape(with("applicability", "trainning"))[0].suggestion,
            "did you mean training?");
  EXPECT_EQ(problems_of_shape(with("gpu_cuont", 1))[0].suggestion, "did you mean gpu_count?");
  EXPECT_THAT(problems_of_shape(with("memory_gb", "32G"))[0].suggestion,
              HasSubstr("without a unit"));
}

TEST(ReadShape, UnknownKeysAreRefused) {
  json::object object = with("memory", 1);
  object["a/b"] = 2;
  EXPECT_THAT(places(problems_of_shape(object)), ElementsAre("/memory", "/a~1b"));
}

TEST(ReadShape, AllProblemsAtOnceInTheDocumentsOrder) {
  const auto shape =
      read_shape(input(R"({"extra":1,"applicability":[],"nodes":0,"cpu":"x","gpu_count":-1})"));
  ASSERT_FALSE(shape);
  EXPECT_EQ(shape.error().code, Code::invalid_input);
  EXPECT_THAT(places(shape.error().problems),
              ElementsAre("/accelerator_family", "/gpu_count", "/cpu", "/nodes", "/applicability",
                          "/extra"));
}

struct Contradiction {
  std::string_view input;
  std::vector<std::string> where;
};

TEST(ReadShape, ContradictoryShapesAreRefused) {
  const Contradiction rows[] = {
      {R"({"accelerator_family":"cpu","gpu_count":1})", {"/gpu_count"}},
      {R"({"accelerator_family":"cpu","gpu_fraction":0.5})", {"/gpu_fraction"}},
      {R"({"accelerator_family":"cpu","mig_profile":"1g.10gb"})", {"/mig_profile"}},
      {R"({"accelerator_family":"cpu","accelerator_model_hint":"A100"})",
       {"/accelerator_model_hint"}},
      {R"({"accelerator_family":"amd","gpu_count":1,"mig_profile":"1g.10gb"})", {"/mig_profile"}},
      {R"({"accelerator_family":"nvidia","gpu_count":1,"mig_profile":"1g.5gb",
           "accelerator_model_hint":"A100-80GB"})",
       {"/mig_profile"}},
      {R"({"accelerator_family":"nvidia","gpu_count":1,"mig_profile":"1g.5gb",
           "accelerator_model_hint":"V100"})",
       {"/mig_profile"}},
      {R"({"accelerator_family":"nvidia","gpu_count":1,"mig_profile":"1g.10gb",
           "gpu_fraction":0.5})",
       {"/gpu_fraction"}},
      {R"({"accelerator_family":"nvidia","gpu_fraction":0.5})", {"/gpu_fraction"}},
      {R"({"accelerator_family":"nvidia","mig_profile":"1g.10gb"})", {"/mig_profile"}},
      {R"({"accelerator_family":"cpu","gpu_count":1,"mig_profile":"1g.10gb"})",
       {"/gpu_count", "/mig_profile"}},
  };
  for (const Contradiction& row : rows)
    EXPECT_EQ(places(problems_of_shape(input(row.input))), row.where) << row.input;
}

TEST(ReadShape, WhatIsNoContradictionIsTaken) {
  for (const std::string_view text :
       {R"({"accelerator_family":"nvidia","gpu_count":1,"mig_profile":"1g.5gb",
            "accelerator_model_hint":"A100"})",  // the 40 GB one has it
        R"({"accelerator_family":"nvidia","gpu_count":1,"mig_profile":"1G.10GB",
            "accelerator_model_hint":"A100-80GB"})",
        R"({"accelerator_family":"nvidia","gpu_count":1,"mig_profile":"1g.10gb",
            "accelerator_model_hint":"our-own-name"})",
        R"({"accelerator_family":"amd","gpu_count":1,"gpu_fraction":0.5})",
        R"({"accelerator_family":"nvidia","gpu_count":0})",
        R"({"accelerator_family":"cpu","applicability":"any,training"})"})
    EXPECT_THAT(problems_of_shape(input(text)), IsEmpty()) << text;
}

TEST(ReadShape, AMisspeltFamilyIsNotJudgedAsAnother) {
  EXPECT_THAT(places(problems_of_shape(with("accelerator_family", "nvida"))),
              ElementsAre("/accelerator_family"));
}

// Whatever arrives, the answer is a shape that keeps the rules or problems that have a place.
TEST(ReadShape, RandomInputIsReadWholeOrRefusedWithPlaces) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  const json::array values = {nullptr,
                              true,
                              -1,
                              0,
                              1,
                              2,
                              0.5,
                              0.25,
                              1e18,
                              -0.0,
                              1e-9,
                              "",
                              "1",
                              "0.5",
                              "nvidia",
                              "cpu",
                              "amd",
                              "A100",
                              "1g.10gb",
                              "cuda-12.4",
                              "any",
                              "training,serving",
                              "\x01",
                              "\xff",
                              json::array{"any"},
                              json::object{}};
  size_t taken = 0;
  for (int i = 0; i < 20'000; ++i) {
    json::object object;
    if (random() % 4 != 0) object["accelerator_family"] = random() % 2 == 0 ? "nvidia" : "cpu";
    for (const std::string_view field : shape_fields())
      if (random() % 4 == 0) object[field] = values[random() % values.size()];
    const auto shape = read_shape(object);
    if (shape) {
      ++taken;
      ASSERT_THAT(contradictions(*shape), IsEmpty()) << to_text(object);
      ASSERT_EQ(read_shape(shape_to_json(*shape)), *shape) << to_text(object);
    } else {
      ASSERT_FALSE(shape.error().problems.empty());
      for (const Problem& problem : shape.error().problems)
        ASSERT_TRUE(problem.where.starts_with('/') && !problem.message.empty());
    }
  }
  EXPECT_GT(taken, 100U);
}

}  // namespace
}  // namespace exa
