// Which nodes of a cluster a pool takes in, by their labels and features. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "hardware/inventory.h"

namespace exa {

// "gpu=a100,zone!=b,team in (x, y),!spot,ssd": equality, sets and existence as Kubernetes label
// selectors, all of which must hold. Slurm features are labels without a value.
class NodeSelector {
 public:
  static Result<NodeSelector> parse(std::string_view text);  // empty: every node
  bool matches(const Node& node) const;

 private:
  enum class Op { in, not_in, exists, absent };
  struct Requirement {
    std::string key;
    Op op = Op::exists;
    std::vector<std::string> values;
  };
  std::vector<Requirement> requirements_;
};

}  // namespace exa
