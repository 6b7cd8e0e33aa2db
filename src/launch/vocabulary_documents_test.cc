// Compose, Ray, SkyPilot, dstack, Palette, Rafay: what their documents say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "launch/vocabulary_reading_for_test.h"

namespace exa {
namespace {

using sample::notes_of;
using sample::open_in;
using sample::read_as;
using sample::write_over;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

struct Row {
  std::string_view vocabulary;
  std::string_view text;
  std::string_view fields;
};

TEST(Documents, SayWhatTheySay) {
  constexpr Row kRows[] = {
      // Docker's factors are 1024 whatever the unit looks like
      {"compose", "services: {a: {deploy: {resources: {limits: {cpus: 0.5, memory: 64M}}}}}",
       R"({"accelerator_family":"cpu","cpu":0.5,"memory_gb":0.0625})"},
      {"compose", "services: {a: {deploy: {resources: {limits: {memory: 1073741824}}}}}",
       R"({"accelerator_family":"cpu","memory_gb":1})"},
      {"compose", "services: {a: {deploy: {resources: {limits: {memory: 1.5gb}}}}}",
       R"({"accelerator_family":"cpu","memory_gb":1.5})"},
      {"compose", "services: {a: {deploy: {resources: {reservations: {memory: 2g}}}}}",
       R"({"accelerator_family":"cpu","memory_gb":2})"},
      {"compose",
       "services: {a: {deploy: {resources: {reservations: {devices: [{driver: nvidia, count: 2, "
       "capabilities: [gpu]}]}}}}}",
       R"({"accelerator_family":"nvidia","gpu_count":2})"},
      {"compose",
       "services: {a: {deploy: {resources: {reservations: {devices: [{driver: nvidia, device_ids: "
       "['0', '3'], capabilities: [gpu]}]}}}}}",
       R"({"accelerator_family":"nvidia","gpu_count":2})"},
      {"compose", "services: {a: {devices: [/dev/kfd, '/dev/dri:/dev/dri']}}",
       R"({"accelerator_family":"amd"})"},
      {"compose", "services: {a: {runtime: habana, environment: [HABANA_VISIBLE_DEVICES=0]}}",
       R"({"accelerator_family":"intel-gaudi","gpu_count":1})"},
      {"compose", "services: {a: {runtime: habana, environment: {HABANA_VISIBLE_DEVICES: '0,1'}}}",
       R"({"accelerator_family":"intel-gaudi","gpu_count":2})"},
      {"compose", "services: {a: {image: x}}", R"({"accelerator_family":"cpu"})"},
      {"compose", "services: {a: {deploy: {resources: {limits: {memory: '${MEM}'}}}}}",
       "error f:1:46 \"${MEM}\" is not an amount of memory such as 32g or 512m (write the amount "
       "out)\n"},
      {"compose", "services: {a: {gpus: all}}",
       "error f:1:16 is not read (write it as deploy.resources.reservations.devices)\n"},

      {"ray",
       "ray_actor_options: {num_cpus: 2, num_gpus: 0.5, memory: 1073741824, accelerator_type: "
       "A100}",
       R"({"accelerator_family":"nvidia","accelerator_model_hint":"A100","gpu_count":1,"gpu_fraction":0.5,"cpu":2,"memory_gb":1})"},
      {"ray", "num_gpus: 2\naccelerator_type: A100-80G",
       R"({"accelerator_family":"nvidia","accelerator_model_hint":"A100-80GB","gpu_count":2})"},
      {"ray",
       "applications: [{deployments: [{name: d, ray_actor_options: {resources: {TPU: 4}}}]}]",
       R"({"accelerator_family":"tpu","gpu_count":4})"},
      {"ray", "ray_actor_options: {resources: {HPU: 1}}",
       R"({"accelerator_family":"intel-gaudi","gpu_count":1})"},
      {"ray", "ray_actor_options: {num_gpus: 1.5}",
       "error f:1:21 1.5 devices: above 1 Ray takes whole numbers only\n"},
      {"ray", "ray_actor_options: {num_gpus: 0.0005}",
       "error f:1:21 num_gpus takes at most three decimals, not \"0.0005\"\n"},
      {"ray", "ray_actor_options: {memory: 32G}",
       "error f:1:21 \"32G\" is not a whole number for memory, which counts bytes\n"},
      {"ray", "ray_actor_options: {num_gpus: -1}",
       "error f:1:21 \"-1\" is not a number for num_gpus (digits and at most one point)\n"},

      {"skypilot", "num_nodes: 2\nresources: {accelerators: 'A100:8', cpus: 8+, memory: 32+}",
       R"({"accelerator_family":"nvidia","accelerator_model_hint":"A100","gpu_count":8,"cpu":8,"memory_gb":32,"nodes":2})"},
      {"skypilot", "resources: {accelerators: L4, memory: 16GB}",
       R"({"accelerator_family":"nvidia","accelerator_model_hint":"L4","gpu_count":1,"memory_gb":16})"},
      {"skypilot", "resources: {accelerators: {V100: 0.5}}",
       R"({"accelerator_family":"nvidia","accelerator_model_hint":"V100","gpu_count":1,"gpu_fraction":0.5})"},
      {"skypilot", "resources: {accelerators: {A100: 1, H100: 1}}",
       "error f:1:13 several accelerators to choose from; a profile names one\n"},
      {"skypilot", "resources: {accelerators: 'A100:1.5'}",
       "error f:1:13 1.5 accelerators: above 1 they are whole\n"},
      {"skypilot", "resources: {any_of: [{accelerators: L4}]}",
       "error f:1:13 several shapes to choose from; a profile is one\n"},

      {"dstack", "type: task\nnodes: 2\nresources: {gpu: 'A100:80GB:2', cpu: 8.., memory: 32GB..}",
       R"({"accelerator_family":"nvidia","accelerator_model_hint":"A100-80GB","gpu_count":2,"cpu":8,"memory_gb":32,"nodes":2,"applicability":["training"]})"},
      {"dstack",
       "type: service\nresources: {gpu: {vendor: amd, name: MI300X, count: 8}, memory: 512MB}",
       R"({"accelerator_family":"amd","accelerator_model_hint":"MI300X","gpu_count":8,"memory_gb":0.5,"applicability":["serving"]})"},
      {"dstack", "type: fleet\nresources: {gpu: 2, cpu: {min: 4}}", R"({"gpu_count":2,"cpu":4})"},
      {"dstack", "type: fleet\nresources: {gpu: {name: [A100, H100]}}",
       "error f:2:19 several models to choose from; a profile names one\n"},
      {"dstack", "type: fleet\nresources: {gpu: 'tenstorrent:n150:1'}",
       R"({"accelerator_model_hint":"n150","gpu_count":1})"},
      {"dstack", "type: fleet\nresources: {gpu: {count: 0.5}}",
       "error f:2:13 \"0.5\" is not a whole number for a whole number\n"},

      {"palette",
       "apiVersion: palette.ai/v1alpha1\nkind: ComputeProfile\nspec: {minWorkerNodes: 2, "
       "gpuLimits: "
       "{NVIDIA-H100: 6}}",
       R"({"accelerator_family":"nvidia","accelerator_model_hint":"H100","gpu_count":3,"nodes":2})"},
      {"palette",
       "apiVersion: palette.ai/v1alpha1\nkind: ComputeProfile\nspec: {minWorkerNodes: 4, "
       "gpuLimits: "
       "{NVIDIA-H100: 6}}",
       "error f:3:39 6 GPUs on 4 nodes are not alike on every node\n"},
      {"palette",
       "apiVersion: mural.spectrocloud.com/v1alpha1\nkind: WorkloadProfile\nmetadata: {labels: "
       "{palette.ai/min-nodes: '3'}}",
       R"({"nodes":3})"},
      {"palette",
       "apiVersion: mural.spectrocloud.com/v1alpha1\nkind: WorkloadProfile\nmetadata: {labels: "
       "{palette.ai/min-nodes: many}}",
       "error f:3:21 \"many\" is not a whole number for palette.ai~1min-nodes\n"},
      {"palette",
       "apiVersion: palette.ai/v1alpha1\nkind: ComputeProfile\nspec: {gpuLimits: {NVIDIA-H100: 6, "
       "NVIDIA-A100: 6}}",
       "error f:3:8 limits of 2 families; a profile asks for one\n"},

      {"rafay",
       "apiVersion: paas.envmgmt.io/v1\nkind: ComputeProfile\nspec: {variables: [{name: GPU Count, "
       "value: '2'}, {name: GPU Type, value: H100}, {name: Guest CPU Count, value: 8}, {name: "
       "Memory Size, value: 64Gi}, {name: No Of Nodes, value: '2'}]}",
       R"({"accelerator_family":"nvidia","accelerator_model_hint":"H100","gpu_count":2,"cpu":8,"memory_gb":64,"nodes":2})"},
      {"rafay",
       "apiVersion: paas.envmgmt.io/v1\nkind: ComputeProfile\nspec: {variables: [{name: gpu_count, "
       "value: few}, {name: cpu, value: '1'}, {name: CPU Count, value: '2'}]}",
       "error f:3:38 \"few\" is not a whole number for gpu_count\n"
       "error f:3:94 a second variable for cpu\n"},
  };
  for (const Row& row : kRows)
    EXPECT_EQ(read_as(row.vocabulary, row.text, "f"), row.fields) << row.vocabulary << row.text;
}

TEST(Documents, WhatTheyLeaveOpenIsSaid) {
  const Row rows[] = {
      {"compose", "services: {a: {devices: [/dev/kfd]}}", "gpu_count"},
      {"compose", "services: {a: {runtime: nvidia}}", "gpu_count"},
      {"compose",
       "services: {a: {deploy: {resources: {reservations: {devices: [{driver: nvidia, count: all, "
       "capabilities: [gpu]}]}}}}}",
       "gpu_count"},
      {"ray", "ray_actor_options: {num_gpus: 2}", "accelerator_family"},
      {"skypilot", "resources: {accelerators: tpu-v5litepod-8}", "gpu_count"},
      {"dstack", "type: fleet\nresources: {gpu: 'v5litepod-8'}", "accelerator_family"},
      {"dstack", "type: fleet\nresources: {gpu: 'google:v5litepod-8'}", "gpu_count"},
      {"dstack", "type: fleet\nresources: {gpu: 24GB}", "accelerator_family"},
  };
  for (const Row& row : rows)
    EXPECT_THAT(open_in(row.vocabulary, row.text), ElementsAre(row.fields)) << row.text;
  EXPECT_THAT(open_in("skypilot", "resources: {instance_type: p3.8xlarge}"),
              ElementsAre("accelerator_family", "gpu_count"));
  EXPECT_THAT(notes_of("rafay",
                       "apiVersion: paas.envmgmt.io/v1\nkind: ComputeProfile\nspec: {variables: "
                       "[{name: Guest Memory Size, value: '720000'}]}",
                       "f"),
              ElementsAre("f:3:46 no unit says how much memory that is"));
}

struct Kept {
  std::string_view vocabulary;
  std::string_view fields;
  std::string_view before;
  std::string_view after;
};

// The words of the shape change; what a profile does not know is where it was.
TEST(Documents, KeepWhatAProfileDoesNotKnow) {
  constexpr std::string_view kFields =
      R"({"accelerator_family":"nvidia","accelerator_model_hint":"H100","gpu_count":4,"cpu":16,
          "memory_gb":64,"nodes":2})";
  constexpr Kept kRows[] = {
      {"compose", kFields,
       "x-note: mine\nservices:\n  db:\n    image: db:1\n  web:\n    image: web:1\n    deploy:\n"
       "      replicas: 2\n      resources:\n        limits:\n          pids: 9\n          cpus: "
       "1\n"
       "        reservations:\n          devices:\n            - capabilities:\n                - "
       "tpm\n"
       "    environment:\n      A: b\n",
       "x-note: mine\nservices:\n  db:\n    image: db:1\n  web:\n    image: web:1\n    deploy:\n"
       "      replicas: 2\n      resources:\n        limits:\n          pids: 9\n"
       "          cpus: \"16\"\n          memory: 64g\n"
       "        reservations:\n          devices:\n            - capabilities:\n                - "
       "tpm\n"
       "            - driver: nvidia\n              count: 4\n              capabilities:\n"
       "                - gpu\n    environment:\n      A: b\n"},
      {"ray", kFields,
       "applications:\n  - name: app\n    deployments:\n      - name: d\n        num_replicas: 2\n"
       "        ray_actor_options:\n          runtime_env: {}\n          resources:\n"
       "            license: 1\n            HPU: 8\n",
       "applications:\n  - name: app\n    deployments:\n      - name: d\n        num_replicas: 2\n"
       "        ray_actor_options:\n          runtime_env: {}\n          resources:\n"
       "            license: 1\n          num_cpus: 16\n          memory: 68719476736\n"
       "          num_gpus: 4\n          accelerator_type: H100\n"},
      {"skypilot", kFields,
       "name: mine\nresources:\n  infra: aws\n  accelerators: A100:1\n  disk_size: 256\nsetup: |\n"
       "  pip install x\n  echo\nrun: python train.py\n",
       "name: mine\nresources:\n  infra: aws\n  accelerators: H100:4\n  disk_size: 256\n"
       "  cpus: \"16+\"\n  memory: \"64+\"\nsetup: |\n  pip install x\n  echo\nrun: python "
       "train.py\n"
       "num_nodes: 2\n"},
      {"dstack", kFields,
       "type: task\nname: mine\ncommands:\n  - python train.py\nresources:\n  gpu: A100:80GB:1\n"
       "  disk: 500GB\n",
       "type: task\nname: mine\ncommands:\n  - python train.py\nresources:\n  gpu:\n"
       "    vendor: nvidia\n    name: H100\n    count: 4\n  disk: 500GB\n  cpu: \"16..\"\n"
       "  memory: 64GB..\nnodes: 2\n"},
      {"palette", kFields,
       "apiVersion: palette.ai/v1alpha1\nkind: ComputeProfile\nmetadata:\n  name: edge\nspec:\n"
       "  sshKeys:\n    - ssh-rsa A\n  controlPlaneDefaults:\n    nodeCount: 3\n  minWorkerNodes: "
       "1\n",
       "apiVersion: palette.ai/v1alpha1\nkind: ComputeProfile\nmetadata:\n  name: edge\nspec:\n"
       "  sshKeys:\n    - ssh-rsa A\n  controlPlaneDefaults:\n    nodeCount: 3\n  minWorkerNodes: "
       "2\n"
       "  gpuLimits:\n    NVIDIA-H100: 8\n"},
      {"rafay", kFields,
       "apiVersion: paas.envmgmt.io/v1\nkind: ComputeProfile\nmetadata:\n  name: sku\nspec:\n"
       "  templateRef:\n    name: vm\n  variables:\n    - name: GPU Count\n      value: \"1\"\n"
       "      options:\n        required: true\n    - name: Image\n      value: ubuntu\n",
       "apiVersion: paas.envmgmt.io/v1\nkind: ComputeProfile\nmetadata:\n  name: sku\nspec:\n"
       "  templateRef:\n    name: vm\n  variables:\n    - name: GPU Count\n      value: \"4\"\n"
       "      options:\n        required: true\n    - name: Image\n      value: ubuntu\n"},
  };
  for (const Kept& row : kRows) {
    const std::string after = write_over(row.vocabulary, row.fields, row.before);
    if (row.vocabulary == "rafay")
      EXPECT_THAT(after, testing::StartsWith(row.after)) << row.vocabulary;
    else
      EXPECT_EQ(after, row.after) << row.vocabulary;
    EXPECT_EQ(write_over(row.vocabulary, row.fields, after), after) << row.vocabulary;
  }
}

TEST(Documents, NothingUnknownIsPassedOverInSilence) {
  EXPECT_THAT(notes_of("skypilot", "resources: {accelerators: L4, disk_size: 9}\nrun: x", "f"),
              ElementsAre("f:1:31 /resources/disk_size is no field of a profile",
                          "f:2:1 /run is no field of a profile"));
  EXPECT_THAT(notes_of("compose", "services: {a: {image: x}, b: {deploy: {resources: {}}}}", "f"),
              Contains("f:1:1 /services is no field of a profile"));
  EXPECT_THAT(
      notes_of("dstack", "type: fleet\nresources: {gpu: 'L4:1', cpu: 4..8, memory: ..16GB}", "f"),
      ElementsAre("f:2:26 up to 8 would do too; 4 is what counts",
                  "f:2:37 at most 16GB is no amount that is asked for"));
  EXPECT_THAT(notes_of("ray", "ray_actor_options: {num_cpus: 1}", "f"), IsEmpty());
}

// Ray waits for ever for a type that no node has.
TEST(Ray, OnlyTypesThatNodesGetByThemselvesAreWritten) {
  const auto type_of = [](Family family, std::string hint) {
    Shape shape;
    shape.accelerator_family = family;
    shape.accelerator_model_hint = std::move(hint);
    shape.gpu_count = 1;
    const RenderedShape rendered = render_shape(*find_vocabulary("ray"), shape, "x");
    const size_t at = rendered.text.find("accelerator_type: ");
    if (at == rendered.text.npos) return std::string();
    return rendered.text.substr(at + 18, rendered.text.size() - at - 19);
  };
  EXPECT_EQ(type_of(Family::nvidia, "A100"), "A100");
  EXPECT_EQ(type_of(Family::nvidia, "A100-SXM4-80GB"), "A100");
  EXPECT_EQ(type_of(Family::nvidia, "RTX-4090"), "");
  EXPECT_EQ(type_of(Family::amd, "MI300X"), "AMD-Instinct-MI300X-OAM");
  EXPECT_EQ(type_of(Family::tpu, "TPU-v5e"), "TPU-V5LITEPOD");
  EXPECT_EQ(type_of(Family::nvidia, ""), "");
}

TEST(Recognition, IsByContentAndNeverAGuess) {
  const auto known = [](std::string_view text) {
    const auto found = recognise_vocabulary({text, "f"});
    return found ? std::string((*found)->name) : join(found.error().alternatives, ",");
  };
  EXPECT_EQ(known("#!/bin/sh\n#SBATCH -N2\nsrun x\n"), "sbatch");
  EXPECT_EQ(known("sbatch -N2 job.sh"), "sbatch");
  EXPECT_EQ(known("srun -N2 x"), "srun");
  EXPECT_EQ(known("flux run -N2 x"), "flux");
  EXPECT_EQ(known("#!/bin/sh\n#FLUX: -N2\n"), "flux");
  EXPECT_EQ(known("-N2 -c4"), "sbatch,srun,flux");
  EXPECT_EQ(known("resources: {memory: 32}"), "skypilot,dstack");
  EXPECT_EQ(known("resources: {memory: 32, cpus: 4}"), "skypilot");
  EXPECT_EQ(known("resources: {memory: 32, cpu: 4}"), "dstack");
  EXPECT_EQ(known("kind: Pod"), "kubernetes");
  EXPECT_EQ(known("apiVersion: dashboard.opendatahub.io/v1alpha1\nkind: HardwareProfile"),
            "openshift-ai");
  const auto names = vocabulary_names();
  EXPECT_EQ(known("hello: world"), join(std::vector<std::string>(names.begin(), names.end()), ","));
  EXPECT_EQ(known("a: [1"), "");  // what is wrong with it is said instead
}

}  // namespace
}  // namespace exa
