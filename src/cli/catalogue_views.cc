// How compute profiles of the catalogue are shown.
#include <fmt/format.h>

#include "cli/view_parts.h"

namespace exa {
namespace {

std::string text_of(const json::value& body, std::string_view key) {
  return std::string(text_or(body, key, ""));
}

bool is_true(const json::value& body, std::string_view key) {
  const json::value* value = find(body, key);
  return value != nullptr && value->is_bool() && value->get_bool();
}

std::string number_of(const json::value& body, std::string_view key) {
  const json::value* value = find(body, key);
  return value == nullptr ? "?" : to_text(*value);
}

std::string written_headline(const json::value& body) {
  return fmt::format("compute profile {}@{}, {}", text_of(body, "name"), number_of(body, "version"),
                     is_true(body, "published") ? "published" : "a draft");
}

std::string published_headline(const json::value& body) {
  return fmt::format("compute profile {} is {}", text_of(body, "name"),
                     is_true(body, "published") ? "published" : "a draft, and launched by nobody");
}

std::string deleted_headline(const json::value& body) {
  return fmt::format("compute profile {} deleted", text_of(body, "name"));
}

std::string diff_headline(const json::value& body) {
  if (is_true(body, "same"))
    return fmt::format("{} and {} are the same", text_of(body, "from"), text_of(body, "to"));
  return fmt::format("{} to {}: {}", text_of(body, "from"), text_of(body, "to"),
                     text_of(body, "summary"));
}

std::string inputs_headline(const json::value& body) {
  return fmt::format("{}@{} asks for:", text_of(body, "name"), number_of(body, "version"));
}

std::string checked_headline(const json::value& body) {
  return fmt::format("{}@{} would run with:", text_of(body, "name"), number_of(body, "version"));
}

// "gpu_count = 2 (given)", "size = 4 (default, small)"
std::vector<std::string> checked_below(const json::value& body) {
  std::vector<std::string> lines;
  const json::value* inputs = find(body, "inputs");
  if (inputs == nullptr || !inputs->is_object()) return lines;
  for (const auto& each : inputs->get_object()) {
    const json::value* value = find(each.value(), "value");
    const std::string shown = value == nullptr     ? ""
                              : value->is_string() ? std::string(value->get_string())
                                                   : to_text(*value);
    const std::string label = text_of(each.value(), "label");
    lines.push_back(fmt::format("  {} = {} ({}{}{})", std::string_view(each.key()), shown,
                                text_of(each.value(), "source"), label.empty() ? "" : ", ", label));
  }
  return lines;
}

ViewTable inputs_table(std::string_view title, std::string_view pointer) {
  return {title,
          pointer,
          {{"NAME", "/name"},
           {"TYPE", "/type"},
           {"REQUIRED", "/required", Show::yes_no},
           {"DEFAULT", "/default"},
           {"OVERRIDE", "/override", Show::text, 2},
           {"VALUES", "/allowed_values|/choices", Show::list, 3},
           {"MIN", "/min", Show::text, 4},
           {"MAX", "/max", Show::text, 5},
           {"STEP", "/step", Show::text, 6, true},
           {"GROUP", "/group", Show::text, 7, true},
           sentence("DESCRIPTION", "/description", Show::text, true)}};
}

}  // namespace

std::vector<View> catalogue_views() {
  return {
      {.route = "compute_profile.create", .headline = written_headline},
      {.route = "compute_profile.edit", .headline = written_headline},
      {.route = "compute_profile.import", .headline = written_headline},
      {.route = "compute_profile.publish", .headline = published_headline},
      {.route = "compute_profile.unpublish", .headline = published_headline},
      {.route = "compute_profile.delete", .headline = deleted_headline},
      {.route = "compute_profile.list",
       .tables = {{"",
                   "/items",
                   {{"NAME", "/name"},
                    {"DISPLAY", "/display_name", Show::text, 2},
                    {"VERSION", "/version", Show::text, 4},
                    {"PUBLISHED", "/published", Show::yes_no, 3},
                    {"SHARING", "/shared_with", Show::list},
                    {"PRICE/H", "/price_per_hour/amount", Show::cost, 1},
                    {.header = "CURRENCY",
                     .pointer = "/price_per_hour/currency",
                     .drop = 5,
                     .when_any = true},
                    sentence("DESCRIPTION", "/description", Show::text, true),
                    {"CREATED", "/created_at"}}}},
       .empty =
           "No compute profiles for you here. Make one: exa compute-profile create NAME --file "
           "FILE, then publish it"},
      {.route = "compute_profile.show",
       .tables = {inputs_table("inputs", "/inputs"),
                  {"outputs",
                   "/outputs",
                   {{"NAME", "/name"},
                    {"LABEL", "/label"},
                    {"SECRET", "/secret", Show::yes_no},
                    sentence("DESCRIPTION", "/description", Show::text, true)}}},
       .record = true},
      {.route = "compute_profile.history",
       .tables = {{"",
                   "/items",
                   {{"VERSION", "/version"},
                    {"BY", "/created_by", Show::text, 1},
                    sentence("CHANGES", "/changes", Show::list),
                    sentence("REASON", "/reason"),
                    {"AGE", "/created_at", Show::age}}}}},
      {.route = "compute_profile.diff",
       .headline = diff_headline,
       .tables = {{"",
                   "/items",
                   {{"FIELD", "/where"},
                    sentence("CHANGE", "/text"),
                    {"CHANGES-THE-INSTANCE", "/changes_the_instance", Show::yes_no, 1}}}}},
      {.route = "compute_profile.inputs",
       .headline = inputs_headline,
       .tables = {inputs_table("", "/items")},
       .empty = "It asks for nothing: exa instance launch NAME --compute-profile PROFILE"},
      {.route = "compute_profile.check", .headline = checked_headline, .below = checked_below},
      {.route = "compute_profile.export", .prints = "text"},
  };
}

}  // namespace exa
