#include "service/placements.h"

#include <fmt/format.h>

#include "base/quantity.h"
#include "base/text.h"
#include "govern/permit.h"
#include "place/pool_explain.h"
#include "place/pool_seen.h"
#include "place/profile_ask.h"
#include "service/clusters.h"
#include "service/leases.h"
#include "service/members.h"
#include "service/placement_parts.h"
#include "service/placement_rows.h"
#include "service/profile_rows.h"
#include "service/stored.h"
#include "service/visibility.h"

namespace exa {
namespace {

// What the caller gave, over what the profile asks for.
Result<json::object> filled_from_profile(Transaction& tx, const PlaceWorkload& what) {
  if (what.hardware_profile.empty()) return what.workload;
  EXA_ASSIGN(const ProfileRef ref, parse_reference(what.hardware_profile));
  EXA_ASSIGN(const StoredVersion stored, find_profile(tx, what.project, ref));
  json::object filled = ask_of(stored.profile);
  for (const auto& member : what.workload) filled[member.key()] = member.value();
  return filled;
}

// An attempt at a cloud that found no pool to judge is an attempt all the same.
BurstVerdict verdict_without_pool(const Decision& decision, const Rejection& rejection) {
  BurstVerdict verdict;
  verdict.rule = EgressRule::nothing_judged;
  verdict.reason = rejection.reason;
  verdict.workload = decision.ask.workload.name;
  verdict.residency = decision.residency;
  verdict.policy_revision = decision.pools->rules.policy.revision;
  return verdict;
}

// Keeps what one decision leads to, in the order in which the rows refer to each other.
class Keeper {
 public:
  Keeper(Service& service, const Caller& caller, const PlaceWorkload& what, Transaction& tx,
         Deed& deed, const Decision& decision)
      : service_(service),
        caller_(caller),
        what_(what),
        tx_(tx),
        deed_(deed),
        decision_(decision),
        answer_(answer_of(decision)),
        id_(service.around().new_id()) {}

  Result<Answer> keep() {
    EXA_TRY(event());
    if (what_.reserve && decision_.chosen) EXA_TRY(lease());
    return decision();
  }

 private:
  Result<void> event() {
    auto verdict = burst_verdict(decision_);
    const auto* rejection = std::get_if<Rejection>(&answer_);
    if (!verdict && decision_.ask.burst && rejection != nullptr)
      verdict = verdict_without_pool(decision_, *rejection);
    if (!verdict) return {};
    event_ = service_.around().new_id();
    EXA_TRY(keep_burst_event(
        tx_, deed_, *verdict,
        {event_, id_, what_.project, decision_.decided_at, caller_.principal.name}));
    if (verdict->allowed && (what_.reserve || decision_.ask.burst)) EXA_TRY(permit(*verdict));
    return {};
  }

  Result<void> permit(const BurstVerdict& verdict) {
    EXA_ASSIGN(const BurstPermit permit,
               issue_permit(verdict, service_.around().new_id(), decision_.decided_at));
    permit_ = to_json(permit);
    EXA_TRY(tx_.change("INSERT INTO permit VALUES ($1, $2, $3, $4, NULL)",
                       {permit.id(), to_text(*permit_), event_, permit.expires_at().micros}));
    also_wrote(deed_, "permit", permit.id(), *permit_);
    return {};
  }

  Result<void> lease() {
    const PoolCandidate& chosen = decision_.candidates[*decision_.chosen];
    const std::string& pool = decision_.pools->pools[chosen.pool].name;
    EXA_ASSIGN(const auto open, open_leases(tx_, pool, decision_.decided_at));
    Lease lease = lease_of(decision_, open, what_.lifetime);
    lease.id = service_.around().new_id();
    lease.project = what_.project;
    lease.decision = id_;
    lease.taken_by = caller_.principal.name;
    if (permit_) lease.permit = text_or(*permit_, "id", "");
    if (!lease.cluster.empty() && lease.mig_profile.empty()) {
      EXA_ASSIGN(lease.nodes, nodes_of(decision_.pools->pools[chosen.pool]));
    }
    EXA_TRY(within_limits(tx_, lease, decision_.decided_at));
    EXA_TRY(insert_lease(tx_, lease));
    also_wrote(deed_, "lease", lease.id, to_stored_json(lease));
    lease_ = to_json(lease, decision_.decided_at);
    return {};
  }

  // The nodes that stand good for a lease of a pool that a cluster backs.
  Result<std::vector<LeasedNode>> nodes_of(const Pool& pool) {
    EXA_ASSIGN(const Cluster cluster, find_cluster(tx_, pool.cluster));
    EXA_ASSIGN(const auto head, newest_snapshot(tx_, cluster));
    EXA_ASSERT(head);  // the pool was seen
    EXA_ASSIGN(const Inventory inventory, load_inventory(tx_, head->id));
    EXA_ASSIGN(const auto open, leases_on(tx_, pool.cluster, decision_.decided_at));
    auto nodes = nodes_for(pool, inventory, open, decision_.ask.workload);
    if (nodes.empty() && !what_.queues) {
      return fail(
          Code::unresolvable,
          fmt::format("pool {} cannot promise {} now: what is free on its nodes is not known",
                      pool.name, exa::describe(decision_.ask.workload)),
          fmt::format("exa cluster discover {}", pool.cluster));
    }
    return nodes;
  }

  Result<Answer> decision() {
    json::object spec{{"id", id_}, {"project", what_.project}};
    for (auto& member : to_json(decision_)) spec[member.key()] = std::move(member.value());
    spec["text"] = to_text(decision_);
    spec["advice"] = !lease_.has_value();
    spec["decided_by"] = caller_.principal.name;
    spec["event"] = event_.empty() ? json::value(nullptr) : json::value(event_);
    if (caller_.dry_run) permit_.reset(), lease_.reset();  // they do not exist
    spec["permit"] = permit_ ? json::value(*permit_) : json::value(nullptr);
    spec["lease"] = lease_ ? json::value(*lease_) : json::value(nullptr);
    EXA_TRY(keep_decision(tx_, deed_, spec, decision_.decided_at, caller_.principal.name));
    describe();
    Answer answer;
    answer.status = 201;
    answer.body = std::move(spec);
    if (decision_.chosen && !what_.reserve && !decision_.ask.burst) {
      answer.notices.emplace_back("advice: nothing is reserved; --reserve takes the devices");
    }
    if (!decision_.residency.unknown.empty()) {
      answer.notices.push_back(
          fmt::format("residency class \"{}\" is none of {}: taken as restricted",
                      printable(decision_.residency.unknown), join(residency_names(), ", ")));
    }
    if (decision_.refusal) {
      answer.exit_code =
          info(decision_.refusal == RefusalKind::blocked ? Code::blocked : Code::unresolvable)
              .exit_code;
    }
    return answer;
  }

  // Small facts for whoever reads the log.
  void describe() {
    if (const auto* placement = std::get_if<Placement>(&answer_)) {
      deed_.details["pool"] = placement->pool;
      deed_.details["region"] = placement->region;
    } else if (const auto* rejection = std::get_if<Rejection>(&answer_)) {
      deed_.details["refused"] = rejection->reason;
      if (const auto verdict = burst_verdict(decision_)) {
        deed_.details["pool"] = verdict->pool;
        deed_.details["region"] = verdict->region;
      }
    }
  }

  Service& service_;
  const Caller& caller_;
  const PlaceWorkload& what_;
  Transaction& tx_;
  Deed& deed_;
  const Decision& decision_;
  PlaceAnswer answer_;
  std::string id_;
  std::string event_;
  std::optional<json::object> permit_;
  std::optional<json::object> lease_;
};

// A member of the document, or null.
json::value at(const json::value& spec, std::string_view pointer) {
  boost::system::error_code unknown;
  const json::value* found = spec.find_pointer(pointer, unknown);
  return found == nullptr ? json::value(nullptr) : *found;
}

}  // namespace

Result<std::string> residency_of_project(Transaction& tx, const std::string& project) {
  EXA_ASSIGN(const auto rows,
             tx.rows("SELECT spec FROM project_residency WHERE name = $1", {project}));
  if (rows.empty()) return std::string();
  EXA_ASSIGN(const json::value spec, parse_stored(rows[0].text(0), "stored residency"));
  return std::string(text_or(spec, "residency", ""));
}

Result<Answer> keep_placement(Service& service, const Caller& caller, const PlaceWorkload& what,
                              Transaction& tx, Deed& deed, const Decision& decision) {
  return Keeper(service, caller, what, tx, deed, decision).keep();
}

Result<PlaceAsk> ask_from(Transaction& tx, const PlaceWorkload& what, const EngineTable& engines) {
  PlaceAsk ask;
  EXA_ASSIGN(const json::object workload, filled_from_profile(tx, what));
  EXA_ASSIGN(ask.workload, read_workload(workload, engines));
  EXA_ASSIGN(ask.project_residency, residency_of_project(tx, what.project));
  ask.dataset_residency = what.dataset_residency;
  ask.burst = what.burst;
  ask.opted_in = what.opted_in;
  return ask;
}

Result<void> keep_burst_event(Transaction& tx, Deed& deed, const BurstVerdict& verdict,
                              const BurstEventOf& of) {
  json::object spec{{"id", of.id}, {"decision", of.decision}, {"project", of.project}};
  for (auto& member : to_json(verdict)) spec[member.key()] = std::move(member.value());
  spec["attempted_at"] = format_rfc3339(of.at);
  spec["attempted_by"] = of.by;
  EXA_TRY(tx.change("INSERT INTO burst_event VALUES ($1, $2, $3, $4, $5, $6, $7)",
                    {of.id, of.project, verdict.workload, int64_t{verdict.allowed ? 1 : 0},
                     to_text(spec), of.at.micros, of.by}));
  also_wrote(deed, "burst_event", of.id, spec);
  return {};
}

Result<void> keep_decision(Transaction& tx, Deed& deed, const json::object& spec, Time now,
                           const std::string& who) {
  const std::string id(text_or(spec, "id", ""));
  const std::string project(text_or(spec, "project", ""));
  const json::value* workload = find(spec, "workload");
  const std::string name(workload == nullptr ? "" : text_or(*workload, "name", ""));
  const std::string outcome(text_or(spec, "decision", ""));
  deed.after.emplace(spec);
  EXA_TRY(tx.change("INSERT INTO decision VALUES ($1, $2, $3, $4, $5, $6, $7)",
                    {id, project, name, outcome, to_text(*deed.after), now.micros, who}));
  deed.object_kind = "decision";
  deed.object_name = id;
  deed.project = project;
  deed.details["source"] = "exa-hardware";
  deed.details["workload"] = name;
  deed.details["outcome"] = outcome;
  return {};
}

Result<Answer> place_workload(Service& service, const Caller& caller, const PlaceWorkload& what) {
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_TRY(require_project(tx, what.project));
    const Time now = service.now();
    EXA_ASSIGN(const Pools pools, load_picture(tx, now));
    EXA_ASSIGN(const PlaceAsk ask, ask_from(tx, what, pools->rules.engines));
    EXA_ASSIGN(const Decision decision, place(ask, pools, now));
    return keep_placement(service, caller, what, tx, deed, decision);
  });
}

Result<Answer> list_decisions(Service& service, const Page& page) {
  return newest_first(service, page, "decision", "decided_at", "", [](const json::value& spec) {
    return json::object{{"id", at(spec, "/id")},
                        {"workload", at(spec, "/workload/name")},
                        {"decision", at(spec, "/decision")},
                        {"pool", at(spec, "/placement/pool")},
                        {"cluster", at(spec, "/placement/cluster")},
                        {"device", at(spec, "/placement/accelerator")},
                        {"target", at(spec, "/placement/target")},
                        {"region", at(spec, "/placement/region")},
                        {"gpus", at(spec, "/placement/gpus")},
                        {"cost_of_ask_per_hour", at(spec, "/placement/cost_of_ask_per_hour")},
                        {"reason", at(spec, "/rejection/reason")},
                        {"lease", at(spec, "/lease/id")},
                        {"decided_at", at(spec, "/decided_at")},
                        {"decided_by", at(spec, "/decided_by")}};
  });
}

Result<Answer> show_decision(Service& service, const Caller& caller, const std::string& id) {
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    std::vector<Value> values{id};
    const std::string known = in_projects(caller.known, "project", values);
    EXA_ASSIGN(
        const auto rows,
        tx.rows(fmt::format("SELECT spec, project FROM decision WHERE id = $1 AND {}", known),
                std::span<const Value>(values)));
    if (rows.empty()) {
      return fail(Code::not_found, fmt::format("there is no decision \"{}\"", printable(id)),
                  "exa hardware decisions");
    }
    EXA_TRY(require_permitted(tx, caller, "placement:read", rows[0].text(1)));
    EXA_ASSIGN(json::value spec, parse_stored(rows[0].text(0), "stored decision"));
    Answer answer;
    answer.body = std::move(spec.as_object());
    return answer;
  });
}

Result<Answer> list_bursts(Service& service, const Page& page) {
  return newest_first(service, page, "burst_event", "attempted_at", "",
                      [](const json::value& spec) { return spec.get_object(); });
}

}  // namespace exa
