// Shapes and launches by the dice; what is drawn is printed by its seed.
#pragma once

#include <random>

#include "hardware/catalogue.h"
#include "launch/specs_for_test.h"
#include "profile/validate.h"

namespace exa {

inline int64_t drawn(std::mt19937_64& random, int64_t least, int64_t most) {
  return std::uniform_int_distribution<int64_t>(least, most)(random);
}

template <typename T, size_t N>
const T& one_of(std::mt19937_64& random, const T (&list)[N]) {
  return list[random() % N];
}

// A shape without contradictions.
inline Shape random_shape(std::mt19937_64& random) {
  static const std::vector<Family> kFamilies = {Family::nvidia, Family::nvidia,      Family::nvidia,
                                                Family::amd,    Family::intel_gaudi, Family::tpu,
                                                Family::cpu};
  constexpr int64_t kFractions[] = {1000, 1000, 1000, 500, 250, 125, 333};
  for (;;) {
    Shape shape;
    shape.accelerator_family = kFamilies[random() % kFamilies.size()];
    if (shape.accelerator_family != Family::cpu) {
      shape.gpu_count = drawn(random, 0, 8);
      shape.gpu_fraction_milli = one_of(random, kFractions);
      const auto names = canonical_model_names(shape.accelerator_family);
      if (random() % 2 == 0) shape.accelerator_model_hint = names[random() % names.size()];
      const auto meant = models_meant(shape.accelerator_model_hint);
      if (random() % 4 == 0 && !meant.empty() && !meant.front()->mig_profiles.empty()) {
        const auto profiles = meant.front()->mig_profiles;
        shape.mig_profile = profiles[random() % profiles.size()].name;
      }
    }
    if (random() % 3 != 0) shape.cpu_milli = drawn(random, 1, 128'000);
    if (random() % 3 != 0) shape.memory_bytes = drawn(random, 1, 4096) * 512 * kMiB;
    if (random() % 4 == 0) shape.memory_bytes = drawn(random, 1, 1000 * kGiB);
    if (random() % 3 == 0) shape.nodes = drawn(random, 1, 16);
    if (contradictions(shape).empty()) return shape;
  }
}

inline LaunchSpec random_launch(std::mt19937_64& random) {
  LaunchSpec spec = random() % 3 == 0   ? workbench_for_test()
                    : random() % 2 == 0 ? training_for_test()
                                        : serving_for_test();
  spec.resources = resources_of(random_shape(random));
  for (int i = 0; i < 3; ++i) spec.command.emplace_back(random_text(random, 6));
  spec.environment.emplace_back("RANDOM_TEXT", random_text(random, 6));
  spec.restarts = drawn(random, 0, 3);
  return spec;
}

}  // namespace exa
