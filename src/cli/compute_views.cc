// How manifests, machines and ML platforms are shown.
#include <fmt/format.h>

#include "base/text.h"
#include "base/yaml.h"
#include "cli/view_parts.h"
#include "compute/compute_status.h"

namespace exa {
namespace {

bool is_list(const json::value& body) {
  return find(body, "items") != nullptr;
}

std::string joined_texts(const json::value& body, std::string_view key) {
  const json::value* list = find(body, key);
  std::vector<std::string> texts;
  if (list != nullptr && list->is_array())
    for (const json::value& each : list->get_array())
      if (each.is_string()) texts.emplace_back(each.get_string());
  return join(texts, ", ");
}

// A Compute as the document prints it; every other manifest as it was written.
std::string manifest_text(const json::value& body) {
  if (is_list(body)) return "";
  if (text_or(body, "kind", "") == "Compute")
    if (const json::value* status = find(body, "status"))
      if (const auto read = compute_status_from_json(*status)) {
        std::string text = describe(*read);
        if (text.ends_with('\n')) text.pop_back();
        return text;
      }
  std::string text = to_yaml(body);
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

std::string manifest_headline(const json::value& body) {
  return first_line_of(manifest_text(body));
}

std::vector<std::string> manifest_below(const json::value& body) {
  std::vector<std::string> lines = further_lines_of(manifest_text(body));
  const json::value* status = find(body, "status");
  const json::value* conditions = status == nullptr ? nullptr : find(*status, "conditions");
  if (conditions == nullptr || !conditions->is_array()) return lines;
  for (const json::value& each : conditions->get_array())
    lines.push_back(fmt::format("{} {}: {}", text_or(each, "type", ""), text_or(each, "status", ""),
                                text_or(each, "message", "")));
  return lines;
}

// "llm reserved, 5 machines, 8 NVIDIA H100"
std::string platform_headline(const json::value& body) {
  if (text_or(body, "state", "").empty())
    return fmt::format("mlplatform {} deleted", text_or(body, "name", ""));
  const json::value* machines = find(body, "machines");
  const size_t count =
      machines != nullptr && machines->is_array() ? machines->get_array().size() : 0;
  std::string line = fmt::format("mlplatform {} {} on {} machine{}", text_or(body, "name", ""),
                                 text_or(body, "state", ""), count, count == 1 ? "" : "s");
  const std::string_view reason = text_or(body, "reason", "");
  if (!reason.empty()) line += fmt::format(": {}", reason);
  return line;
}

std::string gpus_line(const json::value& body) {
  const json::value* gpus = find(body, "gpus");
  std::string text;
  if (gpus == nullptr || !gpus->is_object()) return text;
  for (const auto& each : gpus->get_object())
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", to_text(each.value()),
                        std::string_view(each.key()));
  return text;
}

std::string minimum_line(const json::value& body) {
  const std::string_view from = text_or(body, "minimum_from", "");
  const json::value* least = find(body, "minimum_workers");
  if (from.empty() || least == nullptr) return "none";
  return fmt::format("{}, from {}", to_text(*least), from);
}

std::vector<std::string> platform_below(const json::value& body) {
  if (text_or(body, "state", "").empty()) return {};
  std::vector<std::string> lines = {
      fmt::format("asks       {} ({})", gpus_line(body).empty() ? "no GPUs" : gpus_line(body),
                  text_or(body, "mode", "")),
      fmt::format("minimum    {}", minimum_line(body)),
      fmt::format("profile    {}", text_or(body, "compute_profile", ""))};
  const std::string_view provisioner = text_or(body, "provisioner", "");
  lines.push_back(fmt::format("built by   {}", provisioner.empty() ? "nothing: the settings name "
                                                                     "no provisioner"
                                                                   : provisioner));
  const json::value* run = find(body, "last_run");
  const json::value* outputs = run == nullptr ? nullptr : find(*run, "outputs");
  if (outputs != nullptr && outputs->is_object())
    for (const auto& each : outputs->get_object())
      lines.push_back(fmt::format("output     {}: {}", std::string_view(each.key()),
                                  each.value().is_string() ? std::string(each.value().get_string())
                                                           : to_text(each.value())));
  return lines;
}

std::string plan_headline(const json::value& body) {
  const json::value* met = find(body, "met");
  const bool is_met = met != nullptr && met->is_bool() && met->get_bool();
  return fmt::format("mlplatform {}: {}", text_or(body, "name", ""),
                     is_met ? "can be met" : "cannot be met; nothing would be taken");
}

std::vector<std::string> plan_below(const json::value& body) {
  std::vector<std::string> lines = {fmt::format("asks       {}", gpus_line(body)),
                                    fmt::format("minimum    {}", minimum_line(body))};
  for (const auto& [word, key] :
       {std::pair("warning", "warnings"), std::pair("limit", "limits_exceeded"),
        std::pair("missing", "shortages")}) {
    const json::value* list = find(body, key);
    if (list == nullptr || !list->is_array()) continue;
    for (const json::value& each : list->get_array())
      if (each.is_string())
        lines.push_back(fmt::format("{:<10} {}", word, std::string_view(each.get_string())));
  }
  return lines;
}

std::string files_text(const json::value& body) {
  std::string text;
  const json::value* files = find(body, "files");
  if (files == nullptr || !files->is_array()) return text;
  for (const json::value& file : files->get_array())
    text += fmt::format("# {}\n{}", text_or(file, "name", ""), text_or(file, "text", ""));
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

std::string files_headline(const json::value& body) {
  return first_line_of(files_text(body));
}
std::vector<std::string> files_below(const json::value& body) {
  return further_lines_of(files_text(body));
}

// A change of a file is shown by its rows; of a plan, as the launch that it is.
std::string applied_headline(const json::value& body) {
  return is_list(body) ? "" : launch_headline(body);
}
std::vector<std::string> applied_below(const json::value& body) {
  return is_list(body) ? std::vector<std::string>() : launch_below(body);
}

// "computeprofile/edge /spec/minWorkerNodes: 2 is kept, 3 in the file", a line each.
std::string differences_text(const json::value& body) {
  std::string text;
  const json::value* items = find(body, "items");
  if (items == nullptr || !items->is_array()) return text;
  for (const json::value& item : items->get_array()) {
    const json::value* differences = find(item, "differences");
    if (differences == nullptr || !differences->is_array()) continue;
    for (const json::value& each : differences->get_array()) {
      const json::value* before = find(each, "before");
      const json::value* after = find(each, "after");
      text += fmt::format("{}{}/{} {}: {} is kept, {} in the file", text.empty() ? "" : "\n",
                          text_or(item, "kind", ""), text_or(item, "name", ""),
                          text_or(each, "field", ""), before == nullptr ? "" : to_text(*before),
                          after == nullptr ? "" : to_text(*after));
    }
  }
  return text;
}

std::string differences_headline(const json::value& body) {
  return first_line_of(differences_text(body));
}
std::vector<std::string> differences_below(const json::value& body) {
  return further_lines_of(differences_text(body));
}

std::string machine_reasons(const json::value& body) {
  const std::string reasons = joined_texts(body, "reasons");
  const json::value* offered = find(body, "offered");
  const bool is_offered = offered != nullptr && offered->is_bool() && offered->get_bool();
  return fmt::format("machine {} {}{}", text_or(body, "id", ""),
                     is_offered ? "is offered" : "is not offered",
                     reasons.empty() ? "" : ": " + reasons);
}

std::string looked_headline(const json::value& body) {
  const json::value* machines = find(body, "machines");
  const json::value* changed = find(body, "changed");
  return fmt::format("{}: {} machines reported, {} of them changed", text_or(body, "name", ""),
                     machines == nullptr ? "0" : to_text(*machines),
                     changed == nullptr ? "0" : to_text(*changed));
}

std::vector<ViewColumn> machine_columns() {
  return {{"ID", "/id"},
          {"OFFERED", "/offered", Show::yes_no},
          {"FAMILY", "/gpu_family/value"},
          {"GPUS", "/gpus/value"},
          {"CPUS", "/cpus/value", Show::text, 3},
          {"SOURCE", "/source", Show::text, 4},
          sentence("WHY", "/reasons", Show::list),
          {"HEARD", "/heard_at", Show::age, 1}};
}

std::vector<ViewColumn> platform_machine_columns() {
  return {{"ID", "/id"}, {"AS", "/as"}, {"GPUS", "/gpus"}, {"FAMILY", "/family", Show::text, 1}};
}

std::vector<View> manifest_views() {
  const std::vector<ViewColumn> applied = {{"KIND", "/kind"},
                                           {"NAME", "/name"},
                                           {"PROJECT", "/project", Show::text, 1},
                                           {"RESULT", "/result"}};
  return {{.route = "manifest.apply",
           .headline = applied_headline,
           .below = applied_below,
           .tables = {{"", "/items", applied}}},
          {.route = "manifest.diff",
           .headline = differences_headline,
           .below = differences_below,
           .tables = {{"", "/items", applied}}},
          {.route = "manifest.get",
           .headline = manifest_headline,
           .below = manifest_below,
           .tables = {{"",
                       "/items",
                       {{"NAME", "/metadata/name"},
                        {"PROJECT", "/metadata/namespace", Show::text, 1},
                        {"GENERATION", "/metadata/generation", Show::text, 2},
                        {"AGE", "/metadata/creationTimestamp", Show::age}}}},
           .empty = "None yet: exa apply -f FILE"},
          {.route = "manifest.explain",
           .tables = {{"",
                       "/fields",
                       {{"FIELD", "/path"},
                        {"TYPE", "/type"},
                        {"REQUIRED", "/required", Show::yes_no, 1},
                        sentence("IS", "/help")}}}}};
}

}  // namespace

std::vector<View> compute_views() {
  std::vector<View> views = manifest_views();
  const std::vector<View> more = {
      {.route = "machine_source.list",
       .tables = {{"",
                   "/items",
                   {{"NAME", "/name"},
                    {"KIND", "/kind"},
                    {"MACHINES", "/machines"},
                    {"ANSWERED", "/succeeded_at", Show::age},
                    sentence("ERROR", "/error")}}},
       .empty = "No sources yet: exa machine source add NAME --kind folder --path FOLDER"},
      {.route = "machine.discover",
       .headline = looked_headline,
       .tables = {{"", "/unread", {{"UNREAD", "/what"}, sentence("WHY", "/why")}}}},
      {.route = "machine.list",
       .tables = {{"", "/items", machine_columns()}},
       .empty = "No machines yet: exa machine source add"},
      {.route = "machine.show", .headline = machine_reasons, .record = true, .wraps = true},
      {.route = "machine.accept", .headline = machine_reasons, .record = true, .wraps = true},
      {.route = "ml_platform.list",
       .tables = {{"",
                   "/items",
                   {{"NAME", "/name"},
                    {"STATE", "/state"},
                    {"MODE", "/mode", Show::text, 3},
                    {"PROFILE", "/compute_profile", Show::text, 2},
                    {"BY", "/created_by", Show::text, 4},
                    {"AGE", "/created_at", Show::age}}}},
       .empty = "No ML platforms yet: exa mlplatform create NAME --gpus \"8 H100\""},
      {.route = "ml_platform.plan",
       .headline = plan_headline,
       .below = plan_below,
       .tables = {{"",
                   "/machines",
                   {{"MACHINE", "/id"},
                    {"AS", "/as"},
                    {"GPUS", "/gpus", Show::text, 1},
                    sentence("WHY", "/why")}}},
       .wraps = true},
      {.route = "ml_platform.render", .headline = files_headline, .below = files_below},
      {.route = "ml_platform.logs", .headline = logs_headline, .below = logs_below},
      {.route = "provisioner.list",
       .tables = {{"",
                   "/items",
                   {{"NAME", "/name"},
                    {"DRIVER", "/driver"},
                    {"FOLDER", "/folder"},
                    sentence("IN-THE-WAY", "/problems", Show::list)}}},
       .empty = "No provisioners yet: exa provisioner add NAME --driver script --folder FOLDER"}};
  views.insert(views.end(), more.begin(), more.end());
  for (const std::string_view route :
       {"ml_platform.create", "ml_platform.scale", "ml_platform.show", "ml_platform.provision",
        "ml_platform.delete"})
    views.push_back({.route = route,
                     .headline = platform_headline,
                     .below = platform_below,
                     .tables = {{"", "/machines", platform_machine_columns()}}});
  return views;
}

}  // namespace exa
