// Launches that the tests of several renderers share, and files that a person can read: what each
// renderer makes of them (testdata/launch). EXA_WRITE_EXPECTED=1 writes those anew.
#pragma once

#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/quantity.h"
#include "launch/launch_spec.h"

namespace exa {

inline std::string contents_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// `name` below testdata/launch holds that text.
inline void expect_file(const std::string& name, const std::string& text) {
  const std::string path = std::string(EXA_TESTDATA "/launch/") + name;
  if (std::getenv("EXA_WRITE_EXPECTED") != nullptr) std::ofstream(path, std::ios::binary) << text;
  EXPECT_EQ(contents_of(path), text) << path;
}

// The text of a file behind the notes that come with it.
inline std::string with_notes(const Rendered& rendered) {
  std::string text;
  for (const std::string& note : rendered.notes) text += fmt::format("# {}\n", note);
  return text + rendered.files.at(0).text;
}

inline LaunchSpec workbench_for_test() {
  LaunchSpec spec;
  spec.kind = Surface::workbench;
  spec.project = "vision";
  spec.name = "notebook";
  spec.id = "w-1";
  spec.resources = {Family::nvidia, "A100-80GB", 1, 1000, "", 4000, 32 * kGiB, 1};
  spec.command = {"jupyter", "lab", "--ip=0.0.0.0", "--port=8888", "--no-browser"};
  spec.environment = {{"PRICE", "$5 and $(HOME)"}};
  spec.image = "quay.io/jupyter/pytorch-notebook:2024-10-07";
  spec.folder = "/home/jovyan";
  spec.port = 8888;
  spec.volume = {20 * kGiB, "/home/jovyan"};
  return spec;
}

inline LaunchSpec training_for_test() {
  LaunchSpec spec;
  spec.kind = Surface::training;
  spec.project = "vision";
  spec.name = "llama";
  spec.id = "t-1";
  spec.resources = {Family::nvidia, "H100", 8, 1000, "", 96'500, 512 * kGiB, 2};
  spec.command = {"torchrun",
                  "--nnodes=2",
                  "--nproc-per-node=8",
                  Word{"--node-rank=", RunTime::node_rank},
                  Word{"--rdzv-endpoint=", RunTime::head_node, ":29500"},
                  Word{"--rdzv-id=", RunTime::job_id},
                  "train.py",
                  "--prompt=it's $HOME, \"quoted\" and $(kept)"};
  spec.environment = {{"OMP_NUM_THREADS", "12"}};
  spec.image = "registry.local/train:1";
  spec.restarts = 2;
  spec.options.time_limit = hours(4);
  spec.options.name_space = "research";
  return spec;
}

inline LaunchSpec serving_for_test() {
  LaunchSpec spec;
  spec.kind = Surface::serving;
  spec.project = "vision";
  spec.name = "chat";
  spec.id = "s-1";
  spec.resources = {Family::nvidia, "", 2, 1000, "", 8000, 64 * kGiB, 1};
  spec.command = {"vllm", "serve", "org/model", "--port=8000"};
  spec.image = "docker.io/vllm/vllm-openai:v0.11.0";
  spec.port = 8000;
  spec.replicas = 3;
  return spec;
}

// Bytes that quoting gets wrong: shells', YAML's, Kubernetes' and compose's own marks, control
// characters, and text beyond ASCII; never NUL or a line break, which no launch carries.
inline std::string random_text(std::mt19937_64& random, size_t most) {
  static const std::vector<std::string> kPieces = {
      "$",    "$$",   "$(",   "$(HOME)", "${HOME}", "$HOME",  ")",      "}",          "'",   "\"",
      "\\",   "\\n",  " ",    "\t",      ": ",      "#",      " #",     "-",          "- ",  "?",
      "*",    "&",    "!",    "|",       ">",       "%",      "@",      "`",          "{",   "}",
      "[",    "]",    ",",    "=",       "~",       "yes",    "null",   "0x1F",       "1e3", "0o7",
      "\x01", "\x1b", "\x7f", "\u00e9",  "\u0085",  "\u2028", "\ufeff", "\U0001f600", "a",   "Z",
      "__",   ":",    ";",    "<<",      "...",     "---",    "%s",     "{{x}}"};
  std::string text;
  const size_t pieces = random() % (most + 1);
  for (size_t i = 0; i < pieces; ++i) text += kPieces[random() % kPieces.size()];
  return text;
}

}  // namespace exa
