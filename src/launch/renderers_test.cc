// A launch from a profile and one from raw flags are one launch (requirement Phase 3, semantics
// §8).
#include "launch/renderers.h"

#include <cstdio>
#include <random>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "launch/scheduler_samples_for_test.h"
#include "profile/validate.h"

namespace exa {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr Result<Rendered> (*kRenderers[])(const LaunchSpec&) = {render_slurm, render_flux,
                                                                 render_local};

class RandomFlags {
 public:
  explicit RandomFlags(uint64_t seed) : random_(seed) {}

  // What somebody may type; not all of it is a shape.
  json::object next() {
    static constexpr const char* kFamilies[] = {"nvidia",      "nvidia", "amd",
                                                "intel-gaudi", "tpu",    "cpu"};
    static constexpr const char* kHints[] = {"A100", "A100-80GB", "H100", "MI300X", "Gaudi2"};
    json::object flags = {{"accelerator_family", kFamilies[below(6)]}};
    if (below(3) != 0) flags["gpu_count"] = below(17);
    if (below(4) == 0) flags["gpu_fraction"] = fmt::format("0.{:03}", 1 + below(999));
    if (below(4) == 0) flags["mig_profile"] = below(2) == 0 ? "1g.10gb" : "3g.40gb";
    if (below(2) == 0) flags["cpu"] = fmt::format("{}.{:03}", below(128), below(1000));
    if (below(2) == 0) flags["memory_gb"] = fmt::format("{}.{}", below(2048), below(10));
    if (below(2) == 0) flags["nodes"] = 1 + below(64);
    if (below(3) == 0) flags["accelerator_model_hint"] = kHints[below(5)];
    return flags;
  }

  // The same in a profile, with all that a scheduler never hears of.
  json::object in_a_profile(json::object flags) {
    static constexpr const char* kSurfaces[] = {"any", "training", "workbench,training",
                                                "serving,training"};
    if (below(2) == 0) flags["driver_tag"] = fmt::format("cuda-unheard{}", below(100));
    if (below(2) == 0) flags["runtime_tag"] = fmt::format("pytorch-unheard{}", below(100));
    if (below(2) == 0) flags["description"] = "unheard of; $(touch CANARY)";
    flags["applicability"] = kSurfaces[below(4)];
    return flags;
  }

  int64_t below(int64_t bound) { return static_cast<int64_t>(random_() % bound); }

 private:
  std::mt19937_64 random_;
};

LaunchSpec launch(const Resources& resources) {
  TrainingJob job;
  job.nodes = resources.nodes;
  job.processes_per_node = std::max<int64_t>(resources.gpus, 1);
  job.script = "train.py";
  LaunchSpec spec = training_of(job);
  spec.resources = resources;
  return spec;
}

TEST(Renderers, AProfileIsRenderedAsTheFlagsThatItSaves) {
  const uint64_t seed = std::random_device()();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  RandomFlags random(seed);
  int rendered = 0;
  for (int shapes = 0; shapes < 5000;) {
    const json::object flags = random.next();
    const auto typed = read_shape(flags);
    if (!typed) continue;
    ++shapes;
    SCOPED_TRACE(to_text(flags));
    const auto profile = read_shape(random.in_a_profile(flags));
    ASSERT_TRUE(profile);
    // as a database keeps it
    const auto stored = parse_json(to_text(shape_to_json(*profile)), "shape");
    ASSERT_TRUE(stored);
    const auto loaded = shape_from_json(stored->as_object());
    ASSERT_TRUE(loaded);

    const LaunchSpec from_flags = launch(resources_of(*typed));
    const LaunchSpec from_profile = launch(resources_of(*loaded));
    for (const auto render : kRenderers) {
      const auto expected = render(from_flags);
      const auto result = render(from_profile);
      ASSERT_EQ(result, expected);
      if (!result) continue;
      ++rendered;
      for (const RenderedFile& file : result->files)
        ASSERT_THAT(file.text, Not(HasSubstr("unheard")));
    }
  }
  EXPECT_GT(rendered, 5000);
}

TEST(Renderers, WhateverASchedulerHearsOfChangesTheScript) {
  const LaunchSpec before = two_nodes_of_four();
  struct Change {
    const char* what;
    void (*change)(LaunchSpec&);
  };
  const Change changes[] = {
      {"GPUs", [](LaunchSpec& spec) { spec.resources.gpus = 5; }},
      {"nodes", [](LaunchSpec& spec) { spec.resources.nodes = 3; }},
      {"cores", [](LaunchSpec& spec) { spec.resources.cpu_milli = 17'000; }},
      {"memory", [](LaunchSpec& spec) { spec.resources.memory_bytes += kMiB; }},
      {"device", [](LaunchSpec& spec) { spec.options.device = "gpu:h100"; }},
      {"partition", [](LaunchSpec& spec) { spec.options.partition = "other"; }},
      {"account", [](LaunchSpec& spec) { spec.options.account = "other"; }},
      {"QOS", [](LaunchSpec& spec) { spec.options.qos = "other"; }},
      {"time limit", [](LaunchSpec& spec) { spec.options.time_limit = hours(1); }},
      {"restarts", [](LaunchSpec& spec) { spec.restarts = 1; }},
      {"folder", [](LaunchSpec& spec) { spec.folder = "/other"; }},
      {"id", [](LaunchSpec& spec) { spec.id = "other"; }},
      {"project", [](LaunchSpec& spec) { spec.project = "other"; }},
      {"name", [](LaunchSpec& spec) { spec.name = "other"; }},
      {"environment", [](LaunchSpec& spec) { spec.environment.emplace_back("A", "1"); }},
      {"command", [](LaunchSpec& spec) { spec.command.push_back("--more"); }},
  };
  for (const Change& change : changes) {
    LaunchSpec after = before;
    change.change(after);
    EXPECT_NE(render_slurm(after).value().files, render_slurm(before).value().files) << change.what;
  }
}

}  // namespace
}  // namespace exa
