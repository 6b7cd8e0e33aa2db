// The handlers behind the route table: arguments out of a call, a use case, a reply. Nothing else.
#pragma once

#include "api/route.h"
#include "service/service.h"

namespace exa {

Reply reply_of(Answer answer);
inline Result<Reply> reply_of(Result<Answer> answer) {
  if (!answer) return fail(std::move(answer).error());
  return reply_of(*std::move(answer));
}

// A page of a list of people or accounts, which the use case hands over whole: they are few, and
// who may see which is decided one by one. In the order of `key`, which is unique among them.
Result<Reply> page_of_whole(const Call& call, std::string_view list_name, Result<Answer> whole,
                            std::string (*key)(const json::value& item));
std::string name_of_item(const json::value& item);

// The rows, by group. Shared parameters of rows:
Param project_param();
Param dry_run_param();
// The values of a csv argument; none when it was not given.
std::vector<std::string> texts_arg(const Call& call, std::string_view key);

Param limit_param();
Param cursor_param();
// Where the page before stopped, as --cursor says; "" for the first page of the list.
Result<std::string> place_before(const Call& call, std::string_view list_name);
std::vector<std::string_view> family_choices();  // families that can be asked for

std::vector<Route> profile_routes();
std::vector<Route> vocabulary_routes();
std::vector<Route> consumer_routes();
std::vector<Route> cluster_routes();
std::vector<Route> audit_routes();
std::vector<Route> project_routes();
std::vector<Route> pool_routes();
std::vector<Route> placement_routes();
std::vector<Route> burst_routes();
std::vector<Route> usage_routes();
std::vector<Route> status_routes();
std::vector<Route> operation_routes();
std::vector<Route> workbench_routes();
std::vector<Route> pipeline_routes();
std::vector<Route> manifest_routes();
std::vector<Route> machine_routes();
std::vector<Route> ml_platform_routes();
std::vector<Route> instance_routes();
std::vector<Route> compute_profile_routes();
std::vector<Route> environment_template_routes();
std::vector<Route> serving_routes();
std::vector<Route> simulation_routes();
std::vector<Route> account_routes();
std::vector<Route> token_routes();
std::vector<Route> member_routes();

}  // namespace exa
