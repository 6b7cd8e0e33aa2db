// How environment templates are shown.
#include <fmt/format.h>

#include "base/text.h"
#include "cli/view_parts.h"

namespace exa {
namespace {

// "environment template gpu-vm@v1 active"
std::string template_headline(const json::value& body) {
  return fmt::format("environment template {}@{} {}", text_or(body, "name", ""),
                     text_or(body, "version", ""),
                     find(body, "removed") != nullptr ? "removed" : text_or(body, "state", ""));
}

std::vector<std::string> template_below(const json::value& body) {
  std::vector<std::string> lines;
  const auto say = [&](std::string_view word, std::string_view text) {
    if (!text.empty()) lines.push_back(fmt::format("{:<11}{}", word, text));
  };
  for (const std::string_view key : {"driver", "folder", "digest", "cluster", "image", "partition",
                                     "account", "qos", "namespace"})
    say(key, text_or(body, key, ""));
  say("limit", text_or(body, "time_limit", ""));
  const json::value* problems = find(body, "problems");
  if (problems != nullptr && problems->is_array())
    for (const json::value& problem : problems->get_array())
      if (problem.is_string()) say("in the way", problem.get_string());
  return lines;
}

}  // namespace

std::vector<View> template_views() {
  std::vector<View> views = {
      {.route = "environment_template.list",
       .tables = {{"",
                   "/items",
                   {{"NAME", "/name"},
                    {"VERSION", "/version"},
                    {"DRIVER", "/driver"},
                    {"STATE", "/state"},
                    {"CLUSTER", "/cluster", Show::text, 3, false, false, true},
                    {"BY", "/created_by", Show::text, 4},
                    {"AGE", "/created_at", Show::age}}}},
       .empty = "No environment templates yet: exa environment-template add NAME --version v1 "
                "--driver script --folder FOLDER"},
      {.route = "environment_template.remove", .headline = template_headline}};
  for (const std::string_view route :
       {"environment_template.add", "environment_template.show", "environment_template.activate",
        "environment_template.disable"})
    views.push_back(
        {.route = route,
         .headline = template_headline,
         .below = template_below,
         .tables = {
             {"",
              "/inputs",
              {{"INPUT", "/name"}, {"TYPE", "/type"}, {"REQUIRED", "/required", Show::yes_no}}},
             {"", "/outputs", {{"OUTPUT", "/name"}, {"SECRET", "/secret", Show::yes_no}}}}});
  return views;
}

}  // namespace exa
