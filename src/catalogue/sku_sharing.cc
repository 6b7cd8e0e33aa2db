#include "catalogue/sku_sharing.h"

#include <algorithm>

namespace exa {

bool sku_visible(const SkuSharing& sharing, std::string_view project,
                 std::string_view owner_project, bool published) {
  if (!published || project.empty() || owner_project.empty()) return false;
  if (project == owner_project) return true;
  switch (sharing.with) {
    case SkuSharing::With::all:
      return true;
    case SkuSharing::With::selected:
      return std::ranges::find(sharing.projects, project) != sharing.projects.end();
    case SkuSharing::With::none:
      return false;
  }
  return false;
}

json::value to_json(const SkuSharing& sharing) {
  if (sharing.with == SkuSharing::With::all) return "all";
  if (sharing.with == SkuSharing::With::none) return "none";
  return json::array(sharing.projects.begin(), sharing.projects.end());
}

SkuSharing sku_sharing_from_json(const json::value& stored) {
  SkuSharing sharing;
  if (stored.is_string() && stored.get_string() == "all") sharing.with = SkuSharing::With::all;
  if (!stored.is_array()) return sharing;
  for (const json::value& project : stored.get_array()) {
    if (!project.is_string()) return {};
    sharing.projects.emplace_back(project.get_string());
  }
  sharing.with = SkuSharing::With::selected;
  return sharing;
}

}  // namespace exa
