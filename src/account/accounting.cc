#include "account/accounting.h"

#include <limits>
#include <numeric>

#include <fmt/format.h>

namespace exa {
namespace {

__extension__ typedef __int128 Wide;  // NOLINT(modernize-use-using): g++ takes no alias here

}  // namespace

std::optional<int64_t> cost_micros(int64_t price_micros, int64_t devices, int64_t held_milli,
                                   Duration time) {
  // price × (devices × held / 1000) × (micros / micros per hour), with what cancels taken out first
  // so that the product stays within 128 bits
  const int64_t common = std::gcd(time.micros, kMicrosPerHour);
  const int64_t hours_over = common == 0 ? 0 : time.micros / common;
  const int64_t hours_under = common == 0 ? 1 : kMicrosPerHour / common;
  Wide product = 0;
  if (__builtin_mul_overflow(Wide{price_micros} * devices, Wide{held_milli}, &product) ||
      __builtin_mul_overflow(product, Wide{hours_over}, &product))
    return std::nullopt;
  const Wide under = Wide{hours_under} * 1000;
  const Wide rounded = product / under + (product % under * 2 >= under ? 1 : 0);
  if (rounded > std::numeric_limits<int64_t>::max()) return std::nullopt;
  return static_cast<int64_t>(rounded);
}

Result<Duration> parse_hours(std::string_view text) {
  EXA_ASSIGN(const int64_t micros, parse_micros(text, "hours", int64_t{1'000'000} * kMicro));
  return Duration{micros * 3'600};  // millionths of an hour are 3,600 microseconds
}

Result<DeviceAccounting> device_accounting(const Placement& placement, Duration time) {
  if (time.micros < 0) return fail(Code::invalid_input, "hours must not be negative");
  DeviceAccounting accounting;
  accounting.device = placement.accelerator;
  accounting.region = placement.region;
  accounting.time = time;
  accounting.price_set = placement.price_set;
  const auto too_much = [&](std::string_view what) {
    return fail(Code::invalid_input, fmt::format("the {} of {} devices over {} is beyond what exa "
                                                 "counts",
                                                 what, placement.devices(), format_age(time)));
  };
  if (placement.cost_per_hour) {
    const auto cost = cost_micros(placement.cost_per_hour->micros, placement.devices(),
                                  placement.held_milli, time);
    if (!cost) return too_much("cost");
    accounting.cost = Money{*cost, placement.cost_per_hour->currency};
  }
  if (placement.carbon) {
    accounting.carbon_micrograms =
        cost_micros(placement.carbon->micrograms_per_hour, placement.devices(), 1000, time);
    if (!accounting.carbon_micrograms) return too_much("carbon");
    accounting.carbon_estimate = placement.carbon->estimate;
  }
  return accounting;
}

json::object to_json(const DeviceAccounting& accounting) {
  const auto hours = scale(accounting.time.micros, kMicro, kMicrosPerHour);
  const auto& cost = accounting.cost;
  const auto& carbon = accounting.carbon_micrograms;
  return {
      {"device", info(accounting.device).name},
      {"region", accounting.region.empty() ? json::value(nullptr) : json::value(accounting.region)},
      {"hours", hours ? number_from_micros(*hours) : nullptr},
      {"cost", cost ? number_from_micros(cost->micros) : nullptr},
      {"carbon_g", carbon ? number_from_micros(*carbon) : nullptr},
      {"currency", cost ? json::value(cost->currency) : nullptr},
      {"price_set", accounting.price_set},
      {"carbon_estimate", accounting.carbon_estimate}};
}

}  // namespace exa
