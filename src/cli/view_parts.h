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
std::vector<View> compute_views();
std::vector<View> instance_views();
std::vector<View> catalogue_views();
std::vector<View> template_views();

// "training/llama-1 running on hpc …" of a reply that is a launch.
std::string launch_headline(const json::value& body);
std::vector<std::string> launch_below(const json::value& body);
// A text of several lines, for a headline and the lines below it: line ends are never printed from
// within a line.
std::string first_line_of(const std::string& text);
std::vector<std::string> further_lines_of(const std::string& text);
// The same of the reply's `text`.
std::string logs_headline(const json::value& body);
std::vector<std::string> logs_below(const json::value& body);

}  // namespace exa
