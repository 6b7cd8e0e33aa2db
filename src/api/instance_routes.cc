// Rows and handlers of `exa instance …`: what users launch from the catalogue (semantics §7).
#include <fmt/format.h>

#include "api/cursor.h"
#include "api/handlers.h"
#include "api/input_params.h"
#include "api/launch_params.h"
#include "service/instances.h"

namespace exa {
namespace {

const std::vector<std::string_view> kAtEnds = {"delete", "stop"};
const std::vector<std::string_view> kAbove = {"refuse", "approve"};
constexpr std::string_view kNone = "none";
constexpr Duration kLongestLife = hours(24 * 366);

std::optional<std::string> given(const json::object& args, std::string_view key) {
  const json::value* value = args.if_contains(key);
  if (value == nullptr || !value->is_string()) return std::nullopt;
  return std::string(value->get_string());
}

void check_times(const json::object& args, std::vector<Problem>& problems) {
  for (const std::string_view key : {"start_at", "stop_at"}) {
    const auto text = given(args, key);
    if (!text) continue;
    if (const auto cron = parse_cron(*text); !cron)
      problems.push_back({fmt::format("/{}", key), cron.error().message, cron.error().next});
  }
  if (const auto zone = given(args, "time_zone"))
    if (const auto known = check_time_zone(*zone); !known)
      problems.push_back({"/time_zone", known.error().message,
                          known.error().alternatives.empty() ? known.error().next
                                                             : known.error().alternatives.front()});
}

void check_life(const json::object& args, std::string_view key, std::vector<Problem>& problems) {
  const auto text = given(args, key);
  const auto life = text ? parse_duration(*text) : Result<Duration>(minutes(1));
  if (!life) return;  // its kind says so
  if (*life < minutes(1) || *life > kLongestLife)
    problems.push_back({fmt::format("/{}", key), "is from 1m to 366d", ""});
}

std::vector<Problem> check_launch_args(const json::object& args) {
  std::vector<Problem> problems;
  if (auto name = check_launch_name(text_or(args, "name", "")); !name)
    for (Problem& problem : name.error().problems) problems.push_back(std::move(problem));
  for (Problem& problem : check_input_args(args)) problems.push_back(std::move(problem));
  check_times(args, problems);
  check_life(args, "time_to_live", problems);
  if (args.contains("at_end") && !args.contains("time_to_live"))
    problems.push_back({"/at_end", "is of an instance with an end: give --time-to-live", ""});
  return problems;
}

std::vector<Problem> check_schedule_args(const json::object& args) {
  std::vector<Problem> problems;
  check_times(args, problems);
  const bool any = args.contains("start_at") || args.contains("stop_at");
  const json::value* none = args.if_contains("none");
  const bool lifted = none != nullptr && none->is_bool() && none->get_bool();
  if (any == lifted)
    problems.push_back({"/start_at", "give --start-at, --stop-at or both; or --none alone", ""});
  return problems;
}

std::vector<Problem> check_extend_args(const json::object& args) {
  std::vector<Problem> problems;
  check_life(args, "by", problems);
  return problems;
}

std::vector<Problem> check_delete_args(const json::object& args) {
  const json::value* abandon = args.if_contains("abandon");
  const bool abandons = abandon != nullptr && abandon->is_bool() && abandon->get_bool();
  if (!abandons || !text_or(args, "reason", "").empty()) return {};
  return {{"/reason", "--abandon needs a reason", "--reason \"its host is gone\""}};
}

// "12" or "none".
std::optional<std::optional<int64_t>> count_arg(std::string_view text) {
  if (text == kNone) return std::optional<int64_t>();
  const auto number = parse_micros(text, "limit");
  if (!number || *number % kMicro != 0) return std::nullopt;
  return std::optional(*number / kMicro);
}

void check_limit(const json::object& args, std::string_view key, std::vector<Problem>& problems) {
  const auto text = given(args, key);
  if (!text || *text == kNone) return;
  const std::string where = fmt::format("/{}", key);
  if (key == "time_to_live") {
    if (const auto life = parse_duration(*text); !life || *life < minutes(1))
      problems.push_back({where, "is a duration from 1m, such as 72h, or none", ""});
  } else if (key.starts_with("price")) {
    if (const auto price = parse_money(*text, kDefaultCurrency, "limit"); !price)
      problems.push_back({where, price.error().message, "an amount such as 12.5, or none"});
  } else if (!count_arg(*text)) {
    problems.push_back({where, "is a whole number, or none", ""});
  }
}

constexpr std::string_view kLimitKeys[] = {"instances", "instances_per_user", "price_per_hour",
                                           "price_per_hour_per_user", "time_to_live"};

std::vector<Problem> check_limits_args(const json::object& args) {
  std::vector<Problem> problems;
  bool any = args.contains("above");
  for (const std::string_view key : kLimitKeys) {
    check_limit(args, key, problems);
    any = any || args.contains(key);
  }
  if (!any)
    problems.push_back(
        {"/instances", "is missing, and so is every other limit", "--instances-per-user 2"});
  return problems;
}

Result<InstanceSchedule> schedule_arg(const Call& call) {
  InstanceSchedule schedule;
  if (call.has("start_at")) {
    EXA_ASSIGN(schedule.start, parse_cron(call.text("start_at")));
  }
  if (call.has("stop_at")) {
    EXA_ASSIGN(schedule.stop, parse_cron(call.text("stop_at")));
  }
  if (call.has("time_zone")) schedule.time_zone = call.text("time_zone");
  return schedule;
}

Result<Reply> launch(Service& service, const Call& call) {
  LaunchInstance what;
  what.project = call.text("project");
  what.name = call.text("name");
  what.compute_profile = call.text("compute_profile");
  what.inputs = given_inputs(call);
  what.owner = call.text("for");
  if (call.has("time_to_live")) {
    EXA_ASSIGN(what.time_to_live, parse_duration(call.text("time_to_live")));
  }
  if (call.has("at_end")) what.at_end = find_at_end(call.text("at_end")).value_or(AtEnd::remove);
  EXA_ASSIGN(what.schedule, schedule_arg(call));
  what.reason = call.text("reason");
  return reply_of(launch_instance(service, call.caller, what));
}

Result<Reply> list(Service& service, const Call& call) {
  Page page{call.text("project"), "", call.integer("limit", 50)};
  EXA_ASSIGN(page.after, place_before(call, "instances"));
  EXA_ASSIGN(Answer answer, list_instances(service, page));
  close_cursor(answer.body, "instances");
  return reply_of(std::move(answer));
}

Result<Reply> offers(Service& service, const Call& call) {
  return reply_of(list_offers(service, call.caller, call.text("project")));
}

Result<Reply> show(Service& service, const Call& call) {
  return reply_of(show_instance(service, call.caller, call.text("project"), call.text("name")));
}

Result<Reply> outputs(Service& service, const Call& call) {
  return reply_of(instance_outputs(service, call.caller, call.text("project"), call.text("name")));
}

Result<Reply> reveal(Service& service, const Call& call) {
  return reply_of(reveal_outputs(service, call.caller, call.text("project"), call.text("name")));
}

Result<Reply> logs(Service& service, const Call& call) {
  return reply_of(instance_logs(service, call.caller, call.text("project"), call.text("name"),
                                call.integer("lines", 100)));
}

Result<Reply> stop(Service& service, const Call& call) {
  return reply_of(stop_instance(service, call.caller, call.text("project"), call.text("name")));
}

Result<Reply> start(Service& service, const Call& call) {
  return reply_of(start_instance(service, call.caller, call.text("project"), call.text("name")));
}

Result<Reply> remove(Service& service, const Call& call) {
  return reply_of(delete_instance(service, call.caller, call.text("project"), call.text("name"),
                                  call.flag("abandon"), call.text("reason")));
}

Result<Reply> extend(Service& service, const Call& call) {
  EXA_ASSIGN(const Duration by, parse_duration(call.text("by")));
  return reply_of(
      extend_instance(service, call.caller, call.text("project"), call.text("name"), by));
}

Result<Reply> schedule(Service& service, const Call& call) {
  EXA_ASSIGN(const InstanceSchedule schedule, schedule_arg(call));
  return reply_of(
      schedule_instance(service, call.caller, call.text("project"), call.text("name"), schedule));
}

Result<Reply> decide(Service& service, const Call& call, bool approve) {
  return reply_of(
      decide_instance(service, call.caller,
                      {call.text("project"), call.text("name"), approve, call.text("reason")}));
}
Result<Reply> approve(Service& service, const Call& call) {
  return decide(service, call, true);
}
Result<Reply> reject(Service& service, const Call& call) {
  return decide(service, call, false);
}

Result<Reply> limits_show(Service& service, const Call& call) {
  return reply_of(show_instance_limits(service, call.text("project")));
}

// What was given, over what is there; checked before.
void change_limits(const Call& call, InstanceLimits& limits) {
  const auto count = [&](std::string_view key, std::optional<int64_t>& limit) {
    if (call.has(key)) limit = count_arg(call.text(key)).value_or(std::nullopt);
  };
  const auto price = [&](std::string_view key, std::optional<Money>& limit) {
    if (!call.has(key)) return;
    auto money = parse_money(call.text(key));
    limit = money ? std::optional(*std::move(money)) : std::nullopt;
  };
  count("instances", limits.instances);
  count("instances_per_user", limits.instances_per_user);
  price("price_per_hour", limits.price_per_hour);
  price("price_per_hour_per_user", limits.price_per_hour_per_user);
  if (call.has("time_to_live")) {
    const auto life = parse_duration(call.text("time_to_live"));
    limits.time_to_live = life ? std::optional(*life) : std::nullopt;
  }
  if (call.has("above")) limits.approve = call.text("above") == "approve";
}

Result<Reply> limits_set(Service& service, const Call& call) {
  return reply_of(
      set_instance_limits(service, call.caller, call.text("project"),
                          [&](InstanceLimits& limits) { change_limits(call, limits); }));
}

// --- rows

Param instance_name() {
  return {.name = "name",
          .in = In::path,
          .help = "name of the instance",
          .required = true,
          .completes = "instance"};
}

Param reason_param(std::string_view help, bool required) {
  return {.name = "reason", .in = In::body, .flag = "--reason", .help = help, .required = required};
}

std::vector<Param> schedule_params() {
  return {{.name = "start_at",
           .in = In::body,
           .flag = "--start-at",
           .help = "when it is started of itself, as crontab: \"0 8 * * 1-5\""},
          {.name = "stop_at",
           .in = In::body,
           .flag = "--stop-at",
           .help = "when it is stopped of itself: \"0 19 * * 1-5\""},
          {.name = "time_zone",
           .in = In::body,
           .flag = "--time-zone",
           .help = "of these times, such as Europe/Berlin (default UTC)"}};
}

std::vector<Param> launch_args() {
  return joined({{instance_name(),
                  {.name = "compute_profile",
                   .in = In::body,
                   .flag = "--compute-profile",
                   .help = "what to launch: NAME, or PROJECT/NAME of one that is shared",
                   .required = true,
                   .completes = "compute-profile"}},
                 input_params(),
                 {{.name = "for",
                   .in = In::body,
                   .flag = "--for",
                   .help = "for this user of the project: it is theirs",
                   .completes = "user"},
                  {.name = "time_to_live",
                   .in = In::body,
                   .kind = Kind::duration,
                   .flag = "--time-to-live",
                   .help = "when it ends of itself, e.g. 8h"},
                  {.name = "at_end",
                   .in = In::body,
                   .kind = Kind::choice,
                   .flag = "--at-end",
                   .help = "what happens then (default delete)",
                   .choices = kAtEnds}},
                 schedule_params(),
                 {reason_param("why it is wanted, where a limit asks for an admin", false),
                  project_param(), dry_run_param()}});
}

std::vector<Param> limits_args() {
  const auto limit = [](std::string_view name, std::string_view flag, std::string_view help) {
    return Param{.name = name, .in = In::body, .flag = flag, .help = help};
  };
  return {limit("instances", "--instances", "instances of the project; none: no limit"),
          limit("instances_per_user", "--instances-per-user", "of each of its people"),
          limit("price_per_hour", "--price-per-hour", "what all that runs may cost an hour, USD"),
          limit("price_per_hour_per_user", "--price-per-hour-per-user", "of each of its people"),
          limit("time_to_live", "--time-to-live", "longest life, e.g. 72h"),
          {.name = "above",
           .in = In::body,
           .kind = Kind::choice,
           .flag = "--above",
           .help = "what is above a limit is refused, or waits for an admin",
           .choices = kAbove},
          project_param(),
          dry_run_param()};
}

Route action_route(Route route) {
  route.method = Method::post;
  route.tier = Tier::mutating;
  route.reply = "Instance";
  route.fails_with = {Code::conflict, Code::blocked, Code::unresolvable};
  return route;
}

std::vector<Route> looking_routes() {
  return {
      {.id = "instance.list",
       .path = "/api/v1/instances",
       .command = "instance list",
       .action = "instance:read",
       .summary = "List instances, the newest first, as they stood when last seen",
       .params = {limit_param(), cursor_param(), project_param()},
       .handler = list,
       .reply = "InstanceList",
       .examples = {"exa instance list"}},
      {.id = "instance.offers",
       .path = "/api/v1/instance-offers",
       .command = "instance offers",
       .action = "instance:read",
       .summary = "List what you may launch here: whether it fits now, and what it costs",
       .detail = "Nothing is promised: what fits now may be taken a moment later.",
       .params = {project_param()},
       .handler = offers,
       .reply = "InstanceOfferList",
       .examples = {"exa instance offers"}},
      {.id = "instance.show",
       .path = "/api/v1/instances/{name}",
       .command = "instance show",
       .action = "instance:read",
       .summary = "Show an instance as it stands now, and what a newer version would change",
       .params = {instance_name(), project_param()},
       .handler = show,
       .reply = "InstanceShown",
       .examples = {"exa instance show nb"}},
      {.id = "instance.outputs",
       .path = "/api/v1/instances/{name}/outputs",
       .command = "instance outputs",
       .action = "instance:read",
       .summary = "Show what its compute profile tells of it: addresses, names; secrets masked",
       .params = {instance_name(), project_param()},
       .handler = outputs,
       .reply = "InstanceOutputs",
       .examples = {"exa instance outputs nb"}},
      {.id = "instance.logs",
       .path = "/api/v1/instances/{name}/logs",
       .command = "instance logs",
       .action = "instance:read",
       .summary = "Show what its template or job printed last",
       .params = {instance_name(), lines_param(), project_param()},
       .handler = logs,
       .reply = "InstanceLogs",
       .examples = {"exa instance logs nb"}},
      {.id = "instance.limits_show",
       .path = "/api/v1/instance-limits",
       .command = "instance limits show",
       .action = "instance:read",
       .summary = "Show how many instances the project and its people may have",
       .params = {project_param()},
       .handler = limits_show,
       .reply = "InstanceLimits",
       .examples = {"exa instance limits show"}},
  };
}

}  // namespace

std::vector<Route> instance_routes() {
  std::vector<Route> routes = looking_routes();
  Route launched = action_route(
      {.id = "instance.launch",
       .path = "/api/v1/instances/{name}",
       .command = "instance launch",
       .action = "instance:write",
       .action_with = {"for", "instance:manage"},
       .summary = "Launch an instance of a compute profile",
       .detail = "The newest version is taken and kept: what its profile becomes later changes "
                 "nothing. Values are checked against it; exa compute-profile inputs NAME shows "
                 "which there are. Above a limit of the project it is refused, or waits for an "
                 "admin. --dry-run shows where it would run and what it would cost.",
       .params = launch_args(),
       .handler = launch,
       .is_long = true,
       .creates = true,
       .check = check_launch_args,
       .examples = {"exa instance launch nb --compute-profile small --input gpu_count=2",
                    "exa instance launch nb --compute-profile small --time-to-live 8h"}});
  routes.push_back(std::move(launched));
  const std::vector<Param> plain = {instance_name(), project_param(), dry_run_param()};
  routes.push_back(action_route({.id = "instance.reveal",
                                 .path = "/api/v1/instances/{name}/outputs/reveal",
                                 .command = "instance reveal",
                                 .action = "instance:write",
                                 .summary = "Show its outputs with what is secret in them",
                                 .detail = "For its owner and whoever manages instances. The log "
                                           "keeps that it was shown, and to whom.",
                                 .params = plain,
                                 .handler = reveal,
                                 .examples = {"exa instance reveal nb"}}));
  routes.back().reply = "InstanceOutputs";
  routes.push_back(action_route({.id = "instance.stop",
                                 .path = "/api/v1/instances/{name}/stop",
                                 .command = "instance stop",
                                 .action = "instance:write",
                                 .summary = "Stop an instance; it can be started again",
                                 .params = plain,
                                 .handler = stop,
                                 .is_long = true,
                                 .examples = {"exa instance stop nb"}}));
  routes.push_back(
      action_route({.id = "instance.start",
                    .path = "/api/v1/instances/{name}/start",
                    .command = "instance start",
                    .action = "instance:write",
                    .summary = "Start an instance that is stopped, or try one again that failed",
                    .detail = "On the version that it was launched from.",
                    .params = plain,
                    .handler = start,
                    .is_long = true,
                    .examples = {"exa instance start nb"}}));
  routes.push_back(action_route({.id = "instance.extend",
                                 .path = "/api/v1/instances/{name}/extend",
                                 .command = "instance extend",
                                 .action = "instance:write",
                                 .summary = "Give an instance more time to live",
                                 .params = {instance_name(),
                                            {.name = "by",
                                             .in = In::body,
                                             .kind = Kind::duration,
                                             .flag = "--by",
                                             .help = "how much more, e.g. 4h",
                                             .required = true},
                                            project_param(),
                                            dry_run_param()},
                                 .handler = extend,
                                 .check = check_extend_args,
                                 .examples = {"exa instance extend nb --by 4h"}}));
  routes.push_back(action_route(
      {.id = "instance.schedule",
       .path = "/api/v1/instances/{name}/schedule",
       .command = "instance schedule",
       .action = "instance:write",
       .summary = "Say when an instance is started and stopped of itself",
       .detail = "Times are as crontab(5) writes them, in a time zone; where clocks change, a time "
                 "that a day lacks is the first moment after the gap. exa serve does it.",
       .params = joined({{instance_name()},
                         schedule_params(),
                         {{.name = "none",
                           .in = In::body,
                           .kind = Kind::flag,
                           .flag = "--none",
                           .help = "it has no schedule any more"},
                          project_param(),
                          dry_run_param()}}),
       .handler = schedule,
       .check = check_schedule_args,
       .examples = {"exa instance schedule nb --stop-at \"0 19 * * 1-5\" --time-zone UTC"}}));
  routes.push_back(action_route(
      {.id = "instance.approve",
       .path = "/api/v1/instances/{name}/approve",
       .command = "instance approve",
       .action = "instance:manage",
       .summary = "Let an instance that waits above a limit go on",
       .params = {instance_name(), reason_param("why", true), project_param(), dry_run_param()},
       .handler = approve,
       .is_long = true,
       .examples = {"exa instance approve nb --reason deadline"}}));
  routes.push_back(action_route(
      {.id = "instance.reject",
       .path = "/api/v1/instances/{name}/reject",
       .command = "instance reject",
       .action = "instance:manage",
       .summary = "Refuse an instance that waits above a limit",
       .params = {instance_name(), reason_param("why", true), project_param(), dry_run_param()},
       .handler = reject,
       .examples = {"exa instance reject nb --reason \"too dear\""}}));
  Route limits =
      action_route({.id = "instance.limits_set",
                    .path = "/api/v1/instance-limits",
                    .command = "instance limits set",
                    .action = "instance:manage",
                    .summary = "Say how many instances a project and its people may have",
                    .detail = "What is not given stays; none lifts a limit. An instance "
                              "without a known price is above any limit on prices.",
                    .params = limits_args(),
                    .handler = limits_set,
                    .check = check_limits_args,
                    .examples = {"exa instance limits set --instances-per-user 2"}});
  limits.method = Method::put;
  limits.reply = "InstanceLimits";
  limits.fails_with = {};
  routes.push_back(std::move(limits));
  Route deleted =
      action_route({.id = "instance.delete",
                    .path = "/api/v1/instances/{name}",
                    .command = "instance delete",
                    .action = "instance:write",
                    .summary = "Take down what an instance is, and forget it",
                    .params = {instance_name(),
                               {.name = "abandon",
                                .kind = Kind::flag,
                                .flag = "--abandon",
                                .help = "forget it and leave what its template made as it is"},
                               {.name = "reason",
                                .flag = "--reason",
                                .help = "why; needed with --abandon, kept in the audit log"},
                               project_param(),
                               dry_run_param()},
                    .handler = remove,
                    .is_long = true,
                    .check = check_delete_args,
                    .examples = {"exa instance delete nb --yes"}});
  deleted.method = Method::del;
  deleted.tier = Tier::destructive;
  deleted.reply = "DeletedInstance";
  routes.push_back(std::move(deleted));
  return routes;
}

}  // namespace exa
