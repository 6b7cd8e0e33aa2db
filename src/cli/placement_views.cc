// How pools, engines, decisions, bursts and leases are shown as tables.
#include <fmt/format.h>

#include "base/text.h"
#include "cli/view_parts.h"

namespace exa {
namespace {

std::string first_line(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

void append_texts(const json::value* list, std::string_view before,
                  std::vector<std::string>& lines) {
  if (list == nullptr || !list->is_array()) return;
  for (const json::value& text : list->get_array()) {
    if (text.is_string()) lines.push_back(std::string(before) + std::string(text.get_string()));
  }
}

std::string decision_headline(const json::value& body) {
  return first_line(text_or(body, "text", ""));
}

// "would fit on hpc-nvidia: --gpus 4"
void append_near_misses(const json::value& rejection, std::vector<std::string>& lines) {
  const json::value* misses = find(rejection, "near_misses");
  if (misses == nullptr || !misses->is_array()) return;
  for (const json::value& miss : misses->get_array()) {
    std::vector<std::string> changes;
    append_texts(find(miss, "changes"), "", changes);
    lines.push_back(
        fmt::format("would fit on {}: {}", text_or(miss, "pool", "?"), join(changes, ", ")));
  }
}

std::string price_line(const json::value& placement) {
  const json::value* cost = find(placement, "cost_of_ask_per_hour");
  const json::value* carbon = find(placement, "carbon_factor");
  std::string line = "cost unknown";
  if (cost != nullptr && cost->is_number()) {
    line = fmt::format("cost {} {} an hour", to_text(*cost), text_or(placement, "currency", "USD"));
  }
  if (carbon != nullptr && carbon->is_number()) {
    line += fmt::format(", carbon {} g an hour for each device{}", to_text(*carbon),
                        text_or(placement, "carbon_source", "") == "estimate" ? " (estimate)" : "");
  } else {
    line += ", carbon unknown";
  }
  return line;
}

std::vector<std::string> decision_below(const json::value& body) {
  std::vector<std::string> lines;
  const std::string_view text = text_or(body, "text", "");
  const size_t more = text.find('\n');
  if (more != std::string_view::npos) {
    for (const std::string_view line : split(text.substr(more + 1), '\n')) lines.emplace_back(line);
  }
  const json::value* placement = find(body, "placement");
  const bool of_pool = placement != nullptr && !text_or(*placement, "pool", "").empty();
  if (of_pool) {
    lines.push_back("  " + price_line(*placement));
    append_texts(find(*placement, "remarks"), "  ", lines);
  }
  const json::value* lease = find(body, "lease");
  if (lease != nullptr && lease->is_object()) {
    lines.push_back(fmt::format("  reserved until {}: lease {}", text_or(*lease, "expires_at", "?"),
                                text_or(*lease, "id", "?")));
  }
  const json::value* permit = find(body, "permit");
  if (permit != nullptr && permit->is_object()) {
    lines.push_back(fmt::format("  permit {} for one launch, until {}", text_or(*permit, "id", "?"),
                                text_or(*permit, "expires_at", "?")));
  }
  const json::value* rejection = find(body, "rejection");
  if (rejection != nullptr && rejection->is_object()) append_near_misses(*rejection, lines);
  return lines;
}

std::string pool_headline(const json::value& body) {
  return fmt::format("{} {}", text_or(body, "name", "?"),
                     find(body, "created") != nullptr && find(body, "created")->is_bool() &&
                             find(body, "created")->get_bool()
                         ? "registered"
                         : "changed");
}

std::string drain_headline(const json::value& body) {
  const json::value* drained = find(body, "drained");
  const bool is = drained != nullptr && drained->is_bool() && drained->get_bool();
  return fmt::format("{} {}", text_or(body, "name", "?"),
                     is ? "is drained: it takes nothing new" : "takes work again");
}

std::string portable_headline(const json::value& body) {
  const json::value* runs = find(body, "portable");
  if (runs != nullptr && runs->is_bool() && runs->get_bool()) {
    return fmt::format("engine '{}' runs on {} (backend {})", text_or(body, "engine", "?"),
                       text_or(body, "accelerator", "?"), text_or(body, "needs", "?"));
  }
  return std::string(text_or(body, "reason", "it does not run there"));
}

std::string removed_headline(const json::value& body) {
  return fmt::format("{} removed", text_or(body, "name", "?"));
}

std::string engine_headline(const json::value& body) {
  std::vector<std::string> backends;
  append_texts(find(body, "backends"), "", backends);
  return fmt::format("{} runs on {}", text_or(body, "name", "?"), join(backends, ", "));
}

std::string lease_headline(const json::value& body) {
  return fmt::format("lease {} of {} on {}: {}", text_or(body, "id", "?"),
                     text_or(body, "workload", "?"), text_or(body, "pool", "?"),
                     text_or(body, "state", "?"));
}

std::string region_headline(const json::value& body) {
  return fmt::format("{} lies in {}", text_or(body, "region", "?"),
                     text_or(body, "jurisdiction", "no known jurisdiction"));
}

std::string project_label_headline(const json::value& body) {
  const std::string_view residency = text_or(body, "residency", "");
  return residency.empty()
             ? fmt::format("{} has no label any more", text_or(body, "project", "?"))
             : fmt::format("data of {} is {}", text_or(body, "project", "?"), residency);
}

const std::vector<ViewColumn> kCandidates = {{"POOL", "/pool"},
                                             {"OUTCOME", "/outcome"},
                                             {"DEVICE", "/accelerator", Show::text, 3},
                                             {"REGION", "/region", Show::text, 4},
                                             {"FREE", "/free", Show::text, 2},
                                             {"TOTAL", "/total", Show::text, 5},
                                             {"COST/H", "/cost_of_ask_per_hour", Show::text, 1},
                                             sentence("WHY", "/text")};

const std::vector<ViewColumn> kLeases = {{"ID", "/id"},
                                         {"WORKLOAD", "/workload"},
                                         {"POOL", "/pool"},
                                         {"DEVICES", "/devices", Show::text, 1},
                                         {"HELD", "/held", Show::text, 4},
                                         {"STATE", "/state", Show::text, 2},
                                         {"BY", "/taken_by", Show::text, 5},
                                         {"AGE", "/taken_at", Show::age, 3}};

// The keys that a sum is by come first, those that were asked for.
std::vector<ViewColumn> sums(std::vector<ViewColumn> amounts) {
  std::vector<ViewColumn> columns;
  constexpr std::pair<std::string_view, std::string_view> kKeys[] = {
      {"PROJECT", "/project"}, {"WORKLOAD", "/workload"}, {"PROFILE", "/profile"},
      {"DEVICE", "/device"},   {"REGION", "/region"},     {"POOL", "/pool"}};
  for (const auto& [header, pointer] : kKeys) {
    columns.push_back({.header = header, .pointer = pointer, .when_any = true});
  }
  columns.push_back({"RUNS", "/runs", Show::text, 4});
  columns.push_back({"DEVICE-HOURS", "/device_hours", Show::short_number, 2});
  columns.insert(columns.end(), amounts.begin(), amounts.end());
  return columns;
}

const std::vector<ViewColumn> kCost = {{"COST", "/cost", Show::cost},
                                       {"CURRENCY", "/currency", Show::text, 1},
                                       {"PRICE-SET", "/price_set", Show::yes_no, 3}};
const std::vector<ViewColumn> kCarbon = {{"CARBON-G", "/carbon_g", Show::short_number},
                                         {"ESTIMATE", "/carbon_estimate", Show::yes_no, 1}};
constexpr std::string_view kNothingRan =
    "Nothing ran yet that exa knows of: exa hardware place NAME --reserve";

std::vector<View> pool_views() {
  return {
      {.route = "pool.list",
       .tables = {{"",
                   "/items",
                   {{"NAME", "/name"},
                    {"TARGET", "/target", Show::text, 2},
                    {"ACCEL", "/accelerator"},
                    {"MODEL", "/model", Show::text, 6},
                    {"COUNT", "/total"},
                    {"FREE", "/free"},
                    {"REGION", "/region", Show::text, 1},
                    {"COST/H", "/cost_per_hour", Show::text, 1},
                    {"CARBON-G/H", "/carbon_factor", Show::text, 5},
                    {"CLUSTER", "/cluster", Show::text, 4},
                    {.header = "DRAINED", .pointer = "/drain_reason|/drained", .drop = 2},
                    {"AGE", "/updated_at", Show::age, 3}}}},
       .empty = "No pools yet. Register one: exa hardware add-pool NAME --accelerator nvidia "
                "--count 8"},
      {.route = "pool.show",
       .tables = {{"nodes",
                   "/nodes",
                   {{"NODES", "/nodes"},
                    {"DEVICES", "/devices"},
                    {"FREE", "/free"},
                    {"CPU", "/cpu_milli", Show::milli},
                    {"CPU-FREE", "/cpu_free_milli", Show::milli},
                    {"MEMORY", "/memory_bytes", Show::bytes},
                    {"MEMORY-FREE", "/memory_free_bytes", Show::bytes}}},
                  {"leases", "/leases", kLeases}},
       .record = true},
      {.route = "pool.add", .headline = pool_headline},
      {.route = "pool.drain", .headline = drain_headline},
      {.route = "pool.remove", .headline = removed_headline},
      {.route = "engine.list",
       .tables = {{"",
                   "/items",
                   {{"NAME", "/name"},
                    {"BACKENDS", "/backends", Show::list},
                    {"ACCELERATORS", "/accelerators", Show::list, 1},
                    {"SHIPPED", "/shipped", Show::yes_no, 2}}}}},
      {.route = "engine.add", .headline = engine_headline},
      {.route = "engine.remove", .headline = removed_headline},
      {.route = "engine.portable", .headline = portable_headline},
  };
}

}  // namespace

std::vector<View> placement_views() {
  std::vector<View> views = pool_views();
  const std::vector<ViewTable> candidates = {{"candidates", "/candidates", kCandidates},
                                             {"nodes that could not be judged",
                                              "/left_out",
                                              {{"NODE", "/node"}, sentence("WHY", "/why")}}};
  const std::vector<View> more = {
      {.route = "placement.place",
       .headline = decision_headline,
       .below = decision_below,
       .tables = candidates},
      {.route = "placement.burst",
       .headline = decision_headline,
       .below = decision_below,
       .tables = candidates},
      {.route = "placement.decision",
       .headline = decision_headline,
       .below = decision_below,
       .tables = candidates},
      {.route = "placement.decisions",
       .tables = {{"",
                   "/items",
                   {{"ID", "/id"},
                    {"WORKLOAD", "/workload"},
                    {"DECISION", "/decision"},
                    {"POOL", "/pool", Show::text, 1},
                    {"DEVICE", "/device", Show::text, 2},
                    {"REGION", "/region", Show::text, 3},
                    {.header = "REASON", .pointer = "/reason", .wide_only = true, .wraps = true},
                    {"BY", "/decided_by", Show::text, 5},
                    {"AGE", "/decided_at", Show::age, 1}}}},
       .empty = "Nothing was placed yet: exa hardware place NAME"},
      {.route = "placement.bursts",
       .tables = {{"",
                   "/items",
                   {{"WORKLOAD", "/workload"},
                    {"ALLOWED", "/allowed", Show::yes_no},
                    {"POOL", "/pool", Show::text, 1},
                    {"REGION", "/region", Show::text, 1},
                    {"CLASS", "/residency/class", Show::text, 2},
                    sentence("REASON", "/reason"),
                    {"BY", "/attempted_by", Show::text, 5},
                    {"AGE", "/attempted_at", Show::age, 1}}}},
       .empty = "Nobody tried the cloud yet."},
      {.route = "burst_policy.get", .record = true},
      {.route = "burst_policy.set", .record = true},
      {.route = "region.list",
       .tables = {{"",
                   "/items",
                   {{"REGION", "/region"},
                    {"JURISDICTION", "/jurisdiction"},
                    {"SHIPPED", "/shipped", Show::yes_no, 1}}}}},
      {.route = "region.set", .headline = region_headline},
      {.route = "region.unset", .headline = region_headline},
      {.route = "project.residency", .headline = project_label_headline},
      {.route = "lease.list",
       .tables = {{"", "/items", kLeases}},
       .empty = "Nobody holds devices. Take some: exa hardware place NAME --reserve"},
      {.route = "simulation.run",
       .tables = {{"",
                   "/items",
                   {{"POLICY", "/policy"},
                    {"NODES", "/nodes", Show::text, 4},
                    {"GPUS", "/gpus", Show::text, 3},
                    {"ARRIVALS", "/arrivals", Show::text, 2},
                    {"UNPLACED", "/unplaced"},
                    {"ALLOCATED-%", "/allocated_gpu_percent", Show::short_number},
                    {"FRAGMENTED-%", "/fragmented_gpu_percent", Show::short_number, 1},
                    {.header = "IDLE-COST/H",
                     .pointer = "/idle_cost_per_hour",
                     .show = Show::short_number,
                     .when_any = true}}}}},
      {.route = "usage.cost", .tables = {{"", "/items", sums(kCost)}}, .empty = kNothingRan},
      {.route = "usage.carbon", .tables = {{"", "/items", sums(kCarbon)}}, .empty = kNothingRan},
      {.route = "usage.sums",
       .tables = {{"", "/items",
                   sums({{"COST", "/cost", Show::cost},
                         {"CARBON-G", "/carbon_g", Show::short_number, 1}})}},
       .empty = kNothingRan},
      {.route = "lease.release", .headline = lease_headline},
      {.route = "lease.renew", .headline = lease_headline},
  };
  views.insert(views.end(), more.begin(), more.end());
  return views;
}

}  // namespace exa
