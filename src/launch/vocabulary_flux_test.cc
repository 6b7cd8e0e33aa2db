// What Flux's options and jobspecs say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launch/vocabulary_reading_for_test.h"

namespace exa {
namespace {

using sample::notes_of;
using sample::open_in;
using sample::read_as;
using sample::write_over;
using testing::ElementsAre;

struct Row {
  std::string_view text;
  std::string_view fields;
};

TEST(Flux, OptionsCountPerSlotAndPerNode) {
  constexpr Row kRows[] = {
      {"flux batch -N2 -n2 -c8 -g4 job.sh", R"({"gpu_count":4,"cpu":8,"nodes":2})"},
      {"flux run -N2 -n8 -c2 -g1 hostname", R"({"gpu_count":4,"cpu":8,"nodes":2})"},
      {"-N2 --tasks-per-node=4 --cores-per-task=2",
       R"({"accelerator_family":"cpu","cpu":8,"nodes":2})"},
      {"-N2 --gpus-per-node=8", R"({"gpu_count":8,"nodes":2})"},
      {"-N2 --cores=32", R"({"accelerator_family":"cpu","cpu":16,"nodes":2})"},
      {"flux submit -c 4 a.out", R"({"accelerator_family":"cpu","cpu":4})"},
      {"#!/bin/sh\n#FLUX: -N2\n# flux: --cores-per-slot=4 -t 10m\nhostname\n",
       R"({"accelerator_family":"cpu","cpu":4,"nodes":2})"},
      {"-n8 -c2", "error -n on how many nodes 8 slots are is not said (add --nodes)\n"},
      {"-N2 -n5", "error -n 5 slots on 2 nodes are not alike on every node\n"},
      {"-N1-2", "error -N -N: \"1-2\" is not a whole number above 0\n"},
  };
  for (const Row& row : kRows) EXPECT_EQ(read_as("flux", row.text), row.fields) << row.text;
  EXPECT_THAT(open_in("flux", "-N1 -g4"), ElementsAre("accelerator_family"));
  EXPECT_THAT(notes_of("flux", "-N1 --requires=a100 -q big"),
              ElementsAre("--requires no field of a profile", "-q no field of a profile"));
}

TEST(Flux, ACommandThatSpeaksOfTasksGoesOnDoingSo) {
  EXPECT_EQ(write_over("flux", R"({"accelerator_family":"amd","gpu_count":8,"cpu":16,"nodes":4})",
                       "flux run -N2 -n2 -q big a.out -g9"),
            "flux run --nodes=4 --ntasks=4 --cores-per-task=16 --gpus-per-task=8 -q big a.out -g9");
  EXPECT_EQ(write_over("flux", R"({"accelerator_family":"cpu","cpu":2})",
                       "#!/bin/sh\n# flux: -N2 --time-limit=10m\nhostname\n"),
            "#!/bin/sh\n#FLUX: --nodes=1\n#FLUX: --nslots=1\n#FLUX: --cores-per-slot=2\n"
            "# flux:  --time-limit=10m\nhostname\n");
}

constexpr std::string_view kJobspec = R"(version: 1
resources:
  - type: node
    count: 2
    exclusive: true
    with:
      - type: slot
        count: 4
        label: task
        with:
          - type: core
            count: 2
          - type: gpu
            count: 1
tasks:
  - command: [app]
    slot: task
    count: {per_slot: 1}
attributes:
  system: {duration: 3600}
)";

TEST(Flux, AJobspecIsReadByItsLevels) {
  EXPECT_EQ(read_as("flux", kJobspec, "j"), R"({"gpu_count":4,"cpu":8,"nodes":2})");
  EXPECT_THAT(notes_of("flux", kJobspec, "j"),
              ElementsAre("j:13:13 a gpu of Flux is any vendor's",
                          "j:5:5 /resources/0/exclusive is no field of a profile",
                          "j:15:1 /tasks is no field of a profile",
                          "j:19:1 /attributes is no field of a profile"));
  EXPECT_EQ(read_as("flux", R"({"version":1,"resources":[{"type":"slot","count":1,"label":"x",
              "with":[{"type":"core","count":4}]}],"tasks":[]})"),
            R"({"accelerator_family":"cpu","cpu":4})");
  EXPECT_EQ(
      read_as("flux", "resources:\n- type: slot\n  count: 3\n  with:\n  - {type: core}\ntasks: []",
              "j"),
      "error j:2:3 on how many nodes 3 slots are is not said\n");
  EXPECT_EQ(read_as("flux", "resources:\n- type: node\n  count: {min: 1}\ntasks: []", "j"),
            "error j:3:3 a range of counts; a profile asks for one number\n");
}

TEST(Flux, AJobspecKeepsEverythingElse) {
  EXPECT_EQ(write_over("flux", R"({"accelerator_family":"nvidia","gpu_count":4,"cpu":8,"nodes":2})",
                       kJobspec),
            write_over("flux", R"({"accelerator_family":"amd","gpu_count":4,"cpu":8,"nodes":2})",
                       kJobspec));
  const std::string changed =
      write_over("flux", R"({"accelerator_family":"cpu","cpu":16,"nodes":3})", kJobspec);
  EXPECT_EQ(changed,
            "version: 1\nresources:\n  - type: node\n    count: 3\n    with:\n      - type: slot\n"
            "        count: 1\n        label: task\n        with:\n          - type: core\n"
            "            count: 16\ntasks:\n  - command:\n      - app\n    slot: task\n    count:\n"
            "      per_slot: 1\nattributes:\n  system:\n    duration: 3600\n");
}

}  // namespace
}  // namespace exa
