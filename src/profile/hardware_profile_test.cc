#include "profile/hardware_profile.h"

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/quantity.h"
#include "profile/diff.h"
#include "profile/validate.h"

namespace exa {
namespace {

using testing::ElementsAre;

Shape full_shape() {
  Shape shape;
  shape.accelerator_family = Family::nvidia;
  shape.accelerator_model_hint = "A100-80GB";
  shape.gpu_count = 2;
  shape.cpu_milli = 8500;
  shape.memory_bytes = 32 * kGiB;
  shape.nodes = 3;
  shape.driver_tag = "cuda-12.4";
  shape.runtime_tag = "pytorch-2.4-cu124";
  shape.applicability = {Surface::workbench, Surface::training};
  shape.description = "two of them";
  return shape;
}

std::vector<std::string> keys_of(const json::object& object) {
  std::vector<std::string> keys;
  for (const auto& member : object) keys.emplace_back(member.key());
  return keys;
}

TEST(HardwareProfile, PrintsTheKeysOfTheDocumentInItsOrder) {
  const json::object printed = to_json(
      HardwareProfile{"default", "train-2gpu-a100", 3, full_shape(), Time{1'000'000}, "ada"});
  EXPECT_THAT(keys_of(printed),
              ElementsAre("name", "version", "accelerator_family", "accelerator_model_hint",
                          "gpu_count", "gpu_fraction", "mig_profile", "cpu", "memory_gb", "nodes",
                          "driver_tag", "runtime_tag", "applicability", "description", "project",
                          "created_at", "created_by"));
  EXPECT_EQ(to_text(printed),
            R"({"name":"train-2gpu-a100","version":3,"accelerator_family":"nvidia",)"
            R"("accelerator_model_hint":"A100-80GB","gpu_count":2,"gpu_fraction":1,)"
            R"("mig_profile":null,"cpu":8.5,"memory_gb":32,"nodes":3,"driver_tag":"cuda-12.4",)"
            R"("runtime_tag":"pytorch-2.4-cu124","applicability":["workbench","training"],)"
            R"("description":"two of them","project":"default",)"
            R"("created_at":"1970-01-01T00:00:01.000000Z","created_by":"ada"})");
}

TEST(HardwareProfile, AnAbsentHintIsNull) {
  EXPECT_EQ(field_to_json(Shape{}, "accelerator_model_hint"), json::value(nullptr));
}

TEST(HardwareProfile, AStoredShapeReadsBackAsItWas) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  const auto below = [&](int64_t n) {
    return std::uniform_int_distribution<int64_t>(0, n - 1)(random);
  };
  for (int i = 0; i < 2'000; ++i) {
    Shape shape = full_shape();
    shape.cpu_milli = below(kMostCpus * 1000);
    shape.memory_bytes = below(kMostMemoryBytes + 1);
    shape.gpu_fraction_milli = 1 + below(1000);
    // through text, as the store keeps it
    const auto stored = parse_json(to_text(shape_to_json(shape)), "row");
    ASSERT_TRUE(stored);
    const auto read = shape_from_json(stored->get_object());
    ASSERT_TRUE(read) << to_text(*stored);
    ASSERT_EQ(*read, shape) << to_text(*stored);
  }
}

TEST(HardwareProfile, ADamagedRowNamesEveryBrokenField) {
  json::object stored = shape_to_json(full_shape());
  stored["gpu_count"] = "two";
  stored.erase("cpu");
  stored["applicability"] = {"workbench", "moon"};
  const auto read = shape_from_json(stored);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Code::store_damaged);
  ASSERT_EQ(read.error().problems.size(), 3U);
  EXPECT_EQ(read.error().problems[0].where, "/gpu_count");
  EXPECT_EQ(read.error().problems[1].where, "/cpu");
  EXPECT_EQ(read.error().problems[2].where, "/applicability");
}

TEST(HardwareProfile, ARowOfOlderRulesStaysReadable) {
  Shape shape = full_shape();
  shape.accelerator_family = Family::cpu;  // with GPUs: refused at set since
  EXPECT_EQ(shape_from_json(shape_to_json(shape)), shape);
}

TEST(Diff, EqualShapesDifferInNothing) {
  EXPECT_TRUE(diff(full_shape(), full_shape()).empty());
}

TEST(Diff, EveryFieldIsCompared) {
  Shape other;
  other.accelerator_family = Family::amd;
  other.accelerator_model_hint = "MI300X";
  other.gpu_count = 1;
  other.gpu_fraction_milli = 500;
  other.mig_profile = "1g.10gb";
  other.cpu_milli = 1;
  other.memory_bytes = 1;
  other.nodes = 2;
  other.driver_tag = "rocm-6.1";
  other.runtime_tag = "jax";
  other.applicability = {Surface::any};
  other.description = "other";
  std::vector<std::string> fields;
  for (const FieldChange& change : diff(full_shape(), other)) fields.push_back(change.field);
  EXPECT_EQ(fields, std::vector<std::string>(shape_fields().begin(), shape_fields().end()));
}

TEST(Diff, OnlyTheDescriptionIsNoDrift) {
  Shape described = full_shape();
  described.description = "new words";
  EXPECT_FALSE(has_drifted(full_shape(), described));
  EXPECT_EQ(diff(full_shape(), described).size(), 1U);
  described.nodes = 4;
  EXPECT_TRUE(has_drifted(full_shape(), described));
  EXPECT_EQ(to_text(to_json(diff(full_shape(), described).front())),
            R"({"field":"nodes","before":3,"after":4,"changes_the_ask":true})");
}

}  // namespace
}  // namespace exa
