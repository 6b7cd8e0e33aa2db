// What accounting and the simulator answer.
#include "account/usage.h"
#include "api/schema.h"

namespace exa {
namespace {

using namespace schema;

json::object usage_sum() {
  Members keys;  // those that were summed by
  for (int i = 0; i <= static_cast<int>(UsageKey::workload); ++i)
    keys.push_back(sometimes(name(static_cast<UsageKey>(i)), maybe(text())));
  return object(std::move(keys) + Members{{"runs", count()},
                                          {"running", count()},
                                          {"device_hours", number()},
                                          {"cost", maybe(number())},
                                          {"currency", maybe(text())},
                                          {"known_cost", map(number())},
                                          {"device_hours_without_price", number()},
                                          {"price_set", yes_no()},
                                          {"carbon_g", maybe(number())},
                                          {"known_carbon_g", number()},
                                          {"device_hours_without_carbon", number()},
                                          {"carbon_estimate", yes_no()}});
}

json::object usage_record() {
  return object({{"id", text()},
                 {"project", text()},
                 {"workload", text()},
                 {"profile", maybe(text())},
                 {"pool", text()},
                 {"device", accelerator()},
                 {"model", maybe(text())},
                 {"region", maybe(text())},
                 {"started", time()},
                 {"ended", maybe(time())},
                 {"devices", count()},
                 {"held_milli", count()},
                 {"price_micros", maybe(count())},
                 {"currency", maybe(text())},
                 {"price_set", yes_no()},
                 {"carbon_micrograms", maybe(count())},
                 {"carbon_estimate", yes_no()}});
}

json::object mark() {
  return object({{"arrived_percent", count()},
                 {"allocated_gpu_percent", number()},
                 {"fragmented_gpu_percent", number()},
                 {"unplaced", count()}});
}

json::object simulation() {
  const json::object one = object({{"policy", text()},
                                   {"seed", count()},
                                   {"nodes", count()},
                                   {"gpus", number()},
                                   {"arrivals", count()},
                                   {"placed", count()},
                                   {"unplaced", count()},
                                   {"unplaced_gpus", number()},
                                   {"allocated_gpus", number()},
                                   {"allocated_gpu_percent", number()},
                                   {"fragmented_gpu_percent", maybe(number())},
                                   {"marks", list(mark())},
                                   sometimes("allocated_cost_per_hour", number()),
                                   sometimes("idle_cost_per_hour", number())});
  return object({{"items", list(one)}, {"next_cursor", null()}, sometimes("chart", text())});
}

}  // namespace

std::vector<ReplySchema> usage_schemas() {
  return {
      {"UsageSumList", page(usage_sum())},
      {"UsageRecordList", page(usage_record())},
      {"Simulation", simulation()},
  };
}

}  // namespace exa
