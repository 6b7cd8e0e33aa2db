// What the routes of pools, engines, regions and the burst policy answer.
#include "api/schema.h"
#include "govern/residency.h"
#include "hardware/engine.h"
#include "hardware/inventory.h"
#include "place/workload.h"

namespace exa {
namespace {

using namespace schema;

json::object backend() {
  static const std::vector<std::string> names = backend_names();
  return word({names.begin(), names.end()});
}

// The ways of sharing that a pool may be declared with (place/pool).
json::object pool_sharing() {
  return word({name(Sharing::mig), name(Sharing::time_slice), name(Sharing::mps)});
}

Members pool() {
  return {{"name", text()},
          {"target", word({name(Target::hpc), name(Target::cloud)})},
          {"accelerator", accelerator()},
          {"model", maybe(text())},
          {"count", count()},
          {"region", maybe(text())},
          {"cost_per_hour", maybe(number())},
          {"currency", maybe(text())},
          {"carbon_factor", maybe(number())},
          {"watts", maybe(number())},
          {"pue", maybe(number())},
          {"grid_intensity", maybe(number())},
          {"supports_fractions", yes_no()},
          {"sharing", maybe(pool_sharing())},
          {"shares_per_device", count()},
          {"gpu_memory", maybe(text())},
          {"capabilities", list(text())},
          {"drained", yes_no()},
          {"drain_reason", maybe(text())},
          {"cluster", maybe(text())},
          {"partition", maybe(text())},
          {"selector", maybe(text())},
          {"declared", yes_no()},
          {"jurisdiction", maybe(text())},
          {"total", count()},
          {"free", maybe(count())},
          {"leased", count()},
          {"snapshot", maybe(object({{"id", text()}, {"taken_at", time()}, {"stale", yes_no()}}))},
          {"created_at", time()},
          {"created_by", text()},
          {"updated_at", time()},
          {"updated_by", text()}};
}

json::object pool_nodes() {
  return object({{"nodes", count()},
                 {"devices", count()},
                 {"free", maybe(count())},
                 {"cpu_milli", maybe(count())},
                 {"cpu_free_milli", maybe(count())},
                 {"memory_bytes", maybe(count())},
                 {"memory_free_bytes", maybe(count())}});
}

json::object burst_policy() {
  Members narrowed;
  for (int i = 0; i <= static_cast<int>(Residency::restricted); ++i)
    narrowed.push_back(sometimes(name(static_cast<Residency>(i)), list(text())));
  return object({{"cloud", yes_no()},
                 {"open_to_unknown", yes_no()},
                 {"unlabelled", word(Residency::restricted)},
                 {"narrowed", object(narrowed)},
                 {"revision", count()}});
}

json::object removed() {
  return object({{"name", text()}, {"removed", yes_no()}});
}

}  // namespace

std::vector<ReplySchema> pool_schemas() {
  return {
      {"Pool", object(pool())},
      {"PoolList", page(ref("Pool"))},
      {"ChangedPool", object(pool() + Members{{"created", yes_no()}})},
      {"PoolWithNodes", object(pool() + Members{{"nodes", list(pool_nodes())},
                                                {"leases", list(ref("Lease"))},
                                                sometimes("leases_of_other_projects", count())})},
      {"RemovedPool", object({{"name", text()}, {"removed", yes_no()}, {"leases_left", count()}}),
       json::object{{"name", "hpc-nvidia"}, {"removed", true}, {"leases_left", 0}}},
      {"Engine",
       object({{"name", text()},
               {"backends", list(backend())},
               {"accelerators", list(accelerator())},
               {"shipped", yes_no()}}),
       json::object{{"name", "tensorrt-llm"},
                    {"backends", json::array{"cuda"}},
                    {"accelerators", json::array{"nvidia"}},
                    {"shipped", false}}},
      {"EngineList", page(ref("Engine"))},
      {"RemovedEngine", removed(), json::object{{"name", "tensorrt-llm"}, {"removed", true}}},
      {"Portability", object({{"engine", text()},
                              {"accelerator", accelerator()},
                              {"portable", yes_no()},
                              {"needs", backend()},
                              {"supports", list(backend())},
                              {"reason", maybe(text())}})},
      {"BurstPolicy", burst_policy(),
       json::object{{"cloud", true},
                    {"open_to_unknown", false},
                    {"unlabelled", name(Residency::restricted)},
                    {"narrowed", json::object{{name(Residency::open), json::array{"eu", "uk"}}}},
                    {"revision", 3}}},
      {"Region",
       object({{"region", text()}, {"jurisdiction", maybe(text())}, {"shipped", yes_no()}}),
       json::object{{"region", "eu-west-1"}, {"jurisdiction", "eu"}, {"shipped", true}}},
      {"RegionList", page(ref("Region"))},
      {"ProjectResidency",
       object({{"project", text()}, {"residency", maybe(word(Residency::restricted))}}),
       json::object{{"project", "default"}, {"residency", name(Residency::eu_only)}}},
  };
}

}  // namespace exa
