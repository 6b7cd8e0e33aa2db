// How instances of the catalogue are shown.
#include <fmt/format.h>

#include "base/text.h"
#include "cli/view_parts.h"

namespace exa {
namespace {

bool is_true(const json::value& body, std::string_view key) {
  const json::value* value = find(body, key);
  return value != nullptr && value->is_bool() && value->get_bool();
}

std::string shown_value(const json::value& value) {
  return value.is_string() ? std::string(value.get_string()) : to_text(value);
}

// "2.5 USD"; empty: it is not known.
std::string money_text(const json::value& body, std::string_view key) {
  const json::value* money = find(body, key);
  if (money == nullptr || !money->is_object()) return "";
  const json::value* amount = find(*money, "amount");
  return fmt::format("{} {}", amount == nullptr ? "" : to_text(*amount),
                     text_or(*money, "currency", ""));
}

std::string profile_text(const json::value& body) {
  const json::value* profile = find(body, "compute_profile");
  if (profile == nullptr || !profile->is_object()) return "";
  const json::value* version = find(*profile, "version");
  const bool own = text_or(*profile, "project", "") == text_or(body, "project", "");
  return fmt::format("{}{}@{}", own ? "" : fmt::format("{}/", text_or(*profile, "project", "")),
                     text_or(*profile, "name", ""), version == nullptr ? "" : to_text(*version));
}

// "instance nb running: small@3 of ada"
std::string instance_headline(const json::value& body) {
  std::string line = fmt::format("instance {} {}: {} of {}", text_or(body, "name", ""),
                                 is_true(body, "deleted") ? "deleted" : text_or(body, "state", ""),
                                 profile_text(body), text_or(body, "owner", ""));
  const std::string_view reason = text_or(body, "reason", "");
  if (!reason.empty()) line += fmt::format("; {}", first_line_of(std::string(reason)));
  return line;
}

void add(std::vector<std::string>& lines, std::string_view word, std::string_view text) {
  if (!text.empty()) lines.push_back(fmt::format("{:<10} {}", word, text));
}

std::string schedule_text(const json::value& body) {
  const json::value* schedule = find(body, "schedule");
  if (schedule == nullptr || !schedule->is_object()) return "";
  std::vector<std::string> parts;
  for (const std::string_view key : {"start", "stop"})
    if (const std::string_view cron = text_or(*schedule, key, ""); !cron.empty())
      parts.push_back(fmt::format("{} {}", key, cron));
  return fmt::format("{} ({})", join(parts, ", "), text_or(*schedule, "time_zone", ""));
}

void add_inputs(std::vector<std::string>& lines, const json::value& body) {
  const json::value* inputs = find(body, "inputs");
  if (inputs == nullptr || !inputs->is_object()) return;
  for (const auto& member : inputs->get_object()) {
    const json::value* value = find(member.value(), "value");
    const std::string_view label = text_or(member.value(), "label", "");
    add(lines, "input",
        fmt::format("{}: {}{}", std::string_view(member.key()),
                    value == nullptr ? "" : shown_value(*value),
                    label.empty() ? "" : fmt::format(" ({})", label)));
  }
}

void add_outputs(std::vector<std::string>& lines, const json::value& body) {
  const json::value* outputs = find(body, "outputs");
  if (outputs != nullptr && outputs->is_object())
    for (const auto& member : outputs->get_object())
      add(lines, "output",
          fmt::format("{}: {}", std::string_view(member.key()), shown_value(member.value())));
  const json::value* secret = find(body, "secret_outputs");
  if (secret != nullptr && secret->is_array())
    for (const json::value& name : secret->get_array())
      add(lines, "output", fmt::format("{}: ********", shown_value(name)));
}

std::vector<std::string> instance_below(const json::value& body) {
  std::vector<std::string> lines;
  const std::string price = money_text(body, "price_per_hour");
  const std::string cost = money_text(body, "cost");
  const json::value* hours = find(body, "hours");
  add(lines, "price", price.empty() ? "not known" : price + " an hour");
  if (hours != nullptr && to_text(*hours) != "0")
    add(lines, "ran",
        fmt::format("{} hours{}", to_text(*hours), cost.empty() ? "" : ", for " + cost));
  add(lines, "placed",
      text_or(body, "pool", "").empty() ? text_or(body, "cluster", "") : text_or(body, "pool", ""));
  add(lines, "ends",
      text_or(body, "expires_at", "").empty()
          ? std::string()
          : fmt::format("{} ({})", text_or(body, "expires_at", ""), text_or(body, "at_end", "")));
  add(lines, "schedule", schedule_text(body));
  add_inputs(lines, body);
  add_outputs(lines, body);
  const json::value* newer = find(body, "newer_version");
  if (newer != nullptr && newer->is_object()) {
    const json::value* version = find(*newer, "version");
    add(lines, "newer",
        fmt::format("version {}: {}", version == nullptr ? "" : to_text(*version),
                    text_or(*newer, "text", "")));
  }
  return lines;
}

std::string limits_headline(const json::value& body) {
  return fmt::format("instances of project {}: above a limit {}", text_or(body, "project", ""),
                     text_or(body, "above", "") == "approve" ? "an admin decides" : "is refused");
}

std::vector<std::string> limits_below(const json::value& body) {
  std::vector<std::string> lines;
  for (const std::string_view key : {"instances", "instances_per_user"}) {
    const json::value* most = find(body, key);
    lines.push_back(fmt::format("{:<24} {}", key,
                                most == nullptr || most->is_null() ? "none" : to_text(*most)));
  }
  for (const std::string_view key : {"price_per_hour", "price_per_hour_per_user"}) {
    const std::string most = money_text(body, key);
    lines.push_back(fmt::format("{:<24} {}", key, most.empty() ? "none" : most));
  }
  const std::string_view life = text_or(body, "time_to_live", "");
  lines.push_back(fmt::format("{:<24} {}", "time_to_live", life.empty() ? "none" : life));
  return lines;
}

View instance_view(std::string_view route) {
  return {.route = route, .headline = instance_headline, .below = instance_below};
}

}  // namespace

std::vector<View> instance_views() {
  const std::vector<ViewColumn> outputs = {
      {"NAME", "/name"}, {"VALUE", "/value"}, sentence("IS", "/description|/label")};
  std::vector<View> views = {
      {.route = "instance.list",
       .tables = {{"",
                   "/items",
                   {{"NAME", "/name"},
                    {"STATE", "/state"},
                    {"PROFILE", "/compute_profile/name"},
                    {"VER", "/compute_profile/version", Show::text, 3},
                    {"OWNER", "/owner", Show::text, 2},
                    {"$/H", "/price_per_hour/amount", Show::cost, 1},
                    {"HOURS", "/hours", Show::short_number, 4},
                    {"COST", "/cost/amount", Show::cost, 4},
                    {"ENDS", "/expires_at", Show::text, 6, true},
                    sentence("WHY", "/reason", Show::text),
                    {"AGE", "/created_at", Show::age, 5}}}},
       .empty = "None yet: exa compute-profile list shows what can be launched"},
      {.route = "instance.offers",
       .tables = {{"",
                   "/items",
                   {{"NAME", "/name"},
                    {"DISPLAY", "/display_name", Show::text, 3},
                    {"VER", "/version", Show::text, 4},
                    {"$/H", "/price_per_hour/amount", Show::cost},
                    {"FITS", "/fits", Show::yes_no},
                    {"POOL", "/pool", Show::text, 2},
                    sentence("WHY", "/why"),
                    sentence("LIMITS", "/above_limits", Show::list)}}},
       .empty = "Nothing is published here yet"},
      {.route = "instance.outputs",
       .tables = {{"", "/items", outputs}},
       .empty = "Its compute profile shows nothing"},
      {.route = "instance.reveal",
       .tables = {{"", "/items", outputs}},
       .empty = "Its compute profile shows nothing"},
      {.route = "instance.logs", .headline = logs_headline, .below = logs_below},
      {.route = "instance.limits_show", .headline = limits_headline, .below = limits_below},
      {.route = "instance.limits_set", .headline = limits_headline, .below = limits_below}};
  for (const std::string_view route :
       {"instance.launch", "instance.show", "instance.stop", "instance.start", "instance.extend",
        "instance.schedule", "instance.approve", "instance.reject", "instance.delete"})
    views.push_back(instance_view(route));
  return views;
}

}  // namespace exa
