// Who sees a compute profile: one rule for every interface, and what it does not know it refuses.
// Requirement "Share Compute Profile". Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace exa {

struct SkuSharing {
  enum class With { none, all, selected } with = With::none;
  std::vector<std::string> projects;  // of selected

  bool operator==(const SkuSharing&) const = default;
};

// Whether people of `project` see and may launch what `owner_project` has. Nobody sees what is not
// published: whoever may write profiles of the owner's is asked for otherwise.
bool sku_visible(const SkuSharing& sharing, std::string_view project,
                 std::string_view owner_project, bool published);

// "none", "all" or a list of projects, as hardware profiles are shared. Anything else that was
// stored is none.
json::value to_json(const SkuSharing& sharing);
SkuSharing sku_sharing_from_json(const json::value& stored);

}  // namespace exa
