// What the files of views share.
#pragma once

#include "cli/views.h"

namespace exa {

// What there is to read in a row: never dropped, wrapped below itself.
inline ViewColumn sentence(std::string_view header, std::string_view pointer,
                           Show show = Show::text, bool wide_only = false) {
  return {header, pointer, show, 0, wide_only, true};
}

std::vector<View> placement_views();
std::vector<View> server_views();
std::vector<View> launch_views();

}  // namespace exa
