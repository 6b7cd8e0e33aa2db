#include "place/pool.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "base/json_or_null.h"
#include "base/quantity.h"
#include "base/text.h"
#include "hardware/catalogue.h"
#include "place/fields.h"
#include "place/node_selector.h"
#include "profile/validate.h"

namespace exa {
namespace {

constexpr std::string_view kKeys[] = {"name",
                                      "target",
                                      "accelerator",
                                      "model",
                                      "count",
                                      "region",
                                      "cost_per_hour",
                                      "currency",
                                      "carbon_factor",
                                      "watts",
                                      "pue",
                                      "grid_intensity",
                                      "supports_fractions",
                                      "sharing",
                                      "shares_per_device",
                                      "gpu_memory",
                                      "capabilities",
                                      "drained",
                                      "drain_reason",
                                      "cluster",
                                      "partition",
                                      "selector",
                                      "declared"};
constexpr int64_t kMostDevices = 10'000'000;
constexpr int64_t kMostPriceMicros = 1'000'000 * kMicro;   // per device and hour
constexpr int64_t kMostCarbonMicros = 1'000'000 * kMicro;  // grams per device and hour
constexpr int64_t kMostWattsMilli = 100'000'000;
constexpr int64_t kMostPueMilli = 10'000;
constexpr int64_t kMostGridMilli = 10'000'000;
constexpr int64_t kMostShares = 1'000;
constexpr size_t kLongestRegion = 63;
constexpr size_t kLongestText = 1'024;

// --- rules

class PoolRules {
 public:
  explicit PoolRules(const Pool& pool) : pool_(pool) {}

  std::vector<Problem> all() {
    names();
    amounts();
    sharing();
    return std::move(problems_);
  }

 private:
  void say(std::string_view key, std::string message) {
    problems_.push_back({pointer("", key), std::move(message), ""});
  }
  void at_most(std::string_view key, int64_t value, int64_t most, const std::string& shown) {
    if (value < 0 || value > most) say(key, fmt::format("must be 0 to {}", shown));
  }

  void names() {
    if (const auto checked = check_name(pool_.name, "pool name"); !checked)
      say("name", checked.error().message);
    if (pool_.target == Target::any) say("target", "a pool stands in hpc or cloud");
    if (!info(pool_.accelerator).askable)
      say("accelerator", fmt::format("\"{}\" cannot be asked for", info(pool_.accelerator).name));
    if (pool_.region.size() > kLongestRegion)
      say("region", fmt::format("is longer than {} characters", kLongestRegion));
    // what is stored must be readable again
    if (pool_.drain_reason != printable(pool_.drain_reason))
      say("drain_reason", "holds control characters or is not UTF-8; write it on one line");
    if (pool_.drain_reason.size() > kLongestText)
      say("drain_reason", fmt::format("is longer than {} characters", kLongestText));
    for (const std::string& tag : pool_.capabilities)
      if (!is_capability(tag))
        say("capabilities",
            fmt::format("\"{}\" is not a capability tag such as fp8", printable(tag)));
    const auto meant = models_meant(pool_.model);
    if (!pool_.model.empty() && !meant.empty() &&
        std::ranges::none_of(meant, [&](const auto* m) { return m->family == pool_.accelerator; }))
      say("model", fmt::format("{} is a device of {}, not of {}", pool_.model,
                               info(meant.front()->family).name, info(pool_.accelerator).name));
    if (pool_.declared() && !(pool_.partition.empty() && pool_.selector.empty()))
      say(pool_.partition.empty() ? "selector" : "partition",
          "chooses nodes of a cluster; name the cluster too");
    if (!pool_.partition.empty() && !pool_.selector.empty())
      say("selector", "stands beside a partition; choose nodes by one of them");
  }

  void amounts() {
    at_most("count", pool_.count, kMostDevices, std::to_string(kMostDevices));
    if (pool_.price) {
      at_most("cost_per_hour", pool_.price->micros, kMostPriceMicros,
              format_micros(kMostPriceMicros));
      if (!is_currency(pool_.price->currency))
        say("currency", fmt::format("\"{}\" is not a currency; write three capital letters such as "
                                    "EUR",
                                    printable(pool_.price->currency)));
    }
    if (pool_.carbon_micrograms)
      at_most("carbon_factor", *pool_.carbon_micrograms, kMostCarbonMicros,
              format_micros(kMostCarbonMicros));
    if (!pool_.power) return;
    at_most("watts", pool_.power->watts_milli, kMostWattsMilli, format_milli(kMostWattsMilli));
    at_most("grid_intensity", pool_.power->grams_per_kwh_milli, kMostGridMilli,
            format_milli(kMostGridMilli));
    if (pool_.power->pue_milli < 1000 || pool_.power->pue_milli > kMostPueMilli)
      say("pue", fmt::format("must be 1 to {}: a site draws at least what its devices do",
                             format_milli(kMostPueMilli)));
  }

  void sharing() {
    const auto mechanisms = info(pool_.accelerator).fraction_mechanisms;
    if (pool_.supports_fractions && mechanisms.empty())
      say("supports_fractions",
          fmt::format("{} devices have no mechanism for fractions", info(pool_.accelerator).name));
    const auto rows = models_meant(pool_.model);
    const bool cut =
        std::ranges::any_of(rows, [](const auto* m) { return !m->mig_profiles.empty(); });
    if (pool_.sharing == Sharing::mig && !rows.empty() && !cut)
      say("sharing", fmt::format("{} has no MIG", pool_.model));
    if (const auto selector = NodeSelector::parse(pool_.selector); !selector)
      say("selector", selector.error().problems.at(0).message);
    if (pool_.sharing == Sharing::whole)
      say("sharing", "whole devices are no fractions; write mig, time-slice or mps");
    if (pool_.sharing == Sharing::mig && !info(pool_.accelerator).has_mig)
      say("sharing", fmt::format("{} devices have no MIG", info(pool_.accelerator).name));
    at_most("shares_per_device", pool_.shares_per_device, kMostShares, std::to_string(kMostShares));
  }

  const Pool& pool_;
  std::vector<Problem> problems_;
};

// --- reading

std::function<Result<int64_t>(std::string_view)> micros(std::string_view what) {
  return [what](std::string_view text) { return parse_micros(text, what); };
}

std::function<Result<int64_t>(std::string_view)> millis(std::string_view what) {
  return [what](std::string_view text) { return parse_milli(text, what); };
}

void read_price(const FieldReader& fields, Pool& pool) {
  if (fields.cleared("cost_per_hour")) pool.price.reset();
  if (fields.has("cost_per_hour") && !fields.cleared("cost_per_hour")) {
    Money money = pool.price.value_or(Money{});
    fields.amount("cost_per_hour", money.micros, micros("cost per hour"));
    pool.price = std::move(money);
  }
  std::string currency;
  fields.text("currency", currency);
  if (currency.empty()) return;
  if (pool.price)
    pool.price->currency = std::move(currency);
  else
    fields.say("currency", "stands without cost_per_hour");
}

void read_carbon(const FieldReader& fields, Pool& pool) {
  if (fields.cleared("carbon_factor")) pool.carbon_micrograms.reset();
  if (fields.has("carbon_factor") && !fields.cleared("carbon_factor")) {
    int64_t factor = pool.carbon_micrograms.value_or(0);
    fields.amount("carbon_factor", factor, micros("carbon factor"));
    pool.carbon_micrograms = factor;
  }
  if (fields.cleared("watts") || fields.cleared("grid_intensity")) {
    pool.power.reset();
    return;
  }
  if (!fields.has("watts") && !fields.has("grid_intensity") && !fields.has("pue")) return;
  const bool complete = pool.power || (fields.has("watts") && fields.has("grid_intensity"));
  DevicePower power = pool.power.value_or(DevicePower{});
  fields.amount("watts", power.watts_milli, millis("watts"));
  fields.amount("pue", power.pue_milli, millis("pue"));
  fields.amount("grid_intensity", power.grams_per_kwh_milli, millis("grid intensity"));
  if (complete)
    pool.power = power;
  else if (fields.has("watts") || fields.has("grid_intensity"))
    fields.say(fields.has("watts") ? "grid_intensity" : "watts",
               "is missing: carbon from power needs watts and grid_intensity (g/kWh)");
}

void clear_texts(const FieldReader& fields, Pool& pool) {
  const std::pair<std::string_view, std::string*> texts[] = {
      {"model", &pool.model},       {"region", &pool.region},
      {"cluster", &pool.cluster},   {"partition", &pool.partition},
      {"selector", &pool.selector}, {"drain_reason", &pool.drain_reason}};
  for (const auto& [key, text] : texts)
    if (fields.cleared(key)) text->clear();
  if (fields.cleared("capabilities")) pool.capabilities.clear();
  if (fields.cleared("sharing")) pool.sharing.reset();
  if (fields.cleared("shares_per_device")) pool.shares_per_device = 0;
  if (fields.cleared("gpu_memory")) pool.gpu_memory_bytes = 0;
}

void read_fields(const FieldReader& fields, Pool& pool) {
  clear_texts(fields, pool);
  fields.text("name", pool.name);
  fields.choice<Target>("target", pool.target, "a target of a pool", {"hpc", "cloud"},
                        [](std::string_view text) -> std::optional<Target> {
                          const auto target = find_target(text);
                          return target == Target::any ? std::nullopt : target;
                        });
  fields.choice<Family>("accelerator", pool.accelerator, "an accelerator", askable_family_names(),
                        [](std::string_view text) -> std::optional<Family> {
                          const auto family = find_family(text);
                          return family && info(*family).askable ? family : std::nullopt;
                        });
  fields.text("model", pool.model);
  fields.count("count", pool.count);
  fields.text("region", pool.region);
  read_price(fields, pool);
  read_carbon(fields, pool);
  fields.flag("supports_fractions", pool.supports_fractions);
  Sharing sharing = pool.sharing.value_or(Sharing::mig);
  if (fields.has("sharing") && !fields.cleared("sharing")) {
    fields.choice<Sharing>("sharing", sharing, "a way of sharing", {"mig", "time-slice", "mps"},
                           find_sharing);
    pool.sharing = sharing;
  }
  fields.count("shares_per_device", pool.shares_per_device);
  fields.bytes_with_unit("gpu_memory", pool.gpu_memory_bytes);
  fields.tags("capabilities", pool.capabilities);
  fields.flag("drained", pool.drained);
  fields.text("drain_reason", pool.drain_reason);
  fields.text("cluster", pool.cluster);
  fields.text("partition", pool.partition);
  fields.text("selector", pool.selector);
}

}  // namespace

bool is_cheaper(const Pool& a, const Pool& b) {
  const auto key = [](const Pool& pool) {
    const bool unknown = !pool.price && pool.target == Target::cloud;
    const std::string_view currency = pool.price ? pool.price->currency : kDefaultCurrency;
    return std::make_tuple(unknown, currency, pool.price ? pool.price->micros : 0,
                           std::string_view(pool.name));
  };
  return key(a) < key(b);
}

std::vector<Problem> problems_of_pool(const Pool& pool) {
  return PoolRules(pool).all();
}

Result<Pool> merge_pool(const Pool* existing, const json::object& given) {
  std::vector<Problem> problems;
  const FieldReader fields(given, problems);
  Pool pool = existing != nullptr ? *existing : Pool{};
  read_fields(fields, pool);
  if (existing == nullptr && !fields.has("accelerator"))
    fields.say("accelerator",
               fmt::format("is missing; there are {}", join(askable_family_names(), ", ")));
  if (existing != nullptr && pool.name != existing->name)
    fields.say("name", fmt::format("a pool is not renamed: it is {}", existing->name));
  // who says how parts are had says that they can be had
  if (fields.has("sharing") && !fields.cleared("sharing") && !fields.has("supports_fractions"))
    pool.supports_fractions = true;
  const size_t unreadable = problems.size();
  for (Problem& problem : problems_of_pool(pool)) {
    const auto end = problems.begin() + static_cast<std::ptrdiff_t>(unreadable);
    if (std::none_of(problems.begin(), end,
                     [&](const Problem& p) { return p.where == problem.where; }))
      problems.push_back(std::move(problem));
  }
  fields.refuse_unknown_keys(kKeys, "a pool");
  if (!problems.empty()) return fail(invalid("pool", std::move(problems)));
  return pool;
}

json::object to_json(const Pool& pool) {
  json::array capabilities;
  for (const std::string& tag : pool.capabilities) capabilities.emplace_back(tag);
  json::object out{{"name", pool.name},
                   {"target", name(pool.target)},
                   {"accelerator", info(pool.accelerator).name},
                   {"model", text_or_null(pool.model)},
                   {"count", pool.count},
                   {"region", text_or_null(pool.region)}};
  const auto put = [&](std::string_view key, json::value value) {
    out.emplace(key, std::move(value));
  };
  put("cost_per_hour", pool.price ? number_from_micros(pool.price->micros) : nullptr);
  put("currency", pool.price ? json::value(pool.price->currency) : nullptr);
  put("carbon_factor",
      pool.carbon_micrograms ? number_from_micros(*pool.carbon_micrograms) : nullptr);
  put("watts", pool.power ? number_from_milli(pool.power->watts_milli) : nullptr);
  put("pue", pool.power ? number_from_milli(pool.power->pue_milli) : nullptr);
  put("grid_intensity", pool.power ? number_from_milli(pool.power->grams_per_kwh_milli) : nullptr);
  put("supports_fractions", pool.supports_fractions);
  put("sharing", pool.sharing ? json::value(name(*pool.sharing)) : nullptr);
  put("shares_per_device", pool.shares_per_device);
  put("gpu_memory",
      pool.gpu_memory_bytes > 0 ? json::value(format_milli(pool.gpu_memory_bytes) + "K") : nullptr);
  put("capabilities", std::move(capabilities));
  put("drained", pool.drained);
  put("drain_reason", text_or_null(pool.drain_reason));
  put("cluster", text_or_null(pool.cluster));
  put("partition", text_or_null(pool.partition));
  put("selector", text_or_null(pool.selector));
  put("declared", pool.declared());
  return out;
}

Result<Pool> pool_from_json(const json::object& stored) {
  auto pool = merge_pool(nullptr, stored);
  if (pool) return pool;
  Error error = pool.error();
  error.code = Code::store_damaged;
  error.message = fmt::format("the stored pool {} cannot be read", text_or(stored, "name", "?"));
  return fail(std::move(error));
}

std::optional<CarbonRate> carbon_rate(const Pool& pool) {
  if (pool.carbon_micrograms) return CarbonRate{*pool.carbon_micrograms, false};
  if (!pool.power) return std::nullopt;
  // W/1000 × PUE/1000 × g/1000 per kWh: 10^-3 × 10^-3 × 10^-3 × 10^-3 (W to kW) = 10^-12 of a gram
  const auto site = multiply(pool.power->watts_milli, pool.power->pue_milli);
  if (!site) return std::nullopt;
  const auto rate = scale(*site, pool.power->grams_per_kwh_milli, 1'000'000);
  if (!rate) return std::nullopt;
  return CarbonRate{*rate, true};
}

}  // namespace exa
