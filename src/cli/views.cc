#include "cli/views.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "base/time.h"
#include "cli/view_parts.h"

namespace exa {
namespace {

std::string counted(const json::value* number, std::string_view thing) {
  if (number == nullptr) return fmt::format("? {}s", thing);
  const std::string text = to_text(*number);
  return fmt::format("{} {}{}", text, thing, text == "1" ? "" : "s");
}

std::string versioned(const json::value& body) {
  const std::string name(text_or(body, "name", "?"));
  const json::value* version = find(body, "version");
  if (version == nullptr || version->is_null()) return name;
  return fmt::format("{}@{}", name, to_text(*version));
}

std::string set_headline(const json::value& body) {
  std::vector<std::string> labels;
  if (const json::value* list = find(body, "labels"); list != nullptr && list->is_array()) {
    for (const json::value& label : list->get_array()) {
      if (label.is_string()) labels.emplace_back(label.get_string());
    }
  }
  return fmt::format("{} set{}", versioned(body),
                     labels.empty() ? "" : fmt::format(" ({})", join(labels, ", ")));
}

std::string resolve_headline(const json::value& body) {
  const std::string_view target = text_or(body, "target", "");
  const std::string_view reason = text_or(body, "reason", "");
  return fmt::format("{}{}{}: {}{}{}", versioned(body), target.empty() ? "" : " on ", target,
                     text_or(body, "status", "?"), reason.empty() ? "" : " - ", reason);
}

std::string fits_now_text(const json::value& now) {
  const json::value* fits = find(now, "fits");
  const json::value* unknown = find(now, "nodes_unknown");
  if (fits == nullptr || !fits->is_bool()) {
    const bool silent = unknown != nullptr && to_text(*unknown) != "0";
    return silent ? fmt::format("unknown ({} not saying what is free)", counted(unknown, "node"))
                  : "unknown";
  }
  if (!fits->get_bool()) return "no";
  return fmt::format("yes ({} with room)", counted(find(now, "nodes"), "node"));
}

// Whether it fits now, what the answer rests on, and what else was noticed there.
std::vector<std::string> resolve_below(const json::value& body) {
  std::vector<std::string> facts;
  const json::value* now = find(body, "fits_now");
  if (now != nullptr && now->is_object()) facts.push_back("fits now: " + fits_now_text(*now));
  const json::value* snapshot = find(body, "snapshot");
  const json::value* age = snapshot == nullptr ? nullptr : find(*snapshot, "age_seconds");
  if (age != nullptr && age->is_int64()) {
    const std::string_view as_of = text_or(*snapshot, "as_of", "");
    if (!as_of.empty()) facts.push_back(fmt::format("as of {}, not of now", as_of));
    facts.push_back(fmt::format("snapshot {}, {} old", text_or(*snapshot, "id", "?"),
                                format_age(seconds(age->get_int64()))));
  }
  std::vector<std::string> lines;
  if (!facts.empty()) lines.push_back(join(facts, "; "));
  const json::value* remarks = find(body, "remarks");
  if (remarks == nullptr || !remarks->is_array()) return lines;
  for (const json::value& remark : remarks->get_array()) {
    if (remark.is_string()) lines.push_back("remark: " + std::string(remark.get_string()));
  }
  return lines;
}

// "verified on 3, unresolvable on 2: exa hardware profile show small@4"
std::string status_summary(const json::value& body) {
  const json::value* list = find(body, "resolutions");
  std::vector<std::string> parts;
  for (const auto& [status, count] : count_statuses(list == nullptr ? json::value() : *list)) {
    parts.push_back(fmt::format("{} on {}", status, count));
  }
  return fmt::format("{}: exa hardware profile show {}", join(parts, ", "), versioned(body));
}

std::string label_headline(const json::value& body) {
  return fmt::format("{} is now {}", text_or(body, "label", "?"), versioned(body));
}

std::string deprecate_headline(const json::value& body) {
  const json::value* retired = find(body, "deprecated");
  const bool undone = retired != nullptr && retired->is_bool() && !retired->get_bool();
  const std::string_view redirect = text_or(body, "redirect", "");
  if (undone) return versioned(body) + " is no longer retired";
  return fmt::format("{} is retired{}{}", versioned(body), redirect.empty() ? "" : "; use ",
                     redirect);
}

std::string delete_headline(const json::value& body) {
  std::vector<std::string> numbers;
  if (const json::value* list = find(body, "deleted_versions");
      list != nullptr && list->is_array()) {
    for (const json::value& number : list->get_array()) numbers.push_back(to_text(number));
  }
  return fmt::format("{}: version{} {} deleted", text_or(body, "name", "?"),
                     numbers.size() == 1 ? "" : "s", join(numbers, ", "));
}

std::string add_headline(const json::value& body) {
  return fmt::format("{} ({}) added", text_or(body, "name", "?"), text_or(body, "kind", "?"));
}

std::string discover_headline(const json::value& body) {
  const json::value* snapshot = find(body, "snapshot");
  const json::value* capacity = snapshot == nullptr ? nullptr : find(*snapshot, "capacity");
  if (capacity == nullptr) return "";
  const json::value* nodes = find(*capacity, "nodes");
  const json::value* usable = find(*capacity, "usable_nodes");
  const std::string_view version = text_or(body, "tool_version", "");
  return fmt::format("{}: {}, {} usable, as {}{}{} tells; snapshot {}", text_or(body, "name", "?"),
                     counted(nodes, "node"), usable == nullptr ? "?" : to_text(*usable),
                     text_or(body, "tool", "?"), version.empty() ? "" : " ", version,
                     text_or(*snapshot, "id", "?"));
}

std::string use_headline(const json::value& body) {
  return fmt::format("{}/{} runs on {}", text_or(body, "kind", "?"), text_or(body, "name", "?"),
                     text_or(body, "profile", "?"));
}

std::string release_headline(const json::value& body) {
  return fmt::format("{}/{} ended; it ran on {}", text_or(body, "kind", "?"),
                     text_or(body, "name", "?"), text_or(body, "profile", "?"));
}

std::string remove_headline(const json::value& body) {
  return fmt::format("{} removed", text_or(body, "name", "?"));
}

std::string diff_headline(const json::value& body) {
  const json::value* same = find(body, "same");
  const bool equal = same != nullptr && same->is_bool() && same->get_bool();
  return equal ? fmt::format("{} and {} ask for the same", text_or(body, "from", "?"),
                             text_or(body, "to", "?"))
               : "";
}

std::string verify_headline(const json::value& body) {
  const json::value* ok = find(body, "ok");
  const bool good = ok != nullptr && ok->is_bool() && ok->get_bool();
  return fmt::format("{}: {}", good ? "verified" : "broken", text_or(body, "sentence", "?"));
}

const std::vector<ViewColumn> kShape = {
    {"ACCEL", "/accelerator_family", Show::text, 1},
    {"GPU", "/gpu_count", Show::text, 1},
    {"MODEL", "/accelerator_model_hint", Show::text, 3},
    {"CPU", "/cpu", Show::text, 2},
    {"GIB", "/memory_gb", Show::text, 2},
    {"NODES", "/nodes", Show::text, 4},
    {"FRACTION", "/gpu_fraction", Show::text, 7, true},
    {"MIG", "/mig_profile", Show::text, 7, true},
    {"DRIVER", "/driver_tag", Show::text, 7, true},
    {"RUNTIME", "/runtime_tag", Show::text, 7, true},
};

std::vector<ViewColumn> shape_between(std::vector<ViewColumn> first,
                                      const std::vector<ViewColumn>& last) {
  first.insert(first.end(), kShape.begin(), kShape.end());
  first.insert(first.end(), last.begin(), last.end());
  return first;
}

// Counts of devices, the same wherever a snapshot is shown.
const ViewTable kDevices = {"devices",
                            "/snapshot/capacity/devices",
                            {{"MODEL", "/model"},
                             {"FAMILY", "/family"},
                             {"SHARING", "/sharing", Show::text, 2},
                             {"MIG", "/mig_profile", Show::text, 2},
                             {"PHYSICAL", "/physical", Show::text, 4},
                             {"UNITS", "/units"},
                             {"USABLE", "/usable"},
                             {"FREE", "/free"},
                             {"STRANDED", "/stranded", Show::text, 4},
                             {"NODES", "/nodes", Show::text, 1}}};

const ViewTable kNodes = {"nodes",
                          "/inventory/nodes",
                          {{"NAME", "/name"},
                           {"HEALTH", "/health"},
                           {"CPU", "/cpu_milli", Show::milli},
                           {"CPU-FREE", "/cpu_free_milli", Show::milli, 5},
                           {"MEMORY", "/memory_bytes", Show::bytes, 3},
                           {"FREE", "/memory_free_bytes", Show::bytes, 5},
                           {"GPU", "/cards", Show::devices, 2},
                           {"ACCEL", "/cards/0/family", Show::text, 4},
                           {"MODEL", "/cards/0/model|/cards/0/reported", Show::text, 2},
                           {"PARTITIONS", "/partitions", Show::list, 4},
                           sentence("REASON", "/reason")}};

const std::vector<ViewColumn> kVerdicts = {{"FIELD", "/field"},
                                           {"CLAIMED", "/claimed", Show::list},
                                           {"VERDICT", "/verdict"},
                                           sentence("OBSERVED", "/observed", Show::list)};

const std::vector<ViewColumn> kMissing = {{"DIMENSION", "/dimension"},
                                          {"ASKED", "/asked_total|/asked"},
                                          {"TOTAL", "/total", Show::short_number},
                                          {"LARGEST-NODE", "/largest", Show::short_number, 1},
                                          sentence("NOTE", "/note")};

std::string import_headline(const json::value& body) {
  const json::value* profile = find(body, "profile");
  if (profile != nullptr && profile->is_object()) return set_headline(*profile);
  return fmt::format("As {} this says:", text_or(body, "vocabulary", ""));
}

// What it said, and what it left open; made into a profile, that stands there.
std::vector<std::string> import_below(const json::value& body) {
  const json::value* profile = find(body, "profile");
  if (profile != nullptr && profile->is_object()) return {};
  std::vector<std::string> lines;
  const json::value* fields = find(body, "fields");
  const json::value* open = find(body, "open");
  if (fields == nullptr || open == nullptr || !fields->is_object() || !open->is_array()) return {};
  for (const auto& field : fields->get_object()) {
    const json::value& value = field.value();
    lines.push_back(
        fmt::format("  {}: {}", std::string_view(field.key()),
                    value.is_string() ? std::string(value.get_string()) : to_text(value)));
  }
  for (const json::value& field : open->get_array())
    lines.push_back(fmt::format("  {}: not said", std::string_view(field.get_string())));
  return lines;
}

std::vector<View> profile_views() {
  return {
      {.route = "hardware_profile.list",
       .tables = {{"", "/items",
                   shape_between({{"NAME", "/name"}, {"VER", "/version"}},
                                 {{"FOR", "/applicability", Show::list, 6},
                                  {"STATUS", "/resolutions|/note", Show::statuses},
                                  {.header = "RETIRED-FOR",
                                   .pointer = "/deprecated/redirect",
                                   .drop = 2,
                                   .when_any = true},
                                  {"LABELS", "/labels|/other_labels", Show::list, 5, true},
                                  {"BY", "/created_by", Show::text, 7, true},
                                  {"AGE", "/created_at", Show::age, 1}})}},
       .empty = "No profiles yet. Create one: exa hardware profile set NAME --accelerator-family "
                "nvidia --gpu 1"},
      {.route = "hardware_profile.set",
       .headline = set_headline,
       .tables = {{"",
                   "/resolutions",
                   {{"CLUSTER", "/cluster"},
                    {"STATUS", "/status"},
                    sentence("UNCONFIRMED", "/unconfirmed", Show::list),
                    sentence("REASON", "/reason")},
                   5,
                   status_summary}}},
      {.route = "hardware_profile.render", .prints = "text"},
      {.route = "hardware_profile.import", .headline = import_headline, .below = import_below},
      {.route = "hardware_profile.use", .headline = use_headline},
      {.route = "hardware_profile.release", .headline = release_headline},
      {.route = "hardware_profile.show",
       .tables = {{"resolutions",
                   "/resolutions",
                   {{"CLUSTER", "/cluster"},
                    {"STATUS", "/status"},
                    sentence("UNCONFIRMED", "/unconfirmed", Show::list),
                    sentence("REASON", "/reason"),
                    {"SEEN", "/snapshot_taken_at", Show::age, 1}}},
                  {"here", "/resolution/verdicts", kVerdicts},
                  {"missing", "/resolution/missing", kMissing}},
       .hidden = {"/resolution/resources", "/resolution/unconfirmed", "/resolution/nodes"},
       .record = true},
      {.route = "hardware_profile.resolve",
       .headline = resolve_headline,
       .below = resolve_below,
       .tables = {{"", "/verdicts|/fields", kVerdicts}, {"missing", "/missing", kMissing}},
       .wraps = true},
      {.route = "hardware_profile.delete",
       .headline = delete_headline,
       .tables = {{"consumers",
                   "/consumers",
                   {{"NAME", "/name"},
                    {"KIND", "/kind"},
                    {"PROFILE", "/profile"},
                    {"EFFECT", "/effect"}}}}},
      {.route = "hardware_profile.label", .headline = label_headline},
      {.route = "hardware_profile.deprecate", .headline = deprecate_headline},
      {.route = "hardware_profile.history",
       .tables = {{"", "/items",
                   shape_between({{"VER", "/version"}, {"LABELS", "/labels", Show::list}},
                                 {{"BY", "/created_by", Show::text, 3},
                                  {"DELETED", "/deleted_at", Show::age, 2},
                                  {"AGE", "/created_at", Show::age, 1}})},
                  {"label moves",
                   "/label_moves",
                   {{"LABEL", "/label"},
                    {"FROM", "/from_version"},
                    {"TO", "/to_version"},
                    {"BY", "/moved_by", Show::text, 2},
                    {"AGE", "/moved_at", Show::age, 1}}}}},
      {.route = "hardware_profile.diff",
       .headline = diff_headline,
       .tables = {{"",
                   "/items",
                   {{"FIELD", "/field"},
                    {"BEFORE", "/before", Show::list},
                    {"AFTER", "/after", Show::list},
                    {"CHANGES-THE-ASK", "/changes_the_ask", Show::yes_no, 1}}}}},
      {.route = "hardware_profile.in_use",
       .tables = {{"",
                   "/items",
                   {{"NAME", "/name"},
                    {"KIND", "/kind"},
                    {"PROFILE", "/profile"},
                    {"CLUSTER", "/cluster", Show::text, 3},
                    {"STATUS", "/status"},
                    {"DRIFT", "/drift", Show::text, 2},
                    {"DETAIL", "/drift_detail", Show::text, 5},
                    sentence("REASON", "/reason", Show::text, true),
                    {"AGE", "/since", Show::age, 1}}}},
       .empty = "Nothing runs on a profile that exa knows of. Record it: exa hardware profile use "
                "NAME --for workbench --as ITS-NAME"},
  };
}

// The shape is in the name; why it is proposed is what there is to read.
const std::vector<ViewColumn> kSuggested = {{"NAME", "/name"},
                                            {"GPU", "/gpu_count", Show::text, 2},
                                            {"MIG", "/mig_profile", Show::text, 5},
                                            {"CPU", "/cpu", Show::text, 3},
                                            {"GIB", "/memory_gb", Show::text, 3},
                                            sentence("WHY", "/why")};

std::vector<View> other_views() {
  return {
      {.route = "hardware_profile.suggest",
       .tables = {{"", "/items", kSuggested},
                  {"profiles that no node there can hold",
                   "/never_fits",
                   {{"NAME", "/name"}, {"VER", "/version"}, sentence("REASON", "/reason")}}},
       .empty = "Nothing to suggest. Look at it first: exa cluster discover NAME"},
      {.route = "cluster.list",
       .tables = {{"",
                   "/items",
                   {{"NAME", "/name"},
                    {"KIND", "/kind"},
                    {"NODES", "/snapshot/capacity/nodes"},
                    {"USABLE", "/snapshot/capacity/usable_nodes"},
                    {"SOURCE", "/snapshot/source", Show::text, 3},
                    {"STALE", "/snapshot/stale", Show::yes_no, 2},
                    {"SEEN", "/snapshot/taken_at", Show::age},
                    {"PROBLEM", "/last_failure/code", Show::text, 4},
                    {"AGE", "/created_at", Show::age, 1}}}},
       .empty = "No clusters yet. Register this machine: exa cluster add here --kind host"},
      {.route = "cluster.show",
       .tables = {kDevices, kNodes},
       .hidden = {"/inventory"},
       .record = true},
      {.route = "cluster.discover", .headline = discover_headline, .tables = {kDevices}},
      {.route = "cluster.add", .headline = add_headline},
      {.route = "cluster.remove", .headline = remove_headline},
      {.route = "cluster.capture", .verbatim = true},
      {.route = "audit.list",
       .tables = {{"",
                   "/items",
                   {{"INDEX", "/index"},
                    {"ACTION", "/action"},
                    {"OBJECT", "/object_name"},
                    {"PROJECT", "/project", Show::text, 4},
                    {"OUTCOME", "/outcome"},
                    {"ERROR", "/error_code", Show::text, 3},
                    {"BY", "/actor_name", Show::text, 2},
                    {"ORIGIN", "/origin", Show::text, 6, true},
                    sentence("REASON", "/reason", Show::text, true),
                    {"AGE", "/time", Show::age, 1}}}},
       .empty = "The log is empty: nothing was changed yet."},
      {.route = "audit.verify",
       .headline = verify_headline,
       .hidden = {"/ok", "/sentence", "/first_bad_index", "/last_bad_index"},
       .record = true,
       .wraps = true},
      {.route = "audit.export", .verbatim = true},
      {.route = "project.list",
       .tables = {{"",
                   "/items",
                   {{"NAME", "/name"},
                    {"PROFILES", "/profiles"},
                    {"BY", "/created_by", Show::text, 2},
                    {"AGE", "/created_at", Show::age, 1}}}}},
      {.route = "local.commands",
       .tables = {{"",
                   "/items",
                   {{"COMMAND", "/name"}, {"TIER", "/tier"}, sentence("SUMMARY", "/summary")}}}},
      {.route = "local.help_error",
       .tables = {{"",
                   "/items",
                   {{"CODE", "/name"},
                    {"EXIT", "/exit_code"},
                    {"HTTP", "/http_status", Show::text, 1},
                    {"TITLE", "/title"}}}}},
  };
}

std::vector<View> all_views() {
  std::vector<View> views = profile_views();
  for (View& view : other_views()) views.push_back(std::move(view));
  for (View& view : placement_views()) views.push_back(std::move(view));
  for (View& view : server_views()) views.push_back(std::move(view));
  for (View& view : launch_views()) views.push_back(std::move(view));
  for (View& view : instance_views()) views.push_back(std::move(view));
  for (View& view : compute_views()) views.push_back(std::move(view));
  for (View& view : catalogue_views()) views.push_back(std::move(view));
  for (View& view : template_views()) views.push_back(std::move(view));
  return views;
}

}  // namespace

std::vector<std::pair<std::string, size_t>> count_statuses(const json::value& resolutions) {
  constexpr std::array<std::string_view, 4> kWorstFirst = {"unresolvable", "degraded", "unchecked",
                                                           "verified"};
  std::vector<std::pair<std::string, size_t>> counts;
  if (!resolutions.is_array()) return counts;
  for (const json::value& resolution : resolutions.get_array()) {
    const std::string status(text_or(resolution, "status", "?"));
    const auto known =
        std::ranges::find(counts, status, [](const auto& pair) { return pair.first; });
    if (known == counts.end())
      counts.emplace_back(status, 1);
    else
      ++known->second;
  }
  std::ranges::stable_sort(counts, {}, [&](const auto& pair) {
    return std::ranges::find(kWorstFirst, pair.first) - kWorstFirst.begin();
  });
  return counts;
}

const View* find_view(std::string_view route) {
  static const std::vector<View> views = all_views();
  const auto found = std::ranges::find(views, route, &View::route);
  return found == views.end() ? nullptr : &*found;
}

}  // namespace exa
