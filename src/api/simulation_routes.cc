// Row and handler of `exa simulate`: what a policy would make of a fleet and its arrivals. Nothing
// is stored; the same input and seed give the same answer.
#include <set>

#include <fmt/format.h>

#include "api/handlers.h"
#include "base/quantity.h"
#include "base/text.h"
#include "place/chart.h"
#include "place/policy.h"
#include "place/simulate.h"

namespace exa {
namespace {

// "3=openb-node-0007": three more nodes like that one.
Result<void> add_nodes(std::vector<DeviceNode>& nodes, const json::value& rows) {
  std::vector<Problem> problems;
  for (const json::value& row : rows.as_array()) {
    const std::string_view text = row.get_string();
    const size_t equals = text.find('=');
    const auto count = parse_count(text.substr(0, equals), "count");
    if (equals == std::string_view::npos || !count || *count < 1 || *count > 1'000'000) {
      problems.push_back(
          {"/add_nodes", fmt::format("\"{}\" is not COUNT=NODE", printable(text)), ""});
      continue;
    }
    const std::string like(text.substr(equals + 1));
    const auto found = std::ranges::find(nodes, like, &DeviceNode::name);
    if (found == nodes.end()) {
      problems.push_back(
          {"/add_nodes", fmt::format("no node is called \"{}\"", printable(like)), ""});
      continue;
    }
    const DeviceNode model = *found;
    for (int64_t i = 1; i <= *count; ++i) {
      nodes.push_back(model);
      nodes.back().name = fmt::format("{}+{}", model.name, i);
    }
  }
  if (!problems.empty()) return fail(invalid("simulation", std::move(problems)));
  return {};
}

// Every ask of one device or less asks for this share of it instead.
void ask_for_share(std::vector<TracePod>& pods, int64_t milli) {
  for (TracePod& pod : pods) {
    if (pod.ask.devices == 1) pod.ask.share_milli = std::min(pod.ask.share_milli, milli);
  }
}

// A decimal argument: a JSON number where it was one, the text as typed where not.
Result<int64_t> milli_arg(const Call& call, std::string_view key) {
  const json::value& given = call.args.at(key);
  if (given.is_string()) return parse_milli(given.get_string(), key);
  return parse_milli(to_text(given), key);
}

Result<std::vector<TracePod>> read_pods(const std::string& text, std::string_view what) {
  return is_usage_export(text) ? read_usage_export(text, what) : read_trace_pods(text, what);
}

// An exact sequence; what ran here before is one, too.
Result<std::vector<TracePod>> read_sequence(const std::string& text) {
  return is_usage_export(text) ? read_usage_export(text, "arrivals")
                               : read_arrivals(text, "arrivals");
}

struct Run {
  SimulationInput input;
  std::vector<std::string> policies;
};

Result<std::vector<std::string>> policies_of(const Call& call) {
  std::vector<std::string> policies;
  if (const json::value* list = call.args.if_contains("policy"); list != nullptr) {
    for (const json::value& name : list->as_array()) policies.emplace_back(name.get_string());
  }
  return policies;
}

Result<Run> run_of(const Call& call) {
  Run run;
  EXA_ASSIGN(run.policies, policies_of(call));
  if (run.policies.empty()) {
    return fail(invalid("simulation", {{"/policy", "names no policy", ""}}));
  }
  EXA_ASSIGN(run.input.nodes, read_trace_nodes(call.text("nodes"), "nodes"));
  // what arrives is drawn for the fleet and the tasks as they are: a what-if meets the same work
  int64_t capacity = 0;
  for (const DeviceNode& node : run.input.nodes) capacity += node.cards * kWholeDevice;
  if (const json::value* rows = call.args.if_contains("add_nodes"); rows != nullptr)
    EXA_TRY(add_nodes(run.input.nodes, *rows));
  std::vector<TracePod> pods;
  if (call.has("pods")) {
    EXA_ASSIGN(pods, read_pods(call.text("pods"), "pods"));
  }
  int64_t share = kWholeDevice;
  if (call.has("share")) {
    EXA_ASSIGN(share, milli_arg(call, "share"));
    if (share < 1 || share > kWholeDevice) {
      return fail(invalid("simulation", {{"/share", "is not above 0 and at most 1", ""}}));
    }
  }
  run.input.mix = mix_of(pods);
  run.input.seed = static_cast<uint64_t>(call.integer("seed", 1));
  if (call.has("arrivals")) {
    EXA_ASSIGN(run.input.arrivals, read_sequence(call.text("arrivals")));
    ask_for_share(run.input.arrivals, share);
    run.input.learns = pods.empty();
    return run;
  }
  if (pods.empty()) {
    return fail(invalid("simulation", {{"/pods", "give --pods, --arrivals, or both", ""}}));
  }
  EXA_ASSIGN(const int64_t inflate, milli_arg(call, "inflate"));
  EXA_ASSIGN(run.input.arrivals,
             draw_arrivals(pods, capacity, inflate, run.input.seed, ArrivalOrder::shuffled));
  ask_for_share(run.input.arrivals, share);
  return run;
}

std::vector<std::string> models_nobody_has(const SimulationInput& input) {
  std::set<std::string> had, missing;
  for (const DeviceNode& node : input.nodes) had.insert(node.model);
  for (const TracePod& pod : input.arrivals)
    for (const std::string& model : pod.ask.models)
      if (!had.contains(model)) missing.insert(model);
  return {missing.begin(), missing.end()};
}

Result<Reply> simulate_policies(Service&, const Call& call) {
  EXA_ASSIGN(Run run, run_of(call));
  std::optional<int64_t> price;
  if (call.has("gpu_cost")) {
    EXA_ASSIGN(price, milli_arg(call, "gpu_cost"));
  }
  json::array items;
  std::vector<Simulation> results;
  for (const std::string& policy : run.policies) {
    run.input.policy = policy;
    EXA_ASSIGN(results.emplace_back(), simulate(run.input, *call.caller.progress));
    const Simulation& result = results.back();
    json::object item = to_json(result);
    if (price) {
      const int64_t idle = result.capacity_milli - result.allocated_milli;
      item["allocated_cost_per_hour"] = number_from_milli(result.allocated_milli * *price / 1000);
      item["idle_cost_per_hour"] = number_from_milli(idle * *price / 1000);
    }
    items.emplace_back(std::move(item));
  }
  Answer answer;
  answer.body = {{"items", std::move(items)}, {"next_cursor", nullptr}};
  if (const auto unknown = models_nobody_has(run.input); !unknown.empty()) {
    answer.notices.push_back(
        fmt::format("no node has the model {}: tasks that name nothing else "
                    "never fit",
                    join(unknown, ", ")));
  }
  if (call.flag("chart")) answer.body["chart"] = chart_of(results);
  return reply_of(std::move(answer));
}

Param file_param(std::string_view name, std::string_view flag, std::string_view help,
                 bool required = false) {
  return {.name = name,
          .in = In::body,
          .kind = Kind::file,
          .flag = flag,
          .help = help,
          .required = required,
          .most_bytes = kLargestCapture};
}

}  // namespace

std::vector<Route> simulation_routes() {
  return {
      {.id = "simulation.run",
       .method = Method::post,
       .path = "/api/v1/simulations",
       .command = "simulate",
       .action = "simulation:run",
       .summary = "Replay arrivals against a fleet, policy by policy",
       .detail =
           "Tasks arrive one after the other and never leave. For each policy: how much of "
           "the fleet "
           "was given away at every 10 % of arrived requests, how much of the rest is of no "
           "use, and "
           "how many tasks found no room. Files are those of the openb trace; exa finops records "
           "-o csv is read as tasks, too.",
       .params =
           {file_param("nodes", "--nodes", "CSV of nodes: sn,cpu_milli,memory_mib,gpu,model", true),
            file_param("pods", "--pods",
                       "CSV of tasks to draw from: name,cpu_milli,memory_mib,num_gpu,gpu_milli,"
                       "gpu_spec"),
            file_param("arrivals", "--arrivals",
                       "CSV of the exact sequence: seq,pod,cpu_milli,memory_mib,num_gpu,gpu_milli,"
                       "gpu_spec"),
            {.name = "policy",
             .in = In::body,
             .kind = Kind::csv,
             .flag = "--policy",
             .help = "policies to compare, comma-separated",
             .fallback = "exa",
             .choices = {policy_names().begin(), policy_names().end()}},
            {.name = "seed",
             .in = In::body,
             .kind = Kind::integer,
             .flag = "--seed",
             .help = "of the order in which tasks arrive",
             .fallback = "1"},
            {.name = "inflate",
             .in = In::body,
             .kind = Kind::decimal,
             .flag = "--inflate",
             .help = "let tasks arrive until they ask for this many times the fleet's devices",
             .fallback = "1"},
            {.name = "add_nodes",
             .in = In::body,
             .kind = Kind::csv,
             .flag = "--add-nodes",
             .help = "what if there were more: COUNT=NODE, e.g. 10=openb-node-0007"},
            {.name = "share",
             .in = In::body,
             .kind = Kind::decimal,
             .flag = "--share",
             .help = "what if no task of one device got more than this share of it"},
            {.name = "chart",
             .kind = Kind::saved,
             .flag = "--chart",
             .help = "write a chart of all policies there, as SVG"},
            {.name = "gpu_cost",
             .in = In::body,
             .kind = Kind::decimal,
             .flag = "--gpu-cost",
             .help = "price of one device for one hour, to price what stands idle"}},
       .handler = simulate_policies,
       .reply = "Simulation",
       .is_long = true,
       .examples = {"exa simulate --nodes nodes.csv --pods pods.csv --policy exa,fgd --seed 42 "
                    "--inflate 1.3"}},
  };
}

}  // namespace exa
