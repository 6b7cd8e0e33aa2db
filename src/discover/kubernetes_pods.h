// What the pods of a cluster ask for, summed per node as the scheduler does.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "discover/kubernetes_json.h"

namespace exa::kubernetes {

// Amounts by resource name: cpu in thousandths, everything else in whole units. Few names per node:
// a list is faster than a map.
class Amounts {
 public:
  void add(std::string_view name, int64_t amount);    // saturates
  void raise(std::string_view name, int64_t amount);  // to at least this
  void set(std::string_view name, int64_t amount);
  int64_t of(std::string_view name) const;  // 0 when nobody asked
  const std::vector<std::pair<std::string, int64_t>>& all() const { return all_; }
  void clear() { all_.clear(); }

 private:
  int64_t& slot(std::string_view name);
  std::vector<std::pair<std::string, int64_t>> all_;
};

struct PodUse {
  std::unordered_map<std::string, Amounts> by_node;
  std::set<std::string, std::less<>> namespaces;
  bool any_pods = false;
  bool more = false;  // the list says that it goes on
};

// Adds the pods of one list (or one Pod) to `use`. Pods without a node, and those that have
// Succeeded or Failed, ask for nothing; a pod that is bound but still Pending does. Throws
// Unreadable, simdjson_error.
void add_pods(od::parser& parser, const CapturedOutput& output, PodUse& use);

}  // namespace exa::kubernetes
