// Launches that the tests of the schedulers' renderers share. Their scripts stand in
// testdata/launch, to be read; EXA_WRITE_SCRIPTS=FOLDER writes them anew.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/quantity.h"
#include "launch/launch_spec.h"
#include "launch/training.h"

namespace exa {

inline LaunchSpec training_of(const TrainingJob& job) {
  LaunchSpec spec;
  spec.kind = Surface::training;
  spec.project = "vision";
  spec.name = "llama";
  spec.id = "01JDXZ5K7Q";
  spec.folder = "/data/runs/llama";
  spec.resources.family = job.on_cpu ? Family::cpu : Family::nvidia;
  spec.resources.gpus = job.on_cpu ? 0 : job.processes_per_node;
  spec.resources.nodes = job.nodes;
  spec.command = training_command(job);
  spec.environment = training_environment(job);
  return spec;
}

inline LaunchSpec two_nodes_of_four() {
  TrainingJob job;
  job.strategy = Strategy::fsdp;
  job.nodes = 2;
  job.processes_per_node = 4;
  job.script = "train.py";
  job.checkpoint_every = "10min";
  job.cpus_per_process = 4;
  LaunchSpec spec = training_of(job);
  spec.resources.cpu_milli = 16'000;
  spec.resources.memory_bytes = 128 * kGiB;
  spec.resources.model = "A100-80GB";
  spec.options.partition = "gpu";
  spec.options.account = "vision@a100";
  spec.options.time_limit = minutes(26 * 60 + 30);
  spec.options.device = "gpu:a100";
  return spec;
}

inline LaunchSpec without_ssh() {
  TrainingJob job;
  job.strategy = Strategy::zero;
  job.launcher = Launcher::deepspeed;
  job.nodes = 2;
  job.processes_per_node = 8;
  job.script = "train.py";
  LaunchSpec spec = training_of(job);
  spec.name = "zero";
  spec.resources.cpu_milli = 64'000;
  return spec;
}

inline LaunchSpec restarted_on_cpus() {
  TrainingJob job;
  job.nodes = 2;
  job.processes_per_node = 2;
  job.on_cpu = true;
  job.module = "vision.train";
  job.arguments = {"--run", "it's a test", "$HOME", "*"};
  LaunchSpec spec = training_of(job);
  spec.name = "small";
  spec.resources.cpu_milli = 2'000;
  spec.resources.memory_bytes = 4 * kGiB;
  spec.environment = {{"PATH", "/opt/venv/bin:/usr/bin:/bin"}, {"GREETING", "good morning"}};
  spec.options.partition = "cpu";
  spec.restarts = 3;
  return spec;
}

inline LaunchSpec notebook(std::string name) {
  LaunchSpec spec;
  spec.kind = Surface::workbench;
  spec.project = "vision";
  spec.name = std::move(name);
  spec.id = "01JDXZ5K7R";
  spec.resources.family = Family::nvidia;
  spec.resources.gpus = 1;
  spec.resources.cpu_milli = 2'500;
  spec.resources.memory_bytes = 8 * kGiB;
  spec.command = {"jupyter", "server", "--no-browser", "--port=8888"};
  spec.folder = "/home/ada/work";
  spec.port = 8888;
  return spec;
}

inline LaunchSpec on_a_slice() {
  LaunchSpec spec = notebook("slice");
  spec.resources.mig_profile = "1g.10gb";
  return spec;
}

inline LaunchSpec on_half_a_card() {
  LaunchSpec spec = notebook("half");
  spec.resources.fraction_milli = 500;
  spec.options.shares_per_device = 8;
  return spec;
}

inline LaunchSpec on_gaudi() {
  TrainingJob job;
  job.processes_per_node = 8;
  job.script = "train.py";
  LaunchSpec spec = training_of(job);
  spec.name = "gaudi";
  spec.resources.family = Family::intel_gaudi;
  return spec;
}

struct Sample {
  std::string name;
  LaunchSpec spec;
};

inline std::vector<Sample> scheduler_samples() {
  return {{"two-nodes", two_nodes_of_four()}, {"without-ssh", without_ssh()},
          {"restarted", restarted_on_cpus()}, {"slice", on_a_slice()},
          {"half", on_half_a_card()},         {"gaudi", on_gaudi()}};
}

// Whether `text` is what testdata/launch/FILE holds.
inline void expect_as_kept(const std::string& file, std::string_view text) {
  if (const char* folder = std::getenv("EXA_WRITE_SCRIPTS")) {
    std::ofstream(std::filesystem::path(folder) / file, std::ios::binary) << text;
    return;
  }
  std::ifstream kept(std::filesystem::path(EXA_TESTDATA) / "launch" / file, std::ios::binary);
  std::stringstream read;
  read << kept.rdbuf();
  EXPECT_EQ(text, read.str()) << file << ": EXA_WRITE_SCRIPTS=testdata/launch writes it anew";
}

inline std::vector<std::string> places(const Error& error) {
  std::vector<std::string> list;
  for (const Problem& problem : error.problems) list.push_back(problem.where);
  return list;
}

}  // namespace exa
