#include "place/registry.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace exa {

PoolRegistry::PoolRegistry(PlaceRules rules) : rules_(std::move(rules)) {}

Result<const Pool*> PoolRegistry::add(const json::object& given) {
  const std::string_view name = text_or(given, "name", "");
  EXA_ASSIGN(Pool pool, merge_pool(find(name), given));
  const auto at = std::ranges::lower_bound(pools_, pool.name, {}, &Pool::name);
  laid_out_.reset();
  if (at != pools_.end() && at->name == pool.name) {
    *at = std::move(pool);
    return &*at;
  }
  return &*pools_.insert(at, std::move(pool));
}

Result<Pool*> PoolRegistry::find_or_fail(std::string_view name) {
  const auto at = std::ranges::find(pools_, name, &Pool::name);
  if (at != pools_.end()) {
    laid_out_.reset();
    return &*at;
  }
  std::vector<std::string> names;
  for (const Pool& pool : pools_) names.push_back(pool.name);
  Error error;
  error.code = Code::not_found;
  error.message = fmt::format("there is no pool '{}'", printable(name));
  error.alternatives = close_matches(name, names);
  return fail(std::move(error));
}

Result<void> PoolRegistry::remove(std::string_view name) {
  EXA_ASSIGN(const Pool* pool, find_or_fail(name));
  pools_.erase(pools_.begin() + (pool - pools_.data()));
  return {};
}

Result<void> PoolRegistry::drain(std::string_view name, std::string_view reason) {
  EXA_ASSIGN(Pool * pool, find_or_fail(name));
  pool->drained = true;
  pool->drain_reason = reason;
  return {};
}

Result<void> PoolRegistry::resume(std::string_view name) {
  EXA_ASSIGN(Pool * pool, find_or_fail(name));
  pool->drained = false;
  pool->drain_reason.clear();
  return {};
}

Result<void> PoolRegistry::add_engine(Engine engine) {
  EXA_ASSIGN(rules_.engines, with_engine(rules_.engines, std::move(engine)));
  laid_out_.reset();
  return {};
}

void PoolRegistry::clear() {
  pools_.clear();
  laid_out_.reset();
}

const Pool* PoolRegistry::find(std::string_view name) const {
  const auto at = std::ranges::find(pools_, name, &Pool::name);
  return at == pools_.end() ? nullptr : &*at;
}

std::vector<Pool> PoolRegistry::pools() const {
  std::vector<Pool> list = pools_;
  std::ranges::sort(list, is_cheaper);
  return list;
}

void PoolRegistry::set_policy(BurstPolicy policy) {
  rules_.policy = std::move(policy);
  laid_out_.reset();
}

Result<void> PoolRegistry::set_region(std::string_view region, std::string_view jurisdiction) {
  EXA_ASSIGN(rules_.jurisdictions, with_region(rules_.jurisdictions, region, jurisdiction));
  laid_out_.reset();
  return {};
}

Result<Decision> PoolRegistry::decide(const PlaceAsk& ask, Time now) const {
  if (!laid_out_) laid_out_ = build_pools(pools_, rules_);
  return place(ask, laid_out_, now);
}

Result<PlaceAnswer> place(const Workload& workload, std::vector<Pool> pools, PlaceRules rules,
                          Time now) {
  PlaceAsk ask;
  ask.workload = workload;
  EXA_ASSIGN(const Decision decision,
             place(ask, build_pools(std::move(pools), std::move(rules)), now));
  return answer_of(decision);
}

}  // namespace exa
