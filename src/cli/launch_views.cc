// How workbenches, training runs and plans are shown.
#include <algorithm>

#include <fmt/format.h>

#include "base/quote.h"
#include "base/text.h"
#include "cli/view_parts.h"

namespace exa {
namespace {

std::string texts_of(const json::value& body, std::string_view key, std::string_view separator) {
  const json::value* list = find(body, key);
  std::vector<std::string> texts;
  if (list != nullptr && list->is_array())
    for (const json::value& each : list->get_array())
      if (each.is_string()) texts.emplace_back(each.get_string());
  return join(texts, separator);
}

// As a shell would need them.
std::string quoted(const json::value& body, std::string_view key) {
  const json::value* list = find(body, key);
  std::vector<std::string> words;
  if (list != nullptr && list->is_array())
    for (const json::value& each : list->get_array())
      if (each.is_string()) words.emplace_back(each.get_string());
  return shell_line(words);
}

std::string where_of(const json::value& body) {
  const std::string_view cluster = text_or(body, "cluster", "");
  const std::string_view backend = text_or(body, "backend", "");
  if (cluster.empty() && backend != "compose") return "this machine";
  return fmt::format("{} ({})", cluster.empty() ? "this machine" : cluster, backend);
}

bool is_plan(const json::value& body) {
  const json::value* plan = find(body, "plan");
  return plan != nullptr && plan->is_object();
}

}  // namespace

// "training/llama-1 running on hpc (slurm), job 42 on n1, n2"
std::string launch_headline(const json::value& body) {
  if (is_plan(body) && text_or(body, "state", "") == "submitting") {
    return fmt::format("{}/{} would run on {}", text_or(body, "kind", ""),
                       text_or(body, "name", ""), where_of(body));
  }
  std::string line =
      fmt::format("{}/{} {} on {}", text_or(body, "kind", ""), text_or(body, "name", ""),
                  text_or(body, "state", ""), where_of(body));
  const std::string_view job = text_or(body, "job", "");
  if (!job.empty()) line += fmt::format(", job {}", job);
  const std::string nodes = texts_of(body, "nodes", ", ");
  if (!nodes.empty()) line += fmt::format(" on {}", nodes);
  const std::string_view reason = text_or(body, "reason", "");
  if (!reason.empty()) line += fmt::format(": {}", reason);
  return line;
}

namespace {

// "profile  train-2gpu@4, gpu_count given over it"
std::string profile_line(const json::value& body) {
  const std::string_view profile = text_or(body, "hardware_profile", "");
  const std::string overrides = texts_of(body, "overrides", ", ");
  if (profile.empty()) return "profile    none: the shape is what was given";
  if (overrides.empty()) return fmt::format("profile    {}", profile);
  return fmt::format("profile    {}; given over it: {}", profile, overrides);
}

std::string resolution_line(const json::value& body) {
  const json::value* resolution = find(body, "resolution");
  if (resolution == nullptr || !resolution->is_object()) return "";
  return fmt::format("status     {}: {}", text_or(*resolution, "status", ""),
                     text_or(*resolution, "reason", ""));
}

std::string shape_line(const json::value& body) {
  const json::value* shape = find(body, "shape");
  if (shape == nullptr || !shape->is_object()) return "";
  const auto amount = [&](std::string_view key) {
    const json::value* value = find(*shape, key);
    return value == nullptr || value->is_null() ? std::string("0") : to_text(*value);
  };
  std::string line = fmt::format("asks       {} × {} {}", amount("nodes"), amount("gpu_count"),
                                 text_or(*shape, "accelerator_family", ""));
  const std::string_view mig = text_or(*shape, "mig_profile", "");
  const std::string_view model = text_or(*shape, "accelerator_model_hint", "");
  if (!mig.empty()) line += fmt::format(" {}", mig);
  if (!model.empty()) line += fmt::format(" {}", model);
  if (amount("gpu_fraction") != "1" && amount("gpu_fraction") != "1.0")
    line += fmt::format(", {} of each", amount("gpu_fraction"));
  return line + fmt::format(", {} cpu, {} GiB a node", amount("cpu"), amount("memory_gb"));
}

void append_plan(const json::value& plan, bool on_cluster, std::vector<std::string>& lines) {
  const json::value* placement = find(plan, "placement");
  // there is nothing to choose between on this machine
  if (on_cluster && placement != nullptr && placement->is_object()) {
    lines.emplace_back("placement");
    for (const std::string_view line : split(text_or(*placement, "text", ""), '\n'))
      if (!line.empty()) lines.push_back(fmt::format("  {}", line));
  }
  lines.push_back(fmt::format("runs       {}", quoted(plan, "command")));
  const std::string_view id = text_or(plan, "id", "");
  if (!id.empty())
    lines.push_back(
        fmt::format("plan       {}: exa apply --plan {} does it, as long as nothing "
                    "that it rests on changes",
                    id, id));
  const json::value* files = find(plan, "files");
  if (files == nullptr || !files->is_array()) return;
  for (const json::value& file : files->get_array()) {
    lines.push_back(fmt::format("--- {}", text_or(file, "name", "")));
    for (const std::string_view line : split(text_or(file, "text", ""), '\n'))
      lines.emplace_back(line);
  }
}

}  // namespace

std::vector<std::string> launch_below(const json::value& body) {
  std::vector<std::string> lines = {profile_line(body), shape_line(body), resolution_line(body)};
  lines.push_back(fmt::format("command    {}", text_or(body, "command", "")));
  const std::string_view folder = text_or(body, "folder", "");
  if (!folder.empty()) lines.push_back(fmt::format("folder     {}", folder));
  for (const auto& [word, key] :
       {std::pair("submitted", "submitted_at"), std::pair("started", "started_at"),
        std::pair("ended", "ended_at")})
    if (const std::string_view at = text_or(body, key, ""); !at.empty())
      lines.push_back(fmt::format("{:<10} {}", word, at));
  const json::value* code = find(body, "exit_code");
  if (code != nullptr && code->is_int64())
    lines.push_back(fmt::format("exit code  {}", code->get_int64()));
  if (is_plan(body)) append_plan(*find(body, "plan"), !text_or(body, "cluster", "").empty(), lines);
  std::erase_if(lines, [](const std::string& line) { return line.empty(); });
  return lines;
}

namespace {

// Without a first line nothing below it would be shown.
std::string_view without_empty_start(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of('\n'), text.size()));
}

}  // namespace

std::string first_line_of(const std::string& text) {
  const std::string_view all = without_empty_start(text);
  return std::string(all.substr(0, all.find('\n')));
}

// Each line by itself: what a program prints must not move anybody's cursor, but ends lines.
std::vector<std::string> further_lines_of(const std::string& text) {
  std::string_view rest = without_empty_start(text);
  if (rest.ends_with('\n')) rest.remove_suffix(1);
  const size_t first = rest.find('\n');
  std::vector<std::string> lines;
  if (first == std::string_view::npos) return lines;
  for (const std::string_view line : split(rest.substr(first + 1), '\n')) lines.emplace_back(line);
  return lines;
}

std::string logs_headline(const json::value& body) {
  return first_line_of(std::string(text_or(body, "text", "")));
}

std::vector<std::string> logs_below(const json::value& body) {
  return further_lines_of(std::string(text_or(body, "text", "")));
}

namespace {

// The files, one after the other, and the command that takes them above each.
std::string services_text(const json::value& body) {
  std::string text;
  const json::value* items = find(body, "items");
  if (items == nullptr || !items->is_array()) return text;
  for (const json::value& item : items->get_array()) {
    text += fmt::format("# {}: {}\n# {}\n", text_or(item, "engine", ""),
                        texts_of(item, "models", ", "), texts_of(item, "command", " "));
    const json::value* files = find(item, "files");
    if (files == nullptr || !files->is_array()) continue;
    for (const json::value& file : files->get_array()) text += text_or(file, "text", "");
  }
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

std::string services_headline(const json::value& body) {
  return first_line_of(services_text(body));
}

std::vector<std::string> services_below(const json::value& body) {
  return further_lines_of(services_text(body));
}

std::string address_headline(const json::value& body) {
  return std::string(text_or(body, "url", "opened before: its address was shown once"));
}

std::vector<std::string> address_below(const json::value& body) {
  const std::string_view tunnel = text_or(body, "tunnel", "");
  if (tunnel.empty()) return {};
  return {fmt::format("it answers on {} alone; from elsewhere, first: {}",
                      text_or(body, "node", "its node"), tunnel)};
}

View list_view(std::string_view route, std::string_view empty) {
  return {.route = route,
          .tables = {{"",
                      "/items",
                      {{"NAME", "/name"},
                       {"STATE", "/state"},
                       {"CLUSTER", "/cluster"},
                       {"JOB", "/job", Show::text, 4},
                       {"PROFILE", "/hardware_profile", Show::text, 2},
                       {"NODES", "/nodes", Show::list, 5},
                       {"BY", "/created_by", Show::text, 3},
                       {"AGE", "/created_at", Show::age, 1}}}},
          .empty = empty};
}

View launch_view(std::string_view route) {
  return {.route = route, .headline = launch_headline, .below = launch_below};
}

}  // namespace

std::vector<View> launch_views() {
  std::vector<View> views = {
      list_view("workbench.list", "No workbenches yet: exa workbench create NAME"),
      list_view("pipeline.list", "No training runs yet: exa pipeline run --model NAME"),
      list_view("serving.list", "No services yet: exa serving deploy NAME"),
      {.route = "serving.render", .headline = services_headline, .below = services_below},
      {.route = "serving.logs", .headline = logs_headline, .below = logs_below},
      {.route = "workbench.logs", .headline = logs_headline, .below = logs_below},
      {.route = "pipeline.logs", .headline = logs_headline, .below = logs_below},
      {.route = "workbench.open", .headline = address_headline, .below = address_below}};
  for (const std::string_view route :
       {"workbench.create", "workbench.show", "workbench.start", "workbench.stop",
        "workbench.resize", "workbench.delete", "pipeline.run", "pipeline.distributed_launch",
        "pipeline.show", "pipeline.wait", "pipeline.cancel", "pipeline.delete", "serving.deploy",
        "serving.show", "serving.scale", "serving.delete"})
    views.push_back(launch_view(route));
  return views;
}

}  // namespace exa
