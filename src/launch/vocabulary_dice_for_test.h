// Random shapes that read_shape takes, for tests of every vocabulary.
#pragma once

#include <array>
#include <random>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "hardware/catalogue.h"
#include "profile/validate.h"

namespace exa::sample {

class ShapeDice {
 public:
  explicit ShapeDice(unsigned seed) : random_(seed) {}

  Shape shape() {
    for (;;) {
      Shape shape = draw();
      if (problems_of_shape(shape_to_json(shape)).empty()) return shape;
    }
  }

  int64_t below(int64_t n) { return std::uniform_int_distribution<int64_t>(0, n - 1)(random_); }

 private:
  bool one_in(int64_t n) { return below(n) == 0; }
  template <typename List>
  auto pick(const List& list) {
    return list[static_cast<size_t>(below(static_cast<int64_t>(std::size(list))))];
  }

  std::string hint(Family family) {
    static const std::vector<std::string> kStrange = {
        "Foo 9", "foo-9", "nvidia_a100-sxm4-80gb", "a:b 7", "MI \xce\xa9 3", "1g.10gb", "big_one",
        "gpu",   "a100",  "[H100 PCIe]",           "x=1",   "100",           "a,b",     "A+1"};
    if (one_in(3)) return "";
    if (one_in(6)) return pick(kStrange);
    std::vector<const DeviceModel*> models;
    for (const DeviceModel& model : catalogue())
      if (model.family == family) models.push_back(&model);
    if (models.empty()) return "";
    const DeviceModel& model = *pick(models);
    switch (below(4)) {
      case 0:
        return std::string(model.series);
      case 1:
        return fmt::format("{}-{}GB", model.series, model.sold_memory_bytes / kGiB);
      case 2:
        if (!model.aliases.empty()) return std::string(pick(model.aliases));
        [[fallthrough]];
      default:
        return std::string(model.name);
    }
  }

  Shape draw() {
    constexpr std::array kFamilies = {Family::nvidia, Family::nvidia,      Family::nvidia,
                                      Family::amd,    Family::intel_gaudi, Family::tpu,
                                      Family::cpu};
    constexpr std::array<int64_t, 6> kCpus = {0, 500, 1'000, 8'000, 8'500, 64'001};
    const std::array<int64_t, 7> memory = {0,
                                           32 * kGiB,
                                           kGiB / 2,
                                           kMiB * 1'000,
                                           kGiB + kKiB,
                                           123'456'789,
                                           1 + below(kMostMemoryBytes)};
    Shape shape;
    shape.accelerator_family = pick(kFamilies);
    shape.accelerator_model_hint = hint(shape.accelerator_family);
    shape.gpu_count = one_in(3) ? below(17) : 1 + below(8);
    if (shape.accelerator_family == Family::cpu) shape.gpu_count = 0;
    if (one_in(4)) shape.gpu_fraction_milli = 1 + below(1'000);
    if (one_in(4)) {
      static const std::vector<std::string> kProfiles = {"1g.5gb",     "1g.10gb", "3g.40gb",
                                                         "1g.10gb+me", "7g.80gb", "1g.24gb-me"};
      shape.mig_profile = pick(kProfiles);
    }
    shape.cpu_milli = one_in(3) ? below(kMostCpus * 1000) : pick(kCpus);
    shape.memory_bytes = pick(memory);
    shape.nodes = one_in(2) ? 1 : 1 + below(64);
    if (one_in(3)) shape.driver_tag = "cuda-12.4";
    if (one_in(3)) shape.runtime_tag = "pytorch-2.4-cu124";
    if (one_in(2)) {
      shape.applicability.clear();
      for (const Surface use :
           {Surface::workbench, Surface::training, Surface::serving, Surface::any})
        if (one_in(2)) shape.applicability.push_back(use);
    }
    if (one_in(3)) shape.description = "two of them: \"for\" tests, 100 %";
    return shape;
  }

  std::mt19937_64 random_;
};

}  // namespace exa::sample
