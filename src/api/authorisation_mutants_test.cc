// Would the matrix notice? Each check of each row is taken away in turn, in a table of routes that
// only this test has, and the policy must then disagree with what comes out.
#include <gtest/gtest.h>

#include "api/authorisation_matrix_for_test.h"

namespace exa {
namespace {

struct Mutant {
  std::string what;
  std::string line;  // whose lines are asked: "placement.place+reserve"
  Route route;
};

const Route* original = nullptr;  // of the mutant that is asked: its handler is a plain function

// As if the use case had no condition on the project in its query.
Result<Reply> without_predicate(Service& service, const Call& call) {
  Call open = call;
  open.caller.known = {true, {}};
  open.caller.permitted = {true, {}};
  return original->handler(service, open);
}

// As if whatever the use case asks of the caller's rights were not asked.
Result<Reply> without_use_case_check(Service& service, const Call& call) {
  Call open = call;
  open.caller.principal.rights = rights_of_owner();
  open.caller.known = {true, {}};
  open.caller.permitted = {true, {}};
  return original->handler(service, open);
}

std::vector<Mutant> mutants() {
  std::vector<Mutant> all;
  for (const Route& route : routes()) {
    const std::string id(route.id);
    const auto add = [&](std::string what, const std::string& line, auto change) {
      Mutant mutant{id + ": " + what, line, route};
      change(mutant.route);
      all.push_back(std::move(mutant));
    };
    const ActionRule& rule = *find_action(route.action);
    if (rule.needs != Needs::nobody) {
      add("no sign-in", id, [](Route& r) { r.action = "setup:use"; });
    }
    if (rule.scope == Scope::project) {
      // whoever is signed in, in whatever project
      add("no role", id, [](Route& r) { r.action = "self:read"; });
      if (rule.needs != Needs::viewer)
        add("a viewer is enough", id, [](Route& r) { r.action = "hardware_profile:read"; });
      if (route.project_from != kOfObject) {
        add("the project is not asked", id, [](Route& r) { r.project_from = kOfObject; });
      } else {
        add("no predicate in the query", id, [](Route& r) { r.handler = without_predicate; });
      }
    } else if (rule.needs > Needs::anyone) {
      add("anybody signed in", id, [](Route& r) { r.action = "self:read"; });
    }
    if (!route.action_with.action.empty()) {
      add("the stronger action is not asked", id + "+" + std::string(route.action_with.argument),
          [](Route& r) { r.action_with = {}; });
    }
    // rights that are one's own business or that are given on: the use case decides
    for (const std::string_view own :
         {"user.password", "service_account.create", "service_account.disable", "token.create",
          "token.revoke", "project_member.add", "operation.show", "operation.cancel"}) {
      if (id == own)
        add("nothing is asked in the use case", id,
            [](Route& r) { r.handler = without_use_case_check; });
    }
  }
  return all;
}

TEST(AuthorisationMutants, TakingAnyOneCheckAwayContradictsThePolicy) {
  AuthorisationWorld world;
  const std::vector<PolicyLine> lines = read_policy_lines();
  const std::vector<Mutant> all = mutants();
  for (const Mutant& mutant : all) {
    original = find_route(mutant.route.id);
    const std::span<const Route> table(&mutant.route, 1);
    bool noticed = false;
    for (const PolicyLine& line : lines) {
      if (noticed || line.route != mutant.line) continue;
      for (const std::string& role : matrix_roles())
        noticed = noticed || world.outcome(table, line, role) != line.expected.at(role);
    }
    EXPECT_TRUE(noticed) << "nothing fails without this check: " << mutant.what;
  }
  EXPECT_GT(all.size(), 150U);
}

}  // namespace
}  // namespace exa
