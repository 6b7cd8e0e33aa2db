// The JSON forms of the burst policy and of a verdict, and the check of a policy that is sent.
#include <algorithm>

#include <fmt/format.h>

#include "base/json_or_null.h"
#include "base/text.h"
#include "govern/burst.h"

namespace exa {
namespace {

void read_switch(const json::object& input, std::string_view key, bool& value,
                 std::vector<Problem>& problems) {
  const json::value* given = find(input, key);
  if (given == nullptr) return;
  if (given->is_bool())
    value = given->get_bool();
  else
    problems.push_back(
        {pointer("", key), fmt::format("must be true or false, not {}", to_text(*given)), ""});
}

std::optional<Residency> read_class(const json::value& value, std::string where,
                                    std::vector<Problem>& problems) {
  const std::string text = value.is_string() ? std::string(value.get_string()) : to_text(value);
  const auto found = find_residency(text);
  if (!found) {
    const std::vector<std::string> known = residency_names();
    problems.push_back({std::move(where),
                        fmt::format("\"{}\" is not a residency class; there are {}",
                                    printable(text), join(known, ", ")),
                        did_you_mean(text, known)});
  }
  return found;
}

// {"eu-only": ["eu"], "open": ["eu", "uk"]}
void read_narrowed(const json::value& value, BurstPolicy& policy, std::vector<Problem>& problems) {
  if (!value.is_object()) {
    problems.push_back({"/narrowed", "must be an object of lists, one a residency class", ""});
    return;
  }
  for (const auto& member : value.get_object()) {
    const std::string where = pointer("/narrowed", member.key());
    const auto residency = read_class(json::string(member.key()), where, problems);
    if (!member.value().is_array()) {
      problems.push_back({where, "must be a list of jurisdictions", ""});
      continue;
    }
    BurstNarrowing row;
    for (const json::value& code : member.value().get_array()) {
      if (code.is_string())
        row.jurisdictions.push_back(lower(code.get_string()));
      else
        problems.push_back({where, fmt::format("must hold texts, not {}", to_text(code)), ""});
    }
    if (!residency) continue;
    row.residency = *residency;
    policy.narrowed.push_back(std::move(row));
  }
  std::ranges::sort(policy.narrowed, {}, &BurstNarrowing::residency);
}

}  // namespace

std::vector<Problem> problems_of_policy(const BurstPolicy& policy) {
  std::vector<Problem> problems;
  for (size_t i = 0; i < policy.narrowed.size(); ++i) {
    const BurstNarrowing& row = policy.narrowed[i];
    const std::string where = pointer("/narrowed", name(row.residency));
    if (i > 0 && std::any_of(policy.narrowed.begin(),
                             policy.narrowed.begin() + static_cast<std::ptrdiff_t>(i),
                             [&](const auto& r) { return r.residency == row.residency; }))
      problems.push_back({where, "stands twice", ""});
    if (row.residency >= Residency::no_egress && !row.jurisdictions.empty()) {
      problems.push_back({where,
                          fmt::format("{} never goes to the cloud; a policy cannot widen that",
                                      name(row.residency)),
                          ""});
      continue;
    }
    for (const std::string& code : row.jurisdictions) {
      if (!is_jurisdiction_code(code))
        problems.push_back(
            {where,
             fmt::format("\"{}\" is not a jurisdiction such as eu, uk or us", printable(code)),
             ""});
      else if (row.residency == Residency::eu_only && code != kEu)
        problems.push_back(
            {where, fmt::format("eu-only goes to eu alone; a policy cannot add {}", code), ""});
      else if (std::ranges::count(row.jurisdictions, code) > 1)
        problems.push_back({where, fmt::format("{} stands twice", code), ""});
    }
  }
  return problems;
}

json::object to_json(const BurstPolicy& policy) {
  json::object narrowed;
  for (const BurstNarrowing& row : policy.narrowed) {
    json::array codes;
    for (const std::string& code : row.jurisdictions) codes.emplace_back(code);
    narrowed.emplace(name(row.residency), std::move(codes));
  }
  return {{"cloud", policy.cloud},
          {"open_to_unknown", policy.open_to_unknown},
          {"unlabelled", name(policy.unlabelled)},
          {"narrowed", std::move(narrowed)},
          {"revision", policy.revision}};
}

Result<BurstPolicy> read_policy(const json::object& input) {
  BurstPolicy policy;
  std::vector<Problem> problems;
  read_switch(input, "cloud", policy.cloud, problems);
  read_switch(input, "open_to_unknown", policy.open_to_unknown, problems);
  if (const json::value* given = find(input, "unlabelled"))
    policy.unlabelled = read_class(*given, "/unlabelled", problems).value_or(Residency::restricted);
  if (const json::value* given = find(input, "narrowed")) read_narrowed(*given, policy, problems);
  if (const json::value* given = find(input, "revision")) {
    if (given->is_int64() && given->get_int64() >= 0)
      policy.revision = given->get_int64();
    else
      problems.push_back({"/revision", "must be a whole number, at least 0", ""});
  }
  const std::vector<std::string> known = {"cloud", "open_to_unknown", "unlabelled", "narrowed",
                                          "revision"};
  for (const auto& member : input) {
    const std::string key(member.key());
    if (std::ranges::find(known, key) == known.end())
      problems.push_back(
          {pointer("", key), "is not a key of the burst policy", did_you_mean(key, known)});
  }
  for (Problem& problem : problems_of_policy(policy)) problems.push_back(std::move(problem));
  if (!problems.empty()) return fail(invalid("burst policy", std::move(problems)));
  return policy;
}

json::object to_json(const BurstVerdict& verdict) {
  return {{"allowed", verdict.allowed},
          {"rule", name(verdict.rule)},
          {"reason", text_or_null(verdict.reason)},
          {"message", message(verdict)},
          {"workload", verdict.workload},
          {"pool", text_or_null(verdict.pool)},
          {"region", text_or_null(verdict.region)},
          {"jurisdiction", text_or_null(verdict.jurisdiction)},
          {"residency", to_json(verdict.residency)},
          {"policy_revision", verdict.policy_revision}};
}

}  // namespace exa
