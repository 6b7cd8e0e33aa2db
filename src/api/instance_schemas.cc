// What the routes of instances answer.
#include "api/schema.h"
#include "catalogue/instance.h"

namespace exa {
namespace {

using namespace schema;

json::object money() {
  return object({{"amount", number()}, {"currency", text()}});
}

json::object run() {
  return object({{"action", text()},
                 {"started_at", time()},
                 {"ended_at", maybe(time())},
                 {"outcome", maybe(text())},
                 {"reason", maybe(text())},
                 {"log_cut_bytes", count()},
                 {"left_behind", count()}});
}

json::object approval() {
  return object({{"because", list(text())},
                 {"asked", maybe(text())},
                 {"decided_by", maybe(text())},
                 {"decided_at", maybe(time())},
                 {"approved", yes_no()},
                 {"reason", maybe(text())}});
}

json::object schedule_schema() {
  return object({{"start", maybe(text())}, {"stop", maybe(text())}, {"time_zone", text()}});
}

// In the order of shown().
Members instance() {
  return {{"name", text()},
          {"project", text()},
          {"id", text()},
          {"owner", text()},
          {"state", word(InstanceState::deleting)},
          {"reason", maybe(text())},
          {"compute_profile", object({{"project", text()},
                                      {"name", text()},
                                      {"version", count()},
                                      {"display_name", maybe(text())}})},
          {"environment_template", object({{"name", text()}, {"version", text()}})},
          {"driver", text()},
          {"inputs", map(any())},
          {"labels", map(text())},
          {"annotations", map(text())},
          {"price_per_hour", maybe(money())},
          {"approval", maybe(approval())},
          {"last_run", maybe(run())},
          {"outputs", map(any())},
          {"secret_outputs", list(text())},
          {"hardware_profile", maybe(text())},
          {"shape", any()},
          {"lease", maybe(text())},
          {"decision", maybe(text())},
          {"pool", maybe(text())},
          {"cluster", maybe(text())},
          {"expires_at", maybe(time())},
          {"at_end", word(AtEnd::stop)},
          {"schedule", maybe(schedule_schema())},
          {"running_since", maybe(time())},
          {"created_at", time()},
          {"created_by", text()},
          {"hours", number()},
          {"cost", maybe(money())},
          {"next_start", maybe(time())},
          {"next_stop", maybe(time())}};
}

}  // namespace

std::vector<ReplySchema> instance_schemas() {
  const json::object change = object({{"where", text()},
                                      {"before", any()},
                                      {"after", any()},
                                      {"text", text()},
                                      {"changes_the_instance", yes_no()}});
  const json::object newer =
      object({{"version", count()}, {"text", text()}, {"changes", list(change)}});
  const json::object output = object({{"name", text()},
                                      {"label", maybe(text())},
                                      {"description", maybe(text())},
                                      {"secret", yes_no()},
                                      {"value", any()}});
  return {
      {"Instance", object(instance() + Members{sometimes("plan", any())})},
      {"InstanceShown", object(instance() + Members{{"newer_version", maybe(newer)}})},
      {"DeletedInstance", object(instance() + Members{sometimes("deleted", yes_no())})},
      {"InstanceList", page(object(instance()))},
      {"InstanceOfferList", page(object({{"name", text()},
                                         {"display_name", text()},
                                         {"description", maybe(text())},
                                         {"icon_url", maybe(text())},
                                         {"allocation", word({"dedicated", "shared"})},
                                         {"version", count()},
                                         {"published", yes_no()},
                                         {"price_per_hour", maybe(money())},
                                         {"fits", maybe(yes_no())},
                                         {"why", maybe(text())},
                                         {"pool", maybe(text())},
                                         {"above_limits", list(text())},
                                         {"inputs", count()}}))},
      {"InstanceOutputs", object({{"name", text()},
                                  {"project", text()},
                                  {"state", word(InstanceState::deleting)},
                                  {"items", maybe(list(output))}})},
      {"InstanceLogs", object({{"name", text()}, {"project", text()}, {"text", text()}})},
      {"InstanceLimits", object({{"instances", maybe(count())},
                                 {"instances_per_user", maybe(count())},
                                 {"price_per_hour", maybe(money())},
                                 {"price_per_hour_per_user", maybe(money())},
                                 {"time_to_live", maybe(text())},
                                 {"above", word({"refuse", "approve"})},
                                 {"project", text()}})},
  };
}

}  // namespace exa
