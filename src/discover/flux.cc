// read_flux: the answers of the flux command -> inventory. Flux counts "gpu" without a vendor; a
// family and a model are known only where a property of the node names one.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "discover/flux_fleet.h"
#include "discover/hostlist.h"
#include "discover/readers.h"
#include "hardware/catalogue.h"

namespace exa {
namespace {

// The answer to a question if it was asked and answered; a failed one is named in unread.
const CapturedOutput* answer(const Capture& capture, std::string_view question, FluxFleet& fleet) {
  const CapturedOutput* output = capture.find(question);
  if (output == nullptr || output->exit_code == 0) return output;
  std::string_view why = trim(output->err.empty() ? output->out : output->err);
  fleet.unread.push_back(
      {std::string(question),
       fmt::format("exit {}: {}", output->exit_code,
                   printable(why.substr(0, std::min<size_t>(why.find('\n'), 300))))});
  return nullptr;
}

bool has(const Capture& capture, std::string_view question) {
  const CapturedOutput* output = capture.find(question);
  return output != nullptr && output->exit_code == 0;
}

Result<std::optional<FluxR>> r_answer(const Capture& capture, std::string_view question,
                                      FluxFleet& fleet) {
  const CapturedOutput* output = answer(capture, question, fleet);
  if (output == nullptr) return std::nullopt;
  EXA_ASSIGN(FluxR r, parse_flux_r(output->out, question));
  return std::optional<FluxR>(std::move(r));
}

// ---- What the nodes have and which state it is in
// -------------------------------------------------

Result<void> read_whole(const Capture& capture, FluxFleet& fleet) {
  EXA_ASSIGN(std::optional<FluxR> r, r_answer(capture, "flux resource R", fleet));
  bool from_kvs = !r.has_value();
  if (!r) {
    EXA_ASSIGN(r, r_answer(capture, "flux kvs get resource.R", fleet));
  }
  if (!r) return {};
  take_whole(fleet, *r);
  if (r->lent)
    fleet.unread.push_back({"flux resource R",
                            "these resources are lent by another scheduler until "
                            "their expiration: the instance is itself a job"});
  for (const std::string& kind : r->other_children)
    fleet.unread.push_back(
        {"flux resource R", fmt::format("'{}' is not counted: only core and gpu are "
                                        "known",
                                        printable(kind))});
  // resource.R in the key-value store still holds the nodes that the configuration excludes.
  if (from_kvs && !has(capture, "flux resource status") && !has(capture, "flux config get"))
    fleet.unread.push_back({"flux resource status",
                            "not asked: nodes that are excluded, drained or "
                            "lost cannot be told from the others"});
  return {};
}

Result<std::vector<ListRow>> read_rows(const Capture& capture, FluxFleet& fleet) {
  const CapturedOutput* output = answer(capture, "flux resource list", fleet);
  if (output == nullptr) return std::vector<ListRow>{};
  return parse_resource_list(without_colour(output->out));
}

bool names_repeat(std::span<const ListRow> rows) {
  return std::any_of(rows.begin(), rows.end(), [](const ListRow& row) {
    std::vector<std::string> hosts = row.hosts;
    std::sort(hosts.begin(), hosts.end());
    return std::adjacent_find(hosts.begin(), hosts.end()) != hosts.end();
  });
}

// One `flux resource list` is one look at the scheduler; the three R are asked one after another.
Result<void> read_states(const Capture& capture, FluxFleet& fleet, std::span<const ListRow> rows) {
  bool exact = !rows.empty() && std::all_of(rows.begin(), rows.end(), [](const ListRow& row) {
    return row.hosts.empty() || !row.ranks.empty();
  });
  std::vector<StateOfRanks> states;
  if (exact) {
    for (const ListRow& row : rows) states.push_back({row.state, row.ranks});
    take_states(fleet, states);
    return {};
  }
  for (std::string_view state : {"free", "allocated", "down"}) {
    EXA_ASSIGN(std::optional<FluxR> r,
               r_answer(capture, fmt::format("flux resource R -s {}", state), fleet));
    if (r) states.push_back({std::string(state), std::move(r->ranks)});
  }
  if (states.size() == 3) {
    take_states(fleet, states);
  } else if (names_repeat(rows)) {
    fleet.unread.push_back({"flux resource list",
                            "names a host more than once: only R tells its "
                            "brokers apart"});
  } else {
    take_list(fleet, rows);
  }
  return {};
}

// ---- Queues ------------------------------------------------------------------------------------

struct Config {
  std::map<std::string, std::vector<std::string>> requires_of_queue;
  std::vector<std::string> excluded_hosts;
  IdSet excluded_ranks;
};

Result<Config> parse_config(std::string_view text) {
  Config config;
  auto document = parse_json(text, "flux config get", tool_output_limits());
  if (!document) {
    Error error = std::move(document).error();
    error.code = Code::unreadable_output;
    return fail(std::move(error));
  }
  if (const json::value* queues = find(*document, "queues");
      queues != nullptr && queues->is_object())
    for (const auto& [name, queue] : queues->get_object()) {
      std::vector<std::string>& required = config.requires_of_queue[std::string(name)];
      const json::value* list = find(queue, "requires");
      if (list == nullptr) continue;
      if (!list->is_array())
        return fail(Code::unreadable_output,
                    fmt::format("flux config get: {} is no list",
                                pointer(pointer("/queues", name), "requires")));
      for (const json::value& property : list->get_array())
        if (property.is_string()) required.emplace_back(property.get_string());
    }
  const json::value* resource = find(*document, "resource");
  std::string_view exclude = resource == nullptr ? "" : text_or(*resource, "exclude", "");
  // `exclude` is an id set of ranks or a hostlist; what reads as numbers is ranks.
  if (auto ranks = parse_idset(exclude, "exclude")) {
    config.excluded_ranks = std::move(*ranks);
  } else {
    auto hosts = expand_hostlist(exclude);
    if (!hosts)
      return fail(Code::unreadable_output,
                  fmt::format("flux config get: /resource/exclude: {}", hosts.error().message));
    config.excluded_hosts = std::move(*hosts);
  }
  return config;
}

bool has_all(const std::set<std::string>& properties, const std::vector<std::string>& needed) {
  return std::all_of(needed.begin(), needed.end(),
                     [&](const std::string& one) { return properties.contains(one); });
}

void apply_config(FluxFleet& fleet, const Config& config) {
  std::set<std::string> excluded(config.excluded_hosts.begin(), config.excluded_hosts.end());
  for (FluxNode& node : fleet.nodes) {
    if (excluded.contains(node.name) || (node.rank && config.excluded_ranks.contains(*node.rank)))
      node.excluded = true;
    // A table leaves out a property that is the queue's name; the queue's own rule brings it back.
    for (const std::string& queue : std::set(node.queues))
      if (auto known = config.requires_of_queue.find(queue);
          known != config.requires_of_queue.end())
        node.properties.insert(known->second.begin(), known->second.end());
    for (const auto& [queue, needed] : config.requires_of_queue)
      if (has_all(node.properties, needed)) node.queues.insert(queue);
  }
}

// A node whose every queue is stopped or closed starts nothing new, which is what draining means.
void apply_queues(FluxFleet& fleet, std::span<const QueueRow> rows) {
  std::map<std::string, std::string> shut;
  for (const QueueRow& row : rows) {
    std::string label = row.name.empty() ? "the queue" : "queue " + row.name;
    if (row.started == false)
      shut[row.name] = label + " is stopped";
    else if (row.enabled == false)
      shut[row.name] = label + " takes no jobs";
  }
  if (shut.empty()) return;
  for (FluxNode& node : fleet.nodes) {
    std::set<std::string> queues = node.queues.empty() ? std::set<std::string>{""} : node.queues;
    std::string reason;
    bool all_shut = std::all_of(queues.begin(), queues.end(),
                                [&](const std::string& queue) { return shut.contains(queue); });
    if (!all_shut || node.health != Health::usable) continue;
    for (const std::string& queue : queues) reason += (reason.empty() ? "" : ", ") + shut[queue];
    node.health = Health::draining;
    node.reason = reason;
  }
}

Result<void> read_queues(const Capture& capture, FluxFleet& fleet) {
  if (const CapturedOutput* output = answer(capture, "flux config get", fleet)) {
    EXA_ASSIGN(Config config, parse_config(output->out));
    apply_config(fleet, config);
  }
  std::vector<QueueRow> rows;
  if (const CapturedOutput* output = answer(capture, "flux queue list", fleet)) {
    EXA_ASSIGN(rows, parse_queue_list(without_colour(output->out)));
  } else if (const CapturedOutput* status = answer(capture, "flux queue status", fleet)) {
    EXA_ASSIGN(rows, parse_queue_status(without_colour(status->out)));
  }
  apply_queues(fleet, rows);
  return {};
}

// ---- Into the inventory ------------------------------------------------------------------------

// The model that the properties name together: "a100" and "a100-80gb" agree, "a100" and "h100" do
// not.
void name_model(CardSet& cards, const std::set<std::string>& properties) {
  std::vector<const DeviceModel*> meant;
  bool conflict = false;
  for (const std::string& property : properties) {
    std::vector<const DeviceModel*> these = models_meant(property);
    if (these.empty()) continue;
    if (!meant.empty()) {
      std::vector<const DeviceModel*> both;
      for (const DeviceModel* model : these)
        if (std::find(meant.begin(), meant.end(), model) != meant.end()) both.push_back(model);
      conflict = conflict || both.empty();
      if (both.size() < meant.size()) cards.reported = property;
      these = std::move(both);
    } else {
      cards.reported = property;
    }
    meant = std::move(these);
    if (conflict) break;
  }
  if (conflict) {
    cards.reported.clear();
    cards.remark = "properties name different models";
    return;
  }
  if (meant.empty()) return;
  Family family = meant.front()->family;
  for (const DeviceModel* model : meant)
    if (model->family != family) return;
  cards.family = family;
  cards.family_unread = false;
  if (meant.size() == 1) cards.model = meant.front()->name;
}

void note_cut_properties(const FluxNode& from, std::vector<Unread>& unread) {
  if (from.properties_cut)
    unread.push_back({"properties of " + from.name, "the table cut them off with '+'"});
}

void add_cards(Node& to, const FluxNode& from, std::vector<Unread>& unread) {
  CardSet cards;
  cards.family_unread = true;  // Flux says "gpu" of any vendor's device
  name_model(cards, from.properties);
  if (!from.gpus.total) {
    constexpr std::string_view kWhy = "the table gives one number for several nodes";
    unread.push_back({"gpus of " + from.name, fmt::format("{}; `flux resource R` tells", kWhy)});
    if (cards.reported.empty() || cards.family == Family::cpu) {
      to.devices_unread = device_families();
      note_cut_properties(from, unread);
      return;
    }
    cards.offers_unread = {Sharing::whole};
    cards.remark = kWhy;
    to.cards.push_back(std::move(cards));
    return;
  }
  if (*from.gpus.total == 0) {
    // R counts only cores and gpus: a property can name an accelerator that Flux does not schedule.
    if (!cards.reported.empty() && cards.family != Family::cpu) {
      if (cards.family != Family::other) to.devices_unread = {cards.family};
      unread.push_back({"accelerators of " + from.name,
                        fmt::format("property {} names one, but Flux counts no gpu there",
                                    printable(cards.reported))});
    }
    return;
  }
  cards.physical = from.gpus.total;
  cards.offers.push_back(
      {Sharing::whole, "gpu", "", *from.gpus.total, from.gpus.allocated, from.gpus.free});
  // A node that is down is in no free set; what could be asked for once it is back is the rest.
  if (from.states.contains("down") && from.gpus.allocated)
    cards.offers.back().free = *from.gpus.total - *from.gpus.allocated;
  if (cards.reported.empty()) note_cut_properties(from, unread);
  to.cards.push_back(std::move(cards));
}

Node node_of(const FluxNode& from, std::vector<Unread>& unread) {
  Node node;
  node.name = from.name;
  node.partitions.assign(from.queues.begin(), from.queues.end());
  node.features.assign(from.properties.begin(), from.properties.end());
  node.health = from.health;
  node.state = from.status;
  for (const std::string& state : from.states)
    node.state += (node.state.empty() ? "" : "+") + state;
  if (from.health != Health::usable) node.reason = from.reason;
  if (from.cores.total) node.cpu_milli = *from.cores.total * 1000;
  if (from.cores.free) node.cpu_free_milli = *from.cores.free * 1000;
  if (from.states.contains("down") && from.cores.total && from.cores.allocated)
    node.cpu_free_milli = (*from.cores.total - *from.cores.allocated) * 1000;
  add_cards(node, from, unread);
  return node;
}

// Several brokers on one machine share its name; a node's name is unique.
void tell_brokers_apart(FluxFleet& fleet) {
  std::map<std::string, int> count;
  for (const FluxNode& node : fleet.nodes) ++count[node.name];
  for (FluxNode& node : fleet.nodes)
    if (count[node.name] > 1 && node.rank) node.name += fmt::format("#rank{}", *node.rank);
}

std::string version_of(const Capture& capture, FluxFleet& fleet) {
  const CapturedOutput* output = answer(capture, "flux version", fleet);
  if (output == nullptr) return "";
  for (std::string_view line : split(output->out, '\n'))
    if (line.starts_with("libflux-core:")) return std::string(trim(line.substr(13)));
  return "";
}

}  // namespace

Result<Inventory> read_flux(const Capture& capture) {
  if (capture.find("flux job info R") != nullptr)
    return fail(Code::unreadable_output,
                "this R is what one job holds (it has a start and an end), not "
                "what the cluster has",
                "flux resource R");
  FluxFleet fleet;
  EXA_TRY(read_whole(capture, fleet));
  EXA_ASSIGN(std::vector<ListRow> rows, read_rows(capture, fleet));
  EXA_TRY(read_states(capture, fleet, rows));
  take_queues_and_properties(fleet, rows);
  bool counted = !fleet.nodes.empty();
  if (const CapturedOutput* output = answer(capture, "flux resource status", fleet)) {
    EXA_ASSIGN(std::vector<StatusRow> status, parse_resource_status(without_colour(output->out)));
    EXA_TRY(take_status(fleet, status));
  }
  if (const CapturedOutput* output = answer(capture, "flux resource drain", fleet)) {
    EXA_ASSIGN(std::vector<StatusRow> drained, parse_resource_drain(without_colour(output->out)));
    take_drain(fleet, drained);
  }
  EXA_TRY(read_queues(capture, fleet));
  if (fleet.nodes.empty())
    return fail(Code::unreadable_output,
                "no answer names the nodes: give `flux resource R` or `flux "
                "resource list`",
                "flux resource R");
  tell_brokers_apart(fleet);

  Inventory inventory;
  inventory.kind = ClusterKind::flux;
  inventory.tool = "flux resource";
  inventory.tool_version = version_of(capture, fleet);
  if (!counted)
    fleet.unread.push_back({"flux resource R", "not asked: cores and gpus are not known"});
  std::map<std::string, Node> nodes;  // by name
  for (const FluxNode& node : fleet.nodes)
    if (!node.excluded && !nodes.contains(node.name))
      nodes.emplace(
          node.name, counted ? node_of(node, fleet.unread) : [&] {
            std::vector<Unread> none;
            return node_of(node, none);
          }());
  for (auto& [name, node] : nodes) inventory.nodes.push_back(std::move(node));
  if (std::any_of(inventory.nodes.begin(), inventory.nodes.end(),
                  [](const Node& node) { return node.health == Health::unknown; }))
    fleet.unread.push_back({"flux resource status", "not asked: which nodes are up is not known"});
  inventory.unread = std::move(fleet.unread);
  return inventory;
}

}  // namespace exa
