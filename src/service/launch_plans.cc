#include "service/launch_plans.h"

#include <fmt/format.h>

#include "base/text.h"
#include "service/stored.h"
#include "service/visibility.h"

namespace exa {
namespace {

constexpr Duration kKept = hours(24);

json::value at(const json::value& document, std::string_view pointer) {
  boost::system::error_code unknown;
  const json::value* found = document.find_pointer(pointer, unknown);
  return found == nullptr ? json::value(nullptr) : *found;
}

struct Rest {
  std::string_view name;  // for people
  std::string_view pointer;
};
constexpr Rest kRests[] = {{"profile", "/hardware_profile"},
                           {"shape", "/shape"},
                           {"cluster", "/cluster"},
                           {"status", "/resolution/status"},
                           {"snapshot", "/resolution/snapshot_id"},
                           {"pool", "/plan/placement/placement/pool"},
                           {"price", "/plan/placement/placement/cost_of_ask_per_hour"},
                           {"command", "/command"},
                           {"folder", "/folder"},
                           {"files", "/plan/files"}};

// The id of a launch stands in its files, and is another one each time.
json::value without_id(const json::value& value, const std::string& id) {
  std::string text = to_text(value);
  for (size_t at = text.find(id); !id.empty() && at != std::string::npos; at = text.find(id, at))
    text.replace(at, id.size(), "");
  return json::value(text);
}

}  // namespace

json::object what_it_rests_on(const json::object& planned) {
  const json::value document(planned);
  const std::string id(text_or(planned, "id", ""));
  json::object seen;
  for (const Rest& rest : kRests) seen[rest.name] = without_id(at(document, rest.pointer), id);
  return seen;
}

std::string keep_plan(Service& service, const LaunchPlan& plan) {
  const std::string id = service.around().new_id();
  const Time now = service.now();
  const auto kept = service.store().write([&](Transaction& tx) -> Result<void> {
    EXA_TRY(tx.change("DELETE FROM launch_plan WHERE kept_at < $1", {now.micros - kKept.micros}));
    EXA_TRY(tx.change(
        "INSERT INTO launch_plan VALUES ($1, $2, $3, $4, $5, $6)",
        {id, plan.project, plan.route, to_text(plan.args), to_text(plan.seen), now.micros}));
    return {};
  });
  return kept ? id : std::string();
}

Result<LaunchPlan> find_plan(Service& service, const Caller& caller, const std::string& id) {
  return read_value<LaunchPlan>(service.store(), [&](Transaction& tx) -> Result<LaunchPlan> {
    std::vector<Value> values{id, service.now().micros - kKept.micros};
    const std::string known = in_projects(caller.known, "project", values);
    EXA_ASSIGN(const auto rows,
               tx.rows(fmt::format("SELECT project, route, args, seen FROM launch_plan WHERE id = "
                                   "$1 AND kept_at >= $2 AND {}",
                                   known),
                       std::span<const Value>(values)));
    if (rows.empty()) {
      return fail(Code::not_found,
                  fmt::format("there is no plan \"{}\": plans are kept for a day", printable(id)),
                  "run the command with --dry-run again");
    }
    EXA_TRY(require_permitted(tx, caller, "launch:write", rows[0].text(0)));
    LaunchPlan plan{id, rows[0].text(0), rows[0].text(1), {}, {}};
    EXA_ASSIGN(plan.args, parse_stored_object(rows[0].text(2), "a kept plan"));
    EXA_ASSIGN(plan.seen, parse_stored_object(rows[0].text(3), "a kept plan"));
    return plan;
  });
}

Result<void> check_unchanged(const LaunchPlan& plan, const json::object& planned_now) {
  const json::object seen = what_it_rests_on(planned_now);
  std::vector<Problem> changed;
  for (const auto& member : seen) {
    const json::value* before = plan.seen.if_contains(member.key());
    if (before != nullptr && *before == member.value()) continue;
    const std::string was(before == nullptr || !before->is_string()
                              ? std::string_view("nothing")
                              : std::string_view(before->get_string()));
    changed.push_back(
        {std::string(member.key()),
         member.key() == "files"
             ? std::string("would be others now")
             : fmt::format("was {}, is {}", was, std::string_view(member.value().get_string())),
         ""});
  }
  if (changed.empty()) return {};
  Error error{Code::stale,
              fmt::format("plan {} no longer holds: what it rests on has changed", plan.id),
              std::move(changed),
              "run the command with --dry-run again",
              {}};
  return fail(std::move(error));
}

}  // namespace exa
