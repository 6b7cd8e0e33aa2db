// Rows and handlers of what governs bursting: policy, regions, labels of projects.
#include "api/handlers.h"
#include "govern/residency.h"
#include "service/placements.h"

namespace exa {
namespace {

const std::vector<std::string_view> kOnOff = {"on", "off"};

std::vector<std::string_view> class_choices() {
  std::vector<std::string_view> names;
  for (const Residency residency :
       {Residency::open, Residency::eu_only, Residency::no_egress, Residency::restricted}) {
    names.push_back(name(residency));
  }
  return names;
}

std::optional<bool> on_or_off(const Call& call, std::string_view key) {
  if (!call.has(key)) return std::nullopt;
  return call.text(key) == "on";
}

Result<Reply> policy(Service& service, const Call&) {
  return reply_of(show_burst_policy(service));
}

Result<Reply> set_policy(Service& service, const Call& call) {
  SetBurstPolicy what;
  what.cloud = on_or_off(call, "cloud");
  what.open_to_unknown = on_or_off(call, "open_to_unknown");
  if (call.has("unlabelled")) what.unlabelled = call.text("unlabelled");
  if (const json::value* rows = call.args.if_contains("narrow"); rows != nullptr) {
    what.narrow.emplace();
    for (const json::value& row : rows->as_array()) what.narrow->emplace_back(row.get_string());
  }
  if (call.flag("widen")) what.narrow.emplace();
  if (!what.cloud && !what.open_to_unknown && !what.unlabelled && !what.narrow) {
    return fail(Code::usage, "nothing was given to change", "exa hardware burst policy set --help");
  }
  return reply_of(set_burst_policy(service, call.caller, what));
}

Result<Reply> regions(Service& service, const Call& call) {
  return reply_of(list_regions(service, call.text("jurisdiction")));
}

Result<Reply> one_region(Service& service, const Call& call) {
  return reply_of(show_region(service, call.text("region")));
}

Result<Reply> region(Service& service, const Call& call) {
  return reply_of(set_region(service, call.caller, call.text("region"), call.text("jurisdiction")));
}

Result<Reply> region_back(Service& service, const Call& call) {
  return reply_of(set_region(service, call.caller, call.text("region"), ""));
}

Result<Reply> show_label(Service& service, const Call& call) {
  return reply_of(show_project_label(service, call.text("name")));
}

Result<Reply> label(Service& service, const Call& call) {
  if (call.has("class") == call.flag("none")) {
    return fail(Code::usage, "give a class, or --none to take the label off",
                "exa project residency --help");
  }
  return reply_of(label_project(service, call.caller, call.text("name"), call.text("class")));
}

Param region_param() {
  return {.name = "region",
          .in = In::path,
          .help = "the region as pools name it, e.g. eu-west-1",
          .required = true};
}

}  // namespace

std::vector<Route> burst_routes() {
  return {
      {.id = "burst_policy.get",
       .path = "/api/v1/burst-policy",
       .command = "hardware burst policy get",
       .action = "burst_policy:read",
       .summary = "Show what may go to the cloud",
       .handler = policy,
       .reply = "BurstPolicy",
       .examples = {"exa hardware burst policy get"}},
      {.id = "burst_policy.set",
       .method = Method::put,
       .path = "/api/v1/burst-policy",
       .command = "hardware burst policy set",
       .tier = Tier::mutating,
       .action = "burst_policy:write",
       .summary = "Change what may go to the cloud",
       .detail = "The classes' own rules stay: eu-only goes to the EU alone, no-egress and "
                 "restricted go nowhere. A policy narrows them further.",
       .params = {{.name = "cloud",
                   .in = In::body,
                   .kind = Kind::choice,
                   .flag = "--cloud",
                   .help = "off: nothing goes to the cloud",
                   .choices = kOnOff},
                  {.name = "open_to_unknown",
                   .in = In::body,
                   .kind = Kind::choice,
                   .flag = "--open-to-unknown",
                   .help = "on: open data may go to regions of unknown jurisdiction",
                   .choices = kOnOff},
                  {.name = "unlabelled",
                   .in = In::body,
                   .kind = Kind::choice,
                   .flag = "--unlabelled",
                   .help = "class of data that nobody labelled",
                   .choices = class_choices()},
                  {.name = "narrow",
                   .in = In::body,
                   .kind = Kind::csv,
                   .flag = "--narrow",
                   .help = "jurisdictions that a class may go to, e.g. \"open=eu|uk\""},
                  {.name = "widen",
                   .in = In::body,
                   .kind = Kind::flag,
                   .flag = "--widen",
                   .help = "lift every --narrow"},
                  dry_run_param()},
       .handler = set_policy,
       .reply = "BurstPolicy",
       .if_match = true,
       .examples = {"exa hardware burst policy set --narrow \"open=eu|uk\""}},
      {.id = "region.list",
       .path = "/api/v1/regions",
       .command = "hardware regions",
       .action = "burst_policy:read",
       .summary = "List regions and the jurisdiction that each lies in",
       .params = {{.name = "jurisdiction",
                   .flag = "--jurisdiction",
                   .help = "only those of this one, e.g. eu"}},
       .handler = regions,
       .reply = "RegionList",
       .examples = {"exa hardware regions --jurisdiction eu"}},
      {.id = "region.show",
       .path = "/api/v1/regions/{region}",
       .command = "hardware region show",
       .action = "burst_policy:read",
       .summary = "Show in which jurisdiction a region lies",
       .params = {region_param()},
       .handler = one_region,
       .reply = "Region",
       .examples = {"exa hardware region show eu-west-1"}},
      {.id = "region.set",
       .method = Method::put,
       .path = "/api/v1/regions/{region}",
       .command = "hardware region set",
       .tier = Tier::mutating,
       .action = "burst_policy:write",
       .summary = "Say in which jurisdiction a region lies",
       .params = {region_param(),
                  {.name = "jurisdiction",
                   .in = In::body,
                   .flag = "--jurisdiction",
                   .help = "its code, e.g. eu, uk, us; or unknown",
                   .required = true},
                  dry_run_param()},
       .handler = region,
       .reply = "Region",
       .if_match = true,
       .examples = {"exa hardware region set frankfurt-basement --jurisdiction eu"}},
      {.id = "region.unset",
       .method = Method::del,
       .path = "/api/v1/regions/{region}",
       .command = "hardware region unset",
       .tier = Tier::mutating,
       .action = "burst_policy:write",
       .summary = "Go back to the shipped jurisdiction of a region",
       .params = {region_param(), dry_run_param()},
       .handler = region_back,
       .reply = "Region",
       .if_match = true,
       .examples = {"exa hardware region unset frankfurt-basement"}},
      {.id = "project.residency_show",
       .path = "/api/v1/projects/{name}/residency",
       .command = "project residency show",
       .action = "burst:read",
       .project_from = "name",
       .summary = "Show how a project's data is labelled",
       .params = {{.name = "name",
                   .in = In::path,
                   .help = "the project",
                   .required = true,
                   .completes = "project"}},
       .handler = show_label,
       .reply = "ProjectResidency",
       .examples = {"exa project residency show default"}},
      {.id = "project.residency",
       .method = Method::put,
       .path = "/api/v1/projects/{name}/residency",
       .command = "project residency",
       .tier = Tier::mutating,
       .action = "project_residency:write",
       .project_from = "name",
       .summary = "Label a project's data: how far it may go",
       .params = {{.name = "name",
                   .in = In::path,
                   .help = "the project",
                   .required = true,
                   .completes = "project"},
                  {.name = "class",
                   .in = In::body,
                   .kind = Kind::choice,
                   .flag = "--class",
                   .help = "the class",
                   .choices = class_choices()},
                  {.name = "none",
                   .in = In::body,
                   .kind = Kind::flag,
                   .flag = "--none",
                   .help = "take the label off"},
                  dry_run_param()},
       .handler = label,
       .reply = "ProjectResidency",
       .if_match = true,
       .examples = {"exa project residency default --class eu-only"}},
  };
}

}  // namespace exa
