// Rows and handlers of accounting: `exa models cost`, `exa finops carbon`, `exa finops usage`.
#include "api/handlers.h"
#include "service/usage.h"

namespace exa {
namespace {

const std::vector<std::string_view> kKeys = {"project", "profile", "device",
                                             "region",  "pool",    "workload"};

Result<std::optional<Time>> time_arg(const Call& call, std::string_view key) {
  std::optional<Time> none;
  if (!call.has(key)) return none;
  // a day alone means its first moment
  const std::string given = call.text(key);
  const auto time = parse_rfc3339(given.size() == 10 ? given + "T00:00:00Z" : given);
  if (!time) {
    return fail(invalid("usage", {{pointer("", key),
                                   "is neither a day (2026-11-30) nor a time "
                                   "(2026-11-30T06:00:00Z)",
                                   ""}}));
  }
  return std::optional(*time);
}

Result<UsageQuestion> question_of(const Call& call) {
  UsageQuestion question;
  question.project = call.flag("all_projects") ? "" : call.text("project");
  question.projects = call.caller.permitted;
  if (const json::value* by = call.args.if_contains("by"); by != nullptr && by->is_array()) {
    for (const json::value& key : by->get_array()) {
      const auto found = find_usage_key(key.get_string());  // checked against the choices
      if (found) question.by.push_back(*found);
    }
  }
  EXA_ASSIGN(question.window.from, time_arg(call, "since"));
  EXA_ASSIGN(question.window.to, time_arg(call, "until"));
  return question;
}

Result<Reply> sums(Service& service, const Call& call) {
  EXA_ASSIGN(UsageQuestion question, question_of(call));
  return reply_of(sum_of_usage(service, std::move(question)));
}

Result<Reply> records(Service& service, const Call& call) {
  return reply_of(list_usage(service, call.flag("all_projects") ? "" : call.text("project"),
                             call.caller.permitted));
}

std::vector<Param> sum_params(std::string_view by) {
  return {{.name = "by",
           .kind = Kind::csv,
           .flag = "--by",
           .help = "what to sum by, comma-separated",
           .fallback = by,
           .choices = kKeys},
          {.name = "since", .flag = "--since", .help = "only from this day or time on (UTC)"},
          {.name = "until", .flag = "--until", .help = "only before this day or time (UTC)"},
          {.name = "all_projects",
           .kind = Kind::flag,
           .flag = "--all-projects",
           .help = "of every project that you may see"},
          project_param()};
}

Route sum_route(std::string_view id, std::string_view path, std::string_view command,
                std::string_view summary, std::string_view by,
                std::vector<std::string_view> examples) {
  return {.id = id,
          .path = path,
          .command = command,
          .action = "usage:read",
          .summary = summary,
          .detail =
              "Counted from leases and launches, at the prices and factors of when they were "
              "taken. What is unknown stays unknown and is never 0.",
          .params = sum_params(by),
          .handler = sums,
          .reply = "UsageSumList",
          .examples = std::move(examples)};
}

}  // namespace

std::vector<Route> usage_routes() {
  return {
      sum_route("usage.cost", "/api/v1/usage/cost", "models cost", "Sum what workloads cost",
                "workload",
                {"exa models cost", "exa models cost --by project,device --since 2026-11-01"}),
      sum_route("usage.carbon", "/api/v1/usage/carbon", "finops carbon",
                "Sum the carbon that workloads emitted", "device,region",
                {"exa finops carbon", "exa finops carbon --by project -o csv"}),
      sum_route("usage.sums", "/api/v1/usage", "finops usage", "Sum device-hours, cost and carbon",
                "project,profile,device,region", {"exa finops usage --by pool"}),
      {.id = "usage.records",
       .path = "/api/v1/usage/records",
       .command = "finops records",
       .action = "usage:read",
       .summary = "List what ran, record by record, for export and for the simulator",
       .params = {{.name = "all_projects",
                   .kind = Kind::flag,
                   .flag = "--all-projects",
                   .help = "of every project that you may see"},
                  project_param()},
       .handler = records,
       .reply = "UsageRecordList",
       .examples = {"exa finops records -o csv"}},
  };
}

}  // namespace exa
