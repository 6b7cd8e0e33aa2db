// Plans of launches: what a dry run said would be done, kept to be done.
#include <fmt/format.h>

#include "api/launch_params.h"
#include "service/launch_plans.h"

namespace exa {

Result<Reply> apply_plan(Service& service, const Call& call) {
  EXA_ASSIGN(const LaunchPlan plan, find_plan(service, call.caller, call.text("plan")));
  const Route* route = find_route(plan.route);
  if (route == nullptr)
    return fail(Code::stale, fmt::format("plan {} is of a command that is no more", plan.id));
  Call planned{route, plan.args, call.caller};
  planned.caller.action = route->id;
  planned.caller.dry_run = true;
  EXA_ASSIGN(const Reply now, route->handler(service, planned));
  EXA_ASSIGN(const json::value document, parse_json(now.body, "the plan"));
  EXA_TRY(check_unchanged(plan, document.as_object()));
  planned.caller.dry_run = call.caller.dry_run;
  return route->handler(service, planned);
}

Result<Reply> reply_with_plan(Service& service, const Call& call, Result<Answer> answer) {
  if (!answer || !call.caller.dry_run) return reply_of(std::move(answer));
  json::value& plan = answer->body["plan"];
  if (!plan.is_object()) return reply_of(std::move(answer));
  json::object args = call.args;
  args.erase("dry_run");
  args["name"] = answer->body["name"];
  const std::string id = keep_plan(
      service, {"", std::string(text_or(answer->body, "project", "")), std::string(call.route->id),
                std::move(args), what_it_rests_on(answer->body)});
  plan.get_object()["id"] = id.empty() ? json::value(nullptr) : json::value(id);
  return reply_of(std::move(answer));
}

}  // namespace exa
