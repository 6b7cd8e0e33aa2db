// What the tests of the Slurm readers share: the samples under testdata/slurm and captures of them.
#pragma once

#include <fstream>
#include <sstream>

#include <gmock/gmock.h>

#include "discover/readers.h"

namespace exa::slurm_sample {

inline constexpr std::nullopt_t kUnknown = std::nullopt;

inline std::string sample(const std::string& file) {
  std::ifstream in(std::string(EXA_TESTDATA) + "/slurm/" + file, std::ios::binary);
  EXPECT_TRUE(in) << file;
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

inline Capture capture_of(const std::string& name, std::string text) {
  Capture capture;
  capture.kind = ClusterKind::slurm;
  capture.outputs.push_back({name, {}, 0, std::move(text), ""});
  return capture;
}

inline Inventory read(const std::string& name, const std::string& file) {
  auto inventory = read_slurm(capture_of(name, sample(file)));
  EXPECT_TRUE(inventory) << file << ": " << inventory.error().message;
  return inventory ? *inventory : Inventory();
}

inline const Node& node(const Inventory& inventory, std::string_view name) {
  for (const Node& node : inventory.nodes)
    if (node.name == name) return node;
  ADD_FAILURE() << "no node " << name;
  static const Node kNone;
  return kNone;
}

// scontrol's text with this instead of a node's Gres and GresUsed.
inline Inventory with_gres(const std::string& gres, const std::string& used) {
  std::string text =
      "NodeName=n1 CPUTot=64 CPUAlloc=0 RealMemory=512000 AllocMem=0 State=IDLE\n   "
      "CfgTRES=cpu=64\n   AllocTRES=\n   Gres=" +
      gres + "\n";
  if (!used.empty()) text += "   GresUsed=" + used + "\n";
  auto inventory = read_slurm(capture_of("scontrol show node", text));
  EXPECT_TRUE(inventory) << inventory.error().message;
  return inventory ? *inventory : Inventory();
}

}  // namespace exa::slurm_sample
