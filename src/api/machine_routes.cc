// Rows and handlers of `exa machine …`: what may become a node of an ML platform, and who says so.
#include <fmt/format.h>

#include "api/cursor.h"
#include "api/handlers.h"
#include "profile/validate.h"
#include "service/computes.h"
#include "service/machines.h"

namespace exa {
namespace {

const std::vector<std::string_view> kKinds = {"folder", "http", "cluster", "agent"};

// What each kind of source is asked at.
struct SourcePlace {
  std::string_view kind;
  std::string_view key;
};
constexpr SourcePlace kPlaces[] = {{"folder", "path"}, {"http", "url"}, {"cluster", "cluster"}};

Result<Tags> tags_arg(const Call& call) {
  Tags tags;
  for (const std::string& text : texts_arg(call, "tag")) {
    EXA_ASSIGN(auto tag, parse_tag(text));
    tags.push_back(std::move(tag));
  }
  std::ranges::sort(tags);
  return tags;
}

void check_tags(const json::object& args, std::vector<Problem>& problems) {
  const json::value* list = args.if_contains("tag");
  if (list == nullptr || !list->is_array()) return;
  std::set<std::string> keys;
  for (size_t i = 0; i < list->get_array().size(); ++i) {
    const json::value& each = list->get_array()[i];
    if (!each.is_string()) continue;
    const auto tag = parse_tag(std::string_view(each.get_string()));
    const std::string where = fmt::format("/tag/{}", i);
    if (!tag)
      problems.push_back({where, tag.error().message, ""});
    else if (!keys.insert(tag->first).second)
      problems.push_back({where, fmt::format("{} is given twice", tag->first), ""});
  }
}

std::vector<Problem> check_add(const json::object& args) {
  std::vector<Problem> problems;
  if (const auto checked = check_name(text_or(args, "name", ""), "source name"); !checked)
    problems.push_back({"/name", checked.error().message, ""});
  const std::string_view kind = text_or(args, "kind", "");
  for (const SourcePlace& place : kPlaces) {
    const bool given = args.contains(place.key);
    if (place.kind == kind && !given)
      problems.push_back({pointer("", place.key), fmt::format("is needed for a {}", kind), ""});
    if (place.kind != kind && given)
      problems.push_back(
          {pointer("", place.key), fmt::format("means nothing for a source of kind {}", kind), ""});
  }
  const std::string_view url = text_or(args, "url", "");
  if (!url.empty() && !url.starts_with("https://") && !url.starts_with("http://127.0.0.1") &&
      !url.starts_with("http://localhost"))
    problems.push_back({"/url", "begins with https:// (http:// on this machine alone)", ""});
  if (const auto interval = parse_duration(text_or(args, "interval", "30s"));
      interval && (*interval < seconds(1) || *interval > hours(24)))
    problems.push_back({"/interval", "is between 1s and 24h", ""});
  check_tags(args, problems);
  return problems;
}

Result<Reply> add(Service& service, const Call& call) {
  MachineSource source;
  source.name = call.text("name");
  source.kind = find_machine_source_kind(call.text("kind")).value_or(MachineSourceKind::folder);
  source.path = call.text("path");
  source.url = call.text("url");
  source.token_file = call.text("token_file");
  source.ca_file = call.text("ca_file");
  source.cluster = call.text("cluster");
  EXA_ASSIGN(source.tags, tags_arg(call));
  EXA_ASSIGN(source.interval, parse_duration(call.text("interval")));
  return reply_of(add_machine_source(service, call.caller, source));
}

Result<Reply> sources(Service& service, const Call&) {
  return reply_of(list_machine_sources(service));
}

Result<Reply> remove(Service& service, const Call& call) {
  return reply_of(remove_machine_source(service, call.caller, call.text("name")));
}

Result<Reply> discover(Service& service, const Call& call) {
  return reply_of(look_at_source(service, call.caller, call.text("source")));
}

Result<Reply> list(Service& service, const Call& call) {
  ListMachines what{"", call.integer("limit", 50)};
  EXA_ASSIGN(what.after, place_before(call, "machines"));
  EXA_ASSIGN(Answer answer, list_machines(service, call.caller, what));
  close_cursor(answer.body, "machines");
  return reply_of(std::move(answer));
}

Result<Reply> show(Service& service, const Call& call) {
  return reply_of(show_machine(service, call.caller, call.text("id")));
}

Result<Reply> accept(Service& service, const Call& call) {
  return reply_of(accept_machine(service, call.caller, call.text("id")));
}

Result<Reply> forget(Service& service, const Call& call) {
  return reply_of(forget_machine(service, call.caller, call.text("id")));
}

Result<Reply> report(Service& service, const Call& call) {
  EXA_ASSIGN(const json::value document, parse_json(call.text("report"), "--file"));
  EXA_ASSIGN(MachineReport report, machine_report_from_json(document, "/report"));
  if (report.reported_at == Time{})
    return fail(invalid("report", {{"/report/reported_at", "is missing", ""}}));
  return reply_of(report_machine(service, call.caller, call.text("source"), report));
}

Param source_name() {
  return {.name = "name",
          .in = In::path,
          .help = "name of the source",
          .required = true,
          .completes = "machine-source"};
}

Param machine_id() {
  return {.name = "id",
          .in = In::path,
          .help = "id of the machine",
          .required = true,
          .completes = "machine"};
}

std::vector<Param> add_params() {
  return {source_name(),
          {.name = "kind",
           .in = In::body,
           .kind = Kind::choice,
           .flag = "--kind",
           .help = "files of reports, an inventory over HTTP, a cluster's nodes, or agents",
           .required = true,
           .choices = kKinds},
          {.name = "path",
           .in = In::body,
           .kind = Kind::path,
           .flag = "--path",
           .help = "folder: reports in *.json and *.yaml, or one file of them"},
          {.name = "url", .in = In::body, .flag = "--url", .help = "http: https://HOST/PATH"},
          {.name = "token_file",
           .in = In::body,
           .kind = Kind::path,
           .flag = "--token-file",
           .help = "http: file with a bearer token"},
          {.name = "ca_file",
           .in = In::body,
           .kind = Kind::path,
           .flag = "--ca-file",
           .help = "http: certificate authority, if it is your own"},
          {.name = "cluster",
           .in = In::body,
           .flag = "--cluster",
           .help = "cluster: whose nodes are machines",
           .completes = "cluster"},
          {.name = "tag",
           .in = In::body,
           .kind = Kind::words,
           .flag = "--tag",
           .help = "KEY=VALUE for each machine that does not say it itself; may be repeated"},
          {.name = "interval",
           .in = In::body,
           .kind = Kind::duration,
           .flag = "--interval",
           .help = "how often it speaks; silent for three of them is vanished",
           .fallback = "30s"},
          dry_run_param()};
}

}  // namespace

std::vector<Route> machine_routes() {
  return {
      {.id = "machine_source.add",
       .method = Method::post,
       .path = "/api/v1/machine-sources/{name}",
       .command = "machine source add",
       .tier = Tier::mutating,
       .action = "machine:write",
       .summary = "Register where machines for ML platforms are reported",
       .detail = "Only machines tagged palette.ai: true are ever offered; --tag gives that tag to "
                 "all of a source.",
       .params = add_params(),
       .handler = add,
       .reply = "MachineSource",
       .creates = true,
       .check = check_add,
       .examples = {"exa machine source add edge --kind agent",
                    "exa machine source add rack --kind folder --path /srv/machines",
                    "exa machine source add nodes --kind cluster --cluster k8s"}},
      {.id = "machine_source.list",
       .path = "/api/v1/machine-sources",
       .command = "machine source list",
       .action = "machine:read",
       .summary = "List sources of machines, and when each last answered",
       .handler = sources,
       .reply = "MachineSourceList",
       .examples = {"exa machine source list"}},
      {.id = "machine_source.remove",
       .method = Method::del,
       .path = "/api/v1/machine-sources/{name}",
       .command = "machine source remove",
       .tier = Tier::destructive,
       .action = "machine:write",
       .summary = "Forget a source and what it reported",
       .params = {source_name(), dry_run_param()},
       .handler = remove,
       .reply = "RemovedMachineSource",
       .fails_with = {Code::in_use},
       .examples = {"exa machine source remove rack --yes"}},
      {.id = "machine.discover",
       .method = Method::post,
       .path = "/api/v1/machine-sources/{source}/look",
       .command = "machine discover",
       .tier = Tier::mutating,
       .action = "machine:write",
       .summary = "Look at a source now",
       .detail = "A failed look changes no machine; a report that cannot be read stands in nobody "
                 "else's way. A server looks by itself, each source at its interval.",
       .params = {{.name = "source",
                   .in = In::path,
                   .help = "name of the source",
                   .required = true,
                   .completes = "machine-source"}},
       .handler = discover,
       .reply = "MachineLook",
       .is_long = true,
       .observes = true,
       .examples = {"exa machine discover rack"}},
      {.id = "machine.list",
       .path = "/api/v1/machines",
       .command = "machine list",
       .action = "machine:read",
       .summary = "List machines: offered, held, or why not",
       .params = {limit_param(), cursor_param()},
       .handler = list,
       .reply = "MachineList",
       .examples = {"exa machine list"}},
      {.id = "machine.show",
       .path = "/api/v1/machines/{id}",
       .command = "machine show",
       .action = "machine:read",
       .summary = "Show a machine: what it has, who says so, what stands against it",
       .params = {machine_id()},
       .handler = show,
       .reply = "Machine",
       .examples = {"exa machine show edge-5db0384219cfa0fa4ef97d53bf291b2e"}},
      {.id = "machine.report",
       .method = Method::put,
       .path = "/api/v1/machine-sources/{source}/reports",
       .command = "machine report",
       .tier = Tier::mutating,
       .action = "machine:report",
       .summary = "Report a machine, as exa agent does",
       .detail = "Refused when it is older than the last report, the same once more, from the "
                 "future, or from another source. Reports are observations and stand in no audit "
                 "log.",
       .params = {{.name = "source",
                   .in = In::path,
                   .flag = "--source",
                   .help = "source of agents that the machine is of",
                   .required = true,
                   .completes = "machine-source"},
                  {.name = "report",
                   .in = In::body,
                   .kind = Kind::file,
                   .flag = "--file",
                   .help = "the report, in JSON",
                   .required = true},
                  dry_run_param()},
       .handler = report,
       .reply = "MachineHeard",
       .observes = true,
       .fails_with = {Code::stale, Code::conflict}},
      {.id = "machine.accept",
       .method = Method::post,
       .path = "/api/v1/machines/{id}/accept",
       .command = "machine accept",
       .tier = Tier::mutating,
       .action = "machine:write",
       .summary = "Believe a machine whose hardware is not what it was",
       .params = {machine_id(), dry_run_param()},
       .handler = accept,
       .reply = "Machine",
       .fails_with = {Code::conflict}},
      {.id = "machine.forget",
       .method = Method::del,
       .path = "/api/v1/machines/{id}",
       .command = "machine forget",
       .tier = Tier::destructive,
       .action = "machine:write",
       .summary = "Forget a machine until it reports again",
       .params = {machine_id(), dry_run_param()},
       .handler = forget,
       .reply = "ForgottenMachine",
       .fails_with = {Code::in_use}},
  };
}

}  // namespace exa
