// What a user may launch: every compute profile that reaches them, whether it would fit now, and
// what an hour would cost. Nothing is kept, and nothing is promised.
#include <algorithm>

#include <fmt/format.h>

#include "base/json_or_null.h"
#include "base/text.h"
#include "place/pool_explain.h"
#include "service/instance_parts.h"
#include "service/placement_parts.h"
#include "service/placement_rows.h"
#include "service/profile_rows.h"
#include "service/sku_parts.h"

namespace exa {
namespace {

struct Fit {
  std::optional<bool> fits;  // nullopt: nothing is known to say so
  std::string why;
  std::string pool;
  std::optional<Money> price;
};

Result<Fit> placed(Transaction& tx, const std::string& project, const Shape& shape,
                   const EnvironmentTemplate& environment, Time now) {
  Fit fit;
  const bool here = provision_driver(environment.driver).has_value();
  EXA_ASSIGN(const Pools pools,
             here ? load_picture(tx, now)
                  : load_launch_picture(tx, now, environment.cluster, shape.accelerator_family));
  if (!has_pool_of(pools, shape.accelerator_family) && shape.accelerator_family == Family::cpu) {
    fit.why = "there is no pool of cpu to ask";
    return fit;
  }
  const PlaceWorkload what = workload_of_shape(project, "offer", shape);
  EXA_ASSIGN(const PlaceAsk ask, ask_from(tx, what, pools->rules.engines));
  EXA_ASSIGN(const Decision decision, place(ask, pools, now));
  const PlaceAnswer answer = answer_of(decision);
  fit.fits = decision.chosen.has_value();
  if (const auto* placement = std::get_if<Placement>(&answer)) {
    fit.pool = placement->pool;
    fit.price = placement->cost_of_ask;
    if (!placement->unconfirmed.empty())
      fit.why = fmt::format("not confirmed: {}", join(placement->unconfirmed, ", "));
  } else if (const auto* rejection = std::get_if<Rejection>(&answer)) {
    fit.why = rejection->reason;
  }
  return fit;
}

Result<Fit> fit_of(Transaction& tx, const Caller& caller, const std::string& project,
                   const FoundSku& found, Time now) {
  const ComputeSku& sku = found.stored.sku;
  Fit fit;
  fit.price = sku.price_per_hour;
  const auto environment = find_template(tx, sku.environment_template);
  if (!environment && environment.error().code != Code::not_found) return fail(environment.error());
  const auto problems = environment
                            ? problems_of_launching(tx, *environment, may_write(caller, found.head))
                            : std::vector<Problem>{{"", "its template is gone", ""}};
  if (!problems.empty()) {
    fit.fits = false;
    fit.why = "its environment template cannot run now: tell an admin";
    return fit;
  }
  EXA_ASSIGN(const auto shape, shape_of_sku(tx, found.head.project, sku));
  if (shape) {
    EXA_ASSIGN(fit, placed(tx, project, *shape, *environment, now));
  }
  if (sku.price_per_hour) fit.price = sku.price_per_hour;
  return fit;
}

// What the limits of the project say of one more.
Result<std::vector<std::string>> above_limits(Transaction& tx, const Caller& caller,
                                              const std::string& project, const Fit& fit) {
  EXA_ASSIGN(InstanceLimits limits, load_instance_limits(tx, project));
  limits.time_to_live.reset();  // the user says how long
  EXA_ASSIGN(const auto all, load_instances_of(tx, project));
  return beyond(limits, held_among(all, caller.principal.name, ""),
                {caller.principal.name, fit.price, std::nullopt});
}

Result<json::object> offer_of(Transaction& tx, const Caller& caller, const std::string& project,
                              const FoundSku& found, Time now) {
  const ComputeSku& sku = found.stored.sku;
  EXA_ASSIGN(const Fit fit, fit_of(tx, caller, project, found, now));
  EXA_ASSIGN(const auto above, above_limits(tx, caller, project, fit));
  const bool own = found.head.project == project;
  return json::object{{"name", own ? found.head.name : found.head.key()},
                      {"display_name", sku.display_name.empty() ? sku.name : sku.display_name},
                      {"description", text_or_null(sku.description)},
                      {"icon_url", text_or_null(sku.icon_url)},
                      {"allocation", name(sku.allocation)},
                      {"version", found.stored.version},
                      {"published", found.head.published},
                      {"price_per_hour", price_or_null(fit.price)},
                      {"fits", fit.fits ? json::value(*fit.fits) : json::value(nullptr)},
                      {"why", text_or_null(fit.why)},
                      {"pool", text_or_null(fit.pool)},
                      {"above_limits", json::array(above.begin(), above.end())},
                      {"inputs", static_cast<int64_t>(sku.inputs.size())}};
}

}  // namespace

Result<Answer> list_offers(Service& service, const Caller& caller, const std::string& project) {
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    EXA_TRY(require_project(tx, project));
    EXA_ASSIGN(const auto heads, load_sku_heads(tx));
    json::array items;
    for (const SkuHead& head : heads) {
      const bool launchable =
          head.published || (head.project == project && may_write(caller, head));
      if (head.deleted_at || !launchable || !may_see(caller, project, head)) continue;
      EXA_ASSIGN(const auto stored,
                 load_sku_version(tx, head.project, head.name, head.latest_version));
      if (!stored) return fail(Code::store_damaged, "the newest version of a profile is gone");
      EXA_ASSIGN(json::object offer, offer_of(tx, caller, project, {head, *stored}, service.now()));
      items.emplace_back(std::move(offer));
    }
    Answer answer;
    answer.body = {{"items", std::move(items)}, {"next_cursor", nullptr}};
    return answer;
  });
}

}  // namespace exa
