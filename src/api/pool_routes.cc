// Rows and handlers of device pools and engines: `exa hardware add-pool`, `pools`, `engines`, …
// (requirement "Heterogeneous Hardware & Hybrid HPC <-> Cloud", section CLI).
#include "api/handlers.h"
#include "place/pool.h"
#include "service/pools.h"

namespace exa {
namespace {

const std::vector<std::string_view> kPlaces = {"hpc", "cloud"};
const std::vector<std::string_view> kSharings = {"mig", "time-slice", "mps"};

// What is wrong with the members that were given, whatever pool they are given to.
std::vector<Problem> check_pool(const json::object& args) {
  Pool any;
  any.name = text_or(args, "name", "");
  json::object given = args;
  given.erase("dry_run");
  // partition and selector mean something beside a cluster only, which the stored pool may have
  if (!given.contains("cluster")) any.cluster = "any";
  const auto merged = merge_pool(&any, given);
  return merged ? std::vector<Problem>() : merged.error().problems;
}

// The members of a pool's document that were given; what was not given is kept.
Result<Reply> add(Service& service, const Call& call) {
  json::object given = call.args;
  given.erase("dry_run");
  return reply_of(add_pool(service, call.caller, given));
}

Result<Reply> list(Service& service, const Call&) {
  return reply_of(list_pools(service));
}

Result<Reply> show(Service& service, const Call& call) {
  return reply_of(show_pool(service, call.caller, call.text("name")));
}

Result<Reply> drain(Service& service, const Call& call) {
  return reply_of(
      drain_pool(service, call.caller, call.text("name"), call.text("reason"), call.flag("undo")));
}

Result<Reply> remove(Service& service, const Call& call) {
  return reply_of(remove_pool(service, call.caller, call.text("name"), call.flag("force"),
                              call.text("reason")));
}

Result<Reply> engines(Service& service, const Call&) {
  return reply_of(list_engines(service));
}

Result<Reply> engine(Service& service, const Call& call) {
  return reply_of(show_engine(service, call.text("name")));
}

Result<Reply> engine_add(Service& service, const Call& call) {
  std::vector<std::string> backends;
  for (const json::value& backend : call.args.at("backends").as_array())
    backends.emplace_back(backend.get_string());
  return reply_of(add_engine(service, call.caller, call.text("name"), std::move(backends)));
}

Result<Reply> engine_remove(Service& service, const Call& call) {
  return reply_of(remove_engine(service, call.caller, call.text("name")));
}

Result<Reply> can_run(Service& service, const Call& call) {
  return reply_of(portability(service, call.text("engine"), call.text("accelerator")));
}

Param pool_name() {
  return {.name = "name",
          .in = In::path,
          .help = "name of the pool: lower-case letters, digits and -",
          .required = true,
          .completes = "pool"};
}

Param engine_name(std::string_view help) {
  return {.name = "name", .in = In::path, .help = help, .required = true, .completes = "engine"};
}

std::vector<Param> pool_params() {
  return {
      pool_name(),
      {.name = "target",
       .in = In::body,
       .kind = Kind::choice,
       .flag = "--target",
       .help = "where it stands (default hpc)",
       .choices = kPlaces},
      {.name = "accelerator",
       .in = In::body,
       .kind = Kind::choice,
       .flag = "--accelerator",
       .help = "family of its devices; required for a new pool",
       .choices = family_choices()},
      {.name = "model", .in = In::body, .flag = "--model", .help = "model, e.g. A100-SXM4-80GB"},
      {.name = "count",
       .in = In::body,
       .kind = Kind::integer,
       .flag = "--count",
       .help = "devices in it, as you declare (default 1); a cluster's are counted"},
      {.name = "region",
       .in = In::body,
       .flag = "--region",
       .help = "region, e.g. eu, eu-west-1; its jurisdiction decides what data may go there"},
      {.name = "cost_per_hour",
       .in = In::body,
       .kind = Kind::decimal,
       .flag = "--cost-per-hour",
       .help = "price of one device for one hour"},
      {.name = "currency", .in = In::body, .flag = "--currency", .help = "of the price (USD)"},
      {.name = "carbon_factor",
       .in = In::body,
       .kind = Kind::decimal,
       .flag = "--carbon-factor",
       .help = "grams of CO2-equivalent per device and hour"},
      {.name = "watts",
       .in = In::body,
       .kind = Kind::decimal,
       .flag = "--watts",
       .help = "power of one device, to estimate carbon where no factor is known"},
      {.name = "pue",
       .in = In::body,
       .kind = Kind::decimal,
       .flag = "--pue",
       .help = "power usage effectiveness of the site, for the estimate (default 1)"},
      {.name = "grid_intensity",
       .in = In::body,
       .kind = Kind::decimal,
       .flag = "--grid-intensity",
       .help = "grams of CO2-equivalent per kWh of its grid, for the estimate"},
      {.name = "supports_fractions",
       .in = In::body,
       .kind = Kind::flag,
       .flag = "--supports-fractions",
       .help = "parts of a device can be had"},
      {.name = "sharing",
       .in = In::body,
       .kind = Kind::choice,
       .flag = "--sharing",
       .help = "how parts are had (nvidia: mig)",
       .choices = kSharings},
      {.name = "shares_per_device",
       .in = In::body,
       .kind = Kind::integer,
       .flag = "--shares-per-device",
       .help = "for time slices and mps: equal parts of one device"},
      {.name = "gpu_memory",
       .in = In::body,
       .flag = "--gpu-memory",
       .help = "memory of one device with its unit, e.g. 80GB (known models need none)"},
      {.name = "capabilities",
       .in = In::body,
       .kind = Kind::csv,
       .flag = "--capabilities",
       .help = "tags that it advertises, comma-separated, e.g. fp8,nvlink"},
      {.name = "cluster",
       .in = In::body,
       .flag = "--cluster",
       .help = "count the nodes of this cluster instead of declaring",
       .completes = "cluster"},
      {.name = "partition",
       .in = In::body,
       .flag = "--partition",
       .help = "only the cluster's nodes in this partition or queue"},
      {.name = "selector",
       .in = In::body,
       .flag = "--selector",
       .help = "only its nodes with these labels or features, e.g. zone=a,ssd"},
      dry_run_param(),
  };
}

constexpr std::string_view kWrite = "pool:write";
constexpr std::string_view kRead = "pool:read";

}  // namespace

std::vector<Route> pool_routes() {
  return {
      {.id = "pool.add",
       .method = Method::put,
       .path = "/api/v1/pools/{name}",
       .command = "hardware add-pool",
       .tier = Tier::mutating,
       .action = kWrite,
       .summary = "Register a pool of devices, or change what is given of one",
       .detail = "A declared pool is as large as you say, and every answer says that it was "
                 "declared. With --cluster its devices are those that were discovered there.",
       .params = pool_params(),
       .handler = add,
       .reply = "ChangedPool",
       .creates = true,
       .if_match = true,
       .check = check_pool,
       .examples = {"exa hardware add-pool hpc-nvidia --target hpc --accelerator nvidia --count 8 "
                    "--region eu --cost-per-hour 2.5 --carbon-factor 300 --supports-fractions",
                    "exa hardware add-pool lab --accelerator nvidia --cluster here"}},
      {.id = "pool.list",
       .path = "/api/v1/pools",
       .command = "hardware pools",
       .action = kRead,
       .summary = "List pools, the cheapest first, with what is free",
       .handler = list,
       .reply = "PoolList",
       .examples = {"exa hardware pools"}},
      {.id = "pool.show",
       .path = "/api/v1/pools/{name}",
       .command = "hardware pools show",
       .action = kRead,
       .summary = "Show a pool: its nodes, and who holds devices of it",
       .params = {pool_name()},
       .handler = show,
       .reply = "PoolWithNodes",
       .examples = {"exa hardware pools show hpc-nvidia"}},
      {.id = "pool.drain",
       .method = Method::put,
       .path = "/api/v1/pools/{name}/drain",
       .command = "hardware drain-pool",
       .tier = Tier::mutating,
       .action = kWrite,
       .summary = "Let nothing new onto a pool; what runs there goes on",
       .params = {pool_name(),
                  {.name = "reason",
                   .in = In::body,
                   .flag = "--reason",
                   .help = "why; whoever is refused reads it"},
                  {.name = "undo",
                   .in = In::body,
                   .kind = Kind::flag,
                   .flag = "--undo",
                   .help = "take work again"},
                  dry_run_param()},
       .handler = drain,
       .reply = "Pool",
       .if_match = true,
       .examples = {"exa hardware drain-pool hpc-nvidia --reason \"new cooling\""}},
      {.id = "pool.remove",
       .method = Method::del,
       .path = "/api/v1/pools/{name}",
       .command = "hardware remove-pool",
       .tier = Tier::destructive,
       .action = kWrite,
       .summary = "Forget a pool; decisions keep what they used of it",
       .params = {pool_name(),
                  {.name = "force",
                   .kind = Kind::flag,
                   .flag = "--force",
                   .help = "although leases hold devices of it"},
                  {.name = "reason",
                   .flag = "--reason",
                   .help = "why; required with --force, kept in the audit log"},
                  dry_run_param()},
       .handler = remove,
       .reply = "RemovedPool",
       .if_match = true,
       .examples = {"exa hardware remove-pool hpc-nvidia --yes"}},
      {.id = "engine.list",
       .path = "/api/v1/engines",
       .command = "hardware engines",
       .action = kRead,
       .summary = "List engines and the backends that each runs on",
       .handler = engines,
       .reply = "EngineList",
       .examples = {"exa hardware engines"}},
      {.id = "engine.show",
       .path = "/api/v1/engines/{name}",
       .command = "hardware engine show",
       .action = kRead,
       .summary = "Show an engine and the backends that it runs on",
       .params = {engine_name("name of the engine")},
       .handler = engine,
       .reply = "Engine",
       .examples = {"exa hardware engine show vllm"}},
      {.id = "engine.add",
       .method = Method::put,
       .path = "/api/v1/engines/{name}",
       .command = "hardware engine add",
       .tier = Tier::mutating,
       .action = "engine:write",
       .summary = "Add an engine, or change one that was added",
       .params = {engine_name("name of the engine"),
                  {.name = "backends",
                   .in = In::body,
                   .kind = Kind::csv,
                   .flag = "--backends",
                   .help = "backends it runs on, comma-separated: cuda, rocm, ipex, xla, cpu",
                   .required = true},
                  dry_run_param()},
       .handler = engine_add,
       .reply = "Engine",
       .creates = true,
       .if_match = true,
       .examples = {"exa hardware engine add tensorrt-llm --backends cuda"}},
      {.id = "engine.remove",
       .method = Method::del,
       .path = "/api/v1/engines/{name}",
       .command = "hardware engine remove",
       .tier = Tier::destructive,
       .action = "engine:write",
       .summary = "Forget an engine that was added",
       .params = {engine_name("name of the engine"), dry_run_param()},
       .handler = engine_remove,
       .reply = "RemovedEngine",
       .if_match = true,
       .examples = {"exa hardware engine remove tensorrt-llm --yes"}},
      {.id = "engine.portable",
       .path = "/api/v1/portability",
       .command = "hardware portable",
       .action = kRead,
       .summary = "Tell whether an engine runs on an accelerator",
       .detail = "Exit code 0: it does; 6: it does not.",
       .params = {{.name = "engine",
                   .flag = "--engine",
                   .help = "the engine",
                   .required = true,
                   .completes = "engine"},
                  {.name = "accelerator",
                   .flag = "--accelerator",
                   .help = "family of devices",
                   .required = true}},
       .handler = can_run,
       .reply = "Portability",
       .examples = {"exa hardware portable --engine sglang --accelerator amd"}},
  };
}

}  // namespace exa
