#include "catalogue/instance_limits.h"

#include <fmt/format.h>

#include "base/json_or_null.h"
#include "base/plural.h"
#include "catalogue/stored_members.h"

namespace exa {
namespace {

struct PriceLimit {
  const std::optional<Money>& most;
  const std::vector<std::optional<Money>>& held;
  std::string whose;  // "the project", "ada"
};

// The sum of what is held and asked; nullopt: a price is not known, or is of another currency.
std::optional<Money> sum_of(const PriceLimit& limit, const std::optional<Money>& asked) {
  std::optional<Money> total = asked;
  for (const auto& price : limit.held) {
    if (!price || !total) return std::nullopt;
    total = sum(*total, *price);
  }
  if (total && total->currency != limit.most->currency) return std::nullopt;
  return total;
}

void check_price(const PriceLimit& limit, const std::optional<Money>& asked,
                 std::vector<std::string>& sentences) {
  if (!limit.most) return;
  const std::string most = format_money(*limit.most);
  if (!asked) {
    sentences.push_back(fmt::format("{} may spend {} an hour, and what this costs is not known",
                                    limit.whose, most));
    return;
  }
  const auto total = sum_of(limit, asked);
  if (!total) {
    sentences.push_back(
        fmt::format("{} may spend {} an hour, and what runs already cannot be counted in {}: a "
                    "price is not known or of another currency",
                    limit.whose, most, limit.most->currency));
  } else if (total->micros > limit.most->micros) {
    sentences.push_back(fmt::format("{} may spend {} an hour; with this it would be {}",
                                    limit.whose, most, format_money(*total)));
  }
}

void check_count(const std::optional<int64_t>& most, int64_t held, const std::string& whose,
                 std::vector<std::string>& sentences) {
  if (!most || held < *most) return;
  sentences.push_back(
      fmt::format("{} may have {}, and has {}", whose, counted(*most, "instance"), held));
}

}  // namespace

json::object to_json(const InstanceLimits& limits) {
  return {{"instances", number_or_null(limits.instances)},
          {"instances_per_user", number_or_null(limits.instances_per_user)},
          {"price_per_hour", price_or_null(limits.price_per_hour)},
          {"price_per_hour_per_user", price_or_null(limits.price_per_hour_per_user)},
          {"time_to_live", limits.time_to_live ? json::value(format_duration(*limits.time_to_live))
                                               : json::value(nullptr)},
          {"above", limits.approve ? "approve" : "refuse"}};
}

Result<InstanceLimits> instance_limits_from_json(const json::object& object) {
  const StoredMembers stored(object, "stored limits of instances");
  InstanceLimits limits;
  limits.instances = stored.count("instances");
  limits.instances_per_user = stored.count("instances_per_user");
  EXA_ASSIGN(limits.price_per_hour, stored.money("price_per_hour"));
  EXA_ASSIGN(limits.price_per_hour_per_user, stored.money("price_per_hour_per_user"));
  if (!stored.text("time_to_live").empty()) {
    EXA_ASSIGN(limits.time_to_live, stored.duration("time_to_live"));
  }
  limits.approve = stored.text("above") == "approve";
  return limits;
}

std::vector<std::string> beyond_price(const InstanceLimits& limits, const InstancesHeld& held,
                                      const InstanceAsk& ask) {
  std::vector<std::string> sentences;
  check_price({limits.price_per_hour, held.prices, "the project"}, ask.price_per_hour, sentences);
  check_price({limits.price_per_hour_per_user, held.prices_of_owner, ask.owner}, ask.price_per_hour,
              sentences);
  return sentences;
}

std::vector<std::string> beyond(const InstanceLimits& limits, const InstancesHeld& held,
                                const InstanceAsk& ask) {
  std::vector<std::string> sentences;
  check_count(limits.instances, held.instances, "the project", sentences);
  check_count(limits.instances_per_user, held.instances_of_owner, ask.owner, sentences);
  for (std::string& sentence : beyond_price(limits, held, ask))
    sentences.push_back(std::move(sentence));
  if (!limits.time_to_live) return sentences;
  const std::string most = format_duration(*limits.time_to_live);
  if (!ask.time_to_live) {
    sentences.push_back(fmt::format("an instance may live {}, and this one has no end", most));
  } else if (*ask.time_to_live > *limits.time_to_live) {
    sentences.push_back(fmt::format("an instance may live {}, and this one is to live {}", most,
                                    format_duration(*ask.time_to_live)));
  }
  return sentences;
}

}  // namespace exa
